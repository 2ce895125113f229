"""Measures judges and vote rules on a labelled set, and fits the weighted rule: what a calibration file is made of.

Rules are measured as the panel applies them: a failed check is a veto, checks that hold while every vote disagrees are
a dispute. Fitted rules are measured on items of tasks they were not fitted on. The telemetry judge exists only with
weights, so its votes are those of weights from other tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import numpy as np

from pipeline.errors import ConfigError
from verifiers.ballot import PROGRAM, Ballot
from verifiers.calibration import FAILED, PASSED, CalibrationFile, Measured, identified
from verifiers.dependence import dependence_of
from verifiers.fitting import FOLDS, RESHUFFLES, SEED, Scored, cross_validated, fit
from verifiers.labelled import Item, LabelSet, Voter, ballots
from verifiers.metrics import Decisions, Figures, Flags, curve_of, decisions_of, figures_of
from verifiers.rules import RULES
from verifiers.telemetry import NAME as TELEMETRY

FEWEST_ITEMS = 30
_CHECKS = (PASSED, FAILED)
_VALIDATION = f"{FOLDS} folds by task, {RESHUFFLES} reshuffles from seed {SEED}; intervals by resampling tasks"


def calibrate(labels: LabelSet, made_at: datetime, precision: float | None = None) -> CalibrationFile:
    """Measure everything; with `precision` the weighted rule accepts only as much as reaches it.

    Raises ConfigError where there are too few items to measure anything.
    """
    _require_enough(labels)
    telemetry = _signs_only(labels.items)
    scored = cross_validated(telemetry) if telemetry else None
    labels = _with_telemetry(labels, scored)
    items = [_without_telemetry(item) for item in labels.items if not item.signs.get(FAILED)]
    weighted = cross_validated(items, precision)
    truth = np.array([item.truth for item in items])
    return identified(
        CalibrationFile(
            calibration_id="",
            made_at=made_at,
            source=labels.source,
            domains=sorted(labels.domains),
            judges=sorted(labels.voters, key=lambda voter: voter.name),
            validation=_VALIDATION,
            measured=[*_judges(labels), *_telemetry(labels, scored), *_rules(labels, weighted)],
            dependence=dependence_of(labels),
            weighing=fit(items, precision),
            telemetry=fit(telemetry) if telemetry else None,
            curve=curve_of(weighted.scores.mean(axis=0), truth),
        )
    )


def measured(name: str, decide: Decisions, labels: LabelSet, *, judge: bool) -> Measured:
    """One judge or rule on all items, and apart where some tasks cannot be done."""
    apart = np.array([item.infeasible for item in labels.items])
    mixed = bool(apart.any() and not apart.all())
    return Measured(
        name=name,
        kind="judge" if judge else "rule",
        figures=_figures(decide, labels, np.ones_like(apart)),
        feasible=_figures(decide, labels, ~apart) if mixed else None,
        infeasible=_figures(decide, labels, apart) if mixed else None,
    )


def decided_by(rule: Callable[[Ballot], bool | None], labels: LabelSet) -> Decisions:
    """What a rule makes of every item, after the checks have had their say."""
    pairs = zip(labels.items, ballots(labels), strict=True)
    return decisions_of([_after_checks(item, ballot, rule(ballot)) for item, ballot in pairs])


def _after_checks(item: Item, ballot: Ballot, side: bool | None) -> bool | None:
    if item.signs.get(FAILED):
        return False
    disputed = item.signs.get(PASSED) and ballot.valid and not ballot.share("complete")
    return None if disputed else side


def _judges(labels: LabelSet) -> list[Measured]:
    heard = [voter.name for voter in labels.voters if voter.name != TELEMETRY]
    return [
        measured(name, decisions_of([item.votes.get(name) for item in labels.items]), labels, judge=True)
        for name in heard
    ]


def _telemetry(labels: LabelSet, scored: Scored | None) -> list[Measured]:
    if scored is None:
        return []
    return [measured(TELEMETRY, Decisions(scored.accepted, scored.accepted | scored.rejected), labels, judge=True)]


def _rules(labels: LabelSet, weighted: Scored) -> list[Measured]:
    fixed = [measured(rule.name, decided_by(rule.decide, labels), labels, judge=False) for rule in RULES]
    return [*fixed, measured("weighted", _weighted(labels, weighted), labels, judge=False)]


def _weighted(labels: LabelSet, scored: Scored) -> Decisions:
    """The weighted rule's decisions, with the veto and the disputes that it was not asked about."""
    said = np.zeros((RESHUFFLES, len(labels.items)), dtype=bool)
    decided = np.ones_like(said)
    free = np.array([not item.signs.get(FAILED) for item in labels.items])
    said[:, free], decided[:, free] = scored.accepted, scored.accepted | scored.rejected
    for number, (item, ballot) in enumerate(zip(labels.items, ballots(labels), strict=True)):
        if not ballot.valid or _after_checks(item, ballot, True) is None:
            decided[:, number] = bool(item.signs.get(FAILED))
    return Decisions(said, decided)


def _figures(decide: Decisions, labels: LabelSet, kept: Flags) -> Figures:
    items = [item for item, keep in zip(labels.items, kept, strict=True) if keep]
    return figures_of(
        Decisions(decide.said[..., kept], decide.decided[..., kept]),
        np.array([item.truth for item in items]),
        [item.task_id for item in items],
    )


def _signs_only(items: Sequence[Item]) -> list[Item]:
    """The items as the telemetry judge sees them; nothing where no record was read."""
    seen = [
        item._replace(votes={}, signs={name: value for name, value in item.signs.items() if name not in _CHECKS})
        for item in items
    ]
    return seen if any(item.signs for item in seen) else []


def _with_telemetry(labels: LabelSet, scored: Scored | None) -> LabelSet:
    """The votes that the telemetry judge will cast once it has weights, where it is one of the judges."""
    if scored is None or all(voter.name != TELEMETRY for voter in labels.voters):
        return labels
    sides = zip(labels.items, scored.accepted[0], strict=True)
    items = [item._replace(votes={**item.votes, TELEMETRY: bool(side)}) for item, side in sides]
    voters = [voter for voter in labels.voters if voter.name != TELEMETRY]
    return labels._replace(items=items, voters=[*voters, Voter(name=TELEMETRY, kind="program", family=PROGRAM)])


def _without_telemetry(item: Item) -> Item:
    """The telemetry judge is not weighed beside the signs it reads."""
    return item._replace(votes={name: vote for name, vote in item.votes.items() if name != TELEMETRY})


def _require_enough(labels: LabelSet) -> None:
    items = [item for item in labels.items if not item.signs.get(FAILED)]
    tasks = len({item.task_id for item in items})
    right = sum(item.truth for item in items)
    if len(items) < FEWEST_ITEMS or tasks < FOLDS or right in (0, len(items)):
        raise ConfigError(
            f"--labels: {labels.source} has {len(items)} labelled items without a failed check, of {tasks} tasks,"
            f" {right} of them right; measuring takes at least {FEWEST_ITEMS} of {FOLDS} tasks, right and wrong ones"
        )
    if not labels.voters:
        raise ConfigError(f"--labels: {labels.source} has no votes of these judges")
