"""Typed values from which tasks are filled: names, titles, notes, amounts, days, in the languages tasks are written in.

Days are offsets, resolved against the day that is stated. Knows nothing of applications; what exists in one comes from
its probes.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from functools import cache
from importlib import resources

import yaml
from pydantic import Field

from pipeline.actions import Model
from pipeline.errors import ConfigError

ANY = "any"
"""Stands for every language in a list of values."""

PerLanguage = dict[str, list[str]]


class Values(Model):
    """`values.yaml`: pools of values by name, pools of days, and sentences before and after a task."""

    pools: dict[str, PerLanguage]
    days: dict[str, list[int]]
    openings: PerLanguage = Field(default_factory=dict)
    closings: PerLanguage = Field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of all pools, sorted."""
        return sorted([*self.pools, *self.days])

    def pool(self, name: str, language: str, today: date) -> list[str]:
        """The values of a pool in a language; raises ConfigError when there is no such pool."""
        if name in self.days:
            return [(today + timedelta(days=offset)).isoformat() for offset in self.days[name]]
        if name not in self.pools:
            raise ConfigError(f"no pool of values is called '{name}'; known: {', '.join(self.names)}")
        found = in_language(self.pools[name], language)
        if not found:
            raise ConfigError(f"the pool of values '{name}' has none in '{language}'")
        return found


def in_language(values: Mapping[str, list[str]], language: str) -> list[str]:
    """Those of a language, or those that serve any; none where there are none."""
    return values.get(language) or values.get(ANY) or []


@cache
def load_values() -> Values:
    """The values that ship."""
    text = (resources.files("taskspecs") / "values.yaml").read_text(encoding="utf-8")
    return Values.model_validate(yaml.safe_load(text))
