"""Proofs that a file of lines is as it was published: a closing line of its own, and what others say of it.

The closing line counts and hashes the lines before it, and names what the file was published after; so a file that was
emptied, shortened, reordered, copied or changed shows it by itself, and all but the last one are named by the next.
Knows nothing of what the lines say.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, NamedTuple

from pipeline.actions import Model


class Closing(Model):
    """The last line of a file: where it belongs, how many lines stand before, and what it was published after."""

    kind: Literal["closing"] = "closing"
    path: str
    lines: int
    after: str
    """Hash of the file before it."""
    sha256: str
    """Hash over all of that and the lines."""


class Content(Model):
    """What a file held: its lines without the closing one, and the hash of all its bytes."""

    lines: int
    sha256: str


class Expected(NamedTuple):
    """What is known of a file before it is read: whether it ends with a closing line, and how it was sealed."""

    closes: bool
    sealed: Content | None


class AlteredError(ValueError):
    """A file is not as it was published."""


def closed(path: str, lines: Sequence[str], after: str) -> bytes:
    """The bytes of the file that holds these lines, published after what has this hash."""
    body = "".join(f"{line}\n" for line in lines).encode()
    closing = Closing(path=path, lines=len(lines), after=after, sha256=_proof(path, len(lines), after, body))
    return body + f"{closing.model_dump_json()}\n".encode()


def hash_of(data: bytes) -> str:
    """How a file is named by others."""
    return hashlib.sha256(data).hexdigest()


def proved(path: str, data: bytes, closings: Sequence[Closing | None], expected: Expected) -> Content:
    """What the file at this path holds, with the closing that each of its lines is; raises AlteredError."""
    closing = closings[-1] if closings else None
    content = Content(lines=sum(one is None for one in closings), sha256=hash_of(data))
    if expected.sealed and expected.sealed.lines != content.lines:
        raise AlteredError(f"{content.lines} lines, sealed with {expected.sealed.lines}")
    if expected.sealed and expected.sealed != content:
        raise AlteredError("the bytes are not the ones that were sealed")
    if closing is None and (expected.closes or content.lines < len(closings)):
        raise AlteredError(f"{content.lines} lines, and no closing one at the end")
    if closing is not None:
        _refuse_other(path, data, closing, content.lines)
    return content


def _refuse_other(path: str, data: bytes, closing: Closing, lines: int) -> None:
    """Raise for what the closing line does not describe."""
    if closing.path != path:
        raise AlteredError(f"holds what was published as {closing.path}")
    if closing.lines != lines:
        raise AlteredError(f"{lines} lines, closed with {closing.lines}")
    body = b"".join(data.splitlines(keepends=True)[:-1])
    if closing.sha256 != _proof(path, lines, closing.after, body) or not data.endswith(b"\n"):
        raise AlteredError("the bytes are not the ones that were published")


def _proof(path: str, lines: int, after: str, body: bytes) -> str:
    return hash_of(f"{path} {lines} {after}\n".encode() + body)
