"""An instruction means exactly one element of the page, or, for a refusal, none; what could mean two is never asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

import pytest

from pipeline.synth.asking import Asker, attribute, functional, icon, literal, state
from pipeline.synth.drawing import draw, draw_family
from pipeline.synth.elements import Element, Entry
from pipeline.synth.icons import icons
from pipeline.synth.meaning import meanings
from pipeline.synth.refusing import refusal
from pipeline.synth.relating import reasoning, spatial
from pipeline.synth.solving import Wanted, counted, mentions, ranked, solve
from pipeline.synth.wording import alike, known, pairs, sentences
from tests.synthetic import element, entry, scene, shown

HAN = re.compile("[\u4e00-\u9fff]")
SAVE, PRINT = element("Save", (0, 0), icon="save", act="save", text=""), element("Print", (100, 0))
PARCELS = [
    entry("Books", 100, facts={"price": 12}),
    entry("Tea", 140, facts={"price": 9}),
    entry("Lamp", 180, facts={"price": 40}),
]
PRICES = [
    element(price, (300, top), kind="text", role="text", record=number)
    for number, (price, top) in enumerate((("12", 100.0), ("9", 140.0), ("40", 180.0)))
]
LIST = [
    made
    for number, (title, top) in enumerate((("Books", 100.0), ("Tea", 140.0), ("Lamp", 180.0)))
    for made in (
        PRICES[number],
        element(title, (0, top), kind="text", role="text", record=number),
        element("Open", (200, top), record=number),
    )
]


def texts(asker: Asker, elements: Sequence[Element], language: str = "en") -> list[str]:
    return [question.instruction for question in islice(asker(scene(shown(elements), language)), 40)]


def test_words_that_stand_twice_are_never_quoted() -> None:
    assert not texts(literal, [element("Open"), element("Open", (100, 0))])


def test_words_that_stand_within_others_are_never_quoted() -> None:
    found = texts(literal, [element("Open"), element("Open all", (100, 0))])

    assert len(found) == 1
    assert "Open all" in found[0]


def test_words_that_cannot_be_read_are_never_quoted() -> None:
    assert not texts(literal, [element("Open", cut=True)])
    assert not texts(literal, [element("Open", text="")])
    assert not texts(literal, [element("Open", hits=[True] * 8 + [False])])


@pytest.mark.parametrize("asker", [spatial, reasoning])
def test_names_that_stand_nowhere_on_the_picture_are_never_quoted(asker: Asker) -> None:
    silent = [one if one.name != "Open" else one.model_copy(update={"text": ""}) for one in LIST]
    senders = [element(f"by {one.title}", (400, one.box[1]), kind="text", record=at) for at, one in enumerate(PARCELS)]
    records = [one.model_copy(update={"by": f"by {one.title}"}) for one in PARCELS]

    def said(elements: Sequence[Element]) -> str:
        return "".join(question.instruction for question in asker(scene(shown([*elements, *senders], records))))

    assert '"Open"' in said(LIST)
    assert '"Open"' not in said(silent)


def test_a_field_is_called_by_what_can_be_read_in_it_or_beside_it() -> None:
    field = element("Search", role="searchbox", text="")

    assert not texts(literal, [field])
    assert texts(literal, [field.model_copy(update={"text": "Search songs"})])


def test_entries_that_hold_other_texts_are_not_quoted_as_a_whole() -> None:
    assert not texts(literal, [element("B Books 12", role="option", record=0)])


def test_hidden_things_may_be_meant_too() -> None:
    assert not texts(literal, [element("Open"), element("Open", (100, 0), shown=False)])


def test_icons_are_asked_for_by_purpose_in_both_languages() -> None:
    assert all("save" in text for text in texts(icon, [SAVE, PRINT]))
    assert all("保存" in text for text in texts(icon, [SAVE, PRINT], language="zh"))


def test_icons_that_people_confuse_are_not_asked_for() -> None:
    download = element("Get", (200, 0), icon="download", text="")

    assert "download" in alike("save")
    assert not texts(icon, [SAVE, download])


def test_an_icon_that_is_drawn_elsewhere_too_is_neither_asked_for_nor_refused() -> None:
    page = shown([SAVE, PRINT]).model_copy(update={"drawn": ["save", "save", "moon"]})

    assert not list(icon(scene(page)))
    assert not {"icon moon", "icon save"} & {question.label for question in refusal(scene(page))}


def test_purposes_are_asked_for_of_what_can_be_used() -> None:
    assert texts(functional, [SAVE])
    assert not texts(functional, [element("Save", act="save", states=["disabled"])])


@pytest.mark.parametrize(
    ("act", "name", "twin"),
    [
        ("print", "Print", element("Print labels", (100, 0))),
        ("print", "打印", element("出图", (100, 0), role="menuitem")),
        ("add", "Add task", element("Invite people", (100, 0), role="link")),
        ("delete", "Delete", element("Archive", (100, 0))),
        ("voucher", "Apply voucher", element("Voucher code", (100, 0), role="textbox", text="")),
        ("star", "Star", element("Mark as favourite", (100, 0), role="checkbox", act="info")),
    ],
)
def test_a_purpose_is_not_asked_for_where_the_words_of_another_control_would_serve_it(
    act: str, name: str, twin: Element
) -> None:
    target = element(name, act=act)

    assert texts(functional, [target])
    assert not texts(functional, [target, twin])


@pytest.mark.parametrize(
    "other",
    [
        element("Zoom out", (100, 0), act="zoomout"),
        element("Zoom in on the garden plan", (100, 0), role="row", record=0),
        element("Zoom", (100, 0), kind="text", role="text"),
    ],
)
def test_what_is_known_to_be_for_something_else_is_no_other_way_to_a_purpose(other: Element) -> None:
    assert texts(functional, [element("Zoom in", act="zoomin"), other])


@pytest.mark.parametrize(
    ("shape", "name", "act"),
    [
        ("bell", "Price alert", "bell"),
        ("heart", "收藏", "heart"),
        ("star", "Watch this page", "star"),
        ("add", "More guests", "plus"),
        ("add", "Book a visit", "add"),
        ("edit", "Start a thread", "edit"),
        ("edit", "Rename…", "edit"),
        ("settings", "列设置", "settings"),
        ("globe", "Browser", "launch"),
        ("mail", "Mail", "launch"),
    ],
)
def test_what_is_for_something_else_than_its_shape_is_asked_for_neither_by_icon_nor_purpose(
    shape: str, name: str, act: str
) -> None:
    plain = element(name, icon=shape, act=act, text="")

    assert not texts(icon, [plain])
    assert not texts(functional, [plain])


def test_launchers_and_the_buttons_of_windows_and_accounts_say_what_they_are_for() -> None:
    page = next(one for one in (draw(4, number) for number in range(200)) if one.look.windowed)
    site = next(one for one in (draw_family("news", 3, number) for number in range(20)) if one.look.platform == "web")

    assert page.html.count('data-act="launch"') == 7
    assert {"close", "minimise", "maximise"} <= set(re.findall('data-act="(.*?)"', page.html))
    assert 'data-act="user"' in site.html


def test_every_icon_and_intent_has_a_meaning() -> None:
    assert set(meanings()) == {*icons(), *known("intents")}


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("Our offers", "icon gift"),
        ("Flights", "icon plane"),
        ("详情", "icon info"),
        ("Account of Ann", "icon user"),
        ("Maximise window", "icon fullscreen"),
        ("Search the shop", "icon search"),
    ],
)
def test_what_any_words_of_the_page_name_is_never_refused(words: str, label: str) -> None:
    page = shown([element("Box")])

    assert label in {question.label for question in refusal(scene(page))}
    assert label not in {question.label for question in refusal(scene(page.model_copy(update={"said": [words]})))}


def test_a_state_is_told_only_where_one_alone_is_in_it() -> None:
    off, on = element("A", role="checkbox", states=["unchecked"]), element("B", role="checkbox", states=["checked"])

    assert {text.count("not ticked") for text in texts(state, [off, on, on])} == {1}
    assert not texts(state, [on, on])


@pytest.mark.parametrize(
    ("role", "english", "chinese"),
    [("checkbox", "is ticked", "已勾选"), ("switch", "is switched on", "已打开"), ("radio", "is chosen", "已选中")],
)
def test_states_are_told_as_one_says_them_of_the_role(role: str, english: str, chinese: str) -> None:
    page = [element("A", role=role, states=["checked"]), element("B", role=role, states=["unchecked"])]

    assert any(english in text for text in texts(state, page))
    assert any(chinese in text for text in texts(state, page, language="zh"))


def test_a_control_that_is_called_after_its_record_does_not_give_the_answer_away() -> None:
    named = [
        element(f"Select {title}", (200, 100.0 + 40 * number), record=number)
        for number, title in enumerate(("Books", "Tea", "Lamp"))
    ]
    page = scene(shown([*LIST, *named], PARCELS))

    said = [question.instruction for question in islice(reasoning(page), 60)]

    assert any('"Open"' in text for text in said)
    assert not any('"Select' in text for text in said)


def test_boxes_whose_names_cannot_be_seen_are_not_called_by_them() -> None:
    silent = [element(f"Select {name}", (0, top), role="checkbox", text="") for name, top in (("A", 0.0), ("B", 40.0))]
    label = element("Select A", (100, 0), kind="text", role="text", labels=True)

    assert not texts(literal, silent)
    assert all('"Select A"' in text for text in texts(literal, [*silent, label]))
    assert texts(literal, [*silent, label])


def test_colours_are_told_in_the_language_of_the_question() -> None:
    swatches = [element(name, (left, 0), colour=name, text="") for name, left in (("红色", 0), ("蓝色", 100))]

    assert {word for text in texts(attribute, swatches) for word in ("red", "blue") if word in text} == {"red", "blue"}
    assert not any(HAN.search(text) for text in texts(attribute, swatches) if "colour" in text or "swatch" in text)


def test_chinese_counts_by_the_right_word() -> None:
    rows = [one.model_copy(update={"en": "row", "zh": "行"}) for one in PARCELS]
    mails = [one.model_copy(update={"en": "message", "zh": "邮件"}) for one in PARCELS]

    def said(records: Sequence[Entry]) -> str:
        page = scene(shown(LIST, records), "zh")
        return "".join(question.instruction for asker in (spatial, reasoning) for question in islice(asker(page), 40))

    assert "第2行" in said(rows)
    assert "个行" not in said(rows)
    assert "封邮件" in said(mails)


def test_rows_and_days_are_counted_without_a_word_for_pieces() -> None:
    rows = [element(name, (0, top), role="row", states=[on]) for name, top, on in (("A", 0, "selected"), ("B", 40, ""))]
    days = [one.model_copy(update={"en": "day", "zh": "天"}) for one in PARCELS]

    assert not any("一个行" in text for text in texts(state, rows, "zh"))
    said = "".join(question.instruction for question in reasoning(scene(shown(LIST, days), "zh")))
    assert "那天" in said
    assert "个天" not in said


@pytest.mark.parametrize(("noun", "heading"), [("flight", "airline"), ("day", "weekday"), ("parcel", "name")])
def test_what_stands_at_the_head_of_a_record_is_called_as_one_calls_it(noun: str, heading: str) -> None:
    records = [one.model_copy(update={"en": noun}) for one in PARCELS]
    asked = [one.instruction for ask in (spatial, reasoning) for one in ask(scene(shown(LIST, records)))]

    assert any(heading in text for text in asked)
    assert not any("title" in text for text in asked)


def test_a_drop_down_is_opened_and_takes_no_cursor() -> None:
    label = element("Colour", (100, 0), kind="text", role="text", labels=True)
    asked = [
        text
        for seed in range(8)
        for text in (
            one.instruction for one in literal(scene(shown([element("Colour", role="combobox"), label]), seed=seed))
        )
    ]

    assert asked
    assert not any("cursor" in text or "Click into" in text for text in asked)


def test_states_are_asked_for_before_the_current_page() -> None:
    page = [element(name, (0, 40.0 * at), states=["current" if at < 1 else "pressed"]) for at, name in enumerate("AB")]

    for seed in range(6):
        first = next(state(scene(shown(page), seed=seed)))
        assert "pressed" in first.instruction


def test_the_current_page_is_asked_for_on_some_screens_only() -> None:
    page = shown([element(name, (0, 40.0 * at), states=["current"] * (at < 1)) for at, name in enumerate("AB")])

    asked = sum(bool(list(state(scene(page, seed=seed)))) for seed in range(200))

    assert 20 < asked < 70


@pytest.mark.parametrize(
    ("icon_name", "english", "chinese"), [("star", "star that is filled in", "星标"), ("lock", "lock that is", "锁形")]
)
def test_a_picture_that_is_lit_is_asked_for_by_what_it_shows(icon_name: str, english: str, chinese: str) -> None:
    lit = [
        element("Mark", (0, 40.0 * at), icon=icon_name, act=icon_name, text="", states=["pressed"] * (at == 1))
        for at in range(3)
    ]

    asked = list(state(scene(shown(lit))))

    assert [one.target for one in asked] == [lit[1]]
    assert english in asked[0].instruction
    assert all(chinese in text for text in texts(state, lit, "zh"))
    assert not texts(state, [*lit, lit[1].model_copy(update={"box": (0, 200, 80, 220)})])


@pytest.mark.parametrize("name", ["active", "unread", "focused", "invalid", "sorted", "expanded", "collapsed"])
def test_each_state_has_words_and_is_asked_for_where_one_alone_is_in_it(name: str) -> None:
    page = [element("A", states=[name]), element("B", (0, 40))]

    english, chinese = known("states")[name]
    assert all(english in text for text in texts(state, page))
    assert all(chinese in text for text in texts(state, page, "zh"))
    assert texts(state, page)
    assert not texts(state, [page[0], element("C", (0, 80), states=[name])])


def test_a_quotation_with_its_own_stop_has_no_other_after_it() -> None:
    found = texts(literal, [element("Saved.", kind="text", role="text")])

    assert found
    assert not any(text.endswith('.".') for text in found)


def test_of_pages_that_others_wrote_no_icon_or_purpose_is_refused() -> None:
    page = shown([SAVE, PRINT]).model_copy(update={"told": False})

    labels = {question.label.split()[0] for question in refusal(scene(page))}

    assert labels == {"label"}


@pytest.mark.parametrize("kind", ["roles", "states", "toggles", "sides", "extremes", "facts", "intents"])
def test_words_are_in_the_language_they_are_listed_for(kind: str) -> None:
    for english, chinese in (pair for words in known(kind).values() for pair in batched(words)):
        assert not HAN.search(english)
        assert HAN.search(chinese)
        assert not re.search("[A-Za-z]", chinese)


def batched(words: Sequence[str]) -> list[tuple[str, str]]:
    return list(zip(words[::2], words[1::2], strict=True))


@pytest.mark.parametrize("way", sorted(known("asks")))
def test_sentences_hold_no_words_of_the_other_language(way: str) -> None:
    assert not any(HAN.search(text) for text in sentences(way, "en"))
    assert not any(re.search("[A-Za-z]", re.sub(r"{\w+}", "", text)) for text in sentences(way, "zh"))


def test_icons_and_strangers_have_a_word_in_each_language() -> None:
    for english, chinese in [(one.en, one.zh) for one in icons().values()] + [
        tuple(pair) for pair in pairs("strangers")
    ]:
        assert not HAN.search(english)
        assert HAN.search(chinese)
        assert not re.search("[A-Za-z]", chinese)


def test_the_outermost_must_stand_out() -> None:
    boxes = [element(name, (0, top), role="checkbox") for name, top in (("A", 0.0), ("B", 4.0), ("C", 90.0))]

    assert not solve(Wanted(role="checkbox", extreme="top"), shown(boxes))
    assert solve(Wanted(role="checkbox", extreme="bottom"), shown(boxes)) == [boxes[2]]
    assert all("bottommost" in text for text in texts(attribute, boxes))


def test_plurals_are_english() -> None:
    entries = [element(name, (0, top), role="menuitem") for name, top in (("A", 0.0), ("B", 50.0), ("C", 90.0))]

    assert not any("entrys" in text for text in texts(attribute, entries))


def test_beside_is_the_nearest_on_the_line() -> None:
    row = [element("A"), element("B", (100, 0)), element("C", (200, 0)), element("D", (100, 60))]

    assert solve(Wanted(beside="A", side="right"), shown(row)) == [row[1]]
    assert solve(Wanted(beside="C", side="left"), shown(row)) == [row[1]]
    assert solve(Wanted(beside="D", side="right"), shown(row)) == []


def test_the_nth_is_counted_from_the_top_and_only_if_all_before_can_be_seen() -> None:
    page = shown(LIST, PARCELS)
    hidden = PARCELS[0].model_copy(update={"seen": (0, 110, 400, 130)})

    assert [counted(page, number) for number in range(3)] == [1, 2, 3]
    assert [counted(shown(LIST, [hidden, *PARCELS[1:]]), number) for number in range(3)] == [None] * 3


def test_facts_are_compared_only_where_every_entry_shows_its_own() -> None:
    silent = PARCELS[2].model_copy(update={"text": "Lamp"})

    assert ranked(shown(PRICES, PARCELS), "parcel", "price", most=True) == 2
    assert ranked(shown(PRICES, PARCELS), "parcel", "price", most=False) == 1
    assert ranked(shown(PRICES, [*PARCELS[:2], silent]), "parcel", "price", most=False) is None


@pytest.mark.parametrize("hidden", [{"shown": False}, {"cut": True}, {"seen": (0, 0, 0, 0)}, {"hits": [False] * 9}])
def test_facts_are_compared_only_where_those_of_all_entries_in_sight_can_be_read(hidden: dict[str, object]) -> None:
    page = shown([PRICES[0].model_copy(update=hidden), *PRICES[1:]], PARCELS)
    below = PARCELS[0].model_copy(update={"seen": (0, 600, 0, 600)})

    assert ranked(page, "parcel", "price", most=True) is None
    assert ranked(page.model_copy(update={"records": [below, *PARCELS[1:]]}), "parcel", "price", most=True) == 2


def test_the_entry_that_has_most_is_in_sight() -> None:
    below = PARCELS[2].model_copy(update={"seen": (0, 600, 0, 600)})

    assert ranked(shown(PRICES, [*PARCELS[:2], below]), "parcel", "price", most=True) is None


def test_equals_have_no_first() -> None:
    twin, price = entry("Vase", 220, facts={"price": 9}), element("9", (300, 220), kind="text", record=3)

    assert ranked(shown([*PRICES, price], [*PARCELS, twin]), "parcel", "price", most=False) is None


def test_reasoning_leads_to_the_entry_that_has_most_or_least() -> None:
    page = shown(LIST, PARCELS)
    asked = list(islice(reasoning(scene(page)), 20))

    assert asked
    for question in asked:
        assert question.target is not None
        assert question.target.record == (2 if "the most" in question.instruction else 1)


def test_places_in_lists_lead_to_their_entries() -> None:
    page = shown(LIST, PARCELS)
    counted_ones = [one for one in spatial(scene(page)) if "second" in one.instruction or "number 2" in one.instruction]

    assert counted_ones
    assert {one.target.record for one in counted_ones if one.target} == {1}


def test_a_refusal_names_what_is_nowhere() -> None:
    page = shown([SAVE, PRINT, *LIST], PARCELS)
    asked = list(islice(refusal(scene(page)), 40))

    assert len(asked) == 40
    for question in asked:
        assert question.target is None
        assert solve(question.wanted, page) == []


def test_nothing_is_refused_that_is_there_in_other_words() -> None:
    page = shown([SAVE, element("Download", (100, 0))])
    refused = {question.label for question in refusal(scene(page))}

    assert not refused & {"icon save", "icon download", "intent save"}


def test_mentions_are_found_within_longer_texts() -> None:
    page = shown([element("Save as"), element("Resave", (0, 50), role="row")])

    assert [one.name for one in mentions("save", page)] == ["Save as"]


@pytest.mark.parametrize("way", sorted(known("asks")))
def test_each_way_of_asking_has_several_sentences_in_each_language(way: str) -> None:
    for language in ("en", "zh"):
        assert len(set(sentences(way, language))) >= 2


def test_chinese_sentences_use_full_width_marks() -> None:
    for way in known("asks"):
        assert not any("," in text or text.endswith(".") for text in sentences(way, "zh"))
