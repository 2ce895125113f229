// What the page shows, read in one go: every control and every text, its states, its box and what lies under it.
// `told` says whether the page's own notes on icons, acts, colours and records may be believed.
(told) => {
  const CONTROLS = 'button,a[href],input,select,textarea,summary,[role=option],[role=treeitem],[role=row],[role=img],[role=tab],[role=button],[role=link],[role=checkbox],[role=radio],[role=switch],[role=menuitem],[role=textbox],[role=combobox]';
  const W = innerWidth, H = innerHeight;
  const roles = { BUTTON: 'button', A: 'link', SELECT: 'combobox', TEXTAREA: 'textbox', SUMMARY: 'button' };
  const inputs = { checkbox: 'checkbox', radio: 'radio', search: 'searchbox', range: 'slider' };
  const roleOf = (e) => e.getAttribute('role') || (e.tagName === 'BUTTON' && e.closest('th') ? 'columnheader' : '') || (e.tagName === 'INPUT' ? inputs[e.type] || 'textbox' : roles[e.tagName] || 'text');
  const clean = (text) => (text || '').replace(/\s+/g, ' ').trim();
  const nameOf = (e) => clean(e.getAttribute('aria-label') || (e.labels && e.labels.length ? labelText(e.labels[0]) : '') || (e.placeholder || '') || (e.tagName === 'SELECT' ? '' : e.innerText));
  const labelText = (label) => { const span = label.querySelector(':scope > span'); return span ? span.innerText : label.innerText; };
  // What can be seen of a box: cut by every ancestor that hides what overflows it.
  const clipped = (e, rect) => {
    let [l, t, r, b] = [Math.max(0, rect.left), Math.max(0, rect.top), Math.min(W, rect.right), Math.min(H, rect.bottom)];
    for (let at = e.parentElement; at && at !== document.body; at = at.parentElement) {
      if (getComputedStyle(at).overflow === 'visible') continue;
      const c = at.getBoundingClientRect();
      [l, t, r, b] = [Math.max(l, c.left), Math.max(t, c.top), Math.min(r, c.right), Math.min(b, c.bottom)];
    }
    return [l, t, Math.max(l, r), Math.max(t, b)];
  };
  const hits = (e, l, t, r, b) => {
    const found = [];
    for (const v of [0.1, 0.5, 0.9]) for (const u of [0.1, 0.5, 0.9]) {
      const under = document.elementFromPoint(l + (r - l) * u, t + (b - t) * v);
      found.push(!!under && (under === e || e.contains(under)));
    }
    return found;
  };
  const records = told ? [...document.querySelectorAll('[data-record]')] : [];
  const drawnIn = (e) => (told ? [...e.querySelectorAll('[data-drawn]')].map((svg) => svg.dataset.drawn) : []);
  const note = (e, name) => (told && e.dataset[name]) || '';
  const stateOf = (e) => {
    const s = [];
    if (e.disabled) s.push('disabled');
    if (e.checked || e.getAttribute('aria-checked') === 'true') s.push('checked');
    else if (e.type === 'checkbox' || e.type === 'radio' || e.hasAttribute('aria-checked')) s.push('unchecked');
    if (e.getAttribute('aria-selected') === 'true') s.push('selected');
    if (e.getAttribute('aria-pressed') === 'true') s.push(told && 'choice' in e.dataset ? 'active' : 'pressed');
    if (e.getAttribute('aria-invalid') === 'true') s.push('invalid');
    if (e.closest('th[aria-sort]')) s.push('sorted');
    s.push(...note(e, 'state').split(' ').filter(Boolean));
    if (e.getAttribute('aria-expanded')) s.push(e.getAttribute('aria-expanded') === 'true' ? 'expanded' : 'collapsed');
    if (e.getAttribute('aria-current')) s.push(e.getAttribute('aria-current') === 'page' ? 'current' : 'tool');
    return s;
  };
  const entry = (e, rect, extra) => {
    const seen = clipped(e, rect);
    const shown = e.checkVisibility ? e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) : true;
    return {
      role: roleOf(e), name: nameOf(e), text: clean(e.innerText) || (e.value ? '' : clean(e.placeholder)), states: stateOf(e), icon: note(e, 'icon') || drawnIn(e)[0] || '', act: note(e, 'act'),
      colour: note(e, 'colour'), box: [rect.left, rect.top, rect.right, rect.bottom], seen, shown,
      hits: hits(e, ...[rect.left, rect.top, rect.right, rect.bottom]), record: records.indexOf(e.closest('[data-record]')), ...extra,
    };
  };
  const controls = [...document.querySelectorAll(CONTROLS)];
  // scrollWidth is in whole pixels: dots come as soon as the contents are wider at all than what is between the padding.
  const dotted = (e, style) => {
    const range = document.createRange();
    range.selectNodeContents(e);
    const { left, right } = e.getBoundingClientRect(), held = range.getBoundingClientRect();
    const edge = (side) => parseFloat(style[`padding${side}`]) + parseFloat(style[`border${side}Width`]);
    return style.textOverflow === 'ellipsis' && held.right - held.left > right - left - edge('Left') - edge('Right') + 0.1;
  };
  const short = (e) => {
    const style = getComputedStyle(e);
    return style.overflow !== 'visible' && (e.scrollWidth > e.clientWidth + 1 || dotted(e, style));
  };
  // The boxes a text is within as a part of a line, out to the one whose line it is.
  const inlines = (e) => (e && getComputedStyle(e).display === 'inline' ? [e, ...inlines(e.parentElement)] : [e]);
  const found = controls.map((e) => entry(e, e.getBoundingClientRect(), { kind: 'control', cut: [e, ...e.querySelectorAll('*')].some(short) }));
  const inside = new Set(controls.filter((e) => !['row', 'option', 'treeitem'].includes(roleOf(e))));
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = clean(node.data), e = node.parentElement;
    if (!text || ['SCRIPT', 'STYLE', 'OPTION', 'TEXTAREA', 'TITLE'].includes(e.tagName)) continue;
    let at = e;
    while (at && !inside.has(at)) at = at.parentElement;
    if (at) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const lines = range.getClientRects(), label = e.closest('label');
    found.push(entry(e, range.getBoundingClientRect(), { role: 'text', kind: 'text', name: text, text, states: [], icon: '', act: '', colour: '', lines: lines.length, labels: !!label, cut: [e.parentElement, ...inlines(e)].some((at) => at && short(at)) }));
  }
  const words = (e) => [...['aria-label', 'title', 'placeholder', 'alt', 'value'].map((name) => e.getAttribute(name)), ...[...e.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data)];
  const said = [...document.body.querySelectorAll(':not(script,style)')].flatMap(words).map(clean).filter(Boolean);
  return {
    said, title: document.title, width: W, height: H, ratio: devicePixelRatio, told, drawn: drawnIn(document), elements: found,
    records: records.map((e) => {
      const rect = e.getBoundingClientRect(), seen = clipped(e, rect);
      const [en, zh] = e.dataset.noun.split('|');
      return { en, zh, title: clean(e.dataset.title), by: e.dataset.by || '', facts: JSON.parse(e.dataset.facts), text: clean(e.innerText), box: [rect.left, rect.top, rect.right, rect.bottom], seen, group: [...new Set(records.map((r) => r.parentElement))].indexOf(e.parentElement) };
    }),
  };
}
