"""What a record shows: texts the application displayed, apart from texts the agent itself put on the screen.

Text in a field the agent has filled in is its own doing until it was sent and turns up elsewhere. Only the UI trees
speak; pictures are read (by OCR) where a tree cannot: it is missing, nearly empty, or holds a large drawing. All of it
is data that values are looked for in, never anything to follow. The agent's thoughts and claims are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple, Protocol

from pipeline.actions import AcceptDialog, Click, DoubleClick, Hotkey, PressEnter, SelectOption, Type
from pipeline.records import Frame, ObservationRow, Record, Step
from pipeline.structs import Box, Node
from verifiers.keypoints import Sought, same_value
from verifiers.normalise import days_of, folded, numbers_of, stands_in
from verifiers.wordlists import CONFIRMING, DESTRUCTIVE, GONE, NOT_FOUND, SENDS, SENDS_NOTHING

FIELDS = frozenset(["textbox", "searchbox", "spinbutton"])
"""Roles whose value is typed."""
CHOOSERS = frozenset(["combobox", "listbox"])
_PRESSED = ("button", "link", "checkbox", "radio", "switch", "slider", "option", "tab", "treeitem", "row", "gridcell")
CONTROLS = frozenset([*FIELDS, *CHOOSERS, *_PRESSED, "menuitem", "menuitemcheckbox", "menuitemradio"])
"""Roles that a person would click."""
_DRAWINGS = frozenset(["img", "image", "Canvas", "canvas", "Video", "PluginObject"])
_THIN_TEXTS, _LARGE_SHARE = 2, 0.25
_PICTURES_READ = 1
_AROUND = 40


class TextReader(Protocol):
    """Reads the text in a picture."""

    def read(self, frame: Frame) -> list[str]:
        """The lines of text, top to bottom."""
        ...


class Screen(NamedTuple):
    """One look, as texts in folded form."""

    look: int
    frame_sha256: str | None
    location: str
    visible: tuple[str, ...]
    """What the application displays within the picture."""
    hidden: tuple[str, ...]
    """What it has beyond the picture's edges."""
    filled: tuple[str, ...]
    """Values of fields and choosers."""
    controls: tuple[str, ...]
    """Names of controls."""
    thin: bool
    """Whether the tree may miss what the picture shows."""


class Sighting(NamedTuple):
    """Where a value was found."""

    look: int
    frame_sha256: str | None
    quote: str


class Evidence(NamedTuple):
    """The screens of a record, and what the agent entered and sent."""

    screens: list[Screen]
    entered: list[tuple[int, str]]
    """Step index and text of everything typed or chosen."""
    sent: list[int]
    """Steps that sent what was entered, or set off a change."""
    silent: list[int]
    """Steps that may have, though no screen shows it: programs of a desktop save in silence."""
    deleted: list[int]
    """Steps on a control that deletes, or that confirmed it."""
    offered: list[str]
    """The options of choosers that the agent opened."""
    blind: bool
    """Whether a picture that was not read may show what no tree does."""
    record: Record

    def seen(self, sought: Sought, since: int = 0) -> Sighting | None:
        """The last screen from `since` on where the application displays the value in the picture."""
        for screen in reversed(self.screens[since:]):
            quote = _find(sought, screen.visible)
            if quote is not None:
                return Sighting(screen.look, screen.frame_sha256, quote)
        return None

    def stands_alone(self, sought: Sought) -> bool:
        """Whether some text is the value, or has it set off by marks: `Owner: ann`, but not `ann` in `ann's room`."""
        alone = re.compile(rf"(?:^|[^\w\s]\s*){re.escape(folded(sought.value))}(?:$|\s*[,.;:)\]/|](?:\s|$))")
        return any(alone.search(text) for screen in self.screens for text in screen.visible)

    def first_seen(self, sought: Sought) -> int | None:
        """The first look in which the application displays the value in the picture."""
        return next((screen.look for screen in self.screens if _find(sought, screen.visible) is not None), None)

    def anywhere(self, sought: Sought) -> bool:
        """Whether the value was entered, or stood anywhere in any tree, fields and hidden parts included."""
        if any(same_value(sought, text) or _has(sought, folded(text)) for _, text in self.entered):
            return True
        if any(_has(sought, option) for option in self.offered):
            return True
        return any(
            _find(sought, (*screen.visible, *screen.hidden, *screen.filled)) is not None
            or _has(sought, folded(screen.location))
            for screen in self.screens
        )

    def on_last_screen(self, sought: Sought) -> bool:
        """Whether the application still has the value at the end, in the picture or beyond its edges."""
        last = self.screens[-1]
        return _find(sought, (*last.visible, *last.hidden)) is not None

    def last_entry(self, sought: Sought | None = None) -> int | None:
        """The last step that entered the value, or anything."""
        steps = [
            index
            for index, text in self.entered
            if sought is None or same_value(sought, text) or _has(sought, folded(text))
        ]
        return steps[-1] if steps else None

    def sent_after(self, step_index: int) -> int | None:
        """The first sending step after a step."""
        return next((index for index in self.sent if index > step_index), None)


def evidence_of(record: Record, reader: TextReader | None = None) -> Evidence:
    """The evidence of a record; the last picture is read only where its tree may miss something."""
    screens = [_screen(row, record) for row in record.observations]
    if reader is not None:
        screens = _read_pictures(screens, record, reader)
    entered = list(_entered(record))
    sent = [step.step_index for step in record.steps if _sends(step, record, screens)]
    tried = [step.step_index for step in record.steps if step.status == "ok" and _may_send(step)]
    return Evidence(
        screens=[_with_own_fields(screen, entered) for screen in screens],
        entered=entered,
        sent=sent,
        silent=sorted(set(tried) - set(sent)) if record.trajectory.platform == "desktop" else [],
        deleted=[step.step_index for step in record.steps if _deletes(step)],
        offered=list(_offered(record)),
        blind=any(screen.thin for screen in screens),
        record=record,
    )


def nodes_at(record: Record, index: int) -> list[Node]:
    """The tree of a look; empty when it has none."""
    if not 0 <= index < len(record.observations):
        return []
    sha256 = record.observations[index].tree_sha256
    tree = record.trees.get(sha256) if sha256 else None
    return tree.nodes if tree else []


def picture_size(record: Record, index: int) -> tuple[int, int]:
    """Width and height of a look's picture; without bound where the picture is not at hand."""
    sha256 = record.observations[index].frame_sha256 if index < len(record.observations) else None
    frame = record.frames.get(sha256) if sha256 else None
    return (frame.width, frame.height) if frame else (1_000_000, 1_000_000)


def options_of(nodes: Sequence[Node], chooser: int) -> list[Node]:
    """The options that follow a chooser in reading order."""
    options: list[Node] = []
    for node in nodes[chooser + 1 :]:
        if node.role == "option":
            options.append(node)
        elif node.role in CONTROLS:
            break
    return options


def is_field(node: Node) -> bool:
    """Whether text can be typed into a node."""
    return node.role in FIELDS or "editable" in node.states


def _screen(row: ObservationRow, record: Record) -> Screen:
    nodes = nodes_at(record, row.observation_index)
    width, height = picture_size(record, row.observation_index)
    visible: list[str] = []
    hidden: list[str] = []
    filled: list[str] = []
    fields = [node.box for node in nodes if is_field(node) and node.box]
    for node in nodes:
        if node.role == "option":
            continue
        if not is_field(node) and _inside(node.box, fields):
            filled.append(node.name)
            continue
        place = visible if node.box is None or node.box.within(width, height) else hidden
        place.append(node.name)
        (filled if is_field(node) or node.role in CHOOSERS else place).append(node.value)
    return Screen(
        look=row.observation_index,
        frame_sha256=row.frame_sha256,
        location=row.location,
        visible=_texts(visible),
        hidden=_texts(hidden),
        filled=_texts(filled),
        controls=_texts(node.name for node in nodes if node.role in CONTROLS),
        thin=_is_thin(nodes, width, height),
    )


def _inside(box: Box | None, fields: Sequence[Box]) -> bool:
    return box is not None and any(field.contains(box.centre) for field in fields)


def _texts(raw: Iterable[str]) -> tuple[str, ...]:
    kept = tuple(text for text in map(folded, raw) if text and not _says_gone(text))
    return (*kept, " ".join(kept)) if len(kept) > 1 else kept


def _says_gone(text: str) -> bool:
    """Whether a text repeats a name only to say that nothing has it, or no longer."""
    return NOT_FOUND.within(text) or GONE.within(text)


def _is_thin(nodes: Sequence[Node], width: int, height: int) -> bool:
    if sum(bool(node.name or node.value) for node in nodes) < _THIN_TEXTS:
        return True
    large = width * height * _LARGE_SHARE
    return any(node.role in _DRAWINGS and node.box is not None and _area(node.box) > large for node in nodes)


def _area(box: Box) -> int:
    return max(box.right - box.left, 0) * max(box.bottom - box.top, 0)


def _read_pictures(screens: list[Screen], record: Record, reader: TextReader) -> list[Screen]:
    """The last thin screens with the text of their pictures, as many as the budget allows."""
    read = list(screens)
    left = _PICTURES_READ
    for place in range(len(screens) - 1, -1, -1):
        screen = screens[place]
        frame = record.frames.get(screen.frame_sha256 or "")
        if left and screen.thin and frame is not None:
            left -= 1
            read[place] = screen._replace(visible=(*screen.visible, *_texts(reader.read(frame))), thin=False)
    return read


def _entered(record: Record) -> Iterable[tuple[int, str]]:
    for step in record.steps:
        if step.status != "ok":
            continue
        if isinstance(step.action, Type):
            yield step.step_index, step.action.content
        elif isinstance(step.action, SelectOption):
            label = chosen_label(record, step.step_index)
            if label is not None:
                yield step.step_index, label


def chosen_label(record: Record, index: int) -> str | None:
    """The label of the option that a SelectOption step names, read from the screen it was decided on."""
    action = record.steps[index].action
    nodes = nodes_at(record, index)
    chooser = chooser_in_use(record.steps[:index], nodes)
    options = options_of(nodes, chooser) if chooser is not None else []
    if not isinstance(action, SelectOption) or not 0 <= action.index < len(options):
        return None
    return options[action.index].name


def chooser_in_use(past: Sequence[Step], nodes: Sequence[Node]) -> int | None:
    """The place of the chooser that options are chosen in: the focused one, else the one last clicked."""
    choosers = [place for place, node in enumerate(nodes) if node.role in CHOOSERS]
    focused = [place for place in choosers if "focused" in nodes[place].states]
    clicked = [
        place
        for step in reversed(past)
        if isinstance(step.action, Click) and step.target is not None
        for place in choosers
        if nodes[place].name == step.target.name
    ]
    return next(iter([*focused, *clicked]), None)


def _offered(record: Record) -> Iterable[str]:
    for step in record.steps:
        nodes = nodes_at(record, step.step_index)
        if isinstance(step.action, Click) and step.target is not None and step.target.role in CHOOSERS:
            chooser = chooser_in_use([step], nodes)
            yield from (folded(node.name) for node in options_of(nodes, chooser)) if chooser is not None else ()


def _with_own_fields(screen: Screen, entered: Sequence[tuple[int, str]]) -> Screen:
    """Field values count as the application's own unless they hold what the agent entered."""
    typed = [folded(text) for _, text in entered if text.strip()]
    own = (value for value in screen.filled if not any(text in value for text in typed))
    return screen._replace(visible=(*screen.visible, *own))


def _sends(step: Step, record: Record, screens: Sequence[Screen]) -> bool:
    """Whether a step sent something: a control or key that sends, and a screen that then changed and asks nothing."""
    at = step.step_index
    if step.status != "ok" or not _may_send(step) or at + 1 >= len(screens):
        return False
    before, after = screens[at], screens[at + 1]
    asks = any(CONFIRMING.within(name) for name in set(after.controls) - set(before.controls))
    same = before.location == after.location and unfocused(record, at) == unfocused(record, at + 1)
    return not asks and not same


def unfocused(record: Record, look: int) -> list[Node]:
    """The tree of a look without the focus, which moves with every click."""
    return [
        node.model_copy(update={"states": [state for state in node.states if state != "focused"]})
        for node in nodes_at(record, look)
    ]


def _may_send(step: Step) -> bool:
    if isinstance(step.action, PressEnter):
        return True
    if isinstance(step.action, Hotkey):
        return any(key.casefold() in ("enter", "return", "s") for key in step.action.keys)
    if not isinstance(step.action, Click | DoubleClick) or step.target is None:
        return False
    name = folded(step.target.name)
    if SENDS.within(name):
        return True
    return step.target.role in ("button", "checkbox", "switch") and not SENDS_NOTHING.within(name)


def _deletes(step: Step) -> bool:
    if step.status != "ok":
        return False
    if isinstance(step.action, Hotkey):
        return any(key.casefold() in ("delete", "backspace") for key in step.action.keys)
    if isinstance(step.action, AcceptDialog):
        return True
    name = folded(step.target.name) if step.target else ""
    return isinstance(step.action, Click | DoubleClick) and (DESTRUCTIVE.within(name) or CONFIRMING.within(name))


def _find(sought: Sought, texts: Iterable[str]) -> str | None:
    """The text around the first place where the value stands."""
    found = next((text for text in texts if _has(sought, text)), None)
    if found is None:
        return None
    at = max(found.find(folded(sought.value)), 0)
    return found[max(at - _AROUND, 0) : at + len(sought.value) + _AROUND].strip()


def _has(sought: Sought, text: str) -> bool:
    """Whether a folded text has the value as a whole word, number or day."""
    if sought.kind == "number":
        return bool(set(numbers_of(sought.value)) & _numbers(text))
    if sought.kind == "day" and days_of(sought.value) & days_of(text):
        return True
    return any(stands_in(name, text) for name in _names(sought.value))


@lru_cache(maxsize=512)
def _names(value: str) -> tuple[str, ...]:
    """The value, and its parts where it is given in two scripts: `结算（Settle）`."""
    whole = folded(value)
    both = re.fullmatch(r"([^\x00-\x7f]+)\s?\(([\x20-\x7e]+)\)|([\x20-\x7e]+?)\s?\(([^\x00-\x7f]+)\)", whole)
    return (whole, *(part for part in both.groups() if part)) if both else (whole,)


@lru_cache(maxsize=4096)
def _numbers(text: str) -> frozenset[Decimal]:
    return frozenset(numbers_of(text))
