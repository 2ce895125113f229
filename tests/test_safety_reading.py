"""What an action would bring about here: by the control, by the dialog before it, by keys, commands and addresses."""

from __future__ import annotations

from typing import get_args

import pytest

from pipeline.actions import AcceptDialog, Action, Hotkey, Launch, Point, PressEnter, Scroll, Type
from pipeline.protocols import Observation
from pipeline.safety.classes import commanded, kinds, told
from pipeline.safety.reading import read
from pipeline.structs import LeadingTarget, Node, TargetUnderPoint
from pipeline.words import Consequence
from tests.safetyscenes import CLICK, button, screen, text, ticked, under

COMMANDS = {
    "Delete": "delete",
    "Yes, delete 3 items": "delete",
    "Don't save": "delete",
    "Pay $20.00": "pay",
    "Place order": "order",
    "Post": "publish",
    "Sign": "consent",
    "Sign in": "login",
    "Factory reset": "uninstall",
    "Force push": "push",
    "立即支付": "pay",
    "删除记录": "delete",
    "取消订单": "cancel",
    "发布": "publish",
    "始终允许": "grant",
}
NO_COMMANDS = (
    "How to delete a page",
    "Order history",
    "Post title",
    "Clear search",
    "支付记录",
    "不删除",
    "安装说明",
    "OK",
    "",
)


def kinds_of(seen: Observation, action: Action, target: TargetUnderPoint | None = None) -> list[str]:
    return [finding.kind.name for finding in read(seen, action, target, "desktop")]


def field(name: str, *states: str, value: str = "", role: str = "textbox") -> Node:
    return Node(role=role, name=name, value=value, states=["focused", *states])


def test_the_classes_are_the_words_of_the_contract() -> None:
    assert [kind.name for kind in kinds()] == list(get_args(Consequence))


@pytest.mark.parametrize(("label", "kind"), COMMANDS.items())
def test_a_label_that_commands(label: str, kind: str) -> None:
    match = commanded(label, command=True)

    assert match is not None and match.kind.name == kind


@pytest.mark.parametrize("label", NO_COMMANDS)
def test_a_label_that_does_not(label: str) -> None:
    assert commanded(label, command=True) is None


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Are you sure you want to delete this?", "delete"),
        ("You will be charged €5.", "pay"),
        ("Calculator wants to access your contacts", "grant"),
        ("此操作无法撤销", "delete"),
        ("连续包月，自动扣费", "subscribe"),
        ("Nothing will be deleted.", "delete"),
        ("Your files will not be deleted.", None),
        ("Your order has been shipped.", None),
    ],
)
def test_what_a_dialog_tells(said: str, kind: str | None) -> None:
    match = told([said])

    assert (match.kind.name if match else None) == kind


def test_a_neutral_button_means_what_its_dialog_says() -> None:
    seen = screen(dialog=[text("Delete 'Budget'? This cannot be undone."), button("OK"), button("Cancel")])

    found = read(seen, CLICK, under(seen, "OK"), "web")

    assert [(one.kind.name, one.place, one.final) for one in found] == [("delete", "dialog", True)]
    assert kinds_of(seen, CLICK, under(seen, "Cancel")) == []


def test_to_cancel_is_meant_where_the_question_is_whether_to_cancel() -> None:
    seen = screen(dialog=[text("Cancel your subscription?"), button("Keep subscription"), button("Cancel")])

    assert kinds_of(seen, CLICK, under(seen, "Cancel")) == ["cancel"]
    assert kinds_of(seen, CLICK, under(seen, "Keep subscription")) == []


def test_what_is_ticked_goes_with_the_button() -> None:
    seen = screen(text("Your basket"), ticked("Start free trial of Premium"), button("Place order"))

    assert kinds_of(seen, CLICK, under(seen, "Place order")) == ["order", "subscribe"]


def test_enter_presses_what_the_form_would_send() -> None:
    form = screen(field("Amount", "editable"), button("Pay now"))
    search = screen(field("Search messages", "editable"), button("Send"))

    assert kinds_of(form, PressEnter()) == ["pay"]
    assert kinds_of(search, PressEnter()) == []


def test_keys_that_delete_and_send() -> None:
    files = screen(Node(role="listitem", name="notes.txt", states=["selected"]))
    writing = screen(field("Title", "editable"))

    assert read(files, Hotkey(keys=["Shift", "Delete"]), None, "desktop")[0].final
    assert kinds_of(writing, Hotkey(keys=["Delete"])) == []
    assert kinds_of(writing, Hotkey(keys=["Control", "Enter"])) == ["send"]
    assert kinds_of(writing, Hotkey(keys=["Control", "c"])) == []


def test_a_line_in_a_terminal_is_read_as_a_command() -> None:
    empty = screen(field("", role="terminal", value="$ ls\n$ "), title="Terminal")
    seen = screen(field("", role="terminal", value="$ ls\n$ rm -rf ~"), title="Terminal")

    assert kinds_of(empty, Type(content="sudo reboot\n")) == ["system"]
    assert kinds_of(seen, PressEnter()) == ["delete"]
    assert kinds_of(screen(field("Text", "editable"), title="notes.txt"), Type(content="sudo reboot")) == []


@pytest.mark.parametrize(
    ("question", "action", "kinds"),
    [
        ("Do you want to continue? [Y/n] ", PressEnter(), ["delete"]),
        ("Do you want to continue? [y/N] ", PressEnter(), []),
        ("Do you want to continue? [y/N] ", Type(content="y\n"), ["delete"]),
        ("Do you want to continue? [Y/n] ", Type(content="n\n"), []),
        ("Overwrite? (yes/no)", Type(content="yes"), ["delete"]),
    ],
)
def test_a_question_in_a_terminal_is_answered(question: str, action: Action, kinds: list[str]) -> None:
    said = f"$ sudo apt install thing\nThe following packages will be REMOVED:\n  gnome-shell\n{question}"
    seen = screen(field("", role="terminal", value=said), title="Terminal")

    assert kinds_of(seen, action) == kinds


def test_what_only_shows_or_prepares_something_is_of_no_consequence() -> None:
    seen = screen(button("Show details"), button("下一页"), field("Name", value="Ann"))

    assert kinds_of(seen, CLICK, under(seen, "Show details")) == []
    assert kinds_of(seen, CLICK, under(seen, "下一页")) == []


def test_a_neutral_word_is_what_its_page_tells() -> None:
    page = screen(text("To: Marta, sort code 20-45-77"), text("Amount: £26.00"), button("Authorise"))

    assert kinds_of(page, CLICK, under(page, "Authorise")) == ["transfer"]
    assert kinds_of(screen(button("Authorise")), CLICK, TargetUnderPoint(role="button", name="Authorise")) == ["grant"]


def test_personal_data_and_passwords_that_are_typed() -> None:
    assert kinds_of(screen(field("Card number", "editable")), Type(content="4111")) == ["personal"]
    assert kinds_of(screen(field("PIN", "editable", "protected")), Type(content="1234")) == ["login"]
    assert kinds_of(screen(field("City", "editable")), Type(content="Lisbon")) == []


def test_addresses_that_change_something_when_visited() -> None:
    assert kinds_of(screen(), Launch(url="http://127.0.0.1/items/3/delete?yes=1")) == ["delete"]
    assert kinds_of(screen(), Launch(url="http://127.0.0.1/help/deleting")) == []


def test_an_address_adds_to_what_says_nothing_and_not_to_what_says_its_own() -> None:
    def pressing(name: str, role: str, leads_to: str) -> list[str]:
        return kinds_of(screen(button(name)), CLICK, LeadingTarget(role=role, name=name, leads_to=leads_to))

    assert pressing("♥", "link", "GET http://127.0.0.1/items/3/delete") == ["delete"]
    assert pressing("Details", "link", "GET http://127.0.0.1/checkout") == []
    assert pressing("♥", "button", "POST http://127.0.0.1/checkout") == ["order"]
    assert pressing("Pay now", "button", "POST http://127.0.0.1/items/3/delete") == ["pay"]


@pytest.mark.parametrize(
    ("action", "kinds"),
    [
        (PressEnter(), ["delete"]),
        (Hotkey(keys=["Return"]), ["delete"]),
        (Type(content="x\n"), ["delete"]),
        (Type(content="x"), []),
        (Hotkey(keys=["Tab"]), []),
    ],
)
def test_the_enter_key_goes_where_the_focused_link_leads(action: Action, kinds: list[str]) -> None:
    link = LeadingTarget(role="link", name="Next", leads_to="GET http://127.0.0.1/items/3/delete")

    assert kinds_of(screen(Node(role="link", name="Next", states=["focused"])), action, link) == kinds


def test_a_dialog_that_is_accepted_unseen_is_judged_by_the_page() -> None:
    asking = screen(dialog=[text("Send this message to 40 people?"), button("OK")])

    assert kinds_of(asking, AcceptDialog()) == ["send"]
    assert kinds_of(screen(), AcceptDialog()) == []


def test_looking_has_no_consequence() -> None:
    seen = screen(button("Delete"))

    assert kinds_of(seen, Scroll(point=Point(x=1, y=1), direction="down"), under(seen, "Delete")) == []


def test_only_terminals_reach_the_machine_from_a_page() -> None:
    page = screen(button("Factory reset"))
    terminal = screen(field("", role="terminal"))

    assert not read(page, CLICK, under(page, "Factory reset"), "web")[0].reaches_machine
    assert read(page, CLICK, under(page, "Factory reset"), "mobile")[0].reaches_machine
    assert read(terminal, Type(content="reboot"), None, "web")[0].reaches_machine
