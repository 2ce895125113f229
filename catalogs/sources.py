"""Where the documents of an application are: `catalogs/sources/<name>.yaml`, read as typed data.

A place is a folder (of a system package, or inside an installed application), a list of addresses, or a file of past
tasks; it says its licence and how it is had. Knows nothing of what the documents say.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, ValidationError

from catalogs.markup import Format
from pipeline.actions import Model
from pipeline.app_entry import app_names, load_app
from pipeline.app_install import place_of
from pipeline.errors import ConfigError, EpisodeError, first_problem
from pipeline.user_files import text_of, yaml_of
from pipeline.words import Platform


class Folder(Model):
    """Files below `path`: absolute, or below the environment of an installed application with `inside`.

    `path` may hold wildcards, the first match counts; `install` says how the folder is had.
    """

    kind: Literal["folder"] = "folder"
    language: str
    path: str
    inside: str | None = None
    pattern: str = "**/*"
    skip: list[str] = Field(default_factory=list)
    format: Format
    leave_out: list[str] = Field(default_factory=list)
    """Classes of HTML elements that are not read."""
    install: str
    licence: str | None = None
    """Where it is not the source's."""


class Address(Model):
    """Pages of the web, fetched politely and kept; nothing but these addresses is asked for."""

    kind: Literal["address"] = "address"
    language: str
    urls: list[str] = Field(min_length=1)
    format: Literal["html", "markdown", "text"] = "html"
    leave_out: list[str] = Field(default_factory=list)
    licence: str | None = None


class Tasks(Model):
    """A file of past tasks, one a line (JSON lines with `field`, or plain text): which functions people ask for.

    No sentence of it is ever stored or shown.
    """

    kind: Literal["tasks"] = "tasks"
    language: str
    path: str
    field: str | None = None
    where: dict[str, list[str]] = Field(default_factory=dict)
    """Only lines whose field of this name has one of these values, for example of one application."""
    install: str


Place = Annotated[Folder | Address | Tasks, Field(discriminator="kind")]


class Source(Model):
    """The documents of one application."""

    name: str = Field(exclude=True)
    app_id: str
    title: str
    platform: Platform
    licence: str
    prose: bool = False
    """Whether what sentences offer ("you can ...") counts, beside headings and names of controls."""
    places: list[Place] = Field(min_length=1)
    areas: dict[str, str] = Field(default_factory=dict)
    """Names of the catalog's first level, by the beginning of a document's path; otherwise its title is the name."""


class Absent(NamedTuple):
    """A place that is not on this machine, and how it is had."""

    source: str
    language: str
    why: str


def source_names() -> list[str]:
    """Sources that ship with the package, sorted."""
    return sorted(path.stem for path in _shipped().glob("*.yaml"))


def find_sources(name: str) -> list[Source]:
    """The sources of this name, in this file, or of this application; raises ConfigError when there are none."""
    if name.endswith((".yaml", ".yml")):
        return [read_source(Path(name))]
    shipped = [read_source(_shipped() / f"{known}.yaml") for known in source_names()]
    found = [source for source in shipped if name in (source.name, source.app_id)]
    if not found:
        raise ConfigError(f"sources: no documents are known for '{name}'; known: {', '.join(source_names())}")
    return found


def read_source(path: Path) -> Source:
    """The source in a file; raises ConfigError."""
    try:
        tree: Any = yaml_of(text_of(path), str(path))
        return Source.model_validate({**tree, "name": path.stem})
    except TypeError as error:
        raise ConfigError(f"{path}: not readable: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_problem(error)}") from error


def folder_of(place: Folder) -> Path | None:
    """The folder on this machine, or null when it is not there."""
    base = _environment(place.inside) if place.inside else Path("/")
    if base is None:
        return None
    found = sorted(base.glob(place.path.lstrip("/"))) if place.path.strip("/") else [base]
    return next((path for path in found if path.is_dir()), None)


def _environment(app_id: str) -> Path | None:
    if app_id not in app_names():
        return None
    try:
        environment = place_of(load_app(app_id)).environment
    except EpisodeError:
        return None
    return environment if environment.is_dir() else None


def _shipped() -> Path:
    return Path(str(resources.files("catalogs") / "sources"))
