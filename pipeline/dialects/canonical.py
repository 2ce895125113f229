"""Our own grammar: an action as one JSON object, with its fields as they are stored.

In the canonical space the numbers are canonical points, kept as they are. The variants say the same in spaces that
general models may be better at: pixels of the picture, fractions, and 0..1000 with y before x.
"""

from __future__ import annotations

from typing import get_args

from pipeline.actions import Action
from pipeline.dialects.forms import JsonObject
from pipeline.dialects.grammar import Grammar, Verb
from pipeline.dialects.slots import REQUIRED, At, Kind, OwnKeys, Slot, Text, Way, Whole
from pipeline.dialects.spaces import CANONICAL, PIXELS, RELATIVE_1000_YX, UNIT, Space

_KINDS: dict[str, Kind | At] = {
    "point": At(),
    "start": At(),
    "end": At(),
    "direction": Way(),
    "keys": OwnKeys(),
    "index": Whole(),
    "content": Text(),
    "url": Text(),
    "app": Text(),
}


def _verbs() -> tuple[Verb, ...]:
    """One verb for each action, with its fields for arguments."""
    verbs = []
    for action in get_args(get_args(Action)[0]):
        slots = [
            Slot(name, (name,), _KINDS[name], REQUIRED if field.is_required() else field.default)
            for name, field in action.model_fields.items()
            if name != "type"
        ]
        verbs.append(Verb(action.__name__, action, tuple(slots)))
    return tuple(verbs)


def _grammar(name: str, space: Space) -> Grammar:
    form = JsonObject(listed_points=space is not CANONICAL)
    return Grammar(name, ("web", "mobile", "desktop"), space, form, _verbs())


CANONICAL_DIALECT = _grammar("canonical", CANONICAL)
IN_PIXELS = _grammar("canonical-pixels", PIXELS)
IN_FRACTIONS = _grammar("canonical-unit", UNIT)
Y_FIRST = _grammar("canonical-yx", RELATIVE_1000_YX)
