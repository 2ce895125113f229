"""A dataset of labelled screens: whole, balanced, the same again from the same seed, and finished where it was left."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from pipeline.check import check
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError
from pipeline.grounding import Grounding
from pipeline.query import query
from pipeline.synth import making
from pipeline.synth.choosing import PER_SCREEN, QUOTAS
from pipeline.synth.making import Made, Order, make, split_of

pytestmark = pytest.mark.timeout(300)

ORDER = Order(rows=40, seed=9)


class Stopped(Exception):
    """Somebody pulled the plug."""


def made(folder: Path, order: Order = ORDER) -> list[Grounding]:
    asyncio.run(make(str(folder), order, lambda _: None))
    return Dataset(str(folder)).rows(Grounding)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("synth") / "data"
    made(path)
    return path


@pytest.fixture(scope="module")
def rows(folder: Path) -> list[Grounding]:
    return Dataset(str(folder)).rows(Grounding)


def test_the_folder_is_whole(folder: Path) -> None:
    assert check(str(folder)) == []


def test_there_are_as_many_rows_as_ordered_of_enough_screens(rows: list[Grounding]) -> None:
    assert len(rows) == ORDER.rows
    assert len({row.screen_id for row in rows}) >= ORDER.rows / PER_SCREEN


def test_kinds_come_near_their_quotas(rows: list[Grounding]) -> None:
    kinds = Counter(row.kind for row in rows)

    assert {kind for kind, share in QUOTAS.items() if abs(kinds[kind] / len(rows) - share) > 0.08} == set()


def test_refusals_have_no_place_and_all_others_one_within_their_box(rows: list[Grounding]) -> None:
    for row in rows:
        assert row.refusal == (row.kind == "refusal") == (row.target is None) == (row.point is None)
        if row.target and row.point:
            x, y = int((row.point.x + 0.5) * row.width / 1000), int((row.point.y + 0.5) * row.height / 1000)
            assert row.target.box.left <= x < row.target.box.right
            assert row.target.box.top <= y < row.target.box.bottom


def test_no_label_comes_twice_with_the_same_looks(rows: list[Grounding]) -> None:
    assert len({(row.label_hash, row.phash) for row in rows}) == len(rows)


def test_rows_of_one_screen_are_in_one_split(rows: list[Grounding]) -> None:
    splits = {(row.screen_id, row.split) for row in rows}

    assert len(splits) == len({row.screen_id for row in rows})


def test_some_families_are_held_out_altogether() -> None:
    of_family = {name: {split_of(name, f"screen {k}") for k in range(40)} for name in map(str, range(100))}

    assert 2 <= sum(splits == {"test"} for splits in of_family.values()) <= 20


def test_the_balance_is_a_view(folder: Path) -> None:
    balance = query("SELECT sum(row_count) AS n, count(DISTINCT kind) AS kinds FROM grounding_balance", [str(folder)])

    assert balance.to_pylist() == [{"n": ORDER.rows, "kinds": len(QUOTAS)}]


def test_left_half_way_it_is_finished_with_the_same_rows(
    tmp_path: Path, rows: list[Grounding], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "_PER_BATCH", 2)

    def stop(_: Made) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        asyncio.run(make(str(tmp_path / "data"), ORDER, stop))
    before = Dataset(str(tmp_path / "data")).rows(Grounding)
    after = made(tmp_path / "data")

    assert 0 < len(before) < len(rows)
    assert after == rows
    assert check(str(tmp_path / "data")) == []


@pytest.mark.slow
def test_killed_half_way_it_is_finished_with_the_same_rows(tmp_path: Path, rows: list[Grounding]) -> None:
    out = tmp_path / "data"
    arguments = [sys.executable, "-c", KILLED, str(out), str(ORDER.rows), str(ORDER.seed)]
    done = subprocess.run(arguments, capture_output=True, timeout=250, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    before = Dataset(str(out)).rows(Grounding)

    after = made(out)

    assert 0 < len(before) < len(rows)
    assert after == rows
    assert check(str(out)) == []


KILLED = """
import asyncio, os, signal, sys
from pipeline.synth import making
making._PER_BATCH = 2
order = making.Order(rows=int(sys.argv[2]), seed=int(sys.argv[3]))
asyncio.run(making.make(sys.argv[1], order, lambda _: os.kill(os.getpid(), signal.SIGKILL)))
"""
"""Makes the dataset in a process of its own, which dies when the first rows are written."""


def test_a_finished_folder_is_left_alone(folder: Path, rows: list[Grounding]) -> None:
    before = sorted(path.name for path in (folder / "manifest").iterdir())

    assert made(folder) == rows
    assert sorted(path.name for path in (folder / "manifest").iterdir()) == before


def test_a_folder_of_another_order_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match="holds something else"):
        made(folder, Order(rows=40, seed=10))
