"""The calibration file: which judges and rules were measured, on what, and how often they are wrong.

It is what `panel.calibration=FILE` names and what verdicts cite. Its figures speak only of the judges and the domains
they were measured on; asked about others it says nothing. Its id is the hash of its content, so an edited file is found
out. How figures come about is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import AwareDatetime, ValidationError

from pipeline.actions import Model
from pipeline.errors import ConfigError, first_problem
from pipeline.records import Vote, digest
from pipeline.structs import Calibration
from pipeline.user_files import text_of
from pipeline.words import Domain, Target
from verifiers.ballot import Ballot
from verifiers.dependence import Dependence
from verifiers.labelled import Voter
from verifiers.metrics import Figures, Point
from verifiers.telemetry import NAME as TELEMETRY
from verifiers.weighing import Side, Weighing, features_of

PASSED, FAILED = "checks_passed", "checks_failed"
"""Signs by which a weighted rule knows the contract: checks cast no vote."""


class Measured(Model):
    """One judge or rule, on all items, and apart on those whose task can and cannot be done."""

    name: str
    kind: Literal["judge", "rule"]
    figures: Figures
    feasible: Figures | None = None
    infeasible: Figures | None = None


class Cell(Model):
    """A rule's figures as verdicts cite them: of one domain, where checks of the state held or where there were none.

    Only where enough was labelled: the others are not cited.
    """

    target: Target
    domain: Domain
    checked: bool
    rule: str
    figures: Figures


class CalibrationFile(Model):
    """The measurement of one set of judges."""

    calibration_id: str
    made_at: AwareDatetime
    source: str
    judges: list[Voter]
    step_judges: list[Voter]
    """Judges of steps; none where too few steps were labelled."""
    validation: str
    """How fitted rules were kept apart from the items they were measured on."""
    measured: list[Measured]
    """On all trajectories, as the panel decides: after a failed check has had its say."""
    steps: list[Measured]
    cells: list[Cell]
    dependence: Dependence
    weighing: Weighing
    telemetry: Weighing | None
    """Weights of the judge without a model that knows signs only; null where the items had none."""
    curve: list[Point]
    """Of the weighted rule's scores of items it was not fitted on."""

    @property
    def domains(self) -> list[Domain]:
        """Where verdicts on trajectories may cite the file."""
        return sorted({cell.domain for cell in self.cells if cell.target == "trace"})

    def figures(
        self, rule: str, domain: Domain, *, checked: bool = False, target: Target = "trace"
    ) -> Calibration | None:
        """What verdicts by this rule cite; nothing where the rule's errors could not be counted."""
        kind = (target, domain, checked, rule)
        for cell in self.cells:
            fpr, fnr = cell.figures.fpr.value, cell.figures.fnr.value
            if (cell.target, cell.domain, cell.checked, cell.rule) == kind and fpr is not None and fnr is not None:
                return Calibration(calibration_id=self.calibration_id, fpr=fpr, fnr=fnr, n=cell.figures.n)
        return None

    def measures(self, judges: Iterable[tuple[str, str]]) -> bool:
        """Whether these judges, by name and family, are those that were measured: all of them and no other."""
        return _names(judges) == _names((voter.name, voter.family) for voter in self.judges)

    def for_step_judges(self, judges: Iterable[tuple[str, str]]) -> CalibrationFile:
        """The same, without what it says of steps where that was measured for other judges."""
        if _names(judges) == _names((voter.name, voter.family) for voter in self.step_judges):
            return self
        of_traces = [cell for cell in self.cells if cell.target == "trace"]
        return self.model_copy(update={"step_judges": [], "steps": [], "cells": of_traces})

    def speaks_of(self, domain: Domain, votes: Iterable[Vote], target: Target = "trace") -> bool:
        """Whether the figures apply in this domain to judges that cast these votes."""
        known = {voter.name: voter for voter in (self.judges if target == "trace" else self.step_judges)}
        measured = any((cell.target, cell.domain) == (target, domain) for cell in self.cells)
        return measured and all(_same(known.get(vote.judge), vote) for vote in votes)

    def weigh(self, ballot: Ballot, right: str, signs: Mapping[str, float]) -> Weighed:
        """What the weighted rule makes of votes and signs; `right` is the grade that counts as a vote for.

        The telemetry judge is not counted beside the signs it reads. While a judge that is yet to be asked could turn
        the decision there is none.
        """
        votes = {vote.judge: vote.grade == right for vote in ballot.valid if vote.judge != TELEMETRY}
        features = features_of(votes, signs)
        asked = {vote.judge for vote in [*ballot.valid, *ballot.silent]}
        waiting = sorted({voter.name for voter in self.judges} - asked - {TELEMETRY})
        return Weighed(self.weighing.side(features, waiting), self.weighing.probability(features))


class Weighed(NamedTuple):
    """A decision of the weighted rule."""

    side: Side
    probability: float


def identified(file: CalibrationFile) -> CalibrationFile:
    """The same with the id of its content."""
    return file.model_copy(update={"calibration_id": _id_of(file)})


def load_calibration(path: str) -> CalibrationFile:
    """Read a calibration file; raises ConfigError when it is missing, malformed or edited."""
    try:
        file = CalibrationFile.model_validate_json(text_of(Path(path), "panel.calibration"))
    except ValidationError as error:
        raise ConfigError(f"panel.calibration: '{path}' is no calibration: {first_problem(error)}") from error
    if file.calibration_id != _id_of(file):
        raise ConfigError(f"panel.calibration: '{path}' was changed after it was written; calibrate again")
    return file


def applicable(
    path: str | None, rule: str, judges: Sequence[tuple[str, str]], step_judges: Sequence[tuple[str, str]] = ()
) -> CalibrationFile | None:
    """The calibration a pass may cite: nothing where none is named or where it is of other judges.

    Judges are names with families. Raises ConfigError where the rule cannot do without the calibration.
    """
    file = load_calibration(path) if path is not None else None
    if file is not None and file.measures(judges):
        return file.for_step_judges(step_judges)
    if rule == "quorum":
        return None
    if file is None:
        raise ConfigError(f"panel.rule: '{rule}' needs panel.calibration=FILE, made by `pathproof calibrate`")
    raise ConfigError(
        f"panel.calibration: measured for {_named((one.name, one.family) for one in file.judges)},"
        f" but the judges are {_named(judges)}; panel.rule={rule} needs figures of the same judges"
    )


def _names(judges: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Families are compared without case, as votes are counted."""
    return {(name, family.casefold()) for name, family in judges}


def _same(voter: Voter | None, vote: Vote) -> bool:
    if voter is None or (voter.kind, voter.family.casefold()) != (vote.judge_kind, vote.family.casefold()):
        return False
    return not voter.prompt_sha256s or vote.prompt_sha256 is None or vote.prompt_sha256 in voter.prompt_sha256s


def _named(judges: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name} ({family})" for name, family in sorted(judges)) or "none"


def _id_of(file: CalibrationFile) -> str:
    return digest("calibration", file.model_dump_json(exclude={"calibration_id", "made_at"}))
