"""Ask a public database of vulnerabilities about every locked dependency, ours and the applications' own:

    python -m tests.audit

Known exceptions stand in `.ci/audit.yaml`, each with its reason and the day until which it holds. Where the database
cannot be reached, the last line says `not checked` and that this fails nothing; otherwise it counts. The exit code is 1
when there is a vulnerability without an exception that holds.
"""

from __future__ import annotations

import datetime
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import httpx
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from pipeline.actions import Model
from pipeline.user_files import text_of, yaml_of

SERVICE = "https://api.osv.dev/v1/querybatch"

_ROOT = Path(__file__).resolve().parents[1]
_LOCKED = re.compile(r"(?m)^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)")
_MODULES = "node_modules/"
_SECONDS = 30.0
_MOST = 500
"""How many versions one question may name."""


class Exemption(Model):
    """A vulnerability that is put up with."""

    id: str = Field(min_length=1)
    package: str = Field(min_length=1)
    reason: str = Field(min_length=20)
    until: datetime.date


class Package(NamedTuple):
    """A locked version of a package."""

    ecosystem: Literal["PyPI", "npm"]
    name: str
    version: str


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


class _Installed(BaseModel):
    name: str = ""
    """Where it is installed under another name."""
    version: str = ""


class _NpmLock(BaseModel):
    packages: dict[str, _Installed]


def locks(root: Path) -> list[Path]:
    """The lock of a checkout, and those of its applications."""
    apps = root / "catalogs" / "apps"
    return [root / "requirements.lock", *sorted(apps.glob("*/requirements.lock")), *sorted(apps.glob("*/*-lock.json"))]


def locked(path: Path) -> set[Package]:
    """The packages of a lock of pip or npm."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".json":
        return {Package("PyPI", name, version) for name, version in _LOCKED.findall(text)}
    # A package has the path of its folder, which may lie in that of another; the first one is the project itself.
    installed = _NpmLock.model_validate_json(text).packages.items()
    named = [(one.name or place.rpartition(_MODULES)[2], one.version) for place, one in installed if _MODULES in place]
    return {Package("npm", name, version) for name, version in named}


def exemptions(path: Path) -> list[Exemption]:
    """What is put up with; raises ConfigError or ValidationError."""
    return TypeAdapter(list[Exemption]).validate_python(yaml_of(text_of(path), str(path)) or [])


def vulnerabilities(packages: Iterable[Package], service: str = SERVICE) -> list[Vulnerability]:
    """What the database knows of these versions; raises UncheckedError."""
    left = sorted(packages)
    return [found for at in range(0, len(left), _MOST) for found in _answered(left[at : at + _MOST], service)]


def _answered(packages: Sequence[Package], service: str) -> list[Vulnerability]:
    """The answer to one question."""
    asked = [{"package": {"name": one.name, "ecosystem": one.ecosystem}, "version": one.version} for one in packages]
    try:
        answer = httpx.post(service, json={"queries": asked}, timeout=_SECONDS)
        answer.raise_for_status()
        found = _Answer.model_validate_json(answer.content)
    except (httpx.HTTPError, ValidationError) as error:
        raise UncheckedError(f"{httpx.URL(service).host}: {type(error).__name__}") from error
    if len(found.results) != len(asked):
        raise UncheckedError(f"{len(found.results)} answers to {len(asked)} questions")
    pairs = zip(packages, found.results, strict=True)
    return [Vulnerability(one.name, one.version, known.id) for one, result in pairs for known in result.vulns]


def open_ones(
    found: Sequence[Vulnerability], excepted: Sequence[Exemption], today: datetime.date
) -> list[Vulnerability]:
    """Those without an exception that holds today."""
    holding = {(exemption.id, exemption.package) for exemption in excepted if today <= exemption.until}
    return [one for one in found if (one.id, one.package) not in holding]


def main(service: str = SERVICE) -> int:
    """Audit the locks of this checkout."""
    packages = set().union(*map(locked, locks(_ROOT)))
    excepted = exemptions(_ROOT / ".ci" / "audit.yaml")
    try:
        found = vulnerabilities(packages, service)
    except UncheckedError as error:
        sys.stdout.write(f"audit: not checked, none of {len(packages)} packages; this fails nothing: {error}\n")
        return 0
    left = open_ones(found, excepted, datetime.datetime.now(datetime.UTC).date())
    for one in left:
        sys.stdout.write(f"vulnerable: {one.package} {one.version}: {one.id}\n")
    sys.stdout.write(f"audit: checked={len(packages)} vulnerable={len(left)} excepted={len(found) - len(left)}\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
