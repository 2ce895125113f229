"""Where devices come from: shared ones beside a hung one, and one of our own that is started anew."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from pipeline.actions import Finished, PressBack, Wait
from pipeline.envs import devices
from pipeline.envs.android import AndroidEnvironment, Phone
from pipeline.envs.android_apps import HostError
from pipeline.envs.device_leases import Leases
from pipeline.envs.devices import OwnDevice, SharedDevices
from pipeline.errors import EnvError, SetupError
from pipeline.handset.wire import Output, WireServer, serve
from pipeline.ports import LOOPBACK
from pipeline.reaper import Scratch
from tests.androids import AndroidPhone, PlainApp, phone_task
from tests.episodes import play

READY_SECONDS = 0.6


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    with Scratch("devices", tmp_path) as made:
        yield made


class Two:
    """Two phones at addresses, the first of which can be made to hang."""

    def __init__(self) -> None:
        self.first, self.second = AndroidPhone(), AndroidPhone()
        self.second.boot_id = "second"
        self.wires: list[WireServer] = []
        self.serials: list[str] = []

    def hang(self) -> None:
        """From now on the first phone answers nothing, and is still listed as a device."""
        self.first.on("", self.first.hang)


@pytest.fixture
async def two() -> AsyncIterator[Two]:
    made = Two()
    async with AsyncExitStack() as stack:
        for phone in (made.first, made.second):
            wire = await serve(phone)
            stack.push_async_callback(wire.close)
            made.wires.append(wire)
            made.serials.append(f"{LOOPBACK}:{wire.port}")
        yield made


def _shared(scratch: Scratch, two: Two, folder: Path, wait_seconds: float = 10.0) -> SharedDevices:
    leases = Leases(folder / "leases", most_failures=2)
    return SharedDevices(scratch, two.serials, leases, wait_seconds=wait_seconds, ready_seconds=READY_SECONDS)


def _environment(fleet: SharedDevices | OwnDevice) -> AndroidEnvironment:
    return AndroidEnvironment(fleet, lambda _, device: PlainApp(device))


async def test_tasks_of_a_hung_device_finish_on_another(
    scratch: Scratch, two: Two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADB_TRACE", "adb,services,sockets")
    two.hang()
    workers = [_environment(_shared(scratch, two, tmp_path)) for _ in range(2)]

    async def work(environment: AndroidEnvironment) -> list[tuple[str, str | None]]:
        records = [await play([Wait(), Finished()], phone_task(), environment) for _ in range(2)]
        await environment.close()
        return [
            (row.trajectory.termination, row.attempt.environment.device if row.attempt.environment else None)
            for row in records
        ]

    ended = [row for rows in await asyncio.gather(*map(work, workers)) for row in rows]

    assert ended == [("finished", two.serials[1])] * 4
    assert Leases(tmp_path / "leases").in_quarantine(two.serials[0])
    assert two.first.count("cat /proc") == 2 and two.first.count("input") == 0
    log = (scratch.path / "adb.log").read_text(errors="replace")
    assert f"host:connect:{two.serials[0]}" in log
    assert "host:kill" not in log


async def test_a_device_that_hangs_in_an_episode_costs_that_attempt_only(
    scratch: Scratch, two: Two, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.envs.android_actions._STROKE_SECONDS", 0.5)
    monkeypatch.setattr("pipeline.envs.android._LEAVE_SECONDS", 0.2)
    environment = _environment(_shared(scratch, two, tmp_path))

    async def stop(command: str, output: Output) -> int:
        two.hang()
        return await two.first.hang(command, output)

    two.first.on("input keyevent KEYCODE_BACK", stop)

    first = await play([PressBack(), Finished()], phone_task(), environment)
    second = await play([PressBack(), Finished()], phone_task(), environment)

    assert first.trajectory.fault is not None
    assert (first.trajectory.fault.boundary, first.trajectory.fault.code) == ("env", "adb_timeout")
    assert second.trajectory.termination == "finished"
    assert second.attempt.environment is not None and second.attempt.environment.device == two.serials[1]
    await environment.close()


@pytest.mark.parametrize(("error", "another"), [(SetupError, True), (HostError, False)])
async def test_a_device_that_cannot_take_an_application_stands_behind_the_others(
    scratch: Scratch, two: Two, tmp_path: Path, error: type[SetupError], another: bool
) -> None:
    class Refusing(PlainApp):
        async def reset(self) -> None:
            if self.device.serial == two.serials[0]:
                raise error("reset_failed", "it stays as it is")

    fleet = _shared(scratch, two, tmp_path)
    environment = AndroidEnvironment(fleet, lambda _, device: Refusing(device))
    with pytest.raises(SetupError):
        await environment.start(phone_task())
    await environment.finish()

    phone = await fleet.take()

    assert (phone.name == two.serials[1]) is another
    assert ('"failures":1' in next((tmp_path / "leases").glob(f"*{two.wires[0].port}*")).read_text()) is another
    await fleet.give_back(phone, worked=True)
    await environment.close()


async def test_a_device_that_goes_offline_is_taken_over_and_comes_back(
    scratch: Scratch, two: Two, tmp_path: Path
) -> None:
    fleet = _shared(scratch, two, tmp_path)
    port = two.wires[0].port
    await two.wires[0].close()

    phone = await fleet.take()
    await fleet.give_back(phone, worked=True)
    two.wires[0] = await serve(two.first, port)
    other = _shared(scratch, two, tmp_path)
    back = await other.take()

    assert (phone.name, back.name) == (two.serials[1], two.serials[0])
    await other.close()
    await fleet.close()
    await two.wires[0].close()


async def test_a_device_that_somebody_has_is_waited_for(scratch: Scratch, two: Two, tmp_path: Path) -> None:
    del two.serials[1]
    fleets = [_shared(scratch, two, tmp_path) for _ in range(2)]
    held = await fleets[0].take()
    waiting = asyncio.create_task(fleets[1].take())
    await asyncio.sleep(0.3)
    while_held = waiting.done()

    await fleets[0].give_back(held, worked=True)

    assert not while_held
    assert (await waiting).name == held.name
    for fleet in fleets:
        await fleet.close()


async def test_one_device_at_two_addresses_has_one_owner(scratch: Scratch, two: Two, tmp_path: Path) -> None:
    two.second.boot_id = two.first.boot_id
    there, elsewhere = two.serials
    fleets = [
        SharedDevices(scratch, [serial], Leases(tmp_path / "leases"), wait_seconds=0.5, ready_seconds=READY_SECONDS)
        for serial in (there, elsewhere)
    ]
    held = await fleets[0].take()
    with pytest.raises(SetupError, match=f"{elsewhere}: others have it at another address"):
        await fleets[1].take()
    looks = two.second.count("screencap")

    await fleets[0].give_back(held, worked=True)

    assert looks == 1
    assert (await fleets[1].take()).name == elsewhere
    assert not Leases(tmp_path / "leases").in_quarantine(elsewhere)
    for fleet in fleets:
        await fleet.close()


async def test_close_releases_what_is_held(scratch: Scratch, two: Two, tmp_path: Path) -> None:
    fleet = _shared(scratch, two, tmp_path)
    phone = await fleet.take()

    await fleet.close()

    assert Leases(tmp_path / "leases").claim(phone.name) is not None


async def test_without_a_device_the_reasons_are_said(scratch: Scratch, two: Two, tmp_path: Path) -> None:
    two.hang()
    await two.wires[1].close()
    fleet = _shared(scratch, two, tmp_path)

    with pytest.raises(SetupError) as caught:
        await fleet.take()

    assert caught.value.code == "no_device"
    assert f"{two.serials[0]}: {two.serials[0]} is not ready" in caught.value.message
    assert f"{two.serials[1]}: {two.serials[1]} is not ready" in caught.value.message
    await fleet.close()


async def test_a_device_that_others_keep_is_not_waited_for_without_end(
    scratch: Scratch, two: Two, tmp_path: Path
) -> None:
    held = [Leases(tmp_path / "leases").claim(serial) for serial in two.serials]
    fleet = _shared(scratch, two, tmp_path, wait_seconds=0.3)

    with pytest.raises(SetupError, match="others have it"):
        await fleet.take()

    assert all(held)
    await fleet.close()


async def test_a_bus_without_devices_has_none(scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_LIST_SECONDS", 0.1)

    with pytest.raises(SetupError, match="adb lists no device"):
        await SharedDevices(scratch, []).take()


class ScriptedProgram:
    """A phone of ours that boots again each time it is started; its first boots may fail."""

    def __init__(self, failures: int = 0) -> None:
        self.serial = ""
        self.phone = AndroidPhone()
        self.starts = 0
        self.restored = 0
        self.same_boot = False
        self._failures = failures
        self._wire: WireServer | None = None

    @property
    def alive(self) -> bool:
        return self._wire is not None

    async def start(self) -> None:
        self.starts += 1
        if self.starts <= self._failures:
            raise SetupError("program_not_started", "no luck")
        if not self.same_boot:
            self.phone.boot_id = f"boot-{self.starts}"
        self._wire = await serve(self.phone)
        self.serial = f"{LOOPBACK}:{self._wire.port}"

    async def restore(self) -> None:
        self.restored += 1
        self.phone.files.clear()

    async def close(self) -> None:
        wire, self._wire = self._wire, None
        if wire is not None:
            await wire.close()


async def _used(fleet: OwnDevice, worked: bool = True) -> Phone:
    phone = await fleet.take()
    await fleet.give_back(phone, worked=worked)
    return phone


async def test_a_device_of_ours_is_kept_while_it_works(scratch: Scratch) -> None:
    program = ScriptedProgram()
    fleet = OwnDevice(scratch, "handset", program, boot_seconds=5.0)

    phones = [await _used(fleet) for _ in range(2)]

    assert program.starts == 1
    assert phones[0].device is phones[1].device
    assert (phones[0].provider, phones[0].name) == ("handset", program.serial)
    await fleet.close()
    assert not program.alive


async def test_a_device_of_ours_that_failed_is_started_anew(scratch: Scratch) -> None:
    program = ScriptedProgram()
    fleet = OwnDevice(scratch, "handset", program, boot_seconds=5.0)

    await _used(fleet, worked=False)
    again = await _used(fleet)
    await program.close()
    third = await _used(fleet)

    assert program.starts == 3
    assert again.device is not third.device
    await fleet.close()


async def test_a_device_that_claims_to_have_booted_again_must_have(scratch: Scratch) -> None:
    program = ScriptedProgram()
    fleet = OwnDevice(scratch, "handset", program, boot_seconds=0.6)
    await _used(fleet, worked=False)
    program.same_boot = True

    with pytest.raises(SetupError, match="has not booted again"):
        await fleet.take()

    await fleet.close()


async def test_a_boot_that_nobody_waited_for_goes_on(scratch: Scratch) -> None:
    program = ScriptedProgram()
    program.phone.on("getprop sys.boot_completed", "\n")
    fleet = OwnDevice(scratch, "avd", program, boot_seconds=5.0)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await fleet.take()
    program.phone.on("getprop sys.boot_completed", "1\n")

    await _used(fleet)

    assert program.starts == 1
    await fleet.close()


async def test_a_start_that_fails_once_is_tried_again(scratch: Scratch) -> None:
    lucky, unlucky = ScriptedProgram(failures=1), ScriptedProgram(failures=2)
    fleets = [OwnDevice(scratch, "handset", program, boot_seconds=5.0) for program in (lucky, unlucky)]

    await _used(fleets[0])
    with pytest.raises(SetupError, match="no luck"):
        await fleets[1].take()

    assert (lucky.starts, unlucky.starts) == (2, 2)
    for fleet in fleets:
        await fleet.close()


async def test_a_snapshot_is_loaded_before_every_episode_but_the_first(scratch: Scratch) -> None:
    program = ScriptedProgram()
    program.phone.on("ls ", 1)
    fleet = OwnDevice(scratch, "avd", program, program.restore, boot_seconds=5.0)

    for _ in range(3):
        await _used(fleet)

    assert (program.starts, program.restored) == (1, 2)
    await fleet.close()


async def test_a_snapshot_that_does_not_load_is_followed_by_a_fresh_start(scratch: Scratch) -> None:
    program = ScriptedProgram()

    async def broken() -> None:
        raise EnvError("console", "KO: no such snapshot")

    fleet = OwnDevice(scratch, "avd", program, broken, boot_seconds=5.0)

    await _used(fleet)
    await _used(fleet)

    assert program.starts == 2
    await fleet.close()
