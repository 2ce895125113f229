"""The desktop environment, on a machine without a screen: looks, actions, text, probes, what is laid out."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence

import pytest

from pipeline.actions import (
    Action,
    Click,
    DoubleClick,
    Drag,
    Hotkey,
    Hover,
    KeyDown,
    KeyUp,
    LaunchApp,
    LongPress,
    MiddleClick,
    Pixel,
    Point,
    PressEnter,
    PressHome,
    RightClick,
    Scroll,
    Swipe,
    TakeNote,
    TripleClick,
    Type,
    Wait,
)
from pipeline.envs import desktop as desktop_module
from pipeline.envs import desktop_programs
from pipeline.envs.desktop import DesktopEnvironment
from pipeline.envs.fake_machine import FILE, FakeMachine, MachineFaults
from pipeline.envs.machine import Button, Ran
from pipeline.envs.machines import Machines
from pipeline.errors import ActionError, EnvError, SetupError
from pipeline.protocols import Environment
from pipeline.tasks import Check, SetupOperation, Start
from tests.programs import NOTE, PAD, desktop_task, program

AT = Point(x=500, y=500)
HERE, THERE = Pixel(x=320, y=200), Pixel(x=320, y=320)


class Noted(FakeMachine):
    """Writes down what is pressed and where the pointer goes."""

    def __init__(self, faults: MachineFaults | None = None) -> None:
        super().__init__(faults=faults)
        self.done: list[str] = []
        self.shapes: dict[str, str] = {}
        self.times: dict[str, str] = {}
        self.ran: list[list[str]] = []

    async def run(self, argv: Sequence[str], *, seconds: float) -> Ran:
        if argv[0] == "echo":
            return await super().run(argv, seconds=seconds)
        if argv[0] != "find":
            self.ran.append(list(argv))
            return Ran(0, b"", b"")
        told = self.times if "@%T@" in argv[-1] else self.shapes
        return Ran(0, "".join(f"{path}\0{value}\0" for path, value in told.items()).encode(), b"")

    async def pointer(self, pixel: Pixel) -> None:
        self.done.append(f"{pixel.x},{pixel.y}")

    async def button(self, button: Button, *, down: bool) -> None:
        self.done.append(f"{button}{'+' if down else '-'}")
        await super().button(button, down=down)

    async def key(self, name: str, *, down: bool) -> None:
        await super().key(name, down=down)
        self.done.append(f"{name}{'+' if down else '-'}")


@pytest.fixture
async def machine() -> Noted:
    return Noted()


@pytest.fixture
async def desktop(machine: Noted) -> AsyncIterator[DesktopEnvironment]:
    environment = DesktopEnvironment(Machines(lambda _: machine), lambda _: PAD)
    await environment.start(desktop_task())
    yield environment
    await environment.close()


async def test_it_is_an_environment(desktop: DesktopEnvironment) -> None:
    environment: Environment = desktop

    assert environment.drain_events() == []


async def test_a_look_has_picture_tree_and_the_window_in_front(desktop: DesktopEnvironment) -> None:
    seen = await desktop.observe()

    assert seen.frame is not None
    assert seen.tree is not None
    assert (seen.location, seen.title, seen.tree_error) == ("Pad", "Pad", None)


async def test_what_lies_under_a_point_is_told(desktop: DesktopEnvironment) -> None:
    target = await desktop.target(HERE)

    assert target is not None
    assert (target.role, target.states) == ("textbox", ["editable", "focused"])
    assert await desktop.target(Pixel(x=1, y=1)) is None


@pytest.mark.parametrize(
    ("action", "points", "done"),
    [
        (Click(point=AT), [HERE], "320,200 left+ left-"),
        (DoubleClick(point=AT), [HERE], "320,200 left+ left- left+ left-"),
        (TripleClick(point=AT), [HERE], "320,200 left+ left- left+ left- left+ left-"),
        (RightClick(point=AT), [HERE], "320,200 right+ right-"),
        (MiddleClick(point=AT), [HERE], "320,200 middle+ middle-"),
        (Hover(point=AT), [HERE], "320,200"),
        (Scroll(point=AT, direction="down"), [HERE], "320,200" + " scroll_down+ scroll_down-" * 5),
        (Swipe(start=AT, end=AT), [THERE, HERE], "320,320" + " scroll_down+ scroll_down-" * 2),
        (PressEnter(), [], "Return+ Return-"),
        (Hotkey(keys=["Control", "Shift", "S"]), [], "Control_L+ Shift_L+ s+ s- Shift_L- Control_L-"),
        (KeyDown(keys=["shift"]), [], "Shift_L+"),
        (KeyUp(keys=["shift", "ctrl"]), [], "Shift_L- Control_L-"),
    ],
    ids=lambda value: value.type if hasattr(value, "type") else "",
)
async def test_actions_are_raw_events(
    desktop: DesktopEnvironment, machine: Noted, action: Action, points: list[Pixel], done: str
) -> None:
    await desktop.act(action, points)

    assert " ".join(machine.done) == done


async def test_a_drag_presses_moves_in_steps_and_lets_go(desktop: DesktopEnvironment, machine: Noted) -> None:
    await desktop.act(Drag(start=AT, end=AT), [HERE, THERE])

    assert machine.done[:2] == ["320,200", "left+"]
    assert machine.done[2:-1] == [f"320,{y}" for y in range(210, 321, 10)]
    assert machine.done[-1] == "left-"


async def test_a_long_press_is_held(desktop: DesktopEnvironment, machine: Noted) -> None:
    await desktop.act(LongPress(point=AT), [HERE])

    assert machine.done == ["320,200", "left+", "left-"]


async def test_keys_stay_down_until_they_are_let_go(desktop: DesktopEnvironment, machine: Noted) -> None:
    await desktop.act(KeyDown(keys=["Shift", "Control"]), [])
    assert machine.held == {"Shift_L", "Control_L"}

    await desktop.act(KeyUp(keys=["Shift", "Control"]), [])
    assert machine.held == frozenset()


async def test_a_hotkey_with_an_unknown_key_leaves_none_down(desktop: DesktopEnvironment, machine: Noted) -> None:
    with pytest.raises(ActionError) as caught:
        await desktop.act(Hotkey(keys=["Control", "nokey"]), [])

    assert caught.value.code == "bad_arguments"
    assert machine.held == frozenset()


@pytest.mark.parametrize("action", [PressHome(), LaunchApp(app="Nothing"), Type(content="")])
async def test_what_a_desktop_cannot_do_is_said(desktop: DesktopEnvironment, action: Action) -> None:
    with pytest.raises(ActionError) as caught:
        await desktop.act(action, [])

    assert caught.value.code in ("unknown_action", "bad_arguments")


async def test_a_program_is_launched_by_its_name() -> None:
    machine = FakeMachine()
    environment = DesktopEnvironment(Machines(lambda _: machine), lambda _: PAD)
    await environment.start(desktop_task())
    await machine.leave()

    await environment.act(LaunchApp(app="pad"), [])

    assert [window.title for window in await machine.windows()] == ["Pad"]


async def test_a_program_that_shows_no_further_window_is_a_failed_step_and_no_fault() -> None:
    hasty = PAD.model_copy(update={"ready": PAD.ready.model_copy(update={"seconds": 0.1})})
    environment = DesktopEnvironment(Machines(lambda _: FakeMachine()), lambda _: hasty)
    await environment.start(desktop_task())

    with pytest.raises(ActionError, match=r"no window of Pad in 0\.1 s"):
        await environment.act(LaunchApp(app="Pad"), [])


async def test_a_note_comes_back(desktop: DesktopEnvironment) -> None:
    assert (await desktop.act(TakeNote(content="seven"), [])).feedback == "seven"


async def test_text_that_arrives_is_verified(desktop: DesktopEnvironment) -> None:
    await desktop.observe()

    assert (await desktop.act(Type(content="é你🙂\n|"), [])).flags == []


async def test_text_is_verified_by_what_the_field_held_at_the_look_or_the_text_before(
    desktop: DesktopEnvironment,
) -> None:
    unseen = await desktop.act(Type(content="a"), [])
    seen = await desktop.act(Type(content="a"), [])
    await desktop.act(PressEnter(), [])
    meanwhile = await desktop.act(Type(content="a"), [])

    assert (unseen.flags, seen.flags, meanwhile.flags) == (["text_unverified"], [], ["text_unverified"])


async def test_text_that_is_lost_is_a_failed_step() -> None:
    environment = DesktopEnvironment(
        Machines(lambda _: FakeMachine(faults=MachineFaults(losing_text=True))), lambda _: PAD
    )
    await environment.start(desktop_task())

    with pytest.raises(ActionError) as caught:
        await environment.act(Type(content="lost"), [])

    assert caught.value.code == "text_not_delivered"


async def test_characters_that_no_key_enters_are_named(desktop: DesktopEnvironment, machine: Noted) -> None:
    with pytest.raises(ActionError, match=r"no key enters '\\x07', '\\ud83d'") as caught:
        await desktop.act(Type(content="a\x07\ud83d"), [])

    assert caught.value.code == "text_not_delivered"
    tree = (await machine.tree()).nodes
    assert [node.value for node in tree] == [""]


async def test_probes_are_answered_from_files_and_windows(desktop: DesktopEnvironment) -> None:
    await desktop.act(Type(content="written"), [])
    await desktop.act(Hotkey(keys=["Control", "s"]), [])
    checks = [
        Check(name=name, verifier="equals", probe=name, app_id="pad") for name in ("note", "files", "windows", "other")
    ]

    reads = {read.probe: read for read in await desktop.probe([*checks, checks[0]], 3)}

    assert reads["note"].value == [["first line"]]
    assert reads["files"].value == [[NOTE], [FILE]]
    assert reads["windows"].value == [["Pad", "Pad"]]
    assert reads["changes"].value == [[FILE, "added"]]
    assert "no probe 'other'" in (reads["other"].error or "")


async def test_text_that_does_not_show_while_the_screen_is_at_work_is_not_said_to_be_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def settle(most_seconds: float) -> bool:
        return False

    machine = FakeMachine(faults=MachineFaults(losing_text=True))
    monkeypatch.setattr(machine, "settle", settle)
    environment = DesktopEnvironment(Machines(lambda _: machine), lambda _: PAD)
    await environment.start(desktop_task())
    await environment.observe()

    told = await environment.act(Type(content="written"), [])

    assert told.flags == ["text_unverified"]


async def test_waiting_takes_as_long_as_others_leave_the_machine_room(
    desktop: DesktopEnvironment, machine: Noted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock of which a second takes two."""
    monkeypatch.setattr(machine, "clock", lambda: time.monotonic() / 2)
    began = time.monotonic()

    await desktop.act(Wait(), [])

    assert time.monotonic() - began >= 2.0


async def test_a_file_that_a_program_is_still_at_work_on_is_waited_for() -> None:
    machine = FakeMachine(faults=MachineFaults(slow_saves=3))
    environment = DesktopEnvironment(Machines(lambda _: machine), lambda _: PAD)
    await environment.start(desktop_task())
    await environment.act(Type(content="written"), [])
    await environment.act(Hotkey(keys=["Control", "s"]), [])
    assert FILE not in await machine.files()

    assert (await environment.probe([], 1))[0].value == [[FILE, "added"]]


async def test_a_tasks_set_up_is_laid_out_with_the_entrys_files() -> None:
    machine = FakeMachine()
    environment = DesktopEnvironment(Machines(lambda _: machine), lambda _: PAD)
    setup = [
        SetupOperation(kind="append", app_id="pad", target=NOTE, content="second line\n"),
        SetupOperation(kind="write", app_id="pad", target="Documents/b.txt", content="b"),
    ]

    await environment.start(desktop_task(setup=setup))

    assert await machine.read(NOTE) == b"first line\nsecond line\n"
    assert await machine.read("Documents/b.txt") == b"b"
    assert (await environment.probe([], 0))[0].value == []


def named(*probes: str) -> list[Check]:
    return [Check(name=name, verifier="absent", probe=name, expected=["x"], app_id="pad") for name in probes]


async def test_what_the_episode_made_unsound_is_told_apart_from_what_was_so_at_the_start(
    desktop: DesktopEnvironment, machine: Noted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desktop_programs, "_CALM_SECONDS", 0.01)
    entry = program("pad", "Pad", probes={**PAD.probes, "table": {"kind": "cells", "path": NOTE, "what": "values"}})
    environment = DesktopEnvironment(Machines(lambda _: machine), lambda _: entry)
    await environment.start(desktop_task())
    [table, *_] = await environment.probe(named("table"), 0)

    await machine.write(NOTE, b"\xff")
    [text, spoilt, *_] = await environment.probe(named("note", "table"), 1)
    await environment.keep("spoilt")
    await environment.start_from(desktop_task(), "spoilt")
    [still, *_] = await environment.probe(named("note"), 0)

    assert (table.value, text.value, spoilt.value, still.value) == (None, [], [], [])
    assert "UnicodeDecodeError" in (text.error or "") and "BadZipFile" in (spoilt.error or "")


async def test_what_is_still_being_written_is_not_called_unsound(
    desktop: DesktopEnvironment, machine: Noted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desktop_programs, "_CALM_SECONDS", 0.01)

    async def works() -> bool:
        return True

    await machine.write(NOTE, b"\xff")
    monkeypatch.setattr(machine, "works", works)

    [text, *_] = await desktop.probe(named("note"), 1)
    assert text.value is None


async def test_set_up_that_is_for_no_file_is_refused() -> None:
    environment = DesktopEnvironment(Machines(lambda _: FakeMachine()), lambda _: PAD)

    with pytest.raises(SetupError, match="'sqlite' cannot be done on a desktop"):
        await environment.start(
            desktop_task(setup=[SetupOperation(kind="sqlite", app_id="pad", target="x", content="")])
        )


async def test_an_episode_finds_nothing_of_the_one_before() -> None:
    machine = FakeMachine()
    environment = DesktopEnvironment(Machines(lambda _: machine), lambda _: PAD)
    await environment.start(desktop_task())
    await environment.act(Type(content="old"), [])
    await environment.act(Hotkey(keys=["Control", "s"]), [])
    await environment.act(KeyDown(keys=["Shift"]), [])

    await environment.start(desktop_task(start=Start(app_id="pad")))

    assert set(await machine.files()) == {NOTE}
    assert machine.held == frozenset()
    assert [node.value for node in (await machine.tree()).nodes] == [""]


# --- states that are kept ------------------------------------------------------------------------------------------


async def wrote(desktop: DesktopEnvironment, machine: FakeMachine) -> None:
    """Write a file, remove another, and have the pad show what it showed at the beginning."""
    await machine.write(FILE, b"written")
    await machine.remove(NOTE)


async def changes(desktop: DesktopEnvironment) -> list[list[str]] | None:
    return (await desktop.probe([], 0))[0].value


async def test_a_kept_home_is_begun_with_and_its_changes_are_told(desktop: DesktopEnvironment, machine: Noted) -> None:
    await wrote(desktop, machine)
    home, told = await machine.files(), await changes(desktop)
    await desktop.keep("here")
    await desktop.start(desktop_task())
    assert await changes(desktop) == []

    for _ in range(2):
        begun = await desktop.start_from(desktop_task(), "here")
        assert begun is not None and (await machine.files(), await changes(desktop)) == (home, told)

    assert sorted(told or []) == [[NOTE, "removed"], [FILE, "added"]]


async def test_modes_that_cannot_be_told_are_trouble_and_no_change(
    desktop: DesktopEnvironment, machine: Noted, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(argv: Sequence[str], *, seconds: float) -> Ran:
        return Ran(127, b"", b"find: not found")

    monkeypatch.setattr(machine, "run", run)

    with pytest.raises(EnvError, match="find: not found"):
        await changes(desktop)


async def test_what_was_not_saved_is_not_kept(
    desktop: DesktopEnvironment, machine: Noted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desktop_module, "SETTLE_SECONDS", 0.1)
    await wrote(desktop, machine)
    await desktop.act(Type(content="not saved"), [])
    await desktop.keep("here")
    assert await desktop.start_from(desktop_task(), "here") is None

    await desktop.start(desktop_task())
    await desktop.keep("here")
    reverts = machine.reverts
    assert await desktop.start_from(desktop_task(), "here") is None and machine.reverts == reverts


async def test_modes_and_links_are_kept_or_nothing_is(desktop: DesktopEnvironment, machine: Noted) -> None:
    machine.shapes = {"run.sh": "f755 ", "near": "lrwxrwxrwx a b"}
    await desktop.keep("here")
    machine.shapes = {"run.sh": "f644 "}

    assert await desktop.start_from(desktop_task(), "here") is None
    assert machine.ran == [["chmod", "755", "--", "run.sh"], ["ln", "-sfn", "--", "a b", "near"]]


async def test_times_of_files_are_kept(desktop: DesktopEnvironment, machine: Noted) -> None:
    machine.times = {"run.sh": "@5.0", ".hidden": "@6.0"}
    await desktop.keep("here")

    assert await desktop.start_from(desktop_task(), "here") is not None
    assert [argv[3:] for argv in machine.ran] == [["sh", "@5.0", "run.sh"]]


async def test_nothing_is_kept_of_programs_that_hide_what_they_hold_or_of_files_that_cannot_be_read(
    desktop: DesktopEnvironment, machine: Noted, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = program("pad", "Pad", hides=True)
    environment = DesktopEnvironment(Machines(lambda _: machine), lambda _: shell)
    await environment.start(desktop_task())
    await environment.keep("here")
    assert await environment.start_from(desktop_task(), "here") is None

    async def shut(path: str) -> bytes:
        raise PermissionError(path)

    await desktop.start(desktop_task())
    await machine.write("Documents/shut", b"")
    monkeypatch.setattr(machine, "read", shut)
    await desktop.keep("there")
    assert await desktop.start_from(desktop_task(), "there") is None


async def test_nothing_is_kept_where_other_windows_are_open(desktop: DesktopEnvironment, machine: Noted) -> None:
    await machine.leave()

    await desktop.keep("here")

    assert await desktop.start_from(desktop_task(), "here") is None


async def test_what_is_kept_goes_with_the_environment(desktop: DesktopEnvironment) -> None:
    await desktop.keep("here")
    await desktop.close()

    assert await desktop.start_from(desktop_task(), "here") is None
