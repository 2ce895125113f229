"""Makes candidate tasks from templates, grounded in what exists in the applications now.

The same seed, catalogs and first states give the same tasks, in whatever order templates and applications come. What
could not be drafted is told with its reason. Whether a candidate is admitted is for the gate and the self-tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from random import Random
from typing import Literal, NamedTuple

from pydantic import Field

from catalogs.store import NOTHING_NEW, Known
from pipeline.actions import Model
from pipeline.protocols import Facts
from pipeline.records import Rejection, digest
from pipeline.tasks import TaskSpec
from taskspecs.allotment import Cell, allot
from taskspecs.compose import compose, without_probes
from taskspecs.gate import TEMPLATE_SHARE
from taskspecs.gate_cases import Candidate, Finding
from taskspecs.gate_sets import ALWAYS
from taskspecs.grounding import TRIES, Drawn, Ground, draw
from taskspecs.templates import Template, load_templates
from taskspecs.values import load_values

LANGUAGES = ("en", "zh")
ORIGIN = "template"


class Ask(Model):
    """What is wanted: `count` drafts for applications in languages, with dates counted from `today`.

    `weights` are those of capabilities, 1 where none is given: a template has the mean of its calls. `infeasible_rate`
    is the share of drafts that cannot be done on purpose. With probes withheld no state is read by any contract.
    """

    app_ids: list[str]
    today: date
    count: int = Field(ge=0)
    languages: list[str] = Field(default_factory=lambda: list(LANGUAGES))
    seed: int = 0
    weights: dict[str, float] = Field(default_factory=dict)
    infeasible_rate: float = Field(default=0.1, ge=0.0, le=1.0)
    probes: Literal["use", "withhold"] = "use"
    template_share: float = TEMPLATE_SHARE


class Drafts(NamedTuple):
    """Candidates for the gate, and what could not be drafted, both in the order of their ids."""

    candidates: list[Candidate]
    rejections: list[Rejection]


async def generate(
    ask: Ask, facts: Facts, templates: Sequence[Template] | None = None, known: Known = NOTHING_NEW
) -> Drafts:
    """Draft tasks from templates, by default those that ship; raises ConfigError when an application has none.

    `known` are capabilities as they are known by now, where that differs from the shipped catalogs.
    """
    if templates is None:
        templates = [template for app_id in sorted(set(ask.app_ids)) for template in load_templates(app_id)]
    by_id = {template.template_id: template for template in templates}
    candidates: list[Candidate] = []
    rejections: list[Rejection] = []
    for cell, count in sorted(_shares(ask, templates).items()):
        made = await _cell(by_id[cell.template_id], Ground(facts, cell.language, ask.today), count, ask, known)
        candidates += made.candidates
        rejections += made.rejections
    return Drafts(
        sorted(candidates, key=lambda one: one.candidate_id), sorted(rejections, key=lambda row: row.candidate_id)
    )


def candidate_id_of(template_id: str, language: str, seed: int, number: int) -> str:
    """Identity of a draft."""
    return digest("candidate", template_id, language, str(seed), str(number))


def _shares(ask: Ask, templates: Sequence[Template]) -> dict[Cell, int]:
    """How many drafts each template gives in each language, apart for what can be done and what cannot."""
    cap = max(ALWAYS, int(ask.template_share * ask.count))
    # Without probes nothing proves that a function is missing.
    rate = 0.0 if ask.probes == "withhold" else ask.infeasible_rate
    impossible = round(rate * ask.count)
    wanted = {True: ask.count - impossible, False: impossible}
    shares: dict[Cell, int] = {}
    for feasible, count in wanted.items():
        weights = [
            (Cell(template.template_id, language), _weight(template, ask.weights))
            for template in templates
            if template.feasible == feasible
            for language in ask.languages
            if language in template.wording
        ]
        shares |= allot(weights, count, cap, ask.seed)
    return shares


def _weight(template: Template, weights: Mapping[str, float]) -> float:
    called = [weights.get(call.capability_id, 1.0) for call in template.calls]
    return sum(called) / len(called) if called else 1.0


async def _cell(template: Template, ground: Ground, count: int, ask: Ask, known: Known) -> Drafts:
    """The drafts of one template in one language: each with values of its own."""
    candidates: list[Candidate] = []
    rejections: list[Rejection] = []
    earlier: dict[tuple[str, ...], str] = {}
    for number in range(count):
        candidate_id = candidate_id_of(template.template_id, ground.language, ask.seed, number)
        random = Random(candidate_id)
        drawn = await _fresh(template, ground, random, earlier)
        if isinstance(drawn, Finding):
            rejections.append(_not_drafted(template, ground.language, candidate_id, drawn))
            continue
        earlier[_told(template, drawn)] = candidate_id
        task = compose(template, ground.language, drawn, random, ask.seed, known)
        candidates.append(Candidate(candidate_id, _as_asked(_clocked(task, template, ask.today), ask), ORIGIN))
    return Drafts(candidates, rejections)


async def _fresh(
    template: Template, ground: Ground, random: Random, earlier: Mapping[tuple[str, ...], str]
) -> Drawn | Finding:
    """Values that no earlier draft of the template has; else why the last that were drawn do not do."""
    finding = Finding("underspecified", "nothing was drawn")
    for _ in range(TRIES):
        drawn = await draw(template, ground, random)
        if isinstance(drawn, Finding):
            finding = drawn
        elif _told(template, drawn) in earlier:
            used = earlier[_told(template, drawn)]
            finding = Finding("duplicate_of", "the template gives no further different task", used)
        else:
            return drawn
    return finding


def _told(template: Template, drawn: Drawn) -> tuple[str, ...]:
    return tuple(drawn[slot.name] for slot in template.slots if slot.told)


def _clocked(task: TaskSpec, template: Template, today: date) -> TaskSpec:
    """With the day that the days in it were counted from among its sources."""
    if not any(slot.pool in load_values().days for slot in template.slots):
        return task
    return task.model_copy(update={"sources": [*task.sources, f"clock:{today.isoformat()}"]})


def _as_asked(task: TaskSpec, ask: Ask) -> TaskSpec:
    return without_probes(task) if ask.probes == "withhold" else task


def _not_drafted(template: Template, language: str, candidate_id: str, finding: Finding) -> Rejection:
    return Rejection(
        candidate_id=candidate_id,
        app_ids=[template.app_id],
        instruction=template.wording[language][0],
        reason=finding.reason,
        detail=f"template '{template.template_id}': {finding.detail}",
        duplicate_of=finding.duplicate_of,
        origin=ORIGIN,
    )
