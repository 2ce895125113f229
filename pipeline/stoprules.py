"""When a run must stop before it is whole: budgets, and the circuit breaker over faults. Pure counting."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from pipeline.budget import exhausted
from pipeline.config import BudgetConfig, FaultsConfig
from pipeline.structs import Fault, Usage

_LEAST_ATTEMPTS = 6
"""Fewer attempts say nothing about a rate."""


class Meter:
    """Counts what a run consumes and what breaks."""

    def __init__(self, budget: BudgetConfig, faults: FaultsConfig, app_ids: Sequence[str]) -> None:
        self._budget, self._stop_rate = budget, faults.stop_rate
        self._apps = sorted(set(app_ids))
        self._attempts: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._last_fault: Fault | None = None
        self._usage = Usage()
        self._started = time.monotonic()

    @property
    def faults(self) -> int:
        """Attempts that broke."""
        return self._faults.total()

    @property
    def seconds_left(self) -> float | None:
        """What is left of `budget.seconds`; null without a limit."""
        if self._budget.seconds is None:
            return None
        return max(0.0, self._budget.seconds - self._seconds)

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._started

    def count(self, app_id: str, fault: Fault | None, usage: Usage) -> None:
        """One attempt has ended."""
        self._attempts[app_id] += 1
        self._usage += usage
        if fault is not None:
            self._faults[app_id] += 1
            self._last_fault = fault

    def spend(self, usage: Usage) -> None:
        """Something outside an attempt was paid for."""
        self._usage += usage

    def stop_reason(self) -> str | None:
        """Why the run must stop now; null when it need not."""
        return exhausted(self._budget, self._usage, self._seconds) or self._too_many_faults()

    def _too_many_faults(self) -> str | None:
        """Rates are averaged over applications, so that one broken application does not stop the others."""
        fault = self._last_fault
        if fault is None or self._attempts.total() < _LEAST_ATTEMPTS:
            return None
        rates = [self._faults[app] / self._attempts[app] if self._attempts[app] else 0.0 for app in self._apps]
        if sum(rates) / len(rates) <= self._stop_rate:
            return None
        lines = fault.message.strip().splitlines() or [""]
        return (
            f"faults.stop_rate: {self.faults} of {self._attempts.total()} attempts broke,"
            f" the last one in {fault.boundary}/{fault.code}: {lines[0][:300]}"
        )
