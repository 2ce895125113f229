"""The self-test of a task's contract: before the contract proves anything, it is proved itself.

One real episode with the task's oracle gives everything: the untouched state at its start, the finished one at its end.
Runs that do nothing, runs that only claim, a state that was written past the application, and every near miss of a
criterion are made from what that episode has left, and judged by the rules that will judge the task. Knows nothing of
where the environment comes from, nor of what becomes of a task that does not hold.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import Field

from pipeline.actions import Action, Answer, CallUser, Finished, Model
from pipeline.config import PLACEHOLDER, PanelConfig
from pipeline.episode import plan_attempt
from pipeline.errors import ConfigError
from pipeline.judging import Bench, judge_record
from pipeline.policies.canned import CannedPolicy
from pipeline.policies.scripted import ScriptedPolicy
from pipeline.protocols import Environment, Policy
from pipeline.records import Record, Rejection, Verdict
from pipeline.rollout import rollout
from pipeline.safety import sandbox_gate
from pipeline.structs import Fault
from pipeline.tasks import ADDRESS, ANSWER, TREE, Check, Segment, TaskSpec
from pipeline.words import CheckState, RejectionReason
from taskspecs.absence import unproved
from taskspecs.binding import telling, unchecked_values
from taskspecs.fixture import fingerprint_of
from taskspecs.frozen import FrozenEnvironment, Stills, disturbed, stills_of, undone
from taskspecs.gate_cases import Finding
from taskspecs.giveaway import in_wording, on_screen, told_values
from taskspecs.mutation import mutants, survives
from taskspecs.neighbours import untouched_keys
from verifiers.contract import changed_rows, evaluate, outcome_of, rows_at_end, side_effects, state_of

ATTEMPTS = 2
"""Episodes that a self-test may need: one, and another when it breaks."""

_BLAMED = ("preflight_failed", "setup_failed", "start_page")
"""Faults at the start of which the task is the cause, not the world."""
_CLAIMS = ("", "Done. 已完成。")
"""What somebody may say who has done nothing."""
_GUESSES = ("0", "1", "yes", "no", "是", "否")
"""Answers that need no work to be right now and then."""
_CANCELLED = Fault(boundary="worker", code="cancelled", message="the test was ended before its time")
_OUT_OF_TIME = "the oracle was not done in {:g} s: they are too few, or others leave the world no room"
_SECRET = "it types {}, and self-tests have no secrets: only a run that is given it shows that the task can be done"
_IDLE = CallUser(content="?")


class Trial(Model):
    """What came of one self-test. With a `fault` the world broke: nothing is proved, and there is no reason.

    `claims` and `mutants` say how many were tried, `notes` what is worth knowing of a contract that holds.
    """

    task_id: str
    held: bool
    reason: RejectionReason | None = None
    detail: str = ""
    fault: Fault | None = None
    fixture_fingerprint: str | None = None
    notes: list[str] = Field(default_factory=list)
    steps: int = 0
    claims: int = 0
    mutants: int = 0
    seconds: float = 0.0


async def selftest(task: TaskSpec, environment: Environment, *, attempts: int = ATTEMPTS) -> Trial:
    """Prove a task's contract with one episode of its oracle; what breaks is tried again, `attempts` times in all."""
    began = time.monotonic()
    secret = PLACEHOLDER.search(task.model_dump_json())
    if secret is not None:
        needed = Fault(boundary="setup", code="secret_needed", message=_SECRET.format(secret[0]))
        return _trial(task, began, fault=needed)
    try:
        record = await _oracle(task, environment, attempts)
    except ConfigError as error:
        return _trial(task, began, finding=Finding("oracle_fails", f"the oracle cannot be followed: {error}"))
    fault = _fault_of(record, task)
    stills = stills_of(record) if record.trajectory.termination != "cancelled" else None
    if fault is not None and fault.code in _BLAMED:
        return _trial(task, began, finding=Finding("preflight_failed", fault.message))
    if fault is not None or stills is None:
        return _trial(task, began, fault=fault or _CANCELLED)
    exam = _Exam(task, record, stills)
    return _trial(task, began, finding=await exam.first_finding(), exam=exam)


def rejections(tasks: Iterable[TaskSpec], found: Mapping[str, Trial]) -> list[Rejection]:
    """The rows of the tasks that do not hold, given the trials by task."""
    tried = [(task, found[task.task_id]) for task in tasks if task.task_id in found]
    return [
        Rejection(
            candidate_id=task.task_id,
            app_ids=task.app_ids,
            instruction=task.instruction,
            reason=trial.reason,
            detail=trial.detail,
            duplicate_of=None,
            origin=task.generator,
        )
        for task, trial in tried
        if trial.reason is not None
    ]


class _Exam:
    """What is tried with the record of the oracle's episode."""

    def __init__(self, task: TaskSpec, record: Record, stills: Stills) -> None:
        self.record = record
        self.notes: list[str] = []
        self.claims = self.mutants = 0
        self._task, self._stills = task, stills

    async def first_finding(self) -> Finding | None:
        """The first thing that is wrong, in the order in which a reader would ask."""
        for test in (self._open, self._idle, self._claimed, self._followed, self._written, self._mutated):
            finding = await test()
            if finding is not None:
                return finding
        return None

    async def _open(self) -> Finding | None:
        tree = self._stills.screen.tree
        return in_wording(self._task) or on_screen(self._task, tree.nodes if tree else [])

    async def _idle(self) -> Finding | None:
        """The untouched state proves nothing, and only what is missing by the task's own word is missing."""
        untouched = await self._still_run(_IDLE)
        outcome = outcome_of(self._task, evaluate(self._task, untouched, ""))
        if not self._task.feasible and outcome.absence != "passed":
            said = _told(self._task.absence_checks, untouched)
            return Finding("preflight_failed", f"what must be missing is there from the start: {said}")
        if outcome.checks == "passed":
            return Finding("noop_passes", "every check holds on the untouched state")
        done = [segment.name for segment in self._task.segments if self._state_of(segment, untouched) == "passed"]
        if done:
            return Finding("noop_passes", f"segment '{done[0]}' holds on the untouched state")
        self.notes += [
            f"check '{check.name}' holds from the start"
            for check in self._task.checks
            if state_of(check, rows_at_end(check, untouched)) == "passed"
        ]
        grade = (await _verdict(self._task, untouched)).grade
        return Finding("noop_passes", f"doing nothing is graded {grade}") if grade not in ("fail", None) else None

    async def _claimed(self) -> Finding | None:
        """Whoever only says that it is done, or guesses the answer, is not believed."""
        for action in _claims_of(self._task):
            self.claims += 1
            grade = (await _verdict(self._task, await self._still_run(action))).grade
            if grade not in ("fail", None):
                return Finding("claim_passes", f"saying {action.content!r} without doing anything is graded {grade}")
        return None

    async def _followed(self) -> Finding | None:
        """The oracle does it, segment by segment, and nothing else."""
        task, ended = self._task, self.record.trajectory
        if not task.oracle and task.contract_kind != "rubric":
            return Finding("oracle_fails", "it has no oracle: nothing shows that it can be done")
        if ended.termination != "finished" and not (ended.termination == "call_user" and ended.claim == "infeasible"):
            last = self.record.steps[-1].action if self.record.steps else None
            said = last.content if isinstance(last, CallUser) else ended.reason
            return Finding("oracle_fails", f"the oracle ended by {ended.termination}: {said}")
        for segment in [*task.segments, Segment(name="absence", checks=task.absence_checks)]:
            said = _told([check for check in segment.checks if self._binds(check)], self.record)
            if said:
                return Finding("oracle_fails", f"after the oracle, in segment '{segment.name}': {said}")
        unexpected = side_effects(task, self.record)
        if unexpected:
            return Finding("oracle_fails", f"the oracle changes what is not expected: {', '.join(unexpected[:5])}")
        verdict = await _verdict(task, self.record)
        wanted = "complete" if task.feasible else "infeasible"
        if task.contract_kind != "rubric" and verdict.grade != wanted:
            got = verdict.grade or verdict.status
            return Finding("oracle_fails", f"the oracle's run is graded {got}, not {wanted}: {verdict.reason}")
        return None

    async def _written(self) -> Finding | None:
        """A state that was written past the application is not taken for the agent's work."""
        if self._task.contract_kind != "state" or not self._task.feasible:
            return None
        record = await _run(self._task, FrozenEnvironment(self._stills, written=True), CannedPolicy([Finished()]))
        grade = (await _verdict(self._task, record)).grade
        if grade in ("fail", None):
            return None
        return Finding("shortcut_passes", f"a state that was written past the application is graded {grade}")

    async def _mutated(self) -> Finding | None:
        """Every criterion is missed when it is not met."""
        checks = [check for check in (*self._task.checks, *self._task.absence_checks) if self._binds(check)]
        read = [(check, rows) for check in checks if (rows := rows_at_end(check, self.record)) is not None]
        for check, rows in read:
            for mutant in mutants(check, rows):
                self.mutants += 1
                if survives(mutant):
                    return Finding("mutation_survives", f"check '{check.name}' holds although {mutant.what}")
        untold = unproved(self._task)
        if untold:
            return Finding("mutation_survives", untold)
        untouched = await self._still_run(_IDLE)
        held = [state_of(check, rows_at_end(check, untouched)) == "passed" for check, _ in read]
        unchecked = unchecked_values(self._task, telling(read, held), changed_rows(self._task, self.record))
        if unchecked:
            return Finding("mutation_survives", f"nothing checks {unchecked[0]!r}, which the task tells to enter")
        return await self._undone() or self._disturbed()

    async def _undone(self) -> Finding | None:
        """A segment whose state is put back is missed."""
        for segment in self._task.segments:
            self.mutants += 1
            record = undone(self.record, self._stills, segment.checks)
            if (
                record.probe_reads != self.record.probe_reads
                and (await _verdict(self._task, record)).grade == "complete"
            ):
                return Finding("mutation_survives", f"segment '{segment.name}' can be undone, and all still holds")
        return None

    def _disturbed(self) -> Finding | None:
        """A change that nobody asked for is noticed, and so is one of any row that the oracle leaves alone."""
        self.mutants += 1
        if not side_effects(self._task, disturbed(self.record)):
            return Finding("mutation_survives", "any change of the state would be taken for an expected one")
        for kind in ("changed", "removed"):
            rows = [[key, kind] for key in untouched_keys(self.record)]
            self.mutants += len(rows)
            noticed = set(side_effects(self._task, disturbed(self.record, rows)))
            missed = next((key for key, _ in rows if key not in noticed), None)
            if missed is not None:
                said = f"'{missed}', which the oracle leaves alone, could be {kind} as well"
                return Finding("mutation_survives", f"{said}: what is expected to change is too wide")
        return None

    async def _still_run(self, action: Action) -> Record:
        return await _run(self._task, FrozenEnvironment(self._stills), CannedPolicy([action]))

    def _state_of(self, segment: Segment, record: Record) -> CheckState | None:
        alone = self._task.model_copy(update={"segments": [segment], "absence_checks": []})
        return outcome_of(alone, evaluate(alone, record, "")).checks

    def _binds(self, check: Check) -> bool:
        """Whether a check counts: of a rubric only what address and tree say."""
        return self._task.contract_kind != "rubric" or check.probe in (ADDRESS, TREE)


def _claims_of(task: TaskSpec) -> Iterator[Answer | CallUser | Finished]:
    """Ways to claim without having done anything."""
    yield from (Finished(content=text) for text in _CLAIMS)
    if task.feasible:
        yield from (kind(content="infeasible: it cannot be done") for kind in (Finished, CallUser))
    if any(check.probe == ANSWER for check in task.checks):
        guesses = dict.fromkeys([*_GUESSES, *told_values(task), task.instruction])
        yield from (Answer(content=text) for text in guesses if text)


def _fault_of(record: Record, task: TaskSpec) -> Fault | None:
    """Why an episode of the oracle says nothing of the contract: its world broke, or was too slow."""
    if record.trajectory.termination == "time_limit":
        return Fault(boundary="env", code="out_of_time", message=_OUT_OF_TIME.format(task.max_seconds))
    return record.trajectory.fault


async def _oracle(task: TaskSpec, environment: Environment, attempts: int) -> Record:
    """The last record of the oracle's attempts; one that broke is followed by another."""
    for number in range(1, attempts + 1):
        record = await _run(task, environment, ScriptedPolicy("oracle", task), number)
        fault = _fault_of(record, task)
        if fault is None or fault.code == "preflight_failed":
            break
    return record


async def _run(task: TaskSpec, environment: Environment, policy: Policy, number: int = 1) -> Record:
    plan = plan_attempt("selftest", task.task_id, policy.policy_id, seed=0, number=number)
    return await rollout(task, environment, policy, sandbox_gate(), plan)


async def _verdict(task: TaskSpec, record: Record) -> Verdict:
    """What the checks alone make of a run."""
    return (await judge_record(task, record, Bench([]), PanelConfig(), "selftest")).verdicts[0]


def _told(checks: Sequence[Check], record: Record) -> str:
    """The first check that does not hold, in words; nothing when all do."""
    for check in checks:
        rows = rows_at_end(check, record)
        state = state_of(check, rows)
        if state != "passed":
            return f"check '{check.name}' {state}: expected {check.verifier} {check.expected}, found {str(rows)[:300]}"
    return ""


def _trial(
    task: TaskSpec,
    began: float,
    *,
    finding: Finding | None = None,
    fault: Fault | None = None,
    exam: _Exam | None = None,
) -> Trial:
    return Trial(
        task_id=task.task_id,
        held=finding is None and fault is None,
        reason=finding.reason if finding else None,
        detail=finding.detail if finding else "",
        fault=fault,
        fixture_fingerprint=fingerprint_of(task) if exam is not None else None,
        notes=exam.notes if exam else [],
        steps=len(exam.record.steps) if exam else 0,
        claims=exam.claims if exam else 0,
        mutants=exam.mutants if exam else 0,
        seconds=round(time.monotonic() - began, 3),
    )
