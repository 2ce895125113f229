"""The measurement of coverage: arms that differ in nothing but how they draw, and runs of the loop compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bench import coverage
from bench.coverage import Acted, Outcome, Replayed, Stored, collect, compare, interval, stored
from catalogs.coverage import Covered, equal_weights, weights
from tests.datasets import attempt, begin, faulty, judging, put, verdict
from tests.rounds import capability, create_task

NAMES = [f"demo.c{number}" for number in range(6)]


class Scripted:
    """A source in which a capability succeeds from its n-th draw on."""

    told = "by the test"

    def __init__(self, luck: Sequence[int]) -> None:
        self._luck = dict(zip(NAMES, luck, strict=True))
        self.rows = [Covered(name, "demo", "web", "confirmed") for name in NAMES]
        self.asked: list[tuple[str, str]] = []

    async def outcome(self, capability_id: str, seed: str) -> Outcome:
        self.asked.append((capability_id, seed))
        return "accepted" if int(seed.partition("/")[2]) >= self._luck[capability_id] else "failed"


async def test_both_arms_have_the_same_rollouts_and_the_same_luck() -> None:
    source = Scripted([0, 0, 0, 1, 1, 2])

    await collect(source, weights, 6, 0)
    by_weight, source.asked = source.asked, []
    await collect(source, equal_weights, 6, 0)

    assert len(by_weight) == len(source.asked) == 18
    assert sorted(by_weight[:6]) == sorted(source.asked[:6])


async def test_drawing_by_weight_spends_its_rollouts_on_holes() -> None:
    luck = [0, 0, 0, 0, 3, 4]

    by_weight = await collect(Scripted(luck), weights, 6, 0)
    alike = await collect(Scripted(luck), equal_weights, 6, 0)

    assert by_weight.shares[0] == alike.shares[0] == pytest.approx(4 / 6)
    assert by_weight.shares[-1] == 1.0
    assert alike.shares[-1] == pytest.approx(4 / 6)


async def test_rollouts_made_here_are_the_same_for_the_same_seed() -> None:
    source = Acted(0.5)
    name = source.rows[0].capability_id

    first = [await source.outcome(name, str(seed)) for seed in range(12)]
    again = Acted(0.5)

    assert [await again.outcome(name, str(seed)) for seed in range(12)] == first
    assert set(first) == {"accepted", "failed"}


async def test_stored_outcomes_are_replayed_and_faults_are_none(tmp_path: Path) -> None:
    of = create_task()
    committer = begin(tmp_path, [of])
    put(committer, tmp_path, [attempt("t1", task=of), faulty("t2", task=of)])
    committer.record([capability(), capability("demo.never"), judging(), verdict("t1-1", "fail")])
    committer.finish()

    source = Replayed([str(tmp_path)])

    assert [(row.capability_id, row.state) for row in source.rows] == [("demo.create", "untried")]
    assert {await source.outcome("demo.create", str(seed)) for seed in range(20)} == {"failed"}
    assert source.told.startswith("replayed: outcomes of 2 stored trajectories")


def test_an_interval_holds_the_mean() -> None:
    low, high = interval([0.1, 0.2, 0.3, 0.2, 0.2])

    assert 0.1 < low < 0.2 < high < 0.3
    assert interval([0.1] * 5) == pytest.approx((0.1, 0.1))


def loop(folder: Path, accepted_in: Sequence[int | None]) -> str:
    """A run of three rounds in which each capability is accepted first in this round, if ever."""
    tasks = [create_task(name, max_steps=10 + number) for number, name in enumerate(NAMES)]
    committer = begin(folder, tasks, run_id=folder.name)
    rows, attempts = [], []
    for round_ in range(3):
        for number, of in enumerate(tasks):
            made = attempt(f"{folder.name}{round_}{number}", task=of)
            made = made.model_copy(update={"attempt": made.attempt.model_copy(update={"round": round_})})
            attempts.append(made)
            rows.append(verdict(made.attempt.attempt_id, "complete" if accepted_in[number] == round_ else "fail"))
    put(committer, folder, attempts, run_id=folder.name)
    committer.record([*(capability(name) for name in NAMES), judging(), *rows])
    committer.finish()
    return str(folder)


def test_a_finished_run_is_read_round_by_round(tmp_path: Path) -> None:
    run = stored(loop(tmp_path / "run", [0, 0, 1, None, None, None]))

    assert run.known == set(NAMES)
    assert [sum(row["accepted"] for row in rollouts) for rollouts in run.rounds] == [2, 1, 0]
    assert [len(rollouts) for rollouts in run.rounds] == [6, 6, 6]


def rollouts(*accepted: str, failed: int = 0) -> list[dict[str, object]]:
    """Rollouts of one round."""
    done: list[dict[str, object]] = [{"accepted": True, "capability_ids": [name]} for name in accepted]
    return [*done, *({"accepted": False, "capability_ids": ["a"]} for _ in range(failed))]


def test_finished_runs_are_compared_at_equal_rollouts() -> None:
    one = Stored({"a", "b", "c", "d", "own"}, [rollouts("a", "own"), rollouts("b"), rollouts("c", failed=1)])
    other = Stored({"a", "b", "c", "d"}, [rollouts("a", "b", "c"), rollouts("a"), rollouts("b", "d")])

    pair = compare(one, other)

    assert pair.by_weight.shares == [0.25, 0.5, 0.75]
    assert pair.alike.shares == [0.5, 0.5, 0.75]
    assert pair.gain == pytest.approx(-0.25 / 3)


def test_runs_of_fewer_rounds_are_not_compared() -> None:
    short = Stored({"a"}, [rollouts("a"), rollouts("a"), []])

    with pytest.raises(SystemExit, match="no 3 rounds"):
        compare(short, short)


@pytest.mark.parametrize("given", [["--by-weight", "a"], ["--by-weight", "a", "b", "--alike", "c"]])
def test_runs_come_in_pairs(given: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["coverage.py", *given])

    with pytest.raises(SystemExit, match="2"):
        coverage.main()
