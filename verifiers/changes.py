"""What a task expects to change, as patterns over state keys, and which changes none of them accounts for.

A pattern accounts for any change of the keys that it fits. After `added:`, `changed:` or `removed:` it accounts for one
change of that kind alone, after `one:` for one of any kind; where more belong to the task, it is listed as often. Knows
nothing of checks and grades.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

ONE = "one"
KINDS = frozenset({"added", "changed", "removed", ONE})
"""What the pattern of one change begins with: what becomes of the key, or whatever it is."""


class Expected(NamedTuple):
    """A pattern over keys; with a kind it stands for one change."""

    pattern: str
    kind: str | None = None

    def fits(self, change: Sequence[str]) -> bool:
        """Whether it may account for a change, a row [key, added|removed|changed]."""
        return self.kind in (None, ONE, *change[1:2]) and fnmatchcase(change[0], self.pattern)


def expected_of(text: str) -> Expected:
    """A pattern as a task writes it."""
    kind, colon, pattern = text.partition(":")
    return Expected(pattern, kind) if colon and kind in KINDS else Expected(text)


def unaccounted(changes: Iterable[Sequence[str]], patterns: Iterable[str]) -> list[str]:
    """Keys of the changes for which no pattern accounts; where several want one that stands for one, the first has it.

    Patterns of one change are shared out so that as many changes as possible are accounted for.
    """
    expected = [expected_of(text) for text in patterns]
    free = [one for one in expected if one.kind is None]
    left = [change for change in changes if change and not any(one.fits(change) for one in free)]
    shares = _Shares([one for one in expected if one.kind is not None], left)
    return [change[0] for place, change in enumerate(left) if not shares.give(place, set())]


class _Shares:
    """Which change has which pattern that stands for one: a matching that grows change by change."""

    def __init__(self, single: Sequence[Expected], changes: Sequence[Sequence[str]]) -> None:
        self._single, self._changes = single, changes
        self._owner: dict[int, int] = {}

    def give(self, change: int, tried: set[int]) -> bool:
        """Find the change a pattern, if need be by giving those that have one another; none is left without again."""
        for place, pattern in enumerate(self._single):
            if place in tried or not pattern.fits(self._changes[change]):
                continue
            tried.add(place)
            if place not in self._owner or self.give(self._owner[place], tried):
                self._owner[place] = change
                return True
        return False
