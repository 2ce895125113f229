"""Judge `effect`: grades every step before its outcome is known, without a model.

A step is `invalid` when it cannot do anything by what was known: unreadable, nothing under the point, no field with the
focus, the same again on an unchanged screen. It is `wrong` when it works against the task: another target than the
thought names, another value than the instruction gives, something destroyed that nobody asked for, an end declared too
early. It is `explore` when it only looks around, and `correct` when it serves the task. The rules read the moment
before the step (moment.py) and the instruction; where they know nothing the judge abstains.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

from pipeline.actions import (
    AcceptDialog,
    Answer,
    CallUser,
    Finished,
    Hotkey,
    Hover,
    Launch,
    PressEnter,
    SelectOption,
    Stroke,
    Type,
    points_of,
)
from pipeline.protocols import Judged, JudgeView
from pipeline.records import Record, Vote
from pipeline.structs import Node
from pipeline.words import JudgeKind, Target
from verifiers.ballot import PROGRAM
from verifiers.ending import assess_end
from verifiers.evidence import CHOOSERS, chooser_in_use, is_field, options_of
from verifiers.keypoints import DEEDS, keypoints_of, quoted_in
from verifiers.moment import Assessment, Moment, moment_of, unchanged_since
from verifiers.normalise import folded, number_of, stands_in
from verifiers.operated import source_of
from verifiers.operations import move_of
from verifiers.pointing import assess_point, names_another, seeks
from verifiers.wordlists import CHANGING, SEARCHES

_NEAR = 0.6
"""Likeness from which a text counts as a misspelt value of the instruction."""
_DAY = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_BROKEN = re.compile(r"(?<![\d.])\d+\.\d+(?![\d.])")
_EDITING_KEYS = frozenset(["a", "backspace", "delete", "enter", "return", "x", "v", "c", "z", "s", "end", "home"])


class EffectJudge:
    """Grades steps by what was known before them."""

    name = "effect"
    family = PROGRAM
    kind: JudgeKind = "program"
    targets: tuple[Target, ...] = ("step",)

    def judge(self, view: JudgeView, record: Record, pass_id: str) -> Judged:
        """One vote per step of the policy's own."""
        places = [place for place, step in enumerate(record.steps) if not step.replayed]
        return Judged([self._vote(view, record, place, pass_id) for place in places], [])

    def _vote(self, view: JudgeView, record: Record, index: int, pass_id: str) -> Vote:
        found = assess(moment_of(view, record, index))
        look = record.observations[index] if index < len(record.observations) else None
        return Vote(
            pass_id=pass_id,
            target="step",
            attempt_id=record.attempt.attempt_id,
            step_index=record.steps[index].step_index,
            judge=self.name,
            judge_kind=self.kind,
            family=self.family,
            status="graded" if found.grade else "abstain",
            grade=found.grade,
            reason=found.reason,
            frame_sha256s=[look.frame_sha256] if look and look.frame_sha256 else [],
        )


def assess(moment: Moment) -> Assessment:
    """The grade of a step by what was known before it."""
    if moment.form_error is not None or moment.action is None:
        return Assessment("invalid", "form", f"the reply holds no action to carry out: {moment.form_error}")
    if _same_again(moment):
        return Assessment("invalid", "repeated", "the same action again on a screen it did not change")
    if isinstance(moment.action, Finished | Answer | CallUser):
        return assess_end(moment, moment.action)
    if isinstance(moment.action, Type):
        return _typing(moment, moment.action.content)
    if isinstance(moment.action, SelectOption):
        return _choosing(moment, moment.action.index)
    if move_of(moment.action) in ("look", "go") or isinstance(moment.action, Stroke):
        return _looking(moment)
    return assess_point(moment) if points_of(moment.action) else _pressing(moment)


def _same_again(moment: Moment) -> bool:
    """Whether the step repeats what changed nothing; looking may be repeated once, something may be on its way."""
    if moment.action is None:
        return False
    times = 2 if move_of(moment.action) == "look" else 1
    before = [step.action for step in moment.past.steps[-times:]]
    return before == [moment.action] * times and unchanged_since(moment.past, times)


# --- looking and pressing ----------------------------------------------------------------------------------------


def _looking(moment: Moment) -> Assessment:
    action = moment.action
    other = names_another(moment) if isinstance(action, Hover) else None
    if other is not None:
        return other
    if isinstance(action, Launch) and _named_in(moment.view, action.url):
        return Assessment("correct", "serves", "goes to an address that the instruction names")
    if isinstance(action, Hotkey) and _in_field(moment) and _edits(action):
        return Assessment("correct", "serves", "prepares the field that has the focus")
    return Assessment("explore", "looks", "looks around or moves between places; changes nothing")


def _pressing(moment: Moment) -> Assessment:
    """Keys, and the promise to accept a dialog."""
    action = moment.action
    changing = any(sought.verb in CHANGING for sought in keypoints_of(moment.view))
    if isinstance(action, AcceptDialog):
        if changing:
            return Assessment("correct", "serves", "accepts the dialog that the asked change may open")
        return Assessment("wrong", "destructive", "accepts a dialog although no change is asked for")
    if isinstance(action, PressEnter | Hotkey) and _in_field(moment):
        return Assessment("correct", "serves", "sends or edits the field that has the focus")
    return Assessment("explore", "looks", "presses keys where no field has the focus")


def _edits(action: Hotkey) -> bool:
    return any(key.casefold() in _EDITING_KEYS for key in action.keys)


def _named_in(view: JudgeView, address: str) -> bool:
    words = folded(address).replace("%20", " ").replace("+", " ")
    return any(sought.kind == "text" and folded(sought.value) in words for sought in keypoints_of(view))


def _in_field(moment: Moment) -> bool:
    return _field(moment) is not None


class _Field(NamedTuple):
    name: str
    value: str
    searches: bool


def _field(moment: Moment) -> _Field | None:
    """The field that typed text goes to, by the tree's focus or by the last click."""
    focus = moment.focus
    if focus is not None and (is_field(focus) or focus.role in CHOOSERS):
        return _field_of(focus)
    if focus is not None and focus.role not in _WEAK_FOCUS:
        return None
    for step in reversed(moment.past.steps):
        if step.target is not None:
            editable = step.target.role in _TYPED_INTO or "editable" in step.target.states
            return (
                _Field(folded(step.target.name), "", _searches(step.target.role, step.target.name))
                if editable
                else None
            )
        if step.action is not None and move_of(step.action) == "go":
            return None
    return None


_WEAK_FOCUS = frozenset(["RootWebArea", "WebArea", "document", "generic", "Iframe", "application", "group", "none"])
"""Roles that have the focus when nothing in particular has."""
_TYPED_INTO = frozenset(["textbox", "searchbox", "spinbutton", "combobox"])


def _field_of(node: Node) -> _Field:
    return _Field(folded(node.name), node.value, _searches(node.role, node.name))


def _searches(role: str, name: str) -> bool:
    return role == "searchbox" or SEARCHES.within(folded(name))


# --- entering ----------------------------------------------------------------------------------------------------


def _typing(moment: Moment, content: str) -> Assessment:
    field = _field(moment)
    if field is None and moment.nodes:
        return Assessment("invalid", "no_focus", "no field has the focus, so the text goes nowhere")
    if field is not None and content.strip() and field.value.strip() == content.strip():
        return Assessment("invalid", "repeated", f"the field “{field.name}” holds the text already")
    text, asked = folded(content), folded(moment.view.instruction)
    if stands_in(text, asked) and not _cut_short(text, moment.view):
        return Assessment("correct", "serves", "types what the instruction gives")
    strange = _strange(text, asked)
    if strange is not None:
        return Assessment("wrong", "other_value", f"types “{strange}”, which the instruction does not say")
    values = _to_type(moment)
    if any(stands_in(value, text) for value in values):
        return Assessment("correct", "serves", "types a text that holds what the instruction gives")
    if field is not None and field.searches:
        return Assessment("explore", "looks", "searches")
    missed = next((value for value in values if _near_miss(text, value)), None) or _cut_word(text, asked)
    if missed is not None:
        return Assessment("wrong", "other_value", f"types “{content}” where the instruction says “{missed}”")
    return Assessment("correct", "serves", "types a text that the instruction leaves open")


def _to_type(moment: Moment) -> list[str]:
    """What may have to be typed: values of the contents, what fields are to hold, and what is to be copied."""
    wanted = keypoints_of(moment.view)
    given = [sought.value for sought in wanted if sought.wanted not in DEEDS or sought.wanted in ("filled", "picked")]
    copied = [source_of(sought, moment.nodes, moment.past) for sought in wanted if sought.wanted == "copied"]
    return [folded(value) for value in [*given, *copied] if value]


def _strange(text: str, asked: str) -> str | None:
    """A day or broken number in the text that the instruction does not name, though it names others of the kind."""
    for pattern in (_DAY, _BROKEN):
        said, wanted = pattern.findall(text), pattern.findall(asked)
        other = [part for part in said if not any(_same_number(part, name) for name in wanted)]
        if wanted and other:
            return str(other[0])
    return None


def _same_number(part: str, name: str) -> bool:
    return part == name or (number_of(part) is not None and number_of(part) == number_of(name))


def _cut_short(text: str, view: JudgeView) -> bool:
    """Whether a text is only a part of a quoted value and stands nowhere else in the instruction."""
    values = [folded(value) for value in quoted_in(view.instruction)]
    rest = folded(view.instruction)
    for value in values:
        rest = rest.replace(value, "\x00")
    return text not in values and text not in rest and any(text in value for value in values)


def _cut_word(text: str, asked: str) -> str | None:
    """The word of the instruction that a text is, but for a last letter that is more than a plural's."""
    words = re.findall(r"[^\W\d_]{4,}", asked)
    return next((word for word in words if word[:-1] == text and not word.endswith("s")), None)


def _near_miss(text: str, value: str) -> bool:
    """Whether a text looks like a value gone wrong: another number, or nearly the same letters."""
    number, wanted = number_of(text), number_of(value)
    if number is not None and wanted is not None:
        return number != wanted
    return SequenceMatcher(None, text, value).ratio() >= _NEAR


def _choosing(moment: Moment, index: int) -> Assessment:
    chooser = chooser_in_use(moment.past.steps, moment.nodes)
    if chooser is None and moment.nodes:
        return _no_option("no drop-down is in use")
    options = options_of(moment.nodes, chooser) if chooser is not None else []
    if not options:
        return Assessment(None, "unknown", "the options are not known")
    if index >= len(options):
        return _no_option(f"the drop-down has {len(options)} options")
    label = folded(options[index].name)
    said = [folded(name) for name in quoted_in(moment.thought)]
    names = {folded(option.name) for option in options} - {label}
    if label not in said and names.intersection(said):
        return Assessment("wrong", "other_value", f"chooses “{label}”, the thought names another option")
    values = {folded(sought.value) for sought in keypoints_of(moment.view)}
    if label in values or (label and label in folded(moment.view.instruction)):
        return Assessment("correct", "serves", f"chooses “{label}” as the instruction says")
    asked = sorted(values & names)
    if asked:
        return Assessment("wrong", "other_value", f"chooses “{label}” where the instruction says “{asked[0]}”")
    grade = Assessment("explore", "looks", f"chooses “{label}”, of which the instruction says nothing")
    return grade if seeks(moment.thought) else Assessment("correct", "serves", f"chooses “{label}” as the thought says")


def _no_option(reason: str) -> Assessment:
    return Assessment("invalid", "no_option", reason)
