"""One task, one environment, one policy: one record.

The loop looks, asks the policy, reads what lies under the point, asks the gate, acts, and looks again; probes are read
while the world lives. Trouble is kept apart: what concerns an action is told to the policy and the episode goes on;
what breaks the world ends it as a fault. This module knows nothing of Ray, files, grades or concrete environments.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from pipeline.actions import Action, Pixel, Terminal, points_of
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
from pipeline.protocols import Decision, Environment, Gate, Observation, Policy
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


class StoppedError(PathproofError):
    """The run as a whole cannot go on; what the episode had left behind by then, and why."""

    def __init__(self, record: Record, reason: RunError) -> None:
        super().__init__(str(reason))
        self.record = record
        self.reason = reason


async def rollout(task: TaskSpec, environment: Environment, policy: Policy, gate: Gate, plan: AttemptPlan) -> Record:
    """Run one attempt to its end, whatever that is; the environment's `finish` is always called.

    Cancelling the surrounding task ends the episode as `cancelled`: the record is returned, not lost. An error of the
    whole run ends it likewise, and raises StoppedError with the record. Errors in the user's configuration escape.
    """
    cast = _Cast(task, environment, policy, gate, plan)
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
    limits = cast.plan.limits
    async with _bounded(limits.start_seconds, SetupError, "start"):
        episode.environment = await cast.environment.start(cast.task)
    await _probe(cast, episode, [*cast.task.preflight, *_contract(cast.task)])
    _preflight(cast.task, episode)
    await _look(cast, episode)
    try:
        await _play(cast, episode)
    except ModelError as error:
        _break(episode, error)
    await _probe(cast, episode, _contract(cast.task))


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
        async with _bounded(cast.plan.limits.call_seconds, EnvError, "act"):
            await _gate(cast, episode, action, points)
            result = await cast.environment.act(action, points)
    except ActionError as error:
        _refuse(episode, error)
    else:
        episode.amend(status="ok", flags=[*decision.flags, *result.flags])
        episode.feedback = result.feedback
    episode.amend(seconds_act=_since(started))


async def _gate(cast: _Cast, episode: Episode, action: Action, points: Sequence[Pixel]) -> None:
    """Read what lies under the point, then ask whether the action may happen; raises ActionError when it may not."""
    target = await cast.environment.target(points[0]) if points else None
    ruling = cast.gate.decide(cast.task, episode.last, action, target)
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
    async with _bounded(cast.plan.limits.call_seconds, EnvError, "observe"):
        observation = await cast.environment.observe()
    episode.happened(cast.environment.drain_events())
    episode.saw(observation)


async def _probe(cast: _Cast, episode: Episode, checks: Sequence[Check]) -> None:
    index = max(len(episode.observations) - 1, 0)
    async with _bounded(cast.plan.limits.call_seconds, EnvError, "probe"):
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
        async with _bounded(cast.plan.limits.finish_seconds, EnvError, "finish"):
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
