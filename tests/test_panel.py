"""The order of judgement, rule by rule."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pipeline.actions import Finished, Scroll, Type, Wait
from pipeline.config import PanelConfig
from pipeline.protocols import view_of
from pipeline.records import ProbeRead, Record, Verdict, Vote
from pipeline.structs import Fault
from pipeline.tasks import TaskSpec
from pipeline.words import Claim, Grade, Rule, VerdictStatus
from tests.calibrations import calibration, model
from tests.records import at, check, click, look, node, read, record, step, task
from tests.votes import letters, person, program, vote
from verifiers.ballot import ballot_of
from verifiers.calibration import CalibrationFile
from verifiers.contract import evaluate
from verifiers.panel import Case, decide, process_score, unscored

FORM = look(node("heading", "New ticket"), node("textbox", "Summary", states=["focused"]), node("button", "Create"))
DONE = look(node("heading", "Lamp"), path="/ticket/1")
HOLDS, FAILS = [["1"]], [["0"]]
QUORUM = PanelConfig()
SINGLE = PanelConfig(rule="single", calibration="judges-1")


def ended(*reads: ProbeRead, claim: Claim = "success", acted: bool = True) -> Record:
    """A short episode: something typed and sent, or only looked at."""
    work = [step(Type(content="Lamp")), click(FORM, "Create")] if acted else [step(Wait()), step(Wait())]
    last = step(Finished(content="infeasible: no" if claim == "infeasible" else ""))
    return record([FORM, FORM, DONE, DONE], [*work, last], reads, claim=claim)


def asked(*outcomes: str, absence: str | None = None, rubric: bool = False) -> tuple[TaskSpec, list[ProbeRead]]:
    """A task with one check per segment, and reads that make each pass, fail, or unreadable."""
    rows = {"passed": HOLDS, "failed": FAILS, "unreadable": None}
    probes = {f"p{n}": rows[outcome] for n, outcome in enumerate(outcomes)}
    absences = {"absence": rows[absence]} if absence else {}
    reads = [
        read(name, value, 3, error="locked" if value is None else None)
        for name, value in {**probes, **absences}.items()
    ]
    made = task(
        "Create the ticket “Lamp”.",
        *[[check("equals", name, "1", name=name)] for name in probes],
        absence_checks=[check("equals", "absence", "1", name="absence")] if absence else [],
        contract_kind="rubric" if rubric else "state",
    )
    return made, reads


def rule_on(made: TaskSpec, of: Record, votes: Sequence[Vote], config: PanelConfig = QUORUM) -> Verdict:
    """The verdict on the trajectory."""
    return decide(case_of(made, of, config), votes, config, "pass")[0]


def case_of(made: TaskSpec, of: Record, config: PanelConfig) -> Case:
    """The case of a pass that has a calibration where its configuration names one."""
    known = calibration([model("x"), model("a", "x"), model("b", "x")])
    return Case(made, of, evaluate(made, of, "pass"), view_of(made), known if config.calibration else None)


def outcome(verdict: Verdict) -> tuple[VerdictStatus, Grade | None, Rule]:
    return verdict.status, verdict.grade, verdict.rule


# --- votes without a contract ------------------------------------------------------------------------------------

UNDECIDED = ("undecided", None, "no_quorum")


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ("SSS", ("graded", "complete", "quorum")),
        ("SS-", UNDECIDED),
        ("S-S", ("graded", "complete", "quorum")),
        ("SSF", UNDECIDED),
        ("SFS", ("graded", "complete", "quorum")),
        ("FFS", UNDECIDED),
        ("F-F", ("graded", "fail", "quorum")),
        ("---", ("undecided", None, "no_votes")),
    ],
)
def test_two_thirds_of_the_valid_votes_by_two_families_decide(votes: str, expected: object) -> None:
    assert outcome(rule_on(task(), ended(), letters(votes))) == expected


@pytest.mark.parametrize(
    ("votes", "grade"), [("SSS", "fail"), ("SFS", "fail"), ("FFF", "fail"), ("PFP", "partial"), ("SSS", "partial")]
)
def test_a_failed_check_is_a_veto_on_complete(votes: str, grade: Grade) -> None:
    made, reads = asked("passed", "failed") if grade == "partial" else asked("failed")

    assert rule_on(made, ended(*reads), letters(votes)).grade == grade


def test_two_copies_of_one_model_have_no_quorum() -> None:
    copies = [vote("complete", "x", "a"), vote("complete", "x", "b")]

    verdict = rule_on(task(), ended(), copies)

    assert outcome(verdict) == UNDECIDED
    assert (verdict.share, verdict.families) == (1.0, 1)


def test_a_tie_is_undecided() -> None:
    assert outcome(rule_on(task(), ended(), letters("SF", ["x", "y"]))) == UNDECIDED


def test_a_judge_has_one_vote_and_its_last_counts() -> None:
    twice = [vote("complete", "x", "a"), vote("fail", "y", "b"), vote("complete", "y", "b")]

    assert len(ballot_of(twice).valid) == 2
    assert outcome(rule_on(task(), ended(), twice)) == ("graded", "complete", "quorum")


def test_errors_and_abstentions_are_not_valid_votes() -> None:
    votes = [vote(None, "x", status="error"), vote(None, "y")]

    assert ballot_of(votes).valid == []
    assert outcome(rule_on(task(), ended(), votes)) == ("undecided", None, "no_votes")


def test_program_judges_are_one_family_whatever_they_are_called() -> None:
    programs = [program("complete", "screen"), vote("complete", "other", "telemetry", kind="program")]

    assert outcome(rule_on(task(), ended(), programs)) == UNDECIDED
    assert outcome(rule_on(task(), ended(), [*programs, vote("complete")])) == ("graded", "complete", "quorum")


def test_share_and_families_are_those_of_the_grade() -> None:
    verdict = rule_on(task(), ended(), letters("SFSS", ["x", "x", "y", "z"]))

    assert (verdict.share, verdict.families) == (0.75, 3)


# --- what cannot be judged ---------------------------------------------------------------------------------------


def test_a_fault_is_unscored_before_everything_else() -> None:
    fault = Fault(boundary="env", code="crash", message="the page died")
    made, reads = asked("passed")
    broken = record([FORM, DONE], [click(FORM, "Create")], reads, termination="fault", fault=fault)

    verdicts = decide(
        Case(made, broken, evaluate(made, broken, "pass"), view_of(made)), [person("complete")], QUORUM, "pass"
    )

    assert [outcome(verdict) for verdict in verdicts] == [("unscored", None, "fault")] * 2
    assert verdicts[0].process_score is None


def test_a_cancelled_attempt_says_nothing_of_the_agent() -> None:
    ruling = unscored(record([FORM], [], termination="cancelled"))

    assert ruling is not None
    assert ruling.rule == "fault"


@pytest.mark.parametrize("looks", [[], [FORM, DONE._replace(picture=None)]], ids=["nothing seen", "capture failed"])
def test_without_a_last_picture_nothing_is_judged(looks: list[object]) -> None:
    made, reads = asked("passed")
    blind = record(looks, [], reads)  # type: ignore[arg-type]

    assert outcome(rule_on(made, blind, letters("SSS"))) == ("unscored", None, "no_picture")


@pytest.mark.parametrize("wall", ["captcha", "login"])
def test_a_wall_is_unscored(wall: str) -> None:
    blocked = record([FORM, DONE], [click(FORM, "Create")], termination="blocked", reason=wall)

    assert outcome(rule_on(task(), blocked, letters("FFF"))) == ("unscored", None, "blocked")


def test_a_block_by_the_gate_is_judged() -> None:
    made, reads = asked("failed")
    held = record([FORM, DONE], [click(FORM, "Create")], reads, termination="blocked", reason="gate")

    assert outcome(rule_on(made, held, [])) == ("graded", "fail", "contract_failed")


# --- checks decide where no model is asked -----------------------------------------------------------------------


@pytest.mark.parametrize("votes", [[], [program(None)], [program("complete")]], ids=["none", "abstains", "agrees"])
def test_checks_alone_make_complete(votes: list[Vote]) -> None:
    made, reads = asked("passed", "passed")

    verdict = rule_on(made, ended(*reads), votes)

    assert outcome(verdict) == ("graded", "complete", "contract_only")
    assert verdict.segments_passed == 2
    assert verdict.failure_category is None


def test_a_program_that_disagrees_disputes_the_checks() -> None:
    made, reads = asked("passed")

    assert outcome(rule_on(made, ended(*reads), [program("fail")])) == ("undecided", None, "contract_disputed")


def test_a_failed_check_makes_partial_when_a_segment_passed() -> None:
    made, reads = asked("passed", "failed")

    verdict = rule_on(made, ended(*reads), [program("complete")])

    assert outcome(verdict) == ("graded", "partial", "contract_partial")
    assert verdict.segments_passed == 1
    assert "p1" in verdict.reason
    assert verdict.failure_category is not None


def test_partial_needs_a_task_specific_operation() -> None:
    made, reads = asked("passed", "failed")

    assert outcome(rule_on(made, ended(*reads, acted=False), [])) == ("graded", "fail", "contract_failed")


def test_a_failed_check_makes_fail_when_no_segment_passed() -> None:
    made, reads = asked("failed", "failed")

    assert outcome(rule_on(made, ended(*reads), [])) == ("graded", "fail", "contract_failed")


def test_unreadable_checks_decide_nothing() -> None:
    made, reads = asked("passed", "unreadable")

    assert outcome(rule_on(made, ended(*reads), [])) == UNDECIDED


def test_an_unread_segment_may_have_passed_so_fail_is_not_said() -> None:
    made, reads = asked("failed", "unreadable")

    assert outcome(rule_on(made, ended(*reads), [])) == UNDECIDED


def test_nothing_to_go_by_is_no_votes() -> None:
    assert outcome(rule_on(task(), ended(), [])) == ("undecided", None, "no_votes")


@pytest.mark.parametrize(
    ("path", "expected"), [("/ticket/1", UNDECIDED), ("/x", ("graded", "fail", "contract_failed"))]
)
def test_a_rubric_task_is_undecided_without_a_model_unless_its_address_check_fails(path: str, expected: object) -> None:
    made = task("Open the ticket", [check("equals", "address", path)], contract_kind="rubric")

    assert outcome(rule_on(made, ended(), [program("complete")])) == expected


# --- checks and models -------------------------------------------------------------------------------------------


def test_one_model_and_the_screen_judge_can_agree() -> None:
    made, reads = asked("passed")

    assert outcome(rule_on(made, ended(*reads), [program("complete"), vote("complete")]))[2] == "quorum"


@pytest.mark.parametrize("votes", [[vote("complete")], [vote(None)], [program("complete"), vote(None)]])
def test_one_family_alone_only_confirms_the_checks(votes: list[Vote]) -> None:
    made, reads = asked("passed")

    assert outcome(rule_on(made, ended(*reads), votes)) == UNDECIDED


def test_a_panel_that_disagrees_as_one_disputes_the_checks() -> None:
    made, reads = asked("passed")

    assert outcome(rule_on(made, ended(*reads), letters("FPF"))) == ("undecided", None, "contract_disputed")


@pytest.mark.parametrize("votes", ["FFS", "FSF", "PSP", "FFFS", "IISI", "SFFFFF"])
def test_a_quorum_against_checks_that_hold_is_a_dispute_whatever_the_others_say(votes: str) -> None:
    made, reads = asked("passed")
    panel = letters(votes, ["x", "y", "z", "x", "y", "z"][: len(votes)])

    verdict = rule_on(made, ended(*reads), panel)

    assert outcome(verdict) == ("undecided", None, "contract_disputed")
    assert "every check holds, yet the votes say" in verdict.reason


def test_one_family_that_may_decide_alone_disputes_checks_that_hold_too() -> None:
    made, reads = asked("passed")
    alone = [vote("fail", "x", "x"), vote("fail", "x", "a"), vote("complete", "x", "b")]

    verdict = rule_on(made, ended(*reads), alone, SINGLE)

    assert outcome(verdict) == ("undecided", None, "contract_disputed")
    assert "rule single" in verdict.reason


def test_a_rubrics_checks_are_no_proof_and_can_be_outvoted() -> None:
    made = task("Open the ticket", [check("equals", "address", "/ticket/1")], contract_kind="rubric")

    assert outcome(rule_on(made, ended(), letters("FFS", "xyz"))) == ("graded", "fail", "quorum")


def test_a_vote_that_is_off_the_ballot_does_not_count_against_a_part_that_was_done() -> None:
    made, reads = asked("failed")

    assert outcome(rule_on(made, ended(*reads), letters("PPS", "xyz"))) == ("graded", "partial", "quorum")
    assert outcome(rule_on(made, ended(*reads), letters("PPSS", "xyzx"))) == ("graded", "partial", "quorum")
    assert outcome(rule_on(made, ended(*reads), letters("FFSS", "xyzx"))) == ("graded", "fail", "contract_failed")


def test_unread_checks_are_no_veto() -> None:
    made, reads = asked("unreadable")

    assert outcome(rule_on(made, ended(*reads), letters("SSS"))) == ("graded", "complete", "quorum")


def test_a_vote_for_partial_needs_a_task_specific_operation() -> None:
    verdict = rule_on(task(), ended(acted=False), letters("PPP"))

    assert (verdict.grade, verdict.rule, verdict.share) == ("fail", "quorum", 1.0)


def test_a_single_calibrated_family_may_decide_where_the_rule_says_so() -> None:
    alone = [vote("complete", "x", "a"), vote("complete", "x", "b")]

    assert outcome(rule_on(task(), ended(), alone, SINGLE)) == ("graded", "complete", "single")
    assert outcome(rule_on(task(), ended(), alone, PanelConfig(rule="single"))) == UNDECIDED


def test_a_single_family_does_not_override_a_failed_check() -> None:
    made, reads = asked("failed")

    assert outcome(rule_on(made, ended(*reads), [vote("complete")], SINGLE)) == ("graded", "fail", "contract_failed")


# --- tasks that cannot be done -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("infeasible", ("graded", "infeasible", "contract_only")),
        ("success", ("graded", "fail", "contract_failed")),
        ("none", ("graded", "fail", "contract_failed")),
    ],
)
def test_proof_of_absence_makes_the_claim_right_or_wrong(claim: Claim, expected: object) -> None:
    made, reads = asked(absence="passed")

    assert outcome(rule_on(made, ended(*reads, claim=claim), [])) == expected


def test_proof_of_absence_needs_no_votes_and_heeds_none() -> None:
    made, reads = asked(absence="passed")

    assert rule_on(made, ended(*reads, claim="infeasible"), letters("FFF")).grade == "infeasible"
    assert rule_on(made, ended(*reads, claim="success"), letters("SSS")).grade == "fail"


def test_a_refusal_of_what_is_there_fails() -> None:
    made, reads = asked(absence="failed")

    assert outcome(rule_on(made, ended(*reads, claim="infeasible"), [])) == ("graded", "fail", "contract_failed")
    assert rule_on(made, ended(*reads, claim="infeasible"), letters("III")).grade == "fail"


def test_unread_absence_leaves_a_refusal_undecided() -> None:
    made, reads = asked(absence="unreadable")
    both, more = asked("failed", absence="unreadable")

    assert outcome(rule_on(made, ended(*reads, claim="infeasible"), [])) == UNDECIDED
    assert outcome(rule_on(both, ended(*more, claim="infeasible"), [])) == UNDECIDED


@pytest.mark.parametrize(("claim", "grade"), [("infeasible", "infeasible"), ("success", "fail"), ("none", "fail")])
def test_votes_for_infeasible_need_the_agent_to_say_so(claim: Claim, grade: Grade) -> None:
    verdict = rule_on(task(), ended(claim=claim), letters("III"))

    assert (verdict.grade, verdict.rule, verdict.share) == (grade, "quorum", 1.0)


# --- persons -----------------------------------------------------------------------------------------------------


def test_a_person_decides_over_checks_and_judges() -> None:
    made, reads = asked("failed")

    verdict = rule_on(made, ended(*reads), [*letters("FFF"), person("complete")])

    assert outcome(verdict) == ("graded", "complete", "human")


def test_persons_who_disagree_decide_nothing() -> None:
    votes = [person("complete", "ann"), person("fail", "ben")]

    assert outcome(rule_on(task(), ended(), votes)) == ("undecided", None, "human")


# --- steps -------------------------------------------------------------------------------------------------------


OF_STEPS = calibration([model("x")], targets=["trace", "step"])


def steps_of(
    votes: Sequence[Vote], config: PanelConfig = QUORUM, known: CalibrationFile | None = OF_STEPS
) -> list[Verdict]:
    made, reads = asked("passed")
    of = ended(*reads)
    return decide(case_of(made, of, config)._replace(calibration=known), votes, config, "pass")[1:]


def test_every_step_gets_a_verdict_that_says_why() -> None:
    verdicts = steps_of([program("correct", "effect", 0), program(None, "effect", 1)])

    assert [verdict.step_index for verdict in verdicts] == [0, 1, 2]
    assert [outcome(verdict) for verdict in verdicts] == [
        ("graded", "correct", "single"),
        ("undecided", None, "no_votes"),
        ("undecided", None, "no_votes"),
    ]
    assert "effect: abstain, program says None" in verdicts[1].reason
    assert verdicts[2].reason == "no valid vote"


def test_program_judges_that_disagree_on_a_step_leave_it_undecided() -> None:
    first = steps_of([program("correct", "a", 0), program("wrong", "b", 0)])[0]

    assert outcome(first) == UNDECIDED


@pytest.mark.parametrize(
    ("votes", "config", "expected"),
    [
        ([vote("wrong", "x", step=0), program("wrong", step=0)], QUORUM, ("graded", "wrong", "quorum")),
        ([vote("wrong", "x", step=0), program("correct", step=0)], QUORUM, UNDECIDED),
        ([vote("wrong", "x", step=0)], QUORUM, UNDECIDED),
        ([vote("wrong", "x", step=0)], SINGLE, ("graded", "wrong", "single")),
        ([vote(None, "x", step=0), program("correct", step=0)], QUORUM, UNDECIDED),
        (
            [vote(None, "x", step=0, status="error"), program("correct", step=0)],
            QUORUM,
            ("graded", "correct", "single"),
        ),
        ([vote("wrong", "x", step=0), person("correct", step=0)], QUORUM, ("graded", "correct", "human")),
    ],
)
def test_with_models_a_step_needs_a_quorum(votes: list[Vote], config: PanelConfig, expected: object) -> None:
    assert outcome(steps_of(votes, config)[0]) == expected


def test_a_calibration_of_trajectories_does_not_license_a_lone_family_to_grade_steps() -> None:
    votes = [vote("wrong", "x", step=0)]

    verdict = steps_of(votes, SINGLE, calibration([model("x")]))[0]

    assert (outcome(verdict), verdict.calibration) == (UNDECIDED, None)


def test_a_step_cites_the_error_rates_that_were_measured_on_steps() -> None:
    known = calibration([model("x"), model("y")], targets=["trace", "step"])
    votes = [vote("wrong", "x", step=0), vote("wrong", "y", step=0)]

    verdict = steps_of(votes, known=known)[0]

    assert verdict.calibration == known.figures("quorum", "Web", target="step")
    assert verdict.calibration is not None
    assert steps_of(votes, known=calibration([model("x"), model("y")]))[0].calibration is None


def test_votes_on_candidates_do_not_decide_the_step() -> None:
    other = program("wrong", "effect", 0).model_copy(update={"candidate_index": 0})

    assert outcome(steps_of([other])[0]) == ("undecided", None, "no_votes")


def test_process_score_is_the_share_of_steps_that_served_or_looked() -> None:
    grades: list[Grade] = ["correct", "explore", "wrong"]

    assert process_score(steps_of([program(g, "effect", n) for n, g in enumerate(grades)])) == pytest.approx(2 / 3)
    assert process_score(steps_of([])) is None


# --- side effects and categories ---------------------------------------------------------------------------------


def test_side_effects_are_stored_and_leave_the_grade() -> None:
    made, reads = asked("passed")
    touched = read("changes", [["wiki/1", "removed"]], 3)

    verdict = rule_on(made, ended(*reads, touched), [])

    assert (verdict.grade, verdict.side_effects) == ("complete", ["wiki/1"])


def test_scrolling_is_not_a_task_specific_operation() -> None:
    made, reads = asked("passed", "failed")
    scrolled = record(
        [FORM, DONE],
        [step(Scroll(point=at(FORM, "Create"), direction="down"))],
        [one.model_copy(update={"observation_index": 1}) for one in reads],
    )

    assert rule_on(made, scrolled, []).grade == "fail"


# --- states that nobody's operation explains --------------------------------------------------------------------


def written(*changed: str, acted: bool, **more: object) -> tuple[TaskSpec, Record]:
    """A task whose check holds, and a run after which these keys have changed."""
    made, reads = asked("passed")
    changes = read("changes", [[key, "added"] for key in changed], 3)
    expecting = {"expected_changes": list(changed), **more}
    return made.model_copy(update=expecting), ended(*reads, changes, acted=acted)


DISPUTED = ("undecided", None, "contract_disputed")


@pytest.mark.parametrize("votes", ["", "SSS", "FFF"])
def test_a_state_that_changed_without_an_operation_is_not_the_agents_work(votes: str) -> None:
    made, of = written("ticket/1", acted=False)

    verdict = rule_on(made, of, letters(votes) if votes else [])

    assert outcome(verdict) == DISPUTED
    assert "no operation" in verdict.reason


def test_with_an_operation_or_without_a_change_it_is() -> None:
    complete = ("graded", "complete", "contract_only")

    assert outcome(rule_on(*written("ticket/1", acted=True), [])) == complete
    assert outcome(rule_on(*written(acted=False), [])) == complete
    assert outcome(rule_on(*written("session/1", acted=False, always_ignore=["session/*"]), [])) == complete


def test_a_person_may_still_say_that_it_is_done() -> None:
    made, of = written("ticket/1", acted=False)

    assert outcome(rule_on(made, of, [person("complete")])) == ("graded", "complete", "human")
