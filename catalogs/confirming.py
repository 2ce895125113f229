"""Tries what a catalog says an application can do: one capability, the reset application, the first slot examples.

A capability that writes is confirmed only by a difference of the application's state; one that reads, when its
procedure comes to its end on the screen it names. What broke is tried once more, then with a control that may have
taken the place of a missing one. Every try is an ordinary rollout, so that its deadlines and faults hold here too.
This module knows nothing of what else there may be in the application.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from catalogs.mending import candidates
from catalogs.screens import on_screen
from catalogs.subject import Subject, trial_task
from pipeline.actions import CallUser
from pipeline.episode import plan_attempt
from pipeline.policies.script import Missing, Planned, Script, decision_of
from pipeline.policies.wording import thought
from pipeline.protocols import Decision, Environment, Policy, Turn
from pipeline.records import Record
from pipeline.rollout import rollout
from pipeline.safety import sandbox_gate
from pipeline.structs import Node, Param
from pipeline.tasks import CHANGES, Capability, ProcedureStep, Slot
from pipeline.words import CapabilityStatus, Platform
from taskspecs.store import bind

TRY_SECONDS = 60.0
_MOST_RENAMES = 2


class Trial(NamedTuple):
    """One run of a procedure: what it left, and the position of the step that found nothing."""

    record: Record
    missing_at: int | None
    detail: str

    @property
    def fault(self) -> str | None:
        """Why the world broke, or time ran out; then the run says nothing of the capability."""
        found = self.record.attempt.fault
        if found is not None:
            return f"{found.boundary}/{found.code}: {found.message.splitlines()[0][:160]}"
        return "out of time" if self.record.attempt.termination in ("time_limit", "cancelled") else None

    @property
    def nodes(self) -> list[Node]:
        """The last screen."""
        sha256 = next((row.tree_sha256 for row in reversed(self.record.observations) if row.tree_sha256), None)
        return self.record.trees[sha256].nodes if sha256 is not None else []

    @property
    def ended_at(self) -> str:
        """The last address."""
        return self.record.observations[-1].location if self.record.observations else ""

    @property
    def changes(self) -> list[list[str]]:
        """What is different since the start; nothing when that could not be read."""
        reads = [row for row in self.record.probe_reads if row.probe == CHANGES]
        return (reads[-1].value or []) if reads else []


class Outcome(NamedTuple):
    """What came of a capability: the row as it now is, why, and the runs that show it.

    `verdict` is the word for what was found out, null when nothing was. It differs from the row's status in one case:
    what was `renamed` is `confirmed` again by its new procedure.
    """

    capability: Capability
    verdict: CapabilityStatus | None
    reason: str
    trials: list[Trial]


class Follower(Policy):
    """Follows a procedure and remembers where it could not go on."""

    name = "explorer"
    policy_id = "explorer"

    def __init__(self, plan: Sequence[ProcedureStep], language: str, platform: Platform) -> None:
        self._language = language
        self._script = Script([Planned(step) for step in plan], language, platform)
        self._at = 0
        self.missing: Missing | None = None

    @property
    def missing_at(self) -> int | None:
        """The position in the plan of the step that found nothing."""
        return self._at if self.missing is not None else None

    async def decide(self, turn: Turn) -> Decision:
        """The next move, or the end when there is none."""
        move = self._script.propose(turn)
        if isinstance(move, Missing):
            self.missing = move
            action = CallUser(content=move.detail)
            return decision_of(action, thought(self._language, action), turn.observation)
        self._script.take(move)
        self._at = move.after.at
        return decision_of(move.action, move.thought, turn.observation)


def first_examples(slots: Iterable[Slot]) -> list[Param]:
    """Slots with their first examples, which hold on the application as it is after a reset."""
    return [Param(name=slot.name, value=slot.values[0]) for slot in slots if slot.values]


class Confirmer:
    """Tries capabilities of one application, each from a reset."""

    def __init__(self, environment: Environment, subject: Subject, seed: int = 0) -> None:
        self._environment, self._subject, self._seed = environment, subject, seed

    async def attempt(self, capability: Capability, seconds: float) -> Trial:
        """Reset the application and run the procedure with the first slot examples."""
        steps = bind(capability.procedure, first_examples(capability.slots))
        follower = Follower([*steps, ProcedureStep(action="Finished")], capability.language, self._subject.platform)
        task = trial_task(self._subject, capability, steps, seconds)
        plan = plan_attempt("explore", task.task_id, follower.policy_id, seed=self._seed)
        record = await rollout(task, self._environment, follower, sandbox_gate(), plan)
        found = follower.missing
        return Trial(record, follower.missing_at, found.detail if found is not None else "")

    async def confirm(self, capability: Capability, seconds: float = TRY_SECONDS) -> Outcome:
        """Try a capability, again when it fails, and then with what may have replaced what it misses."""
        if not capability.procedure:
            return Outcome(capability, None, "no procedure is recorded", [])
        if capability.consequence != "none" and not self._subject.resettable:
            return Outcome(capability, None, "what it does could not be undone here", [])
        trials = [await self.attempt(capability, seconds)]
        problem = problem_of(capability, trials[0])
        if problem is None:
            return _held(capability, "confirmed", "", trials)
        trials.append(await self.attempt(capability, seconds))
        if problem_of(capability, trials[1]) is None:
            # A first try that the world broke says nothing against the capability.
            verdict: CapabilityStatus = "flaky" if trials[0].fault is None else "confirmed"
            return _held(capability, verdict, f"one of two tries: {problem}", trials)
        return await self._failed(capability, trials, seconds)

    async def replace(self, capability: Capability, procedures: Iterable[Sequence[ProcedureStep]]) -> Outcome | None:
        """Try whole other procedures for a capability; the first that has its effect is recorded."""
        trials: list[Trial] = []
        for procedure in procedures:
            changed = capability.model_copy(update={"procedure": list(procedure)})
            trials.append(await self.attempt(changed, TRY_SECONDS))
            if problem_of(changed, trials[-1]) is None and _same_effect(capability, trials[-1]):
                return _held(changed, "renamed", "there is another way to it", trials)
        return None

    async def _failed(self, capability: Capability, trials: list[Trial], seconds: float) -> Outcome:
        last = trials[-1]
        if last.fault is not None:
            return Outcome(capability, None, last.fault, trials)
        if asks_for_login(capability, last):
            return _broken(capability, "needs_login", "a password is asked for", trials)
        mended = await self._mended(capability, trials, seconds)
        return mended or _broken(capability, "outdated", problem_of(capability, last) or "", trials)

    async def _mended(self, capability: Capability, trials: list[Trial], seconds: float) -> Outcome | None:
        """Try what may have taken the place of the step that found nothing, and of a second one if that leads on."""
        current, last = capability, trials[-1]
        for _ in range(_MOST_RENAMES):
            further: tuple[Capability, Trial] | None = None
            at = last.missing_at
            for step in _replacements(current, last):
                assert at is not None
                changed = _replaced(current, at, step)
                trial = await self.attempt(changed, seconds)
                trials.append(trial)
                if problem_of(changed, trial) is None and _same_effect(capability, trial):
                    reason = f"{current.procedure[at].role} {current.procedure[at].name!r} is now {step.name!r}"
                    return _held(changed, "renamed", reason, trials)
                if further is None and trial.missing_at is not None and trial.missing_at > at:
                    further = changed, trial
            if further is None:
                break
            current, last = further
        return None


def problem_of(capability: Capability, trial: Trial) -> str | None:
    """Why a run does not confirm a capability; nothing when it does."""
    record = trial.record
    if trial.fault is not None:
        return trial.fault
    if trial.missing_at is not None:
        return f"step {trial.missing_at + 1}: {trial.detail}"
    if record.attempt.termination != "finished":
        return f"it ended by {record.trajectory.termination} ({record.trajectory.reason})"
    failed = [step for step in record.steps[-2:] if step.status == "failed"]
    if failed:
        return f"step {failed[0].step_index + 1} failed: {failed[0].error_detail}"
    if capability.consequence != "none":
        return None if trial.changes else "the procedure came to its end, but the state is what it was"
    return _misplaced(capability, trial)


def asks_for_login(capability: Capability, trial: Trial) -> bool:
    """Whether the run ended before a password field that the procedure knows nothing of."""
    if trial.record.trajectory.reason == "login":
        return True
    if trial.missing_at is None:
        return False
    known = {step.name for step in capability.procedure}
    return any("protected" in node.states and node.name not in known for node in trial.nodes)


def _misplaced(capability: Capability, trial: Trial) -> str | None:
    """What a capability that changes nothing did wrong, if anything."""
    if trial.changes:
        keys = ", ".join(row[0] for row in trial.changes[:3])
        return f"its consequence is said to be none, but the state differs: {keys}"
    location = trial.ended_at
    if capability.screens and not on_screen(location, capability.screens[-1]):
        return f"it ended at {location.partition('://')[2].partition('/')[2]!r}, not on {capability.screens[-1]}"
    return None


def _replacements(capability: Capability, trial: Trial) -> list[ProcedureStep]:
    at, steps = trial.missing_at, capability.procedure
    if at is None or at >= len(steps):
        return []
    used = [step.name for step in bind(steps, first_examples(capability.slots)) if step.name]
    before = bind([steps[at - 1]], first_examples(capability.slots))[0] if at > 0 else None
    return candidates(trial.nodes, steps[at], before, used, capability.consequence)


def _replaced(capability: Capability, at: int, step: ProcedureStep) -> Capability:
    steps = [*capability.procedure[:at], step, *capability.procedure[at + 1 :]]
    return capability.model_copy(update={"procedure": steps})


def _same_effect(capability: Capability, trial: Trial) -> bool:
    """A changed procedure must do what the capability is for, not the opposite."""
    if capability.consequence == "none":
        return True
    return {row[1] for row in trial.changes} != ({"added"} if capability.consequence == "delete" else {"removed"})


def _held(capability: Capability, verdict: CapabilityStatus, reason: str, trials: list[Trial]) -> Outcome:
    """It worked, in the last of the tries; a mended procedure stands confirmed."""
    status: CapabilityStatus = "flaky" if verdict == "flaky" else "confirmed"
    return Outcome(_counted(capability, status, trials, 1), verdict, reason, trials)


def _broken(capability: Capability, verdict: CapabilityStatus, reason: str, trials: list[Trial]) -> Outcome:
    return Outcome(_counted(capability, verdict, trials, 0), verdict, reason, trials)


def _counted(capability: Capability, status: CapabilityStatus, trials: Sequence[Trial], held: int) -> Capability:
    """The capability with its new status and counters: tries that the world broke do not count."""
    failed = sum(trial.fault is None for trial in trials) - held
    return capability.model_copy(
        update={
            "status": status,
            "success_count": capability.success_count + held,
            "failure_count": capability.failure_count + failed,
        }
    )
