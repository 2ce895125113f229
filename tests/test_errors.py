"""The error tree and the place that classifies what escapes."""

from __future__ import annotations

import asyncio
import inspect
import pickle

import pytest
from pydantic import ValidationError

from pipeline import errors
from pipeline.actions import Point
from pipeline.errors import (
    ActionError,
    CaptureError,
    ConfigError,
    EnvError,
    EpisodeError,
    ModelError,
    PathproofError,
    ProbeError,
    RunError,
    SetupError,
    SinkError,
    TreeError,
    WorkerError,
    boundary,
    fault_of,
    first_problem,
)

EPISODE_ERRORS = [SetupError, EnvError, ModelError, ProbeError, SinkError, WorkerError]


def test_every_error_has_one_root_and_stands_in_the_drawing() -> None:
    classes = [found for _, found in inspect.getmembers(errors, inspect.isclass) if issubclass(found, Exception)]
    own = [found for found in classes if found.__module__ == errors.__name__]
    assert len(own) == 13
    for found in own:
        assert issubclass(found, PathproofError)
        assert found.__name__ in (errors.__doc__ or "")


def test_boundaries_are_the_public_ones() -> None:
    assert [kind.boundary for kind in EPISODE_ERRORS] == ["setup", "env", "model", "probe", "sink", "worker"]


def test_what_escapes_is_attributed_with_its_cause() -> None:
    with pytest.raises(EnvError) as caught, boundary(EnvError, "act_failed"):
        raise KeyError("tab")
    assert (caught.value.code, caught.value.message) == ("act_failed", "KeyError: 'tab'")
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    "classified",
    [
        ActionError("target_covered", "an overlay"),
        CaptureError("empty", "no bytes"),
        TreeError("not_idle", "busy"),
        ConfigError("seed: wrong"),
        RunError("disk full"),
        SetupError("app_not_ready", "log"),
    ],
)
def test_what_is_classified_already_passes_unchanged(classified: PathproofError) -> None:
    with pytest.raises(type(classified)) as caught, boundary(EnvError, "other"):
        raise classified
    assert caught.value is classified


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_orders_to_stop_are_no_trouble_of_a_boundary(stop: type[BaseException]) -> None:
    with pytest.raises(stop), boundary(EnvError, "other"):
        raise stop


def test_a_block_without_trouble_is_left_alone() -> None:
    with boundary(EnvError, "other"):
        done = True
    assert done


@pytest.mark.parametrize("kind", EPISODE_ERRORS)
def test_a_fault_says_boundary_code_and_message(kind: type[EpisodeError]) -> None:
    fault = fault_of(kind("code", "x" * 3000))
    assert (fault.boundary, fault.code, len(fault.message)) == (kind.boundary, "code", 2000)


@pytest.mark.parametrize("kind", EPISODE_ERRORS)
def test_an_episode_error_crosses_processes(kind: type[EpisodeError]) -> None:
    back = pickle.loads(pickle.dumps(kind("code", "message")))
    assert (type(back), back.code, back.message) == (kind, "code", "message")


def test_a_validation_problem_in_one_line() -> None:
    with pytest.raises(ValidationError) as caught:
        Point.model_validate({"x": 5000, "y": "up"})
    problem = first_problem(caught.value)
    assert problem.startswith("x: ") and "\n" not in problem
