"""Rules for steps that point at something: what is there, whether the thought names it, whether it is asked for.

Knows the moment before the step and the instruction; nothing of what the click did.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.structs import Box, Node
from verifiers.evidence import CONTROLS, is_field
from verifiers.keypoints import keypoints_of, quoted_in
from verifiers.moment import Assessment, Moment
from verifiers.normalise import folded, stands_in, text_of
from verifiers.wordlists import DESTRUCTIVE, FIELD_WORDS, LEAVING, PRESSED_WORDS, SEEKING, VERBS

_INERT = frozenset(
    {
        "RootWebArea",
        "StaticText",
        "WebArea",
        "banner",
        "blockquote",
        "caption",
        "code",
        "contentinfo",
        "document",
        "emphasis",
        "heading",
        "legend",
        "main",
        "paragraph",
        "separator",
        "strong",
        "time",
    }
)
"""Roles that do nothing when clicked, unless a control lies around them."""
_PRESSED = frozenset(["button", "link", "checkbox", "radio", "switch", "tab"])


def assess_point(moment: Moment) -> Assessment:
    """The grade of a click or another press at a point."""
    hit = moment.hit
    return (
        _nothing(moment, hit)
        or names_another(moment)
        or _misses_field(moment, hit)
        or _unreachable(moment, hit)
        or _inert(moment, hit)
        or _unasked(moment)
        or _purpose(moment)
    )


def names_another(moment: Moment) -> Assessment | None:
    """Wrong when the thought names a thing and the point is on another."""
    names = _names(moment)
    said = [text for quoted in quoted_in(moment.thought) if (text := text_of(quoted))]
    here = ", ".join(f"“{name}”" for name in names) or "something unnamed"
    under = [node.name for node in moment.nodes if _under(moment, node)]
    if any(text_of(name) in said for name in [*names, *under]) or any(_said_plainly(n, moment.thought) for n in names):
        return _other_row(moment)
    for other in moment.nodes:
        if text_of(other.name) in said and _pointable(other) and not _under(moment, other):
            return Assessment("wrong", "other_target", f"the thought names “{other.name}”, the point is on {here}")
    if said and names and moment.nodes and not any(_alike(text_of(name), text) for name in names for text in said):
        return Assessment("wrong", "other_target", f"the thought names “{said[0]}”, the point is on {here}")
    return None


def _misses_field(moment: Moment, hit: Node | None) -> Assessment | None:
    """Wrong when the thought speaks of a field, without a name, and the point is on something that is pressed."""
    thought = folded(moment.thought)
    if not FIELD_WORDS.within(thought) or PRESSED_WORDS.within(thought) or quoted_in(moment.thought):
        return None
    if hit is None or is_field(hit) or hit.role not in _PRESSED:
        return None
    return Assessment("wrong", "other_target", f"the thought speaks of a field, the point is on a {hit.role}")


def seeks(thought: str) -> bool:
    """Whether a thought says that the step only looks for something."""
    return SEEKING.within(folded(thought))


def _nothing(moment: Moment, hit: Node | None) -> Assessment | None:
    if moment.target is not None or hit is not None or not moment.nodes:
        return None
    return Assessment("invalid", "nothing_there", "nothing is known to be under the point")


def _unreachable(moment: Moment, hit: Node | None) -> Assessment | None:
    target = moment.target
    if target is not None and target.covered_by and not _names_cover(moment.thought, target.covered_by):
        return Assessment("invalid", "covered", f"“{target.name}” is covered by {target.covered_by}")
    if "disabled" in (*(target.states if target else ()), *(hit.states if hit else ())):
        return Assessment("invalid", "disabled", "what is under the point is disabled")
    return None


def _inert(moment: Moment, hit: Node | None) -> Assessment | None:
    roles = {node.role for node in (moment.target, hit) if node is not None}
    control = hit is not None and (hit.role in CONTROLS or is_field(hit))
    target_control = moment.target is not None and (
        moment.target.role in CONTROLS or "editable" in moment.target.states
    )
    handled = any("clickable" in node.states for node in moment.nodes if _under(moment, node))
    if control or target_control or handled or not roles <= _INERT:
        return None
    return Assessment(
        "invalid", "not_interactive", f"a {', '.join(sorted(roles)) or 'place'} does nothing when clicked"
    )


def _unasked(moment: Moment) -> Assessment | None:
    """Wrong when the control destroys or leaves and the instruction asks for nothing like it."""
    asked = folded(moment.view.instruction)
    for name in map(folded, _names(moment)):
        if DESTRUCTIVE.within(name) and not DESTRUCTIVE.within(asked) and not VERBS["delete"].within(asked):
            return Assessment("wrong", "destructive", f"“{name}” destroys something that nobody asked to destroy")
        if LEAVING.within(name) and not LEAVING.within(asked):
            return Assessment("wrong", "destructive", f"“{name}” gives up the session or what was entered")
    return None


def _purpose(moment: Moment) -> Assessment:
    if seeks(moment.thought):
        return Assessment("explore", "looks", "the thought only looks for something here")
    names = ", ".join(f"“{name}”" for name in _names(moment)) or "an unnamed control"
    if moment.thought or _concerns(moment):
        return Assessment("correct", "serves", f"presses {names} as the thought says")
    return Assessment(None, "unknown", f"nothing says whether {names} serves the task")


def _concerns(moment: Moment) -> bool:
    """Whether the control carries a word of the instruction, or takes a value of it."""
    asked = folded(moment.view.instruction)
    hit = moment.hit
    return (hit is not None and is_field(hit)) or any(stands_in(text_of(name), asked) for name in _names(moment))


def _names(moment: Moment) -> list[str]:
    """The names of what is under the point: as hit, and as the tree has it."""
    found = [moment.target.name if moment.target else "", moment.hit.name if moment.hit else ""]
    return list(dict.fromkeys(name.strip() for name in found if text_of(name)))


def _names_cover(thought: str, cover: str) -> bool:
    """Whether what lies on top is what the thought means."""
    return any(text and stands_in(text, folded(cover)) for text in map(text_of, quoted_in(thought)))


def _said_plainly(name: str, thought: str) -> bool:
    """Whether a thought names a thing without quotation marks; `add` in a sentence is not the button `Add`."""
    return name in thought and stands_in(text_of(name), folded(thought))


def _other_row(moment: Moment) -> Assessment | None:
    """Of several controls with the same name, the one beside a value of the instruction is meant."""
    hit = moment.hit
    if hit is None or hit.role not in CONTROLS:
        return None
    twins = [node for node in moment.nodes if (node.role, node.name) == (hit.role, hit.name) and node.box]
    values = [folded(sought.value) for sought in keypoints_of(moment.view) if sought.kind == "text"]
    beside = [twin for twin in twins if twin.box and _row_has(moment.nodes, twin.box, values)]
    if len(twins) < 2 or not beside or hit in beside:
        return None
    return Assessment("wrong", "other_target", f"another “{hit.name}” stands beside what the instruction names")


def _row_has(nodes: Sequence[Node], box: Box, values: Sequence[str]) -> bool:
    return any(
        node.box is not None and node.box.top <= box.centre.y < node.box.bottom and folded(node.name) in values
        for node in nodes
    )


def _pointable(node: Node) -> bool:
    return node.box is not None and (node.role in CONTROLS or is_field(node))


def _under(moment: Moment, node: Node) -> bool:
    return moment.point is not None and node.box is not None and node.box.contains(moment.point)


def _alike(name: str, quoted: str) -> bool:
    return bool(name and quoted) and (name in quoted or quoted in name)
