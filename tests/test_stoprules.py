"""Budgets and the circuit breaker."""

from __future__ import annotations

import pytest

from pipeline.config import BudgetConfig, FaultsConfig
from pipeline.stoprules import Meter
from pipeline.structs import Fault, Usage

BROKEN = Fault(boundary="setup", code="app_not_ready", message="no answer on /\nlast lines of the log")


def meter(apps: list[str] | None = None, stop_rate: float = 0.5, **budget: float) -> Meter:
    return Meter(BudgetConfig.model_validate(budget), FaultsConfig(stop_rate=stop_rate), apps or ["one"])


def test_a_run_without_faults_and_budgets_goes_on() -> None:
    running = meter()

    for _ in range(100):
        running.count("one", None, Usage(calls=3, cost_usd=5.0))

    assert running.stop_reason() is None


def test_few_attempts_do_not_stop_a_run() -> None:
    running = meter()

    for _ in range(5):
        running.count("one", BROKEN, Usage())

    assert running.stop_reason() is None


def test_too_many_faults_stop_it_and_say_which() -> None:
    running = meter()

    for fault in (None, None, BROKEN, BROKEN, BROKEN, BROKEN):
        running.count("one", fault, Usage())

    reason = running.stop_reason()
    assert reason is not None
    assert reason.startswith("faults.stop_rate: 4 of 6 attempts broke")
    assert "setup/app_not_ready: no answer on /" in reason
    assert "\n" not in reason


def test_exactly_the_rate_is_not_too_many() -> None:
    running = meter()

    for fault in (None, None, None, BROKEN, BROKEN, BROKEN):
        running.count("one", fault, Usage())

    assert running.stop_reason() is None


def test_one_broken_application_of_four_does_not_stop_the_others() -> None:
    running = meter(["one", "two", "three", "four"])

    for _ in range(30):
        running.count("one", BROKEN, Usage())
    running.count("two", None, Usage())

    assert running.stop_reason() is None


def test_all_applications_broken_stop_it() -> None:
    running = meter(["one", "two", "three", "four"])

    for app in ("one", "two", "three", "four", "one", "two"):
        running.count(app, BROKEN, Usage())

    assert running.stop_reason() is not None


def test_a_rate_of_one_never_stops() -> None:
    running = meter(stop_rate=1.0)

    for _ in range(20):
        running.count("one", BROKEN, Usage())

    assert running.stop_reason() is None


@pytest.mark.parametrize(("budget", "key"), [({"calls": 10}, "budget.calls"), ({"usd": 2.0}, "budget.usd")])
def test_spending_counts_attempts_and_judges(budget: dict[str, float], key: str) -> None:
    running = meter(None, **budget)

    running.count("one", None, Usage(calls=5, cost_usd=1.0))
    before = running.stop_reason()
    running.spend(Usage(calls=5, cost_usd=1.0))

    assert before is None
    assert str(running.stop_reason()).startswith(key)


def test_time_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 100.0
    monkeypatch.setattr("pipeline.stoprules.time.monotonic", lambda: clock)
    running = meter(seconds=30)
    clock = 129.0
    before = running.stop_reason()
    clock = 130.0

    assert before is None
    assert running.stop_reason() == "budget.seconds: 30 s are used up"
