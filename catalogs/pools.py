"""The pools of environments, as data: which web sites, mobile apps and desktop programs exist (`catalogs/pools/*.csv`).

Every row says where it comes from. No row says that a site answers or that an app installs: nobody has looked. The
rank of a site is its place in an order like Tranco's, not in the official list. Knows nothing of what an app can do.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator, Field, ValidationError

from pipeline.actions import Model
from pipeline.errors import ConfigError, first_problem
from pipeline.words import Platform

WebCategory = Literal[
    "arts_books_lifestyle",
    "developer_opensource",
    "education_learning",
    "finance_insurance",
    "food_dining",
    "games",
    "government_law",
    "health_medicine",
    "jobs_housing_vehicles",
    "news_magazines",
    "productivity_online_tools",
    "reference_knowledge",
    "science_research",
    "shopping_marketplaces",
    "social_forums",
    "sports_fitness",
    "tech_electronics",
    "travel_transport",
    "video_music_streaming",
]
"""What visitors of a site do there; about one label in fourteen is wrong by an audit of a sample."""

SEPARATOR = "|"
"""Between the items of a list in a CSV cell."""


def _listed(value: object) -> object:
    return [item for item in value.split(SEPARATOR) if item] if isinstance(value, str) else value


def _or_none(value: object) -> object:
    return None if value == "" else value


Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class WebEntry(Model):
    """A web site. `core`: chosen so that no category has more than 300; `label`: the source's own heading for it."""

    domain: str = Field(pattern=r"^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$")
    category: WebCategory
    rank: Annotated[int | None, BeforeValidator(_or_none)] = Field(default=None, ge=1)
    core: bool
    sources: Names = Field(min_length=1)
    label: str = ""
    benchmarks: Names = ()


class MobileEntry(Model):
    """A mobile app, by package name; the name is spelled in the language of its users."""

    package: str = Field(pattern=r"^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$")
    name: str = Field(min_length=1)
    language: Literal["en", "zh"]
    category: str = Field(min_length=1)
    kind: Literal["commercial", "open_source", "system"]
    sources: Names = Field(min_length=1)


class DesktopEntry(Model):
    """A desktop program; `under_xvfb` says whether it opened there when it was tried."""

    program: str = Field(min_length=1)
    system: Literal["linux", "macos", "windows"]
    category: str = Field(min_length=1)
    debian_package: str = ""
    under_xvfb: Literal["yes", "no", "untested", "impossible"]
    sources: Names = Field(min_length=1)


PoolEntry = WebEntry | MobileEntry | DesktopEntry
Entry = TypeVar("Entry", WebEntry, MobileEntry, DesktopEntry)


@cache
def web_pool() -> tuple[WebEntry, ...]:
    """The web sites, by rank; those without one last, by name."""
    return _rows("web", WebEntry)


@cache
def mobile_pool() -> tuple[MobileEntry, ...]:
    """The mobile apps, by language and package."""
    return _rows("mobile", MobileEntry)


@cache
def desktop_pool() -> tuple[DesktopEntry, ...]:
    """The desktop programs, by system and name."""
    return _rows("desktop", DesktopEntry)


def pool(platform: Platform) -> tuple[PoolEntry, ...]:
    """The pool of a platform."""
    match platform:
        case "web":
            return web_pool()
        case "mobile":
            return mobile_pool()
        case "desktop":
            return desktop_pool()


def language_of(entry: PoolEntry) -> str | None:
    """The language of an entry, where its pool knows it."""
    return entry.language if isinstance(entry, MobileEntry) else None


def _rows(name: str, row: type[Entry]) -> tuple[Entry, ...]:
    text = (resources.files("catalogs") / "pools" / f"{name}.csv").read_text(encoding="utf-8")
    lines = csv.DictReader(text.splitlines())
    try:
        return tuple(row.model_validate(line) for line in lines)
    except ValidationError as error:
        raise ConfigError(f"catalogs/pools/{name}.csv, line {lines.line_num}: {first_problem(error)}") from error
