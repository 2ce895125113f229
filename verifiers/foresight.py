"""What judges that have not been asked could still change: every way in which they may vote is tried.

A trajectory or a step is closed when its status, grade and rule are the same whatever the judges say who were not
asked, so leaving them out saves calls and changes none of the three. The panel itself decides each time, so this holds
under every rule. Where there are too many ways to try, nothing is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import product
from typing import NamedTuple, get_args

from pipeline.config import PanelConfig
from pipeline.records import Vote
from pipeline.words import Grade, Rule, StepGrade, Target, TraceGrade, VoteStatus
from verifiers.ballot import Ballot, ballot_of
from verifiers.panel import BY_VOTES, Case, Ruling, step_ruling, step_votes, trace_ruling

_MOST_WAYS = 1500
"""Four judges that wait; an answer must not take longer than asking one of them would."""
_GRADES: dict[Target, tuple[Grade, ...]] = {"trace": get_args(TraceGrade), "step": get_args(StepGrade)}
_WITHOUT_A_MODEL: tuple[Rule, ...] = (*BY_VOTES, "no_quorum", "no_votes")
"""What stands for want of a model: one is heard then, be it only for people to read and to measure it by."""
_SILENT: tuple[VoteStatus, ...] = ("abstain", "error")

Ballots = Callable[[Ballot], Ruling]


class Unheard(NamedTuple):
    """A model that has not been asked, and what it grades."""

    name: str
    family: str
    grades: Collection[Target]


class Waiting(NamedTuple):
    """The models that have not been asked yet, and the one that will be where votes do not decide."""

    models: Sequence[Unheard] = ()
    escalate: Unheard | None = None


def open_of(case: Case, votes: Sequence[Vote], config: PanelConfig, waiting: Waiting) -> tuple[bool, list[int]]:
    """Whether the trajectory may still be changed by those who wait, and which steps may."""
    trace = [vote for vote in votes if vote.target == "trace"]
    seen: dict[frozenset[tuple[str, VoteStatus, Grade | None]], bool] = {}
    steps = []
    for step in case.record.own_steps:
        cast = step_votes(votes, step.step_index)
        alike = frozenset((vote.judge, vote.status, vote.grade) for vote in cast)
        if alike not in seen:
            seen[alike] = _open(lambda ballot: step_ruling(case, ballot, config), cast, "step", waiting)
        if seen[alike]:
            steps.append(step.step_index)
    return _open(lambda ballot: trace_ruling(case, ballot, config), trace, "trace", waiting), steps


def _open(rule: Ballots, cast: Sequence[Vote], target: Target, waiting: Waiting) -> bool:
    ballot = ballot_of(cast)
    ruling = rule(ballot)
    voted = ruling.rule in BY_VOTES and ballot.has_models
    # The one to escalate to is asked unless votes decide, so there it may change what the others leave open.
    waits = [*waiting.models, *([waiting.escalate] if waiting.escalate and not voted else [])]
    pending = [one for one in waits if target in one.grades]
    if not ballot.has_models and ruling.rule in _WITHOUT_A_MODEL:
        return bool(pending)
    return _may_change(rule, cast, target, pending, _held(ruling))


def _may_change(
    rule: Ballots, cast: Sequence[Vote], target: Target, pending: Sequence[Unheard], held: tuple[object, ...]
) -> bool:
    options = [list(_ways(one, target)) for one in pending]
    if len(_GRADES[target] + _SILENT) ** len(options) > _MOST_WAYS:
        return True
    return any(_held(rule(ballot_of([*cast, *more]))) != held for more in product(*options))


def _held(ruling: Ruling) -> tuple[object, ...]:
    return ruling.status, ruling.grade, ruling.rule


def _ways(judge: Unheard, target: Target) -> Iterator[Vote]:
    """Every vote that a judge may cast."""
    said: list[tuple[VoteStatus, Grade | None]] = [("graded", grade) for grade in _GRADES[target]]
    for status, grade in [*said, *((silence, None) for silence in _SILENT)]:
        yield Vote(
            pass_id="",
            target=target,
            attempt_id="",
            judge=judge.name,
            judge_kind="model",
            family=judge.family,
            status=status,
            grade=grade,
            reason="",
        )
