"""What a calibration lets the panel do and say: weights that decide, and error rates beside a verdict."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pipeline.config import PanelConfig
from pipeline.protocols import view_of
from pipeline.records import Verdict, Vote
from pipeline.tasks import TaskSpec
from pipeline.words import Claim, Grade
from tests.calibrations import calibration, model, weighing
from tests.records import task
from tests.test_panel import asked, ended, outcome
from tests.votes import letters, person, program, vote
from verifiers.calibration import CalibrationFile
from verifiers.contract import evaluate
from verifiers.panel import Case, decide

WEIGHTED = PanelConfig(rule="weighted", calibration="file.json")
TRUSTS_X = calibration(weights=weighing(x__for=2.0, x__against=-2.0, y__for=0.1, y__against=-0.1))
X_FOR, X_AGAINST = [vote("complete", "x"), vote("fail", "y")], [vote("fail", "x"), vote("complete", "y")]
UNDECIDED = ("undecided", None, "no_quorum")


def rule_on(
    votes: Sequence[Vote],
    known: CalibrationFile | None = TRUSTS_X,
    config: PanelConfig = WEIGHTED,
    made: TaskSpec | None = None,
    claim: Claim = "success",
    checks: str | None = None,
) -> Verdict:
    """The verdict on a trajectory, of a task without checks or with one that ends so."""
    of_checks, reads = asked(checks) if checks else (task(), [])
    made, of = made or of_checks, ended(*reads, claim=claim)
    return decide(Case(made, of, evaluate(made, of, "pass"), view_of(made), known), votes, config, "pass")[0]


# --- weights -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("votes", "grade"), [(X_FOR, "complete"), (X_AGAINST, "fail")])
def test_weights_decide_where_a_quorum_would_not(votes: list[Vote], grade: Grade) -> None:
    assert outcome(rule_on(votes)) == ("graded", grade, "weighted")
    assert outcome(rule_on(votes, config=PanelConfig())) == UNDECIDED


def test_what_lies_between_the_thresholds_is_undecided() -> None:
    careful = calibration(weights=weighing(accept=0.95, reject=0.05, x__for=1.0, y__for=1.0))

    verdict = rule_on([vote("complete", "x"), vote("complete", "y")], careful)

    assert outcome(verdict) == UNDECIDED
    assert "right with probability 0.88" in verdict.reason


def test_a_silent_judge_weighs_nothing() -> None:
    heard = rule_on([vote("complete", "x")])
    silent = rule_on([vote("complete", "x"), vote(None, "y")])
    failed = rule_on([vote("complete", "x"), vote(None, "y", status="error")])

    assert heard.reason == silent.reason
    assert failed.reason == f"{heard.reason}; y: error, y says None"


def test_nothing_is_decided_while_a_judge_still_to_be_asked_could_turn_it() -> None:
    even = calibration(weights=weighing(x__for=1.0, y__for=1.5, y__against=-1.5))

    assert outcome(rule_on([vote("complete", "x")], even)) == UNDECIDED
    assert outcome(rule_on([vote("complete", "x"), vote("fail", "y")], even)) == ("graded", "fail", "weighted")
    assert outcome(rule_on([vote("complete", "x"), vote(None, "y")], even)) == ("graded", "complete", "weighted")


def test_a_judge_that_cannot_turn_it_need_not_be_asked() -> None:
    assert outcome(rule_on([vote("complete", "x")])) == ("graded", "complete", "weighted")


def test_without_any_valid_vote_weights_decide_nothing() -> None:
    confident = calibration(weights=weighing(sign__known=5.0))

    assert outcome(rule_on([vote(None, "x"), vote(None, "y")], confident)) == ("undecided", None, "no_votes")


def test_no_weight_overrides_a_failed_check() -> None:
    assert outcome(rule_on(X_FOR, checks="failed")) == ("graded", "fail", "contract_failed")


def test_the_weights_know_that_the_checks_hold() -> None:
    trusts_checks = calibration(weights=weighing(sign__checks_passed=3.0, x__against=-1.0, y__against=-1.0))
    split = [vote("fail", "x"), vote("complete", "y")]

    assert outcome(rule_on(split, trusts_checks, checks="passed")) == ("graded", "complete", "weighted")
    assert outcome(rule_on(split, trusts_checks)) == ("graded", "fail", "weighted")


def test_checks_that_every_vote_contradicts_stay_a_dispute() -> None:
    votes = [vote("fail", "x"), vote("fail", "y")]

    assert outcome(rule_on(votes, checks="passed")) == ("undecided", None, "contract_disputed")


def test_weights_against_checks_that_hold_are_a_dispute() -> None:
    votes = [vote("fail", "x"), vote("complete", "y")]

    verdict = rule_on(votes, checks="passed")

    assert outcome(verdict) == ("undecided", None, "contract_disputed")
    assert "rule weighted" in verdict.reason
    assert verdict.calibration is None


def test_the_record_itself_is_weighed() -> None:
    by_signs = calibration(weights=weighing(sign__answered=1.0, sign__unfinished=-5.0, sign__budget=-9.0))

    assert outcome(rule_on(X_FOR, by_signs)) == ("graded", "fail", "weighted")


def test_an_agent_that_reports_infeasible_is_right_when_the_votes_say_so() -> None:
    refusal = [vote("infeasible", "x"), vote("fail", "y")]

    assert outcome(rule_on(refusal, claim="infeasible")) == ("graded", "infeasible", "weighted")
    assert outcome(rule_on(X_FOR, claim="infeasible")) == ("graded", "fail", "weighted")


def test_votes_against_say_partial_where_most_of_them_do() -> None:
    assert outcome(rule_on([vote("partial", "x"), vote("complete", "y")])) == ("graded", "partial", "weighted")


@pytest.mark.parametrize(
    "known",
    [
        calibration([model("x")], weights=TRUSTS_X.weighing),
        calibration([model("x", "other"), model("y")], weights=TRUSTS_X.weighing),
        calibration(domains=["Mobile"], weights=TRUSTS_X.weighing),
        None,
    ],
)
def test_weights_of_other_judges_or_another_domain_do_not_decide(known: CalibrationFile | None) -> None:
    assert outcome(rule_on(X_FOR, known)) == UNDECIDED


def test_a_person_decides_before_any_weight() -> None:
    assert outcome(rule_on([*X_FOR, person("fail")])) == ("graded", "fail", "human")


def test_without_models_weights_decide_what_no_check_does() -> None:
    programs = calibration(
        [model("screen", "program").model_copy(update={"kind": "program"})], weights=weighing(screen__for=2.0)
    )

    assert outcome(rule_on([program("complete")], programs)) == ("graded", "complete", "weighted")
    assert outcome(rule_on([program("complete")], programs, checks="passed"))[2] == "contract_only"


# --- error rates beside the verdict ------------------------------------------------------------------------------


def test_a_verdict_by_votes_cites_the_figures_of_its_rule() -> None:
    cited = rule_on(X_FOR).calibration

    assert cited is not None
    assert (cited.calibration_id, cited.fpr, cited.n) == (TRUSTS_X.calibration_id, 0.25, 9)
    assert cited.fnr == pytest.approx(0.2)


def test_a_quorum_of_the_calibrated_judges_is_calibrated_too() -> None:
    votes = [vote("complete", "x"), vote("complete", "y")]

    assert rule_on(votes, config=PanelConfig()).calibration is not None


@pytest.mark.parametrize(
    "known",
    [calibration(domains=["Computer"]), calibration([model("x", "other"), model("y")]), None],
)
def test_other_judges_and_other_domains_leave_a_verdict_uncalibrated(known: CalibrationFile | None) -> None:
    votes = [vote("complete", "x"), vote("complete", "y")]
    verdict = rule_on(votes, known, PanelConfig())

    assert (outcome(verdict), verdict.calibration) == (("graded", "complete", "quorum"), None)


def test_another_prompt_makes_another_judge() -> None:
    known = calibration([model("x", prompts=["p1"]), model("y", prompts=["p1"])])
    votes = [vote("complete", name).model_copy(update={"prompt_sha256": "p1"}) for name in ("x", "y")]
    changed = [votes[0], votes[1].model_copy(update={"prompt_sha256": "p2"})]

    assert rule_on(votes, known, PanelConfig()).calibration is not None
    assert rule_on(changed, known, PanelConfig()).calibration is None


@pytest.mark.parametrize(
    ("votes", "checks"),
    [([vote("complete", "x"), vote("fail", "y")], None), (letters("SSS"), "failed"), ([person("complete")], None)],
)
def test_only_a_grade_given_by_votes_has_error_rates(votes: list[Vote], checks: str | None) -> None:
    known = calibration([model("x"), model("y"), *(model(f"judge-{n}", "x") for n in range(3))])

    assert rule_on(votes, known, PanelConfig(), checks=checks).calibration is None


def test_steps_cite_no_figures_of_trajectories() -> None:
    made, of = task(), ended()
    votes = [vote("wrong", "x", step=0), vote("wrong", "y", step=0)]
    case = Case(made, of, evaluate(made, of, "pass"), view_of(made), TRUSTS_X)

    step = decide(case, votes, PanelConfig(), "pass")[1]

    assert (step.grade, step.calibration) == ("wrong", None)
