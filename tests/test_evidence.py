from __future__ import annotations

import pytest

from pipeline.actions import Click, Finished, Hotkey, PressEnter, SelectOption, Type
from pipeline.records import Frame, Record
from tests.records import Look, at, click, look, node, record, step
from verifiers.evidence import Evidence, chosen_label, evidence_of, options_of
from verifiers.keypoints import Sought, ValueKind

TYPED = step(Type(content="Lamp"))


def value(text: str, kind: ValueKind = "text") -> Sought:
    return Sought("shown", text, kind, "create", "")


def shows(evidence: Evidence, text: str, kind: ValueKind = "text") -> bool:
    return evidence.seen(value(text, kind)) is not None


FORM = look(node("textbox", "Summary"), node("button", "Create ticket"), node("button", "Preview"))
FILLED = look(node("textbox", "Summary", "Lamp"), node("button", "Create ticket"), node("button", "Preview"))
TICKET = look(node("heading", "#5 Lamp"), path="/ticket/5")


def test_text_in_a_field_the_agent_filled_is_no_evidence() -> None:
    evidence = evidence_of(record([FORM, FILLED], [TYPED]))

    assert not shows(evidence, "Lamp")
    assert evidence.anywhere(value("Lamp"))


def test_text_drawn_inside_a_field_is_the_fields_text() -> None:
    area = node("textbox", "Summary", "Lamp", box=(0, 0, 200, 40))
    inner = node("StaticText", "Lamp", box=(5, 5, 60, 30))

    assert not shows(evidence_of(record([FORM, Look([area, inner])], [TYPED])), "Lamp")


def test_text_the_application_displays_is_evidence_with_its_picture() -> None:
    of = record([FORM, FILLED, TICKET], [TYPED, click(FILLED, "Create ticket")])

    sighting = evidence_of(of).seen(value("lamp"))

    assert sighting is not None
    assert sighting.look == 2
    assert sighting.frame_sha256 == of.observations[2].frame_sha256
    assert "lamp" in sighting.quote


def test_a_fields_value_counts_when_the_agent_did_not_put_it_there() -> None:
    settings = look(node("textbox", "Owner", "ann"), path="/settings")

    assert shows(evidence_of(record([settings])), "ann")
    assert shows(evidence_of(record([FORM, FILLED, settings], [TYPED, click(FILLED, "Create ticket")])), "ann")


@pytest.mark.parametrize("path", ["/", "/new?error"])
def test_a_form_shown_again_still_holds_the_agents_text(path: str) -> None:
    refused = look(node("alert", "Owner is missing"), node("textbox", "Summary", "Lamp"), path=path)

    assert not shows(evidence_of(record([FORM, FILLED, refused], [TYPED, click(FILLED, "Create ticket")])), "Lamp")


def test_what_lies_outside_the_picture_is_not_seen_but_still_there() -> None:
    below = node("cell", "Lamp", box=(0, 900, 100, 920))

    evidence = evidence_of(record([look(node("heading", "List"), below)]))

    assert not shows(evidence, "Lamp")
    assert evidence.on_last_screen(value("Lamp"))


@pytest.mark.parametrize("text", ["No results for Lamp", "未找到 Lamp", "Ticket Lamp has been deleted"])
def test_a_page_that_only_repeats_a_name_does_not_show_it(text: str) -> None:
    assert not shows(evidence_of(record([look(node("StaticText", text), node("heading", "Search"))])), "Lamp")


@pytest.mark.parametrize(
    ("text", "kind", "displayed", "expected"),
    [
        ("Lamp", "text", "The lamp, again", True),
        ("Lamp", "text", "Lampshade", False),
        ("灯", "text", "坏了的灯在这里", True),
        ("结算（Settle）", "text", "Settle", True),
        ("Notes (old)", "text", "Notes", False),
        ("2", "number", "Weight: 2.00", True),
        ("2", "number", "2026", False),
        ("1234.5", "number", "1,234.50 USD", True),
        ("2026-03-05", "day", "Mar 5, 2026", True),
        ("2026-03-05", "day", "Mar 6, 2026", False),
    ],
)
def test_values_are_found_as_whole_words_numbers_and_days(
    text: str, kind: ValueKind, displayed: str, expected: bool
) -> None:
    assert shows(evidence_of(record([look(node("cell", displayed))])), text, kind) is expected


def test_a_value_split_over_neighbouring_nodes_is_found() -> None:
    assert shows(evidence_of(record([look(node("StaticText", "Broken"), node("link", "lamp"))])), "Broken lamp")


def test_options_are_no_evidence_until_they_are_chosen() -> None:
    chooser = [
        node("combobox", "Priority", "minor", states=["focused"]),
        node("option", "minor"),
        node("option", "critical"),
    ]
    of = record([look(*chooser), look(*chooser)], [step(SelectOption(index=1))])

    evidence = evidence_of(of)

    assert not shows(evidence, "critical")
    assert evidence.last_entry(value("critical")) == 0
    assert chosen_label(of, 0) == "critical"


def test_the_chooser_last_clicked_is_the_one_in_use() -> None:
    screen = look(
        node("combobox", "Type"), node("option", "task"), node("combobox", "Priority"), node("option", "high")
    )
    of = record([screen, screen], [click(screen, "Priority"), step(SelectOption(index=0))])

    assert chosen_label(of, 1) == "high"
    assert evidence_of(of).offered == ["high"]


def test_options_end_at_the_next_control() -> None:
    nodes = [
        node("combobox", "A"),
        node("option", "1"),
        node("StaticText", "x"),
        node("option", "2"),
        node("link", "b"),
    ]

    assert [option.name for option in options_of([*nodes, node("option", "3")], 0)] == ["1", "2"]


def sent(before: Look, action_step: object, after: Look) -> list[int]:
    return evidence_of(record([before, after], [action_step])).sent  # type: ignore[list-item]


def test_a_sending_control_that_changes_the_screen_sends() -> None:
    assert sent(FILLED, click(FILLED, "Create ticket"), TICKET) == [0]
    assert sent(FILLED, step(PressEnter()), TICKET) == [0]
    assert sent(FILLED, step(Hotkey(keys=["Control", "Enter"])), TICKET) == [0]


def test_what_leaves_the_screen_as_it_was_has_sent_nothing() -> None:
    focused = look(*[one.model_copy(update={"states": ["focused"]}) for one in FILLED.nodes or []])

    assert sent(FILLED, click(FILLED, "Create ticket"), FILLED) == []
    assert sent(FILLED, click(FILLED, "Create ticket"), focused) == []


def test_previews_fields_and_failed_clicks_send_nothing() -> None:
    assert sent(FILLED, click(FILLED, "Preview"), TICKET) == []
    assert sent(FILLED, click(FILLED, "Summary"), TICKET) == []
    assert sent(FILLED, click(FILLED, "Create ticket").model_copy(update={"status": "failed"}), TICKET) == []


def test_a_question_before_the_change_is_not_yet_the_change() -> None:
    asks = look(node("cell", "Lamp"), node("button", "Are you sure?"))
    row = look(node("cell", "Lamp"), node("button", "delete"))
    gone = look(node("cell", "Desk"), node("button", "delete"))
    of = record([row, asks, gone], [click(row, "delete"), click(asks, "Are you sure?")])

    evidence = evidence_of(of)

    assert evidence.sent == [1]
    assert evidence.deleted == [0, 1]


def test_a_box_that_is_ticked_is_sent_at_once() -> None:
    empty = look(node("checkbox", "done"))
    ticked = look(node("checkbox", "done", states=["checked"]))

    assert sent(empty, click(empty, "done"), ticked) == [0]


# --- pictures ----------------------------------------------------------------------------------------------------


class Reader:
    """Reads the same lines from every picture, and keeps count."""

    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.frames: list[str] = []

    def read(self, frame: Frame) -> list[str]:
        self.frames.append(frame.sha256)
        return self.lines


def blind(count: int = 3) -> Record:
    return record([Look(None, picture=f"picture {n}".encode()) for n in range(count)])


def test_pictures_are_read_only_where_the_tree_is_missing() -> None:
    reader = Reader("Lamp saved")

    evidence = evidence_of(blind(), reader)

    assert shows(evidence, "Lamp")
    assert evidence.blind, "two more pictures were left unread"
    assert len(reader.frames) == 1
    assert evidence.screens[-1].frame_sha256 == reader.frames[0]


def test_no_picture_is_read_where_trees_decide() -> None:
    reader = Reader("Lamp")
    full = look(node("heading", "Tickets"), node("cell", "Desk"), node("link", "Next"))

    evidence = evidence_of(record([full, full], [step(Finished())]), reader)

    assert reader.frames == []
    assert not shows(evidence, "Lamp")


def test_a_large_drawing_is_read_though_there_is_a_tree() -> None:
    reader = Reader("Lamp")
    nodes = [
        node("heading", "Board"),
        node("link", "a"),
        node("link", "b"),
        node("Canvas", "", box=(0, 100, 1200, 700)),
    ]

    assert shows(evidence_of(record([look(*nodes)]), reader), "Lamp")


def test_without_a_reader_a_blind_record_shows_nothing() -> None:
    assert not shows(evidence_of(blind()), "Lamp")


def test_a_click_elsewhere_than_on_a_control_sends_nothing() -> None:
    assert sent(FILLED, step(Click(point=at(FILLED, "Summary"))), TICKET) == []
