"""What makes two looks at an application the same screen: the pattern of the address and the structure of the tree.

Rows of data do not count: a list page is the same screen whatever it lists. Names read from a screen are only compared
and hashed here; nothing they say is followed. Pure functions; this module knows nothing of actions or environments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from urllib.parse import parse_qsl, unquote

from pipeline.addresses import parts_of
from pipeline.protocols import Observation
from pipeline.records import digest
from pipeline.structs import Node

CONTROLS = frozenset(
    {"button", "checkbox", "combobox", "listbox", "menuitem", "radio", "searchbox", "slider", "spinbutton", "switch"}
    | {"tab", "textbox"}
)
"""Roles whose presence makes a screen what it is. Links do not count: they are as often data as navigation."""

_MOST_HEADINGS = 3
_KEPT_PARAMETERS = ("action", "mode", "page_name", "section", "tab", "view")
_SLOT = re.compile(r"\{\w+\}")
_DATA_SEGMENT = re.compile(r"(?=.*\d)[\w.~%+-]+|[0-9a-f-]{16,}", re.IGNORECASE)
_QUOTED = re.compile(r"[“\"'‘「《].*?[”\"'’」》]")
_LABEL = re.compile(r"^(.{2,30}?[:：])\s*\S")


def pattern_of(location: str) -> str:
    """The address without host and data: segments with digits become `{}`, most of the query is dropped."""
    parts = parts_of(location)
    path = "/".join("{}" if _DATA_SEGMENT.fullmatch(part) else part for part in unquote(parts.path).split("/"))
    kept = [f"{key}={value}" for key, value in parse_qsl(parts.query) if key in _KEPT_PARAMETERS and value.isalpha()]
    # A fragment is a part of the page, unless the application spells its own addresses in it.
    fragment = f"#{masked(unquote(parts.fragment))}" if parts.fragment.startswith(("/", "!")) else ""
    return path + (f"?{'&'.join(sorted(kept))}" if kept else "") + fragment


def signature_of(seen: Observation) -> str:
    """The identity of the screen: address pattern, controls and headings by role and name, without data."""
    nodes = seen.tree.nodes if seen.tree is not None else []
    return structure_signature(seen.location, nodes)


def structure_signature(location: str, nodes: Sequence[Node]) -> str:
    """The same for a stored address and tree."""
    pattern = pattern_of(location)
    return digest("screen", pattern, *_headings(nodes, pattern), *_controls(nodes))


def family_of(location: str, nodes: Sequence[Node]) -> str:
    """What screens of records have in common whose addresses differ in a name: all but the last part, and controls."""
    parent = pattern_of(location).partition("?")[0].rstrip("/").rpartition("/")[0]
    return digest("family", parent, *_controls(nodes))


def on_screen(location: str, pattern: str) -> bool:
    """Whether an address is the one that a catalog's pattern speaks of; words that are no address say nothing.

    `#part` is compared with the fragment, `/path/{id}` with the path or its end, `?key=value` with the query.
    """
    parts = parts_of(location)
    if pattern.startswith("#"):
        return fnmatchcase(unquote(parts.fragment), _SLOT.sub("*", pattern[1:]) + "*")
    if not pattern.startswith("/"):
        return True
    wanted = parts_of(_SLOT.sub("*", pattern))
    asked = dict(parse_qsl(parts.query))
    given = all(fnmatchcase(asked.get(key, ""), value) for key, value in parse_qsl(wanted.query))
    fragment = not wanted.fragment or fnmatchcase(unquote(parts.fragment), wanted.fragment)
    return given and fragment and _same_path(parts.path, wanted.path)


def masked(name: str) -> str:
    """A control's name without the data in it: quoted texts, digits, and what follows a label's colon."""
    plain = " ".join(name.split())
    labelled = _LABEL.match(plain)
    text = labelled[1] if labelled else plain
    return re.sub(r"\d+", "#", _QUOTED.sub("“”", text))


def _same_path(path: str, wanted: str) -> bool:
    have = unquote(path).rstrip("/").split("/")
    want = unquote(wanted).rstrip("/").split("/")
    if len(want) == 1:
        return len(have) == 1
    # An application may put a prefix of its own before its addresses, the name of a ledger for example.
    tail = have[len(have) - len(want) + 1 :] if len(have) >= len(want) else []
    return len(have) >= len(want) and all(map(fnmatchcase, tail, want[1:]))


def _controls(nodes: Sequence[Node]) -> list[str]:
    """What the screen offers: controls by role and name without data, and what is unfolded."""
    controls = sorted({f"{node.role} {masked(node.name)}" for node in nodes if node.role in CONTROLS})
    return [*controls, *sorted({masked(node.name) for node in nodes if "expanded" in node.states})]


def _headings(nodes: Sequence[Node], pattern: str) -> list[str]:
    """Headings that name the screen: not those of one record, nor those of a list's entries."""
    if "{}" in pattern:
        return []
    names = [masked(node.name) for node in nodes if node.role == "heading" and node.name]
    return names if len(names) <= _MOST_HEADINGS else names[:1]
