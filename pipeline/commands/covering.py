"""The command that shows how far trajectories cover what applications can do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from importlib import resources
from typing import Annotated

import typer

from catalogs.coverage import Covered, by_app, covered, many_sided
from catalogs.pools import mobile_pool, web_pool
from catalogs.store import catalog_names, load_catalog
from pipeline.app_entry import entry_names
from pipeline.commands.shell import Command, examples
from pipeline.coverage_page import coverage_page
from pipeline.query import query
from pipeline.storage import local_path
from taskspecs.store import load_tasks

COVERAGE_EXAMPLES = examples(
    "pathproof catalog coverage",
    "pathproof catalog coverage runs/first runs/second --html coverage.html",
)
_HEADINGS = ("app", "platform", "capability", "status", "state", "tasks", "accepted", "failed", "other", "last_seen")
_STANDING_TASKS = """
SELECT DISTINCT task_id FROM tasks ANTI JOIN (
    SELECT task_id FROM validations GROUP BY task_id
    HAVING NOT arg_max(held, validated_at) OR max_by(expires_at, validated_at) <= now()
) USING (task_id)
"""


def coverage(
    folders: Annotated[list[str] | None, typer.Argument(metavar="[DIR...]", help="Folders of runs.")] = None,
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Draw it, as one page: a local file.")] = None,
) -> int:
    """Show which capabilities have accepted, failed or no trajectories, and when each was last seen.

    The shipped catalogs are always in it. Without DIR nothing has been tried. `tasks` in the last line are those of
    the runs that still hold, without DIR those of the shipped sets.
    """
    given = folders or []
    shipped = sorted(set(catalog_names()) & set(entry_names()))
    rows = covered(given, [capability for app_id in shipped for capability in load_catalog(app_id)])
    for line in _lines(rows):
        typer.echo("\t".join(line))
    if html is not None:
        page = local_path("html", html)
        page.write_text(coverage_page(rows, _source(given)), encoding="utf-8")
        typer.echo(f"drawn in {page}", err=True)
    tasks = query(_STANDING_TASKS, given).num_rows if given else len(_shipped_tasks(shipped))
    web = web_pool()
    typer.echo(
        f"domains={len(web)} categories={len({site.category for site in web})} mobile_apps={len(mobile_pool())}"
        f" apps25={many_sided(rows)} tasks={tasks}"
    )
    return 0


def _lines(rows: Sequence[Covered]) -> Iterable[tuple[str, ...]]:
    """Every capability, then the capabilities of each application by what is known of them, as text."""
    yield _HEADINGS
    for row in rows:
        counts = (row.tasks, row.accepted, row.failed, row.other)
        name = (row.app_id, row.platform, row.capability_id, row.status, row.state)
        yield (*name, *map(str, counts), _told(row.last_seen))
    yield ("app", "platform", "capabilities", "accepted", "failed", "other", "untried", "last_seen")
    for app in by_app(rows):
        states = (app.states["accepted"], app.states["failed"], app.states["other"], app.states["untried"])
        yield (app.app_id, app.platform, str(app.capabilities), *map(str, states), _told(app.last_seen))


def _shipped_tasks(apps: Sequence[str]) -> set[str]:
    sets = (entry for entry in (resources.files("taskspecs") / "sets").iterdir() if entry.is_dir())
    return {task.task_id for entry in sets for task in load_tasks(entry.name) if set(apps).issuperset(task.app_ids)}


def _source(folders: Sequence[str]) -> str:
    return f"The shipped catalogs and {', '.join(folders)}" if folders else "The shipped catalogs; nothing was tried"


def _told(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%dT%H:%MZ}" if moment else "-"


COMMANDS = {"coverage": Command(coverage, COVERAGE_EXAMPLES)}
