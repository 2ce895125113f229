// Roles as Chromium's accessibility tree spells them, from tags and `role` attributes.
// Knows nothing of names, boxes or what is kept in a tree.

const ARIA_ROLES = new Set((
  "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox " +
  "complementary contentinfo definition deletion dialog document emphasis feed figure form generic grid gridcell " +
  "group heading image img insertion link list listbox listitem log main mark marquee math menu menubar menuitem " +
  "menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio " +
  "radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong " +
  "subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid " +
  "treeitem directory"
).split(" "));
const ROLE_SPELLINGS = { img: "image", presentation: "none", directory: "list" };

const TAG_ROLES = {
  article: "article", aside: "complementary", blockquote: "blockquote", button: "button", canvas: "Canvas",
  caption: "caption", code: "code", datalist: "listbox", dd: "definition", del: "deletion", details: "Details",
  dialog: "dialog", dl: "DescriptionList", dt: "term", em: "emphasis", fieldset: "group", figcaption: "Figcaption",
  figure: "figure", form: "form", h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading",
  h6: "heading", hr: "separator", iframe: "Iframe", frame: "Iframe", ins: "insertion", label: "LabelText",
  legend: "Legend", li: "listitem", main: "main", mark: "mark", math: "math", menu: "list", meter: "meter",
  nav: "navigation", ol: "list", optgroup: "group", option: "option", output: "status", p: "paragraph", pre: "Pre",
  progress: "progressbar", search: "search", strong: "strong", sub: "subscript", summary: "DisclosureTriangle",
  sup: "superscript", table: "table", tbody: "rowgroup", textarea: "textbox", tfoot: "rowgroup",
  thead: "rowgroup", time: "time", tr: "row", ul: "list", audio: "Audio", video: "Video",
};

const INPUT_ROLES = {
  button: "button", checkbox: "checkbox", color: "ColorWell", date: "Date", "datetime-local": "DateTime",
  file: "button", image: "button", month: "DateTime", number: "spinbutton", radio: "radio", range: "slider",
  reset: "button", search: "searchbox", submit: "button", time: "InputTime", week: "DateTime",
};

const INTERACTIVE = new Set((
  "button link textbox searchbox combobox checkbox radio switch slider spinbutton tab menuitem menuitemcheckbox " +
  "menuitemradio option treeitem listbox gridcell DisclosureTriangle ColorWell Date DateTime InputTime"
).split(" "));

const NAMED_BY_CONTENT = new Set((
  "button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio " +
  "rowheader switch tab tooltip treeitem DisclosureTriangle"
).split(" "));

const KEPT_WITHOUT_NAME = new Set(["alert", "alertdialog", "Canvas", "dialog", "Iframe", "image"]);

const PAGE_PARTS = "article, aside, main, nav, section";

function roleOf(element) {
  const tokens = element.getAttribute("role");
  if (tokens) {
    for (const token of tokens.toLowerCase().split(/\s+/)) {
      const role = ROLE_SPELLINGS[token] || token;
      if (ARIA_ROLES.has(token) && !(role === "none" && focusable(element))) return role;
    }
  }
  return nativeRole(element);
}

function focusable(element) {
  return element.tabIndex >= 0 || element.hasAttribute("tabindex");
}

function nativeRole(element) {
  const tag = element.localName;
  switch (tag) {
    case "a": case "area": return element.hasAttribute("href") ? "link" : "generic";
    case "input": return inputRole(element);
    case "select": return element.multiple || element.size > 1 ? "listbox" : "combobox";
    case "img": return element.getAttribute("alt") === "" ? "none" : "image";
    case "svg": return labelled(element) || element.querySelector(":scope > title") ? "image" : "generic";
    case "section": return labelled(element) ? "region" : "generic";
    case "header": return element.closest(PAGE_PARTS) ? "generic" : "banner";
    case "footer": return element.closest(PAGE_PARTS) ? "generic" : "contentinfo";
    case "th": return headerRole(element);
    case "td": return cellRole(element);
  }
  if (isEditingHost(element)) return "textbox";
  return Object.hasOwn(TAG_ROLES, tag) ? TAG_ROLES[tag] : "generic";
}

function inputRole(input) {
  if (Object.hasOwn(INPUT_ROLES, input.type)) return INPUT_ROLES[input.type];
  return input.list ? "combobox" : "textbox";
}

function headerRole(cell) {
  const scope = (cell.getAttribute("scope") || "").toLowerCase();
  if (scope.startsWith("row")) return "rowheader";
  if (scope.startsWith("col") || cell.closest("thead")) return "columnheader";
  const cells = cell.parentElement ? [...cell.parentElement.children] : [];
  return cells.every((other) => other.localName === "th") ? "columnheader" : "rowheader";
}

function cellRole(cell) {
  const table = cell.closest("table");
  const role = table && table.getAttribute("role");
  if (role === "grid" || role === "treegrid") return "gridcell";
  return role === "none" || role === "presentation" ? "generic" : "cell";
}

function labelled(element) {
  return element.hasAttribute("aria-label") || element.hasAttribute("aria-labelledby") || element.hasAttribute("title");
}

function isEditingHost(element) {
  if (!element.isContentEditable) return false;
  const parent = element.parentElement;
  return !(parent && parent.isContentEditable);
}

function isTextField(element) {
  if (element.localName === "textarea") return true;
  return element.localName === "input" && ["textbox", "searchbox", "combobox", "spinbutton"].includes(inputRole(element));
}
