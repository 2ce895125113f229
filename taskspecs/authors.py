"""Who writes the tasks: templates alone, or a model for all that can be done and templates for what cannot.

Knows nothing of endpoints beyond the client it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from catalogs.store import NOTHING_NEW, Known
from pipeline.llm import Client
from pipeline.protocols import Facts
from pipeline.records import ModelCall
from pipeline.tasks import TaskSpec
from taskspecs.draft_brief import Library
from taskspecs.drafting import draft_tasks
from taskspecs.generate import Ask, Drafts, generate
from taskspecs.store import load_tasks
from taskspecs.templates import template_apps


class Author(NamedTuple):
    """A model that writes tasks, the documents it may read, and tasks that others have given."""

    client: Client
    library: Library
    past: Sequence[TaskSpec] = ()


class Written(NamedTuple):
    """Drafts, what was cut out of documents because it spoke to a model, and every call."""

    drafts: Drafts
    findings: list[str]
    calls: list[ModelCall]


async def write(ask: Ask, facts: Facts, author: Author | None = None, known: Known = NOTHING_NEW) -> Written:
    """Draft tasks; raises ConfigError for applications without templates, RunError when a model cannot be asked."""
    if author is None:
        return Written(await generate(ask, facts, known=known), [], [])
    impossible = 0 if ask.probes == "withhold" else round(ask.infeasible_rate * ask.count)
    with_templates = [app_id for app_id in ask.app_ids if app_id in template_apps()]
    changes = {"app_ids": with_templates, "count": impossible, "infeasible_rate": 1.0}
    made = await generate(ask.model_copy(update=changes), facts, known=known)
    possible = ask.model_copy(update={"count": ask.count - impossible})
    own = await draft_tasks(possible, facts, author.client, author.library, author.past, known)
    drafts = Drafts([*made.candidates, *own.candidates], [*made.rejections, *own.rejections])
    return Written(drafts, ["\t".join((one.kind, one.source, one.text)) for one in own.findings], own.calls)


def past_tasks(app_ids: Sequence[str]) -> list[TaskSpec]:
    """Tasks written by hand for these applications."""
    return [task for task in load_tasks("quickstart") if set(task.app_ids) <= set(app_ids)]
