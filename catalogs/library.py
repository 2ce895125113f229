"""A searchable library of documents: passages found by words, in English and Chinese.

The index is BM25 by bm25s, in memory; Chinese is cut into single characters and pairs, everything else into words. The
same documents in any order give the same answers. Knows nothing of who asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import bm25s
import numpy as np

from catalogs.documents import Document, read_sources
from catalogs.markup import Block
from catalogs.poison import quote_sha256
from catalogs.sources import find_sources, source_names

_LONGEST = 1200
_TOKEN = re.compile(r"[\u3400-\u9fff]+|[^\W_]+", re.UNICODE)


class Passage(NamedTuple):
    """A part of a document under one heading. `source` is the document's address."""

    source: str
    app_id: str
    language: str
    heading: str
    text: str
    licence: str
    quote_sha256: str


class Library:
    """Passages of documents, searched by words."""

    def __init__(self, documents: Iterable[Document]) -> None:
        found = {passage for document in documents for passage in passages_of(document)}
        self.passages: tuple[Passage, ...] = tuple(sorted(found))
        self._index: bm25s.BM25 | None = None
        if self.passages:
            self._index = bm25s.BM25()
            corpus = [tokens(f"{passage.heading} {passage.text}") for passage in self.passages]
            self._index.index(corpus, show_progress=False)

    def search(
        self, query: str, limit: int = 10, *, app_id: str | None = None, language: str | None = None
    ) -> list[Passage]:
        """The passages that fit best, best first; none that shares no word with the query."""
        wanted = [token for token in dict.fromkeys(tokens(query)) if self._index and token in self._index.vocab_dict]
        if self._index is None or not wanted:
            return []
        scores = self._index.get_scores(wanted)
        order = np.argsort(-scores, kind="stable")
        found = (self.passages[at] for at in order if scores[at] > 0)
        fitting = (
            passage for passage in found if app_id in (None, passage.app_id) and language in (None, passage.language)
        )
        return [passage for passage, _ in zip(fitting, range(limit), strict=False)]


def library_for(app_ids: Iterable[str], language: str | None = None) -> Library:
    """What is at hand on this machine about the applications; nothing about one whose documents are not known."""
    sources = [source for name in source_names() for source in find_sources(name)]
    wanted = frozenset(app_ids)
    return Library(read_sources([one for one in sources if one.app_id in wanted], language).documents)


def tokens(text: str) -> list[str]:
    """What is compared: words in small letters, without a plural's ending; Chinese as characters and pairs."""
    return [token for found in _TOKEN.findall(text) for token in _parts(found)]


def passages_of(document: Document) -> Iterator[Passage]:
    """The document cut at its headings, and long parts between blocks."""
    heading, held = document.title, list[Block]()
    for block in document.blocks:
        if block.kind == "heading":
            yield from _passages(document, heading, held)
            heading, held = block.text, []
        else:
            held.append(block)
    yield from _passages(document, heading, held)


def _passages(document: Document, heading: str, blocks: Sequence[Block]) -> Iterator[Passage]:
    for text in _pieces(blocks):
        yield Passage(
            document.address,
            document.app_id,
            document.language,
            heading,
            text,
            document.licence,
            quote_sha256(text),
        )


def _pieces(blocks: Sequence[Block]) -> Iterator[str]:
    lines: list[str] = []
    for block in blocks:
        if lines and sum(map(len, lines)) + len(block.text) > _LONGEST:
            yield "\n".join(lines)
            lines = []
        lines.append(f"- {block.text}" if block.kind in ("item", "step") else block.text)
    if lines:
        yield "\n".join(lines)


def _parts(found: str) -> Iterator[str]:
    if "\u3400" <= found[0] <= "\u9fff":
        yield from found
        yield from (found[at : at + 2] for at in range(len(found) - 1))
        return
    word = found.casefold()
    yield word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
