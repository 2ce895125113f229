// Accessible names, values and states of elements. Needs roles.js; knows nothing of boxes.

const MAX_NAME = 250;
const MAX_VALUE = 4000;
const MAX_NAMING_TEXT = 2000;

function plain(text) {
  return text.replace(/\s+/g, " ").trim();
}

function cut(text, length) {
  return (text.length > length ? text.slice(0, length - 1) + "…" : text).toWellFormed();
}

// Text as the page shows it: style sheets may change its case.
function shown(text, style) {
  switch (style.textTransform) {
    case "uppercase": return text.toUpperCase();
    case "lowercase": return text.toLowerCase();
    case "capitalize": return text.replace(/(^|\s)\p{Ll}/gu, (start) => start.toUpperCase());
  }
  return text;
}

// Children as a person sees them: through open shadow roots and slots.
function childrenOf(node) {
  if (node.shadowRoot) return node.shadowRoot.childNodes;
  if (node.localName === "slot") {
    const assigned = node.assignedNodes();
    if (assigned.length) return assigned;
  }
  return node.childNodes;
}

function nameOf(element, role) {
  const referenced = element.getAttribute("aria-labelledby");
  if (referenced) {
    const name = referencedName(element, referenced);
    if (name) return name;
  }
  const label = plain(element.getAttribute("aria-label") || "");
  if (label) return label;
  return nativeName(element) || (NAMED_BY_CONTENT.has(role) ? contentName(element) : "") || advisoryName(element);
}

function referencedName(element, ids) {
  const root = element.getRootNode();
  const texts = ids.trim().split(/\s+/).map((id) => {
    const other = root.getElementById ? root.getElementById(id) : null;
    if (!other) return "";
    return plain(other.getAttribute("aria-label") || "") || nativeName(other) || contentName(other);
  });
  return plain(texts.join(" "));
}

function nativeName(element) {
  switch (element.localName) {
    case "input":
      if (["submit", "reset", "button"].includes(element.type)) return buttonName(element);
      if (element.type === "image") return plain(element.alt || element.value) || "Submit";
      return labelName(element);
    case "select": case "textarea": case "meter": case "progress": case "output": case "button":
      return labelName(element);
    case "img": case "area": return plain(element.getAttribute("alt") || "");
    case "fieldset": return partName(element, "legend");
    case "table": return partName(element, "caption");
    case "figure": return partName(element, "figcaption");
    case "svg": return partName(element, "title");
    case "optgroup": return plain(element.label || "");
    case "option": return plain(element.label || "");
  }
  return "";
}

function buttonName(input) {
  const label = labelName(input);
  if (label) return label;
  const defaults = { submit: "Submit", reset: "Reset" };
  return plain(input.hasAttribute("value") ? input.value : defaults[input.type] || "");
}

function labelName(element) {
  const labels = element.labels ? [...element.labels].filter((label) => label.checkVisibility()) : [];
  return plain(labels.map((label) => contentName(label, element)).join(" "));
}

function partName(element, tag) {
  const part = [...element.children].find((child) => child.localName === tag);
  return part ? plain(part.textContent) : "";
}

function advisoryName(element) {
  const title = plain(element.getAttribute("title") || "");
  if (title) return title;
  return isTextField(element) ? plain(element.placeholder || element.getAttribute("aria-placeholder") || "") : "";
}

// The text inside an element, with alternatives of pictures and values of fields; `skipped` is not read.
function contentName(element, skipped) {
  if (element.textContent.length > MAX_NAMING_TEXT) return "";
  return plain(textInside(element, getComputedStyle(element), skipped));
}

function textInside(element, style, skipped) {
  let text = "";
  for (const child of childrenOf(element)) {
    if (child.nodeType === 3) text += shown(child.data, style);
    else if (child.nodeType === 1 && child !== skipped) text += pieceOf(child, skipped);
  }
  return text;
}

function pieceOf(element, skipped) {
  if (element.localName === "br") return " ";
  if (element.getAttribute("aria-hidden") === "true") return "";
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility !== "visible") return "";
  const text = plain(element.getAttribute("aria-label") || "") || fieldText(element) || nativeName(element)
    || textInside(element, style, skipped) || plain(element.getAttribute("title") || "");
  return style.display === "inline" ? text : ` ${text} `;
}

function fieldText(element) {
  if (isTextField(element)) return element.type === "password" ? "" : element.value;
  if (element.localName !== "select") return "";
  return [...element.selectedOptions].map((option) => option.label).join(" ");
}

function valueOf(element, role) {
  if (isTextField(element)) return secretless(element);
  if (element.localName === "select") return plain([...element.selectedOptions].map((o) => o.label).join(", "));
  if (element.isContentEditable && isEditingHost(element)) return element.innerText;
  const told = element.getAttribute("aria-valuetext") || element.getAttribute("aria-valuenow");
  if (told) return told;
  if (["meter", "progress"].includes(element.localName)) return String(element.value);
  if (element.localName !== "input" || ["checkbox", "radio", "button"].includes(role)) return "";
  return element.value;
}

function secretless(field) {
  return field.type === "password" ? "•".repeat(field.value.length) : field.value;
}

const ARIA_STATES = [
  ["aria-pressed", "true", "pressed"], ["aria-expanded", "true", "expanded"], ["aria-expanded", "false", "collapsed"],
  ["aria-disabled", "true", "disabled"], ["aria-checked", "true", "checked"], ["aria-checked", "mixed", "mixed"],
  ["aria-selected", "true", "selected"], ["aria-required", "true", "required"], ["aria-readonly", "true", "readonly"],
  ["aria-invalid", "true", "invalid"], ["aria-modal", "true", "modal"],
];

function statesOf(element, focused) {
  const states = new Set();
  if (element === focused) states.add("focused");
  for (const [attribute, value, state] of ARIA_STATES) {
    if (element.getAttribute(attribute) === value) states.add(state);
  }
  if (element.matches(":disabled")) states.add("disabled");
  if (element.required) states.add("required");
  if (element.readOnly === true) states.add("readonly");
  if (element.selected) states.add("selected");
  if (element.matches(":modal")) states.add("modal");
  if (element.localName === "input") inputStates(element, states);
  if (element.localName === "select" && isOpen(element)) states.add("expanded");
  if (element.localName === "summary" && element.parentElement) {
    states.add(element.parentElement.open ? "expanded" : "collapsed");
  }
  const writable = isTextField(element) ? !element.readOnly && !element.disabled : isEditingHost(element);
  if (writable) states.add("editable");
  return [...states].sort();
}

const KNOWS_OPEN = CSS.supports("selector(:open)");

function isOpen(select) {
  return KNOWS_OPEN && select.matches(":open");
}

function inputStates(input, states) {
  if (input.indeterminate) states.add("mixed");
  else if (input.checked && ["checkbox", "radio"].includes(input.type)) states.add("checked");
  if (input.type === "password") states.add("protected");
}
