"""Machines that break: restores that lie, set-ups that fail, tear-downs that do not end."""

from __future__ import annotations

import asyncio

import pytest

from pipeline.actions import Finished, LaunchApp
from pipeline.envs.desktop import DesktopEnvironment
from pipeline.envs.fake_machine import FakeMachine, MachineFaults
from pipeline.envs.machine import Machine
from pipeline.envs.machine_restore import MARK, TRIES, restore
from pipeline.envs.machines import Machines
from pipeline.envs.xvfb import XvfbMachine
from pipeline.envs.xvfb_session import Session
from pipeline.episode import Limits
from pipeline.errors import EnvError, SetupError
from pipeline.policies.canned import CannedPolicy
from tests.episodes import play
from tests.programs import PAD, desktop_task, needs_desktop


class Park:
    """Makes fake machines, the first ones with faults, and keeps them."""

    def __init__(self, *faults: MachineFaults) -> None:
        self.faults = list(faults)
        self.made: list[FakeMachine] = []

    def __call__(self, number: int) -> Machine:
        faults = self.faults[number] if number < len(self.faults) else MachineFaults()
        self.made.append(FakeMachine(f"fake-{number}", faults))
        return self.made[-1]


def desktop(park: Park) -> DesktopEnvironment:
    return DesktopEnvironment(Machines(park), lambda _: PAD)


async def test_a_fake_machine_is_a_machine() -> None:
    machine: Machine = FakeMachine()

    assert (await restore(machine, fresh=True)).tries == 1


async def test_a_restore_counts_when_the_mark_is_gone() -> None:
    machine = FakeMachine(faults=MachineFaults(stale_reverts=2))
    await machine.revert()

    restored = await restore(machine, fresh=False)

    assert restored.tries == 3
    assert MARK not in await machine.files()


async def test_a_restore_before_which_no_mark_could_be_left_is_done_again_with_one() -> None:
    machine = FakeMachine(faults=MachineFaults(failing_writes=1))
    await machine.revert()

    restored = await restore(machine, fresh=False)

    assert (restored.tries, machine.reverts) == (2, 3)


async def test_a_machine_that_never_takes_a_mark_is_not_believed() -> None:
    machine = FakeMachine(faults=MachineFaults(failing_writes=-1))

    with pytest.raises(SetupError, match="no mark could be left"):
        await restore(machine, fresh=False)


@needs_desktop
async def test_whatever_a_program_puts_in_the_place_of_the_mark_a_restore_is_proved() -> None:
    machine = XvfbMachine()
    await restore(machine, fresh=True)
    for command, tries in ((["mkdir"], 1), (["mkfifo"], 1), (["ln", "-s", "/etc/hostname"], 2)):
        await machine.run([*command, MARK], seconds=10)

        assert (await restore(machine, fresh=False)).tries == tries
    await machine.close()


async def test_a_restore_without_a_picture_is_none() -> None:
    machine = FakeMachine(faults=MachineFaults(failing_captures=-1))

    with pytest.raises(SetupError, match=r"fake-0 was not restored in 3 tries: no picture"):
        await restore(machine, fresh=True)


async def test_a_set_up_that_always_fails_is_a_fault_and_no_model_is_asked() -> None:
    park = Park(MachineFaults(failing_reverts=-1))
    policy = CannedPolicy([Finished()])
    environment = desktop(park)

    record = await play(policy, desktop_task(), environment)

    assert record.attempt.termination == "fault"
    assert record.attempt.fault is not None
    assert record.attempt.fault.boundary == "setup"
    assert (policy.turns, record.model_calls) == ([], [])
    assert park.made[0].reverts == TRIES


async def test_the_attempt_after_a_failed_one_has_another_machine() -> None:
    park = Park(MachineFaults(failing_reverts=-1))
    environment = desktop(park)
    await play([Finished()], desktop_task(), environment)

    record = await play([Finished()], desktop_task(), environment)

    assert record.attempt.termination == "finished"
    assert record.attempt.environment is not None
    assert record.attempt.environment.device == "fake-1"


async def test_a_restore_that_lies_twice_ends_in_a_normal_episode() -> None:
    park = Park(MachineFaults(stale_reverts=2))
    environment = desktop(park)
    await play([Finished()], desktop_task(), environment)
    before = park.made[0].reverts

    record = await play([Finished()], desktop_task(), environment)

    assert record.attempt.termination == "finished"
    assert park.made[0].reverts - before == 3


async def test_a_program_that_never_shows_is_a_fault_of_set_up() -> None:
    environment = DesktopEnvironment(
        Machines(Park(MachineFaults(no_window=True))),
        lambda _: PAD.model_copy(update={"ready": PAD.ready.model_copy(update={"seconds": 0.1})}),
    )

    with pytest.raises(SetupError, match=r"no window of Pad in 0\.1 s"):
        await environment.start(desktop_task())


async def test_a_launch_that_shows_no_window_is_a_failed_step_also_where_machines_are_slow() -> None:
    machine = FakeMachine()
    machine.patience = 5.0
    entry = PAD.model_copy(update={"ready": PAD.ready.model_copy(update={"seconds": 0.1})})
    environment = DesktopEnvironment(Machines(lambda _: machine), lambda _: entry)

    record = await play(
        [LaunchApp(app="Pad"), Finished()], desktop_task(), environment, limits=Limits(call_seconds=0.2)
    )

    assert record.attempt.termination == "finished"
    assert record.steps[0].error_detail == "no window of Pad in 0.5 s; there are: ['Pad']"


async def test_a_machine_that_was_not_torn_down_is_left_alone() -> None:
    park = Park(MachineFaults(failing_leaves=1, failing_closes=1))
    machines = Machines(park)
    environment = DesktopEnvironment(machines, lambda _: PAD)
    await play([Finished()], desktop_task(), environment)

    record = await play([Finished()], desktop_task(), environment)

    assert machines.quarantined == ["fake-0"]
    assert record.attempt.environment is not None
    assert record.attempt.environment.device == "fake-1"


async def test_a_machine_that_can_still_be_closed_is_replaced_and_not_in_quarantine() -> None:
    park = Park(MachineFaults(failing_leaves=1))
    machines = Machines(park)
    await machines.take()
    await machines.give_back(worked=True)

    await machines.take()

    assert (machines.quarantined, len(park.made)) == ([], 2)


async def test_an_end_that_nobody_waits_for_any_more_is_tried_again_before_the_next_episode() -> None:
    park = Park(MachineFaults(hanging_closes=1))
    machines = Machines(park)
    await machines.take()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await machines.give_back(worked=False)

    taken = await machines.take()

    assert (park.made[0].closes, taken.name, machines.quarantined) == (1, "fake-1", [])


@needs_desktop
async def test_a_session_that_was_not_torn_down_puts_its_display_in_quarantine(monkeypatch: pytest.MonkeyPatch) -> None:
    def close(session: Session) -> None:
        ended(session)
        raise EnvError("not_torn_down", "some files stay")

    ended = Session.close
    machines = Machines(lambda number: XvfbMachine(f"xvfb-{number}"))
    await machines.take()
    monkeypatch.setattr(Session, "close", close)

    await machines.give_back(worked=True)

    assert machines.quarantined == ["xvfb-0"]


async def test_no_more_machines_are_made_when_none_lets_go() -> None:
    park = Park(*[MachineFaults(failing_leaves=-1, failing_closes=-1)] * 3)
    machines = Machines(park)
    for _ in range(3):
        await machines.take()
        await machines.give_back(worked=True)

    with pytest.raises(SetupError, match="fake-0, fake-1, fake-2"):
        await machines.take()
    assert len(park.made) == 3


async def test_a_machine_is_booted_once_and_restored_for_every_episode() -> None:
    park = Park()
    machines = Machines(park)
    for _ in range(3):
        await machines.take()
        await machines.give_back(worked=True)

    assert (park.made[0].boots, park.made[0].reverts) == (1, 3)
