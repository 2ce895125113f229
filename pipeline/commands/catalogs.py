"""The commands about what environments exist and what applications can do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from catalogs.pools import PoolEntry, desktop_pool, language_of, mobile_pool, pool, web_pool
from catalogs.store import load_catalog
from catalogs.survey import read_scores, survey
from pipeline.cataloguing import read_catalog
from pipeline.commands.building import capability_tree, is_place
from pipeline.commands.shell import Command, examples
from pipeline.errors import ConfigError

CATALOG_EXAMPLES = examples(
    "pathproof catalog show",
    "pathproof catalog show web --category travel_transport --limit 20",
    "pathproof catalog show mobile --language zh",
    "pathproof catalog show web --category games --limit 50 --score scores.jsonl",
    "pathproof catalog show trac",
    "pathproof catalog show runs/catalog --language zh",
)
Entry = TypeVar("Entry", bound=PoolEntry)
RANK_NOTE = "rank: the place in an order like Tranco's, not in the official list; no site or app was opened"


def show(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[web|mobile|desktop|APP|DIR|FILE]", help="A pool, or an application's or a folder's capabilities."
        ),
    ] = None,
    category: Annotated[str | None, typer.Option(help="Only entries of this category.")] = None,
    language: Annotated[str | None, typer.Option(help="Only apps or capabilities in this language: en or zh.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many entries.")] = None,
    score: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Visit the listed web sites and show their scores; FILE keeps them."),
    ] = None,
    look: Annotated[bool, typer.Option("--look", help="With --score: look at each page in a browser.")] = False,
) -> int:
    """Browse the pools; without a filter, how many entries each category has. Or show a catalog as a tree.

    With --score the listed web sites are visited, one page each, if their robots.txt allows it; those in FILE already
    are not visited again.
    """
    if score is not None:
        if what != "web":
            raise ConfigError("--score: only the sites of `web` can be visited")
        return _scored([entry.domain for entry in _filtered(web_pool(), category, language)][:limit], score, look)
    match what:
        case None:
            _summary()
        case "web" | "mobile" | "desktop":
            entries = _filtered(pool(what), category, language)
            _told(entries, limit) if category or language or limit else _counted(entries)
            typer.echo(RANK_NOTE, err=True)
        case _:
            found = read_catalog(what) if is_place(what) else list(load_catalog(what))
            kept = [capability for capability in found if language in (None, capability.language)]
            for line in capability_tree(kept, limit):
                typer.echo(line)
    return 0


def _scored(domains: list[str], file: Path, look: bool) -> int:
    surveyed = survey(
        domains,
        file,
        look=look,
        tell=lambda found: typer.echo(f"{found.domain} {found.outcome}", err=True),
    )
    listed = frozenset(domains)
    found = [score for score in read_scores(file) if score.domain in listed]
    for score in sorted(found, key=lambda score: (-score.scores.overall if score.scores else 0.0, score.domain)):
        values = [score.scores.overall, *dict(score.scores).values()] if score.scores else []
        typer.echo("\t".join((score.domain, score.outcome, *(_cell(value) for value in values))))
    if surveyed.offline:
        typer.echo("nothing was checked: no site answers, this machine seems to be offline", err=True)
        return 1
    typer.echo(f"{surveyed.checked} checked now, {surveyed.known} before", err=True)
    return 0


def _summary() -> None:
    for name, entries in (("web", web_pool()), ("mobile", mobile_pool()), ("desktop", desktop_pool())):
        typer.echo(f"{name}\t{len(entries)}\t{len({entry.category for entry in entries})} categories")


def _filtered(entries: Sequence[Entry], category: str | None, language: str | None) -> list[Entry]:
    """The entries asked for; raises ConfigError when a filter names what the pool does not have."""
    for key, value, known in (
        ("--category", category, {entry.category for entry in entries}),
        ("--language", language, {found for entry in entries if (found := language_of(entry))}),
    ):
        if value is not None and value not in known:
            raise ConfigError(f"{key}: this pool has no '{value}', only {', '.join(sorted(known)) or 'none at all'}")
    return [
        entry
        for entry in entries
        if category in (None, entry.category) and (language is None or language_of(entry) == language)
    ]


def _counted(entries: Sequence[PoolEntry]) -> None:
    counts = Counter(entry.category for entry in entries)
    for category, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        typer.echo(f"{category}\t{count}")


def _told(entries: Sequence[PoolEntry], limit: int | None) -> None:
    for entry in entries[:limit]:
        typer.echo("\t".join(_cell(value) for _, value in entry))


def _cell(value: object) -> str:
    text = ",".join(value) if isinstance(value, tuple) else str(value)
    return "-" if value is None or not text else text


COMMANDS = {"show": Command(show, CATALOG_EXAMPLES)}
