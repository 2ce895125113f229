"""What a calibration measures, and the file it becomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import ConfigError
from tests.calibrations import MADE_AT, calibration, labelled, model
from tests.votes import vote
from verifiers.ballot import PROGRAM
from verifiers.calibrate import FEWEST_ITEMS, calibrate
from verifiers.calibration import (
    FAILED,
    PASSED,
    CalibrationFile,
    Measured,
    applicable,
    identified,
    load_calibration,
)
from verifiers.labelled import LabelSet, Voter

LABELS = labelled({"a": 0.9, "b": 0.8, "c": 0.7})
TELEMETRY = Voter(name="telemetry", kind="program", family=PROGRAM)


def measured(file: CalibrationFile, name: str) -> Measured:
    return next(one for one in file.measured if one.name == name)


# --- measuring ---------------------------------------------------------------------------------------------------


def test_every_judge_and_every_rule_is_measured() -> None:
    names = [(one.kind, one.name) for one in calibrate(LABELS, MADE_AT).measured]

    assert names[:3] == [("judge", "a"), ("judge", "b"), ("judge", "c")]
    assert [name for kind, name in names if kind == "rule"] == [
        "all",
        "any",
        "majority",
        "majority, tie against",
        "majority, tie for",
        "quorum",
        "single",
        "weighted",
    ]


def test_a_judge_is_as_good_as_it_was_made() -> None:
    file = calibrate(labelled({"a": 0.9, "b": 0.7}, tasks=400), MADE_AT)

    assert measured(file, "a").figures.accuracy.value == pytest.approx(0.9, abs=0.03)
    assert measured(file, "b").figures.fpr.value == pytest.approx(0.3, abs=0.05)


def test_weights_beat_the_majority_where_judges_differ_in_worth() -> None:
    file = calibrate(labelled({"a": 0.95, "b": 0.6, "c": 0.6}, tasks=200), MADE_AT)

    weighted, majority = measured(file, "weighted").figures, measured(file, "majority").figures
    assert weighted.accuracy.value is not None and majority.accuracy.value is not None
    assert weighted.accuracy.value > majority.accuracy.value + 0.05


def test_the_tie_rule_of_an_even_panel_is_part_of_the_rule() -> None:
    file = calibrate(LABELS.only("a", "b"), MADE_AT)

    split = sum(item.votes["a"] != item.votes["b"] for item in LABELS.items) / len(LABELS.items)
    assert measured(file, "majority").figures.coverage.value == pytest.approx(1 - split)
    assert measured(file, "majority, tie for").figures == measured(file, "any").figures
    assert measured(file, "majority, tie against").figures == measured(file, "all").figures


def test_two_copies_of_one_family_have_no_quorum_but_may_decide_as_a_single_one() -> None:
    family = LABELS.only("a", "b")._replace(voters=[model("a", "x"), model("b", "x")])

    file = calibrate(family, MADE_AT)

    assert measured(file, "quorum").figures.coverage.value == 0.0
    assert file.figures("quorum", "Web") is None
    assert file.figures("single", "Web") is not None


def test_a_silent_judge_is_left_undecided_and_costs_no_accuracy() -> None:
    quiet = [
        item._replace(votes={name: said for name, said in item.votes.items() if n % 3 or name != "a"})
        for n, item in enumerate(LABELS.items)
    ]

    figures = measured(calibrate(LABELS._replace(items=quiet), MADE_AT), "a").figures

    assert figures.coverage.value == pytest.approx(2 / 3)
    assert figures.accuracy.value == pytest.approx(0.9, abs=0.06)


@pytest.mark.parametrize("rule", ["any", "quorum", "weighted"])
def test_a_failed_check_is_a_veto_in_every_rule(rule: str) -> None:
    failed = [
        item._replace(signs={FAILED: 1.0} if not item.truth and n % 2 else {}) for n, item in enumerate(LABELS.items)
    ]

    plain = measured(calibrate(LABELS, MADE_AT), rule).figures.fpr.value
    vetoed = measured(calibrate(LABELS._replace(items=failed), MADE_AT), rule).figures.fpr.value

    assert plain is not None and vetoed is not None
    assert vetoed < 0.8 * plain


@pytest.mark.parametrize("rule", ["all", "quorum", "weighted"])
def test_a_decision_against_checks_that_hold_is_a_dispute_and_no_decision(rule: str) -> None:
    disputed = [item._replace(signs={PASSED: 1.0}) for item in LABELS.items]

    figures = measured(calibrate(LABELS._replace(items=disputed), MADE_AT), rule).figures

    assert figures.fnr.value == 0.0
    assert figures.fpr.value == 1.0
    assert figures.coverage.value is not None and 0 < figures.coverage.value < 1


def test_tasks_that_cannot_be_done_are_measured_apart() -> None:
    items = [item._replace(infeasible=n % 4 == 0) for n, item in enumerate(LABELS.items)]

    one = measured(calibrate(LABELS._replace(items=items), MADE_AT), "a")

    assert one.feasible is not None and one.infeasible is not None
    assert (one.figures.n, one.feasible.n, one.infeasible.n) == (180, 135, 45)
    assert measured(calibrate(LABELS, MADE_AT), "a").infeasible is None


def test_a_wished_precision_is_kept_on_other_tasks_at_the_price_of_coverage() -> None:
    labels = labelled({"a": 0.85, "b": 0.8, "c": 0.75}, tasks=200)

    plain = measured(calibrate(labels, MADE_AT), "weighted").figures
    careful = measured(calibrate(labels, MADE_AT, precision=0.95), "weighted").figures

    assert careful.precision.value is not None and plain.precision.value is not None
    assert careful.precision.value > max(plain.precision.value, 0.93)
    assert careful.coverage.value is not None and careful.coverage.value < 1.0


def test_telemetry_is_a_judge_of_its_own_and_votes_as_it_would_on_other_tasks() -> None:
    labels = labelled({"a": 0.8}, tasks=100, signs=True)
    asked = labels._replace(voters=[*labels.voters, TELEMETRY])

    file = calibrate(asked, MADE_AT)

    assert measured(file, "telemetry").figures.accuracy.value == pytest.approx(0.86, abs=0.06)
    assert {voter.name for voter in file.judges} == {"a", "telemetry"}
    assert measured(file, "quorum").figures.coverage.value not in (0.0, 1.0)
    assert all(not one.feature.startswith("telemetry") for one in file.weighing.weights)


def test_without_signs_there_is_no_telemetry() -> None:
    assert calibrate(LABELS, MADE_AT).telemetry is None


@pytest.mark.parametrize(
    "labels",
    [
        LABELS._replace(items=LABELS.items[:20]),
        LABELS._replace(items=[item._replace(task_id="one") for item in LABELS.items]),
        LABELS.where(lambda item: item.truth),
        LABELS._replace(items=[item._replace(signs={FAILED: 1.0}) for item in LABELS.items]),
        LABELS._replace(voters=[]),
    ],
)
def test_what_cannot_be_measured_is_refused(labels: LabelSet) -> None:
    with pytest.raises(ConfigError, match=r"^--labels: by rule has "):
        calibrate(labels, MADE_AT)


def test_the_same_labels_give_the_same_file() -> None:
    assert calibrate(LABELS, MADE_AT) == calibrate(LABELS, MADE_AT)


# --- the file ----------------------------------------------------------------------------------------------------


def written(file: CalibrationFile, tmp_path: Path) -> str:
    path = tmp_path / "file.json"
    path.write_text(file.model_dump_json(), encoding="utf-8")
    return str(path)


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = calibrate(LABELS, MADE_AT)

    assert load_calibration(written(file, tmp_path)) == file


def test_an_edited_file_is_found_out(tmp_path: Path) -> None:
    edited = calibration().model_copy(update={"source": "somewhere else"})

    with pytest.raises(ConfigError, match="was changed after it was written"):
        load_calibration(written(edited, tmp_path))


def test_the_id_is_that_of_the_content_not_of_the_day() -> None:
    file = calibration()

    assert identified(file.model_copy(update={"made_at": MADE_AT.replace(year=2027)})).calibration_id == (
        file.calibration_id
    )
    assert calibration(domains=["Mobile"]).calibration_id != file.calibration_id


@pytest.mark.parametrize("text", ["", "{}", "[1]", "not json"])
def test_something_else_is_no_calibration(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError, match=r"^panel\.calibration: .* is no calibration: "):
        load_calibration(str(path))


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^panel\.calibration: /nowhere\.json: cannot be read"):
        load_calibration("/nowhere.json")


def test_figures_of_a_rule_are_cited_with_the_files_id() -> None:
    file = calibrate(LABELS, MADE_AT)

    cited = file.figures("quorum", "Web")

    assert cited is not None
    assert (cited.calibration_id, cited.n) == (file.calibration_id, 180)
    assert file.figures("contract_only", "Web") is None


def test_what_is_cited_where_there_are_no_checks_owes_nothing_to_checks() -> None:
    vetoed = [
        item._replace(item_id=f"{item.item_id} again", signs={FAILED: 1.0}) for item in LABELS.items if not item.truth
    ]

    mixed = calibrate(LABELS._replace(items=[*LABELS.items, *vetoed]), MADE_AT)

    plain = calibrate(LABELS, MADE_AT).figures("quorum", "Web")
    cited = mixed.figures("quorum", "Web")
    assert plain is not None and cited is not None
    assert (cited.fpr, cited.fnr, cited.n) == (plain.fpr, plain.fnr, plain.n)
    assert mixed.figures("quorum", "Web", checked=True) is None


def test_where_checks_hold_other_figures_are_cited_than_where_there_are_none() -> None:
    held = [item._replace(item_id=f"{item.item_id} checked", signs={PASSED: 1.0}) for item in LABELS.items[:90]]

    file = calibrate(LABELS._replace(items=[*LABELS.items, *held]), MADE_AT)

    without, checked = file.figures("quorum", "Web"), file.figures("quorum", "Web", checked=True)
    assert without is not None and checked is not None
    assert (without.n, checked.n) == (180, 90)


def test_a_few_labels_of_a_domain_do_not_borrow_the_figures_of_another() -> None:
    foreign = [
        item._replace(item_id=f"{item.item_id} abroad", domain="Mobile") for item in LABELS.items[: FEWEST_ITEMS - 1]
    ]

    file = calibrate(LABELS._replace(items=[*LABELS.items, *foreign]), MADE_AT)

    assert file.domains == ["Web"]
    assert file.figures("quorum", "Mobile") is None
    assert not file.speaks_of("Mobile", [vote("complete", "a")])


def test_steps_are_measured_by_labels_of_steps() -> None:
    steps = labelled({"a": 0.7, "b": 0.7}, seed=4)

    file = calibrate(LABELS, MADE_AT, steps=steps)

    of_steps, of_traces = file.figures("quorum", "Web", target="step"), file.figures("quorum", "Web")
    assert of_steps is not None and of_traces is not None
    assert of_steps.fpr > of_traces.fpr
    assert [voter.name for voter in file.step_judges] == ["a", "b"]


def test_without_enough_labelled_steps_nothing_is_said_of_steps() -> None:
    few = labelled({"a": 0.7}, tasks=7, per_task=3)

    file = calibrate(LABELS, MADE_AT, steps=few)

    assert (file.steps, file.step_judges) == ([], [])
    assert not file.speaks_of("Web", [vote("correct", "a", step=0)], "step")


def test_figures_of_steps_are_dropped_for_other_judges_of_steps(tmp_path: Path) -> None:
    known = calibrate(LABELS, MADE_AT, steps=labelled({"a": 0.7, "b": 0.7}, seed=4))
    path = written(known, tmp_path)
    judges = [(voter.name, voter.family) for voter in known.judges]

    same = applicable(path, "quorum", judges, [("a", "a"), ("b", "b")])
    other = applicable(path, "quorum", judges, [("a", "a")])

    assert same is not None and other is not None
    assert same.figures("quorum", "Web", target="step") is not None
    assert other.figures("quorum", "Web", target="step") is None
    assert other.figures("quorum", "Web") == known.figures("quorum", "Web")


def test_a_calibration_applies_to_all_of_its_judges_and_to_no_other(tmp_path: Path) -> None:
    path, both = written(calibration(), tmp_path), [("x", "x"), ("y", "y")]

    assert applicable(path, "quorum", both) == calibration()
    assert applicable(path, "quorum", [("x", "x")]) is None
    assert applicable(path, "quorum", [*both, ("z", "z")]) is None
    assert applicable(path, "quorum", [("x", "other"), ("y", "y")]) is None
    assert applicable(None, "quorum", both) is None


def test_rules_that_need_figures_do_not_start_without_them(tmp_path: Path) -> None:
    path = written(calibration(), tmp_path)

    with pytest.raises(ConfigError, match=r"^panel\.rule: 'weighted' needs panel\.calibration=FILE"):
        applicable(None, "weighted", [("x", "x")])
    with pytest.raises(ConfigError, match=r"measured for x \(x\), y \(y\), but the judges are x \(x\)"):
        applicable(path, "single", [("x", "x")])


def test_a_vote_of_an_unknown_judge_is_not_what_was_measured() -> None:
    file = calibration()

    assert file.speaks_of("Web", [vote("complete", "x"), vote("fail", "y")])
    assert not file.speaks_of("Web", [vote("complete", "x"), vote("fail", "z")])
    assert not file.speaks_of("Web", [vote("complete", "x", kind="program")])
