"""A polite visitor of web sites: few pages, under its own name, where robots.txt allows it, never in a hurry.

Every request goes through an egress proxy that lets through the site itself and its subdomains, so that no redirect
leads to a machine inside. Knows nothing of what a page is worth.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import NamedTuple
from urllib.robotparser import RobotFileParser

import httpx

from catalogs.scoring import Outcome
from pipeline.addresses import joined, parts_of
from pipeline.allowlist import AllowList
from pipeline.egress import REFUSED_HEADER, UNREACHED_HEADER, Proxy

AGENT = "pathproof"
"""The name by which robots.txt may address us."""

_IDENTITY = f"{AGENT}/0.1 (few pages of a site; robots.txt is followed)"
_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 30.0
_REQUEST_SECONDS = 20.0
_MOST_HOPS = 5
_MOST_BYTES = 3_000_000


class Visit(NamedTuple):
    """An answered request; `text` is cut at three million bytes."""

    url: str
    status: int
    location: str | None
    text: str
    etag: str | None = None
    modified: str | None = None


class Declined(NamedTuple):
    """Why there is no page, and what is known about it."""

    outcome: Outcome
    detail: str


class Visitor:
    """Fetches front pages; an asynchronous context manager. `pause_seconds` lie between two requests to one host."""

    def __init__(self, domains: list[str], pause_seconds: float = _PAUSE_SECONDS) -> None:
        self.allow_list = AllowList(entry for domain in domains for entry in _entries(domain))
        self._pause = pause_seconds
        self._proxy = Proxy(self.allow_list)
        self._client = httpx.AsyncClient()
        self._robots: dict[str, RobotFileParser | None] = {}
        self._last: dict[str, float] = {}

    async def __aenter__(self) -> Visitor:
        """Start the proxy; raises SetupError."""
        await self._proxy.start()
        await self._client.aclose()
        self._client = httpx.AsyncClient(
            proxy=f"http://127.0.0.1:{self._proxy.port}",
            headers={"User-Agent": _IDENTITY, "Accept-Language": "en,zh;q=0.8"},
            timeout=_REQUEST_SECONDS,
            trust_env=False,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections and the proxy."""
        await self._client.aclose()
        await self._proxy.close()

    async def front_page(self, domain: str) -> Visit | Declined:
        """The page a visitor of the domain sees first; https is tried before http."""
        found: Visit | Declined = Declined("unreachable", "")
        for scheme in ("https", "http"):
            found = await self._walk(domain, f"{scheme}://{domain}/")
            if not isinstance(found, Declined) or found.outcome != "unreachable":
                return found
        return found

    async def page(self, url: str, known: dict[str, str] | None = None) -> Visit | Declined:
        """The page at an address of a listed site; with `known` conditions the answer may be 304, not changed."""
        return await self._walk(parts_of(url).netloc.casefold(), url, known)

    async def _walk(self, domain: str, url: str, known: dict[str, str] | None = None) -> Visit | Declined:
        for _ in range(_MOST_HOPS):
            if not self.allow_list.permits_url(url) or not _within(domain, url):
                return Declined("moved", f"leads to {parts_of(url).netloc}")
            rules = await self._rules(url)
            if rules is None:
                return Declined("unreachable", f"{parts_of(url).netloc} gives no answer")
            if not rules.can_fetch(AGENT, url):
                return Declined("robots", f"{parts_of(url).netloc} asks not to be read")
            visit = await self._get(url, int(rules.crawl_delay(AGENT) or 0), known)
            if visit is None:
                return Declined("unreachable", f"{parts_of(url).netloc} gives no answer")
            if visit.location is None:
                return visit
            url = visit.location
        return Declined("unreachable", f"more than {_MOST_HOPS} redirects")

    async def _rules(self, url: str) -> RobotFileParser | None:
        """What a host's robots.txt says, read once; None when the host does not answer."""
        origin = joined(url, "/")
        if origin not in self._robots:
            self._robots[origin] = await self._read_rules(origin)
        return self._robots[origin]

    async def _read_rules(self, origin: str) -> RobotFileParser | None:
        url: str | None = joined(origin, "/robots.txt")
        visit: Visit | None = None
        for _ in range(_MOST_HOPS):
            # A file that leads elsewhere is no file of this host; RFC 9309 then lets us read.
            if url is None or not self.allow_list.permits_url(url):
                break
            visit = await self._get(url, 0.0)
            if visit is None:
                return None
            url = visit.location
        rules = RobotFileParser()
        if visit is not None and visit.status >= 500:
            rules.parse(["User-agent: *", "Disallow: /"])
        else:
            rules.parse(_readable(visit.text) if visit is not None and visit.status == 200 else [])
        return rules

    async def _get(self, url: str, delay: float, known: dict[str, str] | None = None) -> Visit | None:
        """One request in its turn; None when there is no answer in time."""
        await self._turn(parts_of(url).netloc, min(max(self._pause, delay), _LONGEST_PAUSE_SECONDS))
        try:
            async with asyncio.timeout(_REQUEST_SECONDS), self._client.stream("GET", url, headers=known) as answer:
                if UNREACHED_HEADER in answer.headers or REFUSED_HEADER in answer.headers:
                    return None
                text = await _text(answer)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError):
            return None
        target = answer.headers.get("location") if answer.is_redirect else None
        etag, modified = answer.headers.get("etag"), answer.headers.get("last-modified")
        return Visit(url, answer.status_code, joined(url, target) if target else None, text, etag, modified)

    async def _turn(self, host: str, pause: float) -> None:
        clock = asyncio.get_running_loop().time
        begins = max(clock(), self._last.get(host, float("-inf")) + pause)
        self._last[host] = begins
        await asyncio.sleep(begins - clock())


def _entries(domain: str) -> list[str]:
    """What is let through for a site; one with a port is a single machine."""
    return [domain] if ":" in domain else [domain, f"*.{domain}"]


def _within(domain: str, url: str) -> bool:
    netloc = parts_of(url).netloc.lower()
    inside = netloc == domain or netloc.rpartition(":")[0] == domain or netloc.endswith(f".{domain}")
    return inside and "@" not in netloc


def _readable(robots: str) -> list[str]:
    """The lines of a file of rules without those that cannot be read, for which the parser has no answer."""
    return [line for line in robots.splitlines() if _is_rule(line)]


def _is_rule(line: str) -> bool:
    try:
        RobotFileParser().parse(["User-agent: *", line])
    except ValueError:
        return False
    return True


async def _text(answer: httpx.Response) -> str:
    data = bytearray()
    async for chunk in answer.aiter_bytes():
        data += chunk
        if len(data) >= _MOST_BYTES:
            break
    encoding = answer.charset_encoding or "utf-8"
    try:
        return data[:_MOST_BYTES].decode(encoding, errors="replace")
    except LookupError:
        return data[:_MOST_BYTES].decode("utf-8", errors="replace")
