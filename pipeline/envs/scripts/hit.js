// What lies under a point, now; and what may be scrolled there. Needs roles.js, names.js, watch.js and tree.js.

// The innermost element at a point: through open shadow roots and frames that may be read. Offsets lead back to the page.
function innermost(root, x, y, dx, dy) {
  const element = root.elementFromPoint(x, y);
  if (!element) return null;
  if (element.shadowRoot && element.shadowRoot !== root) {
    const inner = innermost(element.shadowRoot, x, y, dx, dy);
    if (inner && inner.element !== element) return inner;
    const text = textNodeAt(element, x, y);
    if (text && text.assignedSlot) return { element: text.assignedSlot, root: element.shadowRoot, x, y, dx, dy };
  }
  const page = element.localName === "iframe" ? reachable(element) : null;
  if (page) {
    const rect = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    const left = rect.left + element.clientLeft + parseFloat(style.paddingLeft);
    const top = rect.top + element.clientTop + parseFloat(style.paddingTop);
    const inner = innermost(page, x - left, y - top, dx + left, dy + top);
    if (inner) return inner;
  }
  return { element, root, x, y, dx, dy };
}

function parentOf(element) {
  if (element.assignedSlot) return element.assignedSlot;
  if (element.parentElement) return element.parentElement;
  const root = element.getRootNode();
  return root.host || (root.defaultView && root.defaultView.frameElement) || null;
}

function ancestry(element) {
  const line = [];
  for (let at = element; at; at = parentOf(at)) line.push(at);
  return line;
}

// The nearest thing a person would say they click: a control, else the control of a label, else anything with a name.
function controlOf(line) {
  for (const element of line) {
    if (INTERACTIVE.has(roleOf(element))) return element;
    if (element.localName === "label" && element.control) return element.control;
  }
  return null;
}

function meaningOf(line) {
  return line.find((element) => {
    const role = roleOf(element);
    return role !== "generic" && role !== "none" && (KEPT_WITHOUT_NAME.has(role) || nameOf(element, role));
  });
}

// A control that would be hit if nothing lay on top of it.
function coveredControl(found, line) {
  const related = new Set(line);
  for (const element of found.root.elementsFromPoint(found.x, found.y)) {
    if (related.has(element)) continue;
    const control = controlOf(ancestry(element));
    if (control && !related.has(control) && !control.contains(found.element)) return control;
  }
  return null;
}

function hit(x, y, ratio) {
  watch(document);
  const found = innermost(document, x, y, 0, 0);
  if (!found) return null;
  const line = ancestry(found.element);
  const control = controlOf(line);
  if (control) return described(control, found, ratio, null);
  const covered = coveredControl(found, line);
  if (covered) return described(covered, found, ratio, spoken(found, line));
  const text = textAt(found);
  const meaning = meaningOf(line);
  if (text && !(meaning && NAMED_BY_CONTENT.has(roleOf(meaning)))) {
    return { role: "StaticText", name: cut(text.name, MAX_NAME), box: pixels(text.rect, ratio), states: [], covered: null, stamp: stamp() };
  }
  if (meaning) return described(meaning, found, ratio, null);
  const view = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  return { role: "RootWebArea", name: plain(document.title), box: pixels(view, ratio), states: [], covered: null, stamp: stamp() };
}

function described(element, found, ratio, covered) {
  const role = roleOf(element);
  const offset = element.ownerDocument === found.element.ownerDocument ? found : { dx: 0, dy: 0 };
  const rect = shifted(mainRect(element, getComputedStyle(element)), offset);
  const states = statesOf(element, focusedElement(document));
  const name = cut(nameOf(element, role), MAX_NAME);
  return { role, name, box: pixels(rect, ratio), states, covered, stamp: stamp(), leads: leadsTo(element) };
}

// The request that a press makes by the page's own word: of a link, or of a button that sends its form. What scripts make
// of the press is not known.
function leadsTo(element) {
  const link = element.closest("a[href], area[href]");
  const form = element.matches("button, input[type=submit], input[type=image]") && element.type !== "button" && element.type !== "reset" && element.form;
  if (!link && !form) return null;
  const address = link ? String(link.href) : element.hasAttribute("formaction") ? element.formAction : form.getAttribute("action") || document.location.href;
  const method = link ? "get" : element.formMethod || form.getAttribute("method") || "get";
  try {
    const whole = new URL(address, element.baseURI);
    const here = whole.hash && whole.href.split("#")[0] === document.location.href.split("#")[0];
    return /^https?:$/.test(whole.protocol) && !(link && here) ? `${method.toUpperCase()} ${whole.href.slice(0, MAX_NAME * 4)}` : null;
  } catch {
    return null;
  }
}

// What the enter key would send from here: the link or the button that has the focus, or the form of the field that has it.
function entered(ratio) {
  const focused = focusedElement(document);
  if (!focused) return null;
  const sender = focused.matches("input, select") && focused.form && focused.form.querySelector("button:not([type=button], [type=reset]), input[type=submit], input[type=image]");
  const element = sender || focused;
  return leadsTo(element) && described(element, { element, dx: 0, dy: 0 }, ratio, null);
}

// The words for what lies on top: its nearest part with a meaning, else its text.
function spoken(found, line) {
  const meaning = meaningOf(line);
  if (meaning && meaning.localName !== "body") {
    const role = roleOf(meaning);
    return cut(plain(`${role} ${nameOf(meaning, role)}`), MAX_NAME);
  }
  return cut(plain(`${roleOf(found.element)} ${found.element.textContent.slice(0, MAX_NAME)}`), MAX_NAME);
}

function textNodeAt(element, x, y) {
  const inside = (rect) => rect.left <= x && x < rect.right && rect.top <= y && y < rect.bottom;
  return [...element.childNodes].find((child) => child.nodeType === 3 && [...rangeOf(child).getClientRects()].some(inside));
}

function textAt(found) {
  const node = textNodeAt(found.element, found.x, found.y);
  const name = node ? plain(shown(node.data, getComputedStyle(found.element))) : "";
  return name ? { name, rect: shifted(rangeOf(node).getBoundingClientRect(), found) } : null;
}

// Width and height of what would scroll under a point: the nearest part with room to go, else the page's viewport.
function scroller(x, y, direction) {
  watch(document);
  const found = innermost(document, x, y, 0, 0);
  for (const element of found ? ancestry(found.element) : []) {
    if (hasRoom(element, direction)) return [element.clientWidth, element.clientHeight];
  }
  return [innerWidth, innerHeight];
}

function hasRoom(element, direction) {
  const across = direction === "left" || direction === "right";
  const style = getComputedStyle(element);
  if (!/auto|scroll/.test(across ? style.overflowX : style.overflowY)) return false;
  const room = across ? element.scrollWidth - element.clientWidth : element.scrollHeight - element.clientHeight;
  const at = across ? element.scrollLeft : element.scrollTop;
  return direction === "down" || direction === "right" ? at < room - 1 : at > 0;
}
