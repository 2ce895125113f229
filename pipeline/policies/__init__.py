"""The policies, and the one place that builds them from a configuration."""

from __future__ import annotations

import hashlib
from typing import assert_never

from catalogs.store import NOTHING_NEW, Known
from pipeline.config import RunConfig
from pipeline.dialects import load_dialect
from pipeline.errors import ConfigError
from pipeline.identity import policy_id_of
from pipeline.policies.chat import ChatPolicy
from pipeline.policies.models import Models, judge_of
from pipeline.policies.noop import NoopPolicy
from pipeline.policies.planner import PlannerPolicy
from pipeline.policies.scripted import ScriptedPolicy
from pipeline.policies.transcript import system_text
from pipeline.protocols import Policy
from pipeline.tasks import TaskSpec
from verifiers.asking import LANGUAGES, prompt_text
from verifiers.consequence import PROMPT as CONSEQUENCE
from verifiers.step import PROMPT


def build(
    config: RunConfig,
    task: TaskSpec,
    seed: int,
    models: Models | None = None,
    known: Known = NOTHING_NEW,
) -> Policy:
    """A policy for one episode of a task; only `chat` needs models, only `planner` what is known of capabilities."""
    identity = policy_id(config)
    match config.policy.name:
        case "chat":
            if models is None:
                raise ConfigError("policy: chat needs a model; set model.base_url and model.name")
            return ChatPolicy(identity, task, models.actor(), seed, models.supervisor())
        case "noop":
            return NoopPolicy(identity, task)
        case "planner":
            return PlannerPolicy(identity, task, config.policy.mistakes, seed, known)
        case "scripted":
            return ScriptedPolicy(identity, task)
        case _:
            assert_never(config.policy.name)


def policy_id(config: RunConfig) -> str:
    """Identity of the configured policy, the same for all its tasks."""
    return policy_id_of(config.policy.name, _settings(config))


def prompts(config: RunConfig) -> list[str]:
    """Every fixed text that is shown to a model before an action happens, sorted."""
    second = [prompt_text(CONSEQUENCE, language) for language in LANGUAGES] if config.second_opinion else []
    return sorted([*_acting_prompts(config), *second])


def _acting_prompts(config: RunConfig) -> list[str]:
    if config.policy.name != "chat":
        return []
    dialect = load_dialect(config.model.dialect)
    shown = [system_text(config.platform, language, dialect) for language in LANGUAGES]
    if config.step_judge.online:
        shown += [prompt_text(PROMPT, language) for language in LANGUAGES]
    return sorted(shown)


def _settings(config: RunConfig) -> dict[str, str]:
    """Everything that changes what the policy decides."""
    if config.policy.name == "planner":
        return {"mistakes": f"{config.policy.mistakes:g}"}
    if config.policy.name != "chat":
        return {}
    model = config.model
    settings = {key: str(getattr(model, key)) for key in ("name", "dialect", "images", "max_tokens", "temperature")}
    settings |= {"extra": str(sorted(model.extra.items())), "context": str(model.context)}
    settings |= {f"server of {part}": server for part, server in _servers(config).items()}
    settings |= {"prompts": " ".join(hashlib.sha256(text.encode()).hexdigest() for text in _acting_prompts(config))}
    if config.step_judge.online:
        judge = judge_of(config)
        settings |= {"step_judge": f"{judge.name} {config.step_judge.retries}"}
    return settings


def _servers(config: RunConfig) -> dict[str, str]:
    """What stands behind the names of models that the run serves itself, by the part that names them."""
    behind = {server.name: f"{server.model} {server.context} {server.arguments}" for server in config.serving}
    parts = {"model": config.model} | ({"step_judge": judge_of(config)} if config.step_judge.online else {})
    return {
        part: behind[one.name] for part, one in parts.items() if not one.base_url and one.name and one.name in behind
    }
