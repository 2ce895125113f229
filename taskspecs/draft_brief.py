"""What a model is shown when it writes a task: functions, probes, what exists now, passages, earlier tasks.

All of it is data: quoted, neutralised and bounded. A passage that speaks to a model is cut and reported. Knows nothing
of how the model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from catalogs.documents import Document
from catalogs.library import Passage
from catalogs.markup import Block
from catalogs.poison import Finding as Poison
from catalogs.poison import cleaned, quote_sha256
from pipeline.app_entry import entry_names, load_entry
from pipeline.entry_state import AnyProbe, ContentProbe, FileProbe, HttpJsonProbe, PageProbe, SettingProbe, SqliteProbe
from pipeline.errors import EpisodeError
from pipeline.program_probe import ProgramProbe
from pipeline.protocols import Facts
from pipeline.tasks import Capability, TaskSpec
from verifiers.quoting import quoted

PAST = "tasks"
"""The source that earlier tasks are found under."""

_ROWS, _PER_QUERY, _PASSAGES = 15, 3, 8
_SQL_ARGUMENT = re.compile(r"(?<!:):([a-z_]\w*)")
_TEXT_ARGUMENT = re.compile(r"\{([a-z_]\w*)\}")


class Library(Protocol):
    """Passages found by words; `catalogs.library.Library` is one."""

    def search(
        self, query: str, limit: int = 10, *, app_id: str | None = None, language: str | None = None
    ) -> list[Passage]:
        """The passages that fit best, best first."""
        ...


class Material(NamedTuple):
    """Passages that were found and may be shown, and what was taken out of some."""

    passages: tuple[Passage, ...]
    findings: tuple[Poison, ...]


def gather(queries: Iterable[str], libraries: Sequence[Library], app_id: str) -> Material:
    """The best passages for all queries, each once, without what speaks to a model."""
    found = dict.fromkeys(
        passage
        for query in queries
        for library in libraries
        for passage in library.search(query, _PER_QUERY, app_id=app_id)
    )
    passages: list[Passage] = []
    findings: list[Poison] = []
    for passage in list(found)[:_PASSAGES]:
        read = cleaned((Block("paragraph", passage.text),), passage.source)
        findings += read.findings
        passages += [passage._replace(text=block.text) for block in read.blocks]
    return Material(tuple(passages), tuple(findings))


def past_documents(tasks: Iterable[TaskSpec]) -> list[Document]:
    """Earlier tasks as documents of a library."""
    return [
        Document(
            PAST,
            app_id,
            task.task_id,
            task.instruction[:80],
            task.language,
            "",
            quote_sha256(task.instruction),
            (Block("paragraph", task.instruction),),
        )
        for task in tasks
        for app_id in task.app_ids
    ]


def source_of(passage: Passage) -> str:
    """How a task names a passage it relies on: the document's address and the hash of what was quoted."""
    return f"{passage.source}#{passage.quote_sha256}"


def functions_text(capabilities: Sequence[Capability]) -> str:
    """The functions a task is to use, quoted."""
    lines = []
    for one in capabilities:
        slots = "; ".join(f"{slot.name} (for example {', '.join(slot.values[:3])})" for slot in one.slots)
        reads = ", ".join(step.save_as for step in one.procedure if step.save_as)
        lines.append(f"{one.capability_id}: {one.verb} {one.object}. Effect: {one.effect}")
        lines += [f"  slots: {slots}"] if slots else []
        lines += [f"  needs: {' '.join(one.preconditions)}"] if one.preconditions else []
        lines += [f"  reads: {reads}"] if reads else []
    return f"Functions:\n{quoted(chr(10).join(lines), 6000)}"


def probes_text(app_id: str) -> str:
    """The probes by which a contract can read the application's state, quoted."""
    lines = [f"{name}({', '.join(arguments_of(one))}): {_asks(one)}" for name, one in sorted(_probes(app_id).items())]
    return f"Probes:\n{quoted(chr(10).join(lines), 8000)}"


async def existing_text(app_id: str, facts: Facts) -> str:
    """What the probes without arguments find now, quoted; one that cannot be read is left out."""
    lines = []
    for name, probe in sorted(_probes(app_id).items()):
        if arguments_of(probe) or isinstance(probe, PageProbe):
            continue
        try:
            rows = await facts.read(app_id, name, {})
        except EpisodeError:
            continue
        lines.append(f"{name}: {'; '.join(' | '.join(row) for row in rows[:_ROWS])}")
    return f"What exists now:\n{quoted(chr(10).join(lines), 8000)}"


def material_text(material: Material) -> str:
    """The passages, numbered from 1; those of earlier tasks apart."""
    told = [
        f"[{number}] {one.source} ({one.heading})\n{quoted(one.text)}" for number, one in _numbered(material, False)
    ]
    earlier = [f"[{number}]\n{quoted(one.text)}" for number, one in _numbered(material, True)]
    return "\n".join(["Passages of documents:", *(told or ["none"]), "Earlier tasks:", *(earlier or ["none"])])


def arguments_of(probe: AnyProbe) -> list[str]:
    """The names of the arguments that a probe takes, sorted."""
    match probe:
        case SqliteProbe():
            found = _SQL_ARGUMENT.findall(probe.query)
        case FileProbe():
            found = _TEXT_ARGUMENT.findall(f"{probe.path} {probe.pattern}")
        case HttpJsonProbe():
            found = _TEXT_ARGUMENT.findall(" ".join([probe.path, *probe.where.values()]))
        case PageProbe():
            found = _TEXT_ARGUMENT.findall(probe.script)
        case ContentProbe():
            found = [name for text in probe.where.values() for name in _TEXT_ARGUMENT.findall(text)]
        case SettingProbe():
            found = _TEXT_ARGUMENT.findall(probe.name)
        case _:
            found = _TEXT_ARGUMENT.findall(" ".join(_said(probe)))
    return sorted(set(found))


def _numbered(material: Material, past: bool) -> list[tuple[int, Passage]]:
    numbered = enumerate(material.passages, 1)
    return [(number, one) for number, one in numbered if one.source.startswith(f"{PAST}/") == past]


def _probes(app_id: str) -> Mapping[str, AnyProbe]:
    return load_entry(app_id).asked if app_id in entry_names() else {}


def _asks(probe: AnyProbe) -> str:
    match probe:
        case SqliteProbe():
            return " ".join(probe.query.split())
        case FileProbe():
            return f"matches of {probe.pattern} in {probe.path}"
        case HttpJsonProbe():
            return f"{', '.join(probe.select)} of {probe.path}"
        case PageProbe():
            return "what the open page says"
        case ContentProbe():
            return f"{', '.join(probe.select)} of {probe.uri}"
        case SettingProbe():
            return f"the {probe.namespace} setting {probe.name}"
        case _:
            return f"{probe.kind}: {', '.join(_said(probe))}"


def _said(probe: ProgramProbe) -> list[str]:
    """The texts of a desktop program's probe, without its kind."""
    return [value for key, value in probe.model_dump().items() if key != "kind" and isinstance(value, str) and value]
