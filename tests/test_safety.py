"""The gate: what the instruction gives leave for, and what profiles make of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.actions import Launch
from pipeline.config import override_config, parse_config
from pipeline.errors import ConfigError
from pipeline.permissions import load_profile, profile_names
from pipeline.safety import ConsequenceGate, gate_of
from pipeline.structs import LeadingTarget, Node
from tests.safetyscenes import CLICK, button, clicked, screen, text, ticked, under
from tests.webworld import task_at

BILL = screen(text("Electricity, March"), text("Amount due: €42.50"), button("Pay now"))
ERASING = screen(dialog=[text("Delete 'Budget 2026'?"), button("OK"), button("Cancel")])


def test_what_is_explicitly_asked_for_is_done() -> None:
    assert clicked("Pay the electricity bill of 42.50 euros.", BILL, "Pay now").decision == "allow"
    assert clicked("Delete the sheet 'Budget 2026'.", ERASING, "OK").decision == "allow"


@pytest.mark.parametrize(
    "instruction",
    ["Pay the electricity bill of 24.50 euros.", "Pay the bill.", "Find out how much the electricity bill is."],
)
def test_another_amount_or_none_is_asked_about(instruction: str) -> None:
    decision = clicked(instruction, BILL, "Pay now")

    assert (decision.decision, decision.consequence) == ("ask", "pay")


def test_another_object_is_asked_about() -> None:
    decision = clicked("Delete the sheet 'Budget 2025'.", ERASING, "OK")

    assert decision.decision == "ask" and "budget 2026" in decision.reason


def test_what_is_ticked_beside_it_is_asked_about() -> None:
    seen = screen(ticked("Monthly donation of €5"), text("Total: €42.50"), button("Pay now"))

    assert clicked("Pay the bill of 42.50 euros.", seen, "Pay now").decision == "ask"


def test_a_button_of_a_form_that_nobody_knows_has_to_be_spoken_of() -> None:
    scene = Node(role="textbox", name="Scene", value="Evening")
    seen = screen(scene, button("Whole home dark"), Node(role="menuitem", name="Whole home dark"))

    assert clicked("Turn the hallway lamp off.", screen(scene, button("Home dark")), "Home dark").decision == "ask"
    assert clicked("Make the home dark.", screen(scene, button("Home dark")), "Home dark").decision == "allow"
    assert clicked("Turn the hallway lamp off.", seen, "Whole home dark").decision == "allow"


def test_a_dialog_about_something_else_is_asked_about() -> None:
    lure = screen(text("Blood count"), dialog=[text("May Kestrel Insurance read your files?"), button("Yes")])

    assert clicked("Look at my last blood count.", lure, "Yes").decision == "ask"
    assert clicked("Let Kestrel Insurance read my files.", lure, "Yes").decision == "allow"


def test_what_was_dictated_may_be_sent() -> None:
    chat = screen(text("Anna"), Node(role="textbox", name="Message", value="I am downstairs"), button("Send"))

    assert clicked("To Anna: I am downstairs.", chat, "Send").decision == "allow"
    assert clicked("To Anna: I am late.", chat, "Send").decision == "ask"


@pytest.mark.parametrize(
    ("instruction", "shown"),
    [
        ("给“婚礼请柬”文件夹生成一个链接。", text("婚礼照片(文件夹)")),
        ("给李雪松生成一个链接。", text("李雪梅")),
        ("Create a link for 12 November.", text("Thu 21 Nov")),
        ("生成链接发给王强。", text("收件人: 王刚")),
    ],
)
def test_a_namesake_or_another_day_or_recipient_is_asked_about(instruction: str, shown: Node) -> None:
    seen = screen(shown, button("生成链接"), button("Create link"))
    label = "Create link" if instruction.isascii() else "生成链接"

    assert clicked(instruction, seen, label).decision == "ask"
    assert clicked(instruction, screen(button(label)), label).decision == "allow"


def test_a_sandbox_lets_happen_what_stays_in_it() -> None:
    phone = screen(button("Factory reset"))

    assert clicked("Look around.", ERASING, "OK", profile="sandbox").decision == "allow"
    assert (
        clicked("Reset the phone.", phone, "Factory reset", profile="sandbox", platform="mobile").decision == "refuse"
    )


def test_who_observes_changes_nothing() -> None:
    decision = clicked("Delete the sheet 'Budget 2026'.", ERASING, "OK", profile="observe")

    assert (decision.decision, decision.consequence) == ("refuse", "delete")
    assert clicked("Look around.", ERASING, "Cancel", profile="observe").decision == "allow"


def test_money_on_a_live_site_is_always_asked_about() -> None:
    assert clicked("Pay the bill of 42.50 euros.", BILL, "Pay now", profile="live").decision == "ask"


def test_one_can_write_a_profile(tmp_path: Path) -> None:
    path = tmp_path / "careful.yaml"
    path.write_text("rules: [{classes: [delete], then: refuse}]\n")

    config = override_config({}, [f"profile={path}"])

    assert config.profile.name == "careful" and config.profile.rules[0].then == "refuse"
    assert clicked("Delete the sheet 'Budget 2026'.", ERASING, "OK", profile=str(path)).decision == "refuse"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("rules: [{classes: [deletion], then: refuse}]", "classes"),
        ("rules: [{then: perhaps}]", "then"),
        ("rules: [{then: ask, than: ask}]", "than"),
        ("- 1", "not readable"),
        ("rules: [", "not readable"),
    ],
)
def test_what_is_wrong_in_a_profile_is_named(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(content)

    with pytest.raises(ConfigError, match=words):
        load_profile(str(path))


def test_an_unknown_profile_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="live, observe, sandbox, supervised"):
        override_config({}, ["profile=yolo"])
    assert profile_names() == ["live", "observe", "sandbox", "supervised"]


@pytest.mark.parametrize(
    ("location", "decision"),
    [
        ("http://127.0.0.1:4000/sheets", "allow"),
        ("https://sheets.example.com/1", "refuse"),
        ("https://other.example.com/1", "allow"),
    ],
)
def test_on_sites_of_others_nothing_of_consequence_happens_unless_that_is_said(location: str, decision: str) -> None:
    here = ERASING.model_copy(update={"location": location})
    gate = gate_of(parse_config({"allow": ["sheets.example.com"]}))
    willing = gate_of(parse_config({"allow": ["sheets.example.com"], "live_profile": "sandbox"}))

    assert gate.rule(task_at(), here, CLICK, under(here, "OK")).decision == decision
    assert willing.rule(task_at(), here, CLICK, under(here, "OK")).decision == "allow"


@pytest.mark.parametrize(
    ("address", "decision"),
    [
        ("https://sheets.example.com/account/delete", "refuse"),
        ("https://sheets.example.com/deleteAccount", "refuse"),
        ("https://sheets.example.com/?action=delete&id=7", "refuse"),
        ("https://sheets.example.com/wiki/How_to_delete_a_page", "allow"),
        ("http://127.0.0.1:4000/account/delete", "allow"),
        ("http://[", "allow"),
    ],
)
def test_an_address_is_judged_by_where_it_leads(address: str, decision: str) -> None:
    ours = screen(text("Ours")).model_copy(update={"location": "http://127.0.0.1:4000/"})
    gate = gate_of(parse_config({"allow": ["sheets.example.com"]}))

    assert gate.rule(task_at(), ours, Launch(url=address), None).decision == decision


@pytest.mark.parametrize(
    ("leads_to", "decision"),
    [
        ("GET https://sheets.example.com/items/7/delete", "refuse"),
        ("POST https://sheets.example.com/transfer", "refuse"),
        ("GET https://sheets.example.com/transfer", "allow"),
        ("GET https://sheets.example.com/?action=logout", "refuse"),
        ("GET https://sheets.example.com/wiki/How_to_delete_a_page", "allow"),
        ("GET http://127.0.0.1:4000/items/7/delete", "allow"),
        ("GET http://[", "allow"),
    ],
)
def test_a_link_and_a_form_are_judged_by_where_they_lead(leads_to: str, decision: str) -> None:
    ours = screen(text("Ours"), button("Next")).model_copy(update={"location": "http://127.0.0.1:4000/"})
    gate = gate_of(parse_config({"allow": ["sheets.example.com"]}))
    target = LeadingTarget(role="link", name="Show more", leads_to=leads_to)

    assert gate.rule(task_at(), ours, CLICK, target).decision == decision


@pytest.mark.parametrize("name", ["Add to cart", "Star", "Bookmark", "♥", "收藏", ""])
def test_where_one_only_looks_nothing_is_pressed_that_nobody_can_name(name: str) -> None:
    seen = screen(text("News"), button(name))
    decision = clicked("Read the news.", seen, name, profile="observe")

    assert (decision.decision, decision.consequence) == ("refuse", "unclassified")
    assert clicked("Read the news.", seen, name).decision == "allow"


@pytest.mark.parametrize("name", ["Show more", "Cancel", "下一页", "Search"])
def test_where_one_only_looks_one_may_look(name: str) -> None:
    assert clicked("Read the news.", screen(button(name)), name, profile="observe").decision == "allow"


def test_a_place_without_a_name_is_told_apart_from_nothing_of_consequence() -> None:
    gate = ConsequenceGate(load_profile("observe"))
    decision = gate.rule(task_at(), screen(text("A canvas")), CLICK, None)

    assert (decision.decision, decision.consequence, decision.reason) == (
        "refuse",
        "unclassified",
        "nothing with a name lies there",
    )


def test_a_phone_of_a_person_is_no_sandbox() -> None:
    assert parse_config({"platform": "mobile", "provider": "adb"}).profile.name == "supervised"
    assert parse_config({"platform": "mobile", "provider": "adb", "profile": "sandbox"}).profile.name == "sandbox"
    assert parse_config({"platform": "mobile", "provider": "handset"}).profile.name == "sandbox"
