from __future__ import annotations

import pytest

from pipeline.actions import Click, Point, Wait
from pipeline.exports.mopd import MopdWeights
from pipeline.exports.prompts import system_text
from pipeline.exports.replies import read_reply
from pipeline.exports.rows import ChatRow, LabelRow, ProcessRow, Shape, SpanRow, StepRow
from pipeline.exports.shapes import build_rows
from pipeline.records import Record
from tests.gradings import CLICK, DONE, TYPE, graded, played, screen, with_candidates, with_step
from tests.records import node, record, step

ELSEWHERE = Click(point=Point(x=900, y=900))


def test_sft_is_one_chat_per_complete_trajectory() -> None:
    built = build_rows("sft", graded(steps=("correct", "explore", "correct")), "positive")
    (row,) = built.rows
    assert isinstance(row, ChatRow)
    assert [message.role for message in row.messages] == ["system", *["user", "assistant"] * 3]
    assert [[part.type for part in message.content] for message in row.messages[1::2]] == [
        ["text", "image"],
        ["image"],
        ["image"],
    ]
    said = [read_reply(message.content[0].text or "") for message in row.messages[2::2]]
    assert [reply.action for reply in said if reply] == [CLICK, TYPE, DONE]
    assert row.step_grades == ["correct", "explore", "correct"]
    assert len(row.images) == 3


def test_sft_leaves_out_what_is_not_complete() -> None:
    for grade in ("partial", "fail", "infeasible"):
        built = build_rows("sft", graded(grade=grade), "positive")
        assert (built.rows, built.left_out) == ([], f"graded {grade}")
    assert build_rows("sft", graded(grade=None), "positive").left_out == "undecided"


def test_sft_is_cleaned_and_keeps_the_error_it_recovered_from() -> None:
    home, other = screen(node("heading", "a")), screen(node("heading", "b"))
    failed = step(CLICK, action_error="target_covered", status="failed")
    made = record([home, home, home, other, other], [step(Wait()), failed, step(CLICK), step(DONE)])
    built = build_rows("sft", graded(made, steps=("explore", "invalid", "correct", "correct")), "positive")
    (row,) = built.rows
    assert isinstance(row, ChatRow)
    assert built.removed == {"needless_wait": 1}
    assert row.actions == [CLICK, CLICK, DONE]
    assert row.messages[3].content[0].text == "The last action failed: target_covered.\n"


def test_unscored_and_unjudged_trajectories_are_no_material() -> None:
    for shape in ("sft", "rl-step", "prm", "kto", "mopd"):
        assert build_rows(shape, graded(grade=None, status="unscored"), "positive").left_out == "unscored"
    unjudged = graded(grade=None)
    unjudged = unjudged._replace(trace=unjudged.trace._replace(status=None))
    assert build_rows("rl-step", unjudged, "positive").left_out == "unjudged"


def test_rl_step_is_one_row_per_step_with_the_components_apart() -> None:
    made = with_step(played(), 0, action_error="target_covered", status="failed")
    rows = build_rows("rl-step", graded(made, "fail", ("invalid", "wrong", "correct")), "positive").rows
    assert [row.row_id.rpartition("/")[2] for row in rows] == ["0", "1", "2"]
    second = rows[1]
    assert isinstance(second, StepRow)
    assert (second.step_grade, second.step_share, second.trace_grade, second.trace_share) == ("wrong", 1.0, "fail", 1.0)
    assert (second.contract_score, second.data_source, second.domain) == (0.5, "pathproof/demo", "Web")
    words = second.messages[1].content[0].text or ""
    assert 'Actions so far:\n1. {"type":"Click","point":{"x":10,"y":20}} (failed: target_covered)\n' in words
    assert second.images[0].bytes == made.frames[made.observations[1].frame_sha256 or ""].image.bytes


def test_a_step_whose_reply_had_no_action_is_no_row_and_is_counted() -> None:
    made = played([CLICK, None, DONE])
    built = build_rows("rl-step", graded(made), "positive")
    assert [row.row_id.rpartition("/")[2] for row in built.rows] == ["0", "2"]
    assert built.removed == {"unreadable_reply": 1}


def test_prm_labels_explore_as_its_policy_says() -> None:
    judged = graded(steps=("correct", "explore", "wrong"))
    (positive,) = build_rows("prm", judged, "positive").rows
    (negative,) = build_rows("prm", judged, "negative").rows
    assert isinstance(positive, ProcessRow) and isinstance(negative, ProcessRow)
    assert positive.labels == [True, True, False]
    assert negative.labels == [True, False, False]
    assert build_rows("prm", judged, "exclude").left_out == "explores"
    assert len(positive.completions) == len(positive.images) == 3


def test_prm_leaves_the_label_of_an_ungraded_step_open() -> None:
    (row,) = build_rows("prm", graded(steps=("correct", None, "invalid")), "positive").rows
    assert isinstance(row, ProcessRow)
    assert row.labels == [True, None, False]


def test_kto_labels_steps_by_their_trajectory() -> None:
    labels = {
        grade: {
            row.label for row in build_rows("kto", graded(grade=grade), "positive").rows if isinstance(row, LabelRow)
        }
        for grade in ("complete", "infeasible", "fail")
    }
    assert labels == {"complete": {True}, "infeasible": {True}, "fail": {False}}
    assert build_rows("kto", graded(grade="partial"), "positive").left_out == "graded partial"


def test_kto_takes_what_was_wanted_only_from_usable_trajectories() -> None:
    wanted = build_rows("kto", graded(usable=False), "positive").rows
    unwanted = build_rows("kto", graded(grade="fail", usable=False), "positive").rows
    assert not any(row.usable for row in wanted if isinstance(row, LabelRow))
    assert all(row.usable for row in unwanted if isinstance(row, LabelRow))


def test_mopd_weighs_a_rejected_candidate_against_its_right_revision() -> None:
    made = with_candidates(played(), (0, ELSEWHERE, "rejected"), (1, Wait(), "rejected"), (1, TYPE, "rejected"))
    rows = [row for row in build_rows("mopd", graded(made), "positive").rows if isinstance(row, SpanRow)]
    weighed = {row.row_id.partition("/")[2]: row.weights for row in rows}
    assert weighed == {
        "0": None,
        "0/0": MopdWeights(type=2.0, parameters=2.0),
        "1": None,
        "1/1": MopdWeights(type=1.0, parameters=0.0),
        "1/2": MopdWeights(type=0.0, parameters=0.0),
        "2": None,
    }
    assert [row.origin for row in rows[:2]] == ["executed", "rejected"]
    assert rows[0].messages == rows[1].messages


def test_mopd_has_no_weights_without_a_right_executed_revision() -> None:
    made = with_candidates(played(), (0, ELSEWHERE, "rejected"))
    for judged in (graded(made, steps=("wrong",)), graded(with_step(made, 0, status="failed"))):
        row = next(row for row in build_rows("mopd", judged, "positive").rows if row.row_id.endswith("/0/0"))
        assert isinstance(row, SpanRow)
        assert row.weights is None


def test_mopd_takes_what_was_never_reached_for_no_rejection() -> None:
    made = with_candidates(played(), (0, ELSEWHERE, "sequence_stopped"), (0, None, "unreadable"))
    rows = build_rows("mopd", graded(made), "positive").rows
    assert [row.row_id.partition("/")[2] for row in rows] == ["0", "1", "2"]


def test_mopd_hints_the_type_only_where_it_is_known_to_be_right() -> None:
    rows = build_rows("mopd", graded(steps=("correct", "wrong", None)), "positive").rows
    hints = [row.teacher_hint for row in rows if isinstance(row, SpanRow)]
    assert hints == ["The right type of action for this step is Click.", None, None]
    assert all("right type" not in (part.text or "") for row in rows for said in row.messages for part in said.content)


def test_each_platform_is_told_its_own_actions() -> None:
    web, phone = system_text("web"), system_text("mobile")
    assert '{"type":"SelectOption","index":0}' in web and "LaunchApp" not in web
    assert '{"type":"LaunchApp","app":"..."}' in phone and "AcceptDialog" not in phone
    assert '"direction":"up|down|left|right"' in web


# --- steps of an earlier attempt -----------------------------------------------------------------------------------


def begun_later() -> Record:
    """A trajectory whose first step was another's, made again."""
    return with_step(played(), 0, replayed=True)


def test_sft_tells_earlier_steps_and_teaches_none_of_them() -> None:
    (row,) = build_rows("sft", graded(begun_later(), steps=(None, "correct", "correct")), "positive").rows
    assert isinstance(row, ChatRow)
    assert [message.role for message in row.messages] == ["system", *["user", "assistant"] * 2]
    assert (row.messages[1].content[0].text or "").endswith(
        'Actions so far:\n1. {"type":"Click","point":{"x":10,"y":20}}\n\nCurrent screen:\n'
    )
    assert row.actions == [TYPE, DONE] and row.step_grades == ["correct", "correct"]
    assert row.images[0].path == f"{begun_later().observations[1].frame_sha256}.png" and len(row.images) == 2


@pytest.mark.parametrize("shape", ["rl-step", "kto", "mopd"])
def test_earlier_steps_are_no_rows_and_stand_in_the_history(shape: Shape) -> None:
    rows = build_rows(shape, graded(begun_later()), "positive").rows
    assert [row.row_id.rpartition("/")[2] for row in rows] == ["1", "2"]
    assert '1. {"type":"Click","point":{"x":10,"y":20}}' in (rows[0].messages[1].content[0].text or "")


def test_prm_labels_own_steps_after_what_was_done_before() -> None:
    (row,) = build_rows("prm", graded(begun_later(), steps=(None, "correct", "wrong")), "positive").rows
    assert isinstance(row, ProcessRow)
    assert (row.labels, len(row.images), len(row.completions)) == ([True, False], 2, 2)
    assert "Actions so far:\n1. " in (row.messages[1].content[0].text or "")


@pytest.mark.parametrize("shape", ["sft", "prm"])
def test_a_trajectory_without_a_step_of_its_own_is_no_material(shape: Shape) -> None:
    made = played()
    for number in range(len(made.steps)):
        made = with_step(made, number, replayed=True)
    assert build_rows(shape, graded(made), "positive").left_out == "did nothing itself"
