"""The Android environment on a scripted phone behind the real adb server."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from pipeline.actions import (
    Action,
    Click,
    DoubleClick,
    Drag,
    GetScreenshot,
    GetUrl,
    LaunchApp,
    LongPress,
    Pixel,
    Point,
    PressBack,
    PressEnter,
    PressHome,
    PressRecent,
    Swipe,
    TakeNote,
)
from pipeline.envs.android import AndroidEnvironment
from pipeline.envs.android_ready import boot_id, ready, set_mark
from pipeline.errors import ActionError, EnvError, SetupError
from pipeline.handset.wire import Output
from pipeline.protocols import Environment
from tests.androids import (
    FOCUS,
    HEIGHT,
    PACKAGE,
    WIDTH,
    AndroidPhone,
    OneDevice,
    PlainApp,
    black,
    environment_of,
    node,
    noise,
    phone_task,
    tree,
)
from tests.phones import Plugged, plugged, until

HERE = Point(x=500, y=500)


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plug(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Plugged]:
    """One phone and one adb server for this file."""
    async with plugged(tmp_path_factory.mktemp("plug"), AndroidPhone()) as found:
        yield found


@pytest.fixture
def phone(plug: Plugged) -> AndroidPhone:
    assert isinstance(plug.phone, AndroidPhone)
    plug.phone.renew()
    return plug.phone


@pytest.fixture
def there(plug: Plugged, phone: AndroidPhone) -> Plugged:
    assert plug.phone is phone
    return plug


@pytest_asyncio.fixture(loop_scope="module")
async def world(there: Plugged) -> AsyncIterator[AndroidEnvironment]:
    environment = environment_of(there.device)
    await environment.start(phone_task())
    yield environment
    await environment.close()


async def test_an_episode_starts_on_a_fresh_application_and_names_its_device(there: Plugged) -> None:
    environment: Environment = environment_of(there.device)

    info = await environment.start(phone_task())

    assert (info.driver, info.provider, info.device, info.build) == (
        "android",
        "adb",
        there.device.serial,
        "example/s1:14",
    )
    order = [command for _, command in there.phone.asked if command.startswith(("am ", "input keyevent KEYCODE_HOME"))]
    assert order == [
        "input keyevent KEYCODE_HOME",
        "am force-stop org.example.notes",
        "am start -n org.example.notes/.Main",
    ]
    await environment.close()


async def test_a_look_has_picture_tree_and_place(world: AndroidEnvironment, phone: AndroidPhone) -> None:
    seen = await world.observe()

    assert seen.frame is not None and seen.frame.image.bytes == phone.png
    assert seen.tree is not None and [found.name for found in seen.tree.nodes] == ["Save"]
    assert (seen.location, seen.title, seen.flags) == (FOCUS, "Notes", [])


async def test_of_several_names_the_episode_s_own_is_the_title(there: Plugged) -> None:
    names = {"Notes": PACKAGE, "便签": PACKAGE}
    environment = AndroidEnvironment(OneDevice(there.device), lambda _, device: PlainApp(device), names=names)
    await environment.start(phone_task())

    assert (await environment.observe()).title == "Notes"
    await environment.close()


async def test_the_target_is_the_smallest_thing_under_the_finger(
    world: AndroidEnvironment, phone: AndroidPhone
) -> None:
    phone.tree = tree(
        node(text="Large", box="[0,0][200,400]", clickable="true"), node(text="Small", box="[50,50][90,90]")
    )
    await world.observe()

    small, large, none = [await world.target(Pixel(x=x, y=x)) for x in (60, 10, 1000)]

    assert small is not None and large is not None and none is None
    assert (small.name, large.name) == ("Small", "Large")


@pytest.mark.parametrize(
    "action, points, commands",
    [
        (Click(point=HERE), [(10, 20)], ["input tap 10 20"]),
        (DoubleClick(point=HERE), [(10, 20)], ["input tap 10 20", "input tap 10 20"]),
        (LongPress(point=HERE), [(10, 20)], ["input swipe 10 20 10 20 900"]),
        (Drag(start=HERE, end=HERE), [(1, 2), (3, 4)], ["input draganddrop 1 2 3 4 900"]),
        (Swipe(start=HERE, end=HERE), [(1, 2), (3, 4)], ["input swipe 1 2 3 4 300"]),
        (PressBack(), [], ["input keyevent KEYCODE_BACK"]),
        (PressHome(), [], ["input keyevent KEYCODE_HOME"]),
        (PressEnter(), [], ["input keyevent KEYCODE_ENTER"]),
        (PressRecent(), [], ["input keyevent KEYCODE_APP_SWITCH"]),
        (GetScreenshot(), [], []),
        (TakeNote(content="it is late"), [], []),
    ],
)
async def test_actions_are_the_device_s_own_gestures(
    world: AndroidEnvironment, phone: AndroidPhone, action: Action, points: list[tuple[int, int]], commands: list[str]
) -> None:
    await world.observe()
    phone.asked.clear()

    await world.act(action, [Pixel(x=x, y=y) for x, y in points])

    assert [command for _, command in phone.asked] == commands


async def test_a_note_is_told_to_the_next_turn(world: AndroidEnvironment) -> None:
    await world.observe()

    done = await world.act(TakeNote(content="it is late"), [])

    assert done.feedback == "it is late"


async def test_what_a_phone_cannot_do_is_refused(world: AndroidEnvironment) -> None:
    with pytest.raises(ActionError) as caught:
        await world.act(GetUrl(), [])

    assert caught.value.code == "unknown_action"


async def test_input_that_the_system_refuses_is_no_failure_of_the_agent(
    world: AndroidEnvironment, phone: AndroidPhone
) -> None:
    phone.on("input tap", 1)

    with pytest.raises(EnvError) as caught:
        await world.act(Click(point=HERE), [Pixel(x=1, y=1)])

    assert caught.value.code == "input_refused"


@pytest.mark.parametrize("name", ["Phone", "org.example.phone", "phone"])
async def test_an_application_is_launched_and_seen_in_front(
    world: AndroidEnvironment, phone: AndroidPhone, name: str
) -> None:
    async def start(command: str, output: Output) -> int:
        phone.focus = "org.example.phone/org.example.phone.Dial"
        await output.out(b"Status: ok\n")
        return 0

    phone.on("am start", start)

    await world.act(LaunchApp(app=name), [])

    assert phone.asked[-2][1].endswith("-n org.example.phone/.Dial")


async def test_a_launch_that_shows_something_else_is_a_failure(
    world: AndroidEnvironment, phone: AndroidPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.envs.android_launch._FRONT_SECONDS", 0.1)

    with pytest.raises(ActionError, match=r"did not come to the front; 'org\.example\.notes/"):
        await world.act(LaunchApp(app="phone"), [])


async def test_an_application_that_is_not_there_is_said_with_those_that_are(world: AndroidEnvironment) -> None:
    with pytest.raises(ActionError, match=r"no application 'Chess'; there are: notes, org\.example\.phone") as caught:
        await world.act(LaunchApp(app="Chess"), [])

    assert caught.value.code == "bad_arguments"


async def test_a_secure_window_is_told_apart_from_a_black_screen(
    world: AndroidEnvironment, phone: AndroidPhone
) -> None:
    phone.png = black()
    dark = await world.observe()
    phone.flags = "LAYOUT_IN_SCREEN SECURE"
    before = phone.count("screencap")

    secure = await world.observe()

    assert dark.frame is not None and dark.capture_error is None
    assert (secure.frame, secure.capture_error) == (None, "secure_screen")
    assert secure.tree is not None
    assert phone.count("screencap") == before + 1


async def test_a_secure_window_that_still_shows_is_a_picture(world: AndroidEnvironment, phone: AndroidPhone) -> None:
    phone.flags = "SECURE"

    seen = await world.observe()

    assert seen.frame is not None and phone.count("dumpsys window windows") == 0


@pytest.mark.parametrize("sign", ["a further display", "a further panel"])
async def test_the_picture_is_the_default_display_s(world: AndroidEnvironment, phone: AndroidPhone, sign: str) -> None:
    phone.on("screencap -p -d 4619827259835644672", noise(seed=8))
    phone.on(
        "dumpsys display",
        '    mBaseDisplayInfo=DisplayInfo{"Cast", displayId 2", rotation 0, uniqueId "local:17"}\n'
        '    mBaseDisplayInfo=DisplayInfo{"Built-in Screen", displayId 0", FLAG_SECURE, rotation 0, type INTERNAL, '
        'uniqueId "local:4619827259835644672", app 200 x 400}\n',
    )
    if sign == "a further panel":
        phone.png = b"[Warning] Multiple displays were found, but no display id was specified!\n" + phone.png
    else:
        phone.on(
            "dumpsys window displays",
            "  Display: mDisplayId=2\n    cur=30x20\n    mRotation=ROTATION_0\n  mCurrentFocus=null\n"
            "  Display: mDisplayId=0\n    cur=200x400\n    mRotation=ROTATION_0\n"
            "  mCurrentFocus=Window{1 u0 com.a/.B}\n",
        )

    seen = await world.observe()

    assert seen.frame is not None and seen.frame.image.bytes == noise(seed=8)
    assert (seen.location, seen.flags) == ("com.a/.B" if sign == "a further display" else FOCUS, [])


async def test_a_picture_that_never_comes_is_a_time_out(
    world: AndroidEnvironment, phone: AndroidPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.envs.android_capture.CAPTURE_SECONDS", 0.2)
    phone.on("screencap", phone.hang)

    seen = await world.observe()

    assert (seen.frame, seen.capture_error) == (None, "timeout")
    assert phone.count("screencap") == 2 + 1


async def test_a_turned_screen_is_touched_where_it_is_seen(world: AndroidEnvironment, phone: AndroidPhone) -> None:
    await world.observe()
    phone.size, phone.rotation, phone.png = (400, 200), 1, noise(400, 200)
    phone.tree = tree(node(text="Save", box="[300,20][380,60]", clickable="true"), rotation=1)

    seen = await world.observe()
    await world.act(Click(point=HERE), [Pixel(x=340, y=40)])

    assert seen.flags == ["rotated"]
    assert seen.tree is not None and seen.tree.nodes[0].box is not None
    assert seen.tree.nodes[0].box.contains(Pixel(x=340, y=40))
    assert phone.asked[-1][1] == "input tap 340 40"


async def test_a_sideways_picture_has_its_tree_and_its_touches_turned(
    world: AndroidEnvironment, phone: AndroidPhone
) -> None:
    phone.size, phone.rotation = (400, 200), 1
    phone.tree = tree(node(text="Save", box="[0,0][20,10]", clickable="true"), rotation=1)

    seen = await world.observe()
    assert seen.tree is not None and seen.tree.nodes[0].box is not None
    await world.act(Click(point=HERE), [seen.tree.nodes[0].box.centre])

    assert seen.tree.nodes[0].box.centre == Pixel(x=195, y=10)
    assert phone.asked[-1][1] == "input tap 10 4"


async def test_a_screen_that_turns_while_it_is_looked_at_is_looked_at_again(
    world: AndroidEnvironment, phone: AndroidPhone
) -> None:
    phone.png = noise(400, 200)

    torn = await world.observe()
    with pytest.raises(ActionError, match="turned"):
        await world.act(Click(point=HERE), [Pixel(x=1, y=1)])
    phone.png = noise()
    whole = await world.observe()

    assert (torn.flags, whole.flags) == (["torn"], [])
    assert phone.count("screencap") == 1 + 2 + 1


async def test_a_screen_that_turns_under_its_picture_is_looked_at_again(
    world: AndroidEnvironment, phone: AndroidPhone
) -> None:
    phone.size, phone.rotation = (400, 200), 1
    phone.tree = tree(node(text="Save", box="[300,20][380,60]"), rotation=1)

    async def turning(command: str, output: Output) -> int:
        del command
        phone.size, phone.rotation = (WIDTH, HEIGHT), 0
        phone.tree = tree(node(text="Save", box="[100,20][180,60]"))
        await output.out(noise())
        return 0

    phone.on("screencap", turning)
    before = phone.count("screencap")

    seen = await world.observe()
    await world.act(Click(point=HERE), [Pixel(x=140, y=40)])

    assert phone.count("screencap") == before + 2
    assert seen.frame is not None and (seen.frame.width, seen.flags) == (WIDTH, [])
    assert seen.tree is not None and seen.tree.nodes[0].box is not None
    assert seen.tree.nodes[0].box.contains(Pixel(x=140, y=40))
    assert phone.asked[-1][1] == "input tap 140 40"


@pytest.mark.parametrize("keeps", [False, True])
async def test_a_screen_that_does_not_stop_turning_is_torn(
    world: AndroidEnvironment, phone: AndroidPhone, keeps: bool
) -> None:
    phone.size, phone.rotation = (400, 200), 1
    phone.on("uiautomator dump", "ERROR: null root node returned by UiTestAutomationBridge.")

    async def turning(command: str, output: Output) -> int:
        del command
        await output.out(phone.png)
        if keeps:
            # What is read after the picture is upright, what is read before the next one is not.
            phone.on("dumpsys window displays", upright)
        return 0

    async def upright(command: str, output: Output) -> int:
        del command
        phone.scripts.pop(0)
        await output.out(b"  cur=200x400\n  mRotation=ROTATION_0\n  mCurrentFocus=Window{1 u0 com.a/.B}\n")
        return 0

    phone.on("screencap", turning)

    seen = await world.observe()

    assert ("torn" in seen.flags) is keeps


async def test_an_application_that_does_not_respond_is_an_event_once(
    world: AndroidEnvironment, phone: AndroidPhone
) -> None:
    phone.focus = "Application Not Responding: org.example.notes"

    seen = [await world.observe() for _ in range(2)]

    assert [look.flags for look in seen] == [["app_not_responding"]] * 2
    assert [(event.kind, event.message) for event in world.drain_events()] == [
        ("app_not_responding", "org.example.notes")
    ]


async def test_a_device_cut_off_between_two_steps_goes_on(there: Plugged, world: AndroidEnvironment) -> None:
    there.wire.drop()
    first = await world.observe()

    async def cut_off() -> bool:
        return await there.device.state() != "device"

    there.wire.drop()
    await until(cut_off)
    await world.act(PressBack(), [])

    assert first.frame is not None
    assert there.phone.count("input keyevent KEYCODE_BACK") == 1


async def test_an_action_during_which_the_device_is_cut_off_is_not_done_twice(
    there: Plugged, world: AndroidEnvironment, phone: AndroidPhone
) -> None:
    phone.on("input keyevent KEYCODE_BACK", phone.hang)
    acting = asyncio.create_task(world.act(PressBack(), []))
    await phone.hanging.wait()

    there.wire.drop()

    with pytest.raises(EnvError):
        await acting
    assert phone.count("input keyevent KEYCODE_BACK") == 1


async def test_a_device_that_is_gone_ends_the_episode_and_is_given_back_as_broken(tmp_path: Path) -> None:
    async with plugged(tmp_path, AndroidPhone()) as there:
        fleet = OneDevice(there.device)
        environment = AndroidEnvironment(fleet, lambda _, device: PlainApp(device))
        await environment.start(phone_task())

        await there.wire.close()

        with pytest.raises(EnvError) as caught:
            await environment.observe()
        assert caught.value.code == "device_offline"
        await environment.close()
        assert fleet.worked == [False]


async def test_every_episode_resets_the_same_application(there: Plugged) -> None:
    apps: list[PlainApp] = []
    fleet = OneDevice(there.device)
    environment = AndroidEnvironment(fleet, lambda _, device: apps.append(PlainApp(device)) or apps[-1])  # type: ignore[func-returns-value]

    for _ in range(2):
        await environment.start(phone_task())
    await environment.close()

    assert [app.resets for app in apps] == [2]
    assert fleet.worked == [True, True]


@pytest.mark.parametrize("noticed_by", ["look", "probe"])
async def test_a_boot_during_an_episode_ends_it_and_the_device_did_not_work(
    there: Plugged, phone: AndroidPhone, noticed_by: str
) -> None:
    fleet = OneDevice(there.device)
    environment = AndroidEnvironment(fleet, lambda _, device: PlainApp(device))
    await environment.start(phone_task())
    await environment.observe()

    phone.boot_id = "second"
    there.wire.drop()

    with pytest.raises(EnvError) as caught:
        await (environment.observe() if noticed_by == "look" else environment.probe([], 1))
    assert caught.value.code == "rebooted"
    await environment.start(phone_task())
    assert (await environment.observe()).frame is not None
    await environment.close()
    assert fleet.worked == [False, True]


async def test_after_a_boot_only_a_new_boot_id_counts(there: Plugged, phone: AndroidPhone) -> None:
    first = await boot_id(there.device)
    waiting = asyncio.create_task(ready(there.device, 10.0, stale=first))
    await asyncio.sleep(0.3)
    still_waiting = not waiting.done()

    phone.boot_id = "second"
    there.wire.drop()
    second = await waiting
    phone.boot_id = "third"
    third = await ready(there.device, 10.0, stale=second.boot_id)

    assert still_waiting
    assert (second.boot_id, third.boot_id) == ("second", "third")


async def test_a_snapshot_that_says_it_is_restored_is_believed_when_the_mark_is_gone(
    there: Plugged, phone: AndroidPhone
) -> None:
    await set_mark(there.device)
    (mark,) = phone.files
    phone.on("ls ", 0)

    with pytest.raises(SetupError, match="written after the snapshot is still there"):
        await ready(there.device, 0.5, restored=True)
    phone.on("ls ", 1)

    assert (await ready(there.device, 5.0, restored=True)).boot_id == "first"
    assert phone.count(f"ls {mark}") > 1


@pytest.mark.parametrize(
    "pattern, reply, missing",
    [
        ("getprop sys.boot_completed", "\n", "not booted to the end"),
        ("pm list packages", "", "package service lists nothing"),
        ("pm list packages", 20, "pm: exit code 20"),
        ("dumpsys window displays", "Can't find service: window\n", "does not say how the screen is"),
        ("screencap", b"", "the capture returned nothing"),
    ],
)
async def test_a_device_without_its_services_is_not_ready(
    there: Plugged, phone: AndroidPhone, pattern: str, reply: bytes | str | int, missing: str
) -> None:
    phone.on(pattern, reply)

    with pytest.raises(SetupError, match=missing) as caught:
        await ready(there.device, 0.5)

    assert caught.value.code == "device_not_ready"


async def test_a_device_that_hangs_is_not_ready_in_time(there: Plugged, phone: AndroidPhone) -> None:
    phone.on("cat /proc", phone.hang)

    with pytest.raises(SetupError, match="no answer in"):
        await ready(there.device, 0.5)
