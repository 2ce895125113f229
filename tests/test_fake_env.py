"""The fake environment behaves like an application in a browser, and breaks on command."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from pipeline.actions import (
    AcceptDialog,
    Action,
    Click,
    Hotkey,
    Launch,
    Pixel,
    Point,
    PressBack,
    PressEnter,
    Scroll,
    SelectOption,
    Type,
    Wait,
)
from pipeline.envs.fake import FakeEnvironment, Faults
from pipeline.errors import ActionError, EnvError, SetupError
from pipeline.structs import Box, Node, Param
from pipeline.tasks import Check, SetupOperation, TaskSpec, identified
from tests.episodes import fake_task, with_faults

MIDDLE = Point(x=500, y=500)


async def opened(path: str = "/", **faults: object) -> FakeEnvironment:
    environment = FakeEnvironment(Faults.model_validate(faults))
    task = fake_task()
    await environment.start(task.model_copy(update={"start": task.start.model_copy(update={"path": path})}))
    return environment


async def nodes(environment: FakeEnvironment) -> list[Node]:
    tree = (await environment.observe()).tree
    assert tree is not None
    return tree.nodes


async def centre(environment: FakeEnvironment, role: str, name: str) -> Pixel:
    found = [node.box for node in await nodes(environment) if (node.role, node.name) == (role, name)]
    assert found and found[0] is not None, f"no {role} {name!r}"
    return found[0].centre


async def click(environment: FakeEnvironment, role: str, name: str) -> None:
    await environment.act(Click(point=MIDDLE), [await centre(environment, role, name)])


async def value(environment: FakeEnvironment, name: str) -> str:
    return next(node.value for node in await nodes(environment) if node.name == name)


async def rows(environment: FakeEnvironment, probe: str, **args: str) -> list[list[str]] | None:
    check = Check(
        name="c", verifier="count", probe=probe, args=[Param(name=key, value=text) for key, text in args.items()]
    )
    return (await environment.probe([check], 0))[0].value


async def changes(environment: FakeEnvironment) -> list[list[str]] | None:
    return (await environment.probe([], 0))[-1].value


# --- looking ------------------------------------------------------------------------------------------------------


async def test_picture_is_a_png_of_the_stated_size() -> None:
    frame = (await (await opened()).observe()).frame
    assert frame is not None
    with Image.open(io.BytesIO(frame.image.bytes)) as picture:
        picture.load()
        assert (picture.format, picture.size) == ("PNG", (frame.width, frame.height))
        assert len(set(picture.convert("L").tobytes())) > 2, "something is drawn"


async def test_same_state_gives_same_bytes_in_another_environment() -> None:
    one, other = await (await opened()).observe(), await (await opened()).observe()
    assert one.frame == other.frame and one.tree == other.tree


async def test_another_state_gives_another_picture() -> None:
    environment = await opened()
    before = (await environment.observe()).frame
    await click(environment, "checkbox", "Done: Pay the rent")
    after = (await environment.observe()).frame
    assert before is not None and after is not None and before.sha256 != after.sha256


async def test_target_is_what_lies_under_the_pixel() -> None:
    environment = await opened()
    target = await environment.target(await centre(environment, "button", "Add"))
    assert target is not None and (target.role, target.name) == ("button", "Add")
    assert await environment.target(Pixel(x=639, y=70)) is None


async def test_scrolling_moves_boxes_within_bounds() -> None:
    environment = await opened()

    async def top() -> int:
        box = (await nodes(environment))[0].box
        assert isinstance(box, Box)
        return box.top

    first = await top()
    await environment.act(Scroll(point=MIDDLE, direction="down"), [Pixel(x=320, y=200)])
    scrolled = await top()
    await environment.act(Scroll(point=MIDDLE, direction="down"), [Pixel(x=320, y=200)])
    assert scrolled < first and await top() == scrolled, "the page ends"
    await environment.act(Scroll(point=MIDDLE, direction="up"), [Pixel(x=320, y=200)])
    assert await top() == first


# --- acting -------------------------------------------------------------------------------------------------------


async def test_a_form_is_kept_until_it_is_sent() -> None:
    environment = await opened()
    await click(environment, "textbox", "New to-do")
    await environment.act(Type(content="Buy "), [])
    await environment.act(Type(content="stamps"), [])
    assert await value(environment, "New to-do") == "Buy stamps"
    assert await rows(environment, "todo", title="Buy stamps") == []
    await click(environment, "combobox", "Priority")
    await environment.act(SelectOption(index=2), [])
    await click(environment, "button", "Add")
    assert await rows(environment, "todo", title="Buy stamps") == [["high", "open", ""]]
    assert await changes(environment) == [["todo/11", "added"]]


async def test_select_all_then_typing_replaces() -> None:
    environment = await opened("/todo/6")
    await click(environment, "textbox", "Title")
    await environment.act(Hotkey(keys=["Control", "a"]), [])
    await environment.act(Type(content="Sell it"), [])
    await environment.act(PressEnter(), [])
    assert await rows(environment, "todo", title="Sell it") == [["normal", "done", ""]]
    assert await changes(environment) == [["todo/6", "changed"]]


async def test_leaving_a_form_discards_it() -> None:
    environment = await opened("/todo/6")
    await click(environment, "textbox", "Title")
    await environment.act(Type(content=" fast"), [])
    await environment.act(Launch(url="/"), [])
    await environment.act(PressBack(), [])
    assert await value(environment, "Title") == "Fix the bicycle"


async def test_deleting_asks_on_a_page_of_its_own() -> None:
    environment = await opened("/todo/1")
    await click(environment, "button", "Delete")
    assert await changes(environment) == []
    await click(environment, "button", "Yes, delete")
    assert await changes(environment) == [["todo/1", "removed"]]


@pytest.mark.parametrize(("first", "answer", "left"), [(Wait(), "dismissed", 10), (AcceptDialog(), "accepted", 8)])
async def test_a_dialog_is_dismissed_unless_accepted_beforehand(first: Action, answer: str, left: int) -> None:
    environment = await opened()
    await environment.act(first, [])
    await click(environment, "button", "Clear done")
    assert [(event.kind, event.answer) for event in environment.drain_events()] == [("dialog", answer)]
    assert environment.drain_events() == []
    assert len(await rows(environment, "todos") or []) == left


@pytest.mark.parametrize(
    ("action", "code"),
    [
        (Type(content="x"), "text_not_delivered"),
        (SelectOption(index=0), "option_not_found"),
        (Launch(url="https://example.com/"), "blocked_address"),
    ],
)
async def test_what_cannot_be_done_says_so(action: Action, code: str) -> None:
    environment = await opened()
    with pytest.raises(ActionError) as caught:
        await environment.act(action, [])
    assert caught.value.code == code


async def test_an_address_that_does_not_exist_is_a_page() -> None:
    environment = await opened("/todo/99")
    observation = await environment.observe()
    assert (observation.title, observation.location) == ("Not found", "http://localhost/todo/99")


# --- set-up, probes and faults ------------------------------------------------------------------------------------


async def test_every_start_begins_anew_with_the_tasks_setup() -> None:
    environment = await opened()
    await click(environment, "checkbox", "Done: Pay the rent")
    addition = SetupOperation(kind="append", app_id="fake-todo", target="todos", content="Prune the roses | low | soon")
    await environment.start(fake_task(setup=[addition]))
    assert await changes(environment) == []
    assert await rows(environment, "todo", title="Prune the roses") == [["low", "open", "soon"]]
    assert await rows(environment, "todo", title="Pay the rent") == [["high", "open", ""]]


async def test_each_distinct_call_is_read_once_and_reserved_probes_not_at_all() -> None:
    environment = await opened()
    task = fake_task("How many")
    check = Check(name="c", verifier="count", probe="todos")
    reads = await environment.probe([check, check, *task.checks], 3)
    assert [(read.probe, read.observation_index) for read in reads] == [("todos", 3), ("changes", 3)]


async def test_an_unknown_probe_is_an_error_in_its_row() -> None:
    environment = await opened()
    read = (await environment.probe([Check(name="c", verifier="count", probe="weather")], 0))[0]
    assert read.value is None and read.error


async def test_starts_fail_as_often_as_commanded() -> None:
    environment, task = FakeEnvironment(), with_faults(fake_task(), "failing_starts: 2")
    for _ in range(2):
        with pytest.raises(SetupError):
            await environment.start(task)
    assert (await environment.start(task)).driver == "fake"


async def test_a_failed_look_has_no_picture() -> None:
    environment = await opened(failing_looks=[1])
    looks = [await environment.observe() for _ in range(3)]
    assert [look.capture_error for look in looks] == [None, "timeout", None]
    assert [look.frame is None for look in looks] == [False, True, False]


async def test_crash_at_a_step() -> None:
    environment = await opened(crash_at=1)
    await environment.act(Wait(), [])
    with pytest.raises(EnvError):
        await environment.act(Wait(), [])


async def test_malformed_faults_are_a_setup_error() -> None:
    task: TaskSpec = identified(with_faults(fake_task(), "{crash: 3}"))
    with pytest.raises(SetupError):
        await FakeEnvironment().start(task)
