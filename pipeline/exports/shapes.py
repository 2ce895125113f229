"""From a judged trajectory to the canonical rows of each shape, and the count of everything that did not become a row.

A trajectory that is no material for a shape is left out and counted; one that is, but has something wrong, becomes a
row all the same, for the preflight to reject with its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pipeline.actions import Action
from pipeline.exports.cleaning import Cleaned, cleaned, readable
from pipeline.exports.mopd import mopd_weights, teacher_hint
from pipeline.exports.prompts import PICTURE, chat, said, step_prompt, system_text, task_text, text
from pipeline.exports.replies import read_reply, reply_of, spans_of
from pipeline.exports.rows import AnyRow, ChatRow, LabelRow, Message, ProcessRow, Shape, SpanRow, StepRow
from pipeline.exports.source import UNGRADED, Graded, StepView
from pipeline.personal import KINDS
from pipeline.records import Candidate, Record, Step
from pipeline.structs import Image
from pipeline.words import StepGrade

Explore = Literal["positive", "negative", "exclude"]
"""What `prm` makes of a step graded `explore`: a right step, a wrong one, or no row for its trajectory."""

_JUDGED = frozenset({"graded", "undecided"})
_WANTED = frozenset({"complete", "infeasible"})


class Built(NamedTuple):
    """The rows of one trajectory, the steps removed from it and why, and why it is left out, if it is."""

    rows: Sequence[AnyRow]
    removed: Counter[str]
    left_out: str | None = None


def build_rows(shape: Shape, graded: Graded, explore: Explore) -> Built:
    """The rows of one trajectory in a shape."""
    if graded.trace.status not in _JUDGED:
        return _nothing("unjudged" if graded.trace.status is None else "unscored")
    if shape == "prm":
        return _process_row(graded, explore)
    return _BUILDERS[shape](graded)


def _nothing(reason: str) -> Built:
    return Built([], Counter(), reason)


def _chat_row(graded: Graded) -> Built:
    trace = graded.trace
    if trace.grade != "complete":
        return _nothing(f"graded {trace.grade}" if trace.grade else "undecided")
    found = cleaned(graded.record)
    earlier, own = _parted(graded, found)
    if earlier and not own:
        return _nothing("did nothing itself")
    steps = _steps_at(graded, own)
    row = ChatRow(
        **_shared(graded, own, earlier),
        row_id=trace.attempt_id,
        messages=chat(graded.task.platform, graded.task.instruction, steps, _steps_at(graded, earlier)),
        actions=[step.action for step in steps if step.action],
        step_grades=[_held(graded, step).grade for step in steps],
        trace_grade=trace.grade,
        trace_share=trace.share,
        usable=trace.usable,
    )
    return Built([row], found.removed)


def _step_rows(graded: Graded) -> Built:
    found, trace = readable(graded.record), graded.trace
    rows = [
        StepRow(
            **_of_step(graded, found, place),
            reply=reply_of(step.thought, action),
            action=action,
            status=step.status,
            action_error=step.action_error,
            step_grade=_held(graded, step).grade,
            step_share=_held(graded, step).share,
            trace_grade=trace.grade,
            trace_share=trace.share,
            contract_score=trace.score,
            segment_score=trace.segment_score,
            data_source=f"pathproof/{graded.task.start.app_id}",
        )
        for place, step, action in _steps(graded, found)
    ]
    return Built(rows, found.removed)


def _process_row(graded: Graded, explore: Explore) -> Built:
    found = readable(graded.record)
    earlier, own = _parted(graded, found)
    if earlier and not own:
        return _nothing("did nothing itself")
    steps = _steps_at(graded, own)
    grades = [_held(graded, step).grade for step in steps]
    if explore == "exclude" and "explore" in grades:
        return _nothing("explores")
    actions = [step.action for step in steps if step.action]
    row = ProcessRow(
        **_shared(graded, own, earlier),
        row_id=graded.trace.attempt_id,
        messages=_process_prompt(graded, len(steps), _steps_at(graded, earlier)),
        completions=[reply_of(step.thought, action) for step, action in zip(steps, actions, strict=True)],
        actions=actions,
        labels=[_label(grade, explore) for grade in grades],
        step_grades=grades,
        trace_grade=graded.trace.grade,
    )
    return Built([row], found.removed)


def _process_prompt(graded: Graded, pictures: int, earlier: Sequence[Step]) -> list[Message]:
    opening = text(task_text(graded.task.instruction, earlier, "The screen before each step:"))
    system = said("system", text(system_text(graded.task.platform)))
    return [system, said("user", opening, *[PICTURE] * pictures)]


def _label(grade: StepGrade | None, explore: Explore) -> bool | None:
    if grade is None:
        return None
    return explore == "positive" if grade == "explore" else grade == "correct"


def _label_rows(graded: Graded) -> Built:
    trace = graded.trace
    if trace.grade not in _WANTED and trace.grade != "fail":
        return _nothing(f"graded {trace.grade}" if trace.grade else "undecided")
    label = trace.grade in _WANTED
    found = cleaned(graded.record) if label else readable(graded.record)
    rows = [
        LabelRow(
            **_of_step(graded, found, place),
            reply=reply_of(step.thought, action),
            action=action,
            label=label,
            step_grade=_held(graded, step).grade,
            trace_grade=trace.grade,
            # What was not done may be learnt from in any trajectory; what was done only from a usable one.
            usable=trace.usable or not label,
        )
        for place, step, action in _steps(graded, found)
    ]
    return Built(rows, found.removed)


def _span_rows(graded: Graded) -> Built:
    found = readable(graded.record)
    rows = []
    for place, step, action in _steps(graded, found):
        rows.append(_span_row(graded, found, place, reply_of(step.thought, action)))
        rows += [
            _span_row(graded, found, place, reply_of("", candidate.action), candidate)
            for candidate in graded.record.candidates
            if candidate.step_index == step.step_index and candidate.action and candidate.reason != "sequence_stopped"
        ]
    return Built(rows, found.removed)


def _span_row(graded: Graded, found: Cleaned, place: int, reply: str, candidate: Candidate | None = None) -> SpanRow:
    step = graded.record.steps[found.kept[place]]
    grade = _held(graded, step).grade
    right = step.action if grade == "correct" else None
    student = candidate.action if candidate else step.action
    shared = _of_step(graded, found, place)
    if candidate:
        shared["row_id"] += f"/{candidate.candidate_index}"
    return SpanRow(
        **shared,
        origin="rejected" if candidate else "executed",
        reply=reply,
        action=student,
        spans=spans_of(reply) if read_reply(reply) else [],
        teacher_hint=teacher_hint(right) if right else None,
        weights=mopd_weights(student, right) if candidate and student and right and step.status == "ok" else None,
        step_grade=grade,
    )


_BUILDERS: Mapping[Shape, Callable[[Graded], Built]] = {
    "kto": _label_rows,
    "mopd": _span_rows,
    "rl-step": _step_rows,
    "sft": _chat_row,
}


def _steps(graded: Graded, found: Cleaned) -> list[tuple[int, Step, Action]]:
    """The kept steps of the policy's own: place among the kept, step, action."""
    steps = enumerate(_steps_at(graded, found.kept))
    return [(place, step, step.action) for place, step in steps if step.action and not step.replayed]


def _steps_at(graded: Graded, indexes: Sequence[int]) -> list[Step]:
    return [graded.record.steps[index] for index in indexes]


def _parted(graded: Graded, found: Cleaned) -> tuple[list[int], list[int]]:
    """The kept steps of an earlier attempt, which are told and not taught, and the policy's own."""
    replayed = {step.step_index for step in graded.record.steps if step.replayed}
    return [index for index in found.kept if index in replayed], [i for i in found.kept if i not in replayed]


def _held(graded: Graded, step: Step) -> StepView:
    return graded.steps.get(step.step_index, UNGRADED)


def _of_step(graded: Graded, found: Cleaned, place: int) -> dict[str, Any]:
    """The shared fields of a row about one step; its history is what was kept before it."""
    index = found.kept[place]
    history = [graded.record.steps[before] for before in found.kept[:place]]
    return {
        **_shared(graded, [index]),
        "flags": _flags(graded.record, [index], found.kept[: place + 1]),
        "row_id": f"{graded.trace.attempt_id}/{index}",
        "step_index": index,
        "messages": step_prompt(graded.task.platform, graded.task.instruction, history),
    }


def _shared(graded: Graded, indexes: Sequence[int], earlier: Sequence[int] = ()) -> dict[str, Any]:
    """Where a row comes from, and the screens before these steps; one that was not captured is missing.

    `earlier` steps are told in words only.
    """
    task, record = graded.task, graded.record
    looks = [record.observations[index] for index in indexes if index < len(record.observations)]
    frames = [record.frames[look.frame_sha256] for look in looks if look.frame_sha256 in record.frames]
    return {
        "run_id": graded.run_id,
        "trajectory_id": record.trajectory.trajectory_id,
        "attempt_id": graded.trace.attempt_id,
        "task_id": task.task_id,
        "template_id": task.template_id,
        "app_ids": task.app_ids,
        "platform": task.platform,
        "domain": task.domain,
        "language": task.language,
        "policy": record.trajectory.policy,
        "flags": _flags(record, indexes, [*earlier, *indexes]),
        "instruction": task.instruction,
        "images": [Image(bytes=frame.image.bytes, path=f"{frame.sha256}.png") for frame in frames],
    }


def _flags(record: Record, shown: Sequence[int], told: Sequence[int]) -> list[str]:
    """The flags of these looks and steps; what a step put into words stands in the looks before and after it too."""
    steps = [record.steps[index] for index in told]
    worded = {index for index, step in zip(told, steps, strict=True) if getattr(step.action, "content", "")}
    places = {*shown, *worded, *(index + 1 for index in worded)}
    looks = [record.observations[index] for index in sorted(places) if index < len(record.observations)]
    flags: set[str] = {flag for look in looks for flag in look.flags}
    flags |= {flag for step in steps for flag in step.flags}
    pictures = [record.frames.get(look.frame_sha256 or "") for look in looks]
    trees = [record.trees.get(look.tree_sha256 or "") for look in looks]
    classes = {region.class_ for seen in [*pictures, *trees] if seen for region in seen.sensitive}
    if record.trajectory.contains_secret or classes - KINDS:
        flags.add("contains_secret")
    if classes & KINDS:
        flags.add("contains_pii")
    return sorted(flags)
