"""Tasks and capabilities of the desktop programs: what they name exists, and nothing of it is done yet.

Homes are laid out on a machine without a screen, and their files read by the readers that judge the tasks. Every task
is proved on the real programs by the tests marked slow.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from catalogs.store import load_catalog
from pipeline import envs
from pipeline.app_entry import load_program
from pipeline.config import load_config
from pipeline.debian_install import DESKTOP, missing
from pipeline.envs.desktop import DesktopEnvironment
from pipeline.envs.desktop_programs import Programs
from pipeline.envs.fake_machine import FakeMachine
from pipeline.envs.machines import Machines
from pipeline.envs.xvfb import XvfbMachine
from pipeline.policies.planner import planned
from pipeline.reaper import Scratch
from pipeline.records import ProbeRead
from pipeline.tasks import ANSWER, RESERVED_PROBES, Check, TaskSpec
from pipeline.words import CheckState
from taskspecs.store import load_tasks
from tests.seeded import examples
from tests.test_tasks import Worlds, length_of, prove_oracle, prove_that_doing_nothing_fails
from verifiers.contract import rows_of, state_of

NAMES = ("calc", "evince", "galculator", "gimp", "impress", "mousepad", "pcmanfm", "terminal", "writer")
IDS = [f"desktop-{name}{suffix}" for name in NAMES for suffix in ("", "-zh")]
TASKS = load_tasks("desktop")
FEASIBLE = [task for task in TASKS if task.feasible]
INFEASIBLE = [task for task in TASKS if not task.feasible]
LONG = 20


def told(task: TaskSpec) -> str:
    return f"{task.start.app_id}-{task.tier}-{task.task_id[:6]}"


def language_of(app_id: str) -> str:
    return "zh" if app_id.endswith("-zh") else "en"


async def laid_out(task: TaskSpec) -> tuple[FakeMachine, Programs]:
    """The homes of a task's programs as an episode finds them, where nothing runs."""
    machine = FakeMachine()
    await machine.boot()
    await machine.revert()
    programs = Programs(machine, load_program)
    await programs.prepare(task)
    await programs.mark()
    return machine, programs


def found(check: Check, reads: list[ProbeRead]) -> CheckState:
    """What a check says of the first state; nobody has answered anything there."""
    return state_of(check, [] if check.probe == ANSWER else rows_of(check, reads))


# --- programs and capabilities ------------------------------------------------------------------------------------


def test_there_are_capabilities_enough() -> None:
    assert sum(len(load_catalog(f"desktop-{name}")) for name in NAMES) >= 50


@pytest.mark.parametrize("app_id", IDS)
def test_a_capability_has_effect_procedure_and_examples(app_id: str) -> None:
    known = load_catalog(app_id)

    assert len({one.capability_id for one in known}) == len(known) >= 3
    assert {(one.platform, one.language) for one in known} == {("desktop", language_of(app_id))}
    assert all(one.effect and one.procedure and one.screens and len(one.path) == 3 for one in known)
    assert all(slot.values for one in known for slot in one.slots)
    assert {one.consequence for one in known} <= {"none", "create", "edit", "delete"}
    assert [step.content for one in known for step in one.procedure if step.action == "LaunchApp"] == [
        load_program(app_id).title
    ]


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_know_the_same(name: str) -> None:
    english, chinese = (
        [
            (one.capability_id.partition(".")[2], one.consequence, [(s.action, s.role) for s in one.procedure])
            for one in load_catalog(f"desktop-{name}{suffix}")
        ]
        for suffix in ("", "-zh")
    )

    assert english == chinese


@pytest.mark.parametrize(
    ("app_id", "capability_id", "slot", "folder"),
    [
        ("desktop-mousepad", "files.open", "path", ""),
        ("desktop-pcmanfm", "files.rename", "file", "Documents/"),
        ("desktop-pcmanfm", "files.trash", "file", "Documents/"),
        ("desktop-terminal", "text.sort", "file", ""),
        ("desktop-terminal", "text.filter", "file", ""),
        ("desktop-mousepad-zh", "files.open", "path", ""),
        ("desktop-pcmanfm-zh", "files.rename", "file", "文档/"),
        ("desktop-pcmanfm-zh", "files.trash", "file", "文档/"),
        ("desktop-terminal-zh", "text.sort", "file", ""),
        ("desktop-terminal-zh", "text.filter", "file", ""),
    ],
)
async def test_files_of_the_examples_exist(app_id: str, capability_id: str, slot: str, folder: str) -> None:
    machine, _ = await laid_out(next(task for task in TASKS if task.app_ids == [app_id] and not task.setup))

    assert {f"{folder}{name}" for name in examples(app_id, capability_id, slot)} <= set(await machine.files())


# --- tasks --------------------------------------------------------------------------------------------------------


def test_the_set_is_large_and_mixed_enough() -> None:
    long = [task for task in FEASIBLE if length_of(task) >= LONG and len(task.segments) >= 3]

    assert len(TASKS) >= 70 and len({task.instruction for task in TASKS}) == len(TASKS)
    assert {app_id for task in TASKS for app_id in task.app_ids} == set(IDS)
    assert all(task.language == language_of(app_id) for task in TASKS for app_id in task.app_ids)
    assert min(Counter(task.language for task in TASKS).values()) == len(TASKS) // 2
    assert {task.tier for task in TASKS} == {"single", "multi", "workflow"}
    assert len(long) >= 8 and any(len(task.app_ids) >= 3 for task in long)
    assert {task.start.app_id.removesuffix("-zh") for task in INFEASIBLE} >= {"desktop-calc", "desktop-pcmanfm"}
    assert len(INFEASIBLE) >= 8


@pytest.mark.parametrize("task", TASKS, ids=told)
def test_a_task_has_what_its_kind_needs(task: TaskSpec) -> None:
    checks = [*task.checks, *task.absence_checks]
    assert [param.name for param in task.app_versions] == task.app_ids and task.start.app_id == task.app_ids[0]
    assert [param.value for param in task.app_versions] == [load_program(name).version for name in task.app_ids]
    assert {check.probe for check in checks} <= {
        *RESERVED_PROBES,
        *(probe for name in task.app_ids for probe in load_program(name).probes),
    }
    assert task.max_steps >= length_of(task) * 1.5 and task.max_seconds <= 180
    if not task.feasible:
        assert task.absence_checks and task.infeasible_reason and not task.segments and not task.expected_changes
        assert (task.oracle[-1].content or "").startswith("infeasible: ") and len(task.oracle) >= 3
    elif task.contract_kind == "state":
        assert len(task.segments) >= (3 if task.tier == "workflow" else 1) and task.expected_changes


@pytest.mark.parametrize("task", FEASIBLE, ids=told)
def test_the_planners_plan_is_the_oracle(task: TaskSpec) -> None:
    assert [move.step for move in planned(task)] == task.oracle


@pytest.mark.parametrize("task", TASKS, ids=told)
async def test_nothing_is_done_yet_and_what_is_missing_is_missing(task: TaskSpec) -> None:
    _, programs = await laid_out(task)

    reads = await programs.read([*task.checks, *task.absence_checks], 0)

    assert [read.error for read in reads if read.error] == []
    assert all("failed" in {found(check, reads) for check in segment.checks} for segment in task.segments)
    assert {found(check, reads) for check in task.absence_checks} <= {"passed"}


def test_the_configuration_has_all_of_them() -> None:
    config = load_config("desktop", [])

    assert set(config.apps) == set(IDS)
    assert (config.platform, config.provider, config.tasks.set) == ("desktop", "xvfb", "desktop")
    assert len({task.start.app_id.removesuffix("-zh") for task in TASKS[: config.tasks.limit]}) >= 5


# --- the proof ----------------------------------------------------------------------------------------------------

needs_programs = pytest.mark.skipif(
    bool(missing([*DESKTOP, *(package for name in IDS for package in load_program(name).install.packages)])),
    reason="not all programs are on this machine",
)


@pytest.fixture(scope="module")
def scratches() -> Iterator[tuple[Scratch, Scratch]]:
    with Scratch("oracle") as one, Scratch("others") as other:
        yield one, other


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def worlds(scratches: tuple[Scratch, Scratch]) -> AsyncIterator[Worlds]:
    """Two desktops, so that doing nothing is tried while the oracle runs."""
    config = load_config("desktop", [])
    one, other = (envs.build(config, scratch) for scratch in scratches)
    yield Worlds(one, other)
    await asyncio.gather(one.close(), other.close())


@needs_programs
@pytest.mark.slow
@pytest.mark.parametrize(("app_id", "folder"), [("desktop-pcmanfm", "Documents"), ("desktop-pcmanfm-zh", "文档")])
async def test_a_file_manager_goes_on_from_a_kept_home_and_shows_the_same_times(app_id: str, folder: str) -> None:
    machine = XvfbMachine()
    environment = DesktopEnvironment(Machines(lambda _: machine))
    task = next(task for task in FEASIBLE if task.app_ids == [app_id] and task.start.path == f"/{folder}")
    try:
        await environment.start(task)
        await machine.run(["touch", "-d", "2001-02-03 04:05", f"{folder}/old.txt"], seconds=20)
        end = time.monotonic() + 20
        while "old.txt" not in {node.name for node in (await machine.tree()).nodes}:
            assert time.monotonic() < end
            await asyncio.sleep(0.1)
        await environment.keep("here")

        assert await environment.start_from(task, "here") is not None
        assert any("2001" in node.name for node in (await machine.tree()).nodes)
    finally:
        await environment.close()


@needs_programs
@pytest.mark.slow
@pytest.mark.timeout(2 * 2 * 180)  # two attempts of either policy, each as long as a task may take, and their set-up
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("task", TASKS, ids=told)
async def test_a_task_is_proved_on_the_programs(task: TaskSpec, worlds: Worlds) -> None:
    async with asyncio.TaskGroup() as proofs:
        oracle = proofs.create_task(prove_oracle(task, worlds.oracle))
        idle = proofs.create_task(prove_that_doing_nothing_fails(task, worlds.others))

    granted = oracle.result()
    assert (granted.checks if task.feasible else granted.absence) == "passed"
    assert idle.result().checks != "passed"
