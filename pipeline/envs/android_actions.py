"""Actions of a phone, carried out by the device's own input tool at pixels of the display.

Knows nothing of pictures: points are where the finger goes.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.actions import (
    Action,
    Click,
    DoubleClick,
    Drag,
    GetScreenshot,
    LaunchApp,
    LongPress,
    Pixel,
    PressBack,
    PressEnter,
    PressHome,
    PressRecent,
    Swipe,
    TakeNote,
    Type,
    Wait,
)
from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android_launch import Launcher
from pipeline.envs.android_typing import Keyboard
from pipeline.errors import ActionError, EnvError
from pipeline.room import let_pass

KEYS = {
    "PressBack": "KEYCODE_BACK",
    "PressEnter": "KEYCODE_ENTER",
    "PressHome": "KEYCODE_HOME",
    "PressRecent": "KEYCODE_APP_SWITCH",
}

_LONG_PRESS_MS = 900
_SWIPE_MS = 300
_DRAG_MS = 900
_STROKE_SECONDS = 10.0
_WAIT_SECONDS = 1.0


class Hands:
    """Acts on one device."""

    def __init__(self, device: AdbDevice, launcher: Launcher) -> None:
        self._device = device
        self._launcher = launcher
        self._keyboard = Keyboard(device)

    async def act(self, action: Action, spots: Sequence[Pixel]) -> None:
        """Carry out an action; raises ActionError or EnvError."""
        match action:
            case Click() | DoubleClick() | LongPress() | Drag() | Swipe():
                await self._touch(action, spots)
            case PressBack() | PressEnter() | PressHome() | PressRecent():
                await self._input(["keyevent", KEYS[action.type]])
            case Type():
                if action.content:
                    await self._keyboard.type(action.content)
            case LaunchApp():
                await self._launcher.launch(action.app)
            case Wait():
                await let_pass(_WAIT_SECONDS)
            case GetScreenshot() | TakeNote():
                """The next look is what was asked for; a note is kept with the action itself."""
            case _:
                raise ActionError("unknown_action", f"{action.type} is not an action of a phone")

    async def _touch(self, action: Click | DoubleClick | LongPress | Drag | Swipe, spots: Sequence[Pixel]) -> None:
        if len(spots) != (2 if isinstance(action, Drag | Swipe) else 1):
            raise ActionError("bad_arguments", f"{action.type} with {len(spots)} points")
        start, end = ([str(spot.x), str(spot.y)] for spot in (spots[0], spots[-1]))
        match action:
            case Click():
                await self._input(["tap", *start])
            case DoubleClick():
                await self._input(["tap", *start], ["tap", *start])
            case LongPress():
                await self._input(["swipe", *start, *start, str(_LONG_PRESS_MS)])
            case Drag():
                await self._input(["draganddrop", *start, *end, str(_DRAG_MS)])
            case Swipe():
                await self._input(["swipe", *start, *end, str(_SWIPE_MS)])

    async def _input(self, *gestures: Sequence[str]) -> None:
        ran = await self._device.run_all(*(["input", *words] for words in gestures), seconds=_STROKE_SECONDS)
        if ran.code != 0:
            raise EnvError("input_refused", f"the device takes no input: {ran.complaint}")
