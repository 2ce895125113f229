"""From a model's numbers to a click in a real page, for every kind of coordinate space, and no click where they lie."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest
import pytest_asyncio

from pipeline.actions import Click, Finished
from pipeline.dialects import load_dialect
from pipeline.envs.browser import Browser, Screen
from pipeline.policies.chat import Actor, ChatPolicy
from pipeline.records import Record, Step
from tests.endpoints import client_of, endpoint_of, says, serving
from tests.episodes import play
from tests.webserver import page
from tests.webworld import World, running_browser, running_world, task_at

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = """<body style="margin:0"><div id=target style="position:absolute;left:100px;top:50px;width:20px;height:20px;
background:red"></div><script>document.title = 'untouched';
addEventListener('click', (e) => { document.title = `${e.target.id}@${e.clientX},${e.clientY}`; })</script>"""


class Reply(NamedTuple):
    """What a model says, and the dialect that declares what its numbers mean."""

    dialect: str
    text: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with running_browser() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def world(browser: Browser) -> AsyncIterator[World]:
    async with running_world(browser, Screen(width=640, height=400, ratio=2)) as made:
        yield made


async def said(world: World, reply: Reply) -> tuple[Record, str]:
    """An episode in which the model says this and then stops, and the page's title at its end."""
    world.server.answers["/"] = page(PAGE)
    with serving(says(reply.text), says("the end", times=None)) as server:
        async with client_of(endpoint_of(server)) as client:
            actor = Actor(client, load_dialect(reply.dialect), 1, None, max_tokens=64, temperature=None)
            record = await play(ChatPolicy("chat", task_at(), actor, 0), task_at(), world.environment, max_steps=1)
    return record, record.observations[-1].title


@pytest.mark.parametrize(
    "reply",
    [
        Reply("canonical-pixels", '{"type": "Click", "point": [220, 120]}'),
        Reply("ui-venus-2-browser", "<action>Click(point=(172,150))</action>"),
        Reply("canonical-unit", '{"type": "Click", "point": [0.172, 0.15]}'),
        Reply("canonical-yx", '{"type": "Click", "point": [150, 172]}'),
        Reply("ui-tars-1.5", "Thought: there\nAction: click(start_box='(217,118)')"),
    ],
)
async def test_each_declared_space_hits_the_target(world: World, reply: Reply) -> None:
    record, title = await said(world, reply)

    where, _, at = title.partition("@")
    x, y = map(int, at.split(","))
    assert where == "target" and 109 <= x <= 111 and 59 <= y <= 61
    step = record.steps[0]
    assert isinstance(step.action, Click)
    assert step.reply == reply.text
    assert step.coordinate_space == load_dialect(reply.dialect).coordinate_space
    assert step.device_point is not None and step.device_point.x // 2 == x


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply("ui-venus-2-browser", "<action>Click(point=(1200,150))</action>"), "out_of_range"),
        (Reply("canonical-pixels", '{"type": "Click", "point": [0.172, 0.15]}'), "ambiguous_coordinates"),
        (Reply("canonical-pixels", '{"type": "Click", "point": [NaN, 120]}'), None),
        (Reply("canonical-pixels", '{"type": "Click", "point": [220]}'), "bad_arguments"),
    ],
)
async def test_numbers_that_mean_nothing_there_click_nowhere(world: World, reply: Reply, code: str | None) -> None:
    record, title = await said(world, reply)

    step: Step = record.steps[0]
    assert title == "untouched"
    assert step.status == "failed"
    assert step.action_error == code if code else step.action_error in ("bad_arguments", "no_action")
    assert step.device_point is None
    assert step.reply == reply.text
    assert not isinstance(step.action, Finished)
