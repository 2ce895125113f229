"""A whole request: the bytes that are sent, and the hash that names it.

The hash covers model, messages, pictures (by hash and size) and parameters, not the address: the same model served
elsewhere answers the same request.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import NamedTuple

from pydantic import BaseModel

from pipeline.llm.endpoint import Endpoint
from pipeline.llm.prompt import Message, Picture, PictureEncoder, Prompt
from pipeline.llm.structured import request_in_words, response_format


class Sampling(NamedTuple):
    """How the reply is drawn; what is null is left to the server."""

    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None


class Request(NamedTuple):
    """A prompt with all that decides about its reply."""

    endpoint: Endpoint
    prompt: Prompt
    sampling: Sampling
    schema: type[BaseModel] | None
    schema_enforced: bool

    def name(self) -> str:
        """The hash of the request."""
        return hashlib.sha256(self._json(_shown_by_hash)).hexdigest()

    def content(self, encoder: PictureEncoder) -> bytes:
        """The request as it is sent."""
        return self._json(lambda picture: {"type": "image_url", "image_url": {"url": encoder.data_url(picture)}})

    def _json(self, shown: Callable[[Picture], object]) -> bytes:
        body: dict[str, object] = {
            "model": self.endpoint.model,
            "messages": [_message(message, shown) for message in self._messages()],
            **self.sampling._asdict(),
        }
        if self.schema is not None and self.schema_enforced:
            body["response_format"] = response_format(self.schema)
        body |= self.endpoint.extra
        sent = {name: value for name, value in body.items() if value is not None}
        # Text of pages may hold halves of surrogate pairs, which no encoding has.
        return json.dumps(sent, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    def _messages(self) -> list[Message]:
        messages = list(self.prompt)
        if self.schema is not None and not self.schema_enforced:
            messages[-1] = messages[-1]._replace(parts=(*messages[-1].parts, request_in_words(self.schema)))
        return messages


def _message(message: Message, shown: Callable[[Picture], object]) -> dict[str, object]:
    """Text alone goes as a plain string, which every server takes for every role."""
    texts = [part for part in message.parts if isinstance(part, str)]
    if len(texts) == len(message.parts):
        return {"role": message.role, "content": "\n\n".join(texts)}
    parts = [{"type": "text", "text": part} if isinstance(part, str) else shown(part) for part in message.parts]
    return {"role": message.role, "content": parts}


def _shown_by_hash(picture: Picture) -> object:
    return {"sha256": picture.sha256, "width": picture.width, "height": picture.height}
