"""A small to-do application that lives in memory: pages of widgets, a state, and what a click or a key does to it.

It behaves like a plain server-rendered site: forms keep what was typed until they are sent, deleting asks on a page of
its own, clearing asks by a dialog. Everything is deterministic. It knows nothing of pictures, tasks or faults.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.records import Event
from pipeline.structs import Box, Node

WIDTH, HEIGHT = 640, 400
APP_ID = "fake-todo"
PRIORITIES = ("low", "normal", "high")
DIALOG = "Clear all done to-dos?"

_HELP = (
    "Write a title and press Add to make a to-do.",
    "Open a to-do to rename it, to change its priority or its notes, or to delete it.",
    "Tick the box of a to-do when it is done.",
)


class Todo(NamedTuple):
    """One entry of the list."""

    title: str
    priority: str = "normal"
    done: bool = False
    notes: str = ""


SEED = (
    Todo("Water the plants", "low"),
    Todo("Pay the rent", "high"),
    Todo("Call the dentist", "normal", True),
    Todo("Buy coffee beans", "normal"),
    Todo("Return library books", "low", False, "Three books, due on Friday"),
    Todo("Fix the bicycle", "normal", True),
    Todo("Write the report", "high", False, "Ask Dana for the figures"),
    Todo("Book train tickets", "high"),
    Todo("Clean the kitchen", "low"),
    Todo("Renew the passport", "normal", False, "Photo is in the drawer"),
)


class Widget(NamedTuple):
    """An element of a page and what pressing it does: a command with an argument, or nothing."""

    node: Node
    command: str = ""
    argument: str = ""


class TodoApp:
    """The application: its entries, the page that is open, and the form being filled in."""

    def __init__(self, seed: Sequence[Todo] = SEED) -> None:
        self.todos = dict(enumerate(seed, 1))
        self.path = "/"
        self.fields: dict[str, str] = {}
        self.focus: str | None = None
        self.scroll = 0
        self.accept_next_dialog = False
        self.events: list[Event] = []
        self._history: list[str] = []
        self._all_selected = False
        self._next_id = len(self.todos) + 1
        self._enter("/")

    # --- what can be read ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, str]:
        """Every entry by its key."""
        return {f"todo/{number}": "|".join(map(str, todo)) for number, todo in self.todos.items()}

    @property
    def title(self) -> str:
        """The page's title: its first heading."""
        return next(widget.node.name for widget in self._page() if widget.node.role == "heading")

    def widgets(self) -> list[Widget]:
        """The open page's elements in reading order, boxes as seen through the scrolled window."""
        return [_shifted(widget, -self.scroll) for widget in self._page()]

    def buttons(self) -> list[str]:
        """The buttons of all its pages: what can be done with the list, with an entry, and to be rid of one."""
        number, todo = 0, Todo("")
        pages = [*TodoApp([])._list_page(), *_todo_buttons(number), *_delete_page(number, todo)]
        return [widget.node.name for widget in pages if widget.node.role == "button"]

    # --- what can be done ---------------------------------------------------------------------------------------

    def press(self, widget: Widget) -> None:
        """Click on an element."""
        self.focus = None
        self._all_selected = False
        match widget.command:
            case "open":
                self.open(widget.argument)
            case "focus":
                self.focus = widget.argument
            case "toggle":
                number = int(widget.argument)
                self.todos[number] = self.todos[number]._replace(done=not self.todos[number].done)
            case "send":
                self._send(widget.argument)

    def open(self, path: str) -> None:
        """Go to a page."""
        self._history.append(self.path)
        self._enter(path)

    def back(self) -> None:
        """Go to the page before, if there is one."""
        if self._history:
            self._enter(self._history.pop())

    def type(self, text: str) -> bool:
        """Enter text into the field with the focus; False when no text field has it."""
        if self.focus is None or self.focus == "Priority":
            return False
        kept = "" if self._all_selected else self.fields[self.focus]
        self.fields[self.focus] = kept + text
        self._all_selected = False
        return True

    def hotkey(self, keys: Sequence[str]) -> None:
        """Press keys: select all, erase, or send the form."""
        match [key.casefold() for key in keys]:
            case ["control", "a"]:
                self._all_selected = True
            case ["backspace"] | ["delete"] if self._all_selected:
                self.type("")
            case ["enter"] if self.focus is not None:
                self._send("add" if self.path == "/" else "save")

    def choose(self, index: int) -> bool:
        """Choose an option of the drop-down with the focus; False when there is none."""
        if self.focus != "Priority" or index >= len(PRIORITIES):
            return False
        self.fields["Priority"] = PRIORITIES[index]
        return True

    def scroll_by(self, pixels: int) -> None:
        """Scroll the page, as far as it goes."""
        bottom = max(widget.node.box.bottom for widget in self._page() if widget.node.box) + 12
        self.scroll = min(max(self.scroll + pixels, 0), max(bottom - HEIGHT, 0))

    def _enter(self, path: str) -> None:
        self.path = path
        self.focus, self.scroll, self._all_selected = None, 0, False
        todo = self._current()
        self.fields = {"New to-do": "", "Priority": "normal"}
        if todo is not None:
            self.fields = {"Title": todo.title, "Priority": todo.priority, "Notes": todo.notes}

    def _send(self, form: str) -> None:
        number = self._number()
        match form:
            case "add" if self.fields["New to-do"].strip():
                self.todos[self._next_id] = Todo(self.fields["New to-do"].strip(), self.fields["Priority"])
                self._next_id += 1
                self.open("/")
            case "save" if number is not None and self.fields.get("Title", "").strip():
                self.todos[number] = self.todos[number]._replace(
                    title=self.fields["Title"].strip(), priority=self.fields["Priority"], notes=self.fields["Notes"]
                )
                self.open("/")
            case "delete" if number is not None:
                del self.todos[number]
                self.open("/")
            case "clear":
                self._clear()

    def _clear(self) -> None:
        accepted, self.accept_next_dialog = self.accept_next_dialog, False
        self.events.append(
            Event(
                attempt_id="",
                step_index=0,
                kind="dialog",
                dialog_type="confirm",
                message=DIALOG,
                answer="accepted" if accepted else "dismissed",
                decided_by="policy",
            )
        )
        if accepted:
            self.todos = {number: todo for number, todo in self.todos.items() if not todo.done}

    def _number(self) -> int | None:
        found = re.match(r"/todo/(\d+)", self.path)
        return int(found[1]) if found and int(found[1]) in self.todos else None

    def _current(self) -> Todo | None:
        number = self._number()
        return self.todos[number] if number is not None else None

    # --- pages ---------------------------------------------------------------------------------------------------

    def _page(self) -> list[Widget]:
        number = self._number()
        widgets = list(_navigation())
        if self.path == "/":
            return [*widgets, *self._list_page()]
        if self.path == "/statistics":
            return [*widgets, *self._statistics_page()]
        if self.path == "/help":
            return [*widgets, _heading("Help"), *_lines(_HELP)]
        if number is None:
            return [*widgets, _heading("Not found"), *_lines(["This page does not exist."])]
        if self.path.endswith("/delete"):
            return [*widgets, *_delete_page(number, self.todos[number])]
        return [*widgets, *self._todo_page(number)]

    def _list_page(self) -> Iterator[Widget]:
        yield _heading("To-dos")
        yield self._field("New to-do", 12, 80, 240)
        yield from self._priority(264, 80)
        yield _button("Add", 396, 80, "send", "add")
        yield _button("Clear done", 480, 80, "send", "clear")
        top = 118
        for number, todo in self.todos.items():
            states = ["checked"] if todo.done else []
            box = Box(left=12, top=top + 4, right=28, bottom=top + 20)
            yield Widget(
                Node(role="checkbox", name=f"Done: {todo.title}", box=box, states=states), "toggle", f"{number}"
            )
            yield _link(todo.title, 40, top, f"/todo/{number}")
            yield _text(todo.priority, 400, top)
            top += 32

    def _todo_page(self, number: int) -> Iterator[Widget]:
        yield _heading(self.todos[number].title)
        yield self._field("Title", 12, 90, 300)
        yield from self._priority(12, 140)
        yield self._field("Notes", 12, 190, 400)
        yield from _todo_buttons(number)

    def _statistics_page(self) -> Iterator[Widget]:
        todos = self.todos.values()
        yield _heading("Statistics")
        counts = [
            f"{priority.capitalize()} priority: {sum(t.priority == priority for t in todos)}" for priority in PRIORITIES
        ]
        done = sum(todo.done for todo in todos)
        yield from _lines([f"Open: {len(self.todos) - done}", f"Done: {done}", *counts])

    def _field(self, name: str, left: int, top: int, width: int) -> Widget:
        states = ["editable", "focused"] if self.focus == name else ["editable"]
        box = Box(left=left, top=top, right=left + width, bottom=top + 26)
        return Widget(Node(role="textbox", name=name, value=self.fields[name], box=box, states=states), "focus", name)

    def _priority(self, left: int, top: int) -> Iterator[Widget]:
        value, box = self.fields["Priority"], Box(left=left, top=top, right=left + 120, bottom=top + 26)
        states = ["focused"] if self.focus == "Priority" else []
        yield Widget(Node(role="combobox", name="Priority", value=value, box=box, states=states), "focus", "Priority")
        for option in PRIORITIES:
            yield Widget(Node(role="option", name=option, states=["selected"] if option == value else []))


def _navigation() -> Iterator[Widget]:
    left = 12
    for name, path in (("To-dos", "/"), ("Statistics", "/statistics"), ("Help", "/help")):
        yield _link(name, left, 10, path)
        left += 110


def _todo_buttons(number: int) -> Iterator[Widget]:
    yield _button("Save", 12, 240, "send", "save")
    yield _button("Delete", 96, 240, "open", f"/todo/{number}/delete")


def _delete_page(number: int, todo: Todo) -> Iterator[Widget]:
    yield _heading(f"Delete “{todo.title}”?")
    yield _button("Yes, delete", 12, 90, "send", "delete")
    yield _link("Cancel", 140, 92, f"/todo/{number}")


def _heading(text: str) -> Widget:
    return Widget(Node(role="heading", name=text, box=Box(left=12, top=44, right=12 + _width(text), bottom=68)))


def _lines(texts: Sequence[str]) -> Iterator[Widget]:
    for row, text in enumerate(texts):
        yield _text(text, 12, 84 + 28 * row)


def _text(text: str, left: int, top: int) -> Widget:
    return Widget(
        Node(role="StaticText", name=text, box=Box(left=left, top=top, right=left + _width(text), bottom=top + 22))
    )


def _link(text: str, left: int, top: int, path: str) -> Widget:
    box = Box(left=left, top=top, right=left + _width(text), bottom=top + 24)
    return Widget(Node(role="link", name=text, box=box), "open", path)


def _button(text: str, left: int, top: int, command: str, argument: str) -> Widget:
    box = Box(left=left, top=top, right=left + _width(text) + 24, bottom=top + 26)
    return Widget(Node(role="button", name=text, box=box), command, argument)


def _width(text: str) -> int:
    return 8 * len(text)


def _shifted(widget: Widget, by: int) -> Widget:
    box = widget.node.box
    if box is None or by == 0:
        return widget
    moved = box.model_copy(update={"top": box.top + by, "bottom": box.bottom + by})
    return widget._replace(node=widget.node.model_copy(update={"box": moved}))
