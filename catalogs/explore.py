"""Explores a running application: what its catalog says is tried, and what else can be done is found and recorded.

The environment comes from outside and is reset before every try. Which capabilities hold is decided by what happened,
never by what a page says. This module knows nothing of Ray, files or models.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from catalogs.confirming import Outcome, Subject, confirm
from catalogs.edges import Edges, evidence_of
from pipeline.protocols import Environment
from pipeline.records import Frame, Transition, Tree, now
from pipeline.tasks import Capability

_CONFIRMING_SHARE = 0.75
_TRY_SECONDS = 60.0
_LEAST_SECONDS = 5.0
_MOVES = frozenset({"Click", "DoubleClick", "Hover", "Launch", "Scroll", "Wait"})


class Budget(NamedTuple):
    """What one application may cost, confirmation included."""

    seconds: float = 180.0
    states: int = 60
    edges: int = 300


class Line(NamedTuple):
    """What came of one capability; `found` when it was not known before."""

    capability_id: str
    status: str
    writes: bool
    navigation: bool
    found: bool
    reason: str


class Report(NamedTuple):
    """One application's exploration in figures."""

    app_id: str
    lines: list[Line]
    states: int
    edges: int
    seconds: float
    notes: list[str]

    @property
    def confirmed(self) -> list[Line]:
        """Capabilities that hold on the application as it is, renamed ones by their new procedure."""
        return [line for line in self.lines if line.status in ("confirmed", "renamed")]


class Explored(NamedTuple):
    """Everything an exploration brought back."""

    capabilities: list[Capability]
    transitions: list[Transition]
    frames: list[Frame]
    trees: list[Tree]
    report: Report


Tell = Callable[[Line], None]


async def explore(
    subject: Subject,
    environment: Environment,
    known: Sequence[Capability],
    budget: Budget,
    *,
    seed: int = 0,
    round_: int = 0,
    clock: Callable[[], datetime] = now,
    tell: Tell | None = None,
) -> Explored:
    """Confirm what is known and add what is found, within the budget; `tell` hears of each capability."""
    expedition = _Expedition(subject, environment, budget, seed, round_, clock, tell)
    await expedition.confirm(known)
    return expedition.result()


def is_navigation(capability: Capability) -> bool:
    """Whether a capability only opens a page: it writes nothing, chooses nothing and reads nothing."""
    moves = {step.action for step in capability.procedure}
    return capability.consequence == "none" and not capability.slots and moves <= _MOVES


class _Expedition:
    """One exploration under way."""

    def __init__(
        self,
        subject: Subject,
        environment: Environment,
        budget: Budget,
        seed: int,
        round_: int,
        clock: Callable[[], datetime],
        tell: Tell | None,
    ) -> None:
        self._subject, self._environment, self._budget = subject, environment, budget
        self._seed, self._round, self._clock, self._tell = seed, round_, clock, tell
        self._began = time.monotonic()
        self._edges = Edges(subject.app_id, round_)
        self._capabilities: list[Capability] = []
        self._lines: list[Line] = []
        self._notes: list[str] = []

    @property
    def _left(self) -> float:
        return self._budget.seconds - (time.monotonic() - self._began)

    async def confirm(self, known: Sequence[Capability]) -> None:
        """Try every known capability while there is time."""
        reserve = self._budget.seconds * (1 - _CONFIRMING_SHARE)
        for capability in known:
            left = self._left - reserve
            if left < _LEAST_SECONDS:
                self._keep(Outcome(capability, "not tried: out of time", [], tried=False))
                continue
            seconds = min(_TRY_SECONDS, left)
            outcome = await confirm(self._environment, self._subject, capability, seed=self._seed, seconds=seconds)
            for trial in outcome.trials:
                self._edges.add_record(trial.record, capability.capability_id)
            self._keep(outcome)

    def result(self) -> Explored:
        """What there is now."""
        seconds = round(time.monotonic() - self._began, 1)
        edges = self._edges
        report = Report(
            self._subject.app_id, self._lines, len(edges.states), len(edges.transitions), seconds, self._notes
        )
        return Explored(
            self._capabilities, edges.transitions, list(edges.frames.values()), list(edges.trees.values()), report
        )

    def _keep(self, outcome: Outcome, *, found: bool = False) -> None:
        capability = outcome.capability.model_copy(update={"round": self._round})
        if outcome.tried:
            seen = evidence_of(outcome.trials[-1].record, self._subject.licence)
            evidence = [row for row in capability.evidence if row.source != seen.source]
            capability = capability.model_copy(update={"updated_at": self._clock(), "evidence": [*evidence, seen]})
        line = Line(
            capability.capability_id,
            capability.status,
            capability.consequence != "none",
            is_navigation(capability),
            found,
            outcome.reason,
        )
        self._capabilities.append(capability)
        self._lines.append(line)
        if self._tell is not None:
            self._tell(line)
