"""What the gate's rules are given: a candidate with its wording and capabilities, and what is known around it.

Knows nothing of the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from pipeline.allowlist import AllowList
from pipeline.injection import visible_part
from pipeline.tasks import Capability, TaskSpec
from pipeline.words import RejectionReason
from taskspecs.dates import Dated, dates_in
from taskspecs.likeness import Print, print_of
from taskspecs.scripts import simplified
from taskspecs.wording import Wording, literals, one_spelling, plain, read_wording, skeleton, weighty

_ONE = frozenset({"1"})
"""What "a note" does not say, and "one note" does."""


class Candidate(NamedTuple):
    """A task that asks to be admitted; `origin` says what made it."""

    candidate_id: str
    task: TaskSpec
    origin: str


class Surroundings(NamedTuple):
    """What is known around the candidates.

    `capabilities` by id; `probes` by application: one that is missing is one whose probes nobody knows. `resettable`
    applications are put back to their first state after every episode, so that nothing done to them lasts.
    """

    capabilities: Mapping[str, Capability]
    probes: Mapping[str, frozenset[str]]
    resettable: frozenset[str]
    allow: AllowList
    today: date


class Finding(NamedTuple):
    """Why a candidate is not admitted."""

    reason: RejectionReason
    detail: str
    duplicate_of: str | None = None


class Case(NamedTuple):
    """A candidate as the rules see it.

    `said` is its plain text. For comparing, all in one spelling: `same` is the plain text, `about` what it is about in
    particular, `bones` what is left without that, `shape` what the words of weight in the bones are recognised by.
    """

    task: TaskSpec
    wording: Wording
    said: str
    same: str
    about: frozenset[str]
    bones: str
    shape: Print
    values: tuple[str, ...]
    dates: list[Dated]
    capabilities: tuple[Capability, ...]
    around: Surroundings

    @property
    def live(self) -> bool:
        """Whether anything the task does may last: not all its applications can be put back."""
        return not self.around.resettable.issuperset(self.task.app_ids)


def case_of(task: TaskSpec, around: Surroundings) -> Case:
    """A task made ready for the rules; capabilities that are in no catalog are left out."""
    instruction = visible_part(task.instruction)
    wording = read_wording(instruction)
    params = [*(param for call in task.calls for param in call.params), *task.params]
    values = tuple(param.value for param in params)
    known = (around.capabilities.get(capability_id) for capability_id in task.capability_ids)
    like, particulars = read_wording(one_spelling(instruction)), tuple(map(one_spelling, values))
    bones = skeleton(like, particulars)
    return Case(
        task=task,
        wording=wording,
        said=plain(wording.text),
        same=plain(like.text),
        about=literals(like, particulars) - _ONE,
        bones=bones,
        shape=print_of(weighty(bones)),
        values=values,
        dates=dates_in(simplified(wording.text), around.today),
        capabilities=tuple(found for found in known if found),
        around=around,
    )
