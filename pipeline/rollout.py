"""One task, one environment, one policy: one record.

The loop looks, asks the policy, reads what lies under the point, asks the gate, acts, and looks again; probes are read
while the world lives. Trouble is kept apart: what concerns an action is told to the policy and the episode goes on;
what breaks the world ends it as a fault. An episode may begin with what an earlier one did: its steps are made again,
or the state they led to is loaded, and the policy takes over once the world proves that the segments before are done.
This module knows nothing of Ray, files, grades or concrete environments.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple

from pipeline.actions import Action, Keyed, Pixel, Terminal, points_of
from pipeline.episode import AttemptPlan, Ending, Episode, ending_of
from pipeline.errors import (
    ActionError,
    EnvError,
    EpisodeError,
    ModelError,
    PathproofError,
    RunError,
    SetupError,
    boundary,
    fault_of,
)
from pipeline.overheard import overheard
from pipeline.prefix import SEEDED, Done, Prefix, decision_of
from pipeline.protocols import (
    Consulted,
    Decision,
    Environment,
    Gate,
    Keeping,
    Observation,
    Policy,
    leading_in,
    patience_of,
)
from pipeline.records import Event, Record
from pipeline.stopping import must_end
from pipeline.tasks import Check, TaskSpec
from pipeline.words import EventKind
from verifiers.contract import rows_of, state_of


class _Cast(NamedTuple):
    """Who takes part."""

    task: TaskSpec
    environment: Environment
    policy: Policy
    gate: Gate
    plan: AttemptPlan
    prefix: Prefix | None


class StoppedError(PathproofError):
    """The run as a whole cannot go on; what the episode had left behind by then, and why."""

    def __init__(self, record: Record, reason: RunError) -> None:
        super().__init__(str(reason))
        self.record = record
        self.reason = reason


async def rollout(
    task: TaskSpec,
    environment: Environment,
    policy: Policy,
    gate: Gate,
    plan: AttemptPlan,
    prefix: Prefix | None = None,
) -> Record:
    """Run one attempt to its end, whatever that is; the environment's `finish` is always called.

    With a `prefix` the policy begins where that leads to; a prefix that does not lead there any more is a fault.

    Cancelling the surrounding task ends the episode as `cancelled`: the record is returned, not lost. An error of the
    whole run ends it likewise, and raises StoppedError with the record. Errors in the user's configuration escape.
    """
    cast = _Cast(task, environment, policy, gate, plan, prefix)
    episode = Episode(task, plan, policy.policy_id, policy.name)
    stopped: RunError | None = None
    try:
        await _live(cast, episode)
    except asyncio.CancelledError:
        _stay()
        episode.end(Ending("cancelled", reason="cancelled"))
    except EpisodeError as error:
        _break(episode, error)
    except RunError as error:
        stopped = error
        episode.end(Ending("cancelled", reason="run_stopped"))
    finally:
        await _leave(cast, episode)
    if stopped is not None:
        raise StoppedError(episode.record(), stopped)
    return episode.record()


async def _live(cast: _Cast, episode: Episode) -> None:
    if cast.prefix is None or not await _load(cast, episode, cast.prefix):
        await _begin(cast, episode)
        if cast.prefix is not None:
            await _replay(cast, episode, cast.prefix)
    try:
        await _play(cast, episode)
    except ModelError as error:
        _break(episode, error)
    await _probe(cast, episode, _contract(cast.task))


async def _begin(cast: _Cast, episode: Episode) -> None:
    async with _reaching(cast, cast.plan.limits.start_seconds, SetupError, "start"):
        episode.environment = await cast.environment.start(cast.task)
    await _probe(cast, episode, [*cast.task.preflight, *_contract(cast.task)])
    _preflight(cast.task, episode)
    await _look(cast, episode)


async def _replay(cast: _Cast, episode: Episode, prefix: Prefix) -> None:
    """Do again what the prefix did, until the segments before are seen to be done; raises SetupError otherwise."""
    unmet = [check.name for check in prefix.checks(cast.task)]
    try:
        async with asyncio.timeout(cast.task.max_seconds):
            for number, reply in enumerate(prefix.replies, 1):
                await _again(cast, episode, reply)
                unmet = await _unmet(cast, episode, prefix)
                if not unmet:
                    await _keep(cast, prefix, number)
                    return
            raise _not_reached(f"after its last step these do not hold: {', '.join(unmet)}")
    except TimeoutError as late:
        raise _not_reached(f"it takes longer than the task may, {cast.task.max_seconds:g} s") from late


async def _again(cast: _Cast, episode: Episode, reply: Sequence[Done]) -> None:
    """One reply of the prefix, step by step; raises SetupError when one does not take place as it did."""
    decision = decision_of(reply)
    cast.policy.follow(episode.turn, decision)
    episode.decided(decision, 0.0, replayed=True)
    for number, done in enumerate(reply):
        if number:
            episode.follows(decision, done.move)
        await _step(cast, episode, decision.model_copy(update=dict(done.move)))
        step = episode.steps[-1]
        if step.status != "ok":
            raise _not_reached(f"step {step.step_index} ({done.action.type}) failed: {step.error_detail}")


async def _keep(cast: _Cast, prefix: Prefix, number: int) -> None:
    """Keep the state that has been proved, where that can be done: the next attempt need not come here step by step."""
    if isinstance(cast.environment, Keeping):
        async with _reaching(cast, cast.plan.limits.call_seconds, EnvError, "keep"):
            await cast.environment.keep(prefix.name)
        prefix.reached = number


async def _load(cast: _Cast, episode: Episode, prefix: Prefix) -> bool:
    """Begin in the state that the prefix led to before; false, and nothing has happened, when it is not kept."""
    reached, prefix.reached = prefix.reached, None  # until it has been seen to work once more
    if reached is None or not isinstance(cast.environment, Keeping):
        return False
    async with _reaching(cast, cast.plan.limits.start_seconds, SetupError, "start"):
        begun = await cast.environment.start_from(cast.task, prefix.name)
    if begun is None:
        return False
    episode.environment = begun
    episode.read(prefix.first_reads)
    for reply in prefix.replies[:reached]:
        _tell(cast, episode, reply)
    await _look(cast, episode)
    unmet = await _unmet(cast, episode, prefix)
    if unmet:
        raise _not_reached(f"in the state that was kept these do not hold: {', '.join(unmet)}")
    prefix.reached = reached
    return True


def _tell(cast: _Cast, episode: Episode, reply: Sequence[Done]) -> None:
    """Write a reply of the prefix down, with what was seen then, and show it to the policy."""
    decision = decision_of(reply)
    for number, done in enumerate(reply):
        episode.saw(done.look)
        if number:
            episode.follows(decision, done.move)
        else:
            cast.policy.follow(episode.turn, decision)
            episode.decided(decision, 0.0, replayed=True)
        flags = list(dict.fromkeys([*done.step.flags, SEEDED]))
        episode.amend(status="ok", target=done.step.target, gate=done.step.gate, flags=flags)
        episode.happened(done.events)


async def _unmet(cast: _Cast, episode: Episode, prefix: Prefix) -> list[str]:
    """What does not hold now of what the prefix is to lead to; the reads that prove that it does are kept."""
    async with _reaching(cast, cast.plan.limits.call_seconds, EnvError, "probe"):
        reads = await cast.environment.probe(prefix.checks(cast.task), len(episode.observations) - 1)
    record = episode.record()
    unmet = prefix.unmet(cast.task, record.model_copy(update={"probe_reads": [*record.probe_reads, *reads]}))
    if not unmet:
        episode.read(reads)
    return unmet


def _not_reached(detail: str) -> SetupError:
    return SetupError("prefix_not_reached", f"the earlier attempt's steps lead elsewhere now: {detail}")


async def _play(cast: _Cast, episode: Episode) -> None:
    """Turn after turn until the agent, a rule or the clock ends it."""
    seconds = min(cast.task.max_seconds, cast.plan.max_seconds or cast.task.max_seconds)
    try:
        async with asyncio.timeout(seconds):
            while episode.ending is None:
                await _turn(cast, episode)
                stop = must_end(episode, _max_steps(cast))
                if stop is not None:
                    episode.end(stop)
    except TimeoutError:
        episode.end(Ending("time_limit", reason="max_seconds"))
    if not episode.seen_since_last_step:
        await _look(cast, episode)


def _max_steps(cast: _Cast) -> int:
    return min(cast.task.max_steps, cast.plan.max_steps or cast.task.max_steps)


async def _turn(cast: _Cast, episode: Episode) -> None:
    """One reply of the policy, and all the steps it asks for."""
    started = time.monotonic()
    try:
        async with _bounded(cast.plan.limits.decide_seconds, ModelError, "decide"):
            decision = await cast.policy.decide(episode.turn)
    finally:
        episode.consulted(cast.policy.drain_consulted())
    episode.decided(decision, _since(started))
    await _step(cast, episode, decision)
    for number, move in enumerate(decision.then):
        if not await _goes_on(cast, episode):
            episode.left_out(decision.reply, decision.then[number:])
            return
        episode.follows(decision, move)
        await _step(cast, episode, decision.model_copy(update=dict(move)))


async def _goes_on(cast: _Cast, episode: Episode) -> bool:
    """Whether the next move of the same reply may follow."""
    if episode.ending is None and episode.steps[-1].status == "ok":
        episode.ending = must_end(episode, _max_steps(cast))
    return episode.ending is None and episode.steps[-1].status == "ok"


async def _step(cast: _Cast, episode: Episode, decision: Decision) -> None:
    """Carry out the move of a step that has been opened, and look at the result."""
    episode.feedback = None
    action = decision.action
    if action is None or decision.action_error is not None:
        _refuse(episode, ActionError(decision.action_error or "no_action", decision.error_detail or "no action"))
    elif isinstance(action, Terminal):
        episode.amend(status="ok")
        episode.end(ending_of(action, refused=decision.infeasible))
    else:
        await _carry_out(cast, episode, decision, action)
    await _look(cast, episode)


async def _carry_out(cast: _Cast, episode: Episode, decision: Decision, action: Action) -> None:
    started = time.monotonic()
    try:
        points = _points(decision, action, episode.last)
        await _gate(cast, episode, action, points)
        async with _reaching(cast, cast.plan.limits.call_seconds, EnvError, "act"):
            result = await cast.environment.act(action, points)
    except ActionError as error:
        _refuse(episode, error)
    else:
        episode.amend(status="ok", flags=list(dict.fromkeys([*decision.flags, *result.flags])))
        episode.feedback = result.feedback
    episode.amend(seconds_act=_since(started))


async def _gate(cast: _Cast, episode: Episode, action: Action, points: Sequence[Pixel]) -> None:
    """Read what the action works, then ask whether it may happen; raises ActionError when it may not."""
    async with _reaching(cast, cast.plan.limits.call_seconds, EnvError, "target"):
        target = await cast.environment.target(points[0]) if points else None
        leading = await leading_in(cast.environment) if isinstance(action, Keyed) else None
    try:
        async with _bounded(cast.plan.limits.decide_seconds, ModelError, "gate"):
            ruling = await cast.gate.decide(cast.task, episode.last, action, target or leading)
    finally:
        episode.consulted(Consulted(cast.gate.drain_calls(), [], []))
    episode.amend(target=target, gate=ruling)
    if ruling.decision != "allow":
        episode.happened([_event("gate", ruling.reason, answer=ruling.decision, decided_by=ruling.profile)])
        if ruling.decision == "ask":
            episode.end(Ending("call_user", reason="gate"))
        raise ActionError("blocked_by_gate", ruling.reason)


def _points(decision: Decision, action: Action, seen: Observation) -> Sequence[Pixel]:
    """The pixels to act at; raises ActionError when they do not fit the action and the picture it was decided on."""
    points, wanted = decision.device_points, len(points_of(action))
    if len(points) != wanted:
        raise ActionError("bad_arguments", f"{action.type} needs {wanted} points, {len(points)} given")
    if points and seen.frame is None:
        raise ActionError("bad_arguments", "there is no picture to point at")
    for pixel in points:
        if seen.frame is not None and not (0 <= pixel.x < seen.frame.width and 0 <= pixel.y < seen.frame.height):
            raise ActionError("out_of_range", f"({pixel.x}, {pixel.y}) lies outside the picture")
    return points


def _refuse(episode: Episode, error: ActionError) -> None:
    """The action did not take place: a failed step, and the policy hears why."""
    episode.amend(status="failed", action_error=error.code, error_detail=error.detail)
    episode.feedback = error.detail


async def _look(cast: _Cast, episode: Episode) -> None:
    async with _reaching(cast, cast.plan.limits.call_seconds, EnvError, "observe"):
        observation = await cast.environment.observe()
    happened = cast.environment.drain_events()
    episode.happened(happened)
    episode.saw(observation)
    episode.happened(overheard(observation, happened, episode.events))


async def _probe(cast: _Cast, episode: Episode, checks: Sequence[Check]) -> None:
    index = max(len(episode.observations) - 1, 0)
    async with _reaching(cast, cast.plan.limits.call_seconds, EnvError, "probe"):
        episode.read(await cast.environment.probe(checks, index))


def _contract(task: TaskSpec) -> list[Check]:
    return [*task.checks, *task.absence_checks]


def _preflight(task: TaskSpec, episode: Episode) -> None:
    """The initial state must be what the task takes for granted; raises SetupError otherwise."""
    for check in task.preflight:
        rows = rows_of(check, episode.probe_reads)
        state = state_of(check, rows)
        if state != "passed":
            message = f"check '{check.name}' {state}: expected {check.expected}, found {rows}"
            raise SetupError("preflight_failed", message)


async def _leave(cast: _Cast, episode: Episode) -> None:
    """End the episode in the environment; trouble here is written down, it does not spoil what was recorded."""
    try:
        async with _reaching(cast, cast.plan.limits.finish_seconds, EnvError, "finish"):
            await cast.environment.finish()
    except EpisodeError as error:
        episode.happened([_event("crash", f"finish: {error.message}")])
    except asyncio.CancelledError:
        _stay()
        episode.happened([_event("crash", "finish: cancelled")])


def _break(episode: Episode, error: EpisodeError) -> None:
    episode.end(Ending("fault", reason=error.code, fault=fault_of(error)))


def _stay() -> None:
    """Take back the cancellation of the running task: its wish has been recorded and the record must get out."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


def _reaching(cast: _Cast, seconds: float, error: type[EpisodeError], what: str) -> AbstractAsyncContextManager[None]:
    """A deadline for a call of the environment, as patient as that is."""
    return _bounded(seconds * patience_of(cast.environment), error, what)


@asynccontextmanager
async def _bounded(seconds: float, error: type[EpisodeError], what: str) -> AsyncIterator[None]:
    """A deadline for an outside call; whatever escapes is attributed to the boundary."""
    try:
        async with asyncio.timeout(seconds):
            with boundary(error, f"{what}_failed"):
                yield
    except TimeoutError as late:
        raise error(f"{what}_timeout", f"{what} took longer than {seconds:g} s") from late


def _event(kind: EventKind, detail: str, *, answer: str | None = None, decided_by: str | None = None) -> Event:
    return Event(attempt_id="", step_index=0, kind=kind, detail=detail, answer=answer, decided_by=decided_by)


def _since(started: float) -> float:
    return round(time.monotonic() - started, 4)
