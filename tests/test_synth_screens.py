"""Screens are drawn from a seed: the same one twice is the same, and the families cover platforms and languages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache

import pytest

from pipeline.synth.content import Content, pool
from pipeline.synth.drawing import Screen, draw, draw_family, families
from pipeline.synth.goods import goods
from pipeline.synth.icons import icons
from pipeline.synth.looks import MOST_PIXELS, SHELLS

EACH = sorted(families())


@cache
def many() -> Sequence[Screen]:
    """Three of each family."""
    return [draw(11, index) for index in range(3 * len(EACH))]


def test_there_are_forty_families_and_sixty_icons_or_more() -> None:
    assert len(EACH) >= 40
    assert len(icons()) >= 60


@pytest.mark.parametrize("family", EACH)
def test_every_family_can_be_drawn_on_every_platform_it_names(family: str) -> None:
    drawn = [draw_family(family, 3, index) for index in range(24)]

    assert {screen.look.platform for screen in drawn} == set(families()[family])
    assert all(screen.html.count("<main") == 1 for screen in drawn)


def test_the_same_number_gives_the_same_page() -> None:
    assert draw(4, 17) == draw(4, 17)


@pytest.mark.parametrize("hash_seed", ["1", "77"])
def test_another_process_draws_the_same_pages(hash_seed: str) -> None:
    code = "from pipeline.synth.drawing import draw\nfor number in (3, 17, 40): print(draw(4, number).html)"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}

    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True, timeout=100)

    assert done.stdout.decode("utf-8") == "".join(f"{draw(4, number).html}\n" for number in (3, 17, 40))


def test_platforms_are_about_even() -> None:
    platforms = Counter(screen.look.platform for screen in many())

    assert min(platforms.values()) > len(many()) / 6


def test_another_seed_gives_another_page() -> None:
    assert draw(4, 17).html != draw(5, 17).html


def test_each_round_shows_every_family_once() -> None:
    shown = [screen.family for screen in many()]

    assert sorted(shown[: len(EACH)]) == EACH
    assert sorted(shown[len(EACH) : 2 * len(EACH)]) == EACH


def test_pictures_stay_small_enough() -> None:
    sizes = [screen.look.width * screen.look.ratio * screen.look.height * screen.look.ratio for screen in many()]

    assert max(sizes) <= MOST_PIXELS


def test_looks_vary() -> None:
    looks = [screen.look for screen in many()]

    assert {look.shell for look in looks} == {shell for shells in SHELLS.values() for shell in shells}
    assert {look.dark for look in looks} == {True, False}
    assert len({(look.width, look.ratio) for look in looks}) >= 10
    assert {screen.language for screen in many()} == {"en", "zh"}


def test_no_two_pages_are_alike() -> None:
    assert len({screen.html for screen in many()}) == len(many())


def test_pages_ask_for_nothing_from_outside() -> None:
    for screen in many():
        assert not re.search(r"(?:src|href)=\"(?!#)|url\(\s*['\"]?https?:|@import", screen.html), screen.family


def test_tools_of_a_palette_are_in_use_and_are_no_pages() -> None:
    current = {screen.family: re.findall('aria-current="(.*?)"', screen.html) for screen in many()}

    assert set(current["cad"]) == set(current["drawing"]) == {"true"}
    assert set(current["mail"]) == {"page"}


def test_icons_named_on_pages_exist() -> None:
    named = {name for screen in many() for name in re.findall(r'data-icon="([a-z]+)"', screen.html)}

    assert named <= set(icons())


def test_every_product_has_its_own_looks_in_both_languages() -> None:
    for english, chinese in pool("products"):
        assert goods(english.replace("{n}", "52")) == goods(chinese.replace("{n}", "52")) is not None, english
    assert goods("Tram line") is None
    assert len({str(goods(english)) for english, _ in pool("products")}) == len(pool("products"))


def test_shares_are_of_a_whole() -> None:
    shares = Content("en", 4).shares(4)

    assert sum(shares) == 100
    assert shares == sorted(shares, reverse=True)


def test_lengths_of_time_are_told_in_the_language() -> None:
    assert [Content(language, 1).duration(570) for language in ("en", "zh")] == ["9 h 30 min", "9小时30分钟"]


def test_chinese_content_is_chinese_and_english_english() -> None:
    han = re.compile(r"[\u4e00-\u9fff]")

    assert all(han.search(text) for text in Content("zh", 5).some("subjects", 20))
    assert not any(han.search(text) for text in Content("en", 5).some("subjects", 20))


def test_slots_of_texts_are_all_filled() -> None:
    content = Content("en", 9)

    assert not any(
        "{" in text for pool in ("subjects", "tasks", "chats", "headlines") for text in content.some(pool, 99)
    )


def test_of_things_that_may_be_on_often_one_alone_is_on_or_off() -> None:
    drawn = [Content("en", seed).few(10, share) for seed in range(200) for share in (0.1, 0.6)]

    assert all(on <= set(range(10)) for on in drawn)
    assert sum(len(on) == 1 for on in drawn[::2]) > 80
    assert sum(len(on) == 9 for on in drawn[1::2]) > 60
    assert sum(1 < len(on) < 9 for on in drawn[1::2]) > 50


def test_people_and_numbers_that_are_compared_differ() -> None:
    content = Content("zh", 2)

    assert len(set(content.people(40))) == 40
    assert len(set(content.numbers(30, 1, 40))) == 30


def test_texts_are_escaped_on_pages() -> None:
    pages = "".join(draw_family("codereview", 1, index).html for index in range(6))

    assert "&lt;int:number&gt;" in pages
    assert "<int:" not in pages
