"""Superlatives, counts and formats in an instruction: what narrows down more than its names and values do.

`Delete the oldest ticket` is not done by deleting a ticket. Each such phrase is a keypoint of its own, with the words
after it that tell what it is about. Whether it came true is not decided here, and a judge that only looks for values
must leave it open.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from verifiers.normalise import folded
from verifiers.wordlists import COUNTING, FORMATTING, NOT_QUALIFYING, RANKING, Words

Quality = Literal["ranked", "counted", "formatted"]
"""`ranked`: the one of a rank or place. `counted`: so many, all, or only some. `formatted`: written or ordered so."""

_LISTS: dict[Quality, Words] = {"ranked": RANKING, "counted": COUNTING, "formatted": FORMATTING}
_AFTER = 3
"""Words kept after a phrase of Latin script; after a Chinese one, twice as many signs."""
_STOPS = ".,;:!?，。；：！？、\x00"


class Qualifier(NamedTuple):
    """A phrase with what follows it, and where it begins."""

    quality: Quality
    phrase: str
    start: int


def qualifiers_of(clause: str) -> list[Qualifier]:
    """Every qualifying phrase of a clause whose quoted values are blanked out by NUL, in order."""
    text = folded(clause)
    for start, end in NOT_QUALIFYING.spans(text):
        text = text[:start] + "\x00" * (end - start) + text[end:]
    return sorted(_found(text), key=lambda found: found.start)


def _found(text: str) -> Iterator[Qualifier]:
    taken: list[tuple[int, int]] = []
    for quality, words in reversed(_LISTS.items()):
        for start, end in words.spans(text):
            if not any(start < other_end and other_start < end for other_start, other_end in taken):
                phrase = _with_what_follows(text, start, end)
                taken.append((start, start + len(phrase)))
                yield Qualifier(quality, phrase, start)


def _with_what_follows(text: str, start: int, end: int) -> str:
    rest = text[end:]
    stop = min((rest.index(sign) for sign in _STOPS if sign in rest), default=len(rest))
    if text[start].isascii():
        return " ".join([text[start:end], *rest[:stop].split()[:_AFTER]])
    return text[start:end] + rest[: min(stop, 2 * _AFTER)]
