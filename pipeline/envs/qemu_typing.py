"""Keys by name and text by characters in a guest, on any layout that it has.

Keys are pressed from outside, as on a real keyboard; what they mean is asked of the guest. What the layout has neither
bare nor with Shift gets a spare key, which then means that character whatever is held. The guest takes a few events at
a time, so it has to answer between them. Knows nothing of what shows the text.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pipeline.envs.keysyms import NAMED, keysym_of, keysym_of_character
from pipeline.envs.qemu_agent import SECONDS, Agent
from pipeline.envs.qemu_keys import KEYS, SPARE
from pipeline.envs.qemu_vm import VirtualMachine
from pipeline.errors import ActionError, EnvError

_RUN = 8
"""Characters between two answers of the guest: its keyboard holds 64 events, and one character makes up to eight."""
_PAUSE_SECONDS = 0.2
"""After a text, before the Return that ends it: fields complete what is typed a moment later."""
_MEANING = re.compile(r"^\s*(\d+)\s+(\S.*)$")
_KEYSYM = re.compile(r"0x([0-9a-f]+) \(")
_COLUMNS = 4
"""How often a spare key is given its meaning: bare, with Shift, and in a second group."""
_LAST_PLAIN = 0x0100_FFFF
"""Keysyms above are characters of two units of UTF-16: a common office suite takes those by another way than keys,
which overtakes keys that it has buffered."""
_SHIFT = "shift"
_MODIFIERS = ("shift", "shift_r", "ctrl", "ctrl_r", "alt", "alt_r", "meta_l", "meta_r")


class Stroke(NamedTuple):
    """How a keysym is entered: a key of the machine, and whether Shift has to be held."""

    key: str
    shifted: bool


class Keyboard:
    """The keyboard of one guest with the layout it has now."""

    def __init__(self, machine: VirtualMachine, agent: Agent, rest: Callable[[], Awaitable[object]]) -> None:
        """`rest` waits until programs of the guest have seen to what was sent."""
        self._machine = machine
        self._agent = agent
        self._rest = rest
        self._first: dict[int, Stroke] = {}
        self._strokes: dict[int, Stroke] = {}
        self._names: Mapping[int, str] = {}
        """The spare keys that the machine takes, by X keycode."""
        self._spare: dict[int, int] = {}
        """What spare keys mean now, those that were needed last at the end; 0 for nothing."""
        self._held: list[str] = []

    async def learn(self) -> None:
        """Ask which keys there are and what they mean now; raises EnvError."""
        taken = await self._machine.keys()
        said = await self._told(["xmodmap", "-pk"])
        self._strokes = {keysym: stroke for keysym, stroke in strokes_of(said).items() if stroke.key in taken}
        if not self._strokes:
            raise EnvError("keyboard", f"the guest does not tell what keys mean: {said[:200]}")
        self._first = self._first or self._strokes
        self._names = {keycode: name for keycode, name in SPARE.items() if name in taken}
        self._spare = dict.fromkeys(self._names, 0)

    def forget(self) -> None:
        """The guest is back at the state in which `learn` was called first, and nothing is held."""
        self._strokes = self._first
        self._spare = dict.fromkeys(self._names, 0)
        self._held.clear()

    async def press(self, name: str, *, down: bool) -> None:
        """Press or release a key by name; raises ActionError `bad_arguments` when there is no such key, or EnvError."""
        keysym = keysym_of(name)
        if keysym is None:
            raise ActionError("bad_arguments", f"there is no key '{name}'")
        bare = self._strokes.get(keysym)
        if bare is not None and not bare.shifted:
            await self._send(bare.key, down=down)
            return
        await self._give([keysym])
        await self._send(self._spared(keysym), down=down)

    async def type(self, text: str) -> None:
        """Enter text; raises ActionError `text_not_delivered` before anything is entered, or EnvError."""
        text = text.replace("\r\n", "\n")
        keysyms = {character: keysym_of_character(character) for character in text}
        missing = sorted(character for character, keysym in keysyms.items() if keysym is None)
        if missing:
            raise ActionError("text_not_delivered", f"no key enters {', '.join(map(ascii, missing))}")
        await self._caps_off()
        body = text.rstrip("\n")
        for part in (body, text[len(body) :]):
            for run in self._runs([keysym for character in part if (keysym := keysyms[character]) is not None]):
                await self._give(run)
                await self._enter(run)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def release_all(self) -> None:
        """Let go of every key, Caps Lock too; raises EnvError."""
        held = dict.fromkeys([*self._held, *_MODIFIERS])
        await self._machine.input([_event(key, down=False) for key in held])
        self._held.clear()
        await self._caps_off()

    async def _enter(self, keysyms: Sequence[int]) -> None:
        for at in range(0, len(keysyms), _RUN):
            for keysym in keysyms[at : at + _RUN]:
                stroke = self._strokes.get(keysym) or Stroke(self._spared(keysym), shifted=False)
                if apart := keysym > _LAST_PLAIN:
                    await self._rest()
                keys = [_SHIFT, stroke.key] if stroke.shifted else [stroke.key]
                for key in keys:
                    await self._machine.input([_event(key, down=True)])
                for key in reversed(keys):
                    await self._machine.input([_event(key, down=False)])
                if apart:
                    await self._rest()
            # The events lie before the answer: the guest has one processor, which sees to its keyboard first.
            await self._agent.sync()

    def _runs(self, keysyms: Sequence[int]) -> Iterator[list[int]]:
        """Runs that need no more spare keys each than there are."""
        run: list[int] = []
        needed: set[int] = set()
        for keysym in keysyms:
            if keysym not in self._strokes and len(needed | {keysym}) > len(self._spare):
                yield run
                run, needed = [], set()
            run.append(keysym)
            if keysym not in self._strokes:
                needed.add(keysym)
        if run:
            yield run

    async def _give(self, keysyms: Sequence[int]) -> None:
        """Give spare keys the meanings that are needed, first those that have none."""
        needed = [keysym for keysym in dict.fromkeys(keysyms) if keysym not in self._strokes]
        there = set(self._spare.values())
        fresh = [keysym for keysym in needed if keysym not in there]
        free = [keycode for keycode, keysym in self._spare.items() if keysym not in needed]
        free.sort(key=lambda keycode: self._spare[keycode] != 0)
        given = dict(zip(free, fresh, strict=False))
        if any(self._spare[keycode] for keycode in given):
            await self._rest()  # programs look meanings up late
        if given:
            rows = [f"keycode {keycode} = {' '.join([hex(keysym)] * _COLUMNS)}" for keycode, keysym in given.items()]
            await self._told(["xmodmap", *(part for row in rows for part in ("-e", row))])
        for keycode, keysym in given.items():
            del self._spare[keycode]
            self._spare[keycode] = keysym

    def _spared(self, keysym: int) -> str:
        return next(self._names[keycode] for keycode, meaning in self._spare.items() if meaning == keysym)

    async def _send(self, key: str, *, down: bool) -> None:
        await self._machine.input([_event(key, down=down)])
        if down:
            self._held.append(key)
        elif key in self._held:
            self._held.remove(key)
        await self._agent.sync()

    async def _caps_off(self) -> None:
        if re.search(r"Caps Lock:\s+on", await self._told(["xset", "q"])):
            stroke = self._strokes[NAMED["Caps_Lock"]]
            await self._machine.input([_event(stroke.key, down=True)])
            await self._machine.input([_event(stroke.key, down=False)])

    async def _told(self, argv: Sequence[str]) -> str:
        ran = await self._agent.run(argv, seconds=SECONDS)
        if ran.code != 0:
            raise EnvError("keyboard", f"{argv[0]} failed in the guest: {ran.err.decode(errors='replace')}")
        return ran.out.decode(errors="replace")


def strokes_of(table: str) -> dict[int, Stroke]:
    """How keysyms are entered, of the table that `xmodmap -pk` writes."""
    strokes: dict[int, Stroke] = {}
    rows = [
        (KEYS[int(row[1])], row[2]) for row in map(_MEANING.match, table.splitlines()) if row and int(row[1]) in KEYS
    ]
    for column, shifted in enumerate((False, True)):
        for key, meanings in rows:
            columns = [int(number, 16) for number in _KEYSYM.findall(meanings)]
            if column < len(columns) and columns[column]:
                strokes.setdefault(columns[column], Stroke(key, shifted))
    return strokes


def _event(key: str, *, down: bool) -> Mapping[str, Any]:
    return {"type": "key", "data": {"down": down, "key": {"type": "qcode", "data": key}}}
