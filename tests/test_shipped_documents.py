"""Catalogs from documents that really exist: LibreOffice's help in two languages, and what applications ship.

Skipped where the documents are not on this machine.
"""

from __future__ import annotations

import asyncio

import pytest

from catalogs.documents import read_sources
from catalogs.poison import quote_sha256
from catalogs.research import Built, build
from catalogs.sources import Folder, find_sources

pytestmark = pytest.mark.slow


def built(name: str, pattern: str | None = None) -> Built:
    """The catalog of a shipped source, of all its documents or those that fit the pattern; skips when there is none."""
    (source,) = find_sources(name)
    if pattern is not None:
        places = [place.model_copy(update={"pattern": pattern}) for place in source.places]
        source = source.model_copy(update={"places": places})
    reading = read_sources([source])
    if reading.absent:
        pytest.skip(f"no documents here: {', '.join(sorted({place.why for place in reading.absent}))}")
    return asyncio.run(build([source], reading))


def ids(made: Built, language: str) -> set[str]:
    return {one.capability_id for one in made.capabilities if one.language == language and one.evidence}


@pytest.fixture(scope="module")
def writer() -> Built:
    return built("libreoffice", "swriter/guide/*.html")


def test_the_help_of_an_office_gives_capabilities_in_both_languages(writer: Built) -> None:
    english, chinese = ids(writer, "en"), ids(writer, "zh")

    assert len(english) >= 200
    assert len(chinese) >= 150
    assert len(english & chinese) >= 100
    assert {"libreoffice.writer.insert_table", "libreoffice.writer.delete_table"} <= english & chinese
    assert writer.findings == ()


def test_menus_of_the_help_become_procedures(writer: Built) -> None:
    found = [one for one in writer.capabilities if one.procedure and one.procedure[0].role == "menuitem"]

    assert len(found) >= 150


def test_evidence_is_in_the_documents(writer: Built) -> None:
    (source,) = find_sources("libreoffice")
    folder = next(place for place in source.places if isinstance(place, Folder))
    pages = folder.model_copy(update={"pattern": "swriter/guide/table_insert.html"})
    (document,) = read_sources([source.model_copy(update={"places": [pages]})]).documents
    hashes = {quote_sha256(block.text) for block in document.blocks}

    proofs = [proof for one in writer.capabilities for proof in one.evidence if proof.source == document.address]

    assert proofs
    assert {proof.quote_sha256 for proof in proofs} <= hashes
    assert {proof.licence for proof in proofs} == {"MPL-2.0"}


@pytest.mark.parametrize(("name", "least"), [("trac", 60), ("fava", 20), ("ihatemoney", 25), ("wagtail", 100)])
def test_documents_of_installed_applications_give_capabilities(name: str, least: int) -> None:
    assert len(ids(built(name), "en")) >= least
