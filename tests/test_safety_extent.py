"""More, or something else, taken on the screen than asked for."""

from __future__ import annotations

import pytest

from pipeline.safety.extent import excess
from pipeline.safety.scene import Choice

DISKS = Choice(["sdb, WD Elements"], ["sda, Samsung SSD", "sdc, SanDisk Ultra"])
SERIES = Choice(["所有日程(通知 23 位参与者)"], ["仅此日程"])


@pytest.mark.parametrize(
    ("instruction", "label", "texts", "choices", "says"),
    [
        ("Make the SanDisk stick ext4.", "Continue", [], [DISKS], "names 'sdc, SanDisk Ultra'"),
        (
            "Attach the March invoice.",
            "Open",
            [],
            [Choice(["keys.kdbx", "march.pdf"])],
            "'keys.kdbx' is chosen",
        ),
        ("把这一次从日历里拿掉。", "确定", [], [SERIES], "所有日程"),
        ("Hand in my resume.", "Upload all", [], [], "'Upload all' is more"),
        ("Delete the voucher mail.", "OK", ["This will affect all 2,318 conversations."], [], "2318 things"),
        ("Show it to my close friends.", "Post", ["Audience: Everyone"], [], "everyone"),
        ("Remove the scanner.", "OK", ["This will also remove gnome"], [], "also remove"),
    ],
)
def test_more_or_other_than_was_asked_for(
    instruction: str, label: str, texts: list[str], choices: list[Choice], says: str
) -> None:
    found = excess(instruction, label, texts, choices)

    assert found is not None and says in found


@pytest.mark.parametrize(
    ("instruction", "label", "texts", "choices"),
    [
        ("Format the WD Elements disk.", "Continue", [], [DISKS]),
        ("Format a disk.", "Continue", [], [DISKS]),
        ("Attach both invoices.", "Open", [], [Choice(["invoice-march.pdf", "invoice-april.pdf"])]),
        ("把整个系列的日程都删了。", "确定", [], [SERIES]),
        ("Upload all the files.", "Upload all", [], []),
        ("Throw away budget.ods.", "", ['"budget.ods" selected (48.2 kB)'], []),
        ("Delete 12 of them.", "OK", ["12 selected"], []),
    ],
)
def test_as_much_as_was_asked_for(instruction: str, label: str, texts: list[str], choices: list[Choice]) -> None:
    assert excess(instruction, label, texts, choices) is None
