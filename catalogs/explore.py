"""Explores a running application: what its catalog says is tried, and what else can be done is found and recorded.

The environments come from outside and are reset before every try; what is known is tried in all of them at once.
Which capabilities hold is decided by what happened, never by what a page says. Knows nothing of Ray, files or models.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from catalogs.confirming import TRY_SECONDS, Confirmer, Outcome, Trial
from catalogs.edges import EXPLORED, Edges, closings, evidence_of
from catalogs.finding import opening
from catalogs.naming import unused
from catalogs.prospecting import Limits, Prospector
from catalogs.rerouting import is_anywhere, other_ways
from catalogs.subject import Subject
from pipeline.errors import EpisodeError
from pipeline.protocols import Environment
from pipeline.records import Frame, Transition, Tree, now
from pipeline.tasks import Capability

_CONFIRMING_SHARE = 0.85
_LEAST_SECONDS = 5.0
_MOVES = frozenset({"Click", "DoubleClick", "Hover", "Launch", "Scroll", "Wait"})


class Budget(NamedTuple):
    """What one application may cost, confirmation included."""

    seconds: float = 180.0
    states: int = 60
    edges: int = 300
    only_for_broken: bool = False
    """Whether more is looked for only where something known has gone from its screen."""


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
    environments: Sequence[Environment],
    known: Sequence[Capability],
    budget: Budget,
    *,
    seed: int = 0,
    round_: int = 0,
    clock: Callable[[], datetime] = now,
    tell: Tell | None = None,
) -> Explored:
    """Confirm what is known and add what is found, within the budget; `tell` hears of each capability.

    Each environment has an application of its own; what is new is looked for in the first one.
    """
    expedition = _Expedition(subject, environments, budget, seed, round_, clock, tell)
    await expedition.confirm(known)
    await expedition.search()
    return expedition.result()


def is_navigation(capability: Capability) -> bool:
    """Whether a capability only opens a page: it writes nothing, enters nothing and reads nothing."""
    return capability.consequence == "none" and {step.action for step in capability.procedure} <= _MOVES


def _urgency(capability: Capability) -> tuple[bool, float]:
    """What is not confirmed comes first, then what was seen longest ago; else the catalog's order."""
    at = capability.updated_at
    return capability.status == "confirmed", at.timestamp() if at is not None else 0.0


class _Broken(NamedTuple):
    """A capability whose control was missing at a step of its procedure."""

    capability: Capability
    line: Line
    trial: Trial
    missing_at: int


class _Expedition:
    """One exploration under way."""

    def __init__(
        self,
        subject: Subject,
        environments: Sequence[Environment],
        budget: Budget,
        seed: int,
        round_: int,
        clock: Callable[[], datetime],
        tell: Tell | None,
    ) -> None:
        self._subject, self._environment, self._budget = subject, environments[0], budget
        self._seed, self._round, self._clock, self._tell = seed, round_, clock, tell
        self._began = time.monotonic()
        self._confirmers = [Confirmer(environment, subject, seed) for environment in environments]
        self._edges = Edges(subject.app_id, round_)
        self._rows: dict[str, tuple[Capability, Line]] = {}
        self._last: dict[str, Trial] = {}
        self._notes: list[str] = []

    @property
    def _left(self) -> float:
        return self._budget.seconds - (time.monotonic() - self._began)

    async def confirm(self, known: Sequence[Capability]) -> None:
        """Try every known capability while there is time, each in the environment that is free first."""
        waiting = sorted(known, key=_urgency)
        order = {capability.capability_id: at for at, capability in enumerate(waiting)}
        queue = iter(waiting)
        hands = [asyncio.ensure_future(self._confirm_some(queue, confirmer)) for confirmer in self._confirmers]
        try:
            await asyncio.gather(*hands)
        finally:
            for hand in hands:
                hand.cancel()
            await asyncio.gather(*hands, return_exceptions=True)
        self._rows = {name: self._rows[name] for name in sorted(self._rows, key=order.__getitem__)}

    async def _confirm_some(self, queue: Iterator[Capability], confirmer: Confirmer) -> None:
        """Take one capability after another, until none is left."""
        reserve = self._budget.seconds * (1 - _CONFIRMING_SHARE)
        for capability in queue:
            left = self._left - reserve
            if left < _LEAST_SECONDS:
                self._keep(Outcome(capability, None, "not tried: out of time", []))
                continue
            outcome = await confirmer.confirm(capability, min(TRY_SECONDS, left))
            for trial in outcome.trials:
                self._edges.add_record(trial.record, capability.capability_id)
            if outcome.trials:
                self._last[capability.capability_id] = outcome.trials[-1]
            self._keep(outcome)

    async def search(self) -> None:
        """Look for more, then see to what did not hold with what is known of the screens now."""
        if self._left < _LEAST_SECONDS or not self._budget.edges:
            return
        if self._budget.only_for_broken and not list(self._broken()):
            return
        limits = Limits(time.monotonic() + self._left, self._budget.states, self._budget.edges)
        prospector = Prospector(
            self._environment,
            self._subject,
            self._confirmers[0],
            self._edges,
            limits,
            seed=self._seed,
            today=self._clock().date(),
            found=self._add,
        )
        prospector.closed.update(closing for trial in self._last.values() for closing in closings(trial.record))
        try:
            await prospector.search()
        except EpisodeError as error:
            self._notes.append(f"the search broke off: {error.boundary}/{error.code}: {error.message.splitlines()[0]}")
        self._notes += dict.fromkeys(prospector.notes)
        if prospector.merged:
            self._notes.append(f"{prospector.merged} finds are what known capabilities do")
        await self._see_to_broken(prospector)
        self._add_openings(prospector)

    def result(self) -> Explored:
        """What there is now."""
        seconds = round(time.monotonic() - self._began, 1)
        edges = self._edges
        lines = [line for _, line in self._rows.values()]
        report = Report(self._subject.app_id, lines, len(edges.states), len(edges.transitions), seconds, self._notes)
        rows = [row for row, _ in self._rows.values()]
        return Explored(rows, edges.transitions, list(edges.frames.values()), list(edges.trees.values()), report)

    async def _see_to_broken(self, prospector: Prospector) -> None:
        """What broke at a missing control: try the ways found meanwhile, or say that the function is nowhere."""
        for row, line, trial, missing_at in list(self._broken()):
            if self._left < _LEAST_SECONDS:
                break
            ways = other_ways(row, missing_at, prospector.states.values())
            replaced = await self._confirmers[0].replace(row, ways)
            if replaced is not None:
                self._keep(replaced)
            elif prospector.exhausted is None and not is_anywhere(row, missing_at, self._edges.trees.values()):
                gone = row.model_copy(update={"status": "unsupported"})
                self._keep(Outcome(gone, "unsupported", f"{line.reason}; nor on any other screen", [trial]))

    def _broken(self) -> Iterator[_Broken]:
        """What is known and has a control that was not where it should be."""
        for row, line in self._rows.values():
            trial = self._last.get(row.capability_id)
            if line.status == "outdated" and trial is not None and trial.missing_at is not None:
                yield _Broken(row, line, trial, trial.missing_at)

    def _add_openings(self, prospector: Prospector) -> None:
        """Screens that nothing known opens; never more than half of what does something."""
        opened = {
            signature
            for name, trial in self._last.items()
            if is_navigation(self._rows[name][0])
            for signature in self._edges.ends(trial.record)
        }
        lines = [line for _, line in self._rows.values()]
        room = sum(not line.navigation for line in lines) // 2 - sum(line.navigation for line in lines)
        for state in list(prospector.states.values())[1:]:
            evidence = self._edges.evidence_for(state.signature)
            if room <= 0 or state.signature in opened or evidence is None or not state.has_own_address:
                continue
            room -= 1
            row = opening(self._subject, state.place)
            row = row.model_copy(update={"status": "confirmed", "success_count": 1, "evidence": [evidence]})
            self._add(Outcome(row, "confirmed", "", []))

    def _add(self, outcome: Outcome) -> str:
        """Keep a find under a name that nothing else has, which is returned."""
        name = unused(outcome.capability.capability_id, self._rows)
        named = outcome.capability.model_copy(update={"capability_id": name})
        self._keep(outcome._replace(capability=named), found=True)
        return name

    def _keep(self, outcome: Outcome, *, found: bool = False) -> None:
        row = outcome.capability.model_copy(update={"round": self._round})
        if outcome.verdict is not None:
            seen = [evidence_of(outcome.trials[-1].record)] if outcome.trials else []
            kept = [entry for entry in row.evidence if not seen or not entry.source.startswith(EXPLORED)]
            row = row.model_copy(update={"updated_at": self._clock(), "evidence": [*kept, *seen]})
        line = Line(
            row.capability_id,
            outcome.verdict or row.status,
            row.consequence != "none",
            is_navigation(row),
            found,
            outcome.reason,
        )
        self._rows[row.capability_id] = row, line
        if self._tell is not None:
            self._tell(line)
