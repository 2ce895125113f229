"""Which contract check a keypoint is about: the one whose value its text names. For rows only; no judge sees it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipeline.records import Keypoint
from pipeline.tasks import Check
from verifiers.normalise import folded, stands_in, text_of

_SHORTEST = 2
"""Values of one sign are in too many texts to mean anything."""


def tied(keypoints: Iterable[Keypoint], checks: Sequence[Check]) -> list[Keypoint]:
    """The keypoints, each with the name of the one check that shares most values with its text, if any does."""
    return [row.model_copy(update={"check_name": row.check_name or _check_of(row.text, checks)}) for row in keypoints]


def _check_of(text: str, checks: Sequence[Check]) -> str | None:
    counted = [(sum(stands_in(value, folded(text)) for value in _values(check)), check.name) for check in checks]
    best = max(counted, default=(0, ""), key=lambda pair: pair[0])
    alone = [name for count, name in counted if count == best[0]]
    return best[1] if best[0] and len(alone) == 1 else None


def _values(check: Check) -> set[str]:
    texts = {text_of(value) for value in [*check.expected, *(param.value for param in check.args)]}
    return {text for text in texts if len(text) >= _SHORTEST}
