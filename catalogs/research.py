"""Cold start of capability catalogs: from sources of documents to capabilities with evidence, with a model or without.

What a catalog that ships holds already gains evidence instead of a double. Past tasks tell how often people ask for a
function; nothing of their text is kept. Running applications are not touched; that is for exploration.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from pathlib import Path
from typing import NamedTuple

from catalogs.documents import Document, Reading
from catalogs.extract import mentions_in
from catalogs.interpret import interpret
from catalogs.library import Library, Passage, tokens
from catalogs.merging import MOST_EVIDENCE, merged, object_words, with_evidence, with_known
from catalogs.phrases import known_verb, mentions_verb
from catalogs.poison import Finding, quote_sha256
from catalogs.sources import Source, Tasks
from catalogs.store import load_catalog
from pipeline.app_entry import app_names
from pipeline.errors import ConfigError
from pipeline.llm import Client
from pipeline.records import ModelCall
from pipeline.tasks import Capability, Evidence

_LOOKED_AT = 8
"""So many passages are looked at for what is known of a capability."""


class Built(NamedTuple):
    """What came of it. `asked` counts the past tasks that ask for a capability."""

    capabilities: tuple[Capability, ...]
    findings: tuple[Finding, ...]
    documents: int
    asked: Counter[str]


async def build(
    sources: Sequence[Source],
    reading: Reading,
    client: Client | None = None,
    ledger: MutableSequence[ModelCall] | None = None,
) -> Built:
    """The catalogs of the sources' applications; with a client, also what its model reads. Raises ModelError."""
    mentions = mentions_in(reading.documents)
    findings = reading.findings
    if client is not None:
        read = await interpret(client, reading.documents, [] if ledger is None else ledger)
        mentions += read.mentions
        findings += read.findings
    known = [entry for app_id in sorted({source.app_id for source in sources}) for entry in known_catalog(app_id)]
    library = Library(reading.documents)
    catalog = with_known(merged(mentions, sources), [documented(entry, library) for entry in known])
    texts = [text for source in sources for place in source.places if place.kind == "tasks" for text in past(place)]
    return Built(tuple(catalog), findings, len(reading.documents), asked_for(catalog, texts))


def known_catalog(app_id: str) -> tuple[Capability, ...]:
    """The capabilities that ship with the package, none for an application without a catalog."""
    return load_catalog(app_id) if app_id in app_names() else ()


def documented(capability: Capability, library: Library) -> Capability:
    """The capability with the places where a document says its doing and all words of its object in one line."""
    verb = known_verb(capability.verb.split()[0]) or capability.verb
    wanted = object_words(capability.object)
    passages = library.search(
        f"{capability.verb} {capability.object}", _LOOKED_AT, app_id=capability.app_id, language=capability.language
    )
    lines = ((passage, line) for passage in passages for line in _lines(passage))
    found = [
        Evidence(source=passage.source, quote_sha256=quote_sha256(line), licence=passage.licence)
        for passage, line in lines
        if wanted and wanted <= set(tokens(line)) and mentions_verb(line, verb)
    ]
    return with_evidence(capability, found[:MOST_EVIDENCE]) if found else capability


def asked_for(catalog: Iterable[Capability], texts: Sequence[str]) -> Counter[str]:
    """How many of the texts name the doing and the object of each capability."""
    cut = [(text, frozenset(tokens(text))) for text in texts]
    counts: Counter[str] = Counter()
    for capability in catalog:
        verb = known_verb(capability.verb.split()[0]) or capability.verb
        wanted = object_words(capability.object)
        asked = sum(bool(wanted) and wanted <= words and mentions_verb(text, verb) for text, words in cut)
        if asked:
            counts[capability.capability_id] += asked
    return counts


def past(place: Tasks) -> Iterator[str]:
    """The texts of a file of past tasks, only to be counted; raises ConfigError."""
    try:
        with Path(place.path).open(encoding="utf-8") as file:
            for line in file:
                text = json.loads(line)[place.field] if place.field else line
                if str(text).strip():
                    yield str(text)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{place.path}: not readable as past tasks: {error}") from error


def documents_of(reading: Reading, app_id: str, language: str) -> list[Document]:
    """The documents of an application in a language."""
    return [one for one in reading.documents if (one.app_id, one.language) == (app_id, language)]


def _lines(passage: Passage) -> Iterator[str]:
    yield passage.heading
    for line in passage.text.splitlines():
        yield line.removeprefix("- ")
