"""What a built-in application is made of: a database, screens that read it, acts that change it, and words.

Screens and acts are plain functions of what was asked; they know neither the browser nor the phone's command line.
Schema, first rows and words lie beside the templates of the application.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple

import yaml

from pipeline.handset.database import Database, Row
from pipeline.handset.packages import Package
from pipeline.handset.state import Clock, Settings

LANGUAGES = ("en", "zh")
Words = Mapping[str, tuple[str, str]]
"""Every text by its key: in English and in Chinese."""


class Asked(NamedTuple):
    """What a screen or an act is given."""

    data: Database
    given: Mapping[str, str]
    """Fields of the form, or of the address."""
    chosen: Mapping[str, list[str]]
    """Fields that were given more than once."""
    clock: Clock
    settings: Settings
    language: str
    words: Words

    def text(self, key: str, **values: object) -> str:
        """A text in the phone's language."""
        return self.words[key][LANGUAGES.index(self.language)].format(**values)

    def field(self, name: str) -> str:
        """A field without blanks around it; empty where it was not given."""
        return self.given.get(name, "").strip()

    def number(self, name: str, otherwise: int = 0) -> int:
        """A field as a whole number."""
        text = self.field(name)
        return int(text) if text.removeprefix("-").isdecimal() else otherwise

    @property
    def id(self) -> int:
        """The row that is meant."""
        return self.number("id")


class Shown(NamedTuple):
    """A screen: its template, what the template is given, and whether it must not be captured."""

    template: str
    values: Mapping[str, Any]
    secure: bool = False


class Done(NamedTuple):
    """What becomes of the screen after an act: it ends, is shown anew, gives way to another, or is left as it is.

    Or why nothing was done."""

    then: Literal["back", "stay", "go", "none"] = "stay"
    path: str = ""
    problem: str = ""
    changed: Sequence[str] = ()
    """Settings that the phone has to hear of."""


Screen = Callable[[Asked], Shown]
Act = Callable[[Asked], Done]


class App(NamedTuple):
    """One application."""

    package: Package
    tables: tuple[str, ...]
    """Tables that `content` can ask for."""
    screens: Mapping[str, Screen]
    acts: Mapping[str, Act]

    @property
    def name(self) -> str:
        """The folder of its templates."""
        return self.package.name.rpartition(".")[2]

    @property
    def database_path(self) -> str:
        """Its database on the phone."""
        return f"/data/data/{self.package.name}/databases/{self.name}.db"

    @property
    def words(self) -> Words:
        """Its texts, and those that all applications share."""
        return {**_words("shared"), **_words(self.name)}

    @property
    def schema(self) -> str:
        """The SQL that makes its tables."""
        return _text(self.name, "schema.sql")

    def seed(self, language: str) -> Mapping[str, list[Row]]:
        """Its first rows in a language."""
        rows = _loaded(self.name, "seed.yaml")
        return {table: [*rows.get("all", {}).get(table, []), *rows[language].get(table, [])] for table in _order(rows)}


def _order(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(table for part in rows.values() for table in part))


@cache
def _words(name: str) -> Words:
    return {key: (texts[0], texts[1]) for key, texts in _loaded(name, "texts.yaml").items()}


@cache
def _loaded(name: str, file: str) -> Any:
    return yaml.safe_load(_text(name, file))


def _text(name: str, file: str) -> str:
    return (resources.files("pipeline.handset") / "pages" / name / file).read_text(encoding="utf-8")
