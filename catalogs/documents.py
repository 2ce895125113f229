"""Documents of an application, read from where its sources say: text in blocks, with licence, language and hash.

Folders are read from the disk; addresses are asked for politely and kept with their validators. What speaks to a model
is taken out and reported before anybody sees a document. Knows nothing of what capabilities are.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple

from catalogs.fetching import Fetched, fetch_all
from catalogs.markup import Block, Format, read_page
from catalogs.poison import Finding, cleaned
from catalogs.sources import Absent, Address, Folder, Source, folder_of

_MOST_BYTES = 3_000_000
_LANGUAGES = frozenset({"en", "en-US", "en_US", "en-GB", "zh", "zh-CN", "zh_CN", "zh-Hans", "zh_Hans", "LC_MESSAGES"})

Tell = Callable[[str], None]


class Document(NamedTuple):
    """One page. `name` is its path in its place, without an ending that says how it is written."""

    source: str
    app_id: str
    name: str
    title: str
    language: str
    licence: str
    sha256: str
    blocks: tuple[Block, ...]
    prose: bool = False

    @property
    def address(self) -> str:
        """How evidence names the document: the source, the language and the name."""
        return f"{self.source}/{self.language}/{self.name}"


class Reading(NamedTuple):
    """What was read, what was found in it that was taken out, and what is not on this machine."""

    documents: tuple[Document, ...]
    findings: tuple[Finding, ...]
    absent: tuple[Absent, ...]


class _Raw(NamedTuple):
    """A page before it is read."""

    name: str
    data: bytes
    form: Format
    leave_out: Sequence[str]
    language: str
    licence: str


def read_sources(
    sources: Iterable[Source],
    language: str | None = None,
    *,
    most: int | None = None,
    pause_seconds: float = 1.0,
    tell: Tell | None = None,
) -> Reading:
    """The documents of the sources, in a language or in all, at most so many of each place.

    A place that is not there is reported, not failed on.
    """
    documents: list[Document] = []
    findings: list[Finding] = []
    absent: list[Absent] = []
    for source in sources:
        for place in source.places:
            if place.kind == "tasks" or language not in (None, place.language):
                continue
            raws = (
                _files(source, place, absent)
                if isinstance(place, Folder)
                else _pages(source, place, absent, pause_seconds)
            )
            begun = len(documents)
            for raw in islice(raws, most):
                document, found = _document(source, raw)
                documents.append(document)
                findings.extend(found)
            if tell is not None:
                tell(f"{source.name} {place.language}: {len(documents) - begun} documents")
    return Reading(tuple(documents), tuple(findings), tuple(absent))


def _document(source: Source, raw: _Raw) -> tuple[Document, tuple[Finding, ...]]:
    page = read_page(raw.data.decode("utf-8", errors="replace"), raw.form, raw.language, raw.leave_out)
    blocks, findings = cleaned(page.blocks, f"{source.name}/{raw.language}/{raw.name}")
    title = next((block.text for block in blocks if block.kind == "heading"), "") or page.title or raw.name
    digest = hashlib.sha256(raw.data).hexdigest()
    document = Document(
        source.name, source.app_id, raw.name, title, raw.language, raw.licence, digest, blocks, source.prose
    )
    return document, findings


def _files(source: Source, place: Folder, absent: list[Absent]) -> Iterator[_Raw]:
    folder = folder_of(place)
    if folder is None:
        absent.append(Absent(source.name, place.language, place.install))
        return
    for path in sorted(folder.glob(place.pattern)):
        name = path.relative_to(folder).as_posix()
        bare = _named(name)
        skipped = any(fnmatchcase(name, pattern) or fnmatchcase(bare, pattern) for pattern in place.skip)
        # A link that leads out of the folder is none of its documents.
        if skipped or not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
            continue
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES)
        yield _Raw(bare, data, place.format, place.leave_out, place.language, place.licence or source.licence)


def _named(path: str) -> str:
    """A file's path without its ending and without names of languages, so that translations are called the same."""
    parts = PurePosixPath(path).with_suffix("").parts
    return "/".join(part for part in parts if part not in _LANGUAGES) or "messages"


def _pages(source: Source, place: Address, absent: list[Absent], pause_seconds: float) -> Iterator[_Raw]:
    for url, fetched in asyncio.run(fetch_all(place.urls, pause_seconds)):
        if isinstance(fetched, Fetched):
            licence = place.licence or source.licence
            yield _Raw(url, fetched.text.encode("utf-8"), place.format, place.leave_out, place.language, licence)
        else:
            absent.append(Absent(source.name, place.language, f"{url}: {fetched.outcome}: {fetched.detail}"))
