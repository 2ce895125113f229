// The tree of a page with what Android tells of each node beyond role, name and box: its parent, its id, what can be
// done with it, and the part of its box that shows. Needs watch.js, roles.js, names.js and tree.js.

class PhoneWalk extends Walk {
  constructor(ratio) {
    super(ratio);
    this.parent = -1;
    this.current = null;
    this.clip = null;
    this.extras = [];
  }

  element(element, place) {
    const parent = this.parent;
    super.element(element, place);
    this.parent = parent;
  }

  keep(element, rect, shows, place, pointed) {
    const at = this.nodes.length;
    this.current = element;
    this.clip = place.clip;
    super.keep(element, rect, shows, place, pointed);
    if (this.nodes.length === at && scrolls(element)) this.add(["generic", "", "", this.box(rect), []], shows);
    this.current = null;
    if (this.nodes.length > at) this.parent = at;
  }

  text(node, style, place) {
    this.clip = place.clip;
    super.text(node, style, place);
  }

  add(node, shows) {
    this.extras[this.nodes.length] = { parent: this.parent, clip: this.box(this.clip), ...extraOf(this.current) };
    super.add(node, shows);
  }

  told() {
    return this.nodes.map(([role, name, value, box, states], at) => {
      const extras = this.extras[at] || { parent: -1, clip: box, ...extraOf(null) };
      return { role, name, box, states, ...extras, value: extras.held ?? value };
    });
  }
}

function extraOf(element) {
  if (!element) return { id: "", field: false, held: null, hint: "", labelled: false, hold: false, scrolls: false };
  const field = isTextField(element);
  return {
    id: element.id || "",
    field,
    // A phone tells all that a field holds, however long it is.
    held: field && element.type !== "password" ? element.value.toWellFormed() : null,
    hint: field ? element.placeholder || "" : "",
    labelled: element.hasAttribute("aria-label") || field,
    hold: element.hasAttribute("data-hold"),
    scrolls: scrolls(element),
  };
}

function scrolls(element) {
  const style = getComputedStyle(element);
  const down = /auto|scroll/.test(style.overflowY) && element.scrollHeight > element.clientHeight + 1;
  return down || (/auto|scroll/.test(style.overflowX) && element.scrollWidth > element.clientWidth + 1);
}

function phoneTree(ratio) {
  const walk = new PhoneWalk(ratio);
  walk.run();
  return walk.told();
}

// Whether text would arrive somewhere.
function takesText() {
  const field = focusedElement(document);
  return Boolean(field && (isTextField(field) ? !field.readOnly && !field.disabled : field.isContentEditable));
}

// Empties the focused field, as if a person had done it.
function emptyField() {
  const field = focusedElement(document);
  if (!field || !isTextField(field)) return false;
  field.select();
  return true;
}

// The newest dialog a page has open is closed; whether there was one.
function closeDialog() {
  const open = [...document.querySelectorAll("dialog:modal")].pop();
  if (open) open.close();
  return Boolean(open);
}
