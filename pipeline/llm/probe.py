"""What an endpoint can do, asked once at the start; what it cannot do is said before any rollout begins.

Three tiny questions: its list of models, a request with pictures, a request held to a schema. What is probed is the
server's behaviour, not the model's skill.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, MutableSequence

from PIL import Image as Pictures
from pydantic import BaseModel

from pipeline.errors import ConfigError, ModelError, RunError
from pipeline.llm.client import Client
from pipeline.llm.endpoint import Abilities, Endpoint
from pipeline.llm.limiter import Limiter
from pipeline.llm.prompt import Message, Picture
from pipeline.llm.structured import read_structured
from pipeline.records import ModelCall
from pipeline.retry import RetryRules

STAGE = "probe"
"""Stage of a probe's rows."""
PROBE_TEXT = "This is a test of the connection. Answer with the word: ready"
"""The last text of every probing request."""

_PICTURE_SIDE = 56
"""Small, but no smaller than two patches of the models that refuse less."""
_MAX_TOKENS = 256
_RULES = RetryRules(tries=4)
_CONTEXT_KEYS = ("max_model_len", "context_length", "context_window")
_REFUSALS = frozenset({"bad_request", "context_too_long", "images_unsupported", "server_error", "too_many_images"})
"""How servers say that they cannot do a thing."""


class _Ready(BaseModel):
    ready: bool


async def probe(
    endpoint: Endpoint,
    limiter: Limiter,
    ledger: MutableSequence[ModelCall],
    images: int = 2,
    rules: RetryRules | None = None,
) -> Abilities:
    """What the endpoint does, pictures counted up to `images`; raises RunError when it does not work at all."""
    enforcing = Abilities(models=(), images=0, schema=True, context=None)
    async with Client(endpoint, limiter, abilities=enforcing, rules=rules or _RULES) as client:
        try:
            entries = await client.model_entries()
            models = _names(entries or [])
            if models and endpoint.model not in models:
                return Abilities(models, 0, False, None)
            most = await _most_images(client, ledger, images)
            schema = await _keeps_schema(client, ledger)
        except ModelError as error:
            raise RunError(f"the endpoint does not work: {error.message}") from error
    return Abilities(models, most, schema, _context(entries or [], endpoint.model))


def demand(endpoint: Endpoint, abilities: Abilities, images: int, context: int = 0) -> None:
    """Raise ConfigError unless the endpoint serves the model with so many pictures and tokens per request."""
    if abilities.models and endpoint.model not in abilities.models:
        served = ", ".join(abilities.models)
        raise ConfigError(f"model.name: '{endpoint.model}' is not served at {endpoint.base_url}; served: {served}")
    if images > abilities.images:
        raise ConfigError(
            f"model.images: {endpoint.base_url} takes {abilities.images} pictures per request, {images} are wanted:"
            " lower it, or raise the server's limit (vLLM: --limit-mm-per-prompt)"
        )
    if abilities.context is not None and context > abilities.context:
        raise ConfigError(
            f"model.name: '{endpoint.model}' has a context of {abilities.context} tokens, {context} are needed"
        )


async def _most_images(client: Client, ledger: MutableSequence[ModelCall], wanted: int) -> int:
    """The largest accepted of: as many as wanted, one, none."""
    for images in sorted({wanted, 1} - {0}, reverse=True):
        if await _accepted(client, ledger, _pictures(images)):
            return images
    await client.ask([_message(())], stage=STAGE, ledger=ledger, max_tokens=_MAX_TOKENS)
    return 0


async def _accepted(client: Client, ledger: MutableSequence[ModelCall], pictures: tuple[Picture, ...]) -> bool:
    try:
        await client.ask([_message(pictures)], stage=STAGE, ledger=ledger, max_tokens=_MAX_TOKENS)
    except ModelError as error:
        if error.code in _REFUSALS:
            return False
        raise
    return True


async def _keeps_schema(client: Client, ledger: MutableSequence[ModelCall]) -> bool:
    """Only an answer in the form counts, which the text does not ask for: some servers take a schema and ignore it."""
    try:
        reply = await client.ask([_message(())], stage=STAGE, ledger=ledger, schema=_Ready, max_tokens=_MAX_TOKENS)
    except ModelError as error:
        if error.code in _REFUSALS:
            return False
        raise
    return reply.outcome == "answered" and isinstance(read_structured(reply.text, _Ready), _Ready)


def _message(pictures: tuple[Picture, ...]) -> Message:
    return Message("user", (*pictures, PROBE_TEXT))


def _pictures(count: int) -> tuple[Picture, ...]:
    out = io.BytesIO()
    Pictures.new("RGB", (_PICTURE_SIDE, _PICTURE_SIDE), "white").save(out, "PNG")
    png = out.getvalue()
    return (Picture(hashlib.sha256(png).hexdigest(), png, _PICTURE_SIDE, _PICTURE_SIDE),) * count


def _names(entries: list[object]) -> tuple[str, ...]:
    return tuple(sorted(str(entry["id"]) for entry in entries if isinstance(entry, Mapping) and "id" in entry))


def _context(entries: list[object], model: str) -> int | None:
    for entry in entries:
        if isinstance(entry, Mapping) and entry.get("id") == model:
            return next((entry[key] for key in _CONTEXT_KEYS if isinstance(entry.get(key), int)), None)
    return None
