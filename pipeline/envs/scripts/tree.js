// The UI tree of a page in reading order, with boxes in picture pixels. Needs roles.js, names.js and watch.js.
//
// One walk, bounded: everything that shows is kept (up to a ceiling), and a limited number of nodes beyond the
// viewport; once those are used up, subtrees that lie outside are not entered at all.

const SKIPPED = new Set(["script", "style", "noscript", "template", "head", "title", "meta", "link", "base", "param"]);
const SHAPES = new Set(["circle", "defs", "ellipse", "line", "path", "polygon", "polyline", "rect", "use"]);
const MAX_SHOWN = 3000;
const MAX_OUTSIDE = 800;
const MAX_OPTIONS = 500;

class Walk {
  constructor(ratio) {
    this.ratio = ratio;
    this.nodes = [];
    this.outside = 0;
    this.focused = focusedElement(document);
  }

  run() {
    const view = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    this.nodes.push(["RootWebArea", cut(plain(document.title), MAX_NAME), "", this.box(view), []]);
    this.document(document, { dx: 0, dy: 0, clip: view, anchored: view, view, told: false, pointer: false });
    return this.nodes;
  }

  document(page, place) {
    watch(page);
    // What lies behind a modal dialog cannot be used and is not told.
    const modal = [...page.querySelectorAll("dialog:modal")].pop();
    const top = modal || page.body || page.documentElement;
    if (top) this.element(top, place);
  }

  element(element, place) {
    const tag = element.localName;
    if (SKIPPED.has(tag) || this.nodes.length > MAX_SHOWN) return;
    // Charts draw with thousands of shapes that say nothing.
    if (SHAPES.has(tag) && !element.firstElementChild && !element.hasAttribute("aria-label")) return;
    if (element.getAttribute("aria-hidden") === "true" || element.inert) return;
    const style = getComputedStyle(element);
    if (!element.checkVisibility() && style.display !== "contents") return;
    const rect = shifted(mainRect(element, style), place);
    const bounds = boundsOf(style, place);
    const shows = overlap(rect, bounds);
    if (!shows && this.outside >= MAX_OUTSIDE && style.display !== "contents") return;
    const inner = { ...place, clip: bounds, anchored: place.anchored };
    if (clips(element, style)) inner.clip = intersection(rect, bounds);
    if (style.position !== "static") inner.anchored = inner.clip;
    inner.pointer = style.cursor === "pointer";
    if (style.visibility === "visible") this.keep(element, rect, shows, inner, inner.pointer && !place.pointer);
    this.inside(element, rect, style, inner);
  }

  keep(element, rect, shows, place, pointed) {
    const role = roleOf(element);
    if (role === "none") return;
    const clickable = pointed || element.hasAttribute("onclick") || element.hasAttribute("tabindex") && element.tabIndex >= 0;
    if (role === "generic" && !clickable) return;
    const name = role === "generic" ? "" : nameOf(element, role);
    const kept = name || INTERACTIVE.has(role) || KEPT_WITHOUT_NAME.has(role) || role === "generic";
    if (!kept || role === "LabelText") return;
    const states = statesOf(element, this.focused);
    if (role === "generic") states.push("clickable");
    if (!shows) states.push("offscreen");
    this.add([role, cut(name, MAX_NAME), cut(valueOf(element, role), MAX_VALUE), this.box(rect), states], shows);
    const referred = element.hasAttribute("aria-label") || element.hasAttribute("aria-labelledby");
    const whole = NAMED_BY_CONTENT.has(role) && name && name.length <= MAX_NAME && !referred;
    if (whole || isEditingHost(element)) place.told = true;
  }

  inside(element, rect, style, place) {
    const tag = element.localName;
    if (tag === "select") return this.options(element);
    if (tag === "textarea") return;
    if (tag === "iframe" || tag === "frame") return this.frame(element, rect, style, place);
    if (element.shadowRoot) watch(element.shadowRoot);
    const closed = tag === "details" && !element.open;
    for (const child of childrenOf(element)) {
      if (closed && child.localName !== "summary") continue;
      if (child.nodeType === 1) this.element(child, place);
      else if (child.nodeType === 3 && !place.told && style.visibility === "visible") this.text(child, style, place);
    }
  }

  text(node, style, place) {
    const name = plain(shown(node.data, style));
    if (!name) return;
    const rect = shifted(rangeOf(node).getBoundingClientRect(), place);
    if (rect.right <= rect.left || rect.bottom <= rect.top) return;
    const shows = overlap(rect, place.clip);
    if (!shows && this.outside >= MAX_OUTSIDE) return;
    this.add(["StaticText", cut(name, MAX_NAME), "", this.box(rect), shows ? [] : ["offscreen"]], shows);
  }

  // A closed drop-down has no boxes for its options; they are told so that one can be chosen by position.
  options(select) {
    for (const option of [...select.options].slice(0, MAX_OPTIONS)) {
      const states = statesOf(option, null).filter((state) => state === "selected" || state === "disabled");
      this.nodes.push(["option", cut(nameOf(option, "option"), MAX_NAME), "", null, states]);
    }
  }

  frame(element, rect, style, place) {
    const page = reachable(element);
    if (!page) return;
    const left = rect.left + element.clientLeft + parseFloat(style.paddingLeft);
    const top = rect.top + element.clientTop + parseFloat(style.paddingTop);
    const view = { left, top, right: left + element.clientWidth, bottom: top + element.clientHeight };
    const clip = intersection(view, place.clip);
    this.document(page, { dx: left, dy: top, clip, anchored: clip, view: clip, told: false, pointer: false });
  }

  add(node, shows) {
    if (!shows) this.outside += 1;
    this.nodes.push(node);
  }

  box(rect) {
    return pixels(rect, this.ratio);
  }
}

function pixels(rect, ratio) {
  return [Math.floor(rect.left * ratio), Math.floor(rect.top * ratio), Math.ceil(rect.right * ratio), Math.ceil(rect.bottom * ratio)];
}

// The middle of a text that runs over several lines may belong to something else, so the widest line stands for it.
function mainRect(element, style) {
  if (style.display !== "inline") return element.getBoundingClientRect();
  const rects = [...element.getClientRects()];
  if (rects.length < 2) return element.getBoundingClientRect();
  return rects.reduce((best, rect) => (rect.width * rect.height > best.width * best.height ? rect : best));
}

function shifted(rect, place) {
  return { left: rect.left + place.dx, top: rect.top + place.dy, right: rect.right + place.dx, bottom: rect.bottom + place.dy };
}

function rangeOf(node) {
  const range = node.ownerDocument.createRange();
  range.selectNodeContents(node);
  return range;
}

// What an outermost element hides is up to the viewport, not to its own box.
function clips(element, style) {
  if (style.overflowX === "visible" && style.overflowY === "visible") return false;
  return style.display !== "inline" && element.localName !== "body" && element.localName !== "html";
}

function boundsOf(style, place) {
  if (style.position === "fixed") return place.view;
  return style.position === "absolute" ? place.anchored : place.clip;
}

function overlap(a, b) {
  return a.left < b.right && a.top < b.bottom && a.right > b.left && a.bottom > b.top;
}

function intersection(a, b) {
  return {
    left: Math.max(a.left, b.left), top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom),
  };
}

// The document inside a frame, when it may be read from here.
function reachable(frame) {
  try {
    return frame.contentDocument;
  } catch (refused) {
    return null;
  }
}

function focusedElement(page) {
  let focused = page.activeElement;
  while (focused) {
    const page = focused.localName === "iframe" ? reachable(focused) : focused.shadowRoot;
    if (!page || !page.activeElement) break;
    focused = page.activeElement;
  }
  return focused;
}

function look(ratio) {
  const nodes = new Walk(ratio).run();
  return { address: location.href, title: document.title.toWellFormed(), stamp: stamp(), fonts: fontsPending(), nodes };
}
