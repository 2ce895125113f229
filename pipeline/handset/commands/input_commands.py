"""Fingers and keys: what `input` can do. A point on the status bar touches nothing."""

from __future__ import annotations

import asyncio

from pipeline.handset.commands.call import Call, Commands, one_of, options
from pipeline.handset.screen import Spot, below_bar, finger, slide

_NUMBERS = {
    3: "HOME", 4: "BACK", 19: "DPAD_UP", 20: "DPAD_DOWN", 21: "DPAD_LEFT", 22: "DPAD_RIGHT", 23: "DPAD_CENTER",
    61: "TAB", 62: "SPACE", 66: "ENTER", 67: "DEL", 92: "PAGE_UP", 93: "PAGE_DOWN", 111: "ESCAPE", 112: "FORWARD_DEL",
    122: "MOVE_HOME", 123: "MOVE_END", 187: "APP_SWITCH", 224: "WAKEUP", 277: "CUT", 278: "COPY", 279: "PASTE",
}  # fmt: skip
_KEYS = {
    "DPAD_UP": "ArrowUp", "DPAD_DOWN": "ArrowDown", "DPAD_LEFT": "ArrowLeft", "DPAD_RIGHT": "ArrowRight",
    "DPAD_CENTER": "Enter", "TAB": "Tab", "SPACE": "Space", "ENTER": "Enter", "NUMPAD_ENTER": "Enter",
    "DEL": "Backspace", "FORWARD_DEL": "Delete", "PAGE_UP": "PageUp", "PAGE_DOWN": "PageDown", "ESCAPE": "Escape",
    "MOVE_HOME": "Home", "MOVE_END": "End", "CUT": "Control+x", "COPY": "Control+c", "PASTE": "Control+v",
}  # fmt: skip
_LONG_PRESS_SECONDS = 0.5
_SWIPE_MILLISECONDS = 300


async def _tap(call: Call) -> int:
    spot = _spot(call.words)
    if spot is None:
        return await call.usage()
    below = below_bar(spot)
    if below is not None:
        async with finger(call.phone.front.view, below):
            pass
    return 0


async def _swipe(call: Call) -> int:
    path = _path(call)
    if path is None:
        return await call.usage()
    (start, end), seconds = path, _seconds(call)
    if start is None:
        return 0
    view = call.phone.front.view
    if start == end and seconds >= _LONG_PRESS_SECONDS:
        await view.hold(start, seconds)
        return 0
    async with finger(view, start):
        await slide(view, (start, end), seconds)
    return 0


async def _drag(call: Call) -> int:
    path = _path(call)
    if path is None:
        return await call.usage()
    start, end = path
    if start is not None:
        async with finger(call.phone.front.view, start):
            await asyncio.sleep(_LONG_PRESS_SECONDS)
            await slide(call.phone.front.view, (start, end), _seconds(call))
    return 0


def _path(call: Call) -> tuple[Spot | None, Spot] | None:
    """Where a finger goes on the page: nowhere when it begins on the status bar, at most to its edge."""
    start, end = _spot(call.words[:2]), _spot(call.words[2:4])
    if start is None or end is None:
        return None
    return below_bar(start), below_bar(end) or Spot(end.x, 0)


def _seconds(call: Call) -> float:
    last = call.word(4)
    return (int(last) if last.isdecimal() else _SWIPE_MILLISECONDS) / 1000


async def _motion(call: Call) -> int:
    spot = _spot(call.words[1:])
    kind = {"DOWN": "touchStart", "MOVE": "touchMove", "UP": "touchEnd", "CANCEL": "touchCancel"}.get(
        call.word(0).upper()
    )
    if spot is None or kind is None:
        return await call.usage()
    below = below_bar(spot)
    if below is not None:
        await call.phone.front.view.touch(kind, below if kind in ("touchStart", "touchMove") else None)
    return 0


async def _text(call: Call) -> int:
    text = " ".join(call.words).replace("%s", " ")
    if not text.isascii():
        await call.complain("Exception occurred while executing 'text': java.lang.NullPointerException")
        return 255
    view = call.phone.front.view
    if await view.call("takesText()"):
        await view.type(text)
    return 0


async def _key_event(call: Call) -> int:
    given = options(call.words, {"--duration": 1})
    for word in given.rest:
        name = _NUMBERS.get(int(word), "") if word.isdecimal() else word.upper().removeprefix("KEYCODE_")
        if not word.isdecimal() and not name:
            return await call.usage()
        await _press(call, name)
    return 0 if given.rest else await call.usage()


async def _press(call: Call, name: str) -> None:
    """Keys that this phone has no use for do nothing, as on a real one."""
    phone = call.phone
    if name == "HOME":
        await phone.home()
    elif name == "BACK":
        await phone.back()
    elif name == "APP_SWITCH":
        await phone.recents()
    elif name in _KEYS:
        await phone.front.view.press(_KEYS[name])
    elif len(name) == 1 and name.isalnum():
        await phone.front.view.type(name.lower())


def _spot(words: list[str]) -> Spot | None:
    try:
        return Spot(float(words[0]), float(words[1]))
    except (IndexError, ValueError):
        return None


_INPUT: Commands = {
    "draganddrop": _drag,
    "keyevent": _key_event,
    "motionevent": _motion,
    "swipe": _swipe,
    "tap": _tap,
    "text": _text,
}


async def _input(call: Call) -> int:
    words = call.words
    if words[:1] and words[0] in ("touchscreen", "keyboard", "touchpad"):
        words = words[1:]
    return await one_of(call._replace(words=words), _INPUT)


INPUT_COMMANDS: Commands = {"input": _input}
