"""Which texts are nearly the same: a MinHash over character triples finds candidates, their triples decide.

Works for Chinese as for English, since no words are needed. Hashes multiply and shift by fixed numbers (Dietzfelbinger
et al., A reliable randomized algorithm for the closest-pair problem, 1997), so that every process finds the same. Knows
nothing of what the texts are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_BANDS, _ROWS = 14, 4
"""Texts that share 8 of 10 triples meet in a band with a probability of 0.9994; those that share 2 of 10, of 0.02."""

_NUMBERS = np.random.Generator(np.random.PCG64(20260901))
_FACTORS = _NUMBERS.integers(1, 2**63, (_BANDS * _ROWS, 1), dtype=np.uint64) | np.uint64(1)
_PLACES = _NUMBERS.integers(1, 2**63, 3, dtype=np.uint64) | np.uint64(1)
"""What the characters of a triple are multiplied by, each at its place."""
_HALF = np.uint64(32)
_LENGTH = 3

Triples = frozenset[str]


class Print(NamedTuple):
    """What a text is recognised by: its triples, and its signature cut into bands."""

    triples: Triples
    bands: tuple[bytes, ...]


class Likeness:
    """Texts by key, to be asked for those that are like another; a text shorter than a triple is like none."""

    def __init__(self, least: float) -> None:
        self._least = least
        self._triples: dict[str, Triples] = {}
        self._places: dict[str, int] = {}
        # Tuples and no lists: what holds only texts costs the collector of garbage nothing.
        self._bands: dict[tuple[str, int, bytes], tuple[str, ...]] = {}

    def add(self, key: str, text: Print, group: str = "") -> None:
        """Remember a text under a key of its own; only texts of one group are compared."""
        self._triples[key] = text.triples
        self._places[key] = len(self._places)
        for number, band in enumerate(text.bands):
            place = group, number, band
            self._bands[place] = (*self._bands.get(place, ()), key)

    def like(self, text: Print, group: str = "") -> list[str]:
        """The keys of the texts that are like this one, in the order in which they were added."""
        keys = {key for number, band in enumerate(text.bands) for key in self._bands.get((group, number, band), ())}
        near = [key for key in keys if self._is_near(text.triples, self._triples[key])]
        return sorted(near, key=self._places.__getitem__)

    def _is_near(self, one: Triples, other: Triples) -> bool:
        # What differs in size by more can share no more: this spares most intersections.
        smaller, larger = sorted((len(one), len(other)))
        return smaller >= self._least * larger and shared(one, other) >= self._least


def print_of(text: str) -> Print:
    """What a text is recognised by."""
    triples = frozenset([text[start : start + _LENGTH] for start in range(len(text) - _LENGTH + 1)])
    if not triples:
        return Print(triples, ())
    signs = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    first, second, third = _PLACES
    hashes = (signs[:-2] * first + signs[1:-1] * second + signs[2:] * third) >> _HALF
    # The upper half of the smallest product is the smallest upper half.
    smallest: npt.NDArray[np.uint64] = (hashes * _FACTORS).min(axis=1) >> _HALF
    signature, length = smallest.tobytes(), _ROWS * smallest.itemsize
    return Print(triples, tuple(signature[start : start + length] for start in range(0, len(signature), length)))


def shared(one: Triples, other: Triples) -> float:
    """The share of two texts' triples that both have."""
    return len(one & other) / len(one | other)
