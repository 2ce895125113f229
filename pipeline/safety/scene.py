"""What there is around an action: the control it works, the dialog it stands in, the field that has the focus.

Read from the picture's tree alone. Knows nothing of consequences.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.protocols import Observation
from pipeline.safety.bearing import content
from pipeline.safety.classes import said
from pipeline.structs import Box, Node, TargetUnderPoint

COMMANDS = frozenset({"button", "menuitem", "menuitemcheckbox", "menuitemradio", "push button", "menu item"})
"""Roles of what can only be pressed."""
TOGGLES = frozenset({"checkbox", "switch", "radio", "check box", "toggle button", "option", "combobox"})
_FIELDS = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "text", "entry", "terminal"})
_DIALOGS = frozenset({"alert", "alertdialog", "dialog"})
_WINDOWS = frozenset({"frame", "window"})
_HEADINGS = frozenset({"heading", "alert", "status", "banner"})
ENTRIES = ("option", "listitem", "row", "treeitem")
"""Roles of what stands in a list."""
_FILLED = frozenset({"textbox", "combobox", "radio", "checkbox", "spinbutton"})
_TICKS = frozenset({"checkbox", "check box", "switch"})
_ALTERNATIVES = ("radio", *ENTRIES)
_NEAR = 8
_SETTINGS = 16
"""So many texts are no question."""
_LONGEST = 200
"""Longer texts are to be read, not what an action is about."""
_DOCUMENT = 1000
"""What is longer in a field is a document."""


class Choice(NamedTuple):
    """Alternatives of one kind: what was taken, and what was left."""

    taken: Sequence[str]
    left: Sequence[str] = ()
    listed: bool = False
    """Whether they are rows of a table, which name things; what is selected in a list may be where one is."""


class Entry(NamedTuple):
    """A field, and what stands in it."""

    name: str
    value: str


class Scene(NamedTuple):
    """One screen, as it concerns one action."""

    title: str
    location: str
    nodes: Sequence[Node]

    def dialog(self, box: Box | None) -> Node | None:
        """The smallest dialog around a box, or around what has the focus, or the only one on the screen."""
        dialogs = [node for node in self.nodes if node.role in _DIALOGS and node.box is not None]
        focused = self.focused() if box is None else None
        place = focused.box if focused is not None else box
        around = [node for node in dialogs if place is not None and _holds(node.box, place)]
        if around:
            return min(around, key=lambda node: _area(node.box))
        return dialogs[0] if len(dialogs) == 1 and box is None else None

    def within(self, dialog: Node) -> list[Node]:
        """Everything in a dialog; what stands before it in the tree, or in another window, lies behind it."""
        at = next(at for at, node in enumerate(self.nodes) if node is dialog)
        after = itertools.takewhile(lambda node: node.role not in _WINDOWS, self.nodes[at + 1 :])
        return [node for node in after if node.box and _holds(dialog.box, node.box)]

    def around(self, box: Box | None) -> list[Node]:
        """The dialog's nodes where there is one, else headings and what stands just before a place."""
        dialog = self.dialog(box)
        if dialog is not None:
            return [dialog, *self.within(dialog)]
        headings = [node for node in self.nodes if node.role in _HEADINGS]
        return [*headings, *self._before(box)]

    def told(self, box: Box | None) -> list[str]:
        """What is said around a place to be read, not worked; of a dialog full of settings only its headings."""
        said = [node for node in self.around(box) if node.name and not is_control(node)]
        if len(said) > _SETTINGS:
            said = [node for node in said if node.role in _HEADINGS or node.role in _DIALOGS]
        return [node.name for node in said]

    def bound(self, box: Box | None) -> list[str]:
        """What goes with a control: all that its dialog or page says, and what is entered and selected there."""
        dialog = self.dialog(box)
        nodes = [dialog, *self.within(dialog)] if dialog is not None else [*self.nodes]
        texts = [] if dialog is not None else [self.title]
        entries = any(node.role in ENTRIES and "selected" in node.states for node in nodes)
        naming = dialog is not None and any(is_field(node) and "focused" in node.states for node in nodes)
        for node in nodes:
            if node.role in ENTRIES and entries and "selected" not in node.states:
                continue
            if node.role == "gridcell" and naming and "selected" not in node.states:
                continue  # where a file is named, those beside it are only shown
            if is_field(node) and len(node.value) > _DOCUMENT:
                continue
            if is_field(node) and node.value:
                texts.append(f"{node.name} {node.value}")
            elif _says(node):
                texts.append(node.name)
        return texts

    def entered(self) -> list[str]:
        """What stands in fields."""
        return [node.value for node in self.nodes if is_field(node) and node.value and node.role != "terminal"]

    def fields(self) -> list[Entry]:
        """The fields in which something stands."""
        return [Entry(node.name, node.value) for node in self.nodes if is_field(node) and node.value]

    def taken(self) -> list[str]:
        """What is chosen in drop-downs and ticked in boxes."""
        ticked = [node.name for node in self.nodes if node.role in _TICKS and "checked" in node.states]
        return [*ticked, *(node.value for node in self.nodes if node.role == "combobox" and node.value)]

    def choices(self, target: TargetUnderPoint | None) -> list[Choice]:
        """What is taken among alternatives that stand together, and what is not; first what the action itself takes."""
        if target is not None and target.role in ENTRIES:
            left = [node.name for node in self.nodes if node.role == target.role and node.name != target.name]
            return [Choice([target.name], left)]
        found = [*self._answers(target), *self._spoken_of(target)]
        for role, nodes in itertools.groupby(self.nodes, key=lambda node: node.role):
            group = [node for node in nodes if node.name] if role in _ALTERNATIVES else []
            taken = [node.name for node in group if {"checked", "selected"} & set(node.states)]
            if taken:
                left = [node.name for node in group if node.name not in taken]
                found.append(Choice(taken, left, listed=role == "row"))
        return found

    def _answers(self, target: TargetUnderPoint | None) -> Iterator[Choice]:
        """The button that is pressed, among those that a dialog without fields offers."""
        dialog = self.dialog(target.box) if target is not None and target.role in COMMANDS else None
        inside = self.within(dialog) if dialog is not None else []
        if target is not None and inside and not any(map(is_field, inside)):
            offered = [node.name for node in inside if node.role == "button" and node.name]
            yield Choice([target.name], [name for name in offered if not _same_or_withdraws(name, target.name)])

    def _spoken_of(self, target: TargetUnderPoint | None) -> Iterator[Choice]:
        """The entry that the dialog around a control speaks of, among those of the page of which none is selected."""
        dialog = self.dialog(target.box if target is not None else None)
        inside = [] if dialog is None else [dialog, *self.within(dialog)]
        said = frozenset().union(*(content(node.name) for node in inside))
        for _, nodes in itertools.groupby(self.nodes, key=lambda node: node.role):
            group = [node for node in nodes if node.name and node.role in ENTRIES and node not in inside]
            if said and len(group) > 1 and not any("selected" in node.states for node in group):
                shared = frozenset.intersection(*(content(node.name) for node in group))
                weights = [len(said & (content(node.name) - shared)) for node in group]
                if max(weights) and weights.count(max(weights)) == 1:
                    at = weights.index(max(weights))
                    yield Choice([group[at].name], [node.name for node in group[:at] + group[at + 1 :]])

    @property
    def asks_password(self) -> bool:
        """Whether a password has been entered."""
        return any("protected" in node.states and node.value for node in self.nodes)

    def is_form(self, box: Box | None) -> bool:
        """Whether there is something to be confirmed: entries, ticks, or a dialog."""
        if self.dialog(box) is not None:
            return True
        return any(node.role in _FILLED and (node.value or "checked" in node.states) for node in self.nodes)

    def focused(self) -> Node | None:
        """What has the focus."""
        return next((node for node in self.nodes if "focused" in node.states), None)

    def selected(self) -> list[str]:
        """The names of what is selected."""
        return [node.name for node in self.nodes if "selected" in node.states and node.name]

    def button_after(self, node: Node) -> Node | None:
        """The first button after a field: what the enter key presses."""
        rest = self.nodes[self.nodes.index(node) + 1 :]
        return next((other for other in rest if other.role in COMMANDS), None)

    def at(self, x: float, y: float) -> Node | None:
        """The smallest named node at a place of the picture."""
        found = [node for node in self.nodes if node.name and node.box is not None and _covers(node.box, x, y)]
        return min(found, key=lambda node: _area(node.box), default=None)

    def _before(self, box: Box | None) -> Iterator[Node]:
        if box is None:
            return
        spots = [at for at, node in enumerate(self.nodes) if node.box == box]
        if spots:
            yield from self.nodes[max(0, spots[0] - _NEAR) : spots[0]]


def scene_of(observation: Observation) -> Scene:
    """The screen of an observation; without a tree, title and address are all there is."""
    nodes = observation.tree.nodes if observation.tree is not None else []
    return Scene(observation.title, observation.location, nodes)


def _same_or_withdraws(name: str, pressed: str) -> bool:
    return name == pressed or said(name, "withdrawing") or said(name, "keeping")


def _says(node: Node) -> bool:
    """Whether a name tells what an action is about: to be read, taken, or a button that shows a choice made."""
    taken = node.role in ("radio", "combobox") and bool({"checked", "selected"} & set(node.states))
    shows_choice = node.role == "button" and node.name.count(":") == 1
    return bool(node.name) and len(node.name) <= _LONGEST and (taken or shows_choice or not is_control(node))


def is_control(node: Node) -> bool:
    """Whether something is there to be worked rather than read."""
    return node.role in COMMANDS or node.role in TOGGLES or is_field(node) or node.role == "link"


def is_field(node: Node | TargetUnderPoint) -> bool:
    """Whether something takes text."""
    return node.role in _FIELDS or "editable" in node.states


def _holds(outer: Box | None, inner: Box) -> bool:
    if outer is None:
        return False
    x, y = (inner.left + inner.right) / 2, (inner.top + inner.bottom) / 2
    return _covers(outer, x, y)


def _covers(box: Box, x: float, y: float) -> bool:
    return box.left <= x <= box.right and box.top <= y <= box.bottom


def _area(box: Box | None) -> int:
    return (box.right - box.left) * (box.bottom - box.top) if box is not None else 0
