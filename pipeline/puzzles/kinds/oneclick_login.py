"""Puzzles of one deliberate tap: the right box or button, a box and then a button, one that is held or waited for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import permutations
from random import Random
from typing import Any, ClassVar

import yaml

from pipeline.actions import Model
from pipeline.puzzles.answers import Answer, Tapped
from pipeline.puzzles.kinds.oneclick_art import picture
from pipeline.puzzles.puzzle import Language, Level, PuzzleType, State
from pipeline.puzzles.scene import Button, Buttons, Scene
from pipeline.words import PuzzleKind

_HEIGHT = 112.0


class Choice(Model):
    """A button or box, and what it is for."""

    sense: str
    button: Button


class Choices(State):
    """What can be tapped, from top to bottom, and what was meant when it was drawn."""

    choices: list[Choice]
    meant: list[str]
    held: float = 0.0
    asked: str = ""
    """The label or the sense that the page asks for."""


@cache
def _said() -> Any:
    text = (resources.files("pipeline.puzzles") / "kinds" / "oneclick_labels.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def labels(language: Language) -> Mapping[str, Sequence[str]]:
    """Labels by what they are for."""
    said: Mapping[str, Sequence[str]] = _said()["labels"][language]
    return said


def wishes(language: Language) -> Mapping[str, str]:
    """What somebody wants who needs a way to get a code, by that way."""
    said: Mapping[str, str] = _said()["wishes"][language]
    return said


def alike(language: Language) -> Sequence[Sequence[str]]:
    """Labels that look alike, the true one first."""
    said: Sequence[Sequence[str]] = _said()["alike"][language]
    return said


def legal(choices: Sequence[Choice]) -> Iterator[list[Choice]]:
    """Every way to tap boxes that end nothing, each at most once, and then something that ends."""
    open_ones = [one for one in choices if not one.button.ends]
    for count in range(len(open_ones) + 1):
        for taps in permutations(open_ones, count):
            yield from ([*taps, last] for last in choices if last.button.ends)


class TapPuzzle(PuzzleType[Choices]):
    """A picture with buttons and boxes below; which taps are right is the rule of each type."""

    kind: ClassVar[PuzzleKind] = "oneclick_login"

    @abstractmethod
    def allows(self, state: Choices, taps: Sequence[Choice]) -> bool:
        """Whether a legal way to tap is right."""

    def wish(self, state: Choices, language: Language) -> str:
        """What the page says for what is asked."""
        return state.asked

    def solve(self, state: Choices) -> Iterator[Answer]:
        """Every legal way that is right; what fills while it is held must be full."""
        for taps in legal(state.choices):
            if self.allows(state, taps):
                yield Tapped(taps=[one.button.name for one in taps], held=taps[-1].button.hold)

    def scene(self, state: Choices, language: Language) -> Scene:
        """The buttons stand in the order of the state."""
        return Scene(
            ask=self.ask(state, language, asked=self.wish(state, language)),
            art=picture(self.name, state.variant, _HEIGHT),
            height=_HEIGHT,
            control=Buttons(buttons=[one.button for one in state.choices]),
            answer=Tapped(taps=state.meant, held=state.held),
        )


def choices_of(rng: Random, language: Language, looks: Sequence[tuple[str, Mapping[str, object]]]) -> list[Choice]:
    """A choice for each sense, with fields of its button; names tell nothing."""
    names = rng.sample([f"b{number}" for number in range(len(looks))], len(looks))
    return [
        Choice(
            sense=sense,
            button=Button.model_validate({"name": name, "label": rng.choice(labels(language)[sense])} | dict(fields)),
        )
        for name, (sense, fields) in zip(names, looks, strict=True)
    ]


def _state(rng: Random, choices: list[Choice], senses: Sequence[str], held: float = 0.0, asked: str = "") -> Choices:
    named = {one.sense: one.button.name for one in choices}
    return Choices(
        variant=rng.randrange(10_000), choices=choices, meant=[named[one] for one in senses], held=held, asked=asked
    )


_BOX: Mapping[str, object] = {"look": "box"}
_OPEN: Mapping[str, object] = {"look": "box", "ends": False}
_MAIN: Mapping[str, object] = {"look": "main"}
_PLAIN: Mapping[str, object] = {"look": "plain"}
_LINK: Mapping[str, object] = {"look": "link"}


class Checkbox(TapPuzzle):
    """Tick the box by which one confirms to be a person."""

    name: ClassVar[str] = "oc_checkbox"

    def draw(self, rng: Random, level: Level, language: Language) -> Choices:
        """One to three boxes, and a link or two."""
        boxes = ["person", *rng.sample(("news", "remember", "survey"), level - 1)]
        links = rng.sample(("help", "back"), 1 + level // 3)
        looks = [(one, _BOX) for one in rng.sample(boxes, level)] + [(one, _LINK) for one in links]
        return _state(rng, choices_of(rng, language, looks), ["person"])

    def allows(self, state: Choices, taps: Sequence[Choice]) -> bool:
        """That box alone."""
        return [one.sense for one in taps] == ["person"]


class ConsentLogin(TapPuzzle):
    """Tick the agreement, then press the button that logs in."""

    name: ClassVar[str] = "oc_consent_login"

    def draw(self, rng: Random, level: Level, language: Language) -> Choices:
        """One to three boxes, and two or three buttons."""
        boxes = ["agree", *rng.sample(("news", "remember"), level - 1)]
        others = rng.sample(("register", "guest"), 1 + level // 3)
        looks = [(one, _OPEN) for one in rng.sample(boxes, level)]
        looks += [("log_in", _MAIN), *((one, rng.choice((_PLAIN, _LINK))) for one in others)]
        return _state(rng, choices_of(rng, language, looks), ["agree", "log_in"])

    def allows(self, state: Choices, taps: Sequence[Choice]) -> bool:
        """The agreement, nothing that is not needed, and then the button."""
        return [one.sense for one in taps] == ["agree", "log_in"]


class Hold(TapPuzzle):
    """Press a button and hold it until its bar is full."""

    name: ClassVar[str] = "oc_hold"

    def draw(self, rng: Random, level: Level, language: Language) -> Choices:
        """About a quarter of a second to half of one, with one to three other buttons."""
        seconds = round(0.15 + 0.12 * level, 2)
        others = rng.sample(("cancel", "help", "report"), level)
        looks = [("hold", {"look": "main", "hold": seconds}), *((one, rng.choice((_PLAIN, _LINK))) for one in others)]
        return _state(rng, choices_of(rng, language, rng.sample(looks, len(looks))), ["hold"], held=seconds)

    def allows(self, state: Choices, taps: Sequence[Choice]) -> bool:
        """The one that says so, and that has a bar to fill."""
        return [one.sense for one in taps] == ["hold"] and taps[-1].button.hold > 0


class Decoys(TapPuzzle):
    """Press the button with exactly the label that the page names."""

    name: ClassVar[str] = "oc_decoys"

    def draw(self, rng: Random, level: Level, language: Language) -> Choices:
        """Three to five buttons of any look; labels alike where it is hard."""
        group, *others = rng.sample(alike(language), 5)
        far = [one[0] for one in others]
        labels = [group[0], *rng.sample(group[1:] if level > 1 else far, 1 + level)]
        shown = rng.sample(labels, len(labels))
        names = rng.sample([f"b{number}" for number in range(len(shown))], len(shown))
        choices = [
            Choice(sense=label, button=Button(name=name, label=label, look=rng.choice(("main", "plain"))))
            for name, label in zip(names, shown, strict=True)
        ]
        return _state(rng, choices, [group[0]], asked=group[0])

    def allows(self, state: Choices, taps: Sequence[Choice]) -> bool:
        """Whatever has that label."""
        return [one.button.label for one in taps] == [state.asked]


class Wait(TapPuzzle):
    """Wait until a button is on, then press it."""

    name: ClassVar[str] = "oc_wait"

    def draw(self, rng: Random, level: Level, language: Language) -> Choices:
        """One to two seconds, with one to three buttons that are on from the beginning."""
        others = rng.sample(("skip", "back", "help"), level)
        looks = [
            ("continue", {"look": "main", "wait": 0.5 + 0.5 * level}),
            *((one, rng.choice((_PLAIN, _LINK))) for one in others),
        ]
        choices = choices_of(rng, language, rng.sample(looks, len(looks)))
        label = next(one.button.label for one in choices if one.sense == "continue")
        return _state(rng, choices, ["continue"], asked=label)

    def allows(self, state: Choices, taps: Sequence[Choice]) -> bool:
        """Whatever has that label."""
        return [one.button.label for one in taps] == [state.asked]


class Resend(TapPuzzle):
    """Choose the way to get a code that somebody wants."""

    name: ClassVar[str] = "oc_resend"

    def draw(self, rng: Random, level: Level, language: Language) -> Choices:
        """Two to four ways, and a link for help where it is hard."""
        ways = rng.sample(("resend", "voice", "number", "mail"), 1 + level)
        look = rng.choice((_PLAIN, _MAIN))
        looks = [(one, look) for one in rng.sample(ways, len(ways))] + [("help", _LINK)] * (level == 3)
        return _state(rng, choices_of(rng, language, looks), ways[:1], asked=ways[0])

    def allows(self, state: Choices, taps: Sequence[Choice]) -> bool:
        """Whatever is that way."""
        return [one.sense for one in taps] == [state.asked]

    def wish(self, state: Choices, language: Language) -> str:
        """What somebody wants, in other words than the button's."""
        return wishes(language)[state.asked]


TYPES: tuple[PuzzleType[Choices], ...] = (Checkbox(), ConsentLogin(), Hold(), Decoys(), Wait(), Resend())
