"""A type of puzzle, and one puzzle of it: drawn from a seed, and proved to have exactly one answer before it is shown.

Knows nothing of the single types.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cache
from importlib import resources
from itertools import islice
from random import Random
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

import yaml

from pipeline.actions import Model
from pipeline.errors import RunError
from pipeline.puzzles.answers import Answer
from pipeline.puzzles.scene import Scene
from pipeline.words import PuzzleKind

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
Level = Literal[1, 2, 3]
LEVELS: tuple[Level, ...] = (1, 2, 3)


class PuzzleError(RunError):
    """A type has drawn no puzzle with exactly one answer, or its solver finds another one than was drawn."""


_DRAWS = 400
"""States that are drawn before a type is held to be broken."""


class State(Model):
    """A latent state: everything that decides the answer; `variant` decides wording and ornament, and nothing else."""

    variant: int


StateT = TypeVar("StateT", bound=State)


class Wording(Model):
    """What a type is called, and ways to ask for it, by language."""

    title: str
    en: list[str]
    zh: list[str]


@cache
def wordings(kind: PuzzleKind) -> dict[str, Wording]:
    """The wordings of a kind's types, by the names of the types."""
    text = (resources.files("pipeline.puzzles") / "kinds" / f"{kind}.yaml").read_text(encoding="utf-8")
    return {name: Wording.model_validate(said) for name, said in yaml.safe_load(text).items()}


class PuzzleType(ABC, Generic[StateT]):
    """A type of puzzle. From the latent state follow the answer, the geometry and everything that is shown.

    `solve` must not know how `draw` came to its state: it finds every legal answer by going through all there are.
    """

    name: ClassVar[str]
    kind: ClassVar[PuzzleKind]

    @abstractmethod
    def draw(self, rng: Random, level: Level, language: Language) -> StateT:
        """A latent state; one that has no answer or several is thrown away by the caller."""

    @abstractmethod
    def solve(self, state: StateT) -> Iterator[Answer]:
        """Every answer that the rule of the puzzle allows, each once."""

    @abstractmethod
    def scene(self, state: StateT, language: Language) -> Scene:
        """What is shown of a state, with the answer that it was drawn for."""

    def ask(self, state: StateT, language: Language, **slots: object) -> str:
        """One of the ways to ask for it, with its slots filled."""
        said = wordings(self.kind)[self.name]
        ways = said.zh if language == "zh" else said.en
        return ways[state.variant % len(ways)].format(**slots)


class Key(NamedTuple):
    """Which puzzle it is: the same key always gives the same one."""

    type_name: str
    seed: int
    level: Level
    language: Language


class Puzzle(NamedTuple):
    """A puzzle with exactly one answer."""

    key: Key
    kind: PuzzleKind
    state: State
    scene: Scene


def make_puzzle(puzzle_type: PuzzleType[Any], seed: int, level: Level, language: Language) -> Puzzle:
    """Draw states until one has exactly one answer, the one that it was drawn for.

    Raises PuzzleError when a type draws none in a long time, or its solver finds another answer than the one drawn.
    """
    key = Key(puzzle_type.name, seed, level, language)
    rng = Random("puzzle {} {} {} {}".format(*key))
    for _ in range(_DRAWS):
        state = puzzle_type.draw(rng, level, language)
        found = list(islice(puzzle_type.solve(state), 2))
        if len(found) != 1:
            continue
        scene = puzzle_type.scene(state, language)
        if scene.answer != found[0]:
            raise PuzzleError(f"{key}: drawn for {scene.answer}, solved by {found[0]}")
        return Puzzle(key, puzzle_type.kind, state, scene)
    raise PuzzleError(f"{key}: no state with one answer in {_DRAWS} draws")
