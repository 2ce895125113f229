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
from pipeline.words import Domain
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


class CalibrationFile(Model):
    """The measurement of one set of judges."""

    calibration_id: str
    made_at: AwareDatetime
    source: str
    domains: list[Domain]
    judges: list[Voter]
    validation: str
    """How fitted rules were kept apart from the items they were measured on."""
    measured: list[Measured]
    dependence: Dependence
    weighing: Weighing
    telemetry: Weighing | None
    """Weights of the judge without a model that knows signs only; null where the items had none."""
    curve: list[Point]
    """Of the weighted rule's scores of items it was not fitted on."""

    def figures(self, rule: str) -> Calibration | None:
        """What verdicts by this rule cite; nothing where the rule's errors could not be counted."""
        for one in self.measured:
            fpr, fnr = one.figures.fpr.value, one.figures.fnr.value
            if one.kind == "rule" and one.name == rule and fpr is not None and fnr is not None:
                return Calibration(calibration_id=self.calibration_id, fpr=fpr, fnr=fnr, n=one.figures.n)
        return None

    def measures(self, judges: Iterable[tuple[str, str]]) -> bool:
        """Whether these judges, by name and family, are those that were measured: all of them and no other."""
        return set(judges) == {(voter.name, voter.family) for voter in self.judges}

    def speaks_of(self, domain: Domain, votes: Iterable[Vote]) -> bool:
        """Whether the figures apply in this domain to judges that cast these votes."""
        known = {voter.name: voter for voter in self.judges}
        return domain in self.domains and all(_same(known.get(vote.judge), vote) for vote in votes)

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
        file = CalibrationFile.model_validate_json(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"panel.calibration: '{path}' cannot be read ({error})") from error
    except ValidationError as error:
        raise ConfigError(f"panel.calibration: '{path}' is no calibration: {first_problem(error)}") from error
    if file.calibration_id != _id_of(file):
        raise ConfigError(f"panel.calibration: '{path}' was changed after it was written; calibrate again")
    return file


def applicable(path: str | None, rule: str, judges: Sequence[tuple[str, str]]) -> CalibrationFile | None:
    """The calibration a pass may cite: nothing where none is named or where it is of other judges.

    Raises ConfigError where the rule cannot do without it.
    """
    file = load_calibration(path) if path is not None else None
    if file is not None and file.measures(judges):
        return file
    if rule == "quorum":
        return None
    if file is None:
        raise ConfigError(f"panel.rule: '{rule}' needs panel.calibration=FILE, made by `pathproof calibrate`")
    raise ConfigError(
        f"panel.calibration: measured for {_named((one.name, one.family) for one in file.judges)},"
        f" but the judges are {_named(judges)}; panel.rule={rule} needs figures of the same judges"
    )


def _same(voter: Voter | None, vote: Vote) -> bool:
    if voter is None or (voter.kind, voter.family) != (vote.judge_kind, vote.family):
        return False
    return not voter.prompt_sha256s or vote.prompt_sha256 is None or vote.prompt_sha256 in voter.prompt_sha256s


def _named(judges: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name} ({family})" for name, family in sorted(judges)) or "none"


def _id_of(file: CalibrationFile) -> str:
    return digest("calibration", file.model_dump_json(exclude={"calibration_id", "made_at"}))
