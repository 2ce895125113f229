"""The arguments of a verb: which names they go by, and how their values become the fields of an action and back.

A kind reads what a model wrote and writes what it would write. Points are left to the dialect, which knows the space.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from pipeline.dialects.keys import MOST_KEYS, key_names, lower_names, split_keys
from pipeline.dialects.spaces import shown
from pipeline.errors import ActionError

WAYS = ("up", "down", "left", "right")


class Kind(Protocol):
    """How the value of an argument is read and written."""

    @property
    def example(self) -> object:
        """A value for the prompt; a text between `‹›` stands for itself without quotes."""
        ...

    def read(self, value: object) -> object:
        """The field's value; raises ActionError `bad_arguments`."""
        ...

    def write(self, value: object) -> object:
        """What the model would write; raises ActionError when it could not."""
        ...


class Text(NamedTuple):
    """A text, taken as it is."""

    example: object = ""

    def read(self, value: object) -> object:
        """The text itself: a number is refused, for its spelling is lost."""
        if not isinstance(value, str):
            raise ActionError("bad_arguments", f"a text is expected, not {shown(value)}")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ActionError("bad_arguments", "a text with half a character cannot be typed or stored") from error
        return value

    def write(self, value: object) -> object:
        """The text itself."""
        return value


class Refusal(NamedTuple):
    """The text of a refusal, without the word that marks it."""

    mark: str
    example: object = ""

    def read(self, value: object) -> object:
        """The text with the mark before it."""
        return f"{self.mark} {Text().read(value)}".strip()

    def write(self, value: object) -> object:
        """The text after the mark; raises ActionError for a text without."""
        if not isinstance(value, str) or not value.startswith(self.mark):
            raise ActionError("unknown_action", "this word is for tasks that cannot be done")
        return value.removeprefix(self.mark).strip()


class Whole(NamedTuple):
    """A whole number from 0."""

    example: object = 0

    def read(self, value: object) -> object:
        """The number."""
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**9:
            raise ActionError("bad_arguments", f"a whole number from 0 is expected, not {shown(value)}")
        return value

    def write(self, value: object) -> object:
        """The number."""
        return value


class Way(NamedTuple):
    """One of the four directions, as a word."""

    example: object = "up/down/left/right"

    def read(self, value: object) -> object:
        """The word in lower case."""
        way = value.strip().lower() if isinstance(value, str) else None
        if way not in WAYS:
            raise ActionError("bad_arguments", f"the direction is one of {', '.join(WAYS)}, not {shown(value)}")
        return way

    def write(self, value: object) -> object:
        """The word."""
        return value


class Wheel(NamedTuple):
    """An amount to turn the wheel by, whose sign is the direction; how far our scrolling goes is fixed."""

    positive: str
    negative: str
    amount: int

    @property
    def example(self) -> object:
        """A turn in the negative direction."""
        return -self.amount

    def read(self, value: object) -> object:
        """The direction."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not (value < 0 or value > 0):
            raise ActionError("bad_arguments", f"an amount other than 0 is expected, not {shown(value)}")
        return self.positive if value > 0 else self.negative

    def write(self, value: object) -> object:
        """The usual amount with the sign of the direction."""
        if value not in (self.positive, self.negative):
            raise ActionError("unknown_action", f"this wheel does not turn {value}")
        return self.amount if value == self.positive else -self.amount


class Keys(NamedTuple):
    """Keys pressed together: a list, or a text with separators."""

    lower: bool = True
    """Whether the lower-case names of desktop grammars are written, and not our own."""
    joined: bool = False

    @property
    def example(self) -> object:
        """Two keys."""
        return self.write(["Control", "c"])

    def read(self, value: object) -> object:
        """Our names of the keys."""
        if isinstance(value, str):
            return key_names(split_keys(value))
        if not isinstance(value, list | tuple):
            raise ActionError("bad_arguments", f"keys are expected, not {shown(value)}")
        return key_names(value)

    def write(self, value: object) -> object:
        """The keys as the model spells them."""
        keys = [str(key) for key in value] if isinstance(value, list) else []
        spelled = lower_names(keys) if self.lower else keys
        return " ".join(spelled) if self.joined else spelled


class OwnKeys(NamedTuple):
    """Keys by the names our actions use, taken as they are."""

    example: object = ("Control", "c")

    def read(self, value: object) -> object:
        """The list of names."""
        if not isinstance(value, list | tuple):
            raise ActionError("bad_arguments", f"a list of keys is expected, not {shown(value)}")
        if not 1 <= len(value) <= MOST_KEYS:
            raise ActionError("bad_arguments", f"one to {MOST_KEYS} keys are pressed together, not {len(value)}")
        return [Text().read(key) for key in value]

    def write(self, value: object) -> object:
        """The list of names."""
        return value


class At(NamedTuple):
    """A point."""

    optional: bool = False
    """Whether the grammar lets it out: then the picture's centre is meant."""
    boxes: bool = False
    """Whether the four numbers of a box stand for its middle."""


class Towards(NamedTuple):
    """The end of a swipe that is given by its direction: a third of the picture away from the start."""


class _Required(NamedTuple):
    """Marks an argument without a default."""


REQUIRED = _Required()


class Slot(NamedTuple):
    """An argument: the field it fills, the names it goes by (the usual one first), its kind, its default."""

    field: str
    keys: tuple[str, ...]
    kind: Kind | At | Towards
    default: object = REQUIRED


_POINT_KEYS = ("point", "box", "start_box", "coordinate", "element", "start_point")
_START_KEYS = ("start", "start_box", "start_point", "start_coordinate")
_END_KEYS = ("end", "end_box", "end_point", "end_coordinate", "coordinate2")


def point(key: str, *, optional: bool = False, boxes: bool = False) -> Slot:
    """The point of an action, under any of the names that grammars use; `key` is written."""
    return Slot("point", _first(key, _POINT_KEYS), At(optional, boxes))


def start_and_end(start: str, end: str, *, boxes: bool = False) -> tuple[Slot, Slot]:
    """The two points of a stroke; `start` and `end` are written."""
    at = At(boxes=boxes)
    return Slot("start", _first(start, _START_KEYS), at), Slot("end", _first(end, _END_KEYS), at)


def text(field: str, *keys: str, default: object = REQUIRED) -> Slot:
    """A text, by default under the name of its field."""
    return Slot(field, keys or (field,), Text(), default)


def _first(key: str, keys: tuple[str, ...]) -> tuple[str, ...]:
    return (key, *(other for other in keys if other != key))
