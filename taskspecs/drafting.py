"""Tasks written by a model: what to find out, what documents and earlier tasks say, a draft, a second look, a revision.

Each draft is about functions chosen by weight and seed. Its values are looked up where it says they are, and a draft
that does not hold is revised once or rejected with its reason. What documents say is data: it is quoted, and words in
them that speak to a model are cut and reported. Whether a task is admitted is for the gate and the self-tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from random import Random
from typing import NamedTuple, TypeVar

from pydantic import BaseModel

from catalogs.library import Library as Shelf
from catalogs.poison import Finding as Poison
from catalogs.store import NOTHING_NEW, Known, load_catalog
from pipeline.errors import ModelError
from pipeline.llm import Client, Message, Unreadable, read_structured
from pipeline.protocols import Facts
from pipeline.records import ModelCall, Rejection, digest
from pipeline.tasks import Capability, TaskSpec
from taskspecs.draft_brief import (
    Library,
    Material,
    existing_text,
    functions_text,
    gather,
    material_text,
    past_documents,
    probes_text,
    source_of,
)
from taskspecs.draft_contract import Origin, compile_draft
from taskspecs.draft_forms import Critique, Plan, TaskDraft
from taskspecs.gate_cases import Candidate, Finding
from taskspecs.generate import Ask
from verifiers.asking import language_of, together
from verifiers.quoting import quoted

PLAN, DRAFT, CRITIQUE = "plan", "draft", "critique"
"""Names of the prompts, and stages of the calls."""

Form = TypeVar("Form", bound=BaseModel)

_TIERS = ((1, 0.5), (2, 0.3), (3, 0.2))
"""How many functions a draft uses, and how often."""
_MAX_TOKENS = 4096
_UNKNOWN = frozenset({"unsupported", "renamed", "outdated", "needs_login"})
_TRIES = 2


class Researched(NamedTuple):
    """Candidates for the gate, drafts that did not hold, what was cut out of documents, and every call."""

    candidates: list[Candidate]
    rejections: list[Rejection]
    findings: list[Poison]
    calls: list[ModelCall]


class Subject(NamedTuple):
    """What one draft is about."""

    candidate_id: str
    app_id: str
    language: str
    capabilities: tuple[Capability, ...]


async def draft_tasks(
    ask: Ask,
    facts: Facts,
    client: Client,
    library: Library,
    past: Sequence[TaskSpec] = (),
    known: Known = NOTHING_NEW,
) -> Researched:
    """Have a model write `ask.count` tasks, of which each call is a row; raises RunError when it cannot be asked.

    `past` are tasks that others have given; `known` are capabilities as they are known by now.
    """
    shelves = [library, Shelf(past_documents(past))]
    writer = Writer(client, shelves, None if ask.probes == "withhold" else facts, ask.seed, known)
    subjects = subjects_of(ask, known)
    written = await together(writer.write(subject) for subject in subjects)
    candidates: list[Candidate] = []
    rejections: list[Rejection] = []
    for subject, outcome in zip(subjects, written, strict=True):
        if isinstance(outcome, TaskSpec):
            candidates.append(Candidate(subject.candidate_id, outcome, outcome.generator))
        else:
            rejections.append(_rejected(subject, outcome, client.endpoint.model))
    findings = sorted(set(writer.findings))
    return Researched(candidates, sorted(rejections, key=lambda row: row.candidate_id), findings, writer.calls)


def subjects_of(ask: Ask, known: Known = NOTHING_NEW) -> list[Subject]:
    """What the drafts are about: applications and languages in turn, functions by weight; the seed decides."""
    app_ids, languages = sorted(set(ask.app_ids)), list(dict.fromkeys(ask.languages))
    subjects = []
    for number in range(ask.count):
        app_id = app_ids[number % len(app_ids)]
        language = languages[number // len(app_ids) % len(languages)]
        candidate_id = digest("candidate", "model", app_id, language, str(ask.seed), str(number))
        chosen = _chosen(_offered(app_id, known), ask, Random(candidate_id))
        subjects.append(Subject(candidate_id, app_id, language, chosen))
    return subjects


class Refused(NamedTuple):
    """Why there is no task, and the instruction of the last draft, if there was one."""

    finding: Finding
    instruction: str = ""


class Writer:
    """Writes tasks with one model; what it cuts out of documents is kept in `findings`, its calls in `calls`."""

    def __init__(
        self, client: Client, shelves: Sequence[Library], facts: Facts | None, seed: int, known: Known = NOTHING_NEW
    ) -> None:
        self.findings: list[Poison] = []
        self.calls: list[ModelCall] = []
        self._client, self._shelves, self._facts = client, shelves, facts
        self._seed, self._known = seed, known

    async def write(self, subject: Subject) -> TaskSpec | Refused:
        """A task about the subject, or why there is none."""
        functions = functions_text(subject.capabilities)
        try:
            plan = await self._ask(PLAN, subject, [f"{_about(subject)}\n{functions}"], Plan)
            if isinstance(plan, Unreadable):
                return Refused(Finding("underspecified", f"the model gave no plan: {plan.reason}"))
            material = gather(plan.queries, self._shelves, subject.app_id)
            self.findings += material.findings
            return await self._drafted(subject, await self._brief(subject, functions, material), material)
        except ModelError as error:
            return Refused(Finding("underspecified", f"the model did not answer: {error}"))

    async def _drafted(self, subject: Subject, brief: str, material: Material) -> TaskSpec | Refused:
        """Draft, look again, and once more with what was found wrong."""
        instruction = ""
        opinion = _Opinion(Finding("underspecified", "nothing was drafted"), final=False)
        parts = [brief]
        for _ in range(_TRIES):
            draft = await self._ask(DRAFT, subject, parts, TaskDraft)
            if isinstance(draft, Unreadable):
                opinion = _Opinion(Finding("underspecified", f"the model gave no draft: {draft.reason}"), final=False)
                continue
            instruction = draft.instruction
            task = await compile_draft(draft, self._origin(subject, draft, material))
            if isinstance(task, Finding):
                opinion = _Opinion(task, final=False)
            else:
                found = await self._criticised(subject, brief, draft)
                if found is None:
                    return task
                opinion = found
            if opinion.final:
                break
            parts = [brief, _objection(draft, opinion.finding)]
        return Refused(opinion.finding, instruction)

    async def _criticised(self, subject: Subject, brief: str, draft: TaskDraft) -> _Opinion | None:
        """What a second look objects to; None when nothing."""
        parts = [brief, f"The task and its contract:\n{quoted(draft.model_dump_json(indent=1), 6000)}"]
        critique = await self._ask(CRITIQUE, subject, parts, Critique)
        if isinstance(critique, Unreadable):
            return _Opinion(Finding("underspecified", f"the draft was not reviewed: {critique.reason}"), final=True)
        if critique.verdict == "accept":
            return None
        first = critique.problems[0] if critique.problems else None
        finding = Finding(first.reason, first.detail) if first else Finding("not_verifiable", critique.reasons)
        return _Opinion(finding, final=critique.verdict == "reject")

    async def _brief(self, subject: Subject, functions: str, material: Material) -> str:
        parts = [_about(subject), functions, material_text(material)]
        if self._facts is None:
            parts.append("The application's state cannot be read.")
        else:
            parts += [probes_text(subject.app_id), await existing_text(subject.app_id, self._facts)]
        return "\n\n".join(parts)

    def _origin(self, subject: Subject, draft: TaskDraft, material: Material) -> Origin:
        """What the draft says it relied on counts as far as it was shown."""
        shown = dict(enumerate(material.passages, 1))
        sources = [source_of(shown[number]) for number in draft.used if number in shown]
        model = self._client.endpoint.model
        wanted = [one.capability_id for one in subject.capabilities]
        return Origin(subject.app_id, subject.language, wanted, self._seed, model, sources, self._facts, self._known)

    async def _ask(self, name: str, subject: Subject, parts: Sequence[str], form: type[Form]) -> Form | Unreadable:
        reply = await self._client.ask(
            [Message("system", (prompt_text(name, subject.language),)), Message("user", tuple(parts))],
            stage=name,
            ledger=self.calls,
            schema=form,
            max_tokens=_MAX_TOKENS,
        )
        if reply.outcome != "answered":
            return Unreadable(f"the reply is {reply.outcome}")
        return read_structured(reply.text, form)


class _Opinion(NamedTuple):
    """What is wrong with a draft, and whether no revision can mend it."""

    finding: Finding
    final: bool


def prompt_text(name: str, language: str) -> str:
    """The instructions of a name, in the language of the task."""
    file = resources.files("taskspecs") / "prompts" / f"{name}.{language_of(language)}.md"
    return file.read_text(encoding="utf-8")


def _offered(app_id: str, known: Known) -> list[Capability]:
    """The functions of an application that are where they are said to be, sorted."""
    shipped = {one.capability_id: one for one in load_catalog(app_id)}
    by_id = shipped | {name: one for name, one in known.items() if one.app_id == app_id}
    return [one for _, one in sorted(by_id.items()) if one.procedure and one.status not in _UNKNOWN]


def _chosen(offered: Sequence[Capability], ask: Ask, random: Random) -> tuple[Capability, ...]:
    """Different functions, the heavy ones sooner."""
    left = {number: ask.weights.get(one.capability_id, 1.0) for number, one in enumerate(offered)}
    left = {number: weight for number, weight in left.items() if weight > 0}
    (count,) = random.choices([size for size, _ in _TIERS], [share for _, share in _TIERS])
    chosen: list[Capability] = []
    while left and len(chosen) < count:
        (number,) = random.choices(list(left), list(left.values()))
        del left[number]
        chosen.append(offered[number])
    return tuple(chosen)


def _about(subject: Subject) -> str:
    return f"Application: {subject.app_id}. The functions that the task is to use: {len(subject.capabilities)}."


def _objection(draft: TaskDraft, finding: Finding) -> str:
    """What the model is told of its draft when it is to write it again."""
    said = quoted(f"{finding.reason}: {finding.detail}")
    yours = quoted(draft.model_dump_json(), 6000)
    return f"Your draft:\n{yours}\nIt does not hold. Write it again so that it does:\n{said}"


def _rejected(subject: Subject, refused: Refused, model: str) -> Rejection:
    finding = refused.finding
    return Rejection(
        candidate_id=subject.candidate_id,
        app_ids=[subject.app_id],
        instruction=refused.instruction,
        reason=finding.reason,
        detail=f"{'+'.join(one.capability_id for one in subject.capabilities)}: {finding.detail}",
        duplicate_of=finding.duplicate_of,
        origin=f"model:{model}",
    )
