"""What a trainer should not imitate in a good trajectory: waits for nothing, scrolls to and fro, loops.

A stretch is removed only when the screen after it is the screen before it, so that the rest still fits together.
Errors the agent recovered from are kept: a first wrong turn and its way back stay, as does a failed try whose
repetition succeeds; only exact repetitions go. Screens are compared by picture, tree and address; one that was not
captured equals none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from pipeline.actions import Action, Scroll, Swipe, Wait
from pipeline.records import ObservationRow, Record
from pipeline.words import ActionErrorCode

UNREADABLE = "unreadable_reply"
NEEDLESS_WAIT = "needless_wait"
SCROLLED_BACK = "scrolled_back"
LOOP = "loop"


class Cleaned(NamedTuple):
    """The indexes of the steps that stay, in order, and how many went for which reason."""

    kept: list[int]
    removed: Counter[str]


class _Move(NamedTuple):
    """A step between two screens; the rest of it decides whether another one repeats it."""

    place: int
    before: str
    after: str
    action: Action
    error: ActionErrorCode | None

    @property
    def circular(self) -> bool:
        return self.before == self.after

    def repeats(self, other: _Move) -> bool:
        """Whether the other step was the same, with the same result."""
        return self[1:] == other[1:]


def readable(record: Record) -> Cleaned:
    """The steps whose reply held an action: without one there is nothing to teach, and nothing was done."""
    kept = [index for index, step in enumerate(record.steps) if step.action is not None]
    return Cleaned(kept, _counted(UNREADABLE, len(record.steps) - len(kept)))


def cleaned(record: Record) -> Cleaned:
    """The steps worth imitating."""
    moves, removed = _moves(record), readable(record).removed
    for reason, clean in (
        (NEEDLESS_WAIT, _without_needless_waits),
        (SCROLLED_BACK, _without_scrolls_back),
        (LOOP, _without_loops),
    ):
        rest = clean(moves)
        removed += _counted(reason, len(moves) - len(rest))
        moves = rest
    return Cleaned([move.place for move in moves], removed)


def _counted(reason: str, number: int) -> Counter[str]:
    return Counter({reason: number} if number else {})


def _moves(record: Record) -> list[_Move]:
    screens = [_screen(row) for row in record.observations]
    screens += [f"unseen {index}" for index in range(len(screens), len(record.steps) + 1)]
    return [
        _Move(index, screens[index], screens[index + 1], step.action, step.action_error)
        for index, step in enumerate(record.steps)
        if step.action is not None
    ]


def _screen(row: ObservationRow) -> str:
    if row.frame_sha256 is None:
        return f"unseen {row.observation_index}"
    return f"{row.frame_sha256} {row.tree_sha256} {row.location}"


def _without_needless_waits(moves: Sequence[_Move]) -> list[_Move]:
    return [move for move in moves if not (isinstance(move.action, Wait) and move.circular)]


def _without_scrolls_back(moves: Sequence[_Move]) -> list[_Move]:
    """Without the longest runs of scrolling that end on the screen they began on."""
    kept: list[_Move] = []
    at = 0
    while at < len(moves):
        end = _end_of_round_trip(moves, at)
        if end == at:
            kept.append(moves[at])
            end += 1
        at = end
    return kept


def _end_of_round_trip(moves: Sequence[_Move], start: int) -> int:
    """The end of the longest run of scrolls from here that comes back, or `start` when none does."""
    found = start
    for end in range(start, len(moves)):
        if not isinstance(moves[end].action, Scroll | Swipe):
            break
        if moves[end].after == moves[start].before:
            found = end + 1
    return found


def _without_loops(moves: Sequence[_Move]) -> list[_Move]:
    """Each stretch that is repeated at once, step by step, only once."""
    kept = list(moves)
    period = 1
    while 2 * period <= len(kept):
        starts = range(len(kept) - 2 * period + 1)
        at = next((start for start in starts if _repeated(kept, start, period)), None)
        if at is None:
            period += 1
        else:
            del kept[at : at + period]
            period = 1
    return kept


def _repeated(moves: Sequence[_Move], start: int, length: int) -> bool:
    return all(moves[at].repeats(moves[at + length]) for at in range(start, start + length))
