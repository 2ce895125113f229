"""What was consumed, and the hard limits of a run on that. Pure arithmetic, one wording for whoever counts."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.config import BudgetConfig
from pipeline.records import ModelCall
from pipeline.structs import Usage


def consumed(calls: Sequence[ModelCall]) -> Usage:
    """What model calls consumed together."""
    return Usage(
        calls=len(calls),
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        images=sum(call.images for call in calls),
        cost_usd=sum(call.cost_usd for call in calls),
    )


def exhausted(budget: BudgetConfig, usage: Usage, seconds: float) -> str | None:
    """Which limit is used up, named by its key; null while all hold."""
    if budget.seconds is not None and seconds >= budget.seconds:
        return f"budget.seconds: {budget.seconds:g} s are used up"
    if budget.usd is not None and usage.cost_usd >= budget.usd:
        return f"budget.usd: {usage.cost_usd:.2f} of {budget.usd:.2f} dollars are used up"
    if budget.calls is not None and usage.calls >= budget.calls:
        return f"budget.calls: {usage.calls} of {budget.calls} model calls are used up"
    return None
