"""The models that act, as a configuration names them: what a run needs of them, and what a worker builds of them.

This module knows nothing of how they are asked.
"""

from __future__ import annotations

from pipeline.clients import Clients, Need, endpoint_of
from pipeline.config import EndpointConfig, RunConfig
from pipeline.dialects import load_dialect
from pipeline.errors import ConfigError
from pipeline.policies.chat import Actor, Supervisor
from verifiers.consequence import ConsequenceOpinion
from verifiers.step import StepVerifier


def needs(config: RunConfig) -> list[Need]:
    """Every endpoint that acting will call; raises ConfigError naming the key."""
    second = [Need(endpoint_of("second_opinion", config.second_opinion), 1)] if config.second_opinion else []
    if config.policy.name != "chat":
        if config.step_judge.online:
            raise ConfigError(f"step_judge.online: policy={config.policy.name} proposes nothing; use policy=chat")
        return second
    dialect = load_dialect(config.model.dialect)
    if config.platform not in dialect.platforms:
        raise ConfigError(f"model.dialect: '{dialect.name}' has no actions for platform {config.platform}")
    found = [Need(endpoint_of("model", config.model), config.model.images)]
    if config.step_judge.online:
        found.append(Need(endpoint_of("step_judge", judge_of(config)), 1))
    return [*found, *second]


def judge_of(config: RunConfig) -> EndpointConfig:
    """Where step verdicts are asked for: the judge's own endpoint, or the acting model's."""
    return config.step_judge if config.step_judge.base_url or config.step_judge.name else config.model


class Models:
    """One worker's way to the acting model and its supervisor."""

    def __init__(self, config: RunConfig, clients: Clients, online_pass: str) -> None:
        self._config, self._clients, self._pass_id = config, clients, online_pass

    def actor(self) -> Actor:
        """The acting model."""
        model = self._config.model
        endpoint = endpoint_of("model", model)
        context = model.context or self._clients.context(endpoint)
        return Actor(
            client=self._clients.client(endpoint),
            dialect=load_dialect(model.dialect),
            images=model.images,
            room=context - model.max_tokens if context else None,
            max_tokens=model.max_tokens,
            temperature=model.temperature,
        )

    def second_opinion(self) -> ConsequenceOpinion | None:
        """Who is asked before an action what it would bring about; null when that is not wanted."""
        if self._config.second_opinion is None:
            return None
        endpoint = endpoint_of("second_opinion", self._config.second_opinion)
        return ConsequenceOpinion(self._clients.client(endpoint))

    def supervisor(self) -> Supervisor | None:
        """Who grades proposals before they are carried out; null when that is not wanted."""
        if not self._config.step_judge.online:
            return None
        endpoint = endpoint_of("step_judge", judge_of(self._config))
        verifier = StepVerifier(self._clients.client(endpoint), endpoint.model, endpoint.family)
        return Supervisor(verifier, self._config.step_judge.retries, self._pass_id)
