"""How many replies a second one core reads, in every dialect, beside what the JSON reader alone takes.

    python bench/dialects.py
    python bench/dialects.py --replies 2000

Replies have a thought of about 300 characters and one action of each kind the dialect can say. The ratio is the time
of our reading over that of `json.loads` on a JSON text of the same length. The last line has the slowest dialect.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from pipeline.actions import ACTION, Action, Pixel, points_of
from pipeline.dialects import Dialect, Move, Picture, Said, dialect_names, load_dialect
from pipeline.errors import ActionError

PICTURE = Picture(1280, 800)
THOUGHT = "The form is open and the title field has the focus, so the next thing to do is to fill it in. " * 3
_AT, _TO = {"x": 412, "y": 233}, {"x": 700, "y": 610}
ACTIONS: list[Action] = [
    ACTION.validate_python(fields)
    for fields in (
        {"type": "Click", "point": _AT},
        {"type": "DoubleClick", "point": _AT},
        {"type": "LongPress", "point": _AT},
        {"type": "Hover", "point": _AT},
        {"type": "Scroll", "point": _AT, "direction": "down"},
        {"type": "Drag", "start": _AT, "end": _TO},
        {"type": "Swipe", "start": _AT, "end": _TO},
        {"type": "Type", "content": 'Lamp "A4", it\'s (new)\nsecond line 你好'},
        {"type": "Hotkey", "keys": ["Control", "a"]},
        {"type": "Launch", "url": "http://127.0.0.1:8080/tickets?status=new"},
        {"type": "LaunchApp", "app": "Calendar"},
        {"type": "PressBack"},
        {"type": "Wait"},
        {"type": "Finished", "content": "The ticket is filed."},
        {"type": "Finished"},
    )
]
BEST_OF = 3
Given = TypeVar("Given")


class Speed(NamedTuple):
    """Replies read per second, and the time of one over that of the JSON reader."""

    per_second: float
    ratio: float


def replies(dialect: Dialect) -> list[str]:
    """A reply for each action that the dialect can say."""
    texts = []
    for action in ACTIONS:
        points = tuple(Pixel(x=530 + 9 * index, y=186) for index, _ in enumerate(points_of(action)))
        try:
            texts.append(dialect.render([Move(action, points)], THOUGHT, PICTURE))
        except ActionError:
            continue
    return texts


def measure(dialect: Dialect, count: int) -> Speed:
    """The speed of one dialect."""
    texts = replies(dialect)
    said = [Said(text) for text in texts]
    plain = [json.dumps({"thought": text, "type": "Click", "point": _AT}) for text in texts]
    ours = _seconds(lambda one: dialect.read(one, PICTURE), said, count)
    theirs = _seconds(json.loads, plain, count)
    return Speed(1 / ours, ours / theirs)


def _seconds(read: Callable[[Given], object], given: Sequence[Given], count: int) -> float:
    """Seconds that one reading takes, in the best of a few runs."""
    rounds = max(1, count // len(given))
    best = float("inf")
    for _ in range(BEST_OF):
        start = time.perf_counter()
        for _ in range(rounds):
            for one in given:
                read(one)
        best = min(best, time.perf_counter() - start)
    return best / (rounds * len(given))


def main() -> None:
    """Measure every dialect."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replies", type=int, default=5000, help="replies read per dialect and run")
    count = parser.parse_args().replies
    slowest = float("inf")
    for name in dialect_names():
        speed = measure(load_dialect(name), count)
        slowest = min(slowest, speed.per_second)
        print(f"{name:22} {speed.per_second:8.0f} replies/s   {speed.ratio:5.1f} x json.loads")
    print(f"min_replies_per_s={slowest:.0f}")


if __name__ == "__main__":
    main()
