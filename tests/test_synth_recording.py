"""One look at a real page tells what stands where, what of it can be pointed at, and what is only said to be there."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pipeline.errors import RunError
from pipeline.reaper import Scratch
from pipeline.synth.drawing import Screen, draw_family
from pipeline.synth.elements import Element
from pipeline.synth.looks import Look
from pipeline.synth.recording import Recorder, Sighting, fingerprint, painted

LOOK = Look(
    shell="web",
    platform="web",
    width=800,
    height=600,
    ratio=1.5,
    dark=False,
    accent="#1a73e8",
    font="sans-serif",
    text_size=14,
    density=4,
    radius=4,
    windowed=False,
)
PAGE = """<!doctype html><title>Parts</title><style>body{margin:0;font:16px 'Liberation Sans'}button{border:0}
li{height:40px}li button{margin-left:60px}
.a{position:absolute}</style>
<button class=a style="left:20px;top:20px;width:100px;height:40px;background:#06c;color:#fff">Plain</button>
<button class=a style="left:20px;top:80px;width:100px;height:40px">Covered</button>
<div class=a style="left:60px;top:70px;width:90px;height:60px;background:#fc0"></div>
<button class=a style="left:760px;top:20px;width:100px;height:40px">Outside</button>
<div class=a style="left:20px;top:150px;width:100px;height:30px;overflow:hidden">
<button style="height:60px">Cut off</button></div>
<button class=a style="left:20px;top:200px;width:100px;height:40px;background:none" aria-label="Nothing"></button>
<button class=a style="left:20px;top:260px;width:100px;height:40px;background:#eee;color:#999" disabled>Grey</button>
<label class=a style="left:20px;top:320px"><input type=checkbox checked> Remember</label>
<label class=a style="left:20px;top:350px"><span>Town</span><input value="Faro"></label>
<p class=a style="left:300px;top:20px;width:300px;background:#eef">Wide paragraph</p>
<div class=a style="left:300px;top:90px;width:60px;overflow:hidden;white-space:nowrap;text-overflow:ellipsis"
>A long name</div>
<style>.s{white-space:nowrap;overflow:hidden;text-overflow:ellipsis;font:16px 'Liberation Sans'}</style>
<button class="a s" style="left:450px;top:80px;width:100px;padding:0 12px;text-align:left">Button wider</button>
<button class="a s" style="left:450px;top:112px;padding:0 30px">Just as wide</button>
<div class=a style="left:620px;top:80px"><p class=s style="margin:0;width:calc(100% - .75px)">Hardly too wide</p></div>
<div class="a s" style="left:620px;top:112px;width:60px"><i><b><u>Deep text so long</u></b></i></div>
<input class=a style="left:620px;top:200px;width:120px" aria-label="Search" placeholder="Search towns">
<button class=a style="left:620px;top:240px;width:100px" aria-current=true>Brush</button>
<button class=a style="left:620px;top:270px;width:100px" aria-current=page>Start</button>
<button class=a style="left:300px;top:300px;width:100px;height:40px">Under glass</button>
<div class=a style="left:290px;top:290px;width:120px;height:60px;background:#fc0;pointer-events:none"></div>
<button class=a style="left:500px" aria-label="Write"><svg data-drawn=mail><path d="M2 2h16v16z"/></svg></button>
<svg class=a style="left:600px" width=20 height=20 data-drawn=moon></svg>
<ul class=a style="left:300px;top:140px"><li data-record data-noun="parcel|包裹"
data-title="Books" data-facts='{"price": 12}'>
<i class=a>Books</i> <button data-act=buy>Buy</button></li><li data-record data-noun="parcel|包裹"
data-title="Tea" data-facts='{"price": 9}'>
<i class=a>Tea</i> <button data-act=buy>Buy</button></li></ul>"""


@pytest.fixture(scope="module")
def seen() -> Sighting:
    return asyncio.run(_look(Screen("parts", 0, "parts", "en", LOOK, PAGE)))


async def _look(screen: Screen) -> Sighting:
    with Scratch("synth-test") as scratch:
        async with Recorder(scratch) as recorder:
            return await recorder.see(screen)


def named(seen: Sighting, name: str) -> Element:
    return next(element for element in seen.shown.elements if element.name == name)


def test_a_plain_button_is_whole_and_painted(seen: Sighting) -> None:
    plain = named(seen, "Plain")

    assert plain.whole
    assert plain.role == "button"
    assert list(plain.box) == [20, 20, 120, 60]
    assert painted(seen, plain.box)


@pytest.mark.parametrize("name", ["Covered", "Outside", "Cut off"])
def test_what_is_covered_outside_or_cut_off_is_not_whole(seen: Sighting, name: str) -> None:
    assert not named(seen, name).whole


def test_of_a_covered_control_some_points_still_lead_to_it(seen: Sighting) -> None:
    hits = named(seen, "Covered").hits

    assert len(hits) == 9
    assert 0 < sum(hits) < 9


def test_a_control_without_any_paint_is_found_out(seen: Sighting) -> None:
    nothing = named(seen, "Nothing")

    assert nothing.whole
    assert not painted(seen, nothing.box)


def test_what_lies_under_a_pane_that_lets_clicks_through_is_found_out(seen: Sighting) -> None:
    under = named(seen, "Under glass")

    assert under.whole
    assert not painted(seen, under.box)


def test_every_icon_that_is_drawn_is_told_with_the_control_it_stands_in(seen: Sighting) -> None:
    assert seen.shown.drawn == ["mail", "moon"]
    assert named(seen, "Write").icon == "mail"


def test_states_are_read(seen: Sighting) -> None:
    assert named(seen, "Grey").states == ["disabled"]
    assert named(seen, "Remember").states == ["checked"]
    assert (named(seen, "Brush").states, named(seen, "Start").states) == (["tool"], ["current"])


async def test_states_that_a_page_shows_are_read_and_notes_on_them_where_they_are_believed() -> None:
    page = """<!doctype html><title>States</title><table><tr><th aria-sort=ascending><button>Name</button></th>
<th><button>Size</button></th></tr></table><button aria-pressed=true data-choice>All</button>
<button aria-pressed=true>Bold</button><button aria-expanded=false>More</button>
<input aria-label=Mail aria-invalid=true><input aria-label=Town data-state=focused>"""

    for told in (True, False):
        found = (await _look(Screen("states", 0, "states", "en", LOOK, page, told=told))).shown.elements
        states = {one.name: one.states for one in found if one.kind == "control"}
        assert states == {
            "Name": ["sorted"],
            "Size": [],
            "All": ["active" if told else "pressed"],
            "Bold": ["pressed"],
            "More": ["collapsed"],
            "Mail": ["invalid"],
            "Town": ["focused"] if told else [],
        }
        assert {one.role for one in found if one.name in ("Name", "Size") and one.kind == "control"} == {"columnheader"}


def test_fields_are_called_by_their_labels(seen: Sighting) -> None:
    towns = [(element.kind, element.role) for element in seen.shown.elements if element.name == "Town"]

    assert towns == [("control", "textbox"), ("text", "text")]


def test_the_box_of_a_text_ends_where_its_letters_end(seen: Sighting) -> None:
    left, _, right, _ = named(seen, "Wide paragraph").box

    assert left == 300
    assert right < 450


def test_a_text_that_is_cut_short_says_so(seen: Sighting) -> None:
    assert named(seen, "A long name").cut
    assert not named(seen, "Wide paragraph").cut


def test_a_text_that_is_cut_by_a_hair_or_within_others_says_so(seen: Sighting) -> None:
    assert named(seen, "Button wider").cut
    assert named(seen, "Hardly too wide").cut
    assert named(seen, "Deep text so long").cut
    assert not named(seen, "Just as wide").cut


def test_what_an_empty_field_shows_is_its_text(seen: Sighting) -> None:
    assert named(seen, "Search").text == "Search towns"


def test_records_hold_their_facts_and_their_controls(seen: Sighting) -> None:
    books, tea = seen.shown.records

    assert (books.noun("en"), books.noun("zh"), books.title, books.facts) == ("parcel", "包裹", "Books", {"price": 12})
    assert books.group == tea.group
    assert [element.name for element in seen.shown.within(1) if element.kind == "control"] == ["Buy"]


def test_pictures_have_the_pixels_of_the_device(seen: Sighting) -> None:
    assert (seen.frame.width, seen.frame.height) == (1200, 900)
    assert seen.pixels_of((20, 20, 120, 60)).model_dump() == {"left": 30, "top": 30, "right": 180, "bottom": 90}


def test_likenesses_have_the_same_fingerprint(seen: Sighting) -> None:
    first, second = (element for element in seen.shown.elements if element.name == "Buy")

    assert fingerprint(seen, first.box) == fingerprint(seen, second.box)
    assert fingerprint(seen, first.box) != fingerprint(seen, named(seen, "Plain").box)


async def test_without_a_font_for_chinese_nothing_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    latin = "/usr/share/fonts/truetype/dejavu"
    (tmp_path / "fonts.conf").write_text(f"<fontconfig><dir>{latin}</dir><cachedir>{tmp_path}</cachedir></fontconfig>")
    monkeypatch.setenv("FONTCONFIG_FILE", str(tmp_path / "fonts.conf"))
    with Scratch("synth-test") as scratch:
        async with Recorder(scratch) as recorder:
            with pytest.raises(RunError, match="no font for Chinese"):
                await recorder.see(Screen("parts", 0, "parts", "en", LOOK, PAGE))


@pytest.mark.parametrize("told", [True, False])
async def test_notes_of_a_page_are_read_only_where_they_are_believed(told: bool) -> None:
    read = (await _look(Screen("parts", 0, "parts", "en", LOOK, PAGE, told=told))).shown

    assert bool(read.records) == told
    assert any(element.act for element in read.elements) == told


async def test_the_same_screen_gives_the_same_picture_twice() -> None:
    screen = draw_family("dashboard", 2, 3)
    with Scratch("synth-test") as scratch:
        async with Recorder(scratch) as recorder:
            one, other = await asyncio.gather(recorder.see(screen), recorder.see(screen))
            await recorder.renew()
            later = await recorder.see(screen)

    assert one.frame.sha256 == other.frame.sha256 == later.frame.sha256
    assert one.shown == later.shown
