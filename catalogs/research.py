"""Cold start of capability catalogs: from sources of documents to capabilities with evidence, with a model or without.

What a catalog that ships holds already gains evidence instead of a double. Past tasks tell how often people ask for a
function; nothing of their text is kept. Running applications are not touched; that is for exploration.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from catalogs.documents import Reading
from catalogs.extract import mentions_in
from catalogs.interpret import interpret
from catalogs.library import Library, Passage, tokens
from catalogs.merging import merged, object_words, with_evidence, with_known
from catalogs.phrases import doing_in, gist, known_verb
from catalogs.poison import Finding, quote_sha256
from catalogs.sources import Source, Tasks
from catalogs.store import catalog_names, load_catalog
from pipeline.errors import ConfigError
from pipeline.llm import Client
from pipeline.records import ModelCall
from pipeline.tasks import Capability, Evidence
from pipeline.user_files import decoded, json_of, lines_of

_LOOKED_AT = 8
"""So many passages are looked at for what is known of a capability."""
_MOST_SAID = 5
_CLOSE = 5
"""So many words from the verb the object may stand."""
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])")


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
    return load_catalog(app_id) if app_id in catalog_names() else ()


def documented(capability: Capability, library: Library) -> Capability:
    """The capability with the sentences of documents that say its doing close to its object."""
    thing = gist(capability.object)
    verb = known_verb(capability.verb.split()[0]) or capability.verb
    app_id, language = capability.app_id, capability.language
    passages = library.search(f"{capability.verb} {thing}", _LOOKED_AT, app_id=app_id, language=language)
    said = [
        (len(sentence), passage.source, quote_sha256(sentence), passage.licence)
        for passage in passages
        for sentence in _sentences(passage)
        if says(sentence, verb, thing)
    ]
    # The shorter a sentence, the more it is about the matter.
    found = [Evidence(source=one[1], quote_sha256=one[2], licence=one[3]) for one in sorted(said)[:_MOST_SAID]]
    return with_evidence(capability, found) if found else capability


def says(text: str, verb: str, thing: str) -> bool:
    """Whether a text speaks of doing this to the thing: a form of the verb, and all the thing's words close to it."""
    wanted = object_words(thing)
    for begins, ends in doing_in(text, verb):
        around = tokens(f"{' '.join(text[:begins].split()[-_CLOSE:])} {' '.join(text[ends:].split()[:_CLOSE])}")
        if wanted and wanted <= frozenset(around):
            return True
    return False


def asked_for(catalog: Iterable[Capability], texts: Iterable[str]) -> Counter[str]:
    """How many of the texts name the doing and the object of each capability."""
    cut = [(text, frozenset(tokens(text))) for text in texts]
    holding: defaultdict[str, list[int]] = defaultdict(list)
    for at, (_, words) in enumerate(cut):
        for word in words:
            holding[word].append(at)
    counts: Counter[str] = Counter()
    for capability in catalog:
        verb = known_verb(capability.verb.split()[0]) or capability.verb
        wanted = object_words(capability.object)
        rarest = min((holding.get(word, []) for word in sorted(wanted)), key=len, default=[])
        asked = sum(wanted <= cut[at][1] and says(cut[at][0], verb, capability.object) for at in rarest)
        if asked:
            counts[capability.capability_id] += asked
    return counts


def past(place: Tasks) -> Iterator[str]:
    """The texts of a file of past tasks, only to be counted; raises ConfigError."""
    try:
        path = Path(place.path)
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for line in lines_of(decoded(data, place.path), place.path):
            row: Any = json_of(line.text, line.place) if place.field else {}
            if all(_names(row[name], values) for name, values in place.where.items()):
                yield str(row[place.field] if place.field else line.text)
    except (OSError, EOFError, zlib.error, KeyError, TypeError) as error:
        raise ConfigError(f"{place.path}: not readable as past tasks: {error}") from error


def _names(found: object, values: Sequence[str]) -> bool:
    """Whether a field, a value or a list of some, has one of the values."""
    return any(one in values for one in (found if isinstance(found, list) else [found]))


def _sentences(passage: Passage) -> Iterator[str]:
    yield passage.heading
    for line in passage.text.splitlines():
        yield from (part for part in _SENTENCE_ENDS.split(line.removeprefix("- ")) if part.strip())
