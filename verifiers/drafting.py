"""What a model says about a task before any trajectory is seen: its keypoints, and how such tasks usually go.

Both are asked for once per task and remembered. General knowledge is fallible and is shown to judges as such.
(Self-grounding: priors elicited from goal and first screen before verification, SGV, arXiv 2507.11662.)
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from pydantic import BaseModel, Field

from pipeline.llm import Client, Picture
from pipeline.protocols import JudgeView
from pipeline.records import Frame
from verifiers.asking import Asked, NoAnswer, in_words, language_of, shown, structured
from verifiers.keypoints import keypoints_of
from verifiers.quoting import quoted

KEYPOINTS, PRIOR = "keypoints", "prior"
"""Names of the prompts, and stages of the calls."""
_MOST = 10
_REMEMBERED = 512

Texts = tuple[str, ...]


class KeypointDraft(BaseModel):
    """One keypoint; where it comes from stands before it."""

    from_words: str
    text: str = Field(min_length=1)


class KeypointDrafts(BaseModel):
    """All keypoints of a task, in order."""

    keypoints: list[KeypointDraft] = Field(min_length=1)


class Remembered:
    """Makes a thing once per key, also when several ask together; the oldest are forgotten, failures at once."""

    def __init__(self) -> None:
        self._made: OrderedDict[str, asyncio.Future[Texts]] = OrderedDict()

    async def get(self, key: str, make: Callable[[], Awaitable[Texts]]) -> Texts:
        """The thing of this key. Who makes it may be cancelled; whoever waits for it then makes it anew."""
        while (making := self._made.get(key)) is not None:
            try:
                return await asyncio.shield(making)
            except asyncio.CancelledError:
                if not making.cancelled():
                    raise
        return await self._make(key, make)

    async def _make(self, key: str, make: Callable[[], Awaitable[Texts]]) -> Texts:
        making = self._made[key] = asyncio.ensure_future(make())
        while len(self._made) > _REMEMBERED:
            self._made.popitem(last=False)
        try:
            return await making
        finally:
            if making.cancelled() or making.exception() is not None:
                self._made.pop(key, None)


async def draft_keypoints(client: Client, view: JudgeView, asked: Asked) -> Texts:
    """The task's keypoints by a model; the ones read off the instruction where its answer cannot be used."""
    language = language_of(view.language)
    found = await structured(client, KEYPOINTS, KEYPOINTS, language, [quoted(view.instruction)], KeypointDrafts, asked)
    if isinstance(found, NoAnswer):
        return tuple(sought.text for sought in keypoints_of(view))
    texts = dict.fromkeys(draft.text.strip() for draft in found[0].keypoints[:_MOST])
    return tuple(text for text in texts if text)


async def draft_prior(client: Client, view: JudgeView, first: Frame, asked: Asked) -> Texts:
    """How such tasks usually go, from the goal and the first screen; nothing where the answer cannot be used."""
    parts: list[str | Picture] = [quoted(view.instruction), shown(first)]
    text = await in_words(client, PRIOR, PRIOR, language_of(view.language), parts, asked)
    return (text,) if text.strip() else ()
