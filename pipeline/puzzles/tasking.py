"""Puzzles as tasks of the application `puzzles`: the contract is the first verdict of the page, the oracle its answer.

Knows nothing of datasets.
"""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.app_entry import load_app
from pipeline.errors import ConfigError
from pipeline.puzzles.answers import Arranged, Clicked, Dropped, Joined, Slid, Walked
from pipeline.puzzles.catalog import TYPES
from pipeline.puzzles.plan import procedure
from pipeline.puzzles.puzzle import LANGUAGES, LEVELS, Key, Puzzle
from pipeline.puzzles.serving import MOST_SEED, address_of, puzzle_of
from pipeline.structs import Param
from pipeline.tasks import CapabilityCall, Check, ProcedureStep, Segment, Start, TaskSpec, identified

APP = "puzzles"
_MULTI = (Arranged, Clicked, Dropped, Joined, Slid, Walked)
_INSTRUCTIONS = {
    "en": "Solve the puzzle on this page: do what it asks for. There is one try.",
    "zh": "完成页面上的验证：按它的要求操作。只有一次机会。",
}
_SECONDS_PER_STEP = 6.0


def puzzle_tasks(types: Iterable[str], rounds: int, seed: int) -> list[TaskSpec]:
    """So many puzzles of each type, which take turns over levels and languages.

    Raises KeyError for an unknown type, ConfigError for seeds beyond those that the application serves.
    """
    if seed + rounds > MOST_SEED:
        raise ConfigError(f"--seed: the last seed must be below {MOST_SEED}")
    names = sorted(types)
    keys = (
        Key(name, seed + turn, LEVELS[(place + turn) % len(LEVELS)], LANGUAGES[(place + turn) % len(LANGUAGES)])
        for turn in range(rounds)
        for place, name in enumerate(names)
    )
    return [_task(puzzle_of(key)) for key in keys]


def every_type() -> list[str]:
    """The names of all types."""
    return sorted(TYPES)


def _task(puzzle: Puzzle) -> TaskSpec:
    key, path = puzzle.key, address_of(puzzle.key)
    name = path.removeprefix("/")
    capability = f"{APP}.{puzzle.kind}"
    oracle = [*procedure(puzzle.scene, key.language), ProcedureStep(action="Finished", content="")]
    check = Check(
        name="the first verdict is right",
        verifier="matches",
        probe="verdicts",
        args=[Param(name="puzzle", value=name)],
        expected=["^right$"],
    )
    several = isinstance(puzzle.scene.answer, _MULTI) and len(oracle) > 2
    return identified(
        TaskSpec(
            task_id="",
            app_ids=[APP],
            app_versions=[Param(name=APP, value=load_app(APP).version)],
            platform="web",
            tier="multi" if several else "single",
            instruction=_INSTRUCTIONS[key.language],
            language=key.language,
            capability_ids=[capability],
            calls=[CapabilityCall(capability_id=capability)],
            template_id=key.type_name,
            params=[Param(name="level", value=str(key.level))],
            start=Start(app_id=APP, path=path),
            contract_kind="state",
            segments=[Segment(name="verdict", checks=[check])],
            expected_changes=[f"verdicts.txt|{name} *"],
            oracle=oracle,
            domain="CAPTCHA",
            max_steps=2 * len(oracle) + 6,
            max_seconds=60 + _SECONDS_PER_STEP * len(oracle),
            generator="puzzles",
            seed=key.seed,
        )
    )
