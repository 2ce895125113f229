"""A pass in which models judge: who is asked about what, when asking stops, and what the panel makes of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest

from pipeline.actions import Finished
from pipeline.config import PanelConfig, RunConfig
from pipeline.held_steps import HeldStep
from pipeline.judging import Bench, Judgement, judge_record, prompts
from pipeline.protocols import Judge, Judged, JudgeView
from pipeline.records import Record, Verdict, Vote
from pipeline.scripted_endpoint import Asked, ScriptedReply
from pipeline.tasks import TaskSpec
from pipeline.words import JudgeKind, Rule, StepGrade, Target, TraceGrade
from tests.endpoints import client_of, endpoint_of, says, serving
from tests.filmed import film, final, keypoints, notes, screens, step_grade
from tests.records import ATTEMPT, check, click, look, node, read, step, task
from verifiers import asking
from verifiers.model_judge import ModelJudge
from verifiers.screen import ScreenJudge
from verifiers.trace import PROMPTS

SCREENS = screens(3)
MADE = task("Create the ticket “Lamp”.", [check("equals", "ticket", "Lamp", name="there")])


class Program:
    """A judge without a model that says what it is told to."""

    name = "screen"
    family = "program"
    kind: JudgeKind = "program"
    targets: tuple[Target, ...] = ("trace", "step")

    def __init__(self, trace: TraceGrade | None, steps: StepGrade | None = None) -> None:
        self._trace, self._steps = trace, steps

    def judge(self, view: JudgeView, record: Record, pass_id: str) -> Judged:
        del view
        made = [self._vote("trace", None, self._trace, pass_id)]
        made += [self._vote("step", one.step_index, self._steps, pass_id) for one in record.steps]
        return Judged(made, [])

    def _vote(self, target: Target, index: int | None, grade: str | None, pass_id: str) -> Vote:
        return Vote.model_validate(
            {
                "pass_id": pass_id,
                "target": target,
                "attempt_id": ATTEMPT,
                "step_index": index,
                "judge": self.name,
                "judge_kind": self.kind,
                "family": self.family,
                "status": "graded" if grade else "abstain",
                "grade": grade,
                "reason": "said so",
            }
        )


def model(trace: str, steps: str = "correct") -> list[ScriptedReply]:
    """What a model's server says: its grade of the trajectory, and the one of every step."""
    return [final(trace, times=None), notes("unclear"), step_grade(steps, times=None), keypoints("Lamp is there")]


SILENT = [says("x", status=400, times=None)]


class Courtroom:
    """Models on servers of their own, named a, b, c by place; families likewise unless given."""

    def __init__(self, *models: Sequence[ScriptedReply], families: Sequence[str] = "abc") -> None:
        self._models, self._families = models, families
        self.asked: list[list[Asked]] = []

    async def judge(
        self, record: Record, *programs: Judge, made: TaskSpec = MADE, escalate: bool = False, **panel: Any
    ) -> Judgement:
        async with AsyncExitStack() as stack:
            judges = []
            for name, family, replies in zip("abc", self._families, self._models, strict=False):
                server = stack.enter_context(serving(*replies))
                self.asked.append(server.requests)
                client = await stack.enter_async_context(client_of(endpoint_of(server)))
                judges.append(ModelJudge(client, name, family, ("trace", "step"), 10))
            last = judges.pop() if escalate else None
            return await judge_record(made, record, Bench(programs, judges, last), PanelConfig(**panel), "pass")


def done(rows: list[list[str]] | None = None, **changes: Any) -> Record:
    reads = [read("ticket", [["Lamp"]] if rows is None else rows, 2), read("changes", [], 2)]
    return film([click(SCREENS[0], "Button 0"), step(Finished())], SCREENS, reads=reads, **changes)


def trace_of(judgement: Judgement) -> Verdict:
    return next(verdict for verdict in judgement.verdicts if verdict.target == "trace")


def told(verdict: Verdict) -> tuple[str | None, str, float]:
    return verdict.grade, verdict.rule, round(verdict.share or 0, 3)


def steps_of(judgement: Judgement) -> list[Verdict]:
    return [verdict for verdict in judgement.verdicts if verdict.target == "step"]


async def test_one_model_and_a_program_that_agree_are_enough() -> None:
    room = Courtroom(model("complete"), model("fail"))

    found = await room.judge(done(), Program("complete", "correct"))

    verdict = trace_of(found)
    assert (verdict.grade, verdict.rule, verdict.families) == ("complete", "quorum", 2)
    assert [(one.grade, one.rule) for one in steps_of(found)] == [("correct", "quorum")] * 2
    assert room.asked[1] == []
    assert {row.attempt_id for row in found.calls} == {ATTEMPT}
    assert {row.stage for row in found.calls} == {"keypoints", "prior", "window", "trace", "step"}


async def test_the_next_model_is_asked_only_about_what_is_open() -> None:
    room = Courtroom(model("complete", "wrong"), model("complete", "correct"))

    found = await room.judge(done(), Program("complete", "correct"))

    assert trace_of(found).rule == "quorum"
    assert {row.stage for row in found.calls[-2:]} == {"step"}
    assert [told(one) for one in steps_of(found)] == [("correct", "quorum", 0.667)] * 2
    assert len(room.asked[1]) == 2


async def test_two_of_three_families_decide_when_the_first_two_disagree() -> None:
    found = await Courtroom(model("complete"), model("fail"), model("fail")).judge(done([["Desk"]]))

    verdict = trace_of(found)
    assert told(verdict) == ("fail", "quorum", 0.667)


async def test_two_copies_of_one_model_are_one_family() -> None:
    found = await Courtroom(model("complete"), model("complete"), families="aa").judge(done([["Desk"]]), made=MADE)

    assert (trace_of(found).grade, trace_of(found).rule) == ("fail", "contract_failed")
    assert [one.rule for one in steps_of(found)] == ["no_quorum"] * 2


async def test_without_a_contract_one_family_decides_nothing() -> None:
    rubric = task("Look around.", contract_kind="rubric")

    found = await Courtroom(model("complete"), model("complete"), families="aa").judge(done(), made=rubric)

    assert (trace_of(found).status, trace_of(found).rule) == ("undecided", "no_quorum")


async def test_a_failed_check_is_never_outvoted() -> None:
    found = await Courtroom(model("complete"), model("complete"), model("complete")).judge(done([["Desk"]]))

    assert trace_of(found).grade == "fail"


async def test_a_contract_that_everybody_contradicts_is_disputed() -> None:
    found = await Courtroom(model("fail"), model("fail")).judge(done(), Program("fail"))

    assert (trace_of(found).status, trace_of(found).rule) == ("undecided", "contract_disputed")


async def test_the_stronger_judge_is_asked_only_when_the_others_disagree() -> None:
    agreeing = Courtroom(model("complete"), model("complete"))
    disagreeing = Courtroom(model("fail"), model("complete"))

    await agreeing.judge(done(), Program("complete", "correct"), escalate=True)
    found = await disagreeing.judge(done(), Program("complete", "correct"), escalate=True)

    assert agreeing.asked[1] == []
    assert disagreeing.asked[1] != []
    assert (trace_of(found).grade, trace_of(found).rule) == ("complete", "quorum")


async def test_models_that_fail_leave_errors_and_no_grade() -> None:
    rubric = task("Look around.", contract_kind="rubric")

    found = await Courtroom(SILENT, SILENT).judge(done(), made=rubric)

    assert {vote.status for vote in found.votes} == {"error"}
    assert (trace_of(found).status, trace_of(found).rule) == ("undecided", "no_votes")
    assert {one.status for one in steps_of(found)} == {"undecided"}


async def test_a_judge_whose_endpoint_is_silent_leaves_errors() -> None:
    with serving(says(fault="silence", times=None)) as server:
        quick = endpoint_of(server, read_seconds=0.2, connect_seconds=0.2, total_seconds=0.5)
        async with client_of(quick) as client:
            judge = ModelJudge(client, "a", "a", ("trace", "step"), 10)
            found = await judge_record(MADE, done(), Bench([], [judge]), PanelConfig(), "pass")

    assert {(vote.status, vote.grade) for vote in found.votes} == {("error", None)}
    assert all(vote.reason.startswith("timeout: ") for vote in found.votes)


async def test_of_what_is_unscored_nobody_is_asked() -> None:
    blind = [*SCREENS[:2], look(node("button", "B"), picture=None)]
    room = Courtroom(model("complete"))

    found = await room.judge(film([click(SCREENS[0], "Button 0"), step(Finished())], blind))

    assert (trace_of(found).status, trace_of(found).rule) == ("unscored", "no_picture")
    assert room.asked == [[]]
    assert found.votes == []
    assert found.calls == []


@pytest.mark.parametrize(("says_", "grade"), [("infeasible: no such field", "infeasible"), ("done", "fail")])
async def test_a_proof_of_absence_needs_no_model_for_the_trajectory(says_: str, grade: str) -> None:
    absent = task("Set the colour.", absence_checks=[check("equals", "ticket", "none", name="no such field")])
    record = film(
        [click(SCREENS[0], "Button 0"), step(Finished(content=says_))],
        SCREENS,
        reads=[read("ticket", [["none"]], 2), read("changes", [], 2)],
    )

    found = await Courtroom(model("complete")).judge(record, made=absent)

    assert trace_of(found).grade == grade
    assert {row.stage for row in found.calls} == {"step"}


async def test_keypoints_are_tied_to_the_check_they_are_about() -> None:
    found = await Courtroom(model("complete")).judge(done(), Program("complete", "correct"))

    assert [(row.text, row.check_name) for row in found.keypoints] == [("part 1", "there"), ("Lamp is there", "there")]


async def test_a_pass_that_grades_no_steps_says_nothing_of_them() -> None:
    found = await judge_record(MADE, done(), Bench([ScreenJudge()]), PanelConfig(), "pass")

    assert trace_of(found).grade == "complete"
    assert steps_of(found) == []


# --- the process score ----------------------------------------------------------------------------------------------


def held(*grades: tuple[int, StepGrade | None, Rule]) -> list[HeldStep]:
    return [HeldStep(index, "graded" if grade else "undecided", grade, rule) for index, grade, rule in grades]


@pytest.mark.parametrize(
    ("standing", "score"),
    [
        ([], None),
        (held((0, None, "no_quorum")), None),
        (held((0, "correct", "quorum"), (1, "wrong", "human")), 0.5),
    ],
)
async def test_a_pass_that_grades_no_steps_keeps_the_score_of_those_that_stand(
    standing: list[HeldStep], score: float | None
) -> None:
    found = await judge_record(MADE, done(), Bench([ScreenJudge()]), PanelConfig(), "pass", standing=standing)

    assert trace_of(found).process_score == score
    assert steps_of(found) == []


async def test_a_pass_that_grades_steps_scores_by_them_but_by_persons_first() -> None:
    before = held((0, "wrong", "human"), (1, "wrong", "quorum"))
    bench = Bench([Program("complete", "correct")])

    found = await judge_record(MADE, done(), bench, PanelConfig(), "pass", standing=before)

    assert [one.grade for one in steps_of(found)] == ["correct", "correct"]
    assert trace_of(found).process_score == 0.5


async def test_what_is_unscored_has_no_score_whatever_stands() -> None:
    broken = done(termination="blocked", reason="captcha")

    found = await judge_record(
        MADE, broken, Bench([ScreenJudge()]), PanelConfig(), "pass", standing=held((0, "correct", "quorum"))
    )

    assert (trace_of(found).status, trace_of(found).process_score) == ("unscored", None)


# --- what a vote refers to ------------------------------------------------------------------------------------------


def shown_by(*grades: Target) -> dict[str, str]:
    """The texts that such a judge's run stores, by hash."""
    asked = {"base_url": "http://127.0.0.1:9/v1", "name": "a", "grades": list(grades)}
    return {
        hashlib.sha256(text.encode()).hexdigest(): text
        for text in prompts(RunConfig.model_validate({"judges": [asked]}))
    }


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_votes_refer_to_texts_that_the_run_stores(language: str) -> None:
    made = task("Create the ticket “Lamp”.", [check("equals", "ticket", "Lamp", name="there")], language=language)

    found = await Courtroom([keypoints("Lamp is there")]).judge(done(), made=made)

    named = {(vote.target, vote.prompt_sha256 or "") for vote in found.votes}
    texts = shown_by("trace", "step")
    assert {target for target, _ in named} == {"trace", "step"}
    assert {name for _, name in named} <= set(texts)
    (pinned,) = (texts[name] for target, name in named if target == "trace")
    lines = [line.split(" ") for line in pinned.splitlines()]
    assert [name for name, _ in lines] == [f"{name}.{language}" for name in ("keypoints", "prior", "window", "trace")]
    assert {name for _, name in lines} <= set(texts)


async def test_a_vote_without_a_final_look_is_pinned_to_the_same_prompts() -> None:
    record = film([click(SCREENS[0], "Button 0"), step(Finished())], SCREENS)
    found = [
        await Courtroom([notes(state, screen=1), *model("complete")]).judge(record) for state in ("met", "unclear")
    ]

    hashes = [vote.prompt_sha256 for one in found for vote in one.votes if vote.target == "trace"]
    assert hashes[0] is not None
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize("name", PROMPTS)
def test_another_wording_of_any_prompt_is_another_reference(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, wording = asking.pinned_sha256(PROMPTS, "en"), asking.prompt_text
    changed = {(name, "en"): "Say yes."}
    monkeypatch.setattr(asking, "prompt_text", lambda *asked: changed.get(asked) or wording(*asked))

    assert asking.pinned_sha256(PROMPTS, "en") != before


def test_a_judge_of_steps_stores_only_what_it_is_asked_with() -> None:
    assert len(shown_by("step")) == 2
    assert len(shown_by("trace")) == 4 * 2 + 2
