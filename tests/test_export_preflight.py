from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest

from pipeline.actions import Click, Point, Type
from pipeline.exports.preflight import Preflight, Reason, placeholders
from pipeline.exports.rows import AnyRow, Shape
from pipeline.exports.shapes import build_rows
from pipeline.exports.source import Graded
from pipeline.exports.trainers import RENDERERS, renderer_for
from pipeline.records import Record
from pipeline.structs import Box, Sensitive
from tests.gradings import DONE, TYPE, flagged, graded, played, with_step
from tests.records import task as one_task


def rows_of(judged: Graded, shape: Shape = "rl-step") -> list[AnyRow]:
    return list(build_rows(shape, judged, "positive").rows)


def reasons(row: AnyRow, shape: Shape = "rl-step", trainer: str = "hf", max_tokens: int = 10_000) -> list[str]:
    rendered = renderer_for(shape, trainer).render(row, "train", 0)
    return [problem.reason for problem in Preflight(max_tokens).problems(row, rendered)]


def without_picture(made: Record, index: int) -> Record:
    looks = list(made.observations)
    looks[index] = looks[index].model_copy(update={"frame_sha256": None, "capture_error": "timeout"})
    return made.model_copy(update={"observations": looks})


def damaged(made: Record, index: int, data: bytes) -> Record:
    name = made.observations[index].frame_sha256 or ""
    frame = made.frames[name]
    hurt = frame.model_copy(update={"image": frame.image.model_copy(update={"bytes": data})})
    return made.model_copy(update={"frames": {**made.frames, name: hurt}})


@pytest.mark.parametrize("pair", [pair for pair in RENDERERS if pair != ("prm", "trl")], ids="-".join)
def test_a_sound_row_passes_in_every_form(pair: tuple[Shape, str]) -> None:
    for row in rows_of(graded(), pair[0]):
        assert reasons(row, *pair) == []


@pytest.mark.parametrize("trainer", ["hf", "verl", "trl", "ms-swift"])
def test_a_missing_picture_leaves_a_place_empty(trainer: str) -> None:
    first, *others = rows_of(graded(without_picture(played(), 0)))
    assert reasons(first, trainer=trainer) == ["image_count"]
    assert [reasons(row, trainer=trainer) for row in others] == [[], []]


def test_half_a_picture_is_none() -> None:
    made = played()
    data = made.frames[made.observations[1].frame_sha256 or ""].image.bytes
    rows = rows_of(graded(damaged(made, 1, data[: len(data) // 2])))
    assert [reasons(row) for row in rows] == [[], ["undecodable_picture"], []]


def test_another_picture_under_the_same_hash_is_noticed() -> None:
    made = played()
    other = made.frames[made.observations[2].frame_sha256 or ""].image.bytes
    assert reasons(rows_of(graded(damaged(made, 0, other)))[0]) == ["undecodable_picture"]


def test_a_picture_is_known_again() -> None:
    preflight, row = Preflight(10_000), rows_of(graded())[0]
    assert preflight.tokens(row) == preflight.tokens(row)
    assert preflight.problems(row, row) == preflight.problems(row, row) == []


def test_a_row_longer_than_the_limit_is_rejected() -> None:
    row = rows_of(graded())[0]
    tokens = Preflight(1).tokens(row)
    # A picture of 320x200 pixels takes 12 x 8 pieces and two marks.
    assert tokens > 98
    assert reasons(row, max_tokens=tokens) == []
    assert reasons(row, max_tokens=tokens - 1) == ["too_long"]


def test_a_thought_that_closes_its_envelope_cannot_be_read_back() -> None:
    made = with_step(played(), 1, thought="Now </think> I type.")
    assert [reasons(row) for row in rows_of(graded(made))] == [[], ["action_not_read_back"], []]
    assert reasons(rows_of(graded(made), "sft")[0], "sft") == ["action_not_read_back"]


@pytest.mark.parametrize(
    "words",
    [
        "see <image> here",
        "a <VIDEO>",
        "end <|im_end|>",
        "<bbox>",
        "<|reserved_special_token_5|>",
        "<|image_1|>",
        "<｜end▁of▁sentence｜>",
        "the end</s>",
        "<start_of_turn>",
        "[INST] now [/INST]",
    ],
)
def test_texts_that_a_trainer_takes_for_something_else_are_rejected(words: str) -> None:
    typed = played([Click(point=Point(x=1, y=1)), Type(content=words), DONE])
    assert "reserved_marker" in reasons(rows_of(graded(typed), "sft")[0], "sft")
    asked = rows_of(graded(task=one_task(f"Enter {words}.")))[0]
    assert "reserved_marker" in reasons(asked)


@pytest.mark.parametrize("words", ["a < b and c > d", "<s3>", "[install]", "x <|y", "price<|>|tax"])
def test_texts_that_only_look_like_marks_stay(words: str) -> None:
    asked = rows_of(graded(task=one_task(f"Enter {words}.")))[0]
    assert "reserved_marker" not in reasons(asked)


def test_what_is_wrong_with_a_row_is_told_without_its_words() -> None:
    typed = with_step(
        played([Click(point=Point(x=1, y=1)), Type(content="correct horse"), DONE]), 1, thought="a</think>b"
    )
    row = rows_of(graded(typed))[1]

    problems = Preflight(65536).problems(row, row)

    assert [(one.reason, one.detail) for one in problems] == [("action_not_read_back", "nothing is read, of Type")]


def test_a_placeholder_in_a_text_also_spoils_the_count() -> None:
    row = rows_of(graded(task=one_task("Enter <image>.")))[0]
    assert reasons(row, trainer="verl") == ["reserved_marker", "image_count"]


def test_a_row_without_its_grade_is_rejected() -> None:
    judged = graded(steps=("correct", None, "correct"))
    assert [reasons(row) for row in rows_of(judged)] == [[], ["no_grade"], []]
    assert [reasons(row, "mopd") for row in rows_of(judged, "mopd")] == [[], ["no_grade"], []]
    assert reasons(rows_of(judged, "prm")[0], "prm") == ["no_grade"]


def test_imitating_an_unusable_trajectory_is_rejected() -> None:
    judged = graded(usable=False)
    assert reasons(rows_of(judged, "sft")[0], "sft") == ["not_usable"]
    assert reasons(rows_of(judged, "kto")[0], "kto") == ["not_usable"]


def test_a_trajectory_without_steps_is_rejected() -> None:
    assert reasons(rows_of(graded(played([])), "prm")[0], "prm") == ["no_steps"]


@pytest.mark.parametrize(
    ("flag", "reason"), [("contains_secret", "secret_in_view"), ("contains_pii", "personal_data_in_view")]
)
def test_what_shows_secrets_or_personal_data_is_rejected(flag: str, reason: str) -> None:
    made = flagged(played(), 1, flag)
    # The last row tells what was typed at the flagged look.
    assert [reasons(row) for row in rows_of(graded(made))] == [[], [reason], [reason]]
    assert reasons(rows_of(graded(made), "sft")[0], "sft") == [reason]


SECRETS: dict[str, tuple[Callable[[Record], Record], list[int]]] = {
    "the look before": (lambda made: flagged(made, 0, "contains_secret"), [0]),
    "the look into which was typed": (lambda made: flagged(made, 2, "contains_secret"), [1, 2]),
    "the look after a click": (lambda made: flagged(clicked(made), 2, "contains_secret"), [2]),
    "the step": (lambda made: with_step(made, 1, flags=["contains_secret"]), [1, 2]),
    "the frame": (lambda made: sensitive(made, "frames", 0), [0]),
    "the tree": (lambda made: sensitive(made, "trees", 0), [0]),
    "the frame of the last look": (lambda made: sensitive(made, "frames", 3), [2]),
}


def clicked(made: Record) -> Record:
    """The record without anything typed."""
    return with_step(made, 1, action=Click(point=Point(x=1, y=1)))


def sensitive(made: Record, table: str, index: int) -> Record:
    """The record with a region in the picture or tree of a look."""
    rows = dict(getattr(made, table))
    look = made.observations[index]
    name = (look.frame_sha256 if table == "frames" else look.tree_sha256) or ""
    region = Sensitive(class_="password", box=Box(left=0, top=0, right=9, bottom=9))
    rows[name] = rows[name].model_copy(update={"sensitive": [region]})
    return made.model_copy(update={table: rows})


@pytest.mark.parametrize("where", SECRETS)
@pytest.mark.parametrize("shape", ["rl-step", "kto", "mopd", "sft", "prm"])
def test_a_row_is_rejected_wherever_it_is_said_that_a_secret_is_in_view(where: str, shape: Shape) -> None:
    mark, refused = SECRETS[where]
    rows = rows_of(graded(mark(played())), shape)
    if shape in ("sft", "prm"):
        refused = [0]
    assert [place for place, row in enumerate(rows) if reasons(row, shape) == ["secret_in_view"]] == refused
    assert [reasons(row, shape) for place, row in enumerate(rows) if place not in refused] == [[]] * (
        len(rows) - len(refused)
    )


def test_a_secret_anywhere_in_a_trajectory_spoils_all_its_rows() -> None:
    made = played()
    secret = made.model_copy(update={"trajectory": made.trajectory.model_copy(update={"contains_secret": True})})
    assert [reasons(row) for row in rows_of(graded(secret))] == [["secret_in_view"]] * 3


def test_several_faults_are_all_named() -> None:
    made = without_picture(with_step(flagged(played(), 0, "contains_pii"), 0, thought="</think>"), 0)
    found = reasons(rows_of(graded(made, steps=()))[0], max_tokens=1)
    assert found == [
        "action_not_read_back",
        "no_grade",
        "image_count",
        "too_long",
        "personal_data_in_view",
    ]
    assert set(found) < set(get_args(Reason))


def test_places_are_counted_in_parts_and_in_texts() -> None:
    shown = [{"role": "user", "content": [{"type": "text", "text": "a <image>"}, {"type": "image", "text": None}]}]
    assert placeholders({"messages": shown, "prompt": "<image><image>", "number": 3}) == 4


def test_typed_actions_are_compared_not_their_texts() -> None:
    row = rows_of(graded())[1]
    assert reasons(row.model_copy(update={"action": TYPE.model_copy(update={"content": "Lamb"})})) == [
        "action_not_read_back"
    ]
