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
    shown = {at: sides for at, node in enumerate(nodes) if (sides := _shown(node, size)) is not None}
    children: dict[int, list[int]] = {}
    for at in shown:
        children.setdefault(_parent(nodes, at, shown), []).append(at)
    lines = ["<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>", f'<hierarchy rotation="{rotation}">']
    frame = {"class": "android.widget.FrameLayout", "bounds": Sides(0, 0, *size).text}
    lines.append(f"<node{_attributes(0, package, frame)}>")
    for index, at in enumerate(children.get(-1, [])):
        _write(lines, nodes, shown, children, at, index, package)
    return "".join([*lines, "</node>", "</hierarchy>"])


def _write(
    lines: list[str],
    nodes: list[dict[str, Any]],
    shown: dict[int, Sides],
    children: dict[int, list[int]],
    at: int,
    index: int,
    package: str,
) -> None:
    attributes = _attributes(index, package, {**_described(nodes[at], package), "bounds": shown[at].text})
    inner = children.get(at, [])
    lines.append(f"<node{attributes}{'' if inner else ' /'}>")
    for position, child in enumerate(inner):
        _write(lines, nodes, shown, children, child, position, package)
    if inner:
        lines.append("</node>")


def _described(node: dict[str, Any], package: str) -> dict[str, str]:
    role, name, value, states = node["role"], node["name"], node["value"], set(node["states"])
    is_field = _CLASSES.get(role) == "android.widget.EditText"
    text = (value or node["hint"]) if is_field else ("" if node["labelled"] else name)
    described = {
        "class": _CLASSES.get(role, _PLAIN),
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


def _parent(nodes: list[dict[str, Any]], at: int, shown: dict[int, Sides]) -> int:
    """The nearest node around it that shows."""
    parent = int(nodes[at]["parent"])
    while parent >= 0 and parent not in shown:
        parent = int(nodes[parent]["parent"])
    return parent
