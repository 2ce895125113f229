"""What a model reads off documents: capabilities with quotations, of which only proved ones count.

A document is shown as marked lines. What comes back is data: a quotation that is not in the document, or does not name
the object, makes a finding and no capability. Nothing the model says is carried out, and nothing else of it is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, MutableSequence, Sequence
from importlib import resources
from typing import NamedTuple

from pydantic import BaseModel, Field

from catalogs.documents import Document
from catalogs.extract import Mention
from catalogs.library import Passage, passages_of, tokens
from catalogs.messages import squashed
from catalogs.phrases import Intent, known_verb
from catalogs.poison import Finding, quote_sha256
from pipeline.llm import Client, Message, Unreadable, read_structured
from pipeline.records import ModelCall
from verifiers.asking import language_of, together
from verifiers.quoting import quoted

STAGE = "catalog"
"""The stage of the calls."""
_MOST_SHOWN = 6000
_MOST_SLOTS = 8
_MAX_TOKENS = 4096
_SHORTEST_QUOTE = 4
_AT_ONCE = 4


class Draft(BaseModel):
    """One function; the reason and the quotation stand before what they lead to."""

    reason: str
    quote: str = Field(min_length=1)
    verb: str = Field(min_length=1)
    object: str = Field(min_length=1)
    slots: list[str]


class Drafts(BaseModel):
    """All functions of a page."""

    capabilities: list[Draft]


class Interpreted(NamedTuple):
    """What was proved, and what was not."""

    mentions: tuple[Mention, ...]
    findings: tuple[Finding, ...]


async def interpret(client: Client, documents: Sequence[Document], ledger: MutableSequence[ModelCall]) -> Interpreted:
    """Ask a model about every document, a few at once; raises ModelError and RunError."""
    places = asyncio.Semaphore(_AT_ONCE)

    async def ask(document: Document, passages: Sequence[Passage]) -> Interpreted:
        async with places:
            return await _ask(client, document, passages, ledger)

    pages = [(document, shown) for document in documents for shown in _pages(document)]
    found = await together(ask(document, shown) for document, shown in pages)
    return Interpreted(
        tuple(mention for one in found for mention in one.mentions),
        tuple(finding for one in found for finding in one.findings),
    )


def _pages(document: Document) -> Iterator[list[Passage]]:
    """The document in parts that fit a request."""
    shown: list[Passage] = []
    for passage in passages_of(document):
        if shown and sum(len(one.text) for one in shown) + len(passage.text) > _MOST_SHOWN:
            yield shown
            shown = []
        shown.append(passage)
    if shown:
        yield shown


async def _ask(
    client: Client, document: Document, passages: Sequence[Passage], ledger: MutableSequence[ModelCall]
) -> Interpreted:
    text = "\n".join(f"{passage.heading}\n{passage.text}" for passage in passages)
    reply = await client.ask(
        [
            Message("system", (_prompt(language_of(document.language)),)),
            Message("user", (quoted(f"{document.title}\n{text}", 2 * _MOST_SHOWN),)),
        ],
        stage=STAGE,
        ledger=ledger,
        schema=Drafts,
        max_tokens=_MAX_TOKENS,
        temperature=0.0,
    )
    answer = read_structured(reply.text, Drafts) if reply.outcome == "answered" else Unreadable(reply.outcome)
    if isinstance(answer, Unreadable):
        return Interpreted((), (Finding("unreadable", document.address, answer.reason, ""),))
    checked = [_checked(document, draft) for draft in answer.capabilities]
    return Interpreted(
        tuple(one for one in checked if isinstance(one, Mention)),
        tuple(one for one in checked if isinstance(one, Finding)),
    )


def _checked(document: Document, draft: Draft) -> Mention | Finding:
    """The mention, when its quotation is in the document and names what it is about."""
    quote = squashed(draft.quote.removeprefix("| ").removeprefix("- "))
    block = next((block for block in document.blocks if quote in block.text), None)
    named = set(tokens(draft.object)) & set(tokens(quote))
    if block is None or len(quote) < _SHORTEST_QUOTE or not named:
        said = f"{draft.verb} {draft.object}: {quote}"
        return Finding("unproved", document.address, said[:160], quote_sha256(quote))
    return Mention(
        app_id=document.app_id,
        language=document.language,
        source=document.address,
        licence=document.licence,
        document=document.name,
        anchor="",
        intent=Intent(known_verb(draft.verb) or squashed(draft.verb).casefold(), squashed(draft.object)),
        quote=quote,
        slots=tuple(squashed(slot) for slot in draft.slots if squashed(slot) in block.text)[:_MOST_SLOTS],
    )


def _prompt(language: str) -> str:
    return (resources.files("catalogs") / "prompts" / f"capabilities.{language}.md").read_text(encoding="utf-8")
