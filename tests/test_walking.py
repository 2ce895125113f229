"""Walking through the application in memory, step by step."""

from __future__ import annotations

import pytest

from catalogs.subject import Subject
from catalogs.walking import Walker
from pipeline.envs.fake import FakeEnvironment, Faults
from pipeline.errors import EnvError, SetupError
from pipeline.tasks import ProcedureStep

TODO = Subject("fake-todo")


def click(role: str, name: str) -> ProcedureStep:
    return ProcedureStep(action="Click", role=role, name=name)


async def walker(faults: Faults | None = None) -> Walker:
    made = Walker(FakeEnvironment(faults), TODO)
    await made.restart()
    return made


async def test_steps_become_strides_with_looks_before_and_after() -> None:
    walking = await walker()

    walked = await walking.follow([click("link", "Statistics"), click("link", "Help")])

    assert [(stride.before.title, stride.after.title) for stride in walked.strides] == [
        ("To-dos", "Statistics"),
        ("Statistics", "Help"),
    ]
    assert walked.problem is None and walking.seen.title == "Help"


async def test_what_is_missing_stops_the_walk() -> None:
    walking = await walker()

    walked = await walking.follow([click("link", "Nowhere"), click("link", "Help")])

    assert walked.strides == [] and walked.problem == "no link 'Nowhere' on the screen"


async def test_an_action_that_fails_stops_the_walk() -> None:
    walking = await walker()

    walked = await walking.follow([ProcedureStep(action="Type", content="x")])

    assert walked.strides == [] and walked.problem == "no text field has the focus"


async def test_changes_are_those_since_the_restart() -> None:
    walking = await walker()

    await walking.follow([click("checkbox", "Done: Pay the rent")])
    assert await walking.changes() == [["todo/2", "changed"]]
    await walking.restart()
    assert await walking.changes() == []


async def test_dialogs_are_told_with_the_walk_they_belong_to() -> None:
    walking = await walker()

    asked = await walking.follow([click("button", "Clear done")])
    quiet = await walking.follow([click("link", "Help")])

    assert [event.kind for event in asked.events] == ["dialog"] and quiet.events == []


async def test_an_address_is_opened_again_and_a_foreign_one_is_not() -> None:
    walking = await walker()

    assert (await walking.open("http://localhost/help")).title == "Help"
    assert (await walking.open("https://example.org/")).title == "Help"
    assert walking.is_inside(walking.seen)


async def test_a_host_of_its_own_is_outside() -> None:
    walking = await walker()

    elsewhere = walking.seen.model_copy(update={"location": "chrome-error://chromewebdata/"})

    assert not walking.is_inside(elsewhere)


async def test_trouble_of_the_world_is_raised_by_its_boundary() -> None:
    with pytest.raises(SetupError):
        await walker(Faults(failing_starts=-1))
    walking = await walker(Faults(crash_at=0))
    with pytest.raises(EnvError):
        await walking.follow([click("link", "Help")])
    with pytest.raises(EnvError):
        _ = Walker(FakeEnvironment(), TODO).seen
