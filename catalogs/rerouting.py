"""Other ways to what a procedure misses, when the screens of the application are known: pure functions over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import islice

from catalogs.confirming import first_examples
from catalogs.prospecting import State
from pipeline.policies.grounding import find
from pipeline.records import Tree
from pipeline.tasks import Capability, ProcedureStep
from taskspecs.store import bind

_MOST_WAYS = 2
_ALIKE = 0.6


def other_ways(capability: Capability, missing_at: int, states: Iterable[State]) -> Iterator[list[ProcedureStep]]:
    """Procedures that reach what is missing, or what comes after it, over another screen; the nearest first."""
    return islice(_ways(capability, missing_at, states), _MOST_WAYS)


def is_anywhere(capability: Capability, missing_at: int, trees: Iterable[Tree]) -> bool:
    """Whether any screen has something like the missing control."""
    step = bind(capability.procedure, first_examples(capability.slots))[missing_at]
    wanted = (step.name or "").casefold()
    if not wanted:
        return True
    names = {node.name.casefold() for tree in trees for node in tree.nodes if step.role in (None, node.role)}
    return any(wanted in name or SequenceMatcher(None, wanted, name).ratio() >= _ALIKE for name in names)


def _ways(capability: Capability, missing_at: int, states: Iterable[State]) -> Iterator[list[ProcedureStep]]:
    steps = capability.procedure
    bound = bind(steps, first_examples(capability.slots))
    for state in states:
        if state.place.slots:
            continue
        for rest in (missing_at, missing_at + 1):
            step = bound[rest] if rest < len(bound) else None
            if step is not None and step.role is not None and step.name and find(state.nodes, step) is not None:
                yield [*state.place.steps, *steps[rest:]]
                break
