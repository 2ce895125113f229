"""The console command `pathproof`: every command under its name.

What a command needs is imported when that command is called: who queries a dataset does not wait for Ray.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import typer

from pipeline.commands.shell import group, join, run


class Group(NamedTuple):
    """Commands by name, each with the module that holds it."""

    about: str
    modules: Mapping[str, str]


TOP = Group(
    "Trajectories with proof: GUI-agent data, collected and verified.",
    {
        "collect": "running",
        "resume": "running",
        "judge": "running",
        "review": "reviewing",
        "calibrate": "calibrating",
        "check": "data",
        "query": "data",
        "compact": "data",
        "report": "data",
        "export": "exporting",
        "redact": "exporting",
        "doctor": "machine",
    },
)
GROUPS = {
    "catalog": Group(
        "What environments exist, and what applications can do.",
        {"show": "catalogs", "build": "building", "coverage": "covering", "explore": "exploring"},
    ),
    "tasks": Group(
        "What is asked of applications, and whether it may be.",
        {"check": "tasks", "selftest": "proving", "revalidate": "proving", "generate": "generating"},
    ),
    "synth": Group(
        "Synthetic data, whose labels are exact.",
        {
            **{name: "synthesising" for name in ("grounding", "screens", "gallery", "balance")},
            **{name: "puzzling" for name in ("puzzles", "tasks")},
        },
    ),
    "apps": Group(
        "The real applications that run on this machine.",
        {"list": "applications", "up": "applications", "down": "applications", "reset": "applications"},
    ),
}


def app_for(arguments: Sequence[str] = ()) -> typer.Typer:
    """The commands that a command line may mean: the one it names, or all where it names none."""
    first, second = [*arguments[:2], "", ""][:2]
    chosen = {first: GROUPS[first]} if first in GROUPS else {} if first in TOP.modules else GROUPS
    app = _opened(TOP, first) if first not in GROUPS else _opened(TOP._replace(modules={}), "")
    for name, own in chosen.items():
        app.add_typer(_opened(own, second if first == name else ""), name=name)
    return app


def main() -> None:
    """Run the command line and exit with its code."""
    arguments = sys.argv[1:] or ["--help"]
    sys.exit(run(app_for(arguments), arguments))


def _opened(chosen: Group, word: str) -> typer.Typer:
    """The commands of a group, or the one that the word names."""
    app = group(chosen.about)
    app.callback()(_named)
    for name in [word] if word in chosen.modules else chosen.modules:
        module = importlib.import_module(f"pipeline.commands.{chosen.modules[name]}")
        join(app, {name: module.COMMANDS[name]})
    return app


def _named() -> None:
    # With a callback a command keeps its name on the command line also where it is the only one.
    pass


if __name__ == "__main__":
    main()
