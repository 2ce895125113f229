"""Reads UI trees over AT-SPI, for a process that has no such bindings; run by the system's own Python with `gi`.

Requests are JSON objects, one a line, on standard input, or one as the only argument; answers are one line each:

    {"op": "tree", "nodes": 1500, "seconds": 3}  ->  {"nodes": [node, ...], "partial": false}
    {"op": "at", "x": 10, "y": 20}               ->  {"node": node or null}
    {"op": "bus"}                                ->  {"programs": 0}

With "call_ms" in a request, programs have so many milliseconds for each call, and with "greet_ms" for the first ones,
before which the library asks a program for all that it has ever shown. What a program does not answer in time is taken
for nothing, and makes the tree a part of one.

A node is [role, name, value, box, states], where a box is [left, top, right, bottom] in pixels of the screen. What
fails is answered with {"error": "..."}. Imports nothing of the project: it may run in another machine.
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

ROLES = {
    "check box": "checkbox",
    "check menu item": "menuitemcheckbox",
    "color chooser": "dialog",
    "column header": "columnheader",
    "combo box": "combobox",
    "date editor": "textbox",
    "document email": "document",
    "document frame": "document",
    "document presentation": "document",
    "document spreadsheet": "document",
    "document text": "document",
    "document web": "document",
    "entry": "textbox",
    "file chooser": "dialog",
    "frame": "window",
    "icon": "option",
    "label": "StaticText",
    "layered pane": "list",
    "list item": "listitem",
    "menu": "menuitem",
    "menu bar": "menubar",
    "menu item": "menuitem",
    "page tab": "tab",
    "password text": "textbox",
    "progress bar": "progressbar",
    "push button": "button",
    "push button menu": "button",
    "radio button": "radio",
    "radio menu item": "menuitemradio",
    "row header": "rowheader",
    "spin button": "spinbutton",
    "static": "StaticText",
    "table cell": "gridcell",
    "table column header": "columnheader",
    "table row header": "rowheader",
    "terminal": "textbox",
    "text": "textbox",
    "toggle button": "button",
    "tool tip": "tooltip",
    "tree item": "treeitem",
    "tree table": "table",
}
"""Names of roles as AT-SPI and as accessibility trees of pages spell them; others are kept as they are."""
SILENT = {"StaticText", "image", "list", "listitem", "document", "tree", "gridcell", "paragraph", "menubar"}
"""Roles that say nothing where they have neither name nor text."""
NUMBERS = {"progressbar", "slider", "spinbutton"}
LEFT_OUT = {
    "filler",
    "panel",
    "separator",
    "scroll pane",
    "viewport",
    "scroll bar",
    "unknown",
    "redundant object",
    "tool bar",
    "status bar",
    "split pane",
    "root pane",
    "internal frame",
    "page tab list",
    "glass pane",
    "option pane",
    "section",
    "grouping",
    "drawing area",
    "canvas",
    "ruler",
}
STATES = (
    (Atspi.StateType.CHECKED, "checked"),
    (Atspi.StateType.EDITABLE, "editable"),
    (Atspi.StateType.EXPANDED, "expanded"),
    (Atspi.StateType.FOCUSED, "focused"),
    (Atspi.StateType.PRESSED, "pressed"),
    (Atspi.StateType.SELECTED, "selected"),
)
MOST_TEXT = 2000
MOST_NAME = 200
MOST_CHILDREN = 400
MOST_DEEP = 60
CELLS_ACROSS, CELLS_DOWN = 30, 60
SMALL_TABLE = 200
MOST_PARTED = 10_000
"""Cells of a table whose cells may have parts, such as a picture and a name: lists have them, sheets have none."""
CALL_MS = 800

Row = list[Any]


class EnoughError(Exception):
    """Nodes or time have run out."""


class Walk:
    """One bounded walk."""

    def __init__(self, nodes: int, call_seconds: float) -> None:
        self.most, self.until, self.call_seconds = nodes, math.inf, call_seconds
        self.nodes: list[Row] = []
        self.moved = (0, 0)
        self.late = False
        """Whether a program did not answer in time."""

    def windows(self) -> list[Any]:
        """The windows that show, the active one first."""
        found: list[tuple[bool, int, Any]] = []
        desktop = Atspi.get_desktop(0)
        for app in self.children(desktop):
            for window in self.children(app):
                try:
                    states = window.get_state_set()
                    if states.contains(Atspi.StateType.SHOWING) and states.contains(Atspi.StateType.VISIBLE):
                        found.append((not states.contains(Atspi.StateType.ACTIVE), len(found), window))
                except GLib.Error:
                    continue
        return [window for _, _, window in sorted(found, key=lambda entry: entry[:2])]

    def check(self) -> None:
        """Raise EnoughError when nodes or time have run out."""
        if len(self.nodes) >= self.most or time.monotonic() > self.until:
            raise EnoughError

    def add(self, thing: Any, holder: Any = None) -> None:
        """A thing and what is in it, as far as it shows; `holder` is what it was come to from."""
        self.check()
        began = time.monotonic()
        try:
            states = thing.get_state_set()
            if not states.contains(Atspi.StateType.SHOWING):
                return
            spelled = thing.get_role_name()
            if is_double(thing, spelled):
                return
            self.moved = misplaced(thing, spelled, holder) or self.moved
            node = described(thing, spelled, states)
            self.late = self.late or time.monotonic() - began >= self.call_seconds
            if node is not None:
                self.tell(node)
            if (node is not None and node[0] == "table") or states.contains(Atspi.StateType.MANAGES_DESCENDANTS):
                self.add_cells(thing)
                return
            for child in self.children(thing):
                self.add(child, thing)
        except GLib.Error:
            return  # it went meanwhile

    def children(self, thing: Any) -> Iterator[Any]:
        """The first children of a thing."""
        count = thing.get_child_count()
        self.late = self.late or count < 0
        for index in range(min(count, MOST_CHILDREN)):
            child = thing.get_child_at_index(index)
            if child is not None:
                yield child

    def tell(self, node: Row) -> None:
        """A node, where it really is."""
        node[3] = shifted(node[3], self.moved)
        self.nodes.append(node)

    def add_cells(self, table: Any) -> None:
        """Cells of a table that show; there may be two thousand million others."""
        grid = table.get_table_iface()
        if grid is None:
            for child in self.children(table):
                self.add(child, table)
            return
        top, left, bottom, right = shown_cells(table, grid)
        parted = grid.get_n_rows() * grid.get_n_columns() <= MOST_PARTED
        columns = {column: box_of(grid.get_accessible_at(top, column)) for column in range(left, right + 1)}
        for row in range(top, bottom + 1):
            across = box_of(grid.get_accessible_at(row, left))
            for column, down in columns.items():
                self.check()
                cell = grid.get_accessible_at(row, column)
                if cell is None or across is None or down is None:
                    continue
                name, value = name_of(cell), value_of(cell)
                if parted and not name and not value:
                    name = next((told for part in self.children(cell) if (told := name_of(part) or value_of(part))), "")
                if name or value:
                    states = told_of(cell.get_state_set())
                    # Each box costs a call of the program: they are put together from the first row and column.
                    box = [down[0], across[1], down[2], across[3]]
                    self.tell(["gridcell", name, "" if value == name else value, box, states])


def shown_cells(table: Any, grid: Any) -> tuple[int, int, int, int]:
    """First row and column and last ones that show, by what lies in the corners of a large table."""
    rows, columns = grid.get_n_rows(), grid.get_n_columns()
    if rows * columns <= SMALL_TABLE:
        return 0, 0, rows - 1, columns - 1
    box = table.get_component_iface().get_extents(Atspi.CoordType.SCREEN)
    top, left = cell_at(table, grid, box.x + 3, box.y + 3) or (0, 0)
    bottom, right = cell_at(table, grid, box.x + box.width - 3, box.y + box.height - 3) or (rows, columns)
    return top, left, min(bottom, top + CELLS_DOWN, rows - 1), min(right, left + CELLS_ACROSS, columns - 1)


def cell_at(table: Any, grid: Any, x: int, y: int) -> tuple[int, int] | None:
    """Row and column of the cell at a point; None where there is none."""
    cell = table.get_component_iface().get_accessible_at_point(x, y, Atspi.CoordType.SCREEN)
    index = -1 if cell is None or cell == table else cell.get_index_in_parent()
    return None if index < 0 else (grid.get_row_at_index(index), grid.get_column_at_index(index))


def described(thing: Any, spelled: str, states: Any) -> Row | None:
    """What is told of a thing, whose role is spelled so; None when it says nothing."""
    if spelled in LEFT_OUT:
        return None
    role = ROLES.get(spelled, spelled)
    name = name_of(thing)
    value = value_of(thing, role)
    if role == "option" and not name:
        name, value = " ".join(value.split())[:MOST_NAME], ""
    if role in SILENT and not name and not value:
        return None
    if value == name and role != "textbox":
        value = ""
    told = told_of(states)
    if spelled == "password text":
        value, told = "", sorted([*told, "protected"])
    return [role, name, value, box_of(thing), told]


def name_of(thing: Any) -> str:
    """Its name in one line."""
    return " ".join((thing.get_name() or "").split())[:MOST_NAME]


def told_of(states: Any) -> list[str]:
    """What is told of its states, sorted."""
    told = [word for state, word in STATES if states.contains(state)]
    if not states.contains(Atspi.StateType.SENSITIVE) and not states.contains(Atspi.StateType.ENABLED):
        told.append("disabled")
    return sorted(told)


def value_of(thing: Any, role: str = "") -> str:
    """Its text, or its number where numbers are what the role is for; empty when it has neither."""
    text = thing.get_text_iface()
    if text is not None:
        count = min(text.get_character_count(), MOST_TEXT)
        return str(text.get_text(0, count)) if count > 0 else ""
    value = thing.get_value_iface() if role in NUMBERS else None
    return f"{value.get_current_value():g}" if value is not None else ""


def box_of(thing: Any) -> list[int] | None:
    """Its box in pixels of the screen; None when it has no size."""
    part = thing.get_component_iface() if thing is not None else None
    if part is None:
        return None
    box = part.get_extents(Atspi.CoordType.SCREEN)
    if box.width <= 0 or box.height <= 0:
        return None
    return [box.x, box.y, box.x + box.width, box.y + box.height]


def misplaced(thing: Any, spelled: str, holder: Any) -> tuple[int, int] | None:
    """How far all of a foreign part really lies from where it says, by the part of the window that holds it; None for
    other things. An office suite forgets the menu bar above its documents."""
    if spelled != "root pane":
        return None
    own, frame = box_of(thing), box_of(holder)
    if own is None or frame is None or (own[2] - own[0], own[3] - own[1]) != (frame[2] - frame[0], frame[3] - frame[1]):
        return None
    return frame[0] - own[0], frame[1] - own[1]


def is_double(thing: Any, spelled: str) -> bool:
    """Whether it is the menu bar without a size that the office suite tells of beside the real one."""
    return spelled == "menu bar" and box_of(thing) is None


def shifted(box: list[int] | None, moved: tuple[int, int]) -> list[int] | None:
    """A box moved across and down."""
    return None if box is None else [side + moved[place % 2] for place, side in enumerate(box)]


def greeted(request: dict[str, Any], nodes: int, seconds: float) -> tuple[Walk, list[Any]]:
    """A walk whose time begins now, and the windows that show, whose programs had longer to answer."""
    call_ms = request.get("call_ms", CALL_MS)
    greet_ms = request.get("greet_ms", call_ms)
    Atspi.set_timeout(greet_ms, greet_ms)
    walk = Walk(nodes, call_ms / 1000)
    windows = walk.windows()
    Atspi.set_timeout(call_ms, call_ms)
    walk.until = time.monotonic() + seconds
    return walk, windows


def tree(request: dict[str, Any]) -> dict[str, Any]:
    """The tree of every window that shows."""
    walk, windows = greeted(request, request["nodes"], request["seconds"])
    cut = False
    try:
        for window in windows:
            walk.moved = (0, 0)
            walk.add(window)
    except EnoughError:
        cut = True
    return {"nodes": walk.nodes, "partial": cut or walk.late}


def at(request: dict[str, Any]) -> dict[str, Any]:
    """What the first window under a point says lies there."""
    x, y = request["x"], request["y"]
    for window in greeted(request, 1, 0)[1]:
        box = box_of(window)
        if box is not None and box[0] <= x < box[2] and box[1] <= y < box[3]:
            return {"node": deepest(window, x, y)}
    return {"node": None}


def deepest(window: Any, x: int, y: int) -> Row | None:
    """What lies under a point of a window, as deep as its program tells."""
    node, holder, deeper, moved = None, None, window, (0, 0)
    for _ in range(MOST_DEEP):
        spelled = deeper.get_role_name()
        moved = misplaced(deeper, spelled, holder) or moved
        found = described(deeper, spelled, deeper.get_state_set())
        node = node if found is None else [*found[:3], shifted(found[3], moved), found[4]]
        part = deeper.get_component_iface()
        spot = (x - moved[0], y - moved[1], Atspi.CoordType.SCREEN)
        below = part.get_accessible_at_point(*spot) if part is not None else None
        if below is None or below == deeper:
            break
        holder, deeper = deeper, below
    return node


def bus(request: dict[str, Any]) -> dict[str, Any]:
    """How many programs the bus knows, which shows that it answers."""
    call_ms = request.get("call_ms", CALL_MS)
    Atspi.set_timeout(call_ms, call_ms)
    count = Atspi.get_desktop(0).get_child_count()
    return {"programs": count} if count >= 0 else {"error": "the bus does not answer"}


def answer(line: str) -> dict[str, Any]:
    """The answer to one request."""
    try:
        request = json.loads(line)
        return {"tree": tree, "at": at, "bus": bus}[request["op"]](request)
    except (GLib.Error, KeyError, ValueError, EnoughError) as error:
        return {"error": f"{type(error).__name__}: {error}"}


def main() -> None:
    """Answer the argument, or every line of standard input."""
    warnings.simplefilter("ignore", DeprecationWarning)
    Atspi.init()
    for line in sys.argv[1:] or sys.stdin:
        sys.stdout.write(json.dumps(answer(line)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
