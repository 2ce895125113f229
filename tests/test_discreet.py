"""A secret is typed by the environment, and nothing that comes out of it tells the secret."""

from __future__ import annotations

import asyncio
import io
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pictures

from pipeline.actions import Action, Click, Launch, Pixel, TakeNote, Type
from pipeline.envs.discreet import SECRET, DiscreetEnvironment, discreet_environment
from pipeline.envs.fake import FakeEnvironment
from pipeline.envs.sensitive import innermost
from pipeline.envs.withheld import WithheldEnvironment
from pipeline.errors import ActionError, CaptureError, EnvError, PathproofError, RunError, SetupError
from pipeline.masking import MASK
from pipeline.ocr import Line, PictureReader
from pipeline.policies.canned import Given
from pipeline.protocols import ActResult, Environment, Keeping, Observation, patience_of
from pipeline.records import Event, Frame, tree_of
from pipeline.structs import Box, Node
from pipeline.tasks import Check, SetupOperation, Start, TaskSpec, identified
from pipeline.vault import Secret, Vault
from tests.episodes import fake_task, on_screen, play

VALUE = "Kestrel-7f3a-91bc"
VAULT = Vault([Secret(name="PIN", value=VALUE, apps=["fake-todo"]), Secret(name="OTHER", value="x" * 9, apps=["b"])])
TYPED = Type(content="<secret:PIN>")
FIELD = Box(left=12, top=80, right=252, bottom=106)


class Unseen(PictureReader):
    """Reads nothing, and counts how often it was asked; or reads one line."""

    def __init__(self, *lines: Line) -> None:
        self.asked = 0
        self._found = list(lines)

    def lines(self, frame: Frame) -> list[Line]:
        del frame
        self.asked += 1
        return self._found


class Blurting(FakeEnvironment):
    """Tells what it types: in feedback, in an event, in its errors."""

    def __init__(self, trouble: Exception | None = None) -> None:
        super().__init__()
        self.acted: list[Action] = []
        self._trouble = trouble

    async def act(self, action: Action, points: Sequence[Pixel]) -> ActResult:
        self.acted.append(action)
        if isinstance(action, Type) and self._trouble:
            raise self._trouble
        result = await super().act(action, points)
        self._app.events.append(Event(attempt_id="", step_index=0, kind="dialog", message=f"hello {action}"))
        return result.model_copy(update={"feedback": f"done: {action}"})


class Treeless(FakeEnvironment):
    """Nobody can read its trees."""

    async def observe(self) -> Observation:
        return (await super().observe()).model_copy(update={"tree": None, "tree_error": "unavailable"})


async def typed_into(inner: Environment, reader: PictureReader | None = None) -> DiscreetEnvironment:
    environment = DiscreetEnvironment(inner, VAULT, reader or Unseen())
    await environment.start(fake_task())
    await environment.act(Click(point=await on_screen("New to-do", "textbox")), [FIELD.centre])
    await environment.act(TYPED, [])
    return environment


def painted(frame: Frame, box: Box) -> bool:
    pixels = np.asarray(Pictures.open(io.BytesIO(frame.image.bytes)).convert("RGB"))
    return len(np.unique(pixels[box.top : box.bottom, box.left : box.right].reshape(-1, 3), axis=0)) == 1


async def test_the_application_gets_the_secret_and_the_look_its_placeholder() -> None:
    inner = Blurting()
    environment = await typed_into(inner)

    seen = await environment.observe()

    assert inner.acted[-1] == Type(content=VALUE)
    assert seen.tree is not None and seen.frame is not None
    (node,) = [node for node in seen.tree.nodes if node.role == "textbox"]
    assert (node.value, seen.flags) == ("<secret:PIN>", ["contains_secret"])
    assert VALUE not in seen.model_dump_json(exclude={"frame"})
    assert [(region.class_, region.box) for region in seen.frame.sensitive] == [(SECRET, FIELD)]
    assert seen.tree.sensitive == seen.frame.sensitive
    assert painted(seen.frame, FIELD)
    assert not painted((await inner.observe()).frame or seen.frame, FIELD)


class Crowded(FakeEnvironment):
    """Shows a long text in each of many fields."""

    async def observe(self) -> Observation:
        digits = "".join(f"{number:05} " for number in range(660))
        fields = [Node(role="textbox", name=f"{n}", value=f"{n} {digits}", box=FIELD) for n in range(400)]
        return (await super().observe()).model_copy(update={"tree": tree_of(fields)})


async def test_a_look_full_of_text_does_not_hold_up_other_episodes() -> None:
    environment = DiscreetEnvironment(Crowded(), VAULT, Unseen())
    await environment.start(fake_task())
    gaps = [0.0]

    async def tick() -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.02)
            gaps.append(time.monotonic() - began)

    ticking = asyncio.ensure_future(tick())
    began, worked = time.monotonic(), time.process_time()
    seen = await environment.observe()
    took, worked = time.monotonic() - began, time.process_time() - worked
    ticking.cancel()

    assert seen.flags == ["contains_pii"]
    assert worked < 15  # of this process: others may be busy
    assert max(gaps) < took / 2


async def test_a_look_without_a_secret_is_the_others_own() -> None:
    inner = FakeEnvironment()
    environment = DiscreetEnvironment(inner, VAULT, Unseen())
    await environment.start(fake_task())

    mine, its = await environment.observe(), await inner.observe()

    assert (mine.frame, mine.tree, mine.flags) == (its.frame, its.tree, [])


async def test_pictures_are_read_once_and_only_after_a_secret_was_typed() -> None:
    reader = Unseen(Line("KestreI 7f3a", Box(left=300, top=300, right=400, bottom=320)), Line("Help", FIELD))
    environment = DiscreetEnvironment(FakeEnvironment(), VAULT, reader)
    await environment.start(fake_task())
    await environment.observe()
    assert reader.asked == 0

    await environment.act(Click(point=await on_screen("New to-do", "textbox")), [FIELD.centre])
    await environment.act(TYPED, [])
    for _ in range(2):
        seen = await environment.observe()

    assert reader.asked == 1
    assert seen.frame is not None
    assert [region.box for region in seen.frame.sensitive] == [FIELD, reader._found[0].box]


async def test_a_picture_without_a_tree_is_read_at_once() -> None:
    line = Line(VALUE, Box(left=10, top=10, right=90, bottom=30))
    environment = DiscreetEnvironment(Treeless(), VAULT, Unseen(line))
    await environment.start(fake_task())

    seen = await environment.observe()

    assert seen.frame is not None and painted(seen.frame, line.box)
    assert seen.flags == ["contains_secret"]


class Tired(Unseen):
    """Begins to read, and goes on when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.told = threading.Event(), threading.Event()

    def lines(self, frame: Frame) -> list[Line]:
        self.begun.set()
        assert self.told.wait(30)
        return super().lines(frame)


async def test_a_look_has_more_time_from_the_first_picture_that_is_read() -> None:
    unread, typed = DiscreetEnvironment(FakeEnvironment(), VAULT, Unseen()), await typed_into(FakeEnvironment())
    treeless = DiscreetEnvironment(Treeless(), VAULT, Unseen())
    for environment in (unread, treeless):
        await environment.start(fake_task())
        await environment.observe()

    assert patience_of(unread) == 1.0
    assert patience_of(typed) == patience_of(treeless) > 2.0


async def test_what_a_look_gave_up_waiting_for_is_there_for_the_next_one() -> None:
    reader = Tired()
    environment = await typed_into(FakeEnvironment(), reader)
    late = asyncio.ensure_future(environment.observe())
    assert await asyncio.to_thread(reader.begun.wait, 30)
    late.cancel()
    await asyncio.wait([late])

    reader.told.set()
    await environment.observe()

    assert reader.asked == 1


async def test_a_picture_that_cannot_be_read_is_never_shown_and_tried_again() -> None:
    class Broken(Unseen):
        def lines(self, frame: Frame) -> list[Line]:
            super().lines(frame)
            raise CaptureError("undecodable", frame.sha256)

    reader = Broken()
    environment = await typed_into(FakeEnvironment(), reader)

    for asked in (1, 2):
        with pytest.raises(EnvError) as caught:
            await environment.observe()
        assert (caught.value.code, reader.asked) == ("picture_unread", asked)


async def test_feedback_events_targets_and_reads_tell_nothing() -> None:
    environment = await typed_into(Blurting())
    await environment.act(Click(point=await on_screen("Add", "button")), [Pixel(x=420, y=90)])

    told = [
        (await environment.act(TakeNote(content=VALUE), [])).feedback or "",
        str(environment.drain_events()),
        str([await environment.target(Pixel(x=60, y=row)) for row in range(100, 560, 8)]),
        str(await environment.probe([Check(name="all", verifier="count", probe="todos")], 1)),
    ]

    assert not any(VALUE in text for text in told)
    assert all("<secret:PIN>" in text for text in told)


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        (EnvError("gone", f"while typing {VALUE}"), EnvError),
        (ActionError("text_not_delivered", f"{VALUE} was not taken"), ActionError),
        (RunError(f"stopped at {VALUE}"), RunError),
        (ValueError(f"insertText({VALUE[:12]}"), EnvError),
    ],
)
async def test_errors_tell_nothing_and_nor_does_what_they_came_from(
    trouble: Exception, kind: type[PathproofError]
) -> None:
    with pytest.raises(kind) as caught:
        await typed_into(Blurting(trouble))

    assert VALUE[:12] not in str(caught.value) and "<secret:PIN>" in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (Type(content="<secret:NONE>"), "there is no secret 'NONE'"),
        (Type(content="<secret:OTHER>"), "may not be typed into fake-todo"),
        (Launch(url="http://localhost/?q=<secret:PIN>"), "a secret can only be typed, not be a part of Launch"),
    ],
)
async def test_what_may_not_be_revealed_is_a_bad_argument_and_the_episode_goes_on(action: Action, words: str) -> None:
    record = await play([action, TYPED], environment=DiscreetEnvironment(Blurting(), VAULT, Unseen()), max_steps=2)

    first = record.steps[0]
    assert (first.status, first.action_error) == ("failed", "bad_arguments")
    assert words in (first.error_detail or "")
    assert len(record.steps) == 2


async def test_a_run_without_secrets_has_none_to_type() -> None:
    environment = discreet_environment(FakeEnvironment(), Vault())
    await environment.start(fake_task())

    with pytest.raises(ActionError, match="secrets that can be typed: none"):
        await environment.act(TYPED, [])


@pytest.mark.parametrize(
    "changes",
    [
        {"start": Start(app_id="fake-todo", path="/?pin=<secret:PIN>")},
        {"setup": [SetupOperation(kind="append", app_id="fake-todo", target="todos", content="<secret:PIN>")]},
    ],
)
async def test_no_placeholder_stands_in_an_application_from_the_start(changes: dict[str, Any]) -> None:
    for vault in (VAULT, Vault()):
        environment = discreet_environment(FakeEnvironment(), vault)
        task = fake_task().model_copy(update=changes)

        with pytest.raises(SetupError, match="begins with <secret:PIN>"):
            await environment.start(task)
        assert isinstance(environment, Keeping)
        with pytest.raises(SetupError, match="begins with <secret:PIN>"):
            await environment.start_from(task, "kept")


async def test_states_are_kept_where_the_other_environment_keeps_them() -> None:
    environment = discreet_environment(FakeEnvironment(), VAULT)
    assert isinstance(environment, Keeping)
    await environment.start(fake_task())
    await environment.keep("here")

    assert await environment.start_from(fake_task(), "here") is not None
    assert await environment.start_from(fake_task(), "nowhere") is None
    assert not isinstance(discreet_environment(WithheldEnvironment(FakeEnvironment()), VAULT), Keeping)
    await environment.finish()
    await environment.close()


async def test_an_environment_that_is_slow_has_its_time_behind_others() -> None:
    class Leisurely(FakeEnvironment):
        patience = 3.0

    assert patience_of(discreet_environment(WithheldEnvironment(Leisurely()), VAULT)) == 3.0
    assert patience_of(discreet_environment(FakeEnvironment(), VAULT)) == 1.0


async def test_the_rows_of_an_episode_hold_the_placeholder() -> None:
    given: list[Given] = [
        Click(point=await on_screen("New to-do", "textbox")),
        TYPED,
        Click(point=await on_screen("Add", "button")),
    ]

    record = await play(given, environment=DiscreetEnvironment(FakeEnvironment(), VAULT, Unseen()), max_steps=3)

    rows = record.model_dump_json(exclude={"frames": {"__all__": {"image"}}})
    assert VALUE not in rows and "<secret:PIN>" in rows and MASK not in rows
    assert record.trajectory.contains_secret


# --- personal data --------------------------------------------------------------------------------------------------


def showing(text: str) -> TaskSpec:
    """The task, in an application with such a to-do."""
    operation = SetupOperation(kind="append", app_id="fake-todo", target="todos", content=text)
    return identified(fake_task().model_copy(update={"setup": [operation]}))


async def test_personal_data_is_marked_where_it_stands_and_stays() -> None:
    environment = discreet_environment(FakeEnvironment(), Vault())
    await environment.start(showing("Write to ann.berg@posteo.de"))

    seen = await environment.observe()

    assert seen.tree is not None and seen.frame is not None
    boxes = {node.box for node in seen.tree.nodes if "ann.berg@posteo.de" in node.name}
    assert len(boxes) == 2  # the to-do and its check box, side by side
    assert {(region.class_, region.box) for region in seen.frame.sensitive} == {("email", box) for box in boxes}
    assert seen.tree.sensitive == seen.frame.sensitive
    assert seen.flags == ["contains_pii"]
    assert not any(painted(seen.frame, box) for box in boxes if box)


async def test_without_a_tree_it_is_sought_in_the_picture() -> None:
    line = Line("Card 5500 0055 5555 5559", Box(left=10, top=10, right=90, bottom=30))
    environment = DiscreetEnvironment(Treeless(), Vault(), Unseen(line, Line("Add", FIELD)))
    await environment.start(fake_task())

    seen = await environment.observe()

    assert seen.frame is not None
    assert [(region.class_, region.box) for region in seen.frame.sensitive] == [("card", line.box)]
    assert seen.flags == ["contains_pii"]


async def test_a_look_may_show_both() -> None:
    environment = DiscreetEnvironment(FakeEnvironment(), VAULT, Unseen())
    await environment.start(showing(f"{VALUE} of ann.berg@posteo.de"))

    seen = await environment.observe()

    assert seen.frame is not None
    assert seen.flags == ["contains_secret", "contains_pii"]
    assert {region.class_ for region in seen.frame.sensitive} == {SECRET, "email"}


def test_what_lies_around_another_box_is_left_out() -> None:
    inner, outer, beside = (
        Box(left=10, top=10, right=20, bottom=20),
        Box(left=0, top=0, right=99, bottom=99),
        Box(left=30, top=10, right=40, bottom=20),
    )
    assert innermost([outer, inner, beside, inner]) == [inner, beside]
