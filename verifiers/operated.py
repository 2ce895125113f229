"""Whether controls were operated as an instruction asks, by the steps and by what the controls held when it counted.

What was filled in and picked counts at the moment of the next press that the instruction asks for: the page may be gone
after it. A press leaves no trace of its own; so where something else was pressed as well and nothing came of it that
can be seen, what it set off is not known, and the press that was asked for proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from pipeline.actions import Click, DoubleClick, Type
from pipeline.records import Record, Step
from pipeline.structs import Node
from pipeline.words import KeypointState
from verifiers.evidence import CHOOSERS, CONTROLS, is_field, nodes_at, unfocused
from verifiers.keypoints import Sought
from verifiers.normalise import text_of

_SETTLED = frozenset(["checkbox", "radio", "switch", "option", "menuitemcheckbox", "menuitemradio"])
"""Roles that show by a state of their own that they were pressed."""
_CLOSING = frozenset(["x", "×", "✕", "✖"])
"""How a control that closes something is drawn; its name says `Close`."""
_NUMBER = re.compile(r"-?\d+")
_ALIKE = {"button": frozenset(["button", "menuitem"]), "combobox": CHOOSERS}


class Told(NamedTuple):
    """The state of a deed, why, and the look that shows it."""

    state: KeypointState
    reason: str
    look: int


def deeds_told(deeds: Sequence[Sought], record: Record) -> list[Told]:
    """The state of every deed; what comes before a press must have been done by then."""
    end = len(record.observations) - 1
    before, until = len(record.steps), end
    told: list[Told] = []
    stray = _stray(deeds, record)
    untouched = _marked(nodes_at(record, 0))
    for deed in reversed(deeds):
        if deed.wanted == "pressed":
            step = _last_press(deed, record, before)
            told.append(_pressed(deed, step, stray, record))
            before, until = (step, step) if step is not None else (before, until)
        else:
            told.append(_held(deed, deeds, until, record, untouched))
    return told[::-1]


# --- presses -----------------------------------------------------------------------------------------------------


def _pressed(deed: Sought, step: int | None, stray: Step | None, record: Record) -> Told:
    end = len(record.observations) - 1
    if step is None:
        there = any(_is_named(node, deed) for look in range(end + 1) for node in nodes_at(record, look))
        return Told("unmet", "never pressed", end) if there else Told("unclear", "on no screen by that name", end)
    if stray is not None:
        name = stray.target.name if stray.target else ""
        return Told("unclear", f"pressed in step {step}, but so was “{name}”, and what that did is not seen", step)
    return Told("met", f"pressed in step {step}", step)


def _last_press(deed: Sought, record: Record, before: int) -> int | None:
    """The last step before another one that pressed what is asked for."""
    places = [
        place
        for place, step in enumerate(record.steps[:before])
        if _is_press(step) and any(_is_asked(node, deed, place, record) for node in _under(step, place, record))
    ]
    return places[-1] if places else None


def _is_press(step: Step) -> bool:
    return step.status == "ok" and isinstance(step.action, Click | DoubleClick)


def _under(step: Step, look: int, record: Record) -> list[Node]:
    """What a step pressed: what was hit, and of what the tree has at the point, the controls and texts."""
    target, point = step.target, step.device_point
    hit = [Node(role=target.role, name=target.name, value="", box=target.box, states=target.states)] if target else []
    return [*hit, *(node for node in nodes_at(record, look) if point and node.box and node.box.contains(point))]


def _is_asked(node: Node, deed: Sought, look: int, record: Record) -> bool:
    if deed.value:
        return _is_named(node, deed)
    kin = [other for other in nodes_at(record, look) if _is_of(other, deed.role)]
    place = deed.nth - 1 if deed.nth else 0
    if not _is_of(node, deed.role) or place >= len(kin) or (not deed.nth and len(kin) > 1):
        return False
    return kin[place].box == node.box


def _is_named(node: Node, deed: Sought) -> bool:
    wanted, name = text_of(deed.value), text_of(node.name)
    return bool(wanted) and (name == wanted or (wanted in _CLOSING and name in ("close", *_CLOSING)))


def _is_of(node: Node, role: str) -> bool:
    return is_field(node) if role == "textbox" else node.role in _ALIKE.get(role, frozenset([role]))


def _stray(deeds: Sequence[Sought], record: Record) -> Step | None:
    """A press of something else that can be pressed, by which nothing changed that could be seen."""
    presses = [deed for deed in deeds if deed.wanted in ("pressed", "picked", "focused")]
    for place, step in enumerate(record.steps):
        under = _under(step, place, record)
        asked = any(_is_asked(node, deed, place, record) for node in under for deed in presses)
        if _is_press(step) and not asked and _pressable(under) and _unseen(place, record):
            return step
    return None


def _pressable(under: Sequence[Node]) -> bool:
    controls = [node for node in under if node.role in CONTROLS or "clickable" in node.states]
    return bool(controls) and not any(is_field(node) or node.role in CHOOSERS for node in controls)


def _unseen(step: int, record: Record) -> bool:
    if step + 1 >= len(record.observations):
        return True
    before, after = record.observations[step], record.observations[step + 1]
    return before.location == after.location and unfocused(record, step) == unfocused(record, step + 1)


# --- what controls hold ------------------------------------------------------------------------------------------


def _held(deed: Sought, deeds: Sequence[Sought], look: int, record: Record, untouched: set[str]) -> Told:
    nodes = nodes_at(record, look)
    match deed.wanted:
        case "filled":
            return _filled(deed, deeds, nodes, look, record)
        case "picked":
            return _picked(deed, deeds, nodes, look, untouched)
        case "copied":
            return _copied(deed, nodes, look, record)
        case "opened":
            return _opened(nodes, look, record)
        case "focused":
            return _focused(deed, nodes, look, record)
        case "fitting":
            return _fitting(deed, nodes, look)
        case _:
            return Told("unclear", "the instruction asks for more than can be looked for", look)


def _filled(deed: Sought, deeds: Sequence[Sought], nodes: Sequence[Node], look: int, record: Record) -> Told:
    fields = [node for node in nodes if is_field(node)]
    asked = [other.value for other in deeds if other.wanted == "filled"]
    others = [field.value for field in fields if field.value and _by_agent(field.value, record)]
    if any(value not in asked for value in others):
        return Told("unmet", f"a field holds something else: “{others[0][:80]}”", look)
    wanted = fields[deed.nth - 1 : deed.nth] if deed.nth else fields
    if any(field.value == deed.value for field in wanted):
        return Told("met", f"a field holds it in look {look}", look)
    hidden = [field for field in wanted if "protected" in field.states]
    typed = _typed(record.steps[:look])
    if hidden and typed.count(deed.value) >= asked.count(deed.value):
        return Told("met", "typed, into a field that does not show what it holds", look)
    if not fields:
        return Told("unclear", "no field is on the screen where it counts", look)
    return Told("unmet", f"no field holds it in look {look}", look)


def _copied(deed: Sought, nodes: Sequence[Node], look: int, record: Record) -> Told:
    """Whether a field that the agent filled holds what is beside a label, or what another field had at first."""
    wanted = source_of(deed, nodes, record)
    filled = [node.value for node in nodes if is_field(node) and _by_agent(node.value, record)]
    if wanted is None:
        return Told("unclear", "what is to be filled in was not found", look)
    if wanted in filled:
        return Told("met", f"a field holds “{wanted[:80]}” in look {look}", look)
    return Told("unmet", f"no field holds “{wanted[:80]}” in look {look}", look)


def source_of(deed: Sought, nodes: Sequence[Node], record: Record) -> str | None:
    """What a demand to copy wants: the text beside a label on a screen, or what another field held at first."""
    return _beside(deed.value, nodes) if deed.value else _held_at_first(deed.nth, record)


def _beside(label: str, nodes: Sequence[Node]) -> str | None:
    """What stands right of a label, in its row."""
    for place, node in enumerate(nodes[:-1]):
        after = nodes[place + 1]
        row = node.box is not None and after.box is not None and node.box.top <= after.box.centre.y < node.box.bottom
        if row and text_of(node.name) == text_of(label) and after.name:
            return after.name
    return None


def _held_at_first(nth: int, record: Record) -> str | None:
    held = [node.value for node in nodes_at(record, 0) if is_field(node) and node.value]
    if nth:
        return held[nth - 1] if nth <= len(held) else None
    return held[0] if len(held) == 1 else None


def _focused(deed: Sought, nodes: Sequence[Node], look: int, record: Record) -> Told:
    """Whether a field has the focus, or was pressed last: pages may take the focus away again."""
    if not any(_is_of(node, deed.role) for node in nodes):
        return Told("unclear", f"no {deed.role} is on the screen", look)
    kin = [node for node in nodes if _is_of(node, deed.role)]
    if any("focused" in node.states for node in (kin[deed.nth - 1 : deed.nth] if deed.nth else kin)):
        return Told("met", f"has the focus in look {look}", look)
    presses = [place for place, step in enumerate(record.steps[:look]) if _is_press(step)]
    last = presses[-1] if presses else None
    if last is not None and any(
        _is_asked(node, deed, last, record) for node in _under(record.steps[last], last, record)
    ):
        return Told("met", f"pressed last, in step {last}", look)
    return Told("unmet", f"does not have the focus in look {look}", look)


def _fitting(deed: Sought, nodes: Sequence[Node], look: int) -> Told:
    """Whether the only number that stands on the screen by itself is as asked for."""
    texts = {node.name for node in nodes if node.role not in CONTROLS and _NUMBER.fullmatch(node.name.strip())}
    if len(texts) != 1:
        return Told("unclear", f"{len(texts)} numbers stand on the screen", look)
    number = int(texts.pop())
    sign, _, bound = deed.value.partition(" ")
    match sign:
        case ">":
            fits = number > int(bound)
        case "<":
            fits = number < int(bound)
        case _:
            fits = (number % 2 == 0) == (sign == "even")
    return Told("met" if fits else "unmet", f"the number on the screen is {number}", look)


def _typed(steps: Sequence[Step]) -> list[str]:
    return [step.action.content for step in steps if step.status == "ok" and isinstance(step.action, Type)]


def _by_agent(value: str, record: Record) -> bool:
    return any(text and text in value for text in _typed(record.steps))


def _picked(deed: Sought, deeds: Sequence[Sought], nodes: Sequence[Node], look: int, untouched: set[str]) -> Told:
    asked = [text_of(other.value) for other in deeds if other.wanted == "picked" and other.value]
    if deed.nth:
        kin = [node for node in nodes if _is_of(node, deed.role)]
        chosen = [place for place, node in enumerate(kin, 1) if "checked" in node.states]
        return _matched(deed.nth in chosen, chosen == [deed.nth], bool(kin), str(chosen), look)
    options = [node for node in nodes if node.role in _SETTLED]
    picked = [text_of(node.name) for node in options if {"checked", "selected"} & set(node.states)]
    values = [text_of(node.value) for node in nodes if node.role in (*CHOOSERS, "slider", "spinbutton") and node.value]
    wanted = text_of(deed.value)
    known = [*(text_of(node.name) for node in options), *values]
    if not wanted:
        return _matched(not picked, not picked, bool(options), ", ".join(picked), look)
    extra = _marked(nodes) - {*asked, *untouched}
    return _matched(wanted in (*picked, *values), not extra, wanted in known or bool(values), ", ".join(picked), look)


def _marked(nodes: Sequence[Node]) -> set[str]:
    """Names of what is ticked."""
    return {text_of(node.name) for node in nodes if node.role in _SETTLED and "checked" in node.states}


def _matched(held: bool, alone: bool, known: bool, shown: str, look: int) -> Told:
    if held and alone:
        return Told("met", f"picked in look {look}", look)
    if not known:
        return Told("unclear", "nothing to pick by that name is on the screen where it counts", look)
    return Told("unmet", f"picked in look {look}: {shown or 'nothing'}", look)


def _opened(nodes: Sequence[Node], look: int, record: Record) -> Told:
    folded = {node.name for at in range(look) for node in nodes_at(record, at) if "collapsed" in node.states}
    if not folded and not any("collapsed" in node.states for node in nodes):
        return Told("unclear", "nothing on screen says that it can be opened", look)
    if any("expanded" in node.states and node.name in folded for node in nodes):
        return Told("met", f"open in look {look}", look)
    return Told("unmet", "still folded away", look)
