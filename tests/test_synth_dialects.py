"""What trainers are given of one labelled place and of one refusal, key by key; and how rows are counted."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.actions import Click, Point, device_pixel
from pipeline.dialects import Picture, load_dialect
from pipeline.dialects import Said as Answered
from pipeline.grounding import Grounding, GroundingTarget
from pipeline.records import Frame
from pipeline.structs import Box, Image
from pipeline.synth.balance import Group, balance
from pipeline.synth.choosing import QUOTAS
from pipeline.synth.giving import conversation, verl_row

BOX = Box(left=100, top=40, right=180, bottom=60)
TARGET = GroundingTarget(role="button", name="Save all", text="Save", box=BOX)
POINT = Point(x=140, y=83)


def row(**given: Any) -> Grounding:
    plain: dict[str, Any] = {
        "row_id": "r1",
        "screen_id": "s1",
        "screen_number": 0,
        "family": "mail",
        "platform": "web",
        "shell": "web",
        "theme": "light",
        "language": "en",
        "width": 1000,
        "height": 600,
        "device_ratio": 1.0,
        "frame_sha256": "f" * 64,
        "instruction": 'Click "Save".',
        "instruction_language": "en",
        "kind": "literal",
        "target": TARGET,
        "point": POINT,
        "refusal": False,
        "seed": 1,
        "split": "train",
        "label_hash": "l",
        "phash": "p",
    }
    return Grounding.model_validate({**plain, **given})


FOUND, NONE = row(), row(kind="refusal", target=None, point=None, refusal=True, instruction='Click "Pay".')


def said(made: Grounding, trainer: Any) -> dict[str, Any]:
    return conversation(made, "images/f.png", trainer).model_dump(mode="json", exclude_none=True)


def test_plain_messages_answer_with_a_point_of_999() -> None:
    ask = "<image>Point at what this asks for, as [x,y] from 0 to 999, or [-1,-1] if it is not there: "

    assert said(FOUND, "hf") == {
        "messages": [
            {"role": "user", "content": f'{ask}Click "Save".'},
            {"role": "assistant", "content": "[140,83]"},
        ],
        "images": ["images/f.png"],
    }
    assert said(NONE, "hf")["messages"][1]["content"] == "[-1,-1]"


def test_ms_swift_reads_a_box_in_real_pixels_and_an_empty_list_of_a_refusal() -> None:
    assert said(FOUND, "ms-swift")["objects"] == {"ref": [], "bbox": [[100, 40, 180, 60]], "bbox_type": "real"}
    assert said(FOUND, "ms-swift")["messages"][1]["content"] == "<bbox>"
    assert said(NONE, "ms-swift")["objects"] == {"ref": [], "bbox": [], "bbox_type": "real"}
    assert said(NONE, "ms-swift")["messages"][1]["content"] == "[-1,-1]"


@pytest.mark.parametrize("made", [FOUND, NONE])
def test_ms_swift_finds_as_many_marks_in_the_messages_as_there_are_objects(made: Grounding) -> None:
    row = said(made, "ms-swift")
    words = "".join(message["content"] for message in row["messages"])

    assert words.count("<bbox>") == len(row["objects"]["bbox"])
    assert words.count("<ref-object>") == len(row["objects"]["ref"])


@pytest.mark.parametrize(("width", "height"), [(360, 740), (1000, 600), (3840, 2160)])
def test_what_ui_venus_2_is_taught_to_say_is_read_as_the_place_it_means(width: int, height: int) -> None:
    taught = load_dialect("ui-venus-2-grounding")
    picture = Picture(width, height)

    for x in (0, 1, 140, 501, 998, 999):
        point = Point(x=x, y=999 - x)
        reply = said(row(width=width, height=height, point=point), "ui-venus-2")["messages"][1]["content"]
        read, meant = taught.read(Answered(content=reply), picture).moves[0], device_pixel(point, width, height)
        assert isinstance(read.action, Click)
        assert abs(read.points[0].x - meant.x) <= width / 1000
        assert abs(read.points[0].y - meant.y) <= height / 1000


def test_ui_venus_2_counts_to_1000_and_refuses_by_minus_one() -> None:
    last = row(point=Point(x=999, y=500))

    assert "0 to 1000" in said(FOUND, "ui-venus-2")["messages"][0]["content"]
    assert said(last, "ui-venus-2")["messages"][1]["content"] == "[999,500]"
    assert said(NONE, "ui-venus-2")["messages"][1]["content"] == "[-1,-1]"
    assert "objects" not in said(FOUND, "ui-venus-2")


@pytest.mark.parametrize("trainer", ["hf", "ms-swift", "ui-venus-2"])
def test_the_question_does_not_give_away_whether_there_is_something(trainer: str) -> None:
    asked = [said(made, trainer)["messages"][0]["content"].removesuffix(made.instruction) for made in (FOUND, NONE)]

    assert asked[0] == asked[1]
    assert asked[0].count("<image>") == 1


def test_verl_reads_exactly_its_keys() -> None:
    frame = Frame(sha256="f" * 64, image=Image(bytes=b"png", path="f.png"), width=1000, height=600)
    found, none = (verl_row(made, frame, 3).model_dump(mode="python") for made in (FOUND, NONE))

    assert set(found) == {"data_source", "prompt", "images", "ability", "reward_model", "extra_info"}
    assert found["reward_model"] == {
        "style": "rule",
        "ground_truth": {
            "box": [100, 40, 180, 60],
            "point": [140, 83],
            "refusal": False,
            "width": 1000,
            "height": 600,
        },
    }
    assert (none["reward_model"]["ground_truth"]["box"], none["reward_model"]["ground_truth"]["point"]) == (
        [],
        [-1, -1],
    )
    assert found["images"] == [{"bytes": b"png", "path": "f.png"}]
    assert [message["role"] for message in found["prompt"]] == ["user"]
    assert found["extra_info"] == {"split": "train", "index": 3, "row_id": "r1", "kind": "literal"}


def group(rows: list[Grounding], name: str) -> Group:
    return next(one for one in balance(rows) if one.name == name)


def test_the_balance_counts_by_what_ought_to_be_even() -> None:
    rows = [FOUND, row(language="zh", platform="mobile", family="maps"), NONE]

    assert [(bar.name, bar.rows) for bar in group(rows, "kind").bars] == [("literal", 2), ("refusal", 1)]
    assert [(bar.name, bar.rows, bar.share) for bar in group(rows, "family").bars] == [
        ("mail", 2, 100.0),
        ("maps", 1, 50.0),
    ]


def test_sizes_are_parts_of_the_picture_and_refusals_have_none() -> None:
    large = row(target=TARGET.model_copy(update={"box": Box(left=0, top=0, right=500, bottom=300)}))

    bars = group([FOUND, large, NONE], "size of the target").bars

    assert [(bar.name, bar.rows) for bar in bars] == [("4. under 1.00%", 1), ("5. 1.00% and more", 1)]


def test_quotas_stand_beside_the_kinds_on_the_same_scale() -> None:
    bars = {bar.name: bar for bar in group([FOUND, FOUND, NONE], "kind").bars}

    # The longest bar is two of three rows; a quota of two thirds would reach its end.
    assert bars["literal"].quota == pytest.approx(100 * QUOTAS["literal"] * 3 / 2)
    assert all(bar.quota is None for bar in group([FOUND], "family").bars)


def test_quotas_are_whole() -> None:
    assert sum(QUOTAS.values()) == pytest.approx(1)
