"""The commands that make synthetic data."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pipeline.clients import endpoint_of
from pipeline.commands.shell import Command, Folder, examples
from pipeline.config import RunConfig, load_config
from pipeline.errors import ConfigError
from pipeline.llm import Client, LocalLimiter, demand, probe
from pipeline.puzzles.showing import holds_puzzles, puzzle_gallery
from pipeline.reaper import Scratch, sweep
from pipeline.records import ModelCall
from pipeline.synth.balance import draw_balance
from pipeline.synth.making import Made, make, order_of
from pipeline.synth.recording import Recorder
from pipeline.synth.scenarios import Scenario, scenarios_of
from pipeline.synth.showing import gallery as draw_gallery
from pipeline.synth.writing import Wish, Written, write_screens, written_in

_PAGE_SECONDS = 20.0
"""How long a written page may take; drawn ones have more, for they are known to end."""

GROUNDING_EXAMPLES = examples(
    "pathproof synth grounding --n 1000 --seed 7 --out data/grounding",
    "pathproof synth grounding --n 1000 --screens data/screens.jsonl --out data/written",
    'pathproof query data/grounding "SELECT kind, count(*) FROM grounding GROUP BY ALL"',
)
SCREENS_EXAMPLES = examples(
    "pathproof synth screens --n 32 --out data/screens.jsonl"
    " model.base_url=http://127.0.0.1:8000/v1 model.name=my-model model.max_tokens=16000",
    "pathproof synth screens scenarios.yaml --n 8 --out data/own.jsonl --config my-models.yaml",
)
GALLERY_EXAMPLES = examples(
    "pathproof synth gallery data/grounding --screens 60 --out gallery.html",
    "pathproof synth gallery data/puzzles --screens 78 --out puzzles.html",
)
BALANCE_EXAMPLES = examples("pathproof synth balance data/grounding --out balance.svg")


def grounding(
    out: Annotated[str, typer.Option(metavar="DIR", help="The dataset's folder, or its s3:// address.")],
    n: Annotated[int, typer.Option("--n", metavar="N", min=1, help="Labelled rows to make.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed makes the same rows and pictures.")] = 0,
    screens: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Screens that `synth screens` has written; they come first.")
    ] = None,
) -> int:
    """Make screens of everyday software with instructions and the exact places they mean; again to finish a folder."""
    began = time.monotonic()
    written = [one.screen for one in written_in(screens) if one.reason is None] if screens else []
    made = asyncio.run(make(out, order_of(n, seed, written), _heard, written))
    typer.echo(f"rows={made.rows} screens={made.screens} seconds={time.monotonic() - began:.0f}")
    return 0


def screens(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file that keeps them, as JSON lines.")],
    given: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE|KEY=VALUE]", help="Scenarios (YAML), those that ship if none; model.* names the model."
        ),
    ] = None,
    n: Annotated[int, typer.Option("--n", metavar="N", min=1, help="Screens to ask for.")] = 16,
    seed: Annotated[int, typer.Option(metavar="N", help="Draws other looks, languages and persons.")] = 0,
    config: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="A configuration by name, or a YAML file, with a model.")
    ] = None,
) -> int:
    """Have a model write screens; each is tried in a sandbox, and kept or rejected. Again to go on."""
    files = [text for text in given or [] if "=" not in text]
    if len(files) > 1:
        raise ConfigError(f"scenarios: one file, not {len(files)}")
    settings = load_config(config or "quickstart", [text for text in given or [] if "=" in text])
    wish = Wish(
        n, seed, scenarios_of(Path(files[0]) if files else None), settings.model.max_tokens, settings.model.temperature
    )
    calls: list[ModelCall] = []
    found = asyncio.run(_write(out, wish, settings, calls))
    _tell(found, calls)
    return 0 if any(one.reason is None for one in found) else 1


def gallery(
    folder: Folder,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path("gallery.html"),
    screens: Annotated[int, typer.Option(metavar="N", min=1, help="Screens or puzzles to show, drawn by lot.")] = 40,
    seed: Annotated[int, typer.Option(metavar="N", help="Draws other screens.")] = 0,
) -> int:
    """Write one page with screens or puzzles, their labels drawn on them, and how the rows are spread."""
    draw = puzzle_gallery if holds_puzzles(folder) else draw_gallery
    _keep(out, draw(folder, screens, seed))
    typer.echo(str(out))
    return 0


def balance(
    folder: Folder,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The picture to write, as SVG.")] = Path("balance.svg"),
) -> int:
    """Draw how the rows are spread over kinds, sizes of targets, families, languages, platforms and splits."""
    _keep(out, draw_balance(folder))
    typer.echo(str(out))
    return 0


def _keep(out: Path, text: str) -> None:
    """Raises ConfigError when the file cannot be written."""
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"out: {out} cannot be written ({error.strerror}): give a file in a folder that is there"
        ) from error


async def _write(out: Path, wish: Wish, settings: RunConfig, calls: list[ModelCall]) -> Sequence[Written]:
    sweep()
    with Scratch("synth") as scratch:
        client = await _client(settings, wish.scenarios, calls)
        async with client, Recorder(scratch, _PAGE_SECONDS) as recorder:
            return await write_screens(out, wish, client, recorder, calls, _heard_of)


async def _client(settings: RunConfig, scenarios: Sequence[Scenario], calls: list[ModelCall]) -> Client:
    """The model that is configured, probed; raises ConfigError or RunError when it cannot be used."""
    endpoint = endpoint_of("model", settings.model)
    images = int(any(scenario.reference for scenario in scenarios))
    limiter = LocalLimiter(endpoint.in_flight, endpoint.lease_seconds, settings.budget)
    abilities = await probe(endpoint, limiter, calls, images)
    demand(endpoint, abilities, images)
    return Client(endpoint, limiter, abilities=abilities)


def _heard(made: Made) -> None:
    typer.echo(f"{made.rows} rows of {made.screens} screens", err=True)


def _heard_of(one: Written) -> None:
    typer.echo(f"{one.number} {one.scenario} {one.language}: {one.reason or 'kept'}", err=True)


def _tell(found: Sequence[Written], calls: Sequence[ModelCall]) -> None:
    kept = Counter(one.reason is None for one in found)[True]
    cost = sum(call.cost_usd for call in calls)
    typer.echo(f"screens={len(found)} kept={kept} rejected={len(found) - kept} calls={len(calls)} cost_usd={cost:.4f}")


COMMANDS = {
    "grounding": Command(grounding, GROUNDING_EXAMPLES),
    "screens": Command(screens, SCREENS_EXAMPLES),
    "gallery": Command(gallery, GALLERY_EXAMPLES),
    "balance": Command(balance, BALANCE_EXAMPLES),
}
