"""Contracts that prove something, and one broken task for every reason why one does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.actions import Action, Pixel, Type
from pipeline.envs.fake import FakeEnvironment, Faults
from pipeline.protocols import ActResult, Observation
from pipeline.records import tree_of
from pipeline.structs import EnvironmentInfo, Node, Param
from pipeline.tasks import ANSWER, TREE, Check, ProcedureStep, Segment, SetupOperation, Start, TaskSpec
from taskspecs.selftest import Trial, rejections, selftest
from taskspecs.store import load_tasks
from tests.episodes import fake_task, with_faults

SHIPPED = load_tasks("fake")
ADDED = "Add a to-do"
COUNT = "How many to-dos"


def check(**more: Any) -> Check:
    args = [Param(name=name, value=value) for name, value in more.pop("args", {}).items()]
    return Check(**{"name": "criterion", "verifier": "equals", "probe": "todo", "args": args} | more)


def segments(*checks: Check) -> list[Segment]:
    return [Segment(name=f"part {number}", checks=[one]) for number, one in enumerate(checks, 1)]


def steps(*moves: dict[str, Any]) -> list[ProcedureStep]:
    return [ProcedureStep(**move) for move in moves]


def asking(instruction: str, expected: str, verifier: str = "text", **changes: Any) -> TaskSpec:
    """The task that counts to-dos by priority, asked for something else."""
    answered = check(verifier=verifier, probe=ANSWER, expected=[expected])
    return fake_task(COUNT, instruction=instruction, segments=segments(answered), **changes)


async def tried(task: TaskSpec, faults: Faults | None = None) -> Trial:
    return await selftest(task, FakeEnvironment(faults))


# --- what holds ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", SHIPPED, ids=[f"{task.language}-{task.task_id[:6]}" for task in SHIPPED])
async def test_every_shipped_task_of_the_application_in_memory_holds(task: TaskSpec) -> None:
    trial = await tried(task)

    assert (trial.held, trial.reason, trial.detail, trial.fault) == (True, None, "", None)
    assert trial.steps > 1 and trial.claims > 1 and trial.mutants > 1 and trial.seconds > 0
    assert trial.fixture_fingerprint


async def test_a_check_that_holds_from_the_start_is_noted_beside_one_that_does_not() -> None:
    task = fake_task(ADDED)
    kept = check(name="nothing lost", probe="todos", verifier="contains", expected=["Pay the rent"])
    both = [Segment(name="added", checks=[*task.checks, kept])]

    trial = await tried(fake_task(ADDED, segments=both))

    assert (trial.held, trial.notes) == (True, ["check 'nothing lost' holds from the start"])


async def test_a_rubric_holds_by_what_address_and_tree_say() -> None:
    shown = check(probe=TREE, verifier="contains", expected=["Buy stamps", ""])

    trial = await tried(fake_task(ADDED, contract_kind="rubric", segments=segments(shown)))

    assert (trial.held, trial.reason) == (True, None)


@pytest.mark.parametrize(
    "expected", [["added:todo/*"], ["added:todo/*", "changed:note/*"], ["one:todo/*"], ["todo/11"]]
)
async def test_a_pattern_of_one_change_leaves_no_room_for_another(expected: list[str]) -> None:
    trial = await tried(fake_task(ADDED, expected_changes=expected))

    assert (trial.held, trial.detail) == (True, "")


async def test_an_oracle_may_tell_the_user_that_it_cannot_be_done() -> None:
    oracle = fake_task("Share the to-do").oracle
    told = oracle[-1].model_copy(update={"action": "CallUser"})

    trial = await tried(fake_task("Share the to-do", oracle=[*oracle[:-1], told]))

    assert (trial.held, trial.detail) == (True, "")


async def test_an_oracle_that_asks_the_user_proves_nothing() -> None:
    oracle = fake_task("Share the to-do").oracle
    asked = oracle[-1].model_copy(update={"action": "CallUser", "content": "Where is the button?"})

    trial = await tried(fake_task("Share the to-do", oracle=[*oracle[:-1], asked]))

    assert (trial.held, trial.reason) == (False, "oracle_fails")
    assert "Where is the button?" in trial.detail


async def test_one_episode_is_enough() -> None:
    environment = Counting()

    trial = await selftest(fake_task(ADDED), environment)

    assert (trial.held, environment.starts) == (True, 1)


class Counting(FakeEnvironment):
    """Counts its episodes."""

    def __init__(self, faults: Faults | None = None) -> None:
        super().__init__(faults)
        self.starts = 0

    async def start(self, task: TaskSpec) -> Any:
        self.starts += 1
        return await super().start(task)


# --- what does not, reason by reason -------------------------------------------------------------------------------

ABSENT = check(args={"title": "Pay the rent"}, verifier="count", expected=["0"])
STAMPS = {"title": "Buy stamps"}
BROKEN: dict[str, tuple[str, str, TaskSpec]] = {
    "the state is not as the task takes it": (
        "preflight_failed",
        "expected ['0']",
        fake_task(ADDED, preflight=[ABSENT]),
    ),
    "what must be missing is there": (
        "preflight_failed",
        "must be missing is there",
        fake_task('Delete the to-do "Feed', absence_checks=[ABSENT]),
    ),
    "it is done already": (
        "noop_passes",
        "every check holds",
        fake_task(
            "Mark the to-do", segments=segments(check(args={"title": "Pay the rent"}, expected=["high", "open", ""]))
        ),
    ),
    "a part of it is done already": (
        "noop_passes",
        "segment 'part 2'",
        fake_task(
            ADDED,
            segments=segments(
                *fake_task(ADDED).checks, check(probe="todos", verifier="absent", expected=["Buy a stamp"])
            ),
        ),
    ),
    "the answer is guessed": ("claim_passes", "saying 'yes'", asking("Is the first to-do of low priority?", "yes")),
    "the answer is one of two offered": (
        "claim_passes",
        "Fix the bicycle",
        asking('Which one is done, "Fix the bicycle" or "Pay the rent"?', "Fix the bicycle"),
    ),
    "the oracle does something else": (
        "oracle_fails",
        "expected equals ['high', 'open', '']",
        fake_task(ADDED, oracle=fake_task("Mark the to-do").oracle),
    ),
    "the oracle finds no way": (
        "oracle_fails",
        "no link 'Nowhere'",
        fake_task(ADDED, oracle=steps({"action": "Click", "role": "link", "name": "Nowhere"})),
    ),
    "the oracle cannot be read": (
        "oracle_fails",
        "cannot be followed",
        fake_task(ADDED, oracle=steps({"action": "Jump"})),
    ),
    "there is no oracle": ("oracle_fails", "no oracle", fake_task(ADDED, oracle=[])),
    "the oracle changes more than is expected": ("oracle_fails", "todo/11", fake_task(ADDED, expected_changes=[])),
    "the oracle of an infeasible task claims success": (
        "oracle_fails",
        "not infeasible",
        fake_task('Delete the to-do "Feed', oracle=steps({"action": "Finished", "content": ""})),
    ),
    "the instruction holds the answer": (
        "answer_in_fixture",
        "the instruction holds",
        asking('How many to-dos have priority "high"? There are 3.', "3", "number"),
    ),
    "the start screen is where the answer is read": (
        "answer_in_fixture",
        "the oracle reads",
        asking(
            'How many to-dos have priority "high"?', "3", "number", start=Start(app_id="fake-todo", path="/statistics")
        ),
    ),
    "the start screen shows the answer": (
        "answer_in_fixture",
        "'Call the dentist'",
        asking("Which to-do comes third?", "Call the dentist"),
    ),
    "nothing shows who wrote the state": ("shortcut_passes", "complete", fake_task(ADDED, always_ignore=["*"])),
    "any text will do": (
        "mutation_survives",
        "the text is empty",
        fake_task(ADDED, segments=segments(check(args=STAMPS, verifier="matches", expected=[".*"]))),
    ),
    "a value is not looked at": (
        "mutation_survives",
        "nothing checks 'high'",
        fake_task(ADDED, segments=segments(check(args=STAMPS, verifier="count", expected=["1"]))),
    ),
    "a value that no call names is not looked at": (
        "mutation_survives",
        "nothing checks 'high'",
        fake_task(ADDED, calls=[], segments=segments(check(args=STAMPS, verifier="count", expected=["1"]))),
    ),
    "a value is only looked at where it was before": (
        "mutation_survives",
        "nothing checks 'high'",
        fake_task(
            ADDED,
            segments=[
                Segment(
                    name="added",
                    checks=[
                        check(args=STAMPS, verifier="count", expected=["1"]),
                        check(args={"title": "Pay the rent"}, verifier="contains", expected=["high"]),
                    ],
                )
            ],
        ),
    ),
    "any text of its shape will do": (
        "mutation_survives",
        "of the same shape",
        fake_task(ADDED, segments=segments(check(args=STAMPS, verifier="matches", expected=["^[a-z]{4}$"]))),
    ),
    "a row that nobody names may change": (
        "mutation_survives",
        "'todo/1', which the oracle leaves alone, could be changed as well",
        fake_task(ADDED, expected_changes=["todo/*"]),
    ),
    "a row that nobody names may go": (
        "mutation_survives",
        "'todo/1', which the oracle leaves alone, could be removed as well",
        fake_task(ADDED, expected_changes=["todo/11", "removed:todo/*"]),
    ),
    "what is missing is another thing": (
        "mutation_survives",
        "is not what the task names",
        fake_task(
            "Share the to-do",
            absence_checks=[check(args={"title": "Feed the parrot"}, verifier="count", expected=["0"])],
        ),
    ),
    "nothing is missing": (
        "mutation_survives",
        "no absence check says that something is missing",
        fake_task(
            "Share the to-do",
            absence_checks=[check(args={"title": "Pay the rent"}, verifier="contains", expected=["high"])],
        ),
    ),
    "any change is expected": (
        "mutation_survives",
        "any change of the state",
        fake_task(ADDED, expected_changes=["*"]),
    ),
}


@pytest.mark.parametrize("what", BROKEN)
async def test_a_broken_task_is_rejected_with_its_reason(what: str) -> None:
    reason, detail, task = BROKEN[what]

    trial = await tried(task)

    assert (trial.held, trial.reason) == (False, reason), trial.detail
    assert detail in trial.detail


def test_every_reason_of_a_self_test_has_its_broken_task() -> None:
    assert {reason for reason, _, _ in BROKEN.values()} == {
        "answer_in_fixture",
        "claim_passes",
        "mutation_survives",
        "noop_passes",
        "oracle_fails",
        "preflight_failed",
        "shortcut_passes",
    }


# --- where the world breaks ----------------------------------------------------------------------------------------


async def test_a_start_that_fails_once_is_tried_again() -> None:
    trial = await tried(fake_task(ADDED), Faults(failing_starts=1))

    assert (trial.held, trial.fault) == (True, None)


@pytest.mark.parametrize("faults", ["failing_starts: -1", "crash_at: 1"])
async def test_a_world_that_breaks_is_no_reason(faults: str) -> None:
    trial = await tried(with_faults(fake_task(ADDED), faults))

    assert (trial.held, trial.reason) == (False, None)
    assert trial.fault is not None
    assert rejections([fake_task(ADDED)], {fake_task(ADDED).task_id: trial}) == []


async def test_a_world_that_is_too_slow_is_no_reason() -> None:
    environment = Counting(Faults(act_seconds=0.2))

    trial = await selftest(fake_task(ADDED, max_seconds=0.1), environment)

    assert (trial.held, trial.reason, environment.starts) == (False, None, 2)
    assert trial.fault is not None
    assert trial.fault.code == "out_of_time"


async def test_a_probe_that_cannot_be_read_proves_nothing() -> None:
    trial = await tried(with_faults(fake_task(ADDED), "failing_probe: true"))

    assert (trial.held, trial.reason) == (False, "oracle_fails")
    assert "unreadable" in trial.detail


# --- rows ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"oracle": steps({"action": "Type", "content": "<secret:PIN>"})},
        {"instruction": "Add the to-do <secret:PIN>"},
        {"setup": [SetupOperation(kind="append", app_id="fake-todo", target="todos", content="<secret:PIN>")]},
    ],
)
async def test_a_task_with_a_secret_proves_nothing_and_is_not_tried(changes: dict[str, Any]) -> None:
    class Untouched(FakeEnvironment):
        async def start(self, task: TaskSpec) -> EnvironmentInfo:
            raise AssertionError(f"{task.task_id} was begun")

    trial = await selftest(fake_task(ADDED, **changes), Untouched())

    assert (trial.held, trial.reason) == (False, None)
    assert trial.fault is not None and trial.fault.code == "secret_needed"
    assert "<secret:PIN>" in trial.fault.message


async def test_a_rejection_says_what_why_and_where_from() -> None:
    task = BROKEN["any change is expected"][2]
    trial = await tried(task)

    (row,) = rejections([task, fake_task(COUNT)], {task.task_id: trial})

    assert (row.candidate_id, row.reason, row.origin) == (task.task_id, "mutation_survives", "hand")
    assert row.detail == trial.detail and row.instruction == task.instruction


def test_a_trial_travels_as_json() -> None:
    trial = Trial(task_id="t", held=False, reason="noop_passes", detail="d", notes=["n"])

    assert Trial.model_validate_json(trial.model_dump_json()) == trial


async def test_an_oracle_that_reaches_the_machine_is_stopped_and_its_task_rejected() -> None:
    class Terminal(FakeEnvironment):
        """Shows a terminal, and notes what is typed into it."""

        typed: tuple[str, ...] = ()

        async def observe(self) -> Observation:
            seen = await super().observe()
            prompt = Node(role="terminal", name="", value="$ ", states=["focused"])
            return seen.model_copy(update={"tree": tree_of([prompt])})

        async def act(self, action: Action, points: Sequence[Pixel]) -> ActResult:
            self.typed = (*self.typed, *([action.content] if isinstance(action, Type) else []))
            return await super().act(action, points)

    machine = Terminal()
    wiping = fake_task(ADDED, oracle=steps({"action": "Type", "content": "sudo rm -rf /etc\n"}))

    trial = await selftest(wiping, machine)

    assert (trial.held, trial.reason) == (False, "oracle_fails")
    assert "sudo rm -rf /etc\n" not in machine.typed
