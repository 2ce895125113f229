"""Calls of a scripted endpoint, for tests."""

from __future__ import annotations

import hashlib
import io

from PIL import Image as Pictures

from pipeline.llm import Client, Endpoint, LocalLimiter, Message, Picture, Reply
from pipeline.llm.limiter import Limiter
from pipeline.records import ModelCall
from pipeline.retry import RetryRules
from pipeline.scripted_endpoint import Script, ScriptedEndpoint, ScriptedReply

QUICK = RetryRules(tries=4, first_seconds=0.01, most_seconds=0.02)
"""Patience for tests: waits that nobody notices."""


def says(text: str | None = "hello", **more: object) -> ScriptedReply:
    return ScriptedReply.model_validate({"text": text, **more})


def serving(*replies: ScriptedReply, **more: object) -> ScriptedEndpoint:
    return ScriptedEndpoint(Script.model_validate({"replies": list(replies), **more}))


def endpoint_of(server: ScriptedEndpoint, **more: object) -> Endpoint:
    return Endpoint.model_validate({"base_url": server.base_url, "model": "scripted", **more})


def limiter_of(endpoint: Endpoint) -> LocalLimiter:
    return LocalLimiter(endpoint.in_flight, endpoint.lease_seconds)


def client_of(endpoint: Endpoint, limiter: Limiter | None = None) -> Client:
    return Client(endpoint, limiter or limiter_of(endpoint), rules=QUICK)


def user(*parts: str | Picture) -> list[Message]:
    return [Message("user", parts)]


def picture(colour: str = "red", size: tuple[int, int] = (40, 30)) -> Picture:
    out = io.BytesIO()
    Pictures.new("RGB", size, colour).save(out, "PNG")
    png = out.getvalue()
    return Picture(hashlib.sha256(png).hexdigest(), png, *size)


async def asked(server: ScriptedEndpoint, ledger: list[ModelCall] | None = None, **endpoint: object) -> Reply:
    """One call with patience for tests."""
    async with client_of(endpoint_of(server, **endpoint)) as client:
        return await client.ask(user("hi"), stage="act", ledger=[] if ledger is None else ledger)
