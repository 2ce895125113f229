"""One pass over a record: rows of every kind, judges that see only what they may, errors that never become grades."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import get_args

import pytest

from pipeline.actions import Finished, Type
from pipeline.config import PanelConfig, PolicyConfig, RunConfig
from pipeline.errors import CaptureError, ConfigError, ModelError
from pipeline.judging import Bench, Judgement, build_judges, judge_names, judge_record, stripped
from pipeline.policies import build
from pipeline.protocols import Judge, Judged, JudgeView, view_of
from pipeline.records import Record, Vote
from pipeline.structs import Fault, Param
from pipeline.tasks import CapabilityCall, ProcedureStep, TaskSpec
from pipeline.words import JudgeKind, Mistake, Target
from tests.episodes import fake_task, play
from tests.records import check, click, look, node, read, record, step, task
from tests.votes import vote

FORM = look(node("textbox", "Summary", states=["focused"]), node("button", "Create"), path="/new")
FILLED = look(node("textbox", "Summary", "Lamp", states=["focused"]), node("button", "Create"), path="/new")
TICKET = look(node("heading", "Lamp"), node("link", "New"), path="/ticket/1")
STEPS = [step(Type(content="Lamp")), click(FILLED, "Create"), step(Finished())]
MADE = task("Create the ticket “Lamp”.", [check("contains", "tickets", "Lamp")], expected_changes=["ticket/*"])


def done(rows: list[list[str]] | None = None) -> Record:
    return record(
        [FORM, FILLED, TICKET, TICKET],
        STEPS,
        [read("tickets", rows or [["Lamp"]], 3), read("changes", [["ticket/1", "added"]], 3)],
    )


class Canned:
    """A model judge that says what it is told, or fails as told, and remembers what it saw."""

    name = "canned"
    family = "x"
    kind: JudgeKind = "model"

    def __init__(
        self, votes: list[Vote] | None = None, error: Exception | None = None, targets: tuple[Target, ...] = ("trace",)
    ) -> None:
        self.targets = targets
        self.votes, self.error = votes or [], error
        self.seen: list[tuple[JudgeView, Record]] = []

    def judge(self, view: JudgeView, record: Record, pass_id: str) -> Judged:
        self.seen.append((view, record))
        if self.error is not None:
            raise self.error
        return Judged([one.model_copy(update={"pass_id": pass_id}) for one in self.votes], [])


def judged(of: Record, *more: Judge, made: TaskSpec = MADE) -> Judgement:
    bench = Bench([*build_judges(["screen", "effect"]), *more])
    return asyncio.run(judge_record(made, of, bench, PanelConfig(), "pass-1"))


def test_a_pass_gives_rows_of_every_kind() -> None:
    found = judged(done())

    assert [result.state for result in found.checks] == ["passed"]
    assert [(row.state, row.judge) for row in found.keypoints] == [("met", "contract"), ("met", "screen")]
    assert [(one.target, one.judge, one.grade) for one in found.votes] == [
        ("trace", "screen", "complete"),
        ("step", "effect", "correct"),
        ("step", "effect", "correct"),
        ("step", "effect", "correct"),
    ]
    trace, *steps = found.verdicts
    assert (trace.grade, trace.rule, trace.side_effects, trace.process_score) == ("complete", "contract_only", [], 1.0)
    assert [(one.step_index, one.grade, one.rule) for one in steps] == [(n, "correct", "single") for n in range(3)]
    passes = [row.pass_id for rows in found for row in rows]
    assert set(passes) == {"pass-1"}


def test_the_same_record_gets_the_same_rows_again() -> None:
    assert judged(done()) == judged(done())


def test_a_judge_that_cannot_work_leaves_errors_not_grades() -> None:
    broken = Canned(error=ModelError("timeout", "no answer in 30 s"), targets=("trace", "step"))

    errors = [one for one in judged(done(), broken).votes if one.judge == "canned"]

    assert [(one.target, one.step_index) for one in errors] == [("trace", None), ("step", 0), ("step", 1), ("step", 2)]
    assert {(one.status, one.grade) for one in errors} == {("error", None)}
    assert "timeout: no answer" in errors[0].reason


def test_a_judge_is_blamed_only_for_what_it_grades() -> None:
    broken = Canned(error=CaptureError("undecodable", "no picture"))

    assert [one.target for one in judged(done(), broken).votes if one.status == "error"] == ["trace"]


def test_a_model_that_failed_is_no_vote_against_what_the_contract_proves() -> None:
    broken = Canned(error=ModelError("timeout", "no answer"))

    trace = judged(done(), broken).verdicts[0]

    assert (trace.status, trace.grade, trace.rule) == ("graded", "complete", "contract_only")
    assert "canned: error, timeout: no answer" in trace.reason


def test_an_abstention_of_a_configured_model_is_no_confirmation() -> None:
    assert judged(done(), Canned([vote(None)])).verdicts[0].status == "undecided"


def test_one_model_and_the_screen_judge_make_a_quorum() -> None:
    trace = judged(done(), Canned([vote("complete")])).verdicts[0]

    assert (trace.grade, trace.rule, trace.families, trace.share) == ("complete", "quorum", 2, 1.0)


def test_a_judge_with_a_bug_is_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError):
        judged(done(), Canned(error=ZeroDivisionError()))


@pytest.mark.parametrize(
    "ended",
    [
        {"termination": "fault", "fault": Fault(boundary="env", code="crash", message="gone")},
        {"termination": "blocked", "reason": "captcha"},
    ],
    ids=["fault", "captcha"],
)
def test_of_what_cannot_be_judged_no_judge_is_asked(ended: dict[str, object]) -> None:
    judge = Canned([vote("complete")])
    found = judged(record([FORM, TICKET], [click(FORM, "Create")], **ended), judge)  # type: ignore[arg-type]

    assert (judge.seen, found.votes, found.keypoints) == ([], [], [])
    assert {one.status for one in found.verdicts} == {"unscored"}
    assert len(found.verdicts) == 2


# --- what judges may see -----------------------------------------------------------------------------------------


def test_the_view_holds_nothing_of_the_contract_or_the_oracle() -> None:
    hidden = ("feasible", "oracle", "segments", "absence_checks", "calls", "capability_ids", "seed", "setup", "params")

    assert not set(hidden) & set(JudgeView.model_fields)


def test_the_record_handed_to_judges_has_no_policy_seed_or_marks() -> None:
    marked = done().model_copy(
        update={"steps": [one.model_copy(update={"injected": "wrong_value"}) for one in done().steps]}
    )
    judge = Canned()
    judged(marked, judge)

    _, seen = judge.seen[0]
    assert {one.injected for one in seen.steps} == {None}
    assert (seen.trajectory.policy, seen.trajectory.policy_id, seen.trajectory.seed) == ("", "", 0)
    assert (seen.attempt.policy_id, seen.attempt.seed) == ("", 0)
    assert seen.observations == marked.observations


def test_stripping_changes_nothing_else() -> None:
    of = done()
    bare = stripped(of)

    same = ("observations", "frames", "trees", "probe_reads", "events", "candidates")
    assert all(getattr(bare, name) == getattr(of, name) for name in same)


Change = Callable[[TaskSpec, Record], tuple[TaskSpec, Record]]


def _policy(made: TaskSpec, of: Record) -> tuple[TaskSpec, Record]:
    other = {"policy_id": "q" * 24, "seed": 99}
    attempt = of.attempt.model_copy(update=other)
    return made, of.model_copy(
        update={
            "attempt": attempt,
            "trajectory": of.trajectory.model_copy(update={**other, "policy": "human-expert"}),
        }
    )


def _marks(made: TaskSpec, of: Record) -> tuple[TaskSpec, Record]:
    marks: list[Mistake | None] = [*get_args(Mistake), None]
    steps = [one.model_copy(update={"injected": marks[n % len(marks)]}) for n, one in enumerate(of.steps)]
    return made, of.model_copy(update={"steps": steps})


def _task(**changes: object) -> Change:
    return lambda made, of: (made.model_copy(update=changes), of)


CHANGES: dict[str, Change] = {
    "policy and seed": _policy,
    "injected mistakes": _marks,
    "feasible": lambda made, of: (made.model_copy(update={"feasible": not made.feasible}), of),
    "infeasible_reason": _task(infeasible_reason="nothing of the kind"),
    "oracle": _task(oracle=[ProcedureStep(action="Finished", content="infeasible: no")]),
    "procedure": _task(
        capability_ids=["other.thing"],
        calls=[CapabilityCall(capability_id="other.thing", params=[Param(name="a", value="b")])],
    ),
    "seed of the task": _task(seed=7, generator="other", template_id="t"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_what_judges_may_not_see_changes_no_verdict(change: Change) -> None:
    for rows in ([["Lamp"]], [["Desk"]]):
        made, of = change(MADE, done(rows))

        assert judged(of, made=made) == judged(done(rows))


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_nor_on_real_episodes_with_mistakes(change: Change) -> None:
    for beginning, seed in (('Delete the to-do "Water', 1), ('Set the priority of "Pay', 2), ("Rename", 3)):
        made = fake_task(beginning)
        config = RunConfig(policy=PolicyConfig(name="planner", mistakes=0.3))
        of = asyncio.run(play(build(config, made, seed), made))
        other, altered = change(made, of)

        assert judged(altered, made=other).verdicts == judged(of, made=made).verdicts


# --- the registry ------------------------------------------------------------------------------------------------


def test_the_registry_is_sorted_and_builds_each_judge_once() -> None:
    assert judge_names() == sorted(judge_names())
    assert [judge.name for judge in build_judges(["screen", "effect", "screen"])] == ["screen", "effect"]
    assert build_judges([]) == []


def test_an_unknown_judge_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"judges: no judge 'oracle'; judges: effect, screen"):
        build_judges(["screen", "oracle"])


def test_every_judge_says_its_family_kind_and_targets() -> None:
    for judge in build_judges(judge_names()):
        assert (judge.family, judge.kind) == ("program", "program")
        assert set(judge.targets) <= {"trace", "step"}


def test_the_view_is_the_tasks() -> None:
    view = view_of(MADE)

    assert (view.task_id, view.instruction, view.language) == (MADE.task_id, MADE.instruction, "en")
