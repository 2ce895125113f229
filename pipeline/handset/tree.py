"""The UI tree as `uiautomator dump` writes it, from what the page script tells of a page.

Boxes are device pixels of the whole display; only what shows is told.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

from pipeline.handset.screen import BAR, RATIO, Size

_CLASSES = {
    "Canvas": "android.view.View",
    "alertdialog": "android.app.AlertDialog",
    "button": "android.widget.Button",
    "checkbox": "android.widget.CheckBox",
    "combobox": "android.widget.Spinner",
    "dialog": "android.app.Dialog",
    "grid": "android.widget.GridView",
    "heading": "android.widget.TextView",
    "image": "android.widget.ImageView",
    "list": "android.widget.ListView",
    "option": "android.widget.CheckedTextView",
    "progressbar": "android.widget.ProgressBar",
    "RootWebArea": "android.webkit.WebView",
    "radio": "android.widget.RadioButton",
    "searchbox": "android.widget.EditText",
    "slider": "android.widget.SeekBar",
    "spinbutton": "android.widget.EditText",
    "StaticText": "android.widget.TextView",
    "switch": "android.widget.Switch",
    "tab": "android.app.ActionBar$Tab",
    "textbox": "android.widget.EditText",
}
_PLAIN = "android.view.View"
_COMPLETED = "android.widget.AutoCompleteTextView"
"""A field that offers what may be meant while something is typed."""
_CHECKABLE = frozenset({"checkbox", "radio", "switch"})
_CLICKABLE = frozenset(
    [
        "button",
        "checkbox",
        "combobox",
        "link",
        "menuitem",
        "option",
        "radio",
        "searchbox",
        "slider",
        "spinbutton",
        "switch",
        "tab",
        "textbox",
    ]
)


class Sides(NamedTuple):
    """A box in device pixels of the display."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def text(self) -> str:
        """As Android writes it."""
        return f"[{self.left},{self.top}][{self.right},{self.bottom}]"


def dumped(nodes: list[dict[str, Any]], package: str, rotation: int, size: Size) -> str:
    """The tree of one window in uiautomator's XML."""
    return _Dump(nodes, package, size).text(rotation, size)


class _Dump:
    """One tree under way."""

    def __init__(self, nodes: list[dict[str, Any]], package: str, size: Size) -> None:
        self._nodes, self._package = nodes, package
        self._shown = {at: sides for at, node in enumerate(nodes) if (sides := _shown(node, size)) is not None}
        self._children: dict[int, list[int]] = {}
        for at in self._shown:
            self._children.setdefault(self._parent(at), []).append(at)

    def text(self, rotation: int, size: Size) -> str:
        frame = {"class": "android.widget.FrameLayout", "bounds": Sides(0, 0, *size).text}
        head = f"<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"{rotation}\">"
        return f"{head}<node{_attributes(0, self._package, frame)}>{self._inside(-1)}</node></hierarchy>"

    def _inside(self, parent: int) -> str:
        return "".join(self._node(at, index) for index, at in enumerate(self._children.get(parent, [])))

    def _node(self, at: int, index: int) -> str:
        described = {**_described(self._nodes[at], self._package), "bounds": self._shown[at].text}
        opening, inside = f"<node{_attributes(index, self._package, described)}", self._inside(at)
        return f"{opening}>{inside}</node>" if inside else f"{opening} />"

    def _parent(self, at: int) -> int:
        """The nearest node around it that shows."""
        parent = int(self._nodes[at]["parent"])
        while parent >= 0 and parent not in self._shown:
            parent = int(self._nodes[parent]["parent"])
        return parent


def _described(node: dict[str, Any], package: str) -> dict[str, str]:
    role, name, value, states = node["role"], node["name"], node["value"], set(node["states"])
    kind = _COMPLETED if node["field"] and role == "combobox" else _CLASSES.get(role, _PLAIN)
    is_field = kind in (_COMPLETED, "android.widget.EditText")
    text = (value or node["hint"]) if is_field else ("" if node["labelled"] else name)
    described = {
        "class": kind,
        "text": text,
        "content-desc": name if node["labelled"] and not (is_field and name == node["hint"]) else "",
        "resource-id": f"{package}:id/{node['id']}" if node["id"] else "",
        "checkable": _flag(role in _CHECKABLE),
        "checked": _flag("checked" in states or "pressed" in states),
        "clickable": _flag(role in _CLICKABLE or "clickable" in states),
        "enabled": _flag("disabled" not in states),
        "focusable": _flag(role in _CLICKABLE),
        "focused": _flag("focused" in states),
        "scrollable": _flag(node["scrolls"]),
        "long-clickable": _flag(node["hold"]),
        "password": _flag("protected" in states),
        "selected": _flag("selected" in states or "current" in states),
    }
    return {**described, "hint": node["hint"]} if node["hint"] else described


_DEFAULTS = {
    "text": "",
    "resource-id": "",
    "class": _PLAIN,
    "content-desc": "",
    "checkable": "false",
    "checked": "false",
    "clickable": "false",
    "enabled": "true",
    "focusable": "false",
    "focused": "false",
    "scrollable": "false",
    "long-clickable": "false",
    "password": "false",
    "selected": "false",
}


def _attributes(index: int, package: str, given: dict[str, str]) -> str:
    """In Android's order, with the parts of a node that are always told."""
    whole = {"index": str(index), **_DEFAULTS, "package": package, **given}
    return "".join(f" {name}={_quoted(value)}" for name, value in whole.items())


def _quoted(value: str) -> str:
    clean = "".join(character if character >= " " or character in "\n\t" else "." for character in value)
    return quoteattr(clean, {"\n": "&#10;", "\t": "&#9;"})


def _flag(holds: bool) -> str:
    return "true" if holds else "false"


def _shown(node: dict[str, Any], size: Size) -> Sides | None:
    """The part of a node's box that can be seen."""
    box, clip = node["box"], node["clip"]
    if box is None or "offscreen" in node["states"]:
        return None
    bar = BAR * RATIO
    left, top = max(box[0], clip[0], 0), max(box[1], clip[1], 0) + bar
    right, bottom = min(box[2], clip[2], size.width), min(box[3] + bar, clip[3] + bar, size.height)
    return Sides(left, top, right, bottom) if left < right and top < bottom else None
