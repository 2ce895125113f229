"""What the window manager says of the screen: its size and rotation now, and which window has the focus.

Pictures, trees and touches each have a space of their own; `View` maps between a picture and the display as both were
when the picture was taken. What cannot be read is said to be unknown, never guessed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pipeline.actions import Pixel
from pipeline.envs.adb_device import AdbDevice
from pipeline.errors import EnvError
from pipeline.structs import Box

_SIZE = re.compile(r"\bcur=(\d{1,6})x(\d{1,6})\b")
_ROTATION = re.compile(
    r"\b(?:mCurrentRotation|mRotation|mCurrentOrientation|rotation)[= ](?:ROTATION_(\d{1,3})|(\d))\b(?!\s*x)"
)
_TURNED = re.compile(r"mOverrideDisplayInfo=DisplayInfo\{[^\n]*\bdisplayId 0\b[^\n]*?\brotation (\d)")
_BUILT = re.compile(r"mBaseDisplayInfo=DisplayInfo\{[^\n]*\bdisplayId 0\b[^\n]*?\buniqueId \"local:(\d+)\"")
_DISPLAY = re.compile(r"(?m)^\s*Display: mDisplayId=(\d+)")
_DEFAULT = "0"
"""The display that people look at and fingers touch; further ones are screens of cars, casts and tests."""
_WINDOW = r"Window\{(\S+) (?:u\d+ )?([^}]+)\}"
_FOCUS = re.compile("mCurrentFocus=" + _WINDOW)
_BLOCK = re.compile(r"(?m)^\s*Window #\d+ " + _WINDOW)
_NOT_RESPONDING = "Application Not Responding: "
_FLAGS = re.compile(r"\bfl=(#[0-9a-fA-F]+|[A-Z_ ]+)")
_SECURE_BIT = 0x2000
_SECURE = frozenset({"SECURE", "FLAG_SECURE"})


class Display(NamedTuple):
    """The screen at one moment, sizes as it is held now."""

    width: int
    height: int
    rotation: int
    """Quarter turns: 0 as it was built, 1 and 3 lying on its sides."""
    focus: str
    """The focused window: `package/activity`, or a window's title; empty when there is none."""
    alone: bool = True
    """Whether the device has this display and no other."""

    @property
    def package(self) -> str:
        """The package in front; empty when it cannot be told."""
        package, slash, _ = self.focus.partition("/")
        return package if slash else ""

    @property
    def not_responding(self) -> str:
        """The application that the system says does not respond; empty when it says so of none."""
        return self.focus.removeprefix(_NOT_RESPONDING) if self.focus.startswith(_NOT_RESPONDING) else ""


async def read_display(device: AdbDevice) -> Display:
    """The screen now; raises EnvError when the window manager does not say."""
    said = await device.ask("dumpsys", "window", "displays")
    text, count = _of_default(said)
    size, turns = _SIZE.search(text), _turns(text)
    if size is not None and turns is None:
        # Before Android 10 the window manager keeps that, and the focus below, for other questions.
        turned = _TURNED.search(await device.ask("dumpsys", "display"))
        turns = int(turned[1]) if turned is not None else None
    if size is None or turns is None:
        raise EnvError("display_unknown", f"the window manager does not say how the screen is: {said.strip()[:200]!r}")
    focus = _FOCUS.search(text) or _FOCUS.search(await device.ask("dumpsys", "window", "windows"))
    return Display(int(size[1]), int(size[2]), turns % 4, focus[2] if focus is not None else "", alone=count <= 1)


async def is_secure(device: AdbDevice) -> bool:
    """Whether the focused window forbids pictures; raises EnvError when the device does not answer."""
    text, _ = _of_default(await device.ask("dumpsys", "window", "displays"))
    windows = await device.ask("dumpsys", "window", "windows")
    focus = _FOCUS.search(text) or _FOCUS.search(windows)
    if focus is None:
        return False
    # The windows of one activity share its title, so that only the number before it tells them apart.
    starts = list(_BLOCK.finditer(windows))
    ends = [*(start.start() for start in starts[1:]), len(windows)]
    # No window may be listed: then there is one end too many.
    blocks = [windows[start.end() : end] for start, end in zip(starts, ends, strict=False) if start[1] == focus[1]]
    return any(_forbids(flags) for block in blocks for flags in _FLAGS.findall(block))


async def panel_of(device: AdbDevice) -> str | None:
    """The number by which the capture tool knows the panel behind the default display; nothing where none is told."""
    built = _BUILT.search(await device.ask("dumpsys", "display"))
    return built[1] if built is not None else None


def _of_default(text: str) -> tuple[str, int]:
    """What is said of the default display, and how many there are; everything where they are not told apart."""
    _, *parts = _DISPLAY.split(text)
    if not parts:
        return text, 0
    by_number = dict(zip(parts[::2], parts[1::2], strict=True))
    return by_number.get(_DEFAULT, ""), len(by_number)


def _turns(text: str) -> int | None:
    rotation = _ROTATION.search(text)
    if rotation is None:
        return None
    return int(rotation[1]) // 90 if rotation[1] else int(rotation[2])


class View(NamedTuple):
    """How the pixels of a picture lie on the display. `turned`: the picture shows the screen as it was built."""

    picture_width: int
    picture_height: int
    display: Display
    turned: bool

    @classmethod
    def of(cls, width: int, height: int, display: Display) -> View | None:
        """The view of a picture of this size; nothing when picture and display cannot be of the same moment."""
        lies, display_lies = width > height, display.width > display.height
        alike = lies == display_lies or width == height or display.width == display.height
        if not alike and display.rotation not in (1, 3):
            return None
        return cls(width, height, display, turned=not alike)

    def to_display(self, pixel: Pixel) -> Pixel:
        """Where a pixel of the picture is touched."""
        width, height, turns = self.display[:3]
        if not self.turned:
            return Pixel(x=_scaled(pixel.x, self.picture_width, width), y=_scaled(pixel.y, self.picture_height, height))
        # The picture's axes are those of the screen as it was built, whose sides are swapped now.
        across, down = _scaled(pixel.x, self.picture_width, height), _scaled(pixel.y, self.picture_height, width)
        return Pixel(x=down, y=height - 1 - across) if turns == 1 else Pixel(x=width - 1 - down, y=across)

    def to_picture(self, box: Box) -> Box:
        """Where a box of the display is in the picture."""
        width, height, turns = self.display[:3]
        if not self.turned:
            return _stretched(box, width, height, self.picture_width, self.picture_height)
        if turns == 1:
            box = Box(left=height - box.bottom, top=box.left, right=height - box.top, bottom=box.right)
        else:
            box = Box(left=box.top, top=width - box.right, right=box.bottom, bottom=width - box.left)
        return _stretched(box, height, width, self.picture_width, self.picture_height)


def _forbids(flags: str) -> bool:
    """Window flags are a number on older devices, words on newer ones."""
    if flags.startswith("#"):
        return bool(int(flags[1:], 16) & _SECURE_BIT)
    return not _SECURE.isdisjoint(flags.split())


def _scaled(value: int, size: int, other: int) -> int:
    """The middle of a pixel, on an axis of another size."""
    return (2 * value + 1) * other // (2 * size)


def _stretched(box: Box, width: int, height: int, new_width: int, new_height: int) -> Box:
    if (width, height) == (new_width, new_height):
        return box
    return Box(
        left=round(box.left * new_width / width),
        top=round(box.top * new_height / height),
        right=round(box.right * new_width / width),
        bottom=round(box.bottom * new_height / height),
    )
