"""Time as far as others leave programs room."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.protocols import MOST_PATIENCE
from pipeline.room import FairClock, Spent, Withheld, let_pass, spent_by_threads

SLICE_SECONDS = 0.05
TAKERS = 9


def waits(**seconds: float) -> dict[int, Spent]:
    return {int(name.removeprefix("t")): Spent(0.0, waited) for name, waited in seconds.items()}


def heard(*looks: dict[int, Spent], apart: float = SLICE_SECONDS) -> float:
    """What is withheld after some looks."""
    withheld = Withheld()
    for look in looks:
        withheld.hear(look)
        time.sleep(apart)
    return withheld.seconds


def test_the_thread_that_waited_longest_since_the_last_look_counts() -> None:
    assert heard(waits(t1=5.0, t2=1.0), waits(t1=5.01, t2=1.03)) == pytest.approx(0.03)


def test_what_was_waited_before_the_first_look_does_not_count() -> None:
    assert heard(waits(t1=5.0)) == 0.0


def test_a_thread_that_is_new_has_waited_since_the_last_look_and_one_that_is_gone_no_more() -> None:
    assert heard(waits(t1=5.0), waits(t2=0.02)) == pytest.approx(0.02)
    assert heard(waits(t1=5.0), waits(), waits(t1=0.01)) == pytest.approx(0.01)


def test_a_number_that_another_thread_has_now_gives_no_time_back() -> None:
    assert heard(waits(t1=5.0), waits(t1=0.0)) == 0.0


def test_no_more_is_withheld_than_has_passed() -> None:
    began = time.monotonic()

    seconds = heard(waits(t1=0.0, t2=0.0), waits(t1=9.0, t2=0.0), waits(t1=9.0, t2=9.0))

    assert 0 < seconds <= time.monotonic() - began


def test_what_threads_take_from_each_other_nobody_has_withheld() -> None:
    withheld = Withheld(processors=2)
    withheld.hear({1: Spent(0.0, 0.0), 2: Spent(0.0, 0.0)})
    time.sleep(SLICE_SECONDS)

    withheld.hear({1: Spent(2 * SLICE_SECONDS, 0.0), 2: Spent(SLICE_SECONDS, SLICE_SECONDS)})

    assert withheld.seconds == 0.0


@contextmanager
def crowd(place: int) -> Iterator[None]:
    """Programs that want one processor, none of them ours: who started them has ended."""
    argv = f"taskset -c {place} {sys.executable} -c 'while True: pass' >/dev/null 2>&1 & echo $!"
    takers = [int(subprocess.check_output(["sh", "-c", argv])) for _ in range(TAKERS)]
    try:
        yield
    finally:
        for taker in takers:
            os.kill(taker, signal.SIGKILL)


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the system tells nothing of waits")
def test_hardly_any_time_passes_for_programs_that_others_leave_no_room() -> None:
    place = min(os.sched_getaffinity(0))
    ours = subprocess.Popen(["taskset", "-c", str(place), sys.executable, "-c", "while True: pass"])
    with crowd(place):
        clock = FairClock(look_seconds=0.0)
        at, began = clock(), time.monotonic()
        time.sleep(1.5)
        passed, wall = clock() - at, time.monotonic() - began
    ours.kill()
    ours.wait()

    assert passed < wall / 2


def test_where_no_waits_are_told_time_passes_as_on_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.room.spent_by", lambda _: {})
    clock = FairClock(look_seconds=0.0)
    at = clock()
    time.sleep(SLICE_SECONDS)

    assert clock() - at >= SLICE_SECONDS


def test_a_process_that_is_gone_has_no_threads() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()

    assert spent_by_threads(os.getpid())
    assert spent_by_threads(ended.pid) == {}


async def test_what_is_to_pass_passes_by_the_clock() -> None:
    began = time.monotonic()

    await let_pass(0.1, lambda: began + (time.monotonic() - began) / 2)

    assert time.monotonic() - began >= 0.2


async def test_a_clock_that_stands_still_is_not_waited_for_without_end() -> None:
    began = time.monotonic()

    await let_pass(0.05, lambda: 0.0)

    assert time.monotonic() - began >= MOST_PATIENCE * 0.05
