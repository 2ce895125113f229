"""Keys by name and text by characters, on any layout: what the layout has no plain key for gets a spare one.

Spare keys are those that mean nothing or only what no program here listens for (media keys); the display is ours, so
nobody else misses them. A spare key means its one character whatever modifiers are held. Meanings are only changed when
the program in front has seen to the keys before, as it looks meanings up late.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from pipeline.envs.keysyms import NAMED, keysym_of, keysym_of_character
from pipeline.envs.x11_display import BUTTON_RELEASE, KEY_PRESS, KEY_RELEASE, Display
from pipeline.envs.x11_rest import wait_until_handled
from pipeline.errors import ActionError, EnvError

_MEDIA = range(0x1008_0000, 0x1009_0000)
"""Keysyms of media and internet keys."""
_HANDLED_SECONDS = 10.0
_PAUSE_SECONDS = 0.2
"""After a text, before the Return that ends it: fields complete what is typed a moment later, and lose a Return that
comes before."""
_LAST_PLAIN = 0x0100_FFFF
"""Keysyms above are characters that take two units of UTF-16: a common office suite takes those by another way than
keys, which overtakes keys that it has buffered."""
_APART_SECONDS = 0.06
_RUN = 400
"""Characters that are sent at once."""


class Keyboard:
    """The keyboard of one display with the layout it has now."""

    def __init__(self, display: Display, clock: Callable[[], float] = time.monotonic) -> None:
        """Look the layout up; programs have their time to take keys by the `clock`."""
        self._display, self._clock = display, clock
        keymap, modifiers = display.keymap(), display.modifier_keys()
        self._columns = keymap.columns
        self._plain: dict[int, int] = {}
        self._spare: dict[int, int] = {}
        """What spare keys mean now, those that were needed last at the end; 0 for nothing."""
        for keycode in range(keymap.first, keymap.first + len(keymap.keysyms) // keymap.columns):
            row = keymap.row(keycode)
            if keycode not in modifiers and all(keysym == 0 or keysym in _MEDIA for keysym in row):
                self._spare[keycode] = 0
            elif row[0]:
                self._plain.setdefault(row[0], keycode)

    def press(self, name: str, *, down: bool) -> None:
        """Press or release a key by name; raises ActionError `bad_arguments` when there is no such key."""
        keysym = keysym_of(name)
        if keysym is None:
            raise ActionError("bad_arguments", f"there is no key '{name}'")
        (keycode,) = self._keycodes([keysym])
        self._display.fake(KEY_PRESS if down else KEY_RELEASE, keycode)
        self._display.sync()

    def type(self, text: str) -> None:
        """Enter text; raises ActionError `text_not_delivered` before anything is entered, or EnvError."""
        text = text.replace("\r\n", "\n")
        keysyms = {character: keysym_of_character(character) for character in text}
        missing = sorted(character for character, keysym in keysyms.items() if keysym is None)
        if missing:
            raise ActionError("text_not_delivered", f"no key enters {', '.join(map(ascii, missing))}")
        self._caps_off()
        body = text.rstrip("\n")
        self._enter(body, keysyms)
        time.sleep(_PAUSE_SECONDS)
        self._enter(text[len(body) :], keysyms)

    def _enter(self, text: str, keysyms: Mapping[str, int | None]) -> None:
        for run in self._runs([keysym for character in text if (keysym := keysyms[character]) is not None]):
            keycodes = self._keycodes(run)
            if run[0] > _LAST_PLAIN:
                time.sleep(_APART_SECONDS)
            for keycode in keycodes:
                self._display.fake(KEY_PRESS, keycode)
                self._display.fake(KEY_RELEASE, keycode)
            self._display.sync()
            self._wait()

    def release_all(self) -> None:
        """Let go of every key and button, Caps Lock too; raises EnvError when one stays."""
        held = self._display.held()
        for keycode in held.keycodes:
            self._display.fake(KEY_RELEASE, keycode)
        for button in held.buttons:
            self._display.fake(BUTTON_RELEASE, button)
        self._caps_off()
        left = self._display.held()
        if left.keycodes or left.buttons or left.caps:
            raise EnvError("keys_held", f"keys {left.keycodes} and buttons {left.buttons} stay pressed")

    def _caps_off(self) -> None:
        if self._display.held().caps:
            keycode = self._plain[NAMED["Caps_Lock"]]
            self._display.fake(KEY_PRESS, keycode)
            self._display.fake(KEY_RELEASE, keycode)
            self._display.sync()

    def _runs(self, keysyms: Sequence[int]) -> Iterator[list[int]]:
        """Runs that need no more spare keys each than there are; what goes apart is a run by itself."""
        run: list[int] = []
        needed: set[int] = set()
        for keysym in keysyms:
            many = keysym not in self._plain and len(needed | {keysym}) > len(self._spare)
            apart = bool(run) and (keysym > _LAST_PLAIN or run[-1] > _LAST_PLAIN)
            if len(run) == _RUN or many or apart:
                yield run
                run, needed = [], set()
            run.append(keysym)
            if keysym not in self._plain:
                needed.add(keysym)
        if run:
            yield run

    def _keycodes(self, keysyms: Sequence[int]) -> list[int]:
        """The key of each keysym; spare ones are given their meaning first."""
        spared = {keysym: keycode for keycode, keysym in self._spare.items() if keysym}
        needed = [keysym for keysym in dict.fromkeys(keysyms) if keysym not in self._plain]
        kept = {spared[keysym] for keysym in needed if keysym in spared}
        free = [keycode for keycode in self._spare if keycode not in kept]
        fresh = dict(zip(free, (keysym for keysym in needed if keysym not in spared), strict=False))
        if fresh:
            self._wait()
            self._display.remap(fresh, self._columns)
            keymap = self._display.keymap()
            if any(keymap.row(keycode)[0] != keysym for keycode, keysym in fresh.items()):
                raise EnvError("keyboard", "the X server did not take the meanings of keys")
            spared |= {keysym: keycode for keycode, keysym in fresh.items()}
        for keysym in needed:
            keycode = spared[keysym]
            del self._spare[keycode]
            self._spare[keycode] = keysym
        return [self._plain.get(keysym) or spared[keysym] for keysym in keysyms]

    def _wait(self) -> None:
        if not wait_until_handled(self._display, _HANDLED_SECONDS, self._clock):
            raise ActionError("text_not_delivered", "the program in front does not take keys")
