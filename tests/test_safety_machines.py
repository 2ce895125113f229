"""What would reach the machine is stopped under `sandbox`: in terminals of private displays and virtual machines, and
in the settings of a phone behind the real adb server."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline import envs
from pipeline.actions import Type
from pipeline.app_entry import ProgramEntry, WindowReady
from pipeline.config import RunConfig, load_config
from pipeline.debian_install import DESKTOP, missing
from pipeline.envs.desktop import DesktopEnvironment
from pipeline.envs.machines import Machines
from pipeline.envs.qemu import QemuMachine
from pipeline.envs.qemu_image import load_image
from pipeline.envs.qemu_ready import up
from pipeline.envs.xvfb import XvfbMachine
from pipeline.policies.scripted import ScriptedPolicy
from pipeline.protocols import Environment
from pipeline.reaper import Scratch
from pipeline.records import Record
from pipeline.safety import gate_of
from pipeline.tasks import ProcedureStep
from taskspecs.store import load_tasks
from tests.episodes import play
from tests.programs import desktop_task, program
from tests.qemus import needs_machine

COMMANDS = (
    "sudo rm -rf /etc\n",
    "if true; then timeout 5 systemctl reboot; fi\n",
    "gsettings set org.gnome.desktop.lockdown disable-log-out true\n",
)
TERMINAL = program("xfce4-terminal", "Xfce4-terminal", ready=WindowReady(kind="(?i)^xfce4-terminal$", seconds=30))
XTERM = program("xterm", "XTerm", start=["xterm", "-fn", "fixed"], ready=WindowReady(kind="^XTerm$", seconds=90))


class Unlocalised(QemuMachine):
    """Of an image without locales: its programs speak what they are written in."""

    async def speak(self, locale: str, layout: str) -> None:
        del locale, layout


needs_terminal = pytest.mark.skipif(bool(missing([*DESKTOP, "xfce4-terminal"])), reason="there is no terminal here")


async def typed(environment: Environment, app: ProgramEntry) -> Record:
    """An episode that types the commands into a terminal, under the gate of the default configuration."""

    try:
        return await play(
            [Type(content=line) for line in COMMANDS], desktop_task(app), environment, gate_of(RunConfig())
        )
    finally:
        await environment.close()


def stopped(record: Record) -> list[str]:
    """The classes of what was stopped, one for each step; every step must have been."""
    assert record.attempt.fault is None, record.attempt.fault
    assert {step.action_error for step in record.steps} == {"blocked_by_gate"}
    assert (record.trajectory.termination, record.trajectory.reason) == ("blocked", "gate")
    assert [event.kind for event in record.events if event.kind == "gate"] == ["gate"] * len(record.steps)
    return [step.gate.consequence for step in record.steps if step.gate is not None]


@needs_terminal
@pytest.mark.slow
async def test_commands_that_reach_the_machine_are_stopped_in_a_terminal_of_a_private_display() -> None:
    machines = Machines(lambda number: XvfbMachine(f"gate-{number}"))

    record = await typed(DesktopEnvironment(machines, lambda _: TERMINAL), TERMINAL)

    assert stopped(record) == ["delete", "system", "system"]


@needs_machine
@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_commands_that_reach_the_machine_are_stopped_in_a_virtual_machine() -> None:
    image = load_image("debian-small")
    up(image, lambda _: None)
    machines = Machines(lambda number: Unlocalised(f"gate-{number}", image))

    record = await typed(DesktopEnvironment(machines, lambda _: XTERM), XTERM)

    assert stopped(record) == ["delete", "system", "system"]


@pytest.mark.slow
async def test_settings_that_reach_beyond_an_application_are_stopped_on_a_phone(tmp_path: Path) -> None:
    config = load_config("mobile", [])
    task = next(one for one in load_tasks("mobile") if one.start.app_id == "handset-settings")
    way = [ProcedureStep(action="Click", name=name) for name in ("Network and connections", "Reset network settings")]
    task = task.model_copy(update={"oracle": way, "preflight": []})
    environment = envs.build(config, Scratch("gate", tmp_path))
    try:
        record = await play(ScriptedPolicy("scripted", task), task, environment, gate_of(config))
    finally:
        await environment.close()

    assert [step.status for step in record.steps][:2] == ["ok", "failed"]
    assert record.steps[1].action_error == "blocked_by_gate"
