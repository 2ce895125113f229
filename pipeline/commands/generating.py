"""The command that makes tasks: drafts, through the gate and the self-tests, to files."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from catalogs.library import library_for
from catalogs.store import load_catalog
from pipeline.actions import Model
from pipeline.app_entry import entry_names
from pipeline.clients import endpoint_of
from pipeline.commands.shell import Command, examples
from pipeline.commands.tasks import day_of
from pipeline.config import RunConfig, load_config
from pipeline.envs.fake import FakeEnvironment
from pipeline.errors import ConfigError
from pipeline.llm import Client, LocalLimiter, ReplyCache, demand, probe
from pipeline.protocols import Facts
from pipeline.reaper import Scratch, sweep
from pipeline.records import Rejection
from pipeline.tasks import TaskSpec
from pipeline.trials import try_all
from taskspecs.authors import Author, past_tasks, write
from taskspecs.facts import EnvironmentFacts, LiveFacts
from taskspecs.gate import TEMPLATE_SHARE
from taskspecs.gate_sets import load_contamination
from taskspecs.generate import LANGUAGES, Ask, Drafts
from taskspecs.proven import proven, told
from taskspecs.selftest import Trial
from taskspecs.sieve import Sieved, largest_share, sieve
from taskspecs.templates import load_templates, template_apps

GENERATE_EXAMPLES = examples(
    "pathproof tasks generate",
    "pathproof tasks generate trac fava --count 100 --seed 3 --out trac-and-fava.jsonl",
    "pathproof tasks generate fake-todo --config fake --languages zh --share 1",
    "pathproof tasks generate trac model.base_url=http://127.0.0.1:8000/v1 model.name=my-model --count 20",
)

_COUNT = 100

Given = Annotated[
    list[str] | None,
    typer.Argument(metavar="[APP|KEY=VALUE]", help="Applications (all that have templates if none is named) and keys."),
]


def generate_tasks(
    given: Given = None,
    languages: Annotated[str, typer.Option(metavar="LIST", help="Languages of the instructions.")] = ",".join(
        LANGUAGES
    ),
    count: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Tasks to draft; by default tasks.limit, else 100.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The same seed makes the same tasks; by default that of the keys.")
    ] = None,
    infeasible_rate: Annotated[
        float | None,
        typer.Option(
            min=0.0, max=1.0, help="The part that cannot be done, on purpose; by default tasks.infeasible_rate."
        ),
    ] = None,
    contamination: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Texts that no task may meet; by default tasks.contamination."),
    ] = None,
    config: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="A configuration by name, or a YAML file.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The tasks, as JSON lines.")] = Path("tasks.jsonl"),
    rejected: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What was rejected, and why; by default beside the tasks.")
    ] = None,
    today: Annotated[str | None, typer.Option(metavar="DATE", help="The day from which dates are counted.")] = None,
    share: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="The largest part of the tasks that one template may give.")
    ] = TEMPLATE_SHARE,
    selftest: Annotated[bool, typer.Option(help="Prove each contract on the real application.")] = True,
) -> int:
    """Make tasks that exist, can be done and can be proved; `collect tasks=FILE` reads them."""
    options = {"limit": count, "infeasible_rate": infeasible_rate, "contamination": _text_of(contamination)}
    settings, app_ids = _settings(given or [], config, seed, options)
    ask = Ask(
        app_ids=app_ids,
        today=day_of(today),
        count=settings.tasks.limit or _COUNT,
        languages=_languages(languages),
        seed=settings.seed,
        infeasible_rate=settings.tasks.infeasible_rate,
        probes=settings.probes,
        template_share=share,
    )
    known = load_contamination(Path(settings.tasks.contamination)) if settings.tasks.contamination else None
    drafts = asyncio.run(_drafts(ask, settings))
    sifted = partial(sieve, today=ask.today, allow=settings.allow, contamination=known, template_share=share)
    made = sifted(drafts)
    if selftest and made.tasks:
        made = sifted(_proved(drafts, made, settings.model_copy(update={"apps": app_ids})))
    _write(out, made.tasks)
    _write(rejected or out.with_suffix(".rejected.jsonl"), made.rejections)
    _close(ask, drafts, made)
    return 0 if made.tasks else 1


def _proved(drafts: Drafts, made: Sieved, settings: RunConfig) -> Drafts:
    """What is left after the self-tests, for the gate to look at its shares again."""
    trials: dict[str, Trial] = {}

    def heard(task: TaskSpec, trial: Trial) -> None:
        trials[task.task_id] = trial
        said = "holds" if trial.held else f"{trial.reason or 'fault'}: {told(trial)}"
        typer.echo(f"{len(trials)}/{len(made.tasks)} {task.template_id} {trial.seconds:.1f} s {said}", err=True)

    try_all(made.tasks, settings, heard)
    return proven(drafts, made, trials)


def _settings(
    given: Sequence[str], config: str | None, seed: int | None, options: Mapping[str, object]
) -> tuple[RunConfig, list[str]]:
    """The configuration, in which options win over keys, and the applications.

    Raises ConfigError for an application about which nothing is known.
    """
    named = [text for text in given if "=" not in text]
    settings = load_config(config or "quickstart", [text for text in given if "=" in text])
    tasks = settings.tasks.model_copy(update={key: value for key, value in options.items() if value is not None})
    settings = settings.model_copy(update={"tasks": tasks, "seed": settings.seed if seed is None else seed})
    offered = template_apps()
    app_ids = named or (settings.apps if config else [app_id for app_id in offered if app_id in entry_names()])
    for app_id in app_ids:
        # What is wrong in the data is told before anything is started. A model needs no templates.
        if settings.model.base_url is None or app_id in offered:
            load_templates(app_id)
        load_catalog(app_id)
    return settings, sorted(set(app_ids))


def _text_of(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _languages(text: str) -> list[str]:
    found = [part.strip() for part in text.split(",") if part.strip()]
    for language in found:
        if language not in LANGUAGES:
            raise ConfigError(f"--languages: '{language}' is none of {', '.join(LANGUAGES)}")
    return found


async def _drafts(ask: Ask, settings: RunConfig) -> Drafts:
    typer.echo(f"drafting {ask.count} tasks for {', '.join(ask.app_ids)}", err=True)
    if settings.provider == "fake":
        return await _written(ask, EnvironmentFacts(FakeEnvironment()), settings)
    sweep()
    with Scratch("generate") as scratch:
        facts = LiveFacts(scratch)
        try:
            return await _written(ask, facts, settings)
        finally:
            await facts.close()


async def _written(ask: Ask, facts: Facts, settings: RunConfig) -> Drafts:
    if settings.model.base_url is None:
        return (await write(ask, facts)).drafts
    library = await asyncio.to_thread(library_for, ask.app_ids)
    async with await _client(settings) as client:
        written = await write(ask, facts, Author(client, library, past_tasks(ask.app_ids)))
    for finding in written.findings:
        typer.echo(finding, err=True)
    typer.echo(f"{len(written.calls)} calls of {settings.model.name}", err=True)
    return written.drafts


async def _client(settings: RunConfig) -> Client:
    """The model that is configured, probed; raises ConfigError or RunError when it cannot be used."""
    endpoint = endpoint_of("model", settings.model)
    limiter = LocalLimiter(endpoint.in_flight, endpoint.lease_seconds, settings.budget)
    abilities = await probe(endpoint, limiter, [], images=0)
    demand(endpoint, abilities, 0)
    cache = ReplyCache(Path(settings.llm.cache)) if settings.llm.cache else None
    return Client(endpoint, limiter, abilities=abilities, cache=cache)


def _write(path: Path, rows: Sequence[Model]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{row.model_dump_json()}\n" for row in rows), encoding="utf-8")


def _close(ask: Ask, drafts: Drafts, made: Sieved) -> None:
    """The table of what was made, the reasons, and the line that sums up."""
    Console(stderr=True, width=140).print(_table(made.tasks, made.rejections))
    short = ask.count - len(drafts.candidates) - len(drafts.rejections)
    if short > 0:
        typer.echo(
            f"{short} fewer drafts than asked for: more templates, or a larger --share, would give them", err=True
        )
    for reason, number in sorted(Counter(row.reason for row in made.rejections).items()):
        typer.echo(f"{reason}: {number}", err=True)
    templates = {task.template_id for task in made.tasks}
    typer.echo(
        f"tasks={len(made.tasks)} apps={len({app_id for task in made.tasks for app_id in task.app_ids})} "
        f"templates={len(templates)} largest_share={largest_share(made.tasks):.3f} rejected={len(made.rejections)}"
    )


def _table(tasks: Sequence[TaskSpec], rejections: Sequence[Rejection]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("app", no_wrap=True)
    headings = ("tasks", "single", "multi", "workflow", *LANGUAGES, "infeasible", "templates", "share", "rejected")
    for heading in headings:
        table.add_column(heading, justify="right")
    concerned = [*(task.app_ids for task in tasks), *(row.app_ids for row in rejections)]
    for app_id in sorted({app_id for app_ids in concerned for app_id in app_ids}):
        own = [task for task in tasks if app_id in task.app_ids]
        table.add_row(app_id, *_counts(own, sum(app_id in row.app_ids for row in rejections)))
    table.add_section()
    table.add_row("total", *_counts(tasks, len(rejections)))
    return table


def _counts(tasks: Sequence[TaskSpec], rejected: int) -> list[str]:
    tiers = Counter(task.tier for task in tasks)
    languages = Counter(task.language for task in tasks)
    return [
        str(len(tasks)),
        *(str(tiers[tier]) for tier in ("single", "multi", "workflow")),
        *(str(languages[language]) for language in LANGUAGES),
        str(sum(not task.feasible for task in tasks)),
        str(len({task.template_id for task in tasks})),
        f"{largest_share(tasks):.1%}",
        str(rejected),
    ]


COMMANDS = {"generate": Command(generate_tasks, GENERATE_EXAMPLES)}
