"""Every type of puzzle on its page in Chromium: drawn where its state says, solved by our web environment, and wrong
answers refused by the page itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import islice
from random import Random

import pytest
import pytest_asyncio

from pipeline.puzzles.catalog import TYPES
from pipeline.puzzles.page import On
from pipeline.puzzles.plan import plan
from pipeline.puzzles.puzzle import LANGUAGES, LEVELS, Key
from pipeline.puzzles.replaying import Replayer, misplaced, off_at_first
from pipeline.puzzles.serving import puzzle_of, served
from pipeline.puzzles.wrong import wrong_plans
from pipeline.reaper import Scratch

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]


def unheard(_: Key, __: bool) -> None:
    """The page's own verdict is read instead."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def replayer() -> AsyncIterator[Replayer]:
    with Scratch("puzzles") as scratch:
        async with served(unheard) as address, Replayer(scratch, address, pages=2) as pages:
            yield pages


async def answers(replayer: Replayer, key: Key, on: On, wrongs: int) -> tuple[list[str], bool, list[bool]]:
    """What is drawn in the wrong place or left behind by an answer; the verdicts on the right and on wrong answers."""
    scene = puzzle_of(key).scene
    async with replayer.page(on) as page:
        await page.show(key)
        shown = await page.see(off_at_first(scene))
        right = await page.give(shown, plan(scene, scene.answer))
        faults, verdicts = misplaced(scene, shown), []
        for acts in islice(wrong_plans(scene, Random(f"wrong {key}")), wrongs):
            await page.again()
            if await page.see(off_at_first(scene)) != shown:
                faults.append("the page is not as it was before it was answered")
            verdicts.append(await page.give(shown, acts))
    return faults, right, verdicts


def key_of(name: str, seed: int) -> Key:
    return Key(name, seed, LEVELS[seed % 3], LANGUAGES[seed % 2])


@pytest.mark.parametrize("name", sorted(TYPES))
async def test_a_type_is_solved_by_its_answer_and_by_no_wrong_one(name: str, replayer: Replayer) -> None:
    assert await answers(replayer, key_of(name, 0), "web", wrongs=1) == ([], True, [False])
    assert await answers(replayer, key_of(name, 1), "phone", wrongs=1) == ([], True, [False])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TYPES))
async def test_twenty_puzzles_of_a_type_are_solved_and_twenty_wrong_answers_refused(
    name: str, replayer: Replayer
) -> None:
    for seed in range(2, 22):
        on: On = "phone" if seed % 4 < 2 else "web"
        assert await answers(replayer, key_of(name, seed), on, wrongs=1) == ([], True, [False]), (seed, on)
