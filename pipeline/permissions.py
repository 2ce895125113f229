"""Permission profiles: what may happen, by class of consequence, by whether it can be undone and was asked for.

Four ship as YAML in `profiles`; one's own has the same form. The first rule that fits decides; what no rule fits is
allowed. Knows nothing of screens.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from pipeline.actions import Model
from pipeline.errors import ConfigError
from pipeline.user_files import text_of, yaml_of
from pipeline.words import Consequence, Reversible, Ruling

_FOLDER = Path(__file__).with_name("profiles")


class PermissionRule(Model):
    """What is done with a consequence that fits every condition given."""

    then: Ruling
    classes: list[Consequence] | None = None
    reversible: list[Reversible] | None = None
    explicit: bool | None = None
    """Whether the instruction asks for this very thing."""
    machine: bool | None = None
    """Whether it reaches beyond the application's own state."""

    def fits(self, kind: Consequence, reversible: Reversible, *, explicit: bool, machine: bool) -> bool:
        """Whether all conditions hold."""
        return (
            (self.classes is None or kind in self.classes)
            and (self.reversible is None or reversible in self.reversible)
            and (self.explicit is None or self.explicit is explicit)
            and (self.machine is None or self.machine is machine)
        )


class Profile(Model):
    """A named list of rules."""

    name: str
    rules: list[PermissionRule] = Field(default_factory=list)

    @property
    def otherwise(self) -> Ruling:
        """What is done where nobody can say what an action would bring about: only a rule without conditions fits."""
        return next((rule.then for rule in self.rules if rule == PermissionRule(then=rule.then)), "allow")

    @property
    def can_stop(self) -> bool:
        """Whether anything that stays within an application can be stopped."""
        return any(rule.then != "allow" and rule.machine is not True for rule in self.rules)

    def then(self, kind: Consequence, reversible: Reversible, *, explicit: bool, machine: bool) -> Ruling:
        """What is done with a consequence."""
        for rule in self.rules:
            if rule.fits(kind, reversible, explicit=explicit, machine=machine):
                return rule.then
        return "allow"


def profile_names() -> list[str]:
    """Profiles that ship with the package, sorted."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def load_profile(name: str) -> Profile:
    """A shipped profile by name, or one's own by the path of its YAML file; raises ConfigError."""
    path = _FOLDER / f"{name}.yaml" if name in profile_names() else Path(name)
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        raise ConfigError(f"profile: '{name}' is none of {', '.join(profile_names())}, and no YAML file")
    try:
        tree: Any = yaml_of(text_of(path, "profile"), f"profile: {path}")
        return Profile.model_validate({"name": path.stem, **(tree or {})})
    except TypeError as error:
        raise ConfigError(f"profile: {path} is not readable: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(f"profile: {path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
