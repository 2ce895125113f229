"""The order of judgement: from votes and checks to one verdict per trajectory and per step.

A trajectory: what cannot be judged is unscored; a person's answer decides; evidence of absence decides infeasible
tasks; a failed check takes `complete` off the ballot; then two thirds of the valid votes by two families. Where no
model judge was heard, the checks decide and program judges only dispute them; a judge that failed was not heard, and
the reason says so. Votes never decide against checks that hold: that is a dispute, by whichever rule they would have
decided. So is a state that changed while the agent made no operation that could change it, whatever the votes say.
Where a calibration has weights for these judges (`panel.rule=weighted`), they decide in place of the quorum, after the
same vetoes. One more vote for `complete` never makes a verdict worse.

A step has no checks. Where no model judge was heard, program judges decide it among themselves (rule `single`: one
family); with model judges the quorum of trajectories applies. Error rates of steps are those measured on steps.

This module knows nothing of how judges reach their votes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pipeline.config import PanelConfig
from pipeline.protocols import Evaluated, JudgeView
from pipeline.records import Record, Verdict, Vote
from pipeline.structs import Calibration
from pipeline.tasks import TaskSpec
from pipeline.words import FailureCategory, Grade, Rule, StepGrade, Target, TraceGrade, VerdictStatus
from verifiers.ballot import Ballot, ballot_of
from verifiers.calibration import PASSED, CalibrationFile
from verifiers.contract import Outcome, changed_rows, outcome_of
from verifiers.failures import category_of
from verifiers.operations import any_task_specific
from verifiers.telemetry import right_grade, signs_of

TRACE_GRADES: tuple[TraceGrade, ...] = ("complete", "partial", "infeasible", "fail")
STEP_GRADES: tuple[StepGrade, ...] = ("correct", "explore", "invalid", "wrong")
BY_VOTES: tuple[Rule, ...] = ("quorum", "single", "weighted")
"""Rules under which votes decide."""


class Case(NamedTuple):
    """What is to be judged, with what the contract found and what is known of the judges of this pass."""

    task: TaskSpec
    record: Record
    evaluated: Evaluated
    view: JudgeView
    calibration: CalibrationFile | None = None

    @property
    def outcome(self) -> Outcome:
        """The checks taken together."""
        return outcome_of(self.task, self.evaluated)

    @property
    def claims_infeasible(self) -> bool:
        """Whether the agent said that the task cannot be done."""
        return self.record.trajectory.claim == "infeasible"

    def measured(self, ballot: Ballot, target: Target = "trace") -> CalibrationFile | None:
        """The calibration, if it speaks of this task's domain and of the judges that voted."""
        file = self.calibration
        return file if file is not None and file.speaks_of(self.task.domain, ballot.valid, target) else None

    def figures(self, ballot: Ballot, rule: Rule, target: Target = "trace") -> Calibration | None:
        """How often a rule over such votes is wrong, if that was measured on such trajectories or steps.

        A failed check has taken the question away that was measured.
        """
        file, state = self.measured(ballot, target), _state(self.outcome) if target == "trace" else None
        if file is None or state == "failed":
            return None
        return file.figures(rule, self.task.domain, checked=state == "passed", target=target)


class Ruling(NamedTuple):
    """A decision on one target, before it becomes a row."""

    status: VerdictStatus
    grade: Grade | None
    rule: Rule
    reason: str
    voted: Grade | None = None
    """The grade that was voted for, where the rules turn it into another."""


def unscored(record: Record) -> Ruling | None:
    """Why there is nothing to judge, if so; then no judge need be asked."""
    trajectory = record.trajectory
    if trajectory.fault is not None:
        return Ruling("unscored", None, "fault", f"{trajectory.fault.boundary}: {trajectory.fault.code}")
    if trajectory.termination in ("fault", "cancelled"):
        return Ruling("unscored", None, "fault", f"the attempt ended as {trajectory.termination}")
    last = record.observations[-1] if record.observations else None
    if last is None or last.frame_sha256 is None:
        why = last.capture_error if last else "nothing was observed"
        return Ruling("unscored", None, "no_picture", f"no usable last picture: {why or 'none was stored'}")
    if trajectory.termination == "blocked" and trajectory.reason in ("captcha", "login"):
        return Ruling("unscored", None, "blocked", f"the agent met a {trajectory.reason}")
    return None


def decide(case: Case, votes: Sequence[Vote], config: PanelConfig, pass_id: str) -> list[Verdict]:
    """The verdicts of one pass: the trajectory's, then one for every step of the policy's own."""
    ended = unscored(case.record)
    steps = [
        _step_verdict(case, step.step_index, step_votes(votes, step.step_index), ended, config, pass_id)
        for step in case.record.own_steps
    ]
    ballot = ballot_of(vote for vote in votes if vote.target == "trace")
    ruling = ended or trace_ruling(case, ballot, config)
    return [_trace_verdict(case, ballot, ruling, steps, pass_id), *steps]


def trace_ruling(case: Case, ballot: Ballot, config: PanelConfig) -> Ruling:
    """The decision on a trajectory that can be judged."""
    if ballot.persons:
        return _persons(ballot)
    outcome = case.outcome
    if outcome.absence == "passed":
        return _absent(case)
    if not ballot.has_models:
        return _checks(case, outcome, ballot, config)
    return (
        _disputed(case, outcome, ballot)
        or _voted(case, outcome, ballot, config)
        or _without_quorum(case, outcome, ballot)
    )


def _persons(ballot: Ballot) -> Ruling:
    grades = {vote.grade for vote in ballot.persons}
    said = "; ".join(f"{vote.judge}: {vote.grade}, {vote.reason}" for vote in ballot.persons)
    if len(grades) > 1:
        return Ruling("undecided", None, "human", f"persons disagree: {said}")
    return Ruling("graded", ballot.persons[-1].grade, "human", said)


def _absent(case: Case) -> Ruling:
    """What is asked is proved to be missing: only an agent that says so is right."""
    if case.claims_infeasible:
        return Ruling("graded", "infeasible", "contract_only", "the absence checks hold and the agent reports it")
    claim = case.record.trajectory.claim
    return Ruling("graded", "fail", "contract_failed", f"the absence checks hold, yet the agent claims {claim}")


def _checks(case: Case, outcome: Outcome, ballot: Ballot, config: PanelConfig) -> Ruling:
    """No model judge was heard: the checks decide, program judges dispute."""
    if _holds(case, outcome):
        return _disputed(case, outcome, ballot) or Ruling(
            "graded", "complete", "contract_only", f"every check holds; {ballot.tally()}"
        )
    if _state(outcome) == "failed":
        return _failed(case, outcome, ballot)
    calibrated = _weighted(case, outcome, ballot, config) or _single(case, outcome, ballot, config)
    return calibrated or _undecided(case, ballot, contract=_state(outcome) is not None)


def _holds(case: Case, outcome: Outcome) -> bool:
    """Whether the contract proves the task done; a rubric's checks prove only a part of it."""
    return outcome.checks == "passed" and case.task.contract_kind != "rubric"


def _disputed(case: Case, outcome: Outcome, ballot: Ballot) -> Ruling | None:
    if not _holds(case, outcome):
        return None
    if changed_rows(case.task, case.record) and not any_task_specific(case.record):
        reason = "every check holds and the state has changed, yet the agent made no operation that could change it"
        return Ruling("undecided", None, "contract_disputed", reason)
    if not ballot.valid or ballot.share("complete"):
        return None
    return Ruling("undecided", None, "contract_disputed", f"every check holds, every vote disagrees: {ballot.tally()}")


def _voted(case: Case, outcome: Outcome, ballot: Ballot, config: PanelConfig) -> Ruling | None:
    """What the votes decide, if they do; against checks that hold they only dispute."""
    ruling = _weighted(case, outcome, ballot, config) or _counted(case, outcome, ballot, config)
    if ruling is None or ruling.status != "graded" or ruling.grade == "complete" or not _holds(case, outcome):
        return ruling
    reason = f"every check holds, yet the votes say {ruling.grade} (rule {ruling.rule}): {ruling.reason}"
    return Ruling("undecided", None, "contract_disputed", reason)


def _counted(case: Case, outcome: Outcome, ballot: Ballot, config: PanelConfig) -> Ruling | None:
    grade = ballot.quorum(_allowed(outcome)) or _part(outcome, ballot).quorum(["partial"])
    if grade is None:
        return _single(case, outcome, ballot, config)
    return _tempered(case, grade, "quorum", ballot.tally())


def _part(outcome: Outcome, ballot: Ballot) -> Ballot:
    """The ballot on whether a part was done: there a vote for `complete` that is off the ballot is none against."""
    return ballot if "complete" in _allowed(outcome) else ballot.without("complete")


def _weighted(case: Case, outcome: Outcome, ballot: Ballot, config: PanelConfig) -> Ruling | None:
    """Votes and signs by their weights; not where a check failed, nor where the calibration is of something else."""
    file = case.measured(ballot)
    right = right_grade(case.record)
    if config.rule != "weighted" or file is None or not ballot.valid:
        return None
    if _state(outcome) == "failed" or right not in _allowed(outcome):
        return None
    checks = {PASSED: 1.0} if _state(outcome) == "passed" else {}
    weighed = file.weigh(ballot, right, signs_of(case.view, case.record) | checks)
    told = f"right with probability {weighed.probability:.2f}; {ballot.tally()}"
    match weighed.side:
        case "for":
            return _tempered(case, right, "weighted", told)
        case "against":
            partly = (ballot.share("partial") or 0) > (ballot.share("fail") or 0)
            return _tempered(case, "partial" if partly else "fail", "weighted", told)
        case "neither":
            return Ruling("undecided", None, "no_quorum", told)


def _single(case: Case, outcome: Outcome, ballot: Ballot, config: PanelConfig) -> Ruling | None:
    """One family decides, where the configuration says so and names what it was calibrated with."""
    grade = ballot.leading(_allowed(outcome)) or _part(outcome, ballot).leading(["partial"])
    if config.rule != "single" or case.measured(ballot) is None or grade is None or ballot.families() != 1:
        return None
    return _tempered(case, grade, "single", ballot.tally())


def _allowed(outcome: Outcome) -> list[TraceGrade]:
    """The grades on the ballot: checks that failed have taken off what they contradict."""
    off = {"complete"} if _state(outcome) == "failed" else set()
    off |= {"infeasible"} if outcome.absence == "failed" else set()
    return [grade for grade in TRACE_GRADES if grade not in off]


def _state(outcome: Outcome) -> str | None:
    return outcome.checks if outcome.checks is not None else outcome.absence


def _tempered(case: Case, grade: Grade, rule: Rule, tally: str) -> Ruling:
    """What was voted for, unless a rule of judgement forbids it."""
    if grade == "infeasible" and not case.claims_infeasible:
        return Ruling("graded", "fail", rule, f"{tally}; the agent did not report it", voted=grade)
    if grade == "partial" and not any_task_specific(case.record):
        return Ruling("graded", "fail", rule, f"{tally}; no task-specific operation was made", voted=grade)
    return Ruling("graded", grade, rule, tally, voted=grade)


def _without_quorum(case: Case, outcome: Outcome, ballot: Ballot) -> Ruling:
    if _state(outcome) == "failed":
        return _failed(case, outcome, ballot)
    return _undecided(case, ballot, contract=_state(outcome) is not None)


def _failed(case: Case, outcome: Outcome, ballot: Ballot) -> Ruling:
    """A check failed and the votes do not decide: partial when a segment passed by the agent's doing, else fail."""
    failed = ", ".join(result.name for result in case.evaluated.results if result.state == "failed")
    told = "; ".join([f"failed: {failed}", *ballot.failures()])
    acted = any_task_specific(case.record)
    if outcome.segments_passed and acted:
        passed = f"{outcome.segments_passed} of {len(case.task.segments)} segments passed"
        return Ruling("graded", "partial", "contract_partial", f"{passed}; {told}")
    if (outcome.segments_unread and acted) or (outcome.absence == "unreadable" and case.claims_infeasible):
        return Ruling("undecided", None, "no_quorum", f"{told}; other checks could not be read")
    return Ruling("graded", "fail", "contract_failed", told)


def _undecided(case: Case, ballot: Ballot, *, contract: bool) -> Ruling:
    unread = ", ".join(result.name for result in case.evaluated.results if result.state == "unreadable")
    reason = ballot.tally() + (f"; not readable: {unread}" if unread else "")
    return Ruling("undecided", None, "no_quorum" if ballot.valid or contract else "no_votes", reason)


# --- steps -------------------------------------------------------------------------------------------------------


def step_votes(votes: Sequence[Vote], index: int) -> list[Vote]:
    """The votes on a step's own action, not those on what was proposed in its place."""
    return [
        vote for vote in votes if vote.target == "step" and vote.step_index == index and vote.candidate_index is None
    ]


def step_ruling(case: Case, ballot: Ballot, config: PanelConfig) -> Ruling:
    """The decision on a step of a trajectory that can be judged."""
    if ballot.persons:
        return _persons(ballot)
    if not ballot.valid:
        return Ruling("undecided", None, "no_votes", ballot.tally())
    grade = ballot.quorum(STEP_GRADES)
    if grade is not None:
        return Ruling("graded", grade, "quorum", ballot.tally(), voted=grade)
    lone = ballot.leading(STEP_GRADES) if ballot.families() == 1 else None
    calibrated = config.rule == "single" and case.measured(ballot, "step") is not None
    if lone is not None and (calibrated or not ballot.has_models):
        reasons = [*(vote.reason for vote in ballot.valid), *ballot.failures()]
        return Ruling("graded", lone, "single", "; ".join(reasons), voted=lone)
    return Ruling("undecided", None, "no_quorum", ballot.tally())


# --- rows --------------------------------------------------------------------------------------------------------


def _step_verdict(
    case: Case, index: int, votes: Sequence[Vote], ended: Ruling | None, config: PanelConfig, pass_id: str
) -> Verdict:
    ballot = ballot_of(votes)
    ruling = ended or step_ruling(case, ballot, config)
    counted = ruling.voted or ruling.grade
    return Verdict(
        pass_id=pass_id,
        target="step",
        attempt_id=case.record.attempt.attempt_id,
        step_index=index,
        status=ruling.status,
        grade=ruling.grade,
        share=ballot.share(counted),
        families=ballot.families(counted),
        rule=ruling.rule,
        reason=ruling.reason,
        calibration=_calibration(case, ballot, ruling, "step"),
    )


def _trace_verdict(case: Case, ballot: Ballot, ruling: Ruling, steps: Sequence[Verdict], pass_id: str) -> Verdict:
    scored = ruling.status != "unscored"
    counted = ruling.voted or ruling.grade
    return Verdict(
        pass_id=pass_id,
        target="trace",
        attempt_id=case.record.attempt.attempt_id,
        status=ruling.status,
        grade=ruling.grade,
        share=ballot.share(counted),
        families=ballot.families(counted),
        rule=ruling.rule,
        reason=ruling.reason,
        segments_passed=case.outcome.segments_passed if scored else None,
        side_effects=case.evaluated.side_effects if scored else [],
        failure_category=_category(case, ruling),
        process_score=process_score(steps),
        calibration=_calibration(case, ballot, ruling, "trace"),
    )


def _calibration(case: Case, ballot: Ballot, ruling: Ruling, target: Target) -> Calibration | None:
    """How often the rule that decided is wrong; checks and persons are not what was measured."""
    by_votes = ruling.status == "graded" and ruling.rule in BY_VOTES
    return case.figures(ballot, ruling.rule, target) if by_votes else None


def _category(case: Case, ruling: Ruling) -> FailureCategory | None:
    """Judges' grades need a category too, so it follows the grade, not the checks."""
    if ruling.grade not in ("partial", "fail"):
        return None
    return category_of(case.task, case.record, case.evaluated, case.view)


class Graded(Protocol):
    """A verdict, or as much of it as a score needs."""

    @property
    def status(self) -> VerdictStatus:
        """Whether there is a grade."""
        ...

    @property
    def grade(self) -> Grade | None:
        """The grade."""
        ...


def process_score(steps: Sequence[Graded]) -> float | None:
    """The share of graded steps that served the task or looked around; null when no step is graded."""
    grades = [verdict.grade for verdict in steps if verdict.status == "graded"]
    return sum(grade in ("correct", "explore") for grade in grades) / len(grades) if grades else None
