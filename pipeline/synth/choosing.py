"""Which of the questions about a screen become rows: quotas by kind, nothing twice, nothing too often.

What is chosen depends on the screens before, in their order, and on nothing else. Knows nothing of files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from pipeline.grounding import Grounding
from pipeline.records import digest
from pipeline.synth.asking import Asker, Question, Scene, attribute, functional, icon, literal, state
from pipeline.synth.elements import Edges
from pipeline.synth.refusing import refusal
from pipeline.synth.relating import reasoning, spatial
from pipeline.words import GroundingKind

PER_SCREEN = 8
"""Rows of one screen at most, so that N rows have N/8 screens at least."""

ASKERS: Mapping[GroundingKind, Asker] = {
    "literal": literal,
    "icon": icon,
    "spatial": spatial,
    "state": state,
    "attribute": attribute,
    "functional": functional,
    "reasoning": reasoning,
    "refusal": refusal,
}
"""Who asks for each kind."""

QUOTAS: Mapping[GroundingKind, float] = {
    "literal": 0.18,
    "icon": 0.12,
    "spatial": 0.17,
    "state": 0.09,
    "attribute": 0.1,
    "functional": 0.12,
    "reasoning": 0.12,
    "refusal": 0.1,
}
"""The part of all rows that each kind is to have."""

_TRIED = 60
"""Questions of a kind that are looked at on one screen."""
_LIKENESS = 4
"""Bits by which two likenesses may differ and still be the same."""
_PER_KIND = 3
"""Rows of one kind on one screen at most: where little can be pointed at, refusals would take the rest."""
_LABEL_SHARE = 0.01
_LABEL_LEAST = 4
"""How often one label may come, as a part of all rows; small sets are less strict."""

Fingerprint = Callable[[Edges | None], str]


class Choice(NamedTuple):
    """A question that becomes a row, with the hashes of its label and of what its target looks like."""

    question: Question
    label_hash: str
    phash: str


class Chooser:
    """Remembers what has been chosen; what a stored dataset holds already is told with `remember`."""

    def __init__(self, rows: int) -> None:
        self._most_of_label = max(_LABEL_LEAST, round(rows * _LABEL_SHARE))
        self._kinds: Counter[str] = Counter()
        self._labels: Counter[str] = Counter()
        self._seen: dict[str, list[int]] = {}

    @property
    def chosen(self) -> int:
        """How many have been chosen so far."""
        return self._kinds.total()

    def remember(self, row: Grounding) -> None:
        """Take a row into account that was written before."""
        self._note(row.kind, row.label_hash, row.phash)

    def choose(self, scene: Scene, fingerprint: Fingerprint, most: int) -> Iterator[Choice]:
        """The questions of a screen that become rows."""
        waiting = {kind: islice(ask(scene), _TRIED) for kind, ask in ASKERS.items()}
        targets: set[Edges] = set()
        kinds: Counter[GroundingKind] = Counter()
        for _ in range(min(most, PER_SCREEN)):
            found = self._next(waiting, fingerprint, targets)
            if found is None:
                return
            kinds[found.question.kind] += 1
            if kinds[found.question.kind] == _PER_KIND:
                del waiting[found.question.kind]
            if found.question.target is not None:
                targets.add(found.question.target.box)
            self._note(found.question.kind, found.label_hash, found.phash)
            yield found

    def _next(
        self,
        waiting: Mapping[GroundingKind, Iterator[Question]],
        fingerprint: Fingerprint,
        targets: Collection[Edges],
    ) -> Choice | None:
        """A question of the kind that lags behind most and has one left."""
        for kind in sorted(waiting, key=self._lead):
            for question in waiting[kind]:
                box = question.target.box if question.target else None
                label_hash = digest("label", question.kind, " ".join(question.label.casefold().split()))
                if box in targets:
                    continue
                if self._labels[label_hash] < self._most_of_label:
                    phash = fingerprint(box)
                    if not self._alike(label_hash, phash):
                        return Choice(question, label_hash, phash)
        return None

    def _lead(self, kind: GroundingKind) -> float:
        return self._kinds[kind] - QUOTAS[kind] * (self.chosen + 1)

    def _note(self, kind: str, label_hash: str, phash: str) -> None:
        self._kinds[kind] += 1
        self._labels[label_hash] += 1
        self._seen.setdefault(label_hash, []).append(int(phash, 16))

    def _alike(self, label_hash: str, phash: str) -> bool:
        """Whether nearly the same has been seen under this label."""
        return any((int(phash, 16) ^ other).bit_count() <= _LIKENESS for other in self._seen.get(label_hash, ()))
