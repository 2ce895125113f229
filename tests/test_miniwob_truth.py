"""MiniWoB++ pages as judges see them: their reward is in no tree and no picture, and an ended page stands still."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from PIL import Image, ImageChops

from bench.miniwob_site import Pages, Watched, served, task_of
from bench.miniwob_solvers import SOLVERS
from bench.miniwob_truth import SCREEN, Played, half_of, judge, play_page, rates_of, shows_reward
from pipeline.actions import Click, Type, canonical_point
from pipeline.envs.web import WebEnvironment
from pipeline.protocols import Observation
from pipeline.structs import Box, Node
from tests.webworld import running_browser

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served() as address:
        yield address


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def environment(url: str) -> AsyncIterator[Watched]:
    async with running_browser() as browser:
        watched = Watched(WebEnvironment(browser, lambda _: Pages(url), screen=SCREEN))
        yield watched
        await watched.finish()


def nodes(seen: Observation) -> list[Node]:
    assert seen.tree is not None
    return seen.tree.nodes


def box_of(seen: Observation, role: str) -> Box:
    return next(node.box for node in nodes(seen) if node.role == role and node.box)


async def press(environment: Watched, seen: Observation, role: str) -> Observation:
    pixel = box_of(seen, role).centre
    await environment.act(Click(point=canonical_point(pixel, SCREEN.width, SCREEN.height)), [pixel])
    return await environment.observe()


def picture(seen: Observation, *hidden: Box) -> Image.Image:
    assert seen.frame is not None
    shown = Image.open(io.BytesIO(seen.frame.image.bytes)).convert("RGB")
    for box in hidden:
        shown.paste((0, 0, 0), (box.left - 4, box.top - 4, box.right + 4, box.bottom + 4))
    return shown


async def submit(environment: Watched, text: str) -> Observation:
    """Type a text into the page's only field and press its button: the end of the episode, seen."""
    await environment.start(task_of("enter-text", "a", "anything"))
    seen = await press(environment, await environment.observe(), "textbox")
    await environment.act(Type(content=text), [])
    return await press(environment, seen, "button")


async def test_a_won_and_a_lost_end_differ_only_in_what_was_typed(environment: Watched) -> None:
    wanted = (await environment.utterance("enter-text", "a")).split('"')[1]
    won = await submit(environment, wanted)
    await environment.finish()
    outcomes = [environment.outcome]
    lost = await submit(environment, "something else")
    await environment.finish()
    outcomes.append(environment.outcome)
    field = box_of(won, "textbox")

    assert [(one.done, one.solved) for one in outcomes if one] == [(True, True), (True, False)]
    assert ImageChops.difference(picture(won, field), picture(lost, field)).getbbox() is None
    assert [node for node in nodes(won) if node.role != "textbox"] == [
        node for node in nodes(lost) if node.role != "textbox"
    ]


async def test_where_the_page_shows_its_reward_there_is_nothing(environment: Watched) -> None:
    end = await submit(environment, "anything")
    beside_the_task = picture(end).crop((165, 0, SCREEN.width, SCREEN.height))

    assert len(beside_the_task.getcolors() or []) == 1


async def test_an_ended_page_takes_no_more_input_and_does_not_begin_again(environment: Watched) -> None:
    end = await submit(environment, "anything")

    again = await press(environment, await press(environment, end, "textbox"), "button")

    await environment.finish()
    assert environment.outcome is not None
    assert environment.outcome.done
    assert [(node.role, node.name, node.value) for node in nodes(again)] == [
        (node.role, node.name, node.value) for node in nodes(end)
    ]


async def test_a_choice_is_not_changed_after_the_end(environment: Watched) -> None:
    await environment.start(task_of("choose-list", "a", "anything"))
    begun = await environment.observe()
    ended = await press(environment, begun, "button")

    opened = await press(environment, ended, "combobox")

    assert [node.value for node in nodes(opened) if node.role == "combobox"] == [
        node.value for node in nodes(begun) if node.role == "combobox"
    ]


async def test_the_same_seed_is_the_same_task(environment: Watched) -> None:
    first, second, other = [await environment.utterance("click-checkboxes", seed) for seed in "aab"]

    assert first == second != other


@pytest.fixture(scope="module")
def pages() -> list[str]:
    return ["click-option", "enter-text"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def played(environment: Watched, pages: list[str]) -> list[Played]:
    return [one for page in pages for one in await play_page(environment, page, seeds=1)]


async def test_no_look_of_any_policy_speaks_of_the_reward(played: list[Played]) -> None:
    assert {one.policy for one in played} == {"good", "clumsy", "idle", "random"}
    assert [text for one in played for text in shows_reward(one.record)] == []
    assert all(read.probe == "changes" for one in played for read in one.record.probe_reads)


async def test_the_good_policy_solves_and_the_idle_one_does_not(played: list[Played]) -> None:
    assert all(one.outcome.solved for one in played if one.policy == "good")
    assert not any(one.outcome.solved for one in played if one.policy == "idle")


async def test_solved_runs_are_called_complete_and_idle_ones_are_not(played: list[Played]) -> None:
    judged = [await judge(one) for one in played if one.policy in ("good", "idle")]

    rates = rates_of(judged)

    assert (rates.precision, rates.recall, rates.complete) == (1.0, 1.0, len(judged) // 2)
    assert rates.accuracy == 1.0


async def test_half_of_the_pages_are_held_out() -> None:
    halves = [half_of(page) for page in SOLVERS]

    assert abs(halves.count("tuned") - halves.count("heldout")) <= 1
    assert len(SOLVERS) >= 30
