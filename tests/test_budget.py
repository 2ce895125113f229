"""Hard limits of a run."""

from __future__ import annotations

import pytest

from pipeline.budget import exhausted
from pipeline.config import BudgetConfig
from pipeline.structs import Usage


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({}, None),
        ({"calls": 6, "usd": 2.5, "seconds": 11}, None),
        ({"calls": 5}, "budget.calls: 5 of 5 model calls are used up"),
        ({"usd": 2.0}, "budget.usd: 2.00 of 2.00 dollars are used up"),
        ({"seconds": 10}, "budget.seconds: 10 s are used up"),
    ],
)
def test_the_limit_that_is_used_up_is_named(limits: dict[str, float], reason: str | None) -> None:
    budget = BudgetConfig.model_validate(limits)

    assert exhausted(budget, Usage(calls=5, cost_usd=2.0), seconds=10.0) == reason
