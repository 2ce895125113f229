"""What a screen is about: one persona, and people, texts, numbers and dates that suit it, in one language.

Everything comes from one seeded source, so that the same seed tells the same story. Knows nothing of HTML.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

import yaml
from faker import Faker

LOCALES: Mapping[str, str] = {"en": "en_US", "zh": "zh_CN"}
"""The fake-data locale of each language."""

_TODAY = dt.date(2026, 3, 2)


class Persona(NamedTuple):
    """Who sits in front of the screen."""

    name: str
    job: str
    email: str
    company: str
    city: str
    project: str


def pool(name: str) -> Sequence[tuple[str, str]]:
    """Every text of a pool, in English and in Chinese, its slots unfilled."""
    return _pools()[name]


@cache
def _pools() -> Mapping[str, tuple[tuple[str, str], ...]]:
    text = (resources.files("pipeline.synth") / "pools.yaml").read_text(encoding="utf-8")
    return {name: tuple(_pair(entry) for entry in entries) for name, entries in yaml.safe_load(text).items()}


def _pair(entry: str) -> tuple[str, str]:
    english, _, chinese = entry.partition("|")
    return english, chinese or english


@cache
def _faker(locale: str) -> Faker:
    """One generator per locale, for making one takes long; it is seeded before every use."""
    return Faker(locale)


class Content:
    """Seeded words and numbers in one language."""

    def __init__(self, language: str, seed: int) -> None:
        self.language = language
        self.rng = random.Random(seed)
        self._fake = _faker(LOCALES[language])
        self.persona = Persona(
            name=self.person(),
            job=self._text("jobs"),
            email="",
            company=self.company(),
            city=self.city(),
            project=self._text("projects"),
        )
        self.persona = self.persona._replace(email=self.email())

    def t(self, english: str, chinese: str) -> str:
        """The text of this language."""
        return chinese if self.language == "zh" else english

    def chance(self, share: float) -> bool:
        """True for this share of all times."""
        return self.rng.random() < share

    def few(self, count: int, share: float) -> frozenset[int]:
        """Which of so many are on: about this share of them, but often one alone; of most, often all but one."""
        alone = frozenset({self.rng.randrange(count)})
        if self.chance(0.4):
            return alone if share < 0.5 else frozenset(range(count)) - alone
        return frozenset(number for number in range(count) if self.chance(share))

    def number(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return self.rng.randint(low, high)

    def choice(self, values: Sequence[str]) -> str:
        """One of these."""
        return self.rng.choice(values)

    def pick(self, pool: str) -> str:
        """One text of a pool."""
        return self.some(pool, 1)[0]

    def some(self, pool: str, count: int) -> list[str]:
        """So many different texts of a pool; fewer when it has not so many."""
        entries = _pools()[pool]
        chosen = self.rng.sample(entries, min(count, len(entries)))
        return [self._filled(entry) for entry in chosen]

    def lines(self, pool: str, start: int, count: int) -> list[str]:
        """Consecutive texts of a pool, from the beginning again after the last."""
        entries = _pools()[pool]
        return [self._filled(entries[(start + index) % len(entries)]) for index in range(count)]

    def person(self) -> str:
        """A name; in English without a title."""
        fake = self._seeded()
        return str(fake.name()) if self.language == "zh" else f"{fake.first_name()} {fake.last_name()}"

    def people(self, count: int) -> list[str]:
        """So many different names."""
        return _distinct(self.person, count)

    def company(self) -> str:
        """The name of a company."""
        return str(self._seeded().company())

    def companies(self, count: int) -> list[str]:
        """So many different companies."""
        return _distinct(self.company, count)

    def city(self) -> str:
        """The name of a town that speaks the language."""
        return self._text("towns")

    def cities(self, count: int) -> list[str]:
        """So many different towns."""
        return _distinct(self.city, count)

    def street(self) -> str:
        """A street with a number."""
        return str(self._seeded().street_address())

    def phone(self) -> str:
        """A number that nobody answers: of the range set aside for fiction, or its like."""
        return self.t(f"+1 555 01{self.number(10, 99)}", f"010-5550-{self.number(1000, 9999)}")

    def phones(self, count: int) -> list[str]:
        """So many different numbers."""
        return _distinct(self.phone, count)

    def email(self) -> str:
        """An address at a reserved domain."""
        return str(self._seeded().safe_email())

    def emails(self, count: int) -> list[str]:
        """So many different addresses."""
        return _distinct(self.email, count)

    def price(self, low: int, high: int) -> float:
        """An amount of money, as shops write it."""
        return self.number(low, high) - self.rng.choice((0.01, 0.05, 0.5, 0))

    def money(self, amount: float) -> str:
        """An amount as text."""
        return f"{self.t('$', '¥')}{amount:,.2f}"

    def day(self, offset: int = 0) -> str:
        """A date so many days from today, written out."""
        day = _TODAY + dt.timedelta(days=offset)
        return f"{day.month}月{day.day}日" if self.language == "zh" else f"{day:%b} {day.day}"

    def iso(self, offset: int = 0) -> str:
        """A date so many days from today, in figures."""
        return (_TODAY + dt.timedelta(days=offset)).isoformat()

    def clock(self, minutes: int | None = None) -> str:
        """A time of day; random unless the minutes since midnight are given."""
        at = self.number(7 * 60, 21 * 60) if minutes is None else minutes % 1440
        return f"{at // 60:02}:{at % 60:02}"

    def duration(self, minutes: int) -> str:
        """A length of time as text."""
        hours, rest = divmod(minutes, 60)
        return self.t(f"{hours} h {rest} min", f"{hours}小时{rest}分钟")

    def size(self, kilobytes: int) -> str:
        """A file size as text."""
        return f"{kilobytes} KB" if kilobytes < 1024 else f"{kilobytes / 1024:.1f} MB"

    def numbers(self, count: int, low: int, high: int) -> list[int]:
        """So many different numbers: facts that are compared must differ."""
        return self.rng.sample(range(low, high + 1), count)

    def shares(self, count: int) -> list[int]:
        """Parts of a whole in per cent, the largest first."""
        cuts = sorted(self.rng.sample(range(6, 95), count - 1))
        return sorted((high - low for low, high in zip([0, *cuts], [*cuts, 100], strict=True)), reverse=True)

    def walk(self, count: int) -> list[float]:
        """A curve between 0 and 1."""
        value, found = self.rng.uniform(0.3, 0.7), []
        for _ in range(count):
            value = min(0.95, max(0.05, value + self.rng.uniform(-0.16, 0.17)))
            found.append(round(value, 3))
        return found

    def _text(self, pool: str) -> str:
        english, chinese = self.rng.choice(_pools()[pool])
        return self.t(english, chinese)

    def _filled(self, entry: tuple[str, str]) -> str:
        text = self.t(*entry)
        if "{" not in text:
            return text
        for name in ("project", "company", "city"):
            text = text.replace(f"{{{name}}}", getattr(self.persona, name))
        return text.replace("{person}", self.person()).replace("{n}", str(self.number(11, 98)))

    def _seeded(self) -> Faker:
        self._fake.seed_instance(self.rng.getrandbits(48))
        return self._fake


def _distinct(draw: Callable[[], str], count: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        found[draw()] = None
    return list(found)
