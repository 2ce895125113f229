"""Waiting for Ray actors without ever waiting for ever: deadlines, heartbeats, bounded starts, and one way to stop.

Whatever a dead, silent or misbehaving process does, the caller sees a WorkerError, or the project's own error that the
process raised. Knows nothing of what the actors do.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple, TypeVar

import ray
from ray.exceptions import RayError, RayTaskError

from pipeline.cluster import Place
from pipeline.errors import EpisodeError, PathproofError, RunError, SinkError, WorkerError

Answer = TypeVar("Answer")

PUBLISH_SECONDS = 120.0
CANCEL_SECONDS = 15.0
CLOSE_SECONDS = 20.0
BEAT_SECONDS = 5.0
LOOK_SECONDS = 0.2
SILENCE_SECONDS = 30.0
LISTEN_SECONDS = 1.0
ANSWER_SECONDS = 30.0


class Halt:
    """The one reason why a run stops early; the first one stands."""

    def __init__(self) -> None:
        self.reason: PathproofError | None = None
        self.called = asyncio.Event()

    def call(self, reason: PathproofError) -> None:
        """Ask everybody to end what they are doing."""
        self.reason = self.reason or reason
        self.called.set()


Handle = Any
"""An actor's handle: Ray makes its methods up, so types end here."""


async def ask(answer: Awaitable[Answer], seconds: float, what: str) -> Answer:
    """Wait for an actor's answer; raises WorkerError when it fails or none comes in time."""
    try:
        async with asyncio.timeout(seconds):
            return await answer
    except TimeoutError:
        raise WorkerError("no_answer", f"{what}: no answer within {seconds:g} s") from None
    except RayTaskError as error:
        if isinstance(error.cause, PathproofError):
            raise error.cause from None
        raise WorkerError("broken", f"{what}: {type(error.cause).__name__}: {error.cause}") from error
    except RayError as error:
        raise WorkerError("lost", f"{what}: {_first_line(error)}") from error


async def watch(
    worker: Handle, answer: Awaitable[Answer], seconds: float, halt: Halt, on_halt: Callable[[], Awaitable[object]]
) -> Answer:
    """Wait for long work while the worker's heart beats; on a halt call `on_halt` once and give it a little time."""
    pending = asyncio.ensure_future(ask(answer, seconds, "attempt"))
    halted = asyncio.ensure_future(halt.called.wait())
    try:
        while not pending.done():
            await asyncio.wait({pending, halted}, timeout=BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if halted.done() and not pending.done():
                await ask(on_halt(), CANCEL_SECONDS, "cancelling")
                await ask(asyncio.shield(pending), CANCEL_SECONDS, "cancelled attempt")
            elif not pending.done():
                await ask(worker.beat.remote(), SILENCE_SECONDS, "heartbeat")
        return await pending
    finally:
        for waiting in (pending, halted):
            waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError, PathproofError):
                await waiting


async def listen(
    worker: Handle, work: Awaitable[Answer], seconds: float, halt: Halt, tell: Callable[[Any], None]
) -> Answer:
    """Watch long work that a halt leaves alone, and pass on meanwhile what the worker's method `heard` has to say."""

    async def hear() -> None:
        for line in await ask(worker.heard.remote(), ANSWER_SECONDS, "listening"):
            tell(line)

    async def keep_hearing() -> None:
        while True:
            await asyncio.sleep(LISTEN_SECONDS)
            with contextlib.suppress(PathproofError):  # a busy worker answers later, and its heart is watched anyway
                await hear()

    hearing = asyncio.create_task(keep_hearing())
    try:
        found = await watch(worker, work, seconds, halt, worker.beat.remote)
    finally:
        hearing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await hearing
    await hear()
    return found


async def unless(work: Coroutine[Any, Any, Answer], stop: Callable[[], bool]) -> Answer | None:
    """Wait for work that is only worth it while `stop` is false; null when it was given up."""
    task = asyncio.create_task(work)
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=LOOK_SECONDS)
            if stop() and not task.done():
                return None
        return await task
    finally:
        task.cancel()


class Employee(NamedTuple):
    """A worker that has come up, the name its parts carry, and the machine it is on."""

    worker: Handle
    name: str
    node: str


class Agency:
    """Starts and ends workers; the number of starts is bounded, so that a broken machine cannot keep us starting."""

    def __init__(self, starts: int, start_seconds: float) -> None:
        self._starts_left, self._start_seconds = starts, start_seconds
        self._last_error = ""

    async def hire(self, kind: type[Any], place: Place, name: str, *arguments: object) -> Employee:
        """A worker that has said it is ready; raises WorkerError, its own error, or RunError when starts run out."""
        if self._starts_left <= 0:
            raise RunError(f"workers keep dying, the last one: {self._last_error}")
        self._starts_left -= 1
        worker: Handle = actor(kind, place).remote(*arguments)
        try:
            node = await ask(worker.ready.remote(), self._start_seconds, f"worker {name} starting")
        except asyncio.CancelledError:
            dismiss(worker)
            raise
        except PathproofError as error:
            dismiss(worker)
            self._last_error = _first_line(error)
            if isinstance(error, WorkerError) and error.code == "no_answer" and not offered(place):
                raise RunError(f"no node of the cluster offers {spelled(place)}") from error
            raise
        return Employee(worker, name, node)

    def fire(self, employee: Employee, error: WorkerError) -> None:
        """End a worker that failed at once; its guardian cleans up."""
        self._last_error = error.message
        dismiss(employee.worker)

    async def retire(self, employee: Employee) -> None:
        """Let a worker clean up after itself, then end it."""
        with contextlib.suppress(PathproofError):
            await ask(employee.worker.close.remote(), CLOSE_SECONDS, "closing")
        dismiss(employee.worker)


def stop_for(error: PathproofError) -> PathproofError:
    """The error that a run ends with: one line that says what to do."""
    if isinstance(error, SinkError):
        if error.code == "no_store":
            return RunError(f"rows cannot be written: {error.message}")
        return RunError(f"rows cannot be written ({error.message}): free space, or check the folder's permissions")
    if isinstance(error, EpisodeError):
        return RunError(f"{error.boundary}/{error.code}: {error.message}")
    return error


def actor(kind: type[Any], place: Place, **options: Any) -> Any:
    """The actor class of a plain class. Retries are ours, so Ray makes none."""
    return ray.remote(
        num_cpus=place.num_cpus, resources=place.resources, max_restarts=0, max_task_retries=0, **options
    )(kind)


def dismiss(worker: Handle) -> None:
    """End an actor at once."""
    ray.kill(worker, no_restart=True)


def offered(place: Place) -> bool:
    """Whether the nodes that are up offer what the place asks for, taken or not."""
    there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return all(there.get(name, 0.0) >= amount for name, amount in place.resources.items())


def spelled(place: Place) -> str:
    """What the place asks for, in words."""
    wanted = [f"{amount:g} {name}" for name, amount in place.resources.items()] or [f"{place.num_cpus:g} CPU"]
    return ", ".join(wanted)


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
