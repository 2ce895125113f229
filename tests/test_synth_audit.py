"""An audit that trusts no label: clicks through the real web environment, and refusals looked up in the pages' source.

Pages are drawn anew from what the rows say; the listener in them tells which elements a press went through.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import pytest

from pipeline.actions import Click, device_pixel
from pipeline.dataset import Dataset
from pipeline.envs.browser import Browser, Screen
from pipeline.grounding import Grounding
from pipeline.synth.asking import Question, icon, state
from pipeline.synth.drawing import Screen as Drawn
from pipeline.synth.drawing import draw, draw_family
from pipeline.synth.icons import icons
from pipeline.synth.making import Order, make
from pipeline.synth.refusing import refusal
from pipeline.synth.solving import Wanted
from pipeline.synth.wording import known, pairs
from tests.synthetic import recorded, scene
from tests.synthetic_words import WORDS
from tests.webworld import running_browser, running_world

LISTENER = """<script>
const clean = (text) => (text || '').replace(/\\s+/g, ' ').trim();
for (const kind of ['pointerdown', 'mousedown', 'mouseup', 'click']) addEventListener(kind, (event) => {
  event.preventDefault(); event.stopPropagation();
  if (kind !== 'pointerdown') return;
  window.reached = event.composedPath().filter((e) => e instanceof Element).map((e) => {
    const r = e.getBoundingClientRect();
    return { said: [clean(e.getAttribute('aria-label')), clean(e.innerText)], box: [r.left, r.top, r.right, r.bottom] };
  });
}, true);
</script>"""
SEED = 21
QUOTED = r"[\"“]([^\"”]+)[\"”]"


def test_a_click_reaches_what_the_label_says(tmp_path: Path) -> None:
    assert audited(tmp_path, 20) == []


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_three_hundred_clicks_reach_what_their_labels_say(tmp_path: Path) -> None:
    assert audited(tmp_path, 300) == []


def test_refusals_that_became_rows_ask_for_nothing_that_their_pages_name(tmp_path: Path) -> None:
    assert named_after_all(tmp_path, 10) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_hundred_refusals_that_became_rows_ask_for_nothing_that_their_pages_name(tmp_path: Path) -> None:
    assert named_after_all(tmp_path, 100) == []


def test_what_a_page_names_in_any_of_its_texts_is_found() -> None:
    page = "<title>Fly</title><p class=map>Our <b>offers</b></p><i aria-label='最大化窗口'></i><script>maps</script>"

    assert named("Click the icon to see the offers.", page)
    assert named("点击用来全屏显示的图标。", page)
    assert not named("Click the icon to show the map.", page)
    assert not named("找到播放列表“下载”，点击其中的“下载收据”。", "<i>下载</i><i>播放</i>")
    assert not named("I would rather talk than type.", "<li data-record data-noun='x'>Alarm</li>")
    assert named('Click "Split screen".', "<i placeholder='Split screen'>")


def test_a_hundred_refusals_fit_nothing_in_the_source_of_their_pages() -> None:
    screens = [draw(SEED, number) for number in range(5)]
    asked = [
        (screen, question)
        for screen, sighting in zip(screens, recorded(screens), strict=True)
        for question in islice(refusal(scene(sighting.shown, screen.language)), 20)
    ]

    there = [question.label for screen, question in asked if stands(question, screen.html)]
    sys.stdout.write(f"refusals={len(asked)} fitting={len(there)}\n")
    assert len(asked) == 100
    assert there == []


def test_an_icon_that_is_asked_for_is_drawn_once_in_the_source_of_its_page() -> None:
    screens = [draw(SEED, number) for number in range(20, 29)]
    asked = [
        (screen, question.target)
        for screen, sighting in zip(screens, recorded(screens), strict=True)
        for question in islice(icon(scene(sighting.shown, screen.language)), 20)
    ]

    assert len(asked) > 10
    assert [one.icon for screen, one in asked if one and screen.html.count(icons()[one.icon].path) != 1] == []


def test_no_control_is_cut_off_at_a_side() -> None:
    assert sidelong([draw(SEED, number) for number in range(12)]) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_control_of_any_family_is_cut_off_at_a_side() -> None:
    assert sidelong([draw(SEED, number) for number in range(92)]) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_states_that_are_asked_for_are_of_many_kinds_and_seldom_the_current_page() -> None:
    screens = [draw(SEED, number) for number in range(92)]
    first = [
        next(state(scene(sighting.shown, screen.language, screen.number)), None)
        for screen, sighting in zip(screens, recorded(screens), strict=True)
    ]

    kinds = Counter(f"{one.wanted.role or one.wanted.purpose} {one.wanted.state}" for one in first if one)
    sys.stdout.write(f"states={kinds.total()} kinds={len(kinds)} {dict(kinds.most_common())}\n")
    assert len(kinds) >= 15
    assert max(kinds.values()) < kinds.total() / 4
    assert sum(number for kind, number in kinds.items() if kind.endswith("current")) < kinds.total() / 5


def test_what_is_cut_off_at_a_side_is_found() -> None:
    page = draw_family("login", 3, 1)
    wide = page._replace(html=page.html.replace("</body>", "<style>.btn { width: 300vw }</style></body>"))

    assert sidelong([wide])


def sidelong(screens: Sequence[Drawn]) -> list[str]:
    """The controls that can be seen, but not up to their left and right edges."""
    return [
        f"{screen.family} {one.name}"
        for screen, sighting in zip(screens, recorded(screens), strict=True)
        for one in sighting.shown.elements
        if one.kind == "control" and one.shown and one.seen[1] < one.seen[3]
        if one.seen[0] > one.box[0] + 1 or one.seen[2] < one.box[2] - 1
    ]


def test_the_refusal_audit_finds_what_is_there_after_all() -> None:
    page = draw_family("mail", 3, 1)
    drawn, absent = icons()["star"], icons()["bed"]

    assert drawn.path in page.html
    assert stands(refused(Wanted(purpose="star")), page.html.replace("data-icon", "data-x").replace("data-act", "y"))
    assert not stands(refused(Wanted(purpose="bed")), page.html)
    assert absent.path not in page.html
    assert stands(refused(Wanted(label="save all")), "<button>Save all</button>")


def named_after_all(folder: Path, refusals: int) -> list[str]:
    """Refusals, of this many that became rows, whose thing the page of the row names; says how many there were."""
    order = Order(rows=refusals * 11, seed=SEED)
    asyncio.run(make(str(folder / "data"), order, lambda _: None))
    rows = [row for row in Dataset(str(folder / "data")).rows(Grounding) if row.refusal][:refusals]
    assert len(rows) == refusals
    found = [row.instruction for row in rows if named(row.instruction, draw(SEED, row.screen_number).html)]
    sys.stdout.write(f"refusals={refusals} named={len(found)}\n")
    return found


def named(instruction: str, html: str) -> bool:
    """Whether any words for what is asked for are among the texts and the names of a page."""
    plain = re.sub(
        r"(?s)<(script|style).*?</\1>|\b(?:class|style|d|data-[\w-]+)=(?:\"[^\"]*\"|'[^']*'|\w+)|\bdata-[\w-]+",
        " ",
        html,
    )
    sought = [re.escape(name) for pair in pairs("strangers") if set(pair) & quoted(instruction) for name in pair]
    sought = sought or [WORDS[name] for name in asked_for(instruction) if name in WORDS]
    return any(re.search(rf"(?<![a-z])(?:{words})", plain, re.IGNORECASE) for words in sought)


def quoted(instruction: str) -> set[str]:
    return set(re.findall(QUOTED, instruction))


def asked_for(instruction: str) -> list[str]:
    """The purposes whose phrase an instruction holds."""
    phrases = [(name, phrase) for name, one in icons().items() for phrase in (one.en, one.zh)]
    phrases += [(name, phrase) for name, words in known("intents").items() for phrase in words]
    longest = max((phrase for _, phrase in phrases if phrase in instruction), key=len, default="")
    return [name for name, phrase in phrases if phrase == longest]


def refused(wanted: Wanted) -> Question:
    return Question("refusal", "", "en", None, wanted, "")


def audited(folder: Path, clicks: int) -> list[str]:
    """Rows whose click went elsewhere, of this many with a place; says how many there were (`pytest -s` shows it)."""
    asyncio.run(make(str(folder / "data"), Order(rows=clicks * 5 // 4, seed=SEED), lambda _: None))
    rows = [row for row in Dataset(str(folder / "data")).rows(Grounding) if row.target][:clicks]
    assert len(rows) == clicks
    found = asyncio.run(missed(rows))
    sys.stdout.write(f"clicks={clicks} reached={clicks - len(found)} screens={len({row.screen_id for row in rows})}\n")
    return found


async def missed(rows: Sequence[Grounding]) -> list[str]:
    found: list[str] = []
    async with running_browser() as browser:
        for number, own in groupby(rows, key=lambda row: row.screen_number):
            found += await missed_on(browser, draw(SEED, number), list(own))
    return found


async def missed_on(browser: Browser, drawn: Drawn, rows: Sequence[Grounding]) -> list[str]:
    screen = Screen(width=drawn.look.width, height=drawn.look.height, ratio=drawn.look.ratio)
    found = []
    async with running_world(browser, screen) as world:
        await world.open(drawn.html.replace("</body>", f"{LISTENER}</body>"))
        for row in rows:
            assert row.point is not None
            await world.ask("window.reached = []")
            await world.environment.act(Click(point=row.point), [device_pixel(row.point, row.width, row.height)])
            reached = await world.ask("window.reached")
            assert isinstance(reached, list)
            if not any(is_it(one, row) for one in reached):
                found.append(f"{row.family} {row.instruction} {row.target} {reached[:2]}")
    return found


def is_it(reached: dict[str, Any], row: Grounding) -> bool:
    """Whether the press went through the labelled element: it says so, and the box is its own, or its text's."""
    assert row.target is not None
    box, ratio = row.target.box, row.device_ratio
    left, top, right, bottom = (edge * ratio for edge in reached["box"])
    around = left < box.left + 1 and top < box.top + 1 and right > box.right - 1 and bottom > box.bottom - 1
    if row.target.role == "text":
        return bool(around and row.target.text in reached["said"][1])
    exact: bool = abs(left - box.left) <= 1 and abs(right - box.right) <= 1 and abs(top - box.top) <= 1
    return exact and abs(bottom - box.bottom) <= 1


def stands(question: Question, html: str) -> bool:
    """Whether what was refused is in the source after all: its words, its strokes, or so many entries."""
    wanted = question.wanted
    if wanted.purpose:
        drawn = icons().get(wanted.purpose)
        noted = re.search(rf'data-(?:icon|act)="{wanted.purpose}"', html)
        return bool(noted) or (drawn is not None and drawn.path in html)
    if question.label.startswith("place "):
        _, place, noun = question.label.split(" ", 2)
        return html.count(f'data-noun="{noun}|') >= int(place)
    name: str = wanted.label or wanted.colour
    return name.casefold() in html.casefold()
