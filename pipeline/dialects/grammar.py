"""A dialect made of three parts: a form (how calls stand in a reply), verbs (what calls mean), a coordinate space.

Everything that differs between models is in those parts; this module is what they have in common: which verb a call
names, what its arguments become, when several actions are too many. It knows no model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from pydantic import ValidationError

from pipeline.actions import Action, Answer, CallUser, Finished, Hotkey, Pixel, PressEnter, canonical_point
from pipeline.dialects.base import AT_CENTRE, EDGE, INFEASIBLE, Move, Picture, Reading, Said, usable_text
from pipeline.dialects.calls import Call
from pipeline.dialects.meanings import LANGUAGES, MEANINGS, meaning_of, meaning_of_wheel
from pipeline.dialects.slots import REQUIRED, At, Slot, Towards, Wheel
from pipeline.dialects.spaces import Space, Spot, shown
from pipeline.errors import ActionError, ConfigError, first_problem
from pipeline.words import Platform

MOST_ACTIONS = 32
_PICTURE_MARKS = 2
_ENTER = Hotkey(keys=["Enter"])
_BARE = re.compile(r"""["']?‹([^›]+)›["']?""")
_STEPS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}

Utterance = tuple[Call, ...]
"""What counts as one action of a reply: a call, or the calls of a list."""


class Parts(NamedTuple):
    """A reply taken apart: the thought, and each action it names."""

    thought: str
    utterances: Sequence[Utterance]


class Form(Protocol):
    """How calls stand in a reply."""

    def read(self, text: str) -> Parts:
        """Take a reply apart; raises ActionError."""
        ...

    def write(self, calls: Utterance, thought: str) -> str:
        """The reply that says these calls; raises ActionError `multiple_actions` when it cannot say so many."""
        ...

    def write_one(self, call: Call) -> str:
        """A call without anything around it."""
        ...

    def pair(self, first: object, second: object) -> object:
        """A point as an argument."""
        ...

    def envelope(self, platform: Platform, language: str, /) -> str:
        """One line about what stands around the action."""
        ...


class Verb(NamedTuple):
    """A word of a grammar: its name, the action it stands for, its arguments."""

    name: str
    action: Callable[..., Action]
    slots: tuple[Slot, ...] = ()
    fixed: Mapping[str, str] = {}
    """Arguments that have to have this value."""
    ignored: tuple[str, ...] = ()
    """Arguments without a counterpart in our action: how long to hold, how far to scroll."""
    refuses: bool = False
    """Whether this is the dialect's way to say that the task cannot be done."""
    platforms: tuple[Platform, ...] = ()
    """Where it exists, when that is not where the action does."""
    listed: bool = True
    """Whether prompts list it: another spelling of a listed verb is only understood."""


class Grammar:
    """A dialect."""

    def __init__(
        self,
        name: str,
        platforms: tuple[Platform, ...],
        space: Space,
        form: Form,
        verbs: Sequence[Verb],
        unsayable: Mapping[str, str] | None = None,
        *,
        patch: int = 28,
    ) -> None:
        """`patch` is the side, in pixels, of what one token of a picture covers: 28 in older families, 32 in newer."""
        self.name = name
        self.platforms = platforms
        self.coordinate_space = space.name
        self.divisor = space.divisor
        self._patch = patch
        self._space = space
        self._form = form
        self._verbs = tuple(verbs)
        self._unsayable = {_folded(word): why for word, why in (unsayable or {}).items()}
        self._by_name: dict[str, list[Verb]] = {}
        for verb in verbs:
            self._by_name.setdefault(_folded(verb.name), []).append(verb)
        actions = {verb.action for verb in verbs}
        self._enter_is_a_hotkey = Hotkey in actions and PressEnter not in actions

    def sent_size(self, picture: Picture) -> Picture:
        """The size a stored picture has to have when it is sent to the model."""
        return self._space.sent_size(picture)

    def picture_tokens(self, picture: Picture) -> int:
        """Tokens of a picture sent in this size: one for each patch it touches, and its two marks."""
        return -(-picture.width // self._patch) * -(-picture.height // self._patch) + _PICTURE_MARKS

    def read(self, said: Said, picture: Picture) -> Reading:
        """The moves of a reply to a stored picture; raises ActionError for what is not one."""
        thought, named = self._form.read(usable_text(said))
        utterances = [calls for calls in named if calls]
        if not utterances:
            raise ActionError("no_action", "the answer names no action")
        if len(utterances) > MOST_ACTIONS:
            raise ActionError("multiple_actions", f"the answer names {len(utterances)} actions")
        first, *others = (self._sentence(calls, picture) for calls in utterances)
        if any(other != first for other in others):
            raise ActionError("multiple_actions", "the answer names different actions; give exactly one")
        return first._replace(thought=thought or said.reasoning.strip())

    def render(self, moves: Sequence[Move], thought: str, picture: Picture) -> str:
        """The moves as the model would write them; raises ActionError for what the dialect cannot say."""
        return self._form.write(tuple(self._call(move, picture) for move in moves), thought)

    def action_space(self, platform: Platform, language: str) -> str:
        """The grammar for a system prompt, one action a line; raises ConfigError."""
        if platform not in self.platforms:
            raise ConfigError(f"model.dialect: '{self.name}' is for {', '.join(self.platforms)}, not for {platform}")
        if language not in LANGUAGES:
            raise ConfigError(f"model.dialect: no prompt in '{language}'; languages: {', '.join(LANGUAGES)}")
        lines = dict.fromkeys(
            self._line(verb, language)
            for word in MEANINGS
            for verb in self._verbs
            if verb.listed and _type_of(verb) == word and platform in (verb.platforms or MEANINGS[word].platforms)
        )
        return "\n".join([self._form.envelope(platform, language), self._space.described(language), *lines])

    # --- reading ---------------------------------------------------------------------------------------------------

    def _sentence(self, calls: Utterance, picture: Picture) -> Reading:
        """The moves of one utterance, without a thought."""
        if len(calls) > MOST_ACTIONS:
            raise ActionError("bad_arguments", f"a list has at most {MOST_ACTIONS} actions, not {len(calls)}")
        verbs = [self._verb(call) for call in calls]
        moves = tuple(self._move(verb, call, picture) for verb, call in zip(verbs, calls, strict=True))
        if any(isinstance(move.action, Answer | CallUser | Finished) for move in moves[:-1]):
            raise ActionError("bad_arguments", "an action that ends the task comes last")
        return Reading("", moves, any(verb.refuses for verb in verbs))

    def _verb(self, call: Call) -> Verb:
        """The verb that a call names: of several with one name, the first whose arguments are there."""
        name = _folded(call.name)
        verbs = self._by_name.get(name)
        if verbs is None:
            why = self._unsayable.get(name, "there is no such action")
            raise ActionError("unknown_action", f"{shown(call.name)}: {why}")
        fitting = [verb for verb in verbs if _fits(verb, call)]
        if not fitting:
            choices = " or ".join(f"{key}={value}" for verb in verbs for key, value in verb.fixed.items())
            raise ActionError("bad_arguments", f"{verbs[0].name} needs {choices}")
        return next((verb for verb in fitting if _complete(verb, call)), fitting[0])

    def _move(self, verb: Verb, call: Call, picture: Picture) -> Move:
        given = {key: value for key, value in call.arguments.items() if key not in verb.fixed}
        fields: dict[str, object] = {}
        points: list[Pixel] = []
        flags: dict[str, None] = {}
        for slot in verb.slots:
            value = _taken(slot, given, verb)
            if isinstance(slot.kind, At | Towards):
                spot, flag = self._spot(slot.kind, value, points, picture)
                fields[slot.field] = spot.point
                points.append(spot.pixel)
                flags |= {flag: None} if flag else {}
            elif value is REQUIRED:
                fields[slot.field] = slot.default
            else:
                fields[slot.field] = slot.kind.read(value)
        for key in given:
            if key not in verb.ignored:
                raise ActionError("bad_arguments", f"{verb.name} has no argument {shown(key)}")
        return Move(self._settled(_built(verb, fields)), tuple(points), tuple(flags))

    def _spot(self, kind: At | Towards, value: object, points: list[Pixel], picture: Picture) -> tuple[Spot, str]:
        """The place of an argument, with the flag it raises."""
        if isinstance(kind, Towards):
            return _spot_at(_towards(points[-1], value, picture), picture), ""
        if value is REQUIRED:
            return _spot_at(Pixel(x=picture.width // 2, y=picture.height // 2), picture), AT_CENTRE
        spot = self._space.spot(value, picture, boxes=kind.boxes)
        return spot, EDGE if spot.edge else ""

    def _settled(self, action: Action) -> Action:
        return PressEnter() if self._enter_is_a_hotkey and action == _ENTER else action

    # --- writing ---------------------------------------------------------------------------------------------------

    def _call(self, move: Move, picture: Picture) -> Call:
        action = _ENTER if self._enter_is_a_hotkey and isinstance(move.action, PressEnter) else move.action
        refusal: ActionError | None = None
        for verb in self._verbs:
            if verb.action is type(action):
                try:
                    return Call(verb.name, self._arguments(verb, move._replace(action=action), picture))
                except ActionError as error:
                    refusal = refusal or error
        raise refusal or ActionError("unknown_action", f"{self.name} has no word for {action.type}")

    def _arguments(self, verb: Verb, move: Move, picture: Picture) -> dict[str, object]:
        """The arguments that make this verb say the move; raises ActionError when none do."""
        values: dict[str, Any] = dict(iter(move.action))  # not of the action itself: a hotkey has `keys`
        if verb.refuses and not verb.slots and values.get("content") != INFEASIBLE:
            raise ActionError("unknown_action", f"{verb.name} says nothing but that the task cannot be done")
        points = list(move.points)
        arguments: dict[str, object] = {}
        for slot in verb.slots:
            value = values.pop(slot.field)
            if isinstance(slot.kind, At | Towards):
                if not points:
                    raise ActionError("bad_arguments", f"{move.action.type} comes without its pixel")
                written = self._place(slot, Spot(points.pop(0), value, EDGE in move.flags), move, picture)
            else:
                written = REQUIRED if value == slot.default else slot.kind.write(value)
            if written is not REQUIRED:
                arguments[slot.keys[0]] = written
        self._nothing_lost(verb, values)
        return arguments | dict(verb.fixed)

    def _place(self, slot: Slot, spot: Spot, move: Move, picture: Picture) -> object:
        if isinstance(slot.kind, Towards):
            ways = [way for way in _STEPS if _towards(move.points[0], way, picture) == spot.pixel]
            if not ways:
                raise ActionError("unknown_action", "a swipe goes a third of the picture in one direction")
            return ways[0]
        if AT_CENTRE in move.flags and _optional(slot):
            return REQUIRED
        if not slot.keys:
            raise ActionError("unknown_action", f"{move.action.type} is said of the centre only")
        return self._form.pair(*self._space.numbers(spot, picture))

    def _nothing_lost(self, verb: Verb, values: Mapping[str, object]) -> None:
        for field, value in values.items():
            if field != "type" and value and not verb.refuses:
                raise ActionError("unknown_action", f"{verb.name} has no place for {field} {shown(value)}")

    def _line(self, verb: Verb, language: str) -> str:
        examples: dict[str, object] = {}
        for slot in verb.slots:
            if isinstance(slot.kind, At):
                if slot.keys:
                    examples[slot.keys[0]] = self._example_pair(slot.field)
            else:
                examples[slot.keys[0]] = "up/down/left/right" if isinstance(slot.kind, Towards) else slot.kind.example
        written = _BARE.sub(r"\1", self._form.write_one(Call(verb.name, examples | dict(verb.fixed))))
        wheel = next((slot.kind for slot in verb.slots if isinstance(slot.kind, Wheel)), None)
        if wheel is not None:
            return f"- {written}: {meaning_of_wheel(wheel.negative, wheel.positive, language)}"
        return f"- {written}: {meaning_of(_type_of(verb), language, refusal=verb.refuses)}"

    def _example_pair(self, field: str) -> object:
        number = {"start": "1", "end": "2"}.get(field, "")
        names = (f"‹x{number}›", f"‹y{number}›")
        return self._form.pair(*(reversed(names) if self._space.y_first else names))


def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace(" ", "")


def _type_of(verb: Verb) -> str:
    return str(getattr(verb.action, "__name__", ""))


def _fits(verb: Verb, call: Call) -> bool:
    for key, constant in verb.fixed.items():
        value = call.arguments.get(key)
        if not isinstance(value, str) or _folded(value) != _folded(constant):
            return False
    return True


def _optional(slot: Slot) -> bool:
    """Whether a point may be left out."""
    return isinstance(slot.kind, At) and slot.kind.optional


def _complete(verb: Verb, call: Call) -> bool:
    return all(
        any(key in call.arguments for key in slot.keys)
        for slot in verb.slots
        if slot.default is REQUIRED and not _optional(slot)
    )


def _taken(slot: Slot, given: dict[str, object], verb: Verb) -> object:
    """Take a slot's value from what is given; REQUIRED when it may be missing and is."""
    found = [key for key in slot.keys if key in given]
    if len(found) > 1:
        raise ActionError("bad_arguments", f"{verb.name} has both {found[0]} and {found[1]}")
    if found:
        return given.pop(found[0])
    if slot.default is REQUIRED and not _optional(slot):
        raise ActionError("bad_arguments", f"{verb.name} needs {slot.keys[0]}")
    return REQUIRED


def _built(verb: Verb, fields: dict[str, object]) -> Action:
    if verb.refuses and "content" not in fields:
        fields["content"] = INFEASIBLE
    try:
        return verb.action(**fields)
    except ValidationError as error:
        raise ActionError("bad_arguments", f"{verb.name}: {first_problem(error)}") from error


def _spot_at(pixel: Pixel, picture: Picture) -> Spot:
    return Spot(pixel, canonical_point(pixel, picture.width, picture.height))


def _towards(start: Pixel, way: object, picture: Picture) -> Pixel:
    """A third of the picture away from the start, or as far as the picture goes."""
    step = _STEPS.get(way.strip().lower()) if isinstance(way, str) else None
    if step is None:
        raise ActionError("bad_arguments", f"the direction is one of {', '.join(_STEPS)}, not {shown(way)}")
    x = start.x + step[0] * picture.width // 3
    y = start.y + step[1] * picture.height // 3
    return Pixel(x=min(max(x, 0), picture.width - 1), y=min(max(y, 0), picture.height - 1))
