from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.spelling import pattern_of

SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "json": json.dumps,
    "json in json": lambda text: json.dumps(json.dumps({"a": json.dumps(text)})),
    "json, unicode kept": lambda text: json.dumps(text, ensure_ascii=False),
    "json, slashes escaped": lambda text: json.dumps(text).replace("/", "\\/"),
    "address": lambda text: quote(text, safe=""),
    "path": quote,
    "form": quote_plus,
    "address in an address": lambda text: urlencode({"next": f"/a?{urlencode({'q': text})}"}),
    "lower case": lambda text: re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), quote(text, safe="")),
    "markup": html.escape,
    "markup in markup": lambda text: html.escape(html.escape(text)),
    "numbers": lambda text: "".join(f"&#{ord(one)};" if not one.isalnum() else one for one in text),
    "hexadecimal": lambda text: "".join(f"&#x{ord(one):X};" if not one.isascii() else one for one in text),
    "markup in json": lambda text: json.dumps(html.escape(text)),
    "address in json in markup": lambda text: html.escape(json.dumps(quote(text))),
}
TEXTS = ['pa"ss\\w/o&r<d>', "it's 100% ok?", "grüße 密码 🙂", "two  words\nand a\tthird", "ann@example.org", "a+b=c"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_text_is_found_in_every_spelling(spelling: str, text: str) -> None:
    written = SPELLINGS[spelling](f"before {text} after")

    assert re.sub(pattern_of(text), "nothing", written) == SPELLINGS[spelling]("before nothing after")


@given(st.text(min_size=1).filter(lambda text: text.strip() != ""), st.sampled_from(sorted(SPELLINGS)))
def test_any_text_is_found_in_any_spelling(text: str, spelling: str) -> None:
    if text.isprintable():
        assert re.search(pattern_of(text), SPELLINGS[spelling](text))


@pytest.mark.parametrize(
    ("text", "there", "not_there"),
    [
        (
            "123",
            ["PIN 123.", "(123)", "pin=123&x", '"123"', r"PIN:\n123", "pin%3D123"],
            ["1234", "é123", "a123", "_123"],
        ),
        ("a b", ["a b", "a%20b", "a+b"], ["ba b", "a bc"]),
        ("王伟", ["王伟的电话", "打给王伟"], ["王维"]),
        ("Bob", ["Bob's", "Bob,"], ["Bobby", "bob"]),
    ],
)
def test_short_text_is_found_as_a_whole_word(text: str, there: list[str], not_there: list[str]) -> None:
    pattern = pattern_of(text)

    assert [one for one in there if not re.search(pattern, one)] == []
    assert [one for one in not_there if re.search(pattern, one)] == []


@pytest.mark.parametrize(
    "escape",
    [
        lambda one: f"&#{ord(one)};",
        lambda one: f"&#x{ord(one):X};",
        lambda one: f"&amp;#{ord(one)};",
        lambda one: f"\\u{ord(one):04x}",
        lambda one: f"%{ord(one):02X}",
    ],
    ids=["numbers", "hexadecimal", "markup in markup", "json", "address"],
)
def test_letters_may_be_escaped_as_anything_else(escape: Callable[[str], str]) -> None:
    assert re.fullmatch(pattern_of("Hunter 2!"), "".join(map(escape, "Hunter 2!")))
    assert re.fullmatch(pattern_of("Hunter 2!"), "Hun" + "".join(map(escape, "ter 2!")))


def test_lines_may_break_within_a_text_where_it_is_asked_for() -> None:
    for written in ("Hunter2", "Hun\nter2", "Hun\r\n  ter2", r"Hun\nter2", "Hun&#10;ter2", "Hunter 2"):
        assert re.fullmatch(pattern_of("Hunter2", broken=True), written)
    assert not re.search(pattern_of("Hunter2"), "Hun\nter2")
    assert not re.search(pattern_of("Hunter2", broken=True), "Hun, ter2")


def test_longer_text_is_found_within_words() -> None:
    assert re.search(pattern_of("1234"), "a12345")
