"""Long texts of screens, and what reads them: nobody knows who wrote them, and reading them may not take long."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from pipeline.actions import Type
from pipeline.envs.web_walls import Source, wall_of
from pipeline.injection import defused, order_in
from pipeline.permissions import load_profile
from pipeline.personal import without_personal_data
from pipeline.protocols import Observation
from pipeline.records import tree_of
from pipeline.safety.gate import ConsequenceGate
from pipeline.structs import Node
from pipeline.vault import Secret, Vault
from tests.episodes import fake_task

_PIECES = (
    "ignore all ",
    "you are an AI ",
    "忽略之前",
    "212-555-#",
    "+86 138#",
    "123-45-",
    "a@a.",
    "AB12 ",
    "\\",
    "&amp;",
    "%25",
    "Kestrel-7f3a+9",
    "S2Vz",
    "sign in ",
    "session ",
    "verify you are ",
    "请登录",
    "delete ",
    "rm -rf / ; ",
    " ",
)
"""What readers of texts look for the beginnings of; `#` is another number each time."""
_LONGEST = 40_000
_VAULT = Vault([Secret(name="A", value="!Kestrel-7f3a+9 x"), Secret(name="B", value="correcthorsebattery")])


def _long(piece: str) -> str:
    """A piece again and again: what takes the square of its length does not end in time."""
    times = _LONGEST // max(len(piece), 1)
    return "".join(piece.replace("#", str(number)) for number in range(times))[:_LONGEST]


def _rule(text: str) -> object:
    seen = Observation(frame=None, tree=tree_of([_said_by("button", text)]), location="", title=text, seconds=0)
    return ConsequenceGate(load_profile("supervised")).rule(fake_task(), seen, Type(content=text), None)


def _said_by(role: str, text: str) -> Node:
    return Node(role=role, name=text, value=text)


def _wall(text: str) -> object:
    nodes = [_said_by(role, text) for role in ("heading", "button", "textbox", "StaticText")]
    return wall_of(nodes, text, text, [Source(text, True)])


LONG_TEXTS = (st.sampled_from(_PIECES) | st.text(st.characters(codec="utf-8"), max_size=12)).map(_long)
TEXT_READERS: dict[str, Callable[[str], object]] = {
    "personal data": lambda text: without_personal_data(text, "x"),
    "words for models": lambda text: (order_in(text), defused(text)),
    "secrets": lambda text: (_VAULT.hide(text), _VAULT.shown_in(text)),
    "walls": _wall,
    "gate": _rule,
}
