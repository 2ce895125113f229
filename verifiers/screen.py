"""Judge `screen`: grades a trajectory from what its screens show, without a model.

Every keypoint of the instruction is looked for in the screens. A value counts as shown when the application displays it
after something was sent; as gone when it was on screen, something deleted it, and the end no longer has it. Where an
instruction speaks of controls, it counts how they were operated and what they held when it was sent. `complete` needs
every keypoint; `partial` and `fail` need a keypoint that is plainly unmet, such as a value that was never entered, or
entered and never sent. Where screens do not decide, and where an instruction asks for more than is understood, the
judge abstains. What the agent thinks or claims is no evidence.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.protocols import Judged, JudgeView
from pipeline.records import Keypoint, Record, Vote
from pipeline.words import JudgeKind, Target, TraceGrade
from verifiers.ballot import PROGRAM
from verifiers.evidence import Evidence, TextReader, evidence_of
from verifiers.findings import Finding, findings_of, missing_of
from verifiers.operations import any_task_specific, move_of
from verifiers.wordlists import CHANGING

WINDOW = 8
"""Looks per window of the `keypoints` table."""
_LOOKED = 2
"""Steps of looking around that a report of infeasibility needs."""


class ScreenJudge:
    """Grades trajectories by their screens; `reader` reads pictures whose tree does not decide."""

    name = "screen"
    family = PROGRAM
    kind: JudgeKind = "program"
    targets: tuple[Target, ...] = ("trace",)

    def __init__(self, reader: TextReader | None = None) -> None:
        self._reader = reader

    def judge(self, view: JudgeView, record: Record, pass_id: str) -> Judged:
        """One trace vote, and the state of every keypoint."""
        answer = record.trajectory.answer if record.trajectory.claim == "success" else None
        evidence = evidence_of(record)
        findings = findings_of(view, evidence, answer)
        if self._reader is not None and evidence.blind and any(found.state != "met" for found in findings):
            evidence = evidence_of(record, self._reader)
            findings = findings_of(view, evidence, answer)
        grade, reason = _grade(view, findings, evidence, record)
        vote = Vote(
            pass_id=pass_id,
            target="trace",
            attempt_id=record.attempt.attempt_id,
            judge=self.name,
            judge_kind=self.kind,
            family=self.family,
            status="graded" if grade else "abstain",
            grade=grade,
            reason=reason,
            frame_sha256s=list(dict.fromkeys(found.frame_sha256 for found in findings if found.frame_sha256)),
        )
        return Judged([vote], [self._row(n, found, record, pass_id) for n, found in enumerate(findings)])

    def _row(self, number: int, found: Finding, record: Record, pass_id: str) -> Keypoint:
        return Keypoint(
            pass_id=pass_id,
            attempt_id=record.attempt.attempt_id,
            keypoint_index=number,
            text=found.sought.text,
            state=found.state,
            window=found.look // WINDOW,
            frame_sha256s=[found.frame_sha256] if found.frame_sha256 else [],
            reason=found.reason,
            judge=self.name,
        )


# --- the vote ----------------------------------------------------------------------------------------------------


def _grade(
    view: JudgeView, findings: Sequence[Finding], evidence: Evidence, record: Record
) -> tuple[TraceGrade | None, str]:
    if record.trajectory.claim == "infeasible":
        return _refusal(view, evidence, record)
    if not findings:
        return None, "the instruction names nothing that can be looked for"
    unmet = [found for found in findings if found.state == "unmet" and found.sought.wanted != "seen"]
    changing = [found for found in findings if found.sought.verb in CHANGING and found.sought.wanted != "seen"]
    if unmet:
        return _shortfall(unmet, changing, record)
    unclear = [found for found in findings if found.state != "met"]
    if unclear:
        return None, f"unclear: {_listed(unclear)}"
    if changing and not any_task_specific(record):
        return "fail", "nothing was done that could have changed anything"
    return "complete", f"met: {_listed(findings)}"


def _shortfall(unmet: Sequence[Finding], changing: Sequence[Finding], record: Record) -> tuple[TraceGrade | None, str]:
    reached = [found for found in changing if found.state == "met"]
    if reached and any_task_specific(record):
        return "partial", f"met: {_listed(reached)}; unmet: {_listed(unmet)}"
    return "fail", f"unmet: {_listed(unmet)}"


def _refusal(view: JudgeView, evidence: Evidence, record: Record) -> tuple[TraceGrade | None, str]:
    """The agent says it cannot be done: right only if it looked and what the task names is on no screen."""
    looked = [step for step in record.steps if step.action is not None and move_of(step.action) != "end"]
    if not looked:
        return "fail", "the agent gave up without looking"
    missing = missing_of(view, evidence)
    if missing and len(looked) >= _LOOKED:
        return "infeasible", f"the agent looked {len(looked)} times and no screen shows {', '.join(missing)}"
    return None, "the screens do not show whether it can be done"


def _listed(findings: Sequence[Finding]) -> str:
    return " ".join(f"[{found.sought.text} {found.reason}]" for found in findings)
