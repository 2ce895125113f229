"""Tries what a catalog says an application can do: one capability, the reset application, the first slot examples.

A capability that writes is confirmed only by a difference of the application's state; one that reads, when its
procedure comes to its end on the screen it names. What broke is tried once more, then with a control that may have
taken the place of a missing one. Every try is an ordinary rollout, so that its deadlines and faults hold here too.
This module knows nothing of what else there may be in the application.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from catalogs.meaning import consequence_shown
from catalogs.mending import candidates
from catalogs.screens import on_screen
from pipeline.actions import CallUser
from pipeline.episode import plan_attempt
from pipeline.policies.script import Missing, Planned, Script, decision_of
from pipeline.policies.wording import thought
from pipeline.protocols import Decision, Environment, Policy, Turn
from pipeline.records import Record, digest
from pipeline.rollout import rollout
from pipeline.safety import PermissiveGate
from pipeline.structs import Node, Param
from pipeline.tasks import Capability, ProcedureStep, Start, TaskSpec
from pipeline.words import CapabilityStatus, Domain, Platform
from taskspecs.store import bind

_TRY_SECONDS = 60.0
_MOST_RENAMES = 2
_DOMAINS: dict[Platform, Domain] = {"web": "Web", "mobile": "Mobile", "desktop": "Computer"}
_CHANGES = "changes"


class Subject(NamedTuple):
    """The application to be explored: where it begins, and whether everything done to it can be undone."""

    app_id: str
    platform: Platform = "web"
    language: str = "en"
    home: str = "/"
    resettable: bool = True
    licence: str = ""


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
    def changes(self) -> list[list[str]]:
        """What is different since the start; nothing when that could not be read."""
        reads = [row for row in self.record.probe_reads if row.probe == _CHANGES]
        return (reads[-1].value or []) if reads else []


class Outcome(NamedTuple):
    """What came of a capability: the row as it now is, why, and the runs that show it. `tried` is false without one."""

    capability: Capability
    reason: str
    trials: list[Trial]
    tried: bool = True


class Follower(Policy):
    """Follows a procedure and remembers where it could not go on."""

    name = "explorer"
    policy_id = "explorer"

    def __init__(self, plan: Sequence[ProcedureStep], language: str) -> None:
        self._language = language
        self._script = Script([Planned(step) for step in plan], language)
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


def first_examples(capability: Capability) -> list[Param]:
    """The slots with their first examples, which hold on the application as it is after a reset."""
    return [Param(name=slot.name, value=slot.values[0]) for slot in capability.slots if slot.values]


async def attempt(
    environment: Environment, subject: Subject, capability: Capability, *, seed: int = 0, seconds: float = _TRY_SECONDS
) -> Trial:
    """Reset the application and run a capability's procedure with the first slot examples."""
    steps = bind(capability.procedure, first_examples(capability))
    follower = Follower([*steps, ProcedureStep(action="Finished")], capability.language)
    task = _task(subject, capability, steps, seconds)
    plan = plan_attempt("explore", task.task_id, follower.policy_id, seed=seed)
    record = await rollout(task, environment, follower, PermissiveGate("exploration"), plan)
    found = follower.missing
    return Trial(record, follower.missing_at, found.detail if found is not None else "")


async def confirm(
    environment: Environment, subject: Subject, capability: Capability, *, seed: int = 0, seconds: float = _TRY_SECONDS
) -> Outcome:
    """Try a capability, again when it fails, and then with what may have replaced what it misses."""
    if not capability.procedure:
        return Outcome(capability, "no procedure is recorded", [], tried=False)
    trials: list[Trial] = []
    for _ in range(2):
        trial = await attempt(environment, subject, capability, seed=seed, seconds=seconds)
        trials.append(trial)
        problem = problem_of(capability, trial)
        if problem is None:
            status: CapabilityStatus = "confirmed" if len(trials) == 1 else "flaky"
            reason = "" if len(trials) == 1 else f"one of two tries: {problem_of(capability, trials[0])}"
            return Outcome(_counted(capability, status, trials, 1), reason, trials)
    if trials[-1].fault is not None:
        return Outcome(capability, trials[-1].fault, trials, tried=False)
    if asks_for_login(capability, trials[-1]):
        return Outcome(_counted(capability, "needs_login", trials, 0), "a password is asked for", trials)
    return await _mended(environment, subject, capability, trials, seed, seconds)


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
    location = trial.record.observations[-1].location
    if capability.screens and not on_screen(location, capability.screens[-1]):
        return f"it ended at {location.partition('://')[2].partition('/')[2]!r}, not on {capability.screens[-1]}"
    return None


async def _mended(
    environment: Environment, subject: Subject, capability: Capability, trials: list[Trial], seed: int, seconds: float
) -> Outcome:
    """Try what may have taken the place of the step that found nothing, a second one too if that leads on."""
    current, last = capability, trials[-1]
    for _ in range(_MOST_RENAMES):
        if last.missing_at is None:
            break
        better: tuple[Capability, Trial] | None = None
        for step in _replacements(current, last):
            changed = _replaced(current, last.missing_at, step)
            trial = await attempt(environment, subject, changed, seed=seed, seconds=seconds)
            trials.append(trial)
            if problem_of(changed, trial) is None and _same_effect(capability, trial):
                reason = f"{_named(capability, last.missing_at)} is now {step.role} {step.name!r}"
                return Outcome(_counted(changed, "renamed", trials, 1), reason, trials)
            if better is None and (trial.missing_at or 0) > last.missing_at:
                better = changed, trial
        if better is None:
            break
        current, last = better
    reason = problem_of(capability, trials[1]) or ""
    return Outcome(_counted(capability, "outdated", trials, 0), reason, trials)


def _replacements(capability: Capability, trial: Trial) -> list[ProcedureStep]:
    at = trial.missing_at or 0
    steps = capability.procedure
    used = [step.name for step in bind(steps, first_examples(capability)) if step.name]
    before = bind([steps[at - 1]], first_examples(capability))[0] if at > 0 else None
    return candidates(trial.nodes, steps[at], before, used, capability.consequence) if at < len(steps) else []


def _replaced(capability: Capability, at: int, step: ProcedureStep) -> Capability:
    steps = [*capability.procedure[:at], step, *capability.procedure[at + 1 :]]
    return capability.model_copy(update={"procedure": steps})


def _named(capability: Capability, at: int) -> str:
    step = capability.procedure[at]
    return f"{step.role} {step.name!r}"


def _same_effect(capability: Capability, trial: Trial) -> bool:
    """A changed procedure must do what the capability is for, not something else that changes the state."""
    kind, shown = capability.consequence, consequence_shown(trial.changes)
    if kind in ("none", "edit", "send"):
        return kind != "edit" or shown in ("edit", "create")
    return {row[1] for row in trial.changes} >= ({"removed"} if kind == "delete" else {"added"})


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


def _task(subject: Subject, capability: Capability, steps: Sequence[ProcedureStep], seconds: float) -> TaskSpec:
    """A task without a contract whose start is the application's home."""
    spelled = [step.model_dump_json() for step in steps]
    return TaskSpec(
        task_id=digest("explore", subject.app_id, capability.capability_id, *spelled),
        app_ids=[subject.app_id],
        platform=subject.platform,
        tier="single",
        instruction=f"{capability.verb} {capability.object}",
        language=capability.language,
        capability_ids=[capability.capability_id],
        start=Start(app_id=subject.app_id, path=subject.home),
        contract_kind="state",
        segments=[],
        consequence=capability.consequence,
        domain=_DOMAINS[subject.platform],
        max_steps=5 * len(steps) + 12,
        max_seconds=seconds,
    )
