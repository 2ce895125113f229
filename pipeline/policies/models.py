"""The models a configuration names: which endpoints there are, and one worker's clients for them.

Clients are made when first asked for and shared by all episodes of the worker. This module knows nothing of what the
models are asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from pipeline.config import EndpointConfig, RunConfig
from pipeline.dialects import load_dialect
from pipeline.errors import ConfigError, first_problem
from pipeline.llm import Abilities, Client, Endpoint, Limiter, PictureEncoder, ReplyCache
from pipeline.policies.chat import Actor, Supervisor
from verifiers.step import StepVerifier

_OF_ENDPOINTS = set(EndpointConfig.model_fields) & set(Endpoint.model_fields)
"""Settings that an endpoint takes over as they are."""


Place = tuple[str, str]
"""An address and a model there."""


class Access(NamedTuple):
    """What the run found out about an endpoint, and what stands before every request to it."""

    abilities: Abilities
    limiter: Limiter


class Need(NamedTuple):
    """An endpoint a run will call, and how many pictures it is shown at once."""

    endpoint: Endpoint
    images: int


def place_of(endpoint: Endpoint) -> Place:
    """What an endpoint's access is found by."""
    return endpoint.base_url, endpoint.model


def needs(config: RunConfig) -> list[Need]:
    """Every endpoint the run will call; raises ConfigError naming the key."""
    if config.policy.name != "chat":
        if config.step_judge.online:
            raise ConfigError(f"step_judge.online: policy={config.policy.name} proposes nothing; use policy=chat")
        return []
    dialect = load_dialect(config.model.dialect)
    if config.platform not in dialect.platforms:
        raise ConfigError(f"model.dialect: '{dialect.name}' has no actions for platform {config.platform}")
    found = [Need(endpoint_of("model", config.model), config.model.images)]
    if config.step_judge.online:
        found.append(Need(endpoint_of("step_judge", judge_of(config)), 1))
    for need in found:
        if config.budget.usd is not None and need.endpoint.usd_per_million_prompt is None:
            raise ConfigError(
                f"budget.usd: the price of '{need.endpoint.model}' is not known; set model.usd_per_million_prompt and"
                " model.usd_per_million_completion, or limit budget.calls"
            )
    return found


def judge_of(config: RunConfig) -> EndpointConfig:
    """Where step verdicts are asked for: the judge's own endpoint, or the acting model's."""
    return config.step_judge if config.step_judge.base_url or config.step_judge.name else config.model


def endpoint_of(part: str, config: EndpointConfig) -> Endpoint:
    """The endpoint of a part of the configuration; raises ConfigError naming the key."""
    for key, example in (("base_url", "http://127.0.0.1:8000/v1"), ("name", "the name the server knows the model by")):
        if not getattr(config, key):
            raise ConfigError(f"{part}.{key}: missing; write {part}.{key}=... ({example})")
    shared = config.model_dump(include=_OF_ENDPOINTS)
    try:
        return Endpoint.model_validate({**shared, "model": config.name, "family": family_of(config)})
    except ValidationError as error:
        raise ConfigError(f"{part}.{first_problem(error)}") from error


def family_of(config: EndpointConfig) -> str:
    """Whose model it is: as configured, else the model's name up to its first digit or separator."""
    name = (config.name or "").rpartition("/")[2].casefold()
    head = "".join(name[: next((at for at, sign in enumerate(name) if not sign.isalpha()), len(name))])
    return config.family or head or name


class Models:
    """One worker's way to the models of its run."""

    def __init__(self, config: RunConfig, access: Mapping[Place, Access], online_pass: str) -> None:
        self._config, self._access, self._pass_id = config, access, online_pass
        self._encoder = PictureEncoder()
        self._clients: dict[Place, Client] = {}

    def actor(self) -> Actor:
        """The acting model."""
        model = self._config.model
        endpoint = endpoint_of("model", model)
        context = model.context or self._access[place_of(endpoint)].abilities.context
        return Actor(
            client=self._client(endpoint),
            dialect=load_dialect(model.dialect),
            images=model.images,
            room=context - model.max_tokens if context else None,
            max_tokens=model.max_tokens,
            temperature=model.temperature,
        )

    def supervisor(self) -> Supervisor | None:
        """Who grades proposals before they are carried out; null when that is not wanted."""
        if not self._config.step_judge.online:
            return None
        endpoint = endpoint_of("step_judge", judge_of(self._config))
        verifier = StepVerifier(self._client(endpoint), endpoint.family)
        return Supervisor(verifier, self._config.step_judge.retries, self._pass_id)

    async def close(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            await client.close()
        self._clients.clear()

    def _client(self, endpoint: Endpoint) -> Client:
        place = place_of(endpoint)
        if place not in self._clients:
            access, cache = self._access[place], self._config.llm.cache
            self._clients[place] = Client(
                endpoint,
                access.limiter,
                abilities=access.abilities,
                cache=ReplyCache(Path(cache)) if cache else None,
                encoder=self._encoder,
            )
        return self._clients[place]
