"""Ask a public database of vulnerabilities about every locked dependency: `python -m tests.audit`.

Known exceptions stand in `.ci/audit.yaml`, each with its reason and the day until which it holds. Where the database
cannot be reached, the last line says `not checked`, and nothing has failed; otherwise it counts. The exit code is 1
when there is a vulnerability without an exception that holds.
"""

from __future__ import annotations

import datetime
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import httpx
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from pipeline.actions import Model
from pipeline.user_files import text_of, yaml_of

SERVICE = "https://api.osv.dev/v1/querybatch"

_ROOT = Path(__file__).resolve().parents[1]
_LOCKED = re.compile(r"(?m)^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)")
_SECONDS = 30.0


class Exemption(Model):
    """A vulnerability that is put up with."""

    id: str = Field(min_length=1)
    package: str = Field(min_length=1)
    reason: str = Field(min_length=20)
    until: datetime.date


class Vulnerability(NamedTuple):
    """What the database knows of a locked version."""

    package: str
    version: str
    id: str


class _Known(BaseModel):
    id: str


class _Result(BaseModel):
    vulns: list[_Known] = Field(default_factory=list)


class _Answer(BaseModel):
    results: list[_Result]


class UncheckedError(Exception):
    """The database gave no answer; the message says why."""


def locked(text: str) -> dict[str, str]:
    """Names and versions of a lock."""
    return dict(_LOCKED.findall(text))


def exemptions(path: Path) -> list[Exemption]:
    """What is put up with; raises ConfigError or ValidationError."""
    return TypeAdapter(list[Exemption]).validate_python(yaml_of(text_of(path), str(path)) or [])


def vulnerabilities(packages: Mapping[str, str], service: str = SERVICE) -> list[Vulnerability]:
    """What the database knows of these versions; raises UncheckedError."""
    asked = [{"package": {"name": name, "ecosystem": "PyPI"}, "version": version} for name, version in packages.items()]
    try:
        answer = httpx.post(service, json={"queries": asked}, timeout=_SECONDS)
        answer.raise_for_status()
        found = _Answer.model_validate_json(answer.content)
    except (httpx.HTTPError, ValidationError) as error:
        raise UncheckedError(f"{httpx.URL(service).host}: {type(error).__name__}") from error
    if len(found.results) != len(asked):
        raise UncheckedError(f"{len(found.results)} answers to {len(asked)} questions")
    pairs = zip(packages.items(), found.results, strict=True)
    return [Vulnerability(*package, known.id) for package, result in pairs for known in result.vulns]


def open_ones(
    found: Sequence[Vulnerability], excepted: Sequence[Exemption], today: datetime.date
) -> list[Vulnerability]:
    """Those without an exception that holds today."""
    holding = {(exemption.id, exemption.package) for exemption in excepted if today <= exemption.until}
    return [one for one in found if (one.id, one.package) not in holding]


def main(service: str = SERVICE) -> int:
    """Audit the lock of this checkout."""
    packages = locked((_ROOT / "requirements.lock").read_text(encoding="utf-8"))
    excepted = exemptions(_ROOT / ".ci" / "audit.yaml")
    try:
        found = vulnerabilities(packages, service)
    except UncheckedError as error:
        sys.stdout.write(f"audit: not checked: {error}\n")
        return 0
    left = open_ones(found, excepted, datetime.datetime.now(datetime.UTC).date())
    for one in left:
        sys.stdout.write(f"vulnerable: {one.package} {one.version}: {one.id}\n")
    sys.stdout.write(f"audit: checked={len(packages)} vulnerable={len(left)} excepted={len(found) - len(left)}\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
