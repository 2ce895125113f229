// What changes on a page, counted; and how long it has been still. Knows nothing of roles or trees.

const watched = new WeakSet();
let changes = 0;
let changedAt = performance.now();
let pressedSelect = null;
let fontsSince = null;

function changed() {
  changes += 1;
  changedAt = performance.now();
}

// Counts what happens in a document or an open shadow root from now on.
function watch(root) {
  if (watched.has(root)) return;
  watched.add(root);
  new MutationObserver(changed).observe(root, {
    subtree: true, childList: true, attributes: true, characterData: true,
  });
  for (const kind of ["scroll", "input", "load"]) root.addEventListener(kind, changed, { capture: true, passive: true });
  root.addEventListener("pointerdown", rememberSelect, { capture: true, passive: true });
}

function rememberSelect(event) {
  const select = event.composedPath().find((node) => node.localName === "select");
  if (select) pressedSelect = select;
}

// Two equal stamps: nothing we know of has happened in between.
function stamp() {
  return [performance.timeOrigin, changes, location.href].join(" ");
}

// Milliseconds since fonts were first seen missing; null when none is.
function fontsPending() {
  if (document.fonts.status !== "loading") {
    fontsSince = null;
    return null;
  }
  if (fontsSince === null) fontsSince = performance.now();
  return performance.now() - fontsSince;
}

// Browsers hide text for three seconds while its font is under way; then they show it in another one.
const FONT_BLOCK = 3200;

function fontsMayCome() {
  const waited = fontsPending();
  return waited !== null && waited < FONT_BLOCK;
}

const SHORT_ANIMATION = 600;

// Something that moves and will soon have stopped; endless animations are not waited for.
function moving() {
  return document.getAnimations().some((animation) => {
    if (animation.playState !== "running" || !animation.effect) return false;
    const left = animation.effect.getComputedTiming().endTime - animation.currentTime;
    return left > 0 && left < SHORT_ANIMATION;
  });
}

const CHECK = 12;
const BUSY = 50;

// Resolves when the document has been parsed and then nothing has changed for `still` milliseconds, or `limit` has
// passed since; with the stamp, and how long parsing took.
async function quiet(still, limit, patience) {
  watch(document);
  const called = performance.now();
  await until(() => document.readyState !== "loading", 0, patience);
  const began = performance.now();
  let checked = began;
  const calm = () => {
    const now = performance.now();
    // A page that kept its scripts running in between was not still, whatever it shows.
    if (now - checked > BUSY) changedAt = now;
    checked = now;
    return now - Math.max(began, changedAt) >= still && !moving() && !fontsMayCome();
  };
  await until(calm, CHECK, limit);
  return [stamp(), began - called];
}

// Resolves when the fonts have come or `limit` milliseconds have passed.
function fontsCome(limit) {
  return until(() => fontsPending() === null, 0, limit);
}

function until(holds, first, limit) {
  const began = performance.now();
  return new Promise((resolve) => {
    const check = () => {
      if (holds() || performance.now() - began >= limit) resolve();
      else setTimeout(check, CHECK);
    };
    if (first) setTimeout(check, Math.min(first, limit));
    else check();
  });
}
