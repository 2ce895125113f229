// Text and choices delivered to fields, and what the page made of them. Needs names.js, watch.js and tree.js.

let entry = null;

// Call before text is inserted: remembers the focused field and what it should hold afterwards. Says where the text
// will go: `field`, `one_line` (it cannot hold all of it), `beyond` (a frame that cannot be read) or `nowhere`.
function expectText(text) {
  watch(document);
  const field = focusedElement(document);
  entry = null;
  if (field && field.localName === "iframe") return "beyond";
  if (!field || !writable(field)) return "nowhere";
  if (field.localName === "input" && /[\r\n]/.test(text)) return "one_line";
  const noticed = new AbortController();
  const filling = { field, before: heldBy(field), wanted: wantedIn(field, text), text, sink: isSink(field), noticed };
  const listen = () => {
    filling.arrived = filling.arrived || heldBy(field) !== filling.before;
  };
  field.getRootNode().addEventListener("input", listen, { capture: true, signal: noticed.signal });
  entry = filling;
  return "field";
}

// Call after the page has settled: `ok`, `unverified`, `reverted` or `missing`, and what the field holds now.
function textOutcome() {
  if (!entry || !entry.field) return ["ok", ""];
  entry.noticed.abort();
  if (!entry.field.isConnected) return ["ok", ""];
  const now = heldBy(entry.field);
  if (holds(entry) && (now !== entry.before || (entry.arrived && entry.wanted !== null))) return ["ok", now];
  if (entry.sink || mayBeItself(entry, now)) return ["unverified", now];
  if (now === entry.before) return [entry.arrived ? "reverted" : "missing", cut(now, MAX_NAME)];
  if (letters(now).includes(letters(entry.text)) && letters(entry.text)) return ["ok", now];
  return ["missing", cut(now, MAX_NAME)];
}

// Whether a field that holds what it held before may have been given the same again.
function mayBeItself(filling, now) {
  if (now !== filling.before) return false;
  if (holds(filling)) return true;
  return filling.wanted !== null && letters(filling.text) !== "" && letters(now) === letters(filling.wanted);
}

function writable(field) {
  return isTextField(field) ? !field.readOnly && !field.disabled : field.isContentEditable;
}

function heldBy(field) {
  return isTextField(field) ? field.value : field.innerText;
}

// What a field with a known caret will hold; null when only the text itself can be looked for.
function wantedIn(field, text) {
  if (!isTextField(field) || field.selectionStart === null || field.selectionStart === undefined) return null;
  const { value, selectionStart, selectionEnd } = field;
  return value.slice(0, selectionStart) + text + value.slice(selectionEnd);
}

function holds({ field, wanted, text }) {
  const now = heldBy(field);
  if (wanted !== null) return now === wanted;
  if (isTextField(field)) return now.includes(text);
  return plain(now).includes(plain(text));
}

// Fields may group and punctuate what they are given: 1234 becomes 1 234.
function letters(text) {
  return text.replace(/[^\p{L}\p{N}]/gu, "").toLowerCase();
}

// Editors take text through a field nobody sees and empty it at once.
function isSink(field) {
  const rect = field.getBoundingClientRect();
  if (rect.width < 10 || rect.height < 8 || !field.checkVisibility({ opacityProperty: true })) return true;
  const x = (rect.left + rect.right) / 2;
  const y = (rect.top + rect.bottom) / 2;
  const page = field.ownerDocument.defaultView;
  if (x < 0 || y < 0 || x >= page.innerWidth || y >= page.innerHeight) return false;
  const top = field.getRootNode().elementFromPoint(x, y);
  return !(top && (field.contains(top) || top.contains(field)));
}

// Chooses an option of the focused or last pressed drop-down by position.
function choose(index) {
  watch(document);
  entry = null;
  const focused = focusedElement(document);
  const select = focused && focused.localName === "select" ? focused : pressedSelect;
  if (!select || !select.isConnected) return ["none", ""];
  const option = select.options[index];
  if (select.disabled || !option) return ["missing", String(select.options.length)];
  if (option.disabled || option.closest("optgroup:disabled")) return ["disabled", option.label];
  entry = { select, option };
  select.focus();
  const already = option.selected && select.selectedOptions.length === 1;
  select.selectedIndex = index;
  if (!already) {
    select.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    select.dispatchEvent(new Event("change", { bubbles: true }));
  }
  if (isOpen(select)) {
    // Setting a value leaves an open list on the screen.
    select.blur();
    select.focus();
  }
  return ["set", option.label];
}

// Call after the page has settled: whether the choice still stands; a drop-down that is gone has done its work.
function choiceOutcome() {
  if (!entry || !entry.select || !entry.select.isConnected || !entry.option.isConnected) return ["ok", ""];
  return [entry.option.selected ? "ok" : "reverted", [...entry.select.selectedOptions].map((o) => o.label).join(", ")];
}
