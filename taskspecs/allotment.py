"""How many tasks each template gives in each language: by weight, within the template's share, in no order's favour.

Knows nothing of templates beyond their names.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from pipeline.records import digest


class Cell(NamedTuple):
    """A template in a language."""

    template_id: str
    language: str


def allot(weights: Iterable[tuple[Cell, float]], count: int, cap: int, seed: int) -> Counter[Cell]:
    """Up to `count` tasks, at most `cap` of one template; cells of weight 0 give none.

    Each next task goes to the cell that is furthest behind its weight (Sainte-Lague); among equals the seed decides.
    """
    given: Counter[Cell] = Counter()
    used: Counter[str] = Counter()
    waiting = [(-weight, digest(str(seed), *cell), cell, weight) for cell, weight in weights if weight > 0]
    heapq.heapify(waiting)
    while waiting and given.total() < count:
        _, tie, cell, weight = heapq.heappop(waiting)
        if used[cell.template_id] >= cap:
            continue
        used[cell.template_id] += 1
        given[cell] += 1
        heapq.heappush(waiting, (-weight / (2 * given[cell] + 1), tie, cell, weight))
    return given
