"""The planner's mistakes on purpose, so that data of every grade exists without a model.

Each kind resembles one that agents really make. What is done instead is drawn here, from the caller's random source;
whether it is noticed and how to go on is the planner's affair.
"""

from __future__ import annotations

import random
import re
from typing import NamedTuple

from pipeline.actions import (
    Action,
    Answer,
    Click,
    Finished,
    Hover,
    Point,
    Pointed,
    SelectOption,
    Terminal,
    Type,
    Wait,
    canonical_point,
)
from pipeline.policies.grounding import INTERACTIVE, shown
from pipeline.policies.paging import direction_of, page
from pipeline.policies.script import Move
from pipeline.policies.wording import Aim, is_chinese, thought
from pipeline.protocols import Observation
from pipeline.structs import Node
from pipeline.words import Mistake, Platform

_WEIGHTS: dict[Mistake, int] = {"wrong_target": 3, "useless": 4, "wrong_value": 2, "premature": 1}


class Slip(NamedTuple):
    """What is done in place of the move; `stands` when the planner takes it for the move itself."""

    kind: Mistake
    action: Action
    thought: str
    stands: bool


def is_idle(move: Move) -> bool:
    """Whether a move only waits for a target or scrolls to it."""
    return move.preparing and (isinstance(move.action, Wait) or direction_of(move.action) is not None)


def slip(
    rng: random.Random, rate: float, move: Move, seen: Observation, language: str, platform: Platform = "web"
) -> Slip | None:
    """With probability `rate` a mistake that the move allows; where there is no picture, none."""
    if seen.frame is None or is_idle(move) or rng.random() >= rate:
        return None
    drawn = [found for kind in _WEIGHTS if (found := _of_kind(kind, rng, move, seen, language, platform)) is not None]
    return rng.choices(drawn, weights=[_WEIGHTS[found.kind] for found in drawn])[0] if drawn else None


def _of_kind(
    kind: Mistake, rng: random.Random, move: Move, seen: Observation, language: str, platform: Platform
) -> Slip | None:
    match kind:
        case "wrong_target":
            return _wrong_target(rng, move, seen)
        case "useless":
            return _useless(rng, move, seen, language, platform)
        case "wrong_value":
            return _wrong_value(rng, move, language)
        case "premature":
            return _premature(move, language)


def _wrong_target(rng: random.Random, move: Move, seen: Observation) -> Slip | None:
    """Something else is clicked than the thought names; three times out of ten nobody notices."""
    if not isinstance(move.action, Pointed) or move.node is None:
        return None
    others = [point for node, point in _visible(seen) if node.role in INTERACTIVE and _apart(node, move.node)]
    if not others:
        return None
    action = move.action.model_copy(update={"point": rng.choice(others)})
    return Slip("wrong_target", action, move.thought, stands=rng.random() < 0.3)


def _useless(rng: random.Random, move: Move, seen: Observation, language: str, platform: Platform) -> Slip | None:
    """Something that leads nowhere: wait, scroll, hover (a finger cannot), or click what does nothing."""
    if isinstance(move.action, Terminal):
        return None
    middle = Point(x=500, y=500)
    dead = [pair for pair in _visible(seen) if pair[0].role in ("heading", "StaticText") and pair[0].name]
    choices: list[tuple[Action, Node | None]] = [(Wait(), None), (page(platform, middle, "down"), None)]
    if dead:
        node, point = rng.choice(dead)
        choices += [
            (Click(point=point) if platform == "mobile" else Hover(point=point), node),
            (Click(point=point), node),
        ]
    action, aim = rng.choice(choices)
    purpose = "再看一看" if is_chinese(language) else "see what is there"
    words = thought(language, action, Aim(aim.role, aim.name) if aim else None, purpose)
    return Slip("useless", action, words, stands=False)


def _wrong_value(rng: random.Random, move: Move, language: str) -> Slip | None:
    """A value other than the one asked for is typed, chosen or answered."""
    action: Action
    match move.action:
        case Type(content=content) if content.strip():
            action = Type(content=altered(content, rng))
        case SelectOption(index=index) if move.choices > 1:
            action = SelectOption(index=rng.choice([at for at in range(move.choices) if at != index]))
            return Slip("wrong_value", action, move.thought, stands=True)
        case Finished(content=content) | Answer(content=content) if content.strip():
            action = move.action.model_copy(update={"content": altered(content, rng)})
        case _:
            return None
    aim = Aim(move.node.role, move.node.name) if move.node else None
    return Slip("wrong_value", action, thought(language, action, aim), stands=True)


def _premature(move: Move, language: str) -> Slip | None:
    """The end is declared before it is reached."""
    if isinstance(move.action, Terminal):
        return None
    action = Finished()
    return Slip("premature", action, thought(language, action), stands=False)


def altered(text: str, rng: random.Random) -> str:
    """A different text that looks like the same kind of value: another digit, or a word or character less."""
    digits = [match.start() for match in re.finditer(r"[0-9]", text)]
    if digits:
        at = digits[-1]
        return f"{text[:at]}{(int(text[at]) + rng.randint(1, 9)) % 10}{text[at + 1 :]}"
    words = text.split()
    if len(words) > 1:
        return " ".join(words[:-1])
    return text[:-1] if len(text) > 1 else text * 2


def _visible(seen: Observation) -> list[tuple[Node, Point]]:
    """The nodes that show in the picture, with the canonical point to aim at."""
    frame, tree = seen.frame, seen.tree
    if frame is None or tree is None:
        return []
    size = frame.width, frame.height
    boxes = [(node, shown(node, *size)) for node in tree.nodes]
    return [(node, canonical_point(box.centre, *size)) for node, box in boxes if box is not None]


def _apart(node: Node, other: Node) -> bool:
    """Whether the middle of each lies outside the other, so that a click on one is not a click on the other."""
    if node.box is None or other.box is None:
        return False
    return not node.box.contains(other.box.centre) and not other.box.contains(node.box.centre)
