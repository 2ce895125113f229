"""Web addresses as pages, documents, models and people write them: their parts, or none.

A page may name any nonsense (`http://[`). What cannot be read is an address without parts, never an error, and so leads
nowhere. The only place that reads addresses; knows nothing of where one may go.
"""

from __future__ import annotations

from urllib.parse import SplitResult, urljoin, urlsplit

_NONE = SplitResult("", "", "", "", "")


def parts_of(address: str) -> SplitResult:
    """The parts of an address; all are empty when it cannot be read, its port included."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return _NONE
    return parts


def joined(base: str, address: str) -> str:
    """An address as seen from a page; itself when it cannot be read."""
    try:
        return urljoin(base, address)
    except ValueError:
        return address
