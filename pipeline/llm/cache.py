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
        """The reply to the request of this name, as a call that consumed nothing; null if none is kept whole."""
        try:
            entry = _Entry.model_validate_json(self._path(name).read_bytes())
            if entry.sha256 != _hash(name, entry.reply):
                return None
            reply = Reply.model_validate_json(entry.reply)
        except (FileNotFoundError, ValidationError):
            return None
        return reply.model_copy(update={"call_id": call_id, "cached": True, "usage": Usage()})

    def write(self, name: str, reply: Reply) -> None:
        """Keep an answer."""
        if reply.outcome != "answered":
            return
        path, text = self._path(name), reply.model_dump_json()
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f"{path.stem}.{uuid.uuid4().hex}.new")
        try:
            aside.write_text(_Entry(sha256=_hash(name, text), reply=text).model_dump_json(), encoding="utf-8")
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / f"{name}.json"


def _hash(name: str, text: str) -> str:
    """Over the request's name too: an entry under another name is not its reply."""
    return hashlib.sha256(f"{name}\n{text}".encode()).hexdigest()
