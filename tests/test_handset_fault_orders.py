"""Orders of faults: how they are read and counted, and what they make of a picture; no phone runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.handset.faults import KINDS, Fault, Faults, damaged

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(100)) + b"\0\0\0\0IEND\xaeB`\x82"


@pytest.mark.parametrize(
    ("order", "left"),
    [
        ("empty", b""),
        ("torn", PNG[: len(PNG) // 2]),
        ("unended", PNG[:-12]),
        ("crlf", PNG.replace(b"\n", b"\r\n")),
        ("trailing", PNG + b"\0\0\0\0"),
    ],
)
def test_a_picture_is_damaged_as_ordered_and_only_so_often(order: str, left: bytes) -> None:
    faults = Faults(f"{order}*1")

    assert damaged(PNG, faults) == left
    assert damaged(PNG, faults) == PNG


def test_a_warning_stands_in_front_of_a_picture() -> None:
    found = damaged(PNG, Faults("prefixed"))

    assert found.endswith(b"\n" + PNG)
    assert found.startswith(b"[Warning]")


def test_faults_are_counted_by_what_they_are_about() -> None:
    faults = Faults("hang:input*2, hang:screencap,tree_slow:3")

    assert faults.take("hang", "uiautomator") is None
    assert [faults.take("hang", "input") is not None for _ in range(3)] == [True, True, False]
    assert faults.take("hang", "screencap") == faults.take("hang", "screencap") == Fault("hang", "screencap")
    assert faults.take("tree_slow") == Fault("tree_slow", "3")


def test_what_cuts_the_connection_happens_once_unless_a_number_is_said() -> None:
    faults = Faults("reboot,offline:2,offline:3*2,hang:input")

    assert [faults.take("reboot") is not None for _ in range(2)] == [True, False]
    assert [faults.take("offline") for _ in range(4)] == [
        Fault("offline", "2", 1),
        Fault("offline", "3", 2),
        Fault("offline", "3", 1),
        None,
    ]
    assert faults.take("hang", "input") == faults.take("hang", "input") == Fault("hang", "input")


def test_an_order_that_cannot_be_read_changes_nothing() -> None:
    faults = Faults("torn")
    with pytest.raises(ValueError, match="'burnt' is no fault; known: anr, anr_hidden, black"):
        faults.order("empty,burnt")

    assert faults.take("torn")


def test_every_fault_is_documented() -> None:
    text = (Path(__file__).parents[1] / "docs" / "handset.md").read_text(encoding="utf-8")

    assert {kind for kind in KINDS if f"`{kind}`" not in text and f"`{kind}:" not in text} == set()
