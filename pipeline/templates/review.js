"use strict";
// Keys beside what the browser offers: 1-5 choose, Ctrl+Enter stores, n goes on, j and k move between screens.
(() => {
  const form = document.getElementById("answer");
  const reason = form && form.elements.reason;
  const chosen = () => form && form.querySelector("input[name=grade]:checked");

  const ask = () => {
    if (reason) reason.required = Boolean(chosen()) && chosen().value === "cannot_say";
  };

  const move = (by) => {
    const screens = [...document.querySelectorAll(".columns .step")];
    const here = screens.findLastIndex((screen) => screen.getBoundingClientRect().top < 80);
    const there = screens[Math.min(Math.max(here + by, 0), screens.length - 1)];
    if (there) there.scrollIntoView({ block: "start" });
  };

  if (form) form.addEventListener("change", ask);
  ask();

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      if (form) form.requestSubmit();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("textarea, select, input[type=text]")) return;
    const next = document.getElementById("next");
    const choice = form && form.querySelector(`input[data-key="${CSS.escape(event.key)}"]:not(:disabled)`);
    if (choice && form.checkVisibility()) {
      choice.checked = true;
      choice.focus();
      ask();
      event.preventDefault();
    } else if (event.key === "n" && next) next.click();
    else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
  });
})();
