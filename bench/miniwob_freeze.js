// Appended to the pages' own core.js: the episode begins by itself and from a given seed; its reward is kept in a
// variable and shown nowhere; and once it has ended the page takes no further input instead of beginning again.

(() => {
  const nothing = () => {};
  let begun = false;

  for (const name of ["createDisplay", "hideDisplay", "updateDisplay", "canvasClear", "countdownTimer", "clearTimer"]) {
    core[name] = nothing;
  }

  core.startEpisode = () => {
    if (begun) return;
    begun = true;
    Math.seedrandom(core.QueryString.seed);
    core.startEpisodeReal();
  };

  // What is asked is told to the agent apart, as it is everywhere else; on the page it would be taken for contents.
  core.startEpisodeReal = () => {
    genProblem();
    core.clearUserSelection();
    document.getElementById("query").style.visibility = "hidden";
  };

  core.endEpisode = (reward) => {
    if (WOB_DONE_GLOBAL) return;
    WOB_RAW_REWARD_GLOBAL = reward;
    WOB_DONE_GLOBAL = true;
    freeze();
  };

  function freeze() {
    const stop = (event) => {
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    const input = ["beforeinput", "keydown", "keypress", "keyup", "paste", "drop", "dragstart", "wheel", "contextmenu"];
    const pointer = ["pointerdown", "pointerup", "pointermove", "mousedown", "mouseup", "mousemove", "click", "dblclick"];
    const more = ["mouseover", "mouseout", "mouseenter", "mouseleave", "submit"];
    for (const kind of [...input, ...pointer, ...more]) window.addEventListener(kind, stop, { capture: true, passive: false });
    const chosen = new Map([...document.querySelectorAll("select")].map((list) => [list, [...list.selectedOptions]]));
    for (const kind of ["input", "change"]) {
      window.addEventListener(kind, (event) => {
        stop(event);
        const kept = chosen.get(event.target);
        if (kept) for (const option of event.target.options) option.selected = kept.includes(option);
      }, { capture: true });
    }
  }
})();
