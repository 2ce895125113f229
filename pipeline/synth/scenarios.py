"""What a model may be asked to write a screen about, and the plan of each screen: look, language and persona by seed.

Knows nothing of models and browsers.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from pydantic import Field, TypeAdapter, ValidationError

from pipeline.actions import Model
from pipeline.errors import ConfigError, first_problem
from pipeline.synth.content import LOCALES, Content, Persona
from pipeline.synth.looks import Look, Platform, draw_look
from pipeline.user_files import text_of, yaml_of

_LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "Simplified Chinese"}


class Scenario(Model):
    """A kind of screen; `reference` is a picture (PNG) of a screen that the written one is to resemble."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    about: str = Field(min_length=1)
    platforms: list[Platform] = Field(min_length=1)
    reference: str | None = None


class Plan(NamedTuple):
    """One screen that is to be written."""

    number: int
    scenario: Scenario
    language: str
    look: Look
    persona: Persona

    @property
    def prompt(self) -> str:
        """What the model is asked, without the reference picture."""
        look, person = self.look, self.persona
        return _prompt().format(
            about=self.scenario.about,
            platform={"desktop": "a desktop window", "web": "a web page", "phone": "a phone app"}[look.platform],
            width=look.width,
            height=look.height,
            language=_LANGUAGES[self.language],
            light="dark" if look.dark else "light",
            accent=look.accent,
            text_size=look.text_size,
            font=look.font,
            person=person.name,
            job=person.job,
            company=person.company,
            city=person.city,
            reference=_RESEMBLE if self.scenario.reference else "",
        )


_RESEMBLE = (
    "- The picture shows another screen: take over how it is laid out and how dense it is, and nothing that it says.\n"
)


def scenarios_of(path: Path | None) -> Sequence[Scenario]:
    """The scenarios of a YAML file, those that ship without one; raises ConfigError naming file and place."""
    shipped = Path(str(resources.files("pipeline.synth") / "scenarios.yaml"))
    place = f"scenarios: {path}"
    try:
        found = TypeAdapter(list[Scenario]).validate_python(yaml_of(text_of(path or shipped), place))
    except ValidationError as error:
        raise ConfigError(f"{place}: {first_problem(error)}") from error
    if not found:
        raise ConfigError(f"{place}: holds no scenario")
    return found


def plan_of(scenarios: Sequence[Scenario], seed: int, number: int) -> Plan:
    """The screen of this number; every scenario comes once before any comes again."""
    scenario = scenarios[number % len(scenarios)]
    rng = random.Random(f"write {seed} {number} {scenario.name}")
    language = rng.choice(sorted(LOCALES))
    look = draw_look(rng, scenario.platforms)
    return Plan(number, scenario, language, look, Content(language, rng.getrandbits(48)).persona)


@cache
def _prompt() -> str:
    return (resources.files("pipeline.synth") / "write_screen.md").read_text(encoding="utf-8")
