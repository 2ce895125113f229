"""Measures judges and vote rules on a labelled set, and fits the weighted rule: what a calibration file is made of.

Rules are measured as the panel applies them: a failed check is a veto, a decision against checks that hold is a
dispute. What a verdict may cite is measured apart from that: per domain, on items whose checks hold and on items
without checks, where enough of each is labelled. Fitted rules are measured on items of tasks they were not fitted on.
The telemetry judge exists only with weights, so its votes are those of weights from other tasks. Steps have no checks
and no fitted rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

import numpy as np

from pipeline.errors import ConfigError
from pipeline.words import Target
from verifiers.ballot import PROGRAM, Ballot
from verifiers.calibration import FAILED, PASSED, CalibrationFile, Cell, Measured, identified
from verifiers.dependence import dependence_of
from verifiers.fitting import FOLDS, RESHUFFLES, SEED, Scored, cross_validated, fit
from verifiers.labelled import Item, LabelSet, Voter, ballots
from verifiers.metrics import Decisions, Figures, Flags, curve_of, decisions_of, figures_of
from verifiers.rules import RULES
from verifiers.telemetry import NAME as TELEMETRY

FEWEST_ITEMS = 30
_CHECKS = (PASSED, FAILED)
_VALIDATION = f"{FOLDS} folds by task, {RESHUFFLES} reshuffles from seed {SEED}; intervals by resampling tasks"


def calibrate(
    labels: LabelSet, made_at: datetime, precision: float | None = None, steps: LabelSet | None = None
) -> CalibrationFile:
    """Measure everything; with `precision` the weighted rule accepts only as much as reaches it.

    `steps` are labelled steps; too few of them are left out. Raises ConfigError where there are too few trajectories
    to measure anything.
    """
    _require_enough(labels)
    steps = steps if steps is not None and _enough(steps.items) else LabelSet(labels.source, [], [])
    telemetry = _signs_only(labels.items)
    scored = cross_validated(telemetry) if telemetry else None
    labels = _with_telemetry(labels, scored)
    items = [_without_telemetry(item) for item in labels.items if not item.signs.get(FAILED)]
    weighted = cross_validated(items, precision)
    truth = np.array([item.truth for item in items])
    rules = _fixed_rules(labels) | {"weighted": _weighted(labels, weighted)}
    step_rules = _fixed_rules(steps)
    return identified(
        CalibrationFile(
            calibration_id="",
            made_at=made_at,
            source=labels.source,
            judges=sorted(labels.voters, key=lambda voter: voter.name),
            step_judges=sorted(steps.voters, key=lambda voter: voter.name),
            validation=_VALIDATION,
            measured=[*_judges(labels), *_telemetry(labels, scored), *_rules(labels, rules)],
            steps=[*_judges(steps), *_rules(steps, step_rules)] if steps.items else [],
            cells=[*_cells("trace", labels, rules), *_cells("step", steps, step_rules)],
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
    disputed = item.signs.get(PASSED) and (side is False or _unanimously_against(ballot))
    return None if disputed else side


def _unanimously_against(ballot: Ballot) -> bool:
    return bool(ballot.valid) and not ballot.share("complete")


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


def _fixed_rules(labels: LabelSet) -> dict[str, Decisions]:
    return {rule.name: decided_by(rule.decide, labels) for rule in RULES}


def _rules(labels: LabelSet, rules: Mapping[str, Decisions]) -> list[Measured]:
    return [measured(name, decide, labels, judge=False) for name, decide in rules.items()]


def _cells(target: Target, labels: LabelSet, rules: Mapping[str, Decisions]) -> Iterator[Cell]:
    """Every kind of verdict that enough items are labelled of, with the figures of the rules on just those."""
    for domain in sorted({item.domain for item in labels.items if item.domain}):
        for checked in (False, True):
            kept = np.array([item.domain == domain and _checked(item) is checked for item in labels.items])
            if _enough([item for item, keep in zip(labels.items, kept, strict=True) if keep]):
                for rule, decide in rules.items():
                    figures = _figures(decide, labels, kept)
                    yield Cell(target=target, domain=domain, checked=checked, rule=rule, figures=figures)


def _checked(item: Item) -> bool | None:
    """Whether checks held or there were none; a failed one leaves the votes nothing to be right or wrong about."""
    return None if item.signs.get(FAILED) else bool(item.signs.get(PASSED))


def _weighted(labels: LabelSet, scored: Scored) -> Decisions:
    """The weighted rule's decisions, with the veto and the disputes that it was not asked about."""
    said = np.zeros((RESHUFFLES, len(labels.items)), dtype=bool)
    decided = np.ones_like(said)
    free = np.array([not item.signs.get(FAILED) for item in labels.items])
    said[:, free], decided[:, free] = scored.accepted, scored.accepted | scored.rejected
    for number, (item, ballot) in enumerate(zip(labels.items, ballots(labels), strict=True)):
        if not ballot.valid or _after_checks(item, ballot, True) is None:
            decided[:, number] = bool(item.signs.get(FAILED))
        elif item.signs.get(PASSED):
            decided[:, number] &= said[:, number]
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


def _enough(items: Sequence[Item]) -> bool:
    right = sum(item.truth for item in items)
    return len(items) >= FEWEST_ITEMS and len({item.task_id for item in items}) >= FOLDS and 0 < right < len(items)


def _require_enough(labels: LabelSet) -> None:
    items = [item for item in labels.items if not item.signs.get(FAILED)]
    if not _enough(items):
        raise ConfigError(
            f"--labels: {labels.source} has {len(items)} labelled items without a failed check,"
            f" of {len({item.task_id for item in items})} tasks, {sum(item.truth for item in items)} of them right;"
            f" measuring takes at least {FEWEST_ITEMS} of {FOLDS} tasks, right and wrong ones"
        )
    if not labels.voters:
        raise ConfigError(f"--labels: {labels.source} has no votes of these judges")
