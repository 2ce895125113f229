"""Applications that do not respond: with a window that says so or without one, it is an event and nobody's failure."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from pipeline.actions import LaunchApp
from pipeline.envs.android import AndroidEnvironment
from pipeline.envs.android_anr import AnrLog
from pipeline.handset.wire import Output
from tests.androids import PACKAGE, AndroidPhone, environment_of, phone_task, tree
from tests.phones import Plugged, plugged

NO_ROOT = b"ERROR: null root node returned by UiTestAutomationBridge.\n"


class Logging(AndroidPhone):
    """A phone with an event log."""

    def __init__(self) -> None:
        super().__init__()
        self.log = ["--------- beginning of events", entry("org.example.old")]
        self.on("logcat -d -b events", self._logcat)

    async def _logcat(self, command: str, output: Output) -> int:
        del command
        await output.out("".join(f"{line}\n" for line in self.log).encode())
        return 0


def entry(package: str) -> str:
    return f"06-15 09:30:00.000  1234  1250 I am_anr  : [0,4242,{package},551042612,Input dispatching timed out]"


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plug(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Plugged]:
    """One phone and one adb server for this file."""
    async with plugged(tmp_path_factory.mktemp("plug"), Logging()) as found:
        yield found


@pytest.fixture
def phone(plug: Plugged) -> Logging:
    assert isinstance(plug.phone, Logging)
    plug.phone.renew()
    return plug.phone


@pytest.fixture
def there(plug: Plugged, phone: Logging) -> Plugged:
    assert plug.phone is phone
    return plug


@pytest_asyncio.fixture(loop_scope="module")
async def world(there: Plugged) -> AsyncIterator[AndroidEnvironment]:
    environment = environment_of(there.device)
    await environment.start(phone_task())
    yield environment
    await environment.close()


async def test_a_window_of_before_is_dismissed(there: Plugged, phone: Logging) -> None:
    shown, phone.focus = phone.focus, "Application Not Responding: org.example.old"

    async def stop(command: str, output: Output) -> int:
        del command, output
        phone.focus = shown
        return 0

    phone.on("am force-stop org.example.old", stop)
    environment = environment_of(there.device)
    await environment.start(phone_task())

    observation = await environment.observe()

    assert (observation.location, observation.flags, environment.drain_events()) == (shown, [], [])
    await environment.close()


async def test_only_what_the_log_says_from_now_on_counts(there: Plugged, phone: Logging) -> None:
    log = AnrLog(there.device)
    await log.begin()

    first = await log.read()
    phone.log.append(entry("org.example.a"))
    second = await log.read()
    phone.log[:] = ["--------- beginning of events", entry("org.example.b")]
    third = await log.read()
    phone.log.append(entry("org.example.c"))

    assert (first, second, third, await log.read()) == ("", "org.example.a", "org.example.a", "org.example.c")


async def test_a_device_without_such_a_log_says_it_of_none(there: Plugged, phone: Logging) -> None:
    phone.on("logcat", 1)
    log = AnrLog(there.device)
    await log.begin()

    assert await log.read() == ""


async def test_without_a_window_the_log_tells_while_no_tree_can_be_read(
    world: AndroidEnvironment, phone: Logging
) -> None:
    phone.tree = NO_ROOT
    plain = await world.observe()
    phone.log.append(entry(PACKAGE))

    hung = [await world.observe() for _ in range(2)]
    events = [(event.kind, event.message) for event in world.drain_events()]
    phone.tree = tree()
    well = await world.observe()

    assert (plain.tree_error, plain.flags) == ("unavailable", [])
    assert [look.flags for look in hung] == [["app_not_responding"]] * 2
    assert events == [("app_not_responding", PACKAGE)]
    assert well.flags == []


async def test_an_application_behind_the_one_in_front_is_not_meant(world: AndroidEnvironment, phone: Logging) -> None:
    phone.tree = NO_ROOT
    phone.log.append(entry("org.example.behind"))

    assert (await world.observe()).flags == []


async def test_the_log_is_not_read_where_a_tree_is(world: AndroidEnvironment, phone: Logging) -> None:
    before = phone.count("logcat")

    await world.observe()

    assert phone.count("logcat") == before


async def test_an_application_that_is_launched_and_does_not_respond_is_no_failed_action(
    world: AndroidEnvironment, phone: Logging
) -> None:
    phone.focus = "Application Not Responding: org.example.phone"

    async with asyncio.timeout(3):
        await world.act(LaunchApp(app="phone"), [])

    assert (await world.observe()).flags == ["app_not_responding"]
    assert [event.message for event in world.drain_events()] == ["org.example.phone"]
