"""Actions of a desktop, carried out by raw events of pointer and keyboard at pixels of the screen.

Whatever an action presses it releases, also when it fails half way; only KeyDown leaves keys down, until KeyUp or the
end of the episode. Knows nothing of pictures or programs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from pipeline.actions import (
    Action,
    Click,
    DoubleClick,
    Drag,
    GetScreenshot,
    Hotkey,
    Hover,
    KeyDown,
    KeyUp,
    LaunchApp,
    LongPress,
    MiddleClick,
    Pixel,
    PressEnter,
    RightClick,
    Scroll,
    Swipe,
    TakeNote,
    TripleClick,
    Type,
    Wait,
)
from pipeline.envs.desktop_programs import Programs
from pipeline.envs.machine import Button, Machine
from pipeline.envs.web_keys import key_names
from pipeline.errors import ActionError
from pipeline.room import let_pass

_HOLD_SECONDS = 0.8
_WAIT_SECONDS = 1.0
_DRAG_STEPS = 12
_STEP_SECONDS = 0.012
_GRAB_SECONDS = 0.06
"""What a program has to notice that something was taken hold of, and is about to be let go."""
_NOTCHES = 5
"""Of the wheel; most programs move three lines for each."""
_SWIPE_PIXELS = 60
"""How far a notch moves the content, about."""
_MOST_NOTCHES = 30

_CLICKS: dict[type[Action], tuple[Button, int]] = {
    Click: ("left", 1),
    DoubleClick: ("left", 2),
    TripleClick: ("left", 3),
    RightClick: ("right", 1),
    MiddleClick: ("middle", 1),
}
_KEYS = {
    "Control": "Control_L",
    "Alt": "Alt_L",
    "Meta": "Super_L",
    "Shift": "Shift_L",
    "ArrowDown": "Down",
    "ArrowLeft": "Left",
    "ArrowRight": "Right",
    "ArrowUp": "Up",
    "Backspace": "BackSpace",
    "CapsLock": "Caps_Lock",
    "ContextMenu": "Menu",
    "Enter": "Return",
    "PageDown": "Next",
    "PageUp": "Prior",
    "Space": "space",
}
"""Names of keys that X spells differently."""


class Hands:
    """Acts on one machine."""

    def __init__(self, machine: Machine, programs: Programs) -> None:
        self._machine = machine
        self._programs = programs

    async def act(self, action: Action, points: Sequence[Pixel]) -> None:
        """Carry out an action; raises ActionError or EnvError."""
        match action:
            case Click() | DoubleClick() | TripleClick() | RightClick() | MiddleClick():
                button, times = _CLICKS[type(action)]
                await self._click(_only(action, points), button, times)
            case LongPress() | Hover() | Scroll():
                await self._rest(action, _only(action, points))
            case Drag() | Swipe():
                await self._stroke(action, points)
            case Type() | Hotkey() | KeyDown() | KeyUp() | PressEnter():
                await self._enter(action)
            case _:
                await self._other(action)

    async def _other(self, action: Action) -> None:
        match action:
            case LaunchApp():
                await self._programs.launch_by_name(action.app)
            case Wait():
                await let_pass(_WAIT_SECONDS, self._machine.clock)
            case GetScreenshot() | TakeNote():
                """The next look is what was asked for; a note is kept with the action itself."""
            case _:
                raise ActionError("unknown_action", f"{action.type} is not an action of a desktop")

    async def _click(self, spot: Pixel, button: Button, times: int) -> None:
        await self._machine.pointer(spot)
        for _ in range(times):
            async with self._pressed(button):
                """Held no longer than it takes."""

    async def _rest(self, action: LongPress | Hover | Scroll, spot: Pixel) -> None:
        await self._machine.pointer(spot)
        match action:
            case LongPress():
                async with self._pressed("left"):
                    await asyncio.sleep(_HOLD_SECONDS)
            case Scroll():
                await self._turn(action.direction, _NOTCHES)

    async def _turn(self, direction: str, notches: int) -> None:
        wheel: dict[str, Button] = {
            "up": "scroll_up",
            "down": "scroll_down",
            "left": "scroll_left",
            "right": "scroll_right",
        }
        for _ in range(notches):
            async with self._pressed(wheel[direction]):
                """A notch is a press and a release."""

    async def _stroke(self, action: Drag | Swipe, points: Sequence[Pixel]) -> None:
        """A drag presses and moves; a swipe moves the content along with the finger, which a wheel does here."""
        if len(points) != 2:
            raise ActionError("bad_arguments", f"{action.type} with {len(points)} points")
        start, end = points
        await self._machine.pointer(start)
        if isinstance(action, Swipe):
            across, along = end.x - start.x, end.y - start.y
            await self._turn("up" if along > 0 else "down", _notches(along))
            await self._turn("left" if across > 0 else "right", _notches(across))
            return
        async with self._pressed("left"):
            await asyncio.sleep(_GRAB_SECONDS)
            for step in range(1, _DRAG_STEPS + 1):
                await self._machine.pointer(_between(start, end, step / _DRAG_STEPS))
                await asyncio.sleep(_STEP_SECONDS)
            await asyncio.sleep(_GRAB_SECONDS)

    async def _enter(self, action: Type | Hotkey | KeyDown | KeyUp | PressEnter) -> None:
        match action:
            case Type():
                if not action.content:
                    raise ActionError("bad_arguments", "there is no text to type")
                await self._machine.type_text(action.content)
            case Hotkey():
                await self._press(_named(action.keys))
            case PressEnter():
                await self._press(["Return"])
            case KeyDown():
                await self._set(_named(action.keys), down=True)
            case KeyUp():
                await self._set(_named(action.keys)[::-1], down=False)

    async def _set(self, names: Sequence[str], *, down: bool) -> None:
        for name in names:
            await self._machine.key(name, down=down)

    async def _press(self, names: Sequence[str]) -> None:
        pressed: list[str] = []
        try:
            for name in names:
                await self._machine.key(name, down=True)
                pressed.append(name)
        finally:
            for name in reversed(pressed):
                await self._machine.key(name, down=False)

    @asynccontextmanager
    async def _pressed(self, button: Button) -> AsyncIterator[None]:
        await self._machine.button(button, down=True)
        try:
            yield
        finally:
            await self._machine.button(button, down=False)


def _only(action: Action, points: Sequence[Pixel]) -> Pixel:
    if len(points) != 1:
        raise ActionError("bad_arguments", f"{action.type} with {len(points)} points")
    return points[0]


def _named(keys: Sequence[str]) -> list[str]:
    """X names of keys, modifiers first; Shift is pressed as itself, so letters are those of the bare key."""
    names = [_KEYS.get(name, name) for name in key_names(keys)]
    return [name.lower() if len(name) == 1 and "Shift_L" in names else name for name in names]


def _notches(pixels: int) -> int:
    if pixels == 0:
        return 0
    return min(_MOST_NOTCHES, max(1, round(abs(pixels) / _SWIPE_PIXELS)))


def _between(start: Pixel, end: Pixel, share: float) -> Pixel:
    return Pixel(x=round(start.x + (end.x - start.x) * share), y=round(start.y + (end.y - start.y) * share))
