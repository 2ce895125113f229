"""What a dialect is: how a model spells actions, turned into canonical actions and back.

Nothing here knows how a reply was obtained or how an action is carried out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pipeline.actions import Action, Pixel
from pipeline.errors import ActionError
from pipeline.words import Platform

EDGE = "edge"
"""Flag of a move: a number equal to the divisor was taken for the last pixel."""
AT_CENTRE = "at_centre"
"""Flag of a move: the grammar lets the point out here, and the picture's centre was taken."""
INFEASIBLE = "infeasible:"
"""How the content of a `Finished` begins that says that the task cannot be done."""


class Said(NamedTuple):
    """What a model answered."""

    content: str | None
    reasoning: str = ""
    """A separate reasoning field; never a source of actions."""
    finish: str = "stop"
    refusal: str | None = None


class Picture(NamedTuple):
    """The size of a picture in pixels."""

    width: int
    height: int


class Move(NamedTuple):
    """One action read from a reply, with the pixels of the stored picture that the model's own numbers stand for."""

    action: Action
    points: tuple[Pixel, ...] = ()
    flags: tuple[str, ...] = ()


class Reading(NamedTuple):
    """What a reply says: the thought, and one move, or several where the grammar has lists of actions."""

    thought: str
    moves: tuple[Move, ...]
    infeasible: bool = False
    """The dialect's own way to say that the task cannot be done."""


class Dialect(Protocol):
    """One grammar of one family of models."""

    @property
    def name(self) -> str:
        """The name that configurations and rows use."""
        ...

    @property
    def coordinate_space(self) -> str:
        """The name of the space its numbers live in."""
        ...

    @property
    def divisor(self) -> int | None:
        """What its numbers are divided by; null for pixels."""
        ...

    @property
    def platforms(self) -> tuple[Platform, ...]:
        """Where its actions make sense."""
        ...

    def sent_size(self, picture: Picture) -> Picture:
        """The size a stored picture has to have when it is sent to the model."""
        ...

    def picture_tokens(self, picture: Picture) -> int:
        """How many tokens of its context the model spends on a picture sent in this size, by its family's rule."""
        ...

    def read(self, said: Said, picture: Picture) -> Reading:
        """The moves of a reply to a stored picture; raises ActionError, and nothing else, for what is not one."""
        ...

    def render(self, moves: Sequence[Move], thought: str, picture: Picture) -> str:
        """The moves as the model would write them; raises ActionError for what the dialect cannot say."""
        ...

    def action_space(self, platform: Platform, language: str) -> str:
        """The grammar for a system prompt, one action a line, in `en` or `zh`; raises ConfigError."""
        ...


def usable_text(said: Said) -> str:
    """The content of a whole, unrefused answer; raises ActionError `refused`, `truncated` or `empty_content`.

    The finish reason comes first: a cut reply is no action even where it looks like one.
    """
    if said.refusal or said.finish == "content_filter":
        raise ActionError("refused", (said.refusal or "the answer was withheld by a content filter")[:200])
    if said.finish == "length":
        raise ActionError("truncated", "the answer was cut at the length limit")
    if said.content is None or not said.content.strip():
        raise ActionError("empty_content", "the answer is empty")
    return said.content
