"""The action space: small frozen models in one tagged union (UI-Venus-2 report, table 7, with what the released
model says beyond it on desktops, and AcceptDialog).

Points are canonical integers 0..999 on both axes of the stored picture. This module knows nothing of how a model
spells an action (dialects) nor of how one is executed (envs).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

SPACE = 1000
"""Size of the canonical coordinate space: values 0..999."""


class Model(BaseModel):
    """Base of every record: frozen, no unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Point(Model):
    """A canonical point, 0..999 on each axis."""

    x: int = Field(ge=0, lt=SPACE)
    y: int = Field(ge=0, lt=SPACE)


class Pixel(Model):
    """A point in pixels of the stored picture."""

    x: int
    y: int


class Click(Model):
    """Press and release the main button, or tap."""

    type: Literal["Click"] = "Click"
    point: Point


class DoubleClick(Model):
    """Two clicks in quick succession."""

    type: Literal["DoubleClick"] = "DoubleClick"
    point: Point


class TripleClick(Model):
    """Three clicks in quick succession (desktop): programs mark a line or paragraph."""

    type: Literal["TripleClick"] = "TripleClick"
    point: Point


class MiddleClick(Model):
    """Press and release the middle button (desktop)."""

    type: Literal["MiddleClick"] = "MiddleClick"
    point: Point


class RightClick(Model):
    """Press and release the secondary button (desktop; also allowed on the web)."""

    type: Literal["RightClick"] = "RightClick"
    point: Point


class LongPress(Model):
    """Press, hold, release."""

    type: Literal["LongPress"] = "LongPress"
    point: Point


class Hover(Model):
    """Move the pointer and rest there."""

    type: Literal["Hover"] = "Hover"
    point: Point


class Drag(Model):
    """Press at start, move, release at end."""

    type: Literal["Drag"] = "Drag"
    start: Point
    end: Point


class Swipe(Model):
    """Fling the content from start to end."""

    type: Literal["Swipe"] = "Swipe"
    start: Point
    end: Point


class Scroll(Model):
    """Turn the wheel at a point; moves two thirds of the viewport."""

    type: Literal["Scroll"] = "Scroll"
    point: Point
    direction: Literal["up", "down", "left", "right"]


class Type(Model):
    """Enter text where the focus is; on the web a newline is text."""

    type: Literal["Type"] = "Type"
    content: str


class Hotkey(Model):
    """Press up to three keys together, e.g. ["Control", "a"]."""

    type: Literal["Hotkey"] = "Hotkey"
    keys: list[str] = Field(min_length=1, max_length=3)


class KeyDown(Model):
    """Press keys and keep them down until KeyUp or the end of the episode (desktop)."""

    type: Literal["KeyDown"] = "KeyDown"
    keys: list[str] = Field(min_length=1, max_length=3)


class KeyUp(Model):
    """Let go of keys (desktop)."""

    type: Literal["KeyUp"] = "KeyUp"
    keys: list[str] = Field(min_length=1, max_length=3)


class SelectOption(Model):
    """Choose the option with this zero-based position in the focused or last clicked native drop-down."""

    type: Literal["SelectOption"] = "SelectOption"
    index: int = Field(ge=0)


class Launch(Model):
    """Go to an address."""

    type: Literal["Launch"] = "Launch"
    url: str


class LaunchApp(Model):
    """Open an application by name (mobile)."""

    type: Literal["LaunchApp"] = "LaunchApp"
    app: str


class GetUrl(Model):
    """Ask for the current address; the answer is in the next observation."""

    type: Literal["GetUrl"] = "GetUrl"


class GetScreenshot(Model):
    """Ask for a fresh picture (mobile)."""

    type: Literal["GetScreenshot"] = "GetScreenshot"


class TakeNote(Model):
    """Keep a text for later turns."""

    type: Literal["TakeNote"] = "TakeNote"
    content: str


class AcceptDialog(Model):
    """Accept this page's next dialog, which is dismissed otherwise."""

    type: Literal["AcceptDialog"] = "AcceptDialog"


class PressBack(Model):
    """Go back: browser history, or the phone's back key."""

    type: Literal["PressBack"] = "PressBack"


class PressHome(Model):
    """Press the home key (mobile)."""

    type: Literal["PressHome"] = "PressHome"


class PressEnter(Model):
    """Press the enter key."""

    type: Literal["PressEnter"] = "PressEnter"


class PressRecent(Model):
    """Show recent applications (mobile)."""

    type: Literal["PressRecent"] = "PressRecent"


class Wait(Model):
    """Do nothing for a moment."""

    type: Literal["Wait"] = "Wait"


class Answer(Model):
    """Give the answer and end the episode."""

    type: Literal["Answer"] = "Answer"
    content: str


class CallUser(Model):
    """Hand over to the user and end the episode."""

    type: Literal["CallUser"] = "CallUser"
    content: str


class Finished(Model):
    """Declare the task done (or, with a content that begins `infeasible:`, impossible) and end the episode."""

    type: Literal["Finished"] = "Finished"
    content: str = ""


Action = Annotated[
    AcceptDialog
    | Answer
    | CallUser
    | Click
    | DoubleClick
    | Drag
    | Finished
    | GetScreenshot
    | GetUrl
    | Hotkey
    | Hover
    | KeyDown
    | KeyUp
    | Launch
    | LaunchApp
    | LongPress
    | MiddleClick
    | PressBack
    | PressEnter
    | PressHome
    | PressRecent
    | RightClick
    | Scroll
    | SelectOption
    | Swipe
    | TakeNote
    | TripleClick
    | Type
    | Wait,
    Field(discriminator="type"),
]

ACTION: TypeAdapter[Action] = TypeAdapter(Action)
"""Reads and writes an action as JSON."""

Pointed = Click | DoubleClick | TripleClick | RightClick | MiddleClick | LongPress | Hover | Scroll
"""Actions with one point."""

Stroke = Drag | Swipe
"""Actions with a start and an end point."""

Keyed = Hotkey | KeyDown | PressEnter | Type
"""Actions that go where the keyboard does."""

Terminal = Answer | CallUser | Finished
"""Actions that end the episode."""


def device_pixel(point: Point, width: int, height: int) -> Pixel:
    """The pixel of a stored picture (width x height) that a canonical point stands for."""
    return Pixel(x=(2 * point.x + 1) * width // (2 * SPACE), y=(2 * point.y + 1) * height // (2 * SPACE))


def canonical_point(pixel: Pixel, width: int, height: int) -> Point:
    """The canonical point of a pixel; raises pydantic.ValidationError for a pixel outside the picture."""
    return Point(x=pixel.x * SPACE // width, y=pixel.y * SPACE // height)


def points_of(action: Action) -> list[Point]:
    """The canonical points an action names: none, one, or start and end."""
    match action:
        case Drag() | Swipe():
            return [action.start, action.end]
        case _:
            return [action.point] if isinstance(action, Pointed) else []


def render(action: Action) -> str:
    """The action as compact JSON, our canonical dialect's spelling."""
    return action.model_dump_json()
