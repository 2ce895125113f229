"""How an episode on a phone is left: what it changed is put back, also after errors; a bad device is known for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from pipeline.actions import Click, LaunchApp, Pixel, Point, PressBack
from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android import AndroidEnvironment
from pipeline.errors import ActionError, EnvError, SetupError
from pipeline.handset.wire import Output
from tests.androids import AndroidPhone, OneDevice, PlainApp, noise, phone_task
from tests.phones import Plugged, plugged

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


@asynccontextmanager
async def episode(device: AdbDevice) -> AsyncIterator[tuple[AndroidEnvironment, PlainApp, OneDevice]]:
    """An episode that has begun, its application, and who gave the device."""
    app, fleet = PlainApp(device), OneDevice(device)
    environment = AndroidEnvironment(fleet, lambda *_: app)
    await environment.start(phone_task())
    yield environment, app, fleet
    await environment.close()


async def test_what_the_agent_could_not_do_leaves_the_application_as_any_end_does(there: Plugged) -> None:
    async with episode(there.device) as (environment, app, fleet):
        with pytest.raises(ActionError):
            await environment.act(LaunchApp(app="Chess"), [])

        await environment.finish()

        assert (app.left, fleet.worked) == (1, [True])


async def test_a_device_that_failed_once_is_left_as_it_was_found(there: Plugged, phone: AndroidPhone) -> None:
    async with episode(there.device) as (environment, app, fleet):
        phone.on("input tap", 1)
        with pytest.raises(EnvError):
            await environment.act(Click(point=HERE), [Pixel(x=1, y=1)])

        await environment.finish()

        assert (app.left, fleet.worked) == (1, [False])


async def test_a_device_that_hangs_is_given_back_soon_and_as_broken(
    there: Plugged, phone: AndroidPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.envs.android_actions._STROKE_SECONDS", 0.2)
    monkeypatch.setattr("pipeline.envs.android._LEAVE_SECONDS", 0.2)
    async with episode(there.device) as (environment, app, fleet):
        phone.on("", phone.hang)
        with pytest.raises(EnvError):
            await environment.act(PressBack(), [])

        async with asyncio.timeout(5):
            await environment.finish()

        assert (app.left, fleet.worked) == (1, [False])


async def test_a_start_that_failed_leaves_the_application_too(there: Plugged, phone: AndroidPhone) -> None:
    app, fleet = PlainApp(there.device), OneDevice(there.device)
    environment = AndroidEnvironment(fleet, lambda *_: app)
    phone.on("am start", 1)
    with pytest.raises(SetupError):
        await environment.start(phone_task())

    await environment.finish()

    assert (app.left, fleet.worked) == (1, [False])


async def test_who_cannot_be_left_does_not_keep_others_from_it(there: Plugged, phone: AndroidPhone) -> None:
    apps = {name: PlainApp(there.device) for name in ("notes", "shop")}
    fleet = OneDevice(there.device)
    environment = AndroidEnvironment(fleet, lambda app_id, _: apps[app_id])
    await environment.start(phone_task().model_copy(update={"app_ids": ["notes", "shop"]}))
    phone.on("settings put system screen_brightness", 1)

    with pytest.raises(EnvError):
        await environment.finish()

    assert ([app.left for app in apps.values()], fleet.worked) == ([1, 1], [False])


@pytest.mark.parametrize(("patience", "worked"), [(0.0, False), (60.0, True)])
async def test_a_call_that_nobody_would_wait_for_any_longer_counts_against_a_slow_device(
    there: Plugged, phone: AndroidPhone, monkeypatch: pytest.MonkeyPatch, patience: float, worked: bool
) -> None:
    monkeypatch.setattr("pipeline.envs.android._PATIENCE_SECONDS", patience)
    async with episode(there.device) as (environment, _, fleet):
        phone.on("input keyevent KEYCODE_BACK", phone.hang)
        acting = asyncio.create_task(environment.act(PressBack(), []))
        await phone.hanging.wait()
        acting.cancel()
        await asyncio.wait([acting])

        await environment.finish()

        assert fleet.worked == [worked]


async def test_a_tree_tool_that_never_answers_counts_against_the_device(there: Plugged, phone: AndroidPhone) -> None:
    async with hanging_tool(there.device, phone) as (environment, fleet):
        for _ in range(2):
            # The second look leaves the tool alone.
            await environment.observe()
        with pytest.raises(EnvError) as caught:
            await environment.probe([], 0)

        await environment.finish()

        assert (caught.value.code, fleet.worked) == ("tree_tool_hung", [False])


async def test_a_screen_that_draws_without_end_is_no_trouble_of_the_device(there: Plugged, phone: AndroidPhone) -> None:
    async def drawn(command: str, output: Output) -> int:
        del command
        await output.out(noise(seed=phone.count("screencap")))
        return 0

    phone.on("screencap", drawn)
    async with hanging_tool(there.device, phone) as (environment, fleet):
        observation = await environment.observe()
        await environment.probe([], 0)

        await environment.finish()

        assert (observation.tree_error, fleet.worked) == ("not_idle", [True])


@asynccontextmanager
async def hanging_tool(device: AdbDevice, phone: AndroidPhone) -> AsyncIterator[tuple[AndroidEnvironment, OneDevice]]:
    """An episode on a phone whose tree tool says nothing."""
    phone.on("uiautomator", phone.hang)
    fleet = OneDevice(device)
    environment = AndroidEnvironment(fleet, lambda *_: PlainApp(device), idle_seconds=0.3)
    await environment.start(phone_task())
    yield environment, fleet
    await environment.close()
