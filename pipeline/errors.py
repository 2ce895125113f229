"""The error tree, and the one place that classifies what escapes.

    PathproofError
    ├── ConfigError        bad arguments or configuration: one line naming the key, exit code 2
    ├── RunError           the run as a whole cannot go on: exit code 1
    ├── ActionError        an action could not be done or a reply not read: told to the policy, scored
    ├── CaptureError       no usable picture: the observation says why, never a substitute picture
    ├── TreeError          no usable UI tree: the observation says why
    └── EpisodeError       the world broke: becomes a Fault, unscored, eligible for another attempt
        ├── SetupError     boundary `setup`: application, device, snapshot, task set-up
        ├── EnvError       boundary `env`: browser, phone, desktop while the episode ran
        ├── ModelError     boundary `model`: the acting model's endpoint
        ├── ProbeError     boundary `probe`: a read-only question could not be answered
        ├── SinkError      boundary `sink`: rows or frames could not be written
        └── WorkerError    boundary `worker`: the worker process itself

Failures are attributed to the boundary they crossed: `boundary()` wraps the calls at that border, `fault_of` turns
the result into a row. Code elsewhere raises these types and catches narrow ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from pydantic import ValidationError

from pipeline.structs import Fault
from pipeline.words import ActionErrorCode, Boundary, CaptureErrorCode, TreeErrorCode


class PathproofError(Exception):
    """Root of every error this project raises on purpose."""


class ConfigError(PathproofError):
    """The user's arguments or configuration are wrong; the message names the key and what to do."""


class RunError(PathproofError):
    """The run as a whole cannot go on; the message says what to do."""


class ActionError(PathproofError):
    """An action could not be carried out, or the reply not read."""

    def __init__(self, code: ActionErrorCode | None, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


class CaptureError(PathproofError):
    """A picture could not be taken."""

    def __init__(self, code: CaptureErrorCode, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class TreeError(PathproofError):
    """A UI tree could not be read."""

    def __init__(self, code: TreeErrorCode, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class EpisodeError(PathproofError):
    """The world broke during an episode; `code` is a short machine-readable word."""

    boundary: ClassVar[Boundary]

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[type[EpisodeError], tuple[str, str]]:
        return type(self), (self.code, self.message)


class SetupError(EpisodeError):
    """An application, device, snapshot or task could not be prepared."""

    boundary = "setup"


class EnvError(EpisodeError):
    """The environment broke while the episode ran."""

    boundary = "env"


class ModelError(EpisodeError):
    """The acting model's endpoint failed."""

    boundary = "model"


class ProbeError(EpisodeError):
    """A read-only question to the application could not be answered."""

    boundary = "probe"


class SinkError(EpisodeError):
    """Rows or frames could not be written."""

    boundary = "sink"


class WorkerError(EpisodeError):
    """The worker process failed or was lost."""

    boundary = "worker"


@contextmanager
def boundary(error: type[EpisodeError], code: str) -> Iterator[None]:
    """Attribute whatever escapes the block to a boundary.

    Errors that are already classified, and the ones that concern actions, captures, configuration or the whole run,
    pass unchanged. This is the one broad `except` of the project.
    """
    try:
        yield
    except PathproofError:
        raise
    except Exception as escaped:
        raise error(code, f"{type(escaped).__name__}: {escaped}") from escaped


def fault_of(error: EpisodeError) -> Fault:
    """The row form of an episode error; the message is cut to 2,000 characters."""
    return Fault(boundary=error.boundary, code=error.code, message=error.message[:2000])


def first_problem(error: ValidationError) -> str:
    """The first thing a validation found wrong, in one line: where, and what."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    said = str(first["msg"]).removeprefix("Value error, ")
    return f"{place}: {said}" if place else said
