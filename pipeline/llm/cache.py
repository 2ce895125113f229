"""Replies kept in a folder by the hash of their request, so that judging again and tests repeat.

A reply is written aside and moved into place, and counts only when its own hash still fits. Only answers are kept:
whoever asks again after a refusal or a cut wants another one. This module knows nothing of requests.
"""

from __future__ import annotations

import hashlib
import uuid
from pathlib import Path

from pydantic import ValidationError

from pipeline.actions import Model
from pipeline.errors import SinkError, boundary
from pipeline.llm.reply import Reply
from pipeline.structs import Usage


class _Entry(Model):
    sha256: str
    reply: str


class ReplyCache:
    """The replies in one folder; several processes may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str, call_id: str) -> Reply | None:
        """The reply to the request of this name, as a call that consumed nothing; null if none is kept whole.

        Raises SinkError.
        """
        path = self._path(name)
        with boundary(SinkError, "reply_cache"):
            reply = _whole(name, path.read_bytes()) if path.is_file() else None
        if reply is None:
            return None
        return reply.model_copy(update={"call_id": call_id, "cached": True, "usage": Usage()})

    def write(self, name: str, reply: Reply) -> None:
        """Keep an answer; raises SinkError."""
        if reply.outcome != "answered":
            return
        path, text = self._path(name), reply.model_dump_json()
        aside = path.with_name(f"{path.stem}.{uuid.uuid4().hex}.new")
        with boundary(SinkError, "reply_cache"):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                aside.write_text(_Entry(sha256=_hash(name, text), reply=text).model_dump_json(), encoding="utf-8")
                aside.replace(path)
            finally:
                aside.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / f"{name}.json"


def _whole(name: str, data: bytes) -> Reply | None:
    try:
        entry = _Entry.model_validate_json(data)
        return Reply.model_validate_json(entry.reply) if entry.sha256 == _hash(name, entry.reply) else None
    except ValidationError:
        return None


def _hash(name: str, text: str) -> str:
    """Over the request's name too: an entry under another name is not its reply."""
    return hashlib.sha256(f"{name}\n{text}".encode()).hexdigest()
