"""How far trajectories cover capabilities, what the next round should draw, and what the view says of it."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from catalogs.coverage import (
    SAMPLING,
    TRUST,
    Covered,
    by_app,
    covered,
    drawn,
    equal_weights,
    many_sided,
    weights,
)
from pipeline.config import TasksConfig
from pipeline.records import now
from pipeline.words import CapabilityStatus
from tests.datasets import attempt, begin, faulty, judging, put, verdict
from tests.records import NOON, task
from tests.rounds import CREATE, capability, create_task, later

STATUSES: tuple[CapabilityStatus, ...] = get_args(CapabilityStatus)
counts = st.integers(0, 50)


def row(name: str = CREATE, **changes: Any) -> Covered:
    """One capability."""
    fields = {"capability_id": name, "app_id": name.partition(".")[0], "platform": "web", "status": "confirmed"}
    return Covered(**{**fields, **changes})


cells = st.builds(
    lambda number, status, accepted, failed, other: row(
        f"demo.c{number}", status=status, accepted=accepted, failed=failed, other=other
    ),
    st.integers(0, 99),
    st.sampled_from(STATUSES),
    counts,
    counts,
    counts,
)
tables = st.lists(cells, max_size=30, unique_by=lambda cell: cell.capability_id)


# --- weights ------------------------------------------------------------------------------------------------------


@given(tables)
def test_weights_are_never_negative_and_nothing_only_for_what_is_broken(table: list[Covered]) -> None:
    found = weights(table)

    assert set(found) == {cell.capability_id for cell in table}
    for cell in table:
        assert 0 <= found[cell.capability_id] <= 1
        assert (found[cell.capability_id] == 0) == (TRUST[cell.status] == 0)


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_rows_means_nothing(table: list[Covered], shuffler: random.Random) -> None:
    shuffled = list(table)
    shuffler.shuffle(shuffled)

    assert weights(table) == weights(shuffled)


@given(st.sampled_from(STATUSES), counts, st.integers(1, 50), counts)
def test_what_was_never_accepted_weighs_at_least_as_much_as_what_was(
    status: CapabilityStatus, failures: int, accepted: int, failed: int
) -> None:
    found = weights(
        [
            row("demo.hole", status=status, failed=failures),
            row("demo.known", status=status, accepted=accepted, failed=failed),
        ]
    )

    assert found["demo.hole"] >= found["demo.known"]
    assert found["demo.hole"] > found["demo.known"] or TRUST[status] == 0


@given(st.integers(1, 50), counts, st.integers(1, 50))
def test_of_what_was_accepted_the_lower_yield_weighs_more(accepted: int, failed: int, more: int) -> None:
    found = weights(
        [
            row("demo.worse", accepted=accepted, failed=failed + more),
            row("demo.better", accepted=accepted, failed=failed),
        ]
    )

    assert found["demo.worse"] > found["demo.better"]


@given(counts, st.integers(1, 50))
def test_of_the_holes_the_untried_come_first(failed: int, more: int) -> None:
    found = weights([row("demo.tried", failed=failed + more), row("demo.fresh", failed=failed)])

    assert found["demo.fresh"] >= found["demo.tried"]


def test_what_is_confirmed_comes_before_what_is_only_documented() -> None:
    found = weights([row(f"demo.{status}", status=status) for status in STATUSES])

    assert found["demo.confirmed"] > found["demo.documented"] > found["demo.flaky"] > 0
    assert sorted(name for name, weight in found.items() if not weight) == [
        "demo.needs_login",
        "demo.outdated",
        "demo.renamed",
        "demo.unsupported",
    ]


# --- draws --------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(tables, st.integers(0, 60), st.integers(0, 5), st.randoms(use_true_random=False))
def test_draws_are_fixed_by_the_seed_alone(
    table: list[Covered], count: int, seed: int, shuffler: random.Random
) -> None:
    found = weights(table)
    items = list(found.items())
    shuffler.shuffle(items)

    assert drawn(found, count, seed) == drawn(dict(items), count, seed)


@settings(deadline=None)
@given(tables, st.integers(1, 60), st.integers(0, 5))
def test_each_is_drawn_as_often_as_its_weight_says(table: list[Covered], count: int, seed: int) -> None:
    found = weights(table)
    total = sum(found.values())
    assume(total)

    times = Counter(drawn(found, count, seed))

    assert sum(times.values()) == count
    for name, weight in found.items():
        assert abs(times[name] - count * weight / total) < 1 + 1e-9


def test_seeds_differ() -> None:
    found = equal_weights(row(f"demo.c{number}") for number in range(50))

    assert len({tuple(drawn(found, 10, seed)) for seed in range(5)}) == 5


def test_who_weighs_more_is_drawn_more_often() -> None:
    found = {"demo.heavy": 0.9, "demo.light": 0.1}

    firsts = Counter(drawn(found, 1, seed)[0] for seed in range(2000))

    assert firsts["demo.heavy"] / 2000 == pytest.approx(0.9, abs=0.03)


def test_without_anything_to_draw_nothing_is_drawn() -> None:
    assert drawn(weights([row(status="renamed")]), 5, 1) == []


# --- sums ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"accepted": 1, "failed": 3, "other": 1}, "accepted"),
        ({"failed": 1, "other": 1}, "failed"),
        ({"other": 1}, "other"),
        ({"tasks": 3}, "untried"),
    ],
)
def test_the_best_that_is_known_counts(changes: dict[str, Any], state: str) -> None:
    assert row(**changes).state == state


def test_applications_are_summed_up() -> None:
    table = [
        row("trac.a", accepted=1, last_seen=NOON),
        row("trac.b", failed=1, last_seen=later(2)),
        row("fava.a"),
        row("trac.c", other=1),
    ]

    first, second = by_app(table)

    assert (first.app_id, first.capabilities, first.states["untried"], first.last_seen) == ("fava", 1, 1, None)
    assert (second.app_id, second.capabilities, second.last_seen) == ("trac", 3, later(2))
    assert second.states == Counter(accepted=1, failed=1, other=1)


def test_applications_with_many_capabilities_are_counted() -> None:
    table = [row(f"{app_id}.c{number}") for app_id, count in (("a", 25), ("b", 24)) for number in range(count)]

    assert many_sided(table) == 1


# --- the view -----------------------------------------------------------------------------------------------------


def test_every_trajectory_is_accepted_failed_or_other(tmp_path: Path) -> None:
    feasible, impossible = create_task(), create_task(feasible=False, language="zh")
    rubric = create_task(contract_kind="rubric", language="de")
    of = {
        "harmed": feasible,
        "good": feasible,
        "bad": feasible,
        "open": feasible,
        "new": feasible,
        "refused": impossible,
    }
    made = [attempt(name, task=given) for name, given in {**of, "unproven": rubric}.items()]
    made += [faulty("broken", task=feasible), attempt("secret", task=feasible, contains_secret=True)]
    committer = begin(tmp_path, [feasible, impossible, rubric])
    put(committer, tmp_path, made)
    verdicts = [
        verdict("good-1"),
        verdict("harmed-1", side_effects=["ticket/3"]),
        verdict("bad-1", "partial"),
        verdict("open-1", None),
        verdict("refused-1", "infeasible"),
        verdict("unproven-1"),
        verdict("secret-1"),
        verdict("broken-1", None, status="unscored"),
    ]
    committer.record([capability(), judging(), *verdicts])
    committer.finish()

    (found,) = covered([tmp_path])

    assert (found.tasks, found.accepted, found.failed, found.other, found.faults) == (3, 1, 2, 6, 1)
    assert found.last_seen == max(one.attempt.finished_at for one in made)


def test_the_newest_row_says_the_status(tmp_path: Path) -> None:
    rows = [
        capability(status="renamed", round=1, updated_at=later(1)),
        capability(status="confirmed", round=1, updated_at=later(2)),
        capability(status="documented", round=3),
    ]
    committer = begin(tmp_path)
    committer.record(rows)
    committer.finish()

    (found,) = covered([tmp_path])

    assert (found.status, found.last_seen) == ("confirmed", later(2))


def test_the_catalog_completes_what_datasets_know(tmp_path: Path) -> None:
    committer = begin(tmp_path)
    committer.record([capability(status="flaky")])
    committer.finish()
    known = [capability(), capability("demo.other", updated_at=now())]

    found = covered([tmp_path], known)

    assert [(one.capability_id, one.status) for one in found] == [(CREATE, "flaky"), ("demo.other", "documented")]
    assert found[1].last_seen == known[1].updated_at


def test_two_datasets_are_added_up(tmp_path: Path) -> None:
    for name in ("one", "two"):
        committer = begin(tmp_path / name, [create_task(), task()], run_id=name)
        put(committer, tmp_path / name, [attempt(name, task=create_task())], run_id=name)
        committer.record([capability(), judging(), verdict(f"{name}-1")])
        committer.finish()

    (found,) = covered([tmp_path / "one", tmp_path / "two"])

    assert (found.tasks, found.accepted) == (2, 2)


def test_every_way_of_sampling_that_can_be_configured_weighs_capabilities() -> None:
    configured = get_args(TasksConfig.model_fields["sampling"].annotation)
    rows = [row("demo.a", accepted=3), row("demo.b")]

    weighed = {name: SAMPLING[name](rows) for name in configured}

    assert set(weighed) == set(SAMPLING)
    assert weighed["uniform"] == {"demo.a": 1.0, "demo.b": 1.0}
    assert weighed["need"]["demo.b"] > weighed["need"]["demo.a"]
