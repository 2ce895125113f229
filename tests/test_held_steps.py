"""What is held of steps, read without DuckDB: the same as the view says, also while the dataset grows."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.dataset import Dataset
from pipeline.held_steps import HeldStep, HeldSteps
from pipeline.records import Verdict
from tests.datasets import attempt, begin, collected, judging, put, verdict
from tests.runs import rows

PASSES = {"p1": 10, "p2": 11, "p3": 11}
"""Passes and their hours; two of them at the same."""


def step_verdict(index: int, grade: str | None, pass_id: str, rule: str = "quorum", **more: object) -> Verdict:
    return verdict("t1-1", grade, pass_id=pass_id, step_index=index, rule=rule, **more)


GIVEN = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 2]),
        st.sampled_from(["correct", "explore", "wrong", None]),
        st.sampled_from(sorted(PASSES)),
        st.sampled_from(["quorum", "human"]),
    ),
    max_size=8,
    unique_by=lambda one: (one[0], one[2]),
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_=GIVEN)
def test_what_is_held_is_what_the_view_says(
    given_: list[tuple[int, str | None, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("held")
    verdicts = [step_verdict(*one) for one in given_]
    collected(folder, [attempt("t1")], [*(judging(name, hour) for name, hour in PASSES.items()), *verdicts])

    found = HeldSteps(Dataset(folder), "another").of(["t1-1"])

    assert [tuple(one) for one in found["t1-1"]] == rows(
        folder, "SELECT step_index, status, grade, rule FROM step_grades ORDER BY step_index"
    )


def test_a_passes_own_verdicts_and_those_on_proposals_or_trajectories_are_left_out(tmp_path: Path) -> None:
    kept = step_verdict(0, "wrong", "p1")
    others = [
        step_verdict(0, "correct", "p2"),
        step_verdict(1, "correct", "p1", candidate_index=0),
        verdict("t1-1", pass_id="p1"),
    ]
    collected(tmp_path, [attempt("t1")], [judging("p1", 10), judging("p2", 11), kept, *others])

    found = HeldSteps(Dataset(tmp_path), "p2").of(["t1-1", "unknown"])

    assert found == {"t1-1": [HeldStep(0, "graded", "wrong", "quorum")], "unknown": []}


def test_what_is_published_later_is_seen_after_a_refresh(tmp_path: Path) -> None:
    committer = begin(tmp_path)
    put(committer, tmp_path, [attempt("t1")])
    committer.record([judging("p1", 10), step_verdict(0, "wrong", "p1")])
    dataset = Dataset(tmp_path)
    held = HeldSteps(dataset, "p9")
    before = held.of(["t1-1"])
    committer.record([judging("p2", 11), step_verdict(0, "correct", "p2")])
    dataset.refresh()
    after = held.of(["t1-1"])
    committer.finish()

    assert [one.grade for one in before["t1-1"]] == ["wrong"]
    assert [one.grade for one in after["t1-1"]] == ["correct"]
