"""UI trees of a device: one bounded request, and a quiet time for screens that never come to rest.

The tree tool waits until the screen is idle, so a screen that keeps drawing would cost ten seconds at every look: it is
asked once, and not again for a while. The tree comes through the channel, never out of a file of before.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

from pipeline.envs.adb_device import AdbDevice
from pipeline.errors import EnvError, TreeError
from pipeline.structs import Box, Node

IDLE_SECONDS = 6.0
"""How long the tool may wait for the screen to come to rest."""
QUIET_SECONDS = 20.0
"""How long a screen that did not is left alone."""

_MORE_TIME = 2.0
"""So many times as long a tool is given that has said nothing; Android's own gives up after ten seconds."""
_MOST_BYTES = 8_000_000
_MOST_NAME = 200
_XML = re.compile(rb"<hierarchy\b.*</hierarchy>", re.DOTALL)
_NOT_IDLE = b"could not get idle state"
_PASSING = (b"null root node", b"no active window", b"root filtered out")
_SIDE = r"(-?\d{1,9})"
_BOUNDS = re.compile(rf"\[{_SIDE},{_SIDE}\]\[{_SIDE},{_SIDE}\]")

_ROLES = {
    "AlertDialog": "alertdialog",
    "AutoCompleteTextView": "textbox",
    "Button": "button",
    "CheckBox": "checkbox",
    "CheckedTextView": "option",
    "Dialog": "dialog",
    "EditText": "textbox",
    "FloatingActionButton": "button",
    "GridView": "grid",
    "Image": "image",
    "ImageButton": "button",
    "ImageView": "image",
    "ListView": "list",
    "MultiAutoCompleteTextView": "textbox",
    "ProgressBar": "progressbar",
    "RadioButton": "radio",
    "RecyclerView": "list",
    "SeekBar": "slider",
    "Spinner": "combobox",
    "Switch": "switch",
    "SwitchCompat": "switch",
    "Tab": "tab",
    "TabView": "tab",
    "TextView": "StaticText",
    "ToggleButton": "switch",
}
"""Classes, by their last word, as roles of accessibility trees."""
_KEPT_WITHOUT_NAME = frozenset(_ROLES.values()) - {"StaticText", "grid", "image", "list"}
_ROTATIONS = ("0", "1", "2", "3")
_STATES = ("checked", "focused", "selected")


class Dumped(NamedTuple):
    """A tree in pixels of the display, and the rotation it was made in."""

    nodes: list[Node]
    rotation: int


class TreeReader:
    """Asks one device for trees."""

    def __init__(self, device: AdbDevice, idle_seconds: float = IDLE_SECONDS) -> None:
        self._device = device
        self._idle_seconds = idle_seconds
        self._quiet_until: dict[str, float] = {}
        self._through_file = False
        self.unanswered = False
        """Whether the tool had said nothing at all when the time of the last request was over."""

    def is_quiet(self, screen: str) -> bool:
        """Whether a screen is left alone at the moment."""
        return time.monotonic() < self._quiet_until.get(screen, 0.0)

    async def read(self, screen: str) -> Dumped:
        """The tree of the screen in front, which `screen` names; raises TreeError, or EnvError when it is gone."""
        if self.is_quiet(screen):
            raise TreeError("not_idle", "the screen did not come to rest a moment ago")
        self.unanswered = False
        try:
            return _parsed(await self._asked(self._idle_seconds))
        except TreeError as error:
            if error.code == "not_idle":
                now = time.monotonic()
                self._quiet_until = {name: until for name, until in self._quiet_until.items() if until > now}
                self._quiet_until[screen] = now + QUIET_SECONDS
            raise

    async def prove(self, screen: str) -> None:
        """See that the tool answers at all when it has time; raises EnvError `tree_tool_hung` when it does not.

        Of a screen that never comes to rest the tool says so itself, later than anybody waits for a tree.
        """
        try:
            said = await self._asked(self._idle_seconds * _MORE_TIME)
        except TreeError as error:
            seconds = self._idle_seconds * (1 + _MORE_TIME)
            raise EnvError(
                "tree_tool_hung", f"the tree tool said nothing in {seconds:g} s on a still screen"
            ) from error
        if _XML.search(said):
            self._quiet_until.pop(screen, None)

    async def _asked(self, seconds: float) -> bytes:
        """What the tool says, once more when no window was in front for a moment."""
        said = await self._dumped(seconds)
        if any(words in said for words in _PASSING):
            said = await self._dumped(seconds)
        if not self._through_file and b"dumped to" in said and _XML.search(said) is None:
            # There is no terminal behind the channel of some devices.
            self._through_file = True
            said = await self._dumped(seconds)
        return said

    async def _dumped(self, seconds: float) -> bytes:
        try:
            if not self._through_file:
                command = ("uiautomator", "dump", "--compressed", "/dev/tty")
                return await self._device.raw(*command, seconds=seconds)
            path = f"/data/local/tmp/{uuid.uuid4().hex}.xml"
            ran = await self._device.run_all(
                ["uiautomator", "dump", "--compressed", path],
                ["cat", path],
                ["rm", "-f", path],
                seconds=seconds,
            )
            return ran.out
        except EnvError as error:
            if error.code != "adb_timeout":
                raise
            self.unanswered = True
            raise TreeError("not_idle", f"the screen did not come to rest in {seconds:g} s") from error


def _parsed(said: bytes) -> Dumped:
    found = _XML.search(said)
    if found is None or len(said) > _MOST_BYTES:
        if _NOT_IDLE in said:
            raise TreeError("not_idle", "the tree tool could not get idle state")
        raise TreeError("unavailable", f"no tree: {said[:200].decode(errors='replace').strip()!r}")
    try:
        root = ElementTree.fromstring(found[0])
    except ElementTree.ParseError as error:
        raise TreeError("unavailable", f"the tree cannot be read: {error}") from error
    rotation = root.get("rotation", "0")
    return Dumped(list(_nodes(root)), int(rotation) if rotation in _ROTATIONS else 0)


def _nodes(root: ElementTree.Element) -> Iterator[Node]:
    """What a person or a reader would notice, in reading order."""
    for element in root.iter("node"):
        role = _role(element)
        node = _field(element) if role == "textbox" else _named(element, role)
        if node.name or node.value or role in _KEPT_WITHOUT_NAME:
            yield node


def _role(element: ElementTree.Element) -> str:
    name = re.split(r"[.$]", element.get("class", ""))[-1]
    role = _ROLES.get(name)
    clickable = element.get("clickable") == "true"
    if role in (None, "StaticText", "image") and clickable:
        return "button"
    if role is None and element.get("checkable") == "true":
        return "checkbox"
    return role or ("StaticText" if element.get("text") else "generic")


def _named(element: ElementTree.Element, role: str) -> Node:
    name = element.get("content-desc") or element.get("text") or ""
    if not name and role in ("button", "option", "tab", "checkbox", "radio", "switch"):
        # What can be pressed is called by what is written on it.
        inner = (child.get("content-desc") or child.get("text") or "" for child in element.iter("node"))
        name = " ".join(filter(None, inner))
    return Node(role=role, name=_plain(name), box=_box(element), states=_states(element))


def _field(element: ElementTree.Element) -> Node:
    """A text field: what is in it is its value; while it is empty, its text is the hint."""
    text, hint, described = (element.get(key) or "" for key in ("text", "hint", "content-desc"))
    place = element.get("resource-id", "").rpartition("/")[2]
    states = ["editable", *_states(element)]
    if element.get("password") == "true":
        states.append("protected")
    return Node(
        role="textbox",
        name=_plain(described or hint or place),
        value="" if text and text == hint else text,
        box=_box(element),
        states=sorted(states),
    )


def _states(element: ElementTree.Element) -> list[str]:
    states = [state for state in _STATES if element.get(state) == "true"]
    if element.get("enabled") == "false":
        states.append("disabled")
    return sorted(states)


def _box(element: ElementTree.Element) -> Box | None:
    found = _BOUNDS.fullmatch(element.get("bounds", ""))
    if found is None:
        return None
    left, top, right, bottom = map(int, found.groups())
    return Box(left=left, top=top, right=right, bottom=bottom)


def _plain(text: str) -> str:
    return " ".join(text.split())[:_MOST_NAME]
