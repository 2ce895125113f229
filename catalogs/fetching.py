"""Pages at stated addresses, asked for politely and kept, so that the next time only changes travel.

    <home>/documents/<hash of the address>.json    text, when it was had, and the server's validators

The visitor's rules hold: own name, robots.txt, pauses, no address that is not listed. Knows nothing of pages' contents.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import AwareDatetime, ValidationError

from catalogs.visitor import Declined, Visit, Visitor
from pipeline.actions import Model
from pipeline.addresses import parts_of
from pipeline.app_install import home
from pipeline.records import digest, now


class Fetched(Model):
    """A kept page."""

    url: str
    text: str
    etag: str | None = None
    modified: str | None = None
    fetched_at: AwareDatetime

    @property
    def conditions(self) -> dict[str, str]:
        """Request headers that ask for the page only if it has changed since."""
        both = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {name: value for name, value in both.items() if value}


async def fetch_all(urls: Sequence[str], pause_seconds: float = 1.0) -> list[tuple[str, Fetched | Declined]]:
    """The pages at these addresses, each from the web or, when it has not changed or gives no answer, as kept."""
    hosts = list(dict.fromkeys(parts_of(url).netloc.casefold() for url in urls))
    async with Visitor(hosts, pause_seconds) as visitor:
        return [(url, await _fetch(visitor, url)) for url in urls]


async def _fetch(visitor: Visitor, url: str) -> Fetched | Declined:
    kept = _kept(url)
    found = await visitor.page(url, kept.conditions if kept else None)
    match found:
        case Declined(outcome="unreachable") if kept:
            return kept
        case Declined():
            return found
        case Visit(status=304) if kept:
            return kept
        case Visit(status=200):
            fetched = Fetched(url=url, text=found.text, etag=found.etag, modified=found.modified, fetched_at=now())
            _place(url).parent.mkdir(parents=True, exist_ok=True)
            _place(url).write_text(fetched.model_dump_json(), encoding="utf-8")
            return fetched
        case _:
            return Declined("unreachable", f"status {found.status}")


def _kept(url: str) -> Fetched | None:
    try:
        kept = Fetched.model_validate_json(_place(url).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None
    return kept if kept.url == url else None


def _place(url: str) -> Path:
    return home() / "documents" / f"{digest('page', url)}.json"
