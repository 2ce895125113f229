"""The forms of a screen, and how an explorer fills one: typed values by the words of a field's name.

A screen's tree is flat, so a form is the fields between two buttons, in reading order, and every button right after
them. Field names choose a pool of values and nothing else. Pure functions, the same for the same seed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from datetime import date
from functools import cache
from importlib import resources
from typing import NamedTuple

import yaml

from catalogs.meaning import consequence_of, senses
from catalogs.naming import slug
from pipeline.actions import Model
from pipeline.policies.grounding import OFFSCREEN, options_of
from pipeline.structs import Node
from pipeline.tasks import ProcedureStep, Slot
from taskspecs.values import load_values

_TEXTS = frozenset({"textbox", "searchbox", "spinbutton"})
_FIELDS = frozenset({*_TEXTS, "combobox"})
_PRESSED = frozenset({"button"})
_BETWEEN = frozenset({"link", "heading", "table", "row"})
_MOST_TEXTS = 5
_MOST_CHOICES = 2
_MOST_OPTIONS = 6
_EXAMPLES = 3


class Field(NamedTuple):
    """A field of a form: its place in the tree, and the labels it offers when it is a drop-down."""

    position: int
    node: Node
    options: list[str]


class Form(NamedTuple):
    """Fields, and the button that sends them."""

    fields: list[Field]
    submit: int
    name: str


class Filled(NamedTuple):
    """How a form is filled and sent: the slots with their values, and the steps that use them."""

    slots: list[Slot]
    steps: list[ProcedureStep]


class _Rule(Model):
    pool: str
    words: list[str]


class _Rules(Model):
    fields: list[_Rule]
    otherwise: str
    number: str


def forms_in(nodes: Sequence[Node]) -> list[Form]:
    """Every pair of fields and a button that sends them, in reading order.

    A further button belongs to the same fields only while nothing but plain text stands between it and the last one.
    A button that deletes needs no fields, wherever it stands.
    """
    forms: list[Form] = []
    fields: list[Field] = []
    sent = False
    for index, node in enumerate(nodes):
        if node.role in _FIELDS and _usable(node):
            fields, sent = ([], False) if sent else (fields, sent)
            fields.append(Field(index, node, _options(nodes, index)))
        elif node.role in _PRESSED and node.name and _usable(node) and fields and _sends(node.name):
            forms.append(Form(list(fields), index, node.name))
            sent = True
        elif sent and node.role in _BETWEEN:
            fields, sent = [], False
    return forms


def filled(form: Form, nodes: Sequence[Node], language: str, today: date, seed: str) -> Filled | None:
    """Values for the empty texts (or one that is not) and for some choices; nothing when no field can be filled."""
    chance = random.Random(f"{seed}/{form.name}")
    slots: list[Slot] = []
    steps: list[ProcedureStep] = []
    for field in _chosen(form):
        name = _slot_name(field.node, [slot.name for slot in slots])
        slots.append(Slot(name=name, values=_values(field, language, today, chance)))
        steps += _typing(field, nodes, name)
    if not slots:
        return None
    submit = ProcedureStep(action="Click", **named(nodes, form.submit))
    return Filled(slots, [*steps, submit])


def named(nodes: Sequence[Node], index: int) -> dict[str, object]:
    """How a procedure step names a node: role, name, and its number among equals."""
    node = nodes[index]
    same = [at for at, other in enumerate(nodes) if _like(other, node)]
    return {"role": node.role, "name": node.name or None, "nth": same.index(index)}


def pool_for(name: str, role: str) -> str:
    """The pool of values that suits a field."""
    rules = _rules()
    if role == "spinbutton":
        return rules.number
    plain = name.casefold()
    return next((rule.pool for rule in rules.fields if _mentions(plain, rule.words)), rules.otherwise)


def _chosen(form: Form) -> list[Field]:
    """Empty texts, else the first one that holds something; and the first drop-downs that offer a choice."""
    texts = [field for field in form.fields if not field.options]
    empty = [field for field in texts if not field.node.value]
    choices = [field for field in form.fields if len(field.options) > 1 and field.node.name][:_MOST_CHOICES]
    return sorted([*(empty[:_MOST_TEXTS] or texts[:1]), *choices], key=lambda field: field.position)


def _options(nodes: Sequence[Node], index: int) -> list[str]:
    return [option.name for option in options_of(nodes, index)] if nodes[index].role == "combobox" else []


def _typing(field: Field, nodes: Sequence[Node], slot: str) -> list[ProcedureStep]:
    place = named(nodes, field.position)
    content = f"{{{slot}}}"
    if field.options:
        return [ProcedureStep(action="SelectOption", content=content, **place)]
    if not field.node.value:
        return [ProcedureStep(action="Type", content=content, **place)]
    return [
        ProcedureStep(action="Click", **place),
        ProcedureStep(action="Hotkey", content="Control+a"),
        ProcedureStep(action="Type", content=content),
    ]


def _values(field: Field, language: str, today: date, chance: random.Random) -> list[str]:
    """Some values, none of them the present one."""
    if field.options:
        others = [option for option in field.options if option.strip() and option != field.node.value]
        return chance.sample(others, min(len(others), _MOST_OPTIONS)) or field.options[:1]
    pool = load_values().pool(pool_for(field.node.name, field.node.role), language, today)
    others = [value for value in pool if value != field.node.value]
    return chance.sample(others, min(len(others), _EXAMPLES))


def _slot_name(node: Node, taken: Sequence[str]) -> str:
    name = slug(node.name, "field").replace("-", "_")
    return name if name not in taken else f"{name}_{len(taken) + 1}"


def _sends(name: str) -> bool:
    return consequence_of(name) != "delete" and senses(name) != {"cancel"}


def _usable(node: Node) -> bool:
    shown = node.box is not None and node.box.right > node.box.left and node.box.bottom > node.box.top
    return shown and OFFSCREEN not in node.states and not {"disabled", "readonly", "protected"} & set(node.states)


def _like(other: Node, node: Node) -> bool:
    """Whether a step with this node's role and name may mean the other one as well."""
    box = other.box
    reachable = box is not None and box.right > box.left and box.bottom > box.top
    same = not node.name or " ".join(other.name.split()) == " ".join(node.name.split())
    return reachable and other.role == node.role and same


def _mentions(name: str, words: Sequence[str]) -> bool:
    return any(re.search(rf"\b{re.escape(word)}\b", name) if word.isascii() else word in name for word in words)


@cache
def _rules() -> _Rules:
    text = (resources.files("catalogs") / "fields.yaml").read_text(encoding="utf-8")
    return _Rules.model_validate(yaml.safe_load(text))
