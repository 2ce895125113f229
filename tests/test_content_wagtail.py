"""Wagtail's capabilities against its seeded database: example values exist, and what is to be made does not."""

from __future__ import annotations

import pytest

from tests.seeded import ask, examples

DATABASE = "db.sqlite3"
PAGES = "SELECT title FROM wagtailcore_page"
PUBLISHED = "SELECT title FROM wagtailcore_page WHERE live"
EXHIBITIONS = "SELECT title FROM wagtailcore_page JOIN museum_exhibitionpage ON page_ptr_id = id WHERE live"
NEWS = "SELECT title FROM wagtailcore_page JOIN museum_newspage ON page_ptr_id = id WHERE live"
COLLECTIONS = "SELECT name FROM wagtailcore_collection"

pytestmark = pytest.mark.slow


def known(query: str) -> set[object]:
    return {row[0] for row in ask("wagtail", DATABASE, query)}


@pytest.mark.parametrize(
    ("capability_id", "slot", "query"),
    [
        ("pages.set_room", "page", EXHIBITIONS),
        ("pages.set_topic", "page", NEWS),
        ("pages.set_summary", "page", f"{EXHIBITIONS} UNION {NEWS}"),
        ("pages.publish", "page", "SELECT title FROM wagtailcore_page WHERE NOT live"),
        ("pages.unpublish", "page", PUBLISHED),
        ("pages.delete", "page", "SELECT title FROM wagtailcore_page WHERE numchild = 0"),
        ("pages.lock", "page", "SELECT title FROM wagtailcore_page WHERE NOT locked"),
        ("pages.show_in_menus", "page", "SELECT title FROM wagtailcore_page WHERE live AND NOT show_in_menus"),
        ("notices.set_level", "notice", "SELECT text FROM museum_notice"),
        ("people.set_job", "person", "SELECT name FROM museum_person"),
        ("images.rename", "image", "SELECT title FROM wagtailimages_image"),
        ("images.set_collection", "collection", COLLECTIONS),
        ("documents.delete", "document", "SELECT title FROM wagtaildocs_document"),
        ("collections.rename", "collection", COLLECTIONS),
        ("redirects.delete", "old", "SELECT old_path FROM wagtailredirects_redirect"),
        ("users.set_email", "user", "SELECT username FROM auth_user"),
    ],
)
def test_example_values_exist(capability_id: str, slot: str, query: str) -> None:
    values = examples("wagtail", capability_id, slot)

    assert values and set(values) <= known(query)


@pytest.mark.parametrize(
    ("capability_id", "slot", "query"),
    [
        ("pages.draft_exhibition", "title", PAGES),
        ("pages.publish_news", "title", PAGES),
        ("pages.copy", "slug", "SELECT slug FROM wagtailcore_page"),
        ("notices.add", "text", "SELECT text FROM museum_notice"),
        ("people.add", "name", "SELECT name FROM museum_person"),
        ("collections.add", "name", COLLECTIONS),
        ("redirects.add", "old", "SELECT old_path FROM wagtailredirects_redirect"),
    ],
)
def test_what_is_to_be_made_does_not_exist_yet(capability_id: str, slot: str, query: str) -> None:
    assert not known(query) & set(examples("wagtail", capability_id, slot))


def test_every_published_page_shows_its_latest_revision() -> None:
    newer = "SELECT title FROM wagtailcore_page WHERE live AND latest_revision_id <> live_revision_id"

    assert known(newer) == set()


def test_the_visitor_may_do_everything_and_nobody_has_a_password() -> None:
    assert ask("wagtail", DATABASE, "SELECT is_superuser FROM auth_user WHERE username = 'nora'") == [(1,)]
    assert known("SELECT password FROM auth_user") == {"!"}
