"""RunConfig: the configuration tree of one run, frozen, with the public keys. Unknown keys are refused.

Values come from a YAML file (a name of pipeline/configs or a path) and `key=value` arguments, dotted keys reaching into
parts. This module knows the keys and their types, not what they set in motion.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, JsonValue, ValidationError, ValidationInfo, field_validator

from pipeline.actions import Model
from pipeline.errors import ConfigError
from pipeline.permissions import Profile, load_profile
from pipeline.user_files import text_of, yaml_of
from pipeline.words import Platform, Target

GENERATE = "generate"
"""The set that is made by the run itself, round by round."""


class TasksConfig(Model):
    """Which tasks: `set` is a name of taskspecs, a file, or `generate`; `limit` is how many of them.

    Where they are generated, `limit` is the number of drafts of a round, `infeasible_rate` the share of them that
    cannot be done on purpose, and `contamination` a file of benchmarks' texts that none of them may meet. `sampling`
    says which capabilities they ask for: what is needed most by the coverage so far, or every one alike.
    """

    set: str = "quickstart"
    limit: int | None = Field(default=None, ge=1)
    infeasible_rate: float = Field(default=0.1, ge=0.0, le=1.0)
    contamination: str | None = None
    sampling: Literal["need", "uniform"] = "need"


class PolicyConfig(Model):
    """Which policy, and how often the planner errs on purpose (0..1)."""

    name: Literal["chat", "planner", "scripted", "noop"] = "planner"
    mistakes: float = Field(default=0.0, ge=0.0, le=1.0)


VARIABLE_NAME = r"^[A-Z_][A-Z0-9_]*$"
"""What names an environment variable, and no key looks like."""


class EndpointConfig(Model):
    """A model behind an OpenAI-compatible address.

    The key is in the environment variable `api_key_env`. Prices are dollars per million tokens, unknown where null;
    `extra` goes into every request as it is. A null `context` is asked of the endpoint. A call that fails in passing is
    made `tries` times in all.
    """

    base_url: str | None = None
    name: str | None = None
    family: str | None = None
    api_key_env: str = Field(default="OPENAI_API_KEY", pattern=VARIABLE_NAME)
    usd_per_million_prompt: float | None = Field(default=None, ge=0)
    usd_per_million_completion: float | None = Field(default=None, ge=0)
    in_flight: int = Field(default=8, ge=1)
    read_seconds: float = Field(default=120.0, gt=0)
    tries: int = Field(default=8, ge=1)
    max_tokens: int = Field(default=2048, ge=1)
    temperature: float | None = Field(default=0.0, ge=0)
    context: int | None = Field(default=None, ge=1)
    extra: dict[str, JsonValue] = Field(default_factory=dict)


class ModelConfig(EndpointConfig):
    """The acting model: how it spells actions, and how many pictures it is shown at once."""

    dialect: str = "canonical"
    images: int = Field(default=3, ge=1)


class StepJudgeConfig(EndpointConfig):
    """Step verdicts before execution; asked of the acting model's endpoint where it has none of its own.

    `retries` is how often a rejected proposal may be revised.
    """

    online: bool = False
    retries: int = Field(default=2, ge=0)


class ServerConfig(Model):
    """A model that the run serves itself, with vLLM, for as long as it lasts: `model.name=NAME` without an address.

    `model` is a folder or a hub id, `python` an interpreter that has vLLM, ours where null. Where null, `images` (per
    request) is what the run shows at once, `context` what the model has, and `gpus`, all of one node, as many as
    `tensor_parallel`. `gpus: 0` serves on the CPU; a fraction shares a GPU, then `arguments` must say how much of its
    memory. `listen: node` lets the workers of other nodes in, and whoever else reaches that address.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][\w.-]*$")
    model: str = Field(min_length=1)
    family: str | None = None
    images: int | None = Field(default=None, ge=0)
    context: int | None = Field(default=None, ge=1)
    tensor_parallel: int = Field(default=1, ge=1)
    gpus: float | None = Field(default=None, ge=0)
    python: str | None = None
    arguments: list[str] = Field(default_factory=list)
    listen: Literal["loopback", "node"] = "loopback"
    start_seconds: float = Field(default=1800.0, gt=0)

    @property
    def gpu_share(self) -> float:
        """How many GPUs, or what share of one, it takes."""
        return float(self.tensor_parallel) if self.gpus is None else self.gpus

    @field_validator("gpus")
    @classmethod
    def _fitting(cls, gpus: float | None, info: ValidationInfo) -> float | None:
        if gpus is None:
            return gpus
        if gpus > 1 and not gpus.is_integer():
            raise ValueError("must be a whole number, or a share of one GPU")
        spread = info.data.get("tensor_parallel", 1)
        if gpus and spread > 1 and gpus < spread:
            raise ValueError(f"must be at least tensor_parallel, which is {spread}")
        return gpus


class JudgeConfig(EndpointConfig):
    """A model that judges: what it grades, and how many pictures it is shown at once."""

    grades: tuple[Target, ...] = Field(default=("trace", "step"), min_length=1)
    images: int = Field(default=10, ge=2)


class LlmConfig(Model):
    """What concerns every model call: `cache` is a folder in which replies are kept, none where null."""

    cache: str | None = None


class PanelConfig(Model):
    """How votes become a verdict."""

    rule: Literal["quorum", "single", "weighted"] = "quorum"
    calibration: str | None = None
    escalate: JudgeConfig | None = None
    """A stronger judge, asked only where the others do not decide."""


class BudgetConfig(Model):
    """Hard limits of a whole run; null means none."""

    usd: float | None = Field(default=None, gt=0)
    calls: int | None = Field(default=None, gt=0)
    seconds: float | None = Field(default=None, gt=0)


class FaultsConfig(Model):
    """Circuit breaker: the run pauses when the share of faulty attempts (0..1) exceeds `stop_rate`."""

    stop_rate: float = Field(default=0.5, gt=0.0, le=1.0)


PLACEHOLDER = re.compile(r"<secret:([A-Za-z][A-Za-z0-9_-]*)>")
"""What stands for a secret wherever anybody may read it."""


class SecretConfig(Model):
    """Something that only the environment may know: it stands in the variable `env`, and `<secret:NAME>` stands for it.

    It is typed into the applications `apps` alone, into any of the run where there are none.
    """

    name: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")
    env: str = Field(pattern=VARIABLE_NAME)
    apps: list[str] = Field(default_factory=list)


class RunConfig(Model):
    """One run."""

    apps: list[str] = Field(default_factory=list)
    platform: Platform = "web"
    provider: Literal["chromium", "fake", "adb", "avd", "handset", "xvfb", "qemu"] = Field(
        default_factory=lambda given: "xvfb" if given.get("platform") == "desktop" else "chromium"
    )
    devices: list[str] = Field(default_factory=list)
    """Of `adb` serials or addresses, all on the bus where there is none; of `avd` one virtual device, NAME@SNAPSHOT;
    of `qemu` the name of a machine's image."""
    tasks: TasksConfig = TasksConfig()
    rounds: int = Field(default=1, ge=1)
    policy: PolicyConfig = PolicyConfig()
    model: ModelConfig = ModelConfig()
    step_judge: StepJudgeConfig = StepJudgeConfig()
    second_opinion: EndpointConfig | None = None
    """A model that the gate asks what an action would bring about; it can only make its decisions stricter."""
    llm: LlmConfig = LlmConfig()
    serving: list[ServerConfig] = Field(default_factory=list)
    judges: list[str | JudgeConfig] = Field(default_factory=lambda: list[str | JudgeConfig](["screen", "effect"]))
    """Judges without a model by name, and models, cheapest first."""
    panel: PanelConfig = PanelConfig()
    start_from_segment: Annotated[int, Field(ge=0)] | str | None = None
    """A segment by its number (from 0) or name: attempts begin there, with an earlier attempt's steps before it."""
    prefix_from: str | None = None
    """The dataset with those earlier attempts; where null, those of the first round are the run's own."""
    seed: int = 0
    attempts: int = Field(default=3, ge=1)
    workers: int = Field(default=2, ge=1)
    max_steps: int | None = Field(default=None, ge=1)
    max_seconds: float | None = Field(default=None, gt=0)
    budget: BudgetConfig = BudgetConfig()
    profile: Profile = Field(
        default_factory=lambda given: load_profile("supervised" if given.get("provider") == "adb" else "sandbox")
    )
    """What the gate lets happen; written `observe`, `sandbox`, `supervised`, `live`, or as the path of a file.

    On somebody's own phone (`provider` adb) `supervised`, for not all of its state can be put back.
    """
    allow: list[str] = Field(default_factory=list)
    live_profile: Profile = Field(default_factory=lambda: load_profile("observe"))
    """The same for the sites of `allow`, whose state nobody puts back."""
    isolated: bool = False
    """Desktops whose programs would have a network are refused, where the system cannot take it from them."""
    secrets: list[SecretConfig] = Field(default_factory=list)
    probes: Literal["use", "withhold"] = "use"
    """`withhold`: applications are taken for sites that nobody can ask; contracts are then rubrics."""
    faults: FaultsConfig = FaultsConfig()
    out: str | None = None

    @field_validator("profile", "live_profile", mode="before")
    @classmethod
    def _by_name(cls, profile: object) -> object:
        return load_profile(profile) if isinstance(profile, str) else profile

    @field_validator("secrets")
    @classmethod
    def _told_apart(cls, secrets: list[SecretConfig]) -> list[SecretConfig]:
        if len({secret.name for secret in secrets}) < len(secrets):
            raise ValueError("two secrets have the same name")
        return secrets

    @field_validator("serving")
    @classmethod
    def _names_differ(cls, servers: list[ServerConfig]) -> list[ServerConfig]:
        names = [server.name for server in servers]
        if len(set(names)) < len(names):
            raise ValueError("two servers have the same name")
        return servers


_ALTERNATIVES = ("str", JudgeConfig.__name__)
"""What pydantic adds to the place of an error in a judge, which may be a name or a model."""

JUDGING_PARTS = ("budget", "judges", "llm", "panel", "serving")
"""What another verification pass may have of its own."""

_SHORT = {"tasks": "tasks.set", "policy": "policy.name"}
"""Public keys that stand for a part's main field: `policy=noop` means `policy.name=noop`."""


def load_config(source: str, overrides: list[str]) -> RunConfig:
    """The configuration of a name or file with `key=value` overrides; raises ConfigError naming the key."""
    return override_config(_read(source), overrides)


def override_config(tree: dict[str, Any], overrides: list[str]) -> RunConfig:
    """A RunConfig from plain data with `key=value` overrides; raises ConfigError naming the key."""
    tree = _expanded(tree)
    for text in overrides:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise ConfigError(f"argument '{text}': write it as key=value, for example seed=7")
        _put(tree, key, _value_of(key, value))
    return parse_config(tree)


def parse_config(tree: dict[str, Any]) -> RunConfig:
    """A RunConfig from plain data; raises ConfigError naming the key."""
    try:
        return RunConfig.model_validate(_expanded(tree))
    except ValidationError as error:
        raise ConfigError(_explain(error)) from error


def config_names() -> list[str]:
    """Names of the configurations that ship with the package, sorted."""
    folder = resources.files("pipeline") / "configs"
    return sorted(entry.name[:-5] for entry in folder.iterdir() if entry.name.endswith(".yaml"))


def _read(source: str) -> dict[str, Any]:
    path = Path(source)
    if source in config_names():
        text = text_of(resources.files("pipeline") / "configs" / f"{source}.yaml")
    elif path.is_file():
        text = text_of(path, "--config")
    else:
        raise ConfigError(f"--config: no configuration '{source}'; names: {', '.join(config_names())}, or a file")
    tree = yaml_of(text, f"--config: {source}") or {}
    if not isinstance(tree, dict):
        raise ConfigError(f"--config: '{source}' must hold keys and values")
    return _expanded(tree)


def _expanded(tree: dict[str, Any]) -> dict[str, Any]:
    """The same tree with short forms (`policy: noop`) written out."""
    out = dict(tree)
    for key, full in _SHORT.items():
        if isinstance(out.get(key), str):
            out[key] = {full.split(".")[1]: out[key]}
    return out


def _put(tree: dict[str, Any], key: str, value: object) -> None:
    part, _, rest = _SHORT.get(key, key).partition(".")
    if not rest:
        tree[part] = value
        return
    inner = tree.get(part)
    tree[part] = dict(inner) if isinstance(inner, dict) else {}
    _put(tree[part], rest, value)


def _value_of(key: str, text: str) -> object:
    try:
        value = yaml_of(text, key)
    except ConfigError as error:
        raise ConfigError(f"{key}: '{text}' is not a readable value") from error
    if key in ("apps", "devices", "judges", "allow") and not isinstance(value, list):
        return [part.strip() for part in text.split(",") if part.strip()]
    return value


def _known_keys(place: Sequence[str]) -> list[str]:
    """The public keys beside an unknown one."""
    model: type[Model] = RunConfig
    for part in place[:-1]:
        if not part.isdecimal():
            model = _model_in(model.model_fields[part].annotation) or model
    return sorted(model.model_fields)


def _model_in(annotation: object) -> type[Model] | None:
    """The part of a configuration that an annotation is, or holds one or a list of."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _model_in(inner))), None)


def _explain(error: ValidationError) -> str:
    found = error.errors()
    first = next((one for one in found if JudgeConfig.__name__ in one["loc"]), found[0])
    place = [str(part) for part in first["loc"] if part not in _ALTERNATIVES]
    if first["type"] == "extra_forbidden":
        return f"{'.'.join(place)}: unknown key; known keys: {', '.join(_known_keys(place))}"
    if place[-1] in ("api_key_env", "env"):  # somebody may have put the key itself here
        return f"{'.'.join(place)}: the name of an environment variable in capitals, for example OPENAI_API_KEY"
    got = "" if place[0] == "secrets" else f" (got {first.get('input')!r})"
    return f"{'.'.join(place)}: {first['msg'].removeprefix('Value error, ')}{got}"
