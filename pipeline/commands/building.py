"""The command that builds catalogs from documents, and the tree by which a catalog is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from catalogs.sources import Source, find_sources, source_names
from pipeline.archive import Answered, Question, research_apps
from pipeline.cataloguing import write_catalog
from pipeline.commands.shell import Command, examples
from pipeline.config import load_config
from pipeline.errors import ConfigError
from pipeline.records import ModelCall
from pipeline.researching import Research
from pipeline.tasks import Capability

BUILD_EXAMPLES = examples(
    "pathproof catalog build trac fava",
    "pathproof catalog build libreoffice --language zh --out libreoffice.yaml",
    "pathproof catalog build fava --out runs/catalog model.base_url=http://127.0.0.1:8000/v1 model.name=my-model",
)

Given = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[APP|SOURCE|KEY=VALUE]",
        help="Applications, sources or files that describe one; all sources if none is named. model.* names a model.",
    ),
]


def build_catalogs(
    given: Given = None,
    language: Annotated[str | None, typer.Option(help="Only documents in this language: en or zh.")] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR|FILE", help="A dataset folder, or a .yaml or .jsonl file, that keeps the catalog."),
    ] = None,
    config: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="A configuration by name, or a YAML file, with a model.")
    ] = None,
    documents: Annotated[int | None, typer.Option(metavar="N", min=1, help="At most so many of each place.")] = None,
) -> int:
    """Read what applications can do off their documents, with evidence for each capability.

    Without a model, headings, menus, buttons, labels and lists of steps are read by rule; a model adds what its proved
    quotations say. Nothing in a document is ever carried out.
    """
    named = [text for text in given or [] if "=" not in text]
    settings = load_config(config or "quickstart", [text for text in given or [] if "=" in text])
    sources = _sources(named)
    calls: list[ModelCall] = []
    answers = research_apps(
        sources, Question(language, documents), settings, lambda line: typer.echo(line, err=True), calls
    )
    found = [answer.research for answer in answers if answer.research is not None]
    _tell(answers)
    if found and not any(research.documents for research in found):
        raise ConfigError("sources: none of these documents is on this machine; see above how they are had")
    _show_table(found)
    if out is not None and found:
        capabilities = [capability for research in found for capability in research.built.capabilities]
        calls += [call for research in found for call in research.calls]
        write_catalog(out, capabilities, calls, settings.model_dump(mode="json"))
    typer.echo(_closing(sources, found))
    return 0 if len(found) == len(answers) else 1


def capability_tree(capabilities: Sequence[Capability], limit: int | None = None) -> Iterator[str]:
    """The lines of a catalog: three levels, then what each capability's state is and how many places speak for it."""
    above: tuple[str, ...] = ()
    for capability in sorted(capabilities, key=lambda one: (one.app_id, one.path, one.language))[:limit]:
        path = (capability.app_id, *capability.path)
        for level in range(min(len(path) - 1, 3)):
            if path[: level + 1] != above[: level + 1]:
                yield f"{'  ' * level}{path[level]}"
        above = path
        state = f"{capability.status}\tevidence={len(capability.evidence)}\t{capability.language}"
        yield f"{'  ' * 3}{'/'.join(path[3:]) or path[-1]}\t{state}\t{capability.capability_id}"


def _sources(named: Sequence[str]) -> list[Source]:
    found = [source for name in named or source_names() for source in find_sources(name)]
    return list({source.name: source for source in found}.values())


def _tell(answers: Sequence[Answered]) -> None:
    for answer in answers:
        if answer.research is None:
            typer.echo(f"error: {answer.app_id}: {answer.reason}", err=True)
            continue
        for place in answer.research.absent:
            typer.echo(f"{place.source} {place.language}: not here; {place.why}", err=True)
        for finding in answer.research.built.findings:
            typer.echo(f"{finding.kind}\t{finding.source}\t{finding.text}", err=True)


def _show_table(found: Sequence[Research]) -> None:
    table = Table(box=SIMPLE_HEAD)
    for column in ("app", "language", "documents", "capabilities", "with evidence", "with procedure", "asked for"):
        table.add_column(column, justify="left" if column in ("app", "language") else "right")
    for research in found:
        built = research.built
        for language in sorted({one.language for one in built.capabilities} | set(research.documents)):
            own = [one for one in built.capabilities if one.language == language]
            counts = (
                research.documents.get(language, 0),
                len(own),
                sum(bool(one.evidence) for one in own),
                sum(bool(one.procedure) for one in own),
                sum(built.asked[one.capability_id] > 0 for one in own),
            )
            table.add_row(research.app_id, language, *map(str, counts))
    Console(width=120).print(table)


def _closing(sources: Sequence[Source], found: Sequence[Research]) -> str:
    capabilities = [capability for research in found for capability in research.built.capabilities]
    findings = [finding for research in found for finding in research.built.findings]
    counts = {
        "sources": len(sources),
        "documents": sum(research.built.documents for research in found),
        "capabilities": len(capabilities),
        "with_evidence": sum(bool(one.evidence) for one in capabilities),
        "injections": sum(finding.kind == "injection" for finding in findings),
    }
    return " ".join(f"{name}={value}" for name, value in counts.items())


def is_place(what: str) -> bool:
    """Whether a catalog is named by its file or folder, not by its application."""
    return "://" in what or Path(what).exists()


COMMANDS = {"build": Command(build_catalogs, BUILD_EXAMPLES)}
