"""Where a model is served, what it costs and what it can do.

The key is never part of this: an endpoint names the environment variable that holds it, which is read at each call.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from pydantic import Field, JsonValue, field_validator

from pipeline.actions import Model
from pipeline.addresses import parts_of
from pipeline.structs import Usage

_LEASE_MARGIN = 5.0


class Endpoint(Model):
    """An OpenAI-compatible address (ending in `/v1` nearly everywhere) and one model there.

    `read_seconds` is the longest wait for the answer of one request, `total_seconds` that of a call with all its
    `tries` and the waits between them; waiting for one of the `in_flight` slots is not counted. `extra` goes into every
    request as it is; a null value takes one out, where a server refuses it.
    """

    base_url: str
    model: str = Field(min_length=1)
    api_key_env: str = "OPENAI_API_KEY"
    family: str = ""
    usd_per_million_prompt: float | None = Field(default=None, ge=0)
    usd_per_million_completion: float | None = Field(default=None, ge=0)
    connect_seconds: float = Field(default=10.0, gt=0)
    read_seconds: float = Field(default=120.0, gt=0)
    total_seconds: float = Field(default=900.0, gt=0)
    tries: int = Field(default=8, ge=1)
    in_flight: int = Field(default=8, ge=1)
    extra: dict[str, JsonValue] = Field(default_factory=dict)

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, address: str) -> str:
        parts = parts_of(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must be an http or https address, for example http://127.0.0.1:8000/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("must hold no user, password or query: the key belongs in an environment variable")
        return address.rstrip("/")

    @property
    def request_seconds(self) -> float:
        """The longest one request may last."""
        return self.connect_seconds + self.read_seconds

    @property
    def lease_seconds(self) -> float:
        """After how long a slot is free again though its holder never said so."""
        return self.request_seconds + _LEASE_MARGIN

    def key(self) -> str:
        """The key of this moment; a word that opens nothing where the variable is not set (local servers need none)."""
        return os.environ.get(self.api_key_env, "").strip() or "none"

    def usage(self, prompt_tokens: int, completion_tokens: int, images: int) -> Usage:
        """One call's consumption and cost; an unknown price counts as zero."""
        prompt_cost = prompt_tokens * (self.usd_per_million_prompt or 0.0)
        cost = (prompt_cost + completion_tokens * (self.usd_per_million_completion or 0.0)) / 1_000_000
        return Usage(
            calls=1, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens, images=images, cost_usd=cost
        )


class Abilities(NamedTuple):
    """What an endpoint was found to do: names served (empty when it lists none), pictures per request (as far as
    asked), JSON schemas, and the context length where it says so."""

    models: tuple[str, ...]
    images: int
    schema: bool
    context: int | None
