// What taps and forms of the phone's own pages do. Every change is asked of the server; nothing is kept here.

async function send(act, fields) {
  const body = new FormData();
  for (const [name, value] of fields) body.append(name, value);
  const answer = await fetch(act, { method: "POST", body, headers: { "X-Handset": "1" } });
  return answer.json();
}

function leave(done, place) {
  if (done.problem) return complain(done.problem, place);
  if (done.then === "back") return back();
  if (done.then === "go") return location.replace(done.path);
  if (done.then === "stay") location.reload();
}

function complain(problem, place) {
  const holder = place.closest("dialog") || document.querySelector("main");
  let box = holder.querySelector("[role=alert]");
  if (!box) {
    box = document.createElement("p");
    box.setAttribute("role", "alert");
    holder.prepend(box);
  }
  box.textContent = problem;
  box.scrollIntoView({ block: "center" });
}

function back() {
  if (navigation.canGoBack) history.back();
  else location.replace("./");
}

document.addEventListener("click", async (event) => {
  const target = event.target.closest("[data-go], [data-turn], [data-back], [data-open], [data-shut], [data-act]");
  if (!target || target.localName === "form") return;
  const wanted = target.dataset;
  if (wanted.go !== undefined) location.href = wanted.go;
  else if (wanted.turn !== undefined) location.replace(wanted.turn);
  else if (wanted.back !== undefined) back();
  else if (wanted.open !== undefined) document.getElementById(wanted.open).showModal();
  else if (wanted.shut !== undefined) target.closest("dialog").close();
  else {
    const fields = Object.entries(wanted).filter(([name]) => name !== "act");
    leave(await send(wanted.act, fields), target);
  }
});

// The first tap on a field of one line selects what is in it, so that typing replaces it: the caret goes where the
// finger was only after the focus came, hence at the click.
let tapped = null;
document.addEventListener("click", ({ target }) => {
  if (target.matches("input[type=text], input[type=search]") && target !== tapped) target.select();
  tapped = target;
});
document.addEventListener("input", (event) => { tapped = event.target; });
document.addEventListener("focusout", () => { tapped = null; });

document.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  if (form.dataset.find !== undefined) {
    const query = new URLSearchParams(new FormData(form));
    location.replace(`${form.dataset.find}?${query}`);
    return;
  }
  leave(await send(form.dataset.act, new FormData(form, event.submitter)), form);
});

document.addEventListener("contextmenu", (event) => {
  event.preventDefault();
  const held = event.target.closest("[data-hold]");
  if (held) document.getElementById(held.dataset.hold).showModal();
});

// A tap beside a dialog closes it.
document.addEventListener("pointerdown", (event) => {
  if (event.target.localName === "dialog") event.target.close();
});

// A page that is gone back to shows what is true now.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
