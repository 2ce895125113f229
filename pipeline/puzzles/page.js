// What a person can do on the page of a puzzle, and what the page says was done. It knows no answer: that is judged by
// the server, whose verdict it shows. Places and lengths are in units of the art.
"use strict";
(() => {
  const { control, words } = JSON.parse(document.getElementById("spec").textContent);
  const untouched = document.querySelector("main").cloneNode(true);
  let art, layer, given, over;

  const round = (value) => Math.round(value * 100) / 100;
  const scale = () => art.getBoundingClientRect().width / art.viewBox.baseVal.width;
  const spot = (event) => {
    const box = art.getBoundingClientRect();
    return [round((event.clientX - box.left) / scale()), round((event.clientY - box.top) / scale())];
  };
  const partOf = (name) => art.querySelector(`[data-part="${name}"]`);
  const button = (name) => document.querySelector(`[data-control="${name}"]`);

  async function answer() {
    if (over) return;
    over = true;
    document.body.dataset.state = "over";
    const verdict = document.getElementById("verdict");
    const reply = await fetch(location.pathname, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(given),
    }).catch(() => undefined);
    if (!reply?.ok) {
      verdict.textContent = words.unheard;
      over = false;
      document.body.dataset.state = "ready";
      return;
    }
    const { right } = await reply.json();
    verdict.textContent = right ? words.right : words.wrong;
    document.body.dataset.verdict = right ? "right" : "wrong";
  }

  // --- motions: parts that follow a position ---------------------------------------------------------------------

  function valueAt(curve, position) {
    if (position <= curve[0][0]) return curve[0][1];
    for (let next = 1; next < curve.length; next += 1) {
      const [left, low] = curve[next - 1];
      const [right, high] = curve[next];
      if (position <= right) return low + ((high - low) * (position - left)) / (right - left);
    }
    return curve[curve.length - 1][1];
  }

  let states;
  function move(motion, position) {
    const part = partOf(motion.part);
    const state = states.get(motion.part) ?? { across: 0, down: 0, turn: 0, length: 1, pivot: [0, 0] };
    states.set(motion.part, state);
    const value = valueAt(motion.curve, position);
    if (motion.how === "light") part.style.filter = `brightness(${value})`;
    else if (motion.how === "hue") part.style.filter = `hue-rotate(${value}deg)`;
    else if (motion.how === "frame") {
      [...part.children].forEach((child, number) => child.toggleAttribute("hidden", number !== Math.round(value)));
    } else {
      state[motion.how] = value;
      if (motion.how === "turn" || motion.how === "length") state.pivot = motion.pivot;
      const [x, y] = state.pivot;
      part.setAttribute(
        "transform",
        `translate(${state.across} ${state.down}) rotate(${state.turn} ${x} ${y}) ` +
          `translate(${x} 0) scale(${state.length} 1) translate(${-x} 0)`,
      );
    }
  }

  // --- drags ------------------------------------------------------------------------------------------------------

  // `begin(event)` says what follows the pointer: {moved(event), ended(event)}, or nothing.
  function draggable(target, begin) {
    target.addEventListener("pointerdown", (event) => {
      if (over || event.button !== 0) return;
      const drag = begin(event);
      if (!drag) return;
      event.preventDefault();
      target.setPointerCapture(event.pointerId);
      const moved = (later) => drag.moved(later);
      const ended = (later) => {
        target.removeEventListener("pointermove", moved);
        target.removeEventListener("pointerup", ended);
        target.removeEventListener("pointercancel", ended);
        drag.ended(later);
      };
      target.addEventListener("pointermove", moved);
      target.addEventListener("pointerup", ended);
      target.addEventListener("pointercancel", ended);
    });
  }

  const drawn = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    layer.append(element);
    return element;
  };

  // --- controls ---------------------------------------------------------------------------------------------------

  const controls = {
    field() {
      const field = button("field");
      const confirm = () => {
        given.text = field.value;
        answer();
      };
      button("confirm").addEventListener("click", confirm);
      field.addEventListener("keydown", (event) => event.key === "Enter" && confirm());
    },

    pointer() {
      given.clicks = [];
      art.addEventListener("click", (event) => {
        if (over) return;
        const [x, y] = spot(event);
        given.clicks.push([x, y]);
        drawn("circle", { cx: x, cy: y, r: 9, class: "click" });
        if (!control.single) drawn("text", { x, y, class: "count" }).textContent = given.clicks.length;
        if (control.single) answer();
      });
      button("clear")?.addEventListener("click", () => {
        given.clicks = [];
        layer.replaceChildren();
      });
      button("confirm")?.addEventListener("click", answer);
    },

    sliders() {
      given.shifts = {};
      given.rises = {};
      control.handles.forEach((handle) => {
        const knob = button(handle.name);
        const at = (shift) => {
          knob.style.transform = `translateX(${shift * scale()}px)`;
          knob.setAttribute("aria-valuenow", Math.round(shift));
          handle.motions.forEach((motion) => move(motion, shift));
        };
        at(0);
        draggable(knob, (event) => {
          const [began, from] = [given.shifts[handle.name] ?? 0, spot(event)];
          const shift = (later) => Math.min(Math.max(began + spot(later)[0] - from[0], 0), handle.reach);
          return {
            moved: (later) => at(shift(later)),
            ended: (later) => {
              given.shifts[handle.name] = round(shift(later));
              given.rises[handle.name] = round(spot(later)[1] - from[1]);
              at(shift(later));
              if (control.handles.length === 1) answer();
            },
          };
        });
      });
      button("confirm")?.addEventListener("click", answer);
    },

    hand() {
      const part = partOf(control.part);
      const [x, y] = control.pivot;
      const direction = (event) => {
        const [across, down] = spot(event);
        return (Math.atan2(across - x, y - down) * 180) / Math.PI;
      };
      draggable(part, (event) => {
        const from = direction(event);
        const at = (later) => (((control.start + direction(later) - from) % 360) + 360) % 360;
        const turn = (later) => part.setAttribute("transform", `rotate(${at(later) - control.start} ${x} ${y})`);
        return {
          moved: turn,
          ended: (later) => {
            turn(later);
            given.degrees = round(at(later));
            answer();
          },
        };
      });
    },

    stepper() {
      given.presses = 0;
      const show = () => control.motions.forEach((motion) => move(motion, given.presses % control.cycle));
      show();
      button("step").addEventListener("click", () => {
        if (over) return;
        given.presses += 1;
        show();
      });
      button("confirm").addEventListener("click", answer);
    },

    items() {
      const names = Object.keys(control.spots);
      const rests = Object.fromEntries(names.map((name) => [name, control.spots[name]]));
      const place = (name, [x, y]) => {
        const [left, top] = control.spots[name];
        partOf(name).setAttribute("transform", `translate(${x - left} ${y - top})`);
      };
      const swapped = (name, event) => {
        const [x, y] = spot(event);
        return names.find((other) => {
          const [across, down] = rests[other];
          return other !== name && Math.hypot(across - x, down - y) <= control.radius;
        });
      };
      const settle = (name, at, event) => {
        if (!control.swap) {
          rests[name] = at;
          given.rests = { ...given.rests, [name]: at };
          return;
        }
        const other = swapped(name, event);
        if (other) [rests[name], rests[other]] = [rests[other], rests[name]];
        names.forEach((one) => place(one, rests[one]));
        const here = ([x, y]) => names.find((one) => rests[one][0] === x && rests[one][1] === y);
        given.order = names.map((one) => here(control.spots[one]));
      };
      if (control.swap) given.order = names;
      names.forEach((name) => {
        draggable(partOf(name), (event) => {
          const [from, began] = [spot(event), rests[name]];
          art.insertBefore(partOf(name), layer);
          const at = (later) => {
            const [x, y] = spot(later);
            return [round(began[0] + x - from[0]), round(began[1] + y - from[1])];
          };
          return {
            moved: (later) => place(name, at(later)),
            ended: (later) => {
              place(name, at(later));
              settle(name, at(later), later);
              if (names.length === 1) answer();
            },
          };
        });
      });
      button("confirm")?.addEventListener("click", answer);
    },

    lines() {
      given.lines = [];
      draggable(art, (event) => {
        const [x1, y1] = spot(event);
        const line = drawn("line", { x1, y1, x2: x1, y2: y1, class: "line" });
        const follow = (later) => {
          const [x2, y2] = spot(later);
          line.setAttribute("x2", x2);
          line.setAttribute("y2", y2);
        };
        return {
          moved: follow,
          ended: (later) => {
            follow(later);
            given.lines.push([[x1, y1], spot(later)]);
          },
        };
      });
      button("clear").addEventListener("click", () => {
        given.lines = [];
        layer.replaceChildren();
      });
      button("confirm").addEventListener("click", answer);
    },

    token() {
      given.paths = [];
      const part = partOf(control.part);
      let rest = control.start;
      draggable(part, (event) => {
        const [from, began] = [spot(event), rest];
        const path = [began];
        const follow = (later) => {
          const [x, y] = spot(later);
          rest = [round(began[0] + x - from[0]), round(began[1] + y - from[1])];
          path.push(rest);
          part.setAttribute("transform", `translate(${rest[0] - control.start[0]} ${rest[1] - control.start[1]})`);
        };
        return {
          moved: follow,
          ended: (later) => {
            follow(later);
            given.paths.push(path);
          },
        };
      });
      button("confirm").addEventListener("click", answer);
    },

    buttons() {
      given.taps = [];
      control.buttons.forEach((one) => {
        const element = button(`button:${one.name}`);
        const tapped = (held) => {
          const ticked = one.look === "box" && element.getAttribute("aria-checked") !== "true";
          if (one.look === "box") {
            element.setAttribute("aria-checked", ticked);
            given.taps = given.taps.filter((tap) => tap.name !== one.name);
          }
          if (one.look !== "box" || ticked) given.taps.push({ name: one.name, held });
          if (one.ends) answer();
        };
        if (one.wait > 0) setTimeout(() => element.removeAttribute("disabled"), one.wait * 1000);
        draggable(element, () => {
          if (element.disabled) return undefined;
          const began = performance.now();
          element.classList.add("held");
          return {
            moved: () => {},
            ended: (later) => {
              element.classList.remove("held");
              const inside = element.getBoundingClientRect();
              const { clientX: x, clientY: y } = later;
              if (x < inside.left || x > inside.right || y < inside.top || y > inside.bottom) return;
              if (!over) tapped(round((performance.now() - began) / 1000));
            },
          };
        });
        element.addEventListener("keydown", (event) => {
          if ((event.key === "Enter" || event.key === " ") && !element.disabled && !over) tapped(0);
        });
      });
    },
  };

  function begin() {
    art = document.getElementById("art");
    layer = document.getElementById("layer");
    given = {};
    over = false;
    states = new Map();
    controls[control.kind]();
    document.body.dataset.state = "ready";
  }

  // For whoever checks the puzzle: a second answer without loading the page again. No control leads here.
  document.addEventListener("again", () => {
    document.querySelector("main").replaceWith(untouched.cloneNode(true));
    delete document.body.dataset.verdict;
    begin();
  });
  begin();
})();
