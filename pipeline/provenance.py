"""What a run writes down about itself at its start: configuration, versions, commit; tasks and capabilities.

Knows nothing of how the run goes on.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.actions import Model
from pipeline.config import RunConfig
from pipeline.judging import calibration_of
from pipeline.policies.models import judge_of
from pipeline.records import PassRow, Prompt, RunRow, digest, now
from pipeline.selection import select_capabilities
from pipeline.structs import Param
from pipeline.tasks import TaskSpec
from pipeline.words import PassKind

_PACKAGES = ("duckdb", "playwright", "pyarrow", "pydantic", "ray")
_GIT_SECONDS = 10.0


def opening_rows(config: RunConfig, tasks: Sequence[TaskSpec], prompts: Sequence[str] = ()) -> list[Model]:
    """The rows written once, when a run begins; `prompts` are the fixed texts it will show to models."""
    shown = prompt_rows(prompts)
    row = RunRow(
        started_at=now(),
        config=[Param(name=name, value=value) for name, value in _flat(config.model_dump(mode="json"))],
        commit=_commit(),
        versions=_versions(),
        prompt_sha256s=[row.prompt_sha256 for row in shown],
    )
    return [row, *shown, *tasks, *select_capabilities(tasks)]


def prompt_rows(texts: Sequence[str]) -> list[Prompt]:
    """Fixed texts that are shown to models, each once, sorted by hash."""
    found = {hashlib.sha256(text.encode()).hexdigest(): text for text in texts}
    return [Prompt(prompt_sha256=name, text=found[name]) for name in sorted(found)]


def judge_set(kind: PassKind, config: RunConfig) -> list[str]:
    """The names of a pass's judges."""
    if kind == "online":
        return [judge_of(config).name or ""]
    models = [*config.judges, *([config.panel.escalate] if config.panel.escalate else [])]
    return [judge if isinstance(judge, str) else judge.name or "" for judge in models]


def pass_row(run_id: str, kind: PassKind, config: RunConfig, *distinct: str) -> PassRow:
    """One verification pass; `distinct` tells passes of the same judges apart."""
    panel, judges = config.panel, judge_set(kind, config)
    known = None if kind == "online" else calibration_of(config)
    calibration_id = known.calibration_id if known else None
    return PassRow(
        pass_id=digest("pass", run_id, kind, panel.rule, calibration_id or "", *judges, *distinct),
        kind=kind,
        judge_set=judges,
        rule=panel.rule,
        calibration_id=calibration_id,
        judged_at=now(),
    )


def _flat(tree: dict[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            yield f"{prefix}{key}", ", ".join(map(str, value))
        elif value is not None:
            yield f"{prefix}{key}", str(value)


def _versions() -> list[Param]:
    found = {"python": platform.python_version(), "system": platform.platform()}
    for package in ("pathproof", *_PACKAGES):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue  # run from a bare checkout: the commit says which version
    return [Param(name=name, value=found[name]) for name in sorted(found)]


def _commit() -> str | None:
    """The checkout's commit, when this is one and git is there."""
    root = Path(__file__).resolve().parents[1]
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return None
    try:
        done = subprocess.run(
            [git, "-C", str(root), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
