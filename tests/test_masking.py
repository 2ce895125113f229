from __future__ import annotations

import io

import pytest
from PIL import Image as Pictures

from pipeline.actions import Type
from pipeline.envs.fake_picture import draw
from pipeline.masking import MASK, Texts, hidden_nodes, masked_frame, secrets_of, told_apart, typed_elsewhere
from pipeline.records import tree_of
from pipeline.structs import Box, Node, Param, Sensitive
from tests.records import check, node, read, step, task

FIELD = Box(left=10, top=10, right=110, bottom=30)
REGION = Sensitive(class_="password", box=FIELD)
WHOLE = Sensitive(class_="flagged", box=None)
PAGE = node("RootWebArea", "Sign in", box=(0, 0, 120, 60))
SECRET = node("textbox", "Password", "hunter2!", box=(12, 12, 108, 28), states=["focused"])
OTHER = node("StaticText", "Welcome", box=(10, 40, 110, 55))
TREE = tree_of([PAGE, SECRET, OTHER])


def pixels(data: bytes) -> Pictures.Image:
    with Pictures.open(io.BytesIO(data)) as picture:
        return picture.convert("RGB")


def colours(picture: Pictures.Image) -> int:
    return len(picture.getcolors(100_000) or [])


def test_a_region_of_a_picture_is_painted_over_and_the_rest_is_as_before() -> None:
    frame = draw(TREE.nodes, 120, 60)
    masked = masked_frame(frame, [REGION])
    before, after = pixels(frame.image.bytes), pixels(masked.image.bytes)
    assert colours(after.crop((10, 10, 110, 30))) == 1
    assert after.crop((0, 30, 120, 60)).tobytes() == before.crop((0, 30, 120, 60)).tobytes()
    assert masked.sha256 != frame.sha256 and masked.image.path == f"{masked.sha256}.png"
    assert masked.sensitive == [REGION]


def test_a_region_without_a_box_hides_the_whole_picture() -> None:
    masked = pixels(masked_frame(draw(TREE.nodes, 120, 60), [WHOLE]).image.bytes)
    assert colours(masked) == 1


def test_masking_twice_changes_nothing_more() -> None:
    once = masked_frame(draw(TREE.nodes, 120, 60), [REGION])
    assert masked_frame(once, [REGION]).sha256 == once.sha256


def test_a_frame_without_regions_keeps_its_bytes() -> None:
    frame = draw(TREE.nodes, 120, 60)
    assert masked_frame(frame, []) is frame


@pytest.mark.parametrize("box", [(-50, -50, 5, 5), (100, 50, 900, 900), (30, 30, 30, 30), (50, 50, 40, 40)])
def test_odd_boxes_are_no_trouble(box: tuple[int, int, int, int]) -> None:
    odd = Box(left=box[0], top=box[1], right=box[2], bottom=box[3])
    assert masked_frame(draw([], 120, 60), [Sensitive(class_="x", box=odd)]).width == 120


def test_the_page_around_a_region_is_not_hidden() -> None:
    assert hidden_nodes(TREE, [REGION]) == [SECRET]
    assert hidden_nodes(TREE, [WHOLE]) == TREE.nodes


def test_a_field_hides_its_value_and_not_its_label() -> None:
    masked = Texts([]).masked_tree(TREE, [REGION])
    assert [(one.name, one.value) for one in masked.nodes] == [("Sign in", ""), ("Password", MASK), ("Welcome", "")]
    assert masked == tree_of(masked.nodes).model_copy(update={"sensitive": [REGION]})


EMPTY = node("textbox", "PIN", box=(12, 12, 60, 28))
SHOW = node("button", "Show", box=(90, 12, 108, 28))
ADDRESS = node("link", "ann@example.org", box=(12, 12, 80, 28))
CHOICE = node("combobox", "Priority", "major", box=(10, 40, 110, 55))


@pytest.mark.parametrize(
    ("nodes", "region", "secrets"),
    [
        ([SECRET, SHOW], REGION, ["hunter2!"]),
        ([EMPTY, SHOW], REGION, []),
        ([ADDRESS, SHOW], REGION, ["ann@example.org"]),
        ([SHOW], REGION, ["Show"]),
        ([CHOICE], Sensitive(class_="name", box=CHOICE.box), ["major"]),
        ([SECRET, EMPTY, SHOW, OTHER, CHOICE], WHOLE, ["hunter2!"]),
        ([CHOICE.model_copy(update={"states": ["editable"]})], WHOLE, ["major"]),
    ],
)
def test_secret_is_what_a_region_shows_and_what_was_entered_where_all_is_flagged(
    nodes: list[Node], region: Sensitive, secrets: list[str]
) -> None:
    assert list(secrets_of(tree_of(nodes), [region])) == secrets


def test_a_tree_tells_what_is_hidden_when_each_region_holds_something() -> None:
    beside = Sensitive(class_="card", box=Box(left=10, top=100, right=20, bottom=110))
    assert told_apart(TREE, [REGION])
    assert not told_apart(TREE, [REGION, beside]) and not told_apart(TREE, [WHOLE])


def test_what_is_typed_goes_elsewhere_only_when_the_focus_is_outside_every_region() -> None:
    def focused(one: Node) -> bool:
        return typed_elsewhere(tree_of([one.model_copy(update={"states": ["focused"]})]), [REGION])

    assert focused(CHOICE)
    assert not focused(SECRET) and not focused(PAGE) and not focused(CHOICE.model_copy(update={"box": None}))
    assert not typed_elsewhere(tree_of([CHOICE]), [REGION])


def test_a_secret_goes_from_every_free_text_of_a_row() -> None:
    texts = Texts(["hunter2!"])
    typed = step(Type(content="hunter2!"), "I type hunter2!.")
    masked = texts.masked(typed)
    assert masked.action == Type(content=MASK)
    assert masked.thought == f"I type {MASK}." and masked.reply == f'{{"type":"Type","content":"{MASK}"}}'
    found = texts.masked(read("user(password=hunter2!)", [["hunter2!", "x"]], 1))
    assert (found.probe, found.value) == (f"user(password={MASK})", [[MASK, "x"]])


def test_a_task_and_what_its_probe_read_still_fit_together() -> None:
    texts = Texts(["hunter2!"])
    asked = texts.masked(task("Sign in with hunter2!.", [check("equals", "user", "hunter2!", password="hunter2!")]))
    assert asked.instruction == f"Sign in with {MASK}."
    assert asked.checks[0].call == texts.masked(read("user(password=hunter2!)", [], 1)).probe


def test_identities_hashes_and_closed_words_stay() -> None:
    made = step(Type(content="abcd"), attempt_id="abcd-1", reply_id="abcd/0", status="unknown")
    masked = Texts(["abcd", "unknown", "Type"]).masked(made)
    assert (masked.attempt_id, masked.reply_id, masked.status) == ("abcd-1", "abcd/0", "unknown")
    assert masked.action == Type(content=MASK)


def test_short_texts_go_as_whole_words() -> None:
    assert Texts(["12", "1234"]).masked(Param(name="note", value="12 and 123 and 1234")).value == (
        f"{MASK} and 123 and {MASK}"
    )


@pytest.mark.parametrize(
    ("secrets", "masked"),
    [
        (["pass", "password"], f"my {MASK} is {MASK}"),
        (["password is", "is pass"], f"my {MASK}"),
        (["sword is pa", "word", "sword"], f"my pas{MASK}ss"),
    ],
)
def test_no_rest_of_a_secret_stays_where_secrets_overlap(secrets: list[str], masked: str) -> None:
    assert Texts(secrets).masked(Param(name="a", value="my password is pass")).value == masked


def test_a_secret_is_masked_in_every_spelling_at_any_depth() -> None:
    texts = Texts(['a"b c/ü'])
    row = read(
        "p", [['{\\"q\\":\\"a\\\\\\"b c/\\u00fc\\"}', "?q=a%22b+c%2F%C3%BC&n=1", "<b>a&quot;b&nbsp;c/&uuml;</b>"]], 1
    )
    (cells,) = texts.masked(row).value or []
    assert cells == [f'{{\\"q\\":\\"{MASK}\\"}}', f"?q={MASK}&n=1", f"<b>{MASK}</b>"]
    assert texts.masked_value({"config": [{"password": 'a"b c/ü'}]}) == {"config": [{"password": MASK}]}


def test_what_a_node_is_stays() -> None:
    field = Node(role="textbox", name="textbox", states=["focused"])
    assert Texts(["textbox", "focused"]).masked(field) == field.model_copy(update={"name": MASK})


def test_a_row_without_secrets_is_the_same_row() -> None:
    row = Node(role="link", name="Home")
    assert Texts(["secret"]).masked(row) is row


def test_of_personal_data_the_data_is_secret_and_not_the_sentence() -> None:
    tree = tree_of([node("StaticText", "Write to ann@posteo.de today", box=(12, 12, 108, 28))])

    assert list(secrets_of(tree, [Sensitive(class_="email", box=FIELD)])) == ["ann@posteo.de"]
    assert list(secrets_of(tree, [Sensitive(class_="private", box=FIELD)])) == ["Write to ann@posteo.de today"]


def test_a_placeholder_is_no_secret() -> None:
    tree = tree_of([node("textbox", "Password", "<secret:SHOP> <secret:PIN>", box=(12, 12, 108, 28))])

    assert list(secrets_of(tree, [Sensitive(class_="secret", box=FIELD)])) == []
    assert told_apart(tree, [Sensitive(class_="secret", box=FIELD)])
