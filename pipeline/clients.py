"""From a configuration to clients: the endpoints it names, how a run reaches them, and one process's connections.

This module knows nothing of what the models are asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from pipeline.config import EndpointConfig, LlmConfig
from pipeline.errors import ConfigError, first_problem
from pipeline.llm import Abilities, Client, Endpoint, Limiter, PictureEncoder, ReplyCache

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


class Clients:
    """One process's connections to the models of its run: made when first asked for, shared by all who ask."""

    def __init__(self, config: LlmConfig, access: Mapping[Place, Access]) -> None:
        self._cache = ReplyCache(Path(config.cache)) if config.cache else None
        self._access = access
        self._encoder = PictureEncoder()
        self._clients: dict[Place, Client] = {}

    def client(self, endpoint: Endpoint) -> Client:
        """The client of an endpoint."""
        place = place_of(endpoint)
        if place not in self._clients:
            access = self._access[place]
            self._clients[place] = Client(
                endpoint, access.limiter, abilities=access.abilities, cache=self._cache, encoder=self._encoder
            )
        return self._clients[place]

    def context(self, endpoint: Endpoint) -> int | None:
        """How many tokens the endpoint's model takes, as far as it says so."""
        return self._access[place_of(endpoint)].abilities.context

    async def close(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            await client.close()
        self._clients.clear()
