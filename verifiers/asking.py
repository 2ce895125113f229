"""Asking a judge's model: prompts by name and language, answers of a fixed form, and what became of a call.

A reply that is refused, cut, empty or not of the form is no answer; a failing endpoint raises. Nothing here knows what
is judged.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Iterable, MutableSequence, Sequence
from importlib import resources
from typing import NamedTuple, TypeVar

from pydantic import BaseModel

from pipeline.llm import Client, Message, Picture, Reply, Unreadable, picture_of, read_structured
from pipeline.records import Frame, ModelCall
from pipeline.structs import Usage

Answer = TypeVar("Answer", bound=BaseModel)
Answered = TypeVar("Answered")

LANGUAGES = ("en", "zh")
_MAX_TOKENS = 2048
_LONGEST_SIDE = 1280


class Asked(NamedTuple):
    """On whose behalf a model is asked."""

    attempt_id: str | None
    pass_id: str | None
    ledger: MutableSequence[ModelCall]


class Told(NamedTuple):
    """What came back: the raw text, and what the call consumed."""

    text: str
    usage: Usage


class NoAnswer(NamedTuple):
    """A call that gave no answer of the form, and why."""

    reason: str
    told: Told


async def structured(
    client: Client,
    stage: str,
    name: str,
    language: str,
    parts: Sequence[str | Picture],
    form: type[Answer],
    asked: Asked,
) -> tuple[Answer, Told] | NoAnswer:
    """The answer to a prompt by its name, in the form; raises ModelError and RunError."""
    reply = await _ask(client, stage, name, language, parts, form, asked)
    told = Told(reply.text, reply.usage)
    if reply.outcome != "answered":
        return NoAnswer(f"the reply is {reply.outcome}", told)
    answer = read_structured(reply.text, form)
    return NoAnswer(answer.reason, told) if isinstance(answer, Unreadable) else (answer, told)


async def in_words(
    client: Client, stage: str, name: str, language: str, parts: Sequence[str | Picture], asked: Asked
) -> str:
    """A free text, empty where the reply is none; raises ModelError and RunError."""
    reply = await _ask(client, stage, name, language, parts, None, asked)
    return reply.text if reply.outcome == "answered" else ""


async def _ask(
    client: Client,
    stage: str,
    name: str,
    language: str,
    parts: Sequence[str | Picture],
    form: type[BaseModel] | None,
    asked: Asked,
) -> Reply:
    return await client.ask(
        [Message("system", (prompt_text(name, language),)), Message("user", tuple(parts))],
        stage=stage,
        ledger=asked.ledger,
        attempt_id=asked.attempt_id,
        pass_id=asked.pass_id,
        schema=form,
        max_tokens=_MAX_TOKENS,
        temperature=0.0,
    )


async def together(asking: Iterable[Awaitable[Answered]]) -> list[Answered]:
    """All answers, in order; when one fails the others are ended first, and its error is raised."""
    running = [asyncio.ensure_future(one) for one in asking]
    try:
        return list(await asyncio.gather(*running))
    finally:
        for one in running:
            one.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def prompt_text(name: str, language: str) -> str:
    """The instructions of a name in `en` or `zh`."""
    return (resources.files("verifiers") / "prompts" / f"{name}.{language}.md").read_text(encoding="utf-8")


def prompt_sha256(name: str, language: str) -> str:
    """The hash by which rows refer to these instructions."""
    return hashlib.sha256(prompt_text(name, language).encode()).hexdigest()


def pinned_text(names: Sequence[str], language: str) -> str:
    """Several instructions that lead to one vote, as one text: each by name and hash, in order."""
    return "".join(f"{name}.{language} {prompt_sha256(name, language)}\n" for name in names)


def pinned_sha256(names: Sequence[str], language: str) -> str:
    """The hash by which a vote refers to all instructions it may have come about by."""
    return hashlib.sha256(pinned_text(names, language).encode()).hexdigest()


def language_of(language: str) -> str:
    """The language of the prompts for a task's language."""
    return "zh" if language.startswith("zh") else "en"


def shown(frame: Frame) -> Picture:
    """The picture as a judge sees it: its own size, or scaled to the longest side it is given."""
    scale = min(1.0, _LONGEST_SIDE / max(frame.width, frame.height))
    return picture_of(frame, round(frame.width * scale), round(frame.height * scale))
