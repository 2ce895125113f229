"""Conformance: what holds for every dialect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.actions import ACTION, Click, Finished, Pixel, Point, canonical_point, points_of
from pipeline.dialects import EDGE, Dialect, Move, Picture, Reading, Said, dialect_names, load_dialect
from pipeline.errors import ActionError, ConfigError
from tests.dialect_moves import CLICKS, DIVISORS, PICTURES, RATIOS, RESIZED, SAYS, SIZES, THOUGHTS, moves, pixel_of

NAMES = dialect_names()
PICTURE = Picture(1280, 800)
FIELDS: dict[str, dict[str, object]] = {
    **{word: {"content": "x"} for word in ("Answer", "CallUser", "TakeNote", "Type")},
    **{word: {"point": {"x": 7, "y": 9}} for word in ("Click", "DoubleClick", "Hover", "LongPress", "RightClick")},
    **{word: {"point": {"x": 7, "y": 9}} for word in ("MiddleClick", "TripleClick")},
    **{word: {"start": {"x": 7, "y": 9}, "end": {"x": 8, "y": 3}} for word in ("Drag", "Swipe")},
    "Finished": {"content": "a text"},
    **{word: {"keys": ["a"]} for word in ("Hotkey", "KeyDown", "KeyUp")},
    "Launch": {"url": "x"},
    "LaunchApp": {"app": "x"},
    "Scroll": {"point": {"x": 7, "y": 9}, "direction": "left"},
    "SelectOption": {"index": 0},
}
MANY = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def refusal(name: str, said: Said, picture: Picture = PICTURE) -> str | None:
    with pytest.raises(ActionError) as caught:
        load_dialect(name).read(said, picture)
    return caught.value.code


def test_names_are_sorted_and_all_are_covered_here() -> None:
    assert NAMES == sorted(NAMES) == sorted(SAYS) == sorted(CLICKS)


def test_an_unknown_name_says_which_there_are() -> None:
    with pytest.raises(ConfigError, match=r"model\.dialect: no dialect 'x'; dialects: canonical, .*ui-venus-2-puzzle"):
        load_dialect("x")


@pytest.mark.parametrize("name", NAMES)
def test_a_dialect_declares_its_space(name: str) -> None:
    dialect: Dialect = load_dialect(name)
    assert (dialect.name, dialect.divisor) == (name, DIVISORS[name])
    assert dialect.sent_size(PICTURE) == (Picture(1260, 784) if name in RESIZED else PICTURE)


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_costs_a_token_for_each_patch_and_two_marks(name: str) -> None:
    patch = 32 if name.startswith(("ui-venus", "qwen3", "mai")) else 28
    dialect = load_dialect(name)
    assert dialect.picture_tokens(Picture(10 * patch, 3 * patch)) == 32
    assert dialect.picture_tokens(Picture(10 * patch + 1, 3 * patch)) == 35


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@MANY
def test_what_is_rendered_is_read_back(name: str, data: st.DataObject) -> None:
    dialect = load_dialect(name)
    picture = data.draw(st.sampled_from([*PICTURES, PICTURE]))
    move = data.draw(moves(name, picture, dialect.sent_size(picture)))
    thought = data.draw(THOUGHTS)
    reading = dialect.read(Said(dialect.render([move], thought, picture)), picture)
    assert (reading.thought, reading.moves) == (thought, (move,))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("picture", PICTURES)
def test_corners_and_centre_hit_their_pixels(name: str, picture: Picture) -> None:
    dialect, divisor = load_dialect(name), DIVISORS[name]
    sent = dialect.sent_size(picture)
    across, down = sent if divisor in (None, 1) else (divisor, divisor)
    for x, y in ((0, 0), (0, down - 1), (across - 1, 0), (across - 1, down - 1), (across // 2, down // 2)):
        numbers = {"x": x / across, "y": y / down} if divisor == 1 else {"x": x, "y": y}
        expected = Pixel(
            x=x if divisor == 1 else pixel_of(name, x, picture.width, sent.width),
            y=y if divisor == 1 else pixel_of(name, y, picture.height, sent.height),
        )
        [move] = dialect.read(Said(CLICKS[name].format(**numbers)), picture).moves
        assert move.points == (expected,)
        assert move.flags == ()
        kept = Point(x=x, y=y) if name == "canonical" else canonical_point(expected, *picture)
        assert move.action == Click(point=kept)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ratio", RATIOS)
def test_the_device_ratio_does_not_move_the_target(name: str, size: tuple[int, int], ratio: int) -> None:
    dialect, divisor = load_dialect(name), DIVISORS[name]
    picture = Picture(size[0] * ratio, size[1] * ratio)
    extents = dialect.sent_size(picture) if divisor is None else (divisor, divisor)
    for share in (0.0, 0.25, 0.5, 0.75):
        x, y = (extent * share if divisor == 1 else int(extent * share) for extent in extents)
        [move] = dialect.read(Said(CLICKS[name].format(x=x, y=y)), picture).moves
        for at, side in zip((move.points[0].x, move.points[0].y), size, strict=True):
            assert abs(at / ratio - side * share) <= side / 999 + 1


@pytest.mark.parametrize("name", [name for name in NAMES if DIVISORS[name] is not None])
def test_the_divisor_is_the_last_pixel_and_flagged(name: str) -> None:
    dialect, divisor = load_dialect(name), DIVISORS[name]
    [move] = dialect.read(Said(CLICKS[name].format(x=divisor, y=0)), PICTURE).moves
    assert move.points[0].x == PICTURE.width - 1
    assert move.flags == (EDGE,)
    assert dialect.read(Said(dialect.render([move], "", PICTURE)), PICTURE).moves == (move,)


@pytest.mark.parametrize("name", NAMES)
def test_anything_else_outside_is_refused(name: str) -> None:
    beyond = (DIVISORS[name] or PICTURE.width) + 1
    assert refusal(name, Said(CLICKS[name].format(x=beyond, y=0))) == "out_of_range"
    assert refusal(name, Said(CLICKS[name].format(x=-2, y=0))) == "out_of_range"


@pytest.mark.parametrize("name", [name for name in NAMES if DIVISORS[name] is None])
def test_a_pixel_space_ends_before_the_width(name: str) -> None:
    width = load_dialect(name).sent_size(PICTURE).width
    assert refusal(name, Said(CLICKS[name].format(x=width, y=0))) == "out_of_range"


@pytest.mark.parametrize("name", [name for name in NAMES if DIVISORS[name] != 1])
def test_a_fraction_is_ambiguous_where_fractions_are_not_the_space(name: str) -> None:
    assert refusal(name, Said(CLICKS[name].format(x=0.172, y=0.15))) == "ambiguous_coordinates"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("said", "code"),
    [
        (Said(None), "empty_content"),
        (Said(""), "empty_content"),
        (Said(" \n"), "empty_content"),
        (Said(None, finish="content_filter"), "refused"),
        (Said(None, finish="length", reasoning="so"), "truncated"),
        (Said("I am sorry, but I cannot help with that."), "no_action"),
        (Said("<think>only thinking</think>"), "no_action"),
    ],
)
def test_what_is_no_answer_is_refused_with_its_code(name: str, said: Said, code: str) -> None:
    assert refusal(name, said) == code


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"content": None, "reasoning": "{click}"}, "empty_content"),
        ({"finish": "length"}, "truncated"),
        ({"finish": "content_filter"}, "refused"),
        ({"refusal": "no"}, "refused"),
        ({"content": "<think>{click}"}, "no_action"),
        ({"content": "<THINK>{click}</THINK> nothing to do"}, "no_action"),
        ({"content": "{click}</think>"}, "no_action"),
    ],
)
def test_a_good_action_in_the_wrong_place_is_not_run(name: str, change: dict[str, str | None], code: str) -> None:
    click = load_dialect(name).render([_click(name, 0)], "", PICTURE)
    given: dict[str, Any] = {key: text.replace("{click}", click) if text else None for key, text in change.items()}
    assert refusal(name, Said(click)._replace(**given)) == code


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "around",
    [
        "<think>{other}</think>{click}",
        "<Thinking>{other}</THINKING>\n{click}",
        "{other}</think>{click}",
        "{click}<think>{other}</think>",
    ],
)
def test_reasoning_with_an_action_in_it_is_passed_over(name: str, around: str) -> None:
    dialect = load_dialect(name)
    click, other = (dialect.render([_click(name, at)], "", PICTURE) for at in (0, 1))
    reading = dialect.read(Said(around.format(click=click, other=other)), PICTURE)
    assert reading.moves == (_click(name, 0),)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith("puzzle")])
def test_two_different_actions_are_refused_and_equal_ones_are_one(name: str) -> None:
    dialect = load_dialect(name)
    first, second = (dialect.render([_click(name, at)], "", PICTURE) for at in (0, 1))
    assert refusal(name, Said(f"{first}\n{second}")) == "multiple_actions"
    assert dialect.read(Said(f"{first}\n{first}"), PICTURE).moves == (_click(name, 0),)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "true", "null", '"5"', "[5]", "1e999", "9" * 400])
def test_what_is_no_number_is_no_coordinate(name: str, number: str) -> None:
    with pytest.raises(ActionError) as caught:
        load_dialect(name).read(Said(CLICKS[name].format(x=number, y=0)), PICTURE)
    assert caught.value.code in ("bad_arguments", "no_action", "out_of_range")


@pytest.mark.parametrize("name", NAMES)
def test_a_click_without_y_is_refused(name: str) -> None:
    click = CLICKS[name].format(x=5, y="@").replace(', "y": @', "").replace("@, ", "")
    for separator in (", @", ",@", " @"):
        click = click.replace(separator, "")
    assert "@" not in click
    assert refusal(name, Said(click)) == "bad_arguments"


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_word_is_refused(name: str) -> None:
    click = CLICKS[name].format(x=5, y=5)
    for word in ("left_click", "Click", "click", "Tap"):
        click = click.replace(f'"{word}"', '"teleport"').replace(f"{word}(", "Teleport(")
    if name != "ui-venus-2-grounding":
        assert refusal(name, Said(click)) == "unknown_action"


@pytest.mark.parametrize("name", NAMES)
def test_words_that_a_dialect_lacks_are_refused_in_writing(name: str) -> None:
    said = SAYS[name].split()
    for word in set(SAYS["canonical"].split()) - {part.replace("Done", "Finished") for part in said}:
        action = ACTION.validate_python({"type": word, **FIELDS.get(word, {})})
        points = tuple(Pixel(x=100, y=200) for _ in points_of(action))
        with pytest.raises(ActionError) as caught:
            load_dialect(name).render([Move(action, points)], "", PICTURE)
        assert caught.value.code == "unknown_action"


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("ui-venus-2-desktop", "ui-venus-2-puzzle")])
def test_one_reply_says_one_action(name: str) -> None:
    with pytest.raises(ActionError) as caught:
        load_dialect(name).render([_click(name, 0), _click(name, 1)], "", PICTURE)
    assert caught.value.code == "multiple_actions"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_action_space_has_a_line_for_each_action(name: str, language: str) -> None:
    dialect = load_dialect(name)
    for platform in dialect.platforms:
        lines = dialect.action_space(platform, language).splitlines()
        actions = [line for line in lines if line.startswith("- ")]
        assert len(actions) == len(set(actions)) >= 2
        assert any("你" in line or "的" in line for line in lines) == (language == "zh")


def test_prompts_exist_for_known_platforms_and_languages_only() -> None:
    with pytest.raises(ConfigError, match=r"model\.dialect: 'mai-ui' is for mobile, not for web"):
        load_dialect("mai-ui").action_space("web", "en")
    with pytest.raises(ConfigError, match="languages: en, zh"):
        load_dialect("canonical").action_space("web", "fr")


@pytest.mark.parametrize("name", ["canonical", "fara", "ui-tars", "ui-venus-2-mobile"])
def test_the_separate_reasoning_is_the_thought_where_the_content_has_none(name: str) -> None:
    content = load_dialect(name).render([_click(name, 0)], "", PICTURE)
    assert load_dialect(name).read(Said(content, reasoning=" so \n"), PICTURE).thought == "so"


FRAGMENTS = [
    *("<think>", "</think>", "<action>", "</action>", "<answer>", "<tool_call>", "</tool_call>", "Action:", "Thought:"),
    *(
        "Click(",
        "click(",
        "do(",
        "finish(",
        "Sequence(actions=[",
        "box=",
        "point=",
        "start_box='",
        "content='",
        "(1,2)",
    ),
    *("))", ")", "'", '"', "\\", "{", "}", "[", "]", ",", ":", "=", " ", "\n", "```", "```json", "-1", "NaN", "1e309"),
    *('"type"', '"Click"', '"action"', '"arguments"', '"name"', '"mobile_use"', '"point"', "[[[[", "9" * 50, "\\ud800"),
]


@pytest.mark.parametrize("name", NAMES)
@given(text=st.one_of(st.text(max_size=200), st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)))
@MANY
def test_reading_raises_nothing_but_action_errors(name: str, text: str) -> None:
    try:
        reading = load_dialect(name).read(Said(text), PICTURE)
    except ActionError as error:
        assert error.code is not None
        assert len(error.detail) < 300
    else:
        assert_sound(reading)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@MANY
def test_a_damaged_reply_is_refused_or_sound(name: str, data: st.DataObject) -> None:
    dialect = load_dialect(name)
    move = data.draw(moves(name, PICTURE, dialect.sent_size(PICTURE)))
    text = dialect.render([move], "why", PICTURE)
    start = data.draw(st.integers(0, len(text)))
    damaged = text[:start] + data.draw(st.text(max_size=3)) + text[start + data.draw(st.integers(0, 5)) :]
    try:
        assert_sound(dialect.read(Said(damaged), PICTURE))
    except ActionError as error:
        assert error.code is not None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text",
    [
        "[" * 20_000,
        "{" * 20_000,
        "<action>" * 5_000,
        "Click(" * 5_000,
        "<think>" * 9_000,
        "Action: " * 5_000,
        "<tool_call>{" * 3_000,
        "'" * 20_000,
        "<action>Type(content='" + "', " * 9_000,
        "[" * 5_000 + "1" + "]" * 5_000,
    ],
)
def test_long_rubbish_is_refused_in_time(name: str, text: str) -> None:
    assert refusal(name, Said(text)) in ("no_action", "bad_arguments", "multiple_actions", "unknown_action")


def assert_sound(reading: Reading) -> None:
    for action, points, _ in reading.moves:
        assert ACTION.validate_json(ACTION.dump_json(action)) == action
        assert all(0 <= pixel.x < PICTURE.width and 0 <= pixel.y < PICTURE.height for pixel in points)
    assert len(reading.moves) <= 32
    assert not reading.infeasible or isinstance(reading.moves[-1].action, Finished)


def _click(name: str, number: int) -> Move:
    """The click at a number of the space, in both directions."""
    if DIVISORS[name] == 1:
        return load_dialect(name).read(Said(CLICKS[name].format(x=number / 2, y=number / 2)), PICTURE).moves[0]
    return load_dialect(name).read(Said(CLICKS[name].format(x=number * 9, y=number * 9)), PICTURE).moves[0]


def test_the_document_lists_every_dialect_with_its_platforms() -> None:
    text = (Path(__file__).resolve().parents[1] / "docs" / "models.md").read_text(encoding="utf-8")

    for name in NAMES:
        assert f"| `{name}` | {', '.join(load_dialect(name).platforms)} |" in text
