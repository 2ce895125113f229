"""A model writes screens; kept are those that hold still, reach nothing and can be pointed at, others have a reason."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from PIL import Image as Pictures

from pipeline.check import check
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError
from pipeline.grounding import Grounding
from pipeline.llm import LocalLimiter
from pipeline.reaper import Scratch
from pipeline.records import ModelCall
from pipeline.scripted_endpoint import ScriptedEndpoint, ScriptedReply
from pipeline.synth.looks import draw_look
from pipeline.synth.making import make, order_of
from pipeline.synth.recording import Recorder
from pipeline.synth.scenarios import Scenario, plan_of, scenarios_of
from pipeline.synth.writing import Wish, Written, tried, write_screens, written_in
from tests.endpoints import client_of, endpoint_of, says, serving

pytestmark = pytest.mark.timeout(300)

NAMES = ("Ada Boyle", "Ben Carr", "Cleo Dunn", "Dora Eaves", "Ed Frame", "Flo Gray")
PARCELS = "".join(f"<tr><td>Parcel {name}</td><td><button>Give to {name}</button></td></tr>" for name in NAMES)
PAGE = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Parcel desk</title>
<style>body {{ margin: 0; font: 15px sans-serif; background: #f4f5f7 }} td {{ padding: 6px 12px }}</style></head>
<body><button data-icon="print" data-act="print" aria-label="Scan"><svg width="20" height="20"><path d="M2 2h16v16z"/>
</svg></button><h1>Parcels waiting</h1><table>{PARCELS}</table><label>Notes <input value="Fragile"></label>
<!-- here --></body></html>"""
SCENARIOS = [Scenario(name="parcel-desk", about="parcels", platforms=["desktop"])]


def written(html: str, language: str = "en", number: int = 0) -> Written:
    look = draw_look(random.Random(3), ["web"])
    return Written(
        number=number, scenario="parcel-desk", language=language, look=look, model="m", html=html, reason=None
    )


def adding(code: str) -> Written:
    return written(PAGE.replace("<!-- here -->", code))


CASES = {
    "fine": written(PAGE),
    "picture": adding('<img src="http://127.0.0.1:9/a.png">'),
    "request": adding("<script>fetch('http://127.0.0.1:9/')</script>"),
    "script": adding("<script src='http://127.0.0.1:9/a.js'></script>"),
    "leaving": adding("<script>location.href = 'http://127.0.0.1:9/'</script>"),
    "storage": adding("<script>localStorage.a = 1</script>"),
    "chance": adding("<script>document.querySelector('h1').textContent = Math.random()</script>"),
    "endless": adding("<script>while (true) {}</script>"),
    "after": written(PAGE.replace("waiting", "here")),
    "language": written(PAGE, "zh"),
    "bare": written("<!doctype html><html><body>Nothing</body></html>"),
}


@pytest.fixture(scope="module")
def reasons() -> dict[str, str | None]:
    """Why each is not used, tried in one real Chromium, in this order."""

    async def each() -> dict[str, str | None]:
        with Scratch("synth-test") as scratch:
            async with Recorder(scratch, 45) as recorder:
                return {name: (await tried(one, recorder)).reason for name, one in CASES.items()}

    return asyncio.run(each())


def test_a_page_that_holds_still_and_can_be_pointed_at_is_kept(reasons: dict[str, str | None]) -> None:
    assert reasons["fine"] is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("picture", "sandbox forbids"),
        ("request", "sandbox forbids"),
        ("script", "sandbox forbids"),
        ("leaving", "it asks for http://127.0.0.1:9/"),
        ("storage", "a script of it fails"),
        ("chance", "it does not look the same twice"),
        ("endless", "it could not be shown, or not in time"),
        ("language", "its language is another: 0% of its texts are Chinese"),
        ("bare", "only 1 places can be pointed at, 0 of them controls"),
    ],
)
def test_a_page_that_cannot_be_used_says_why(name: str, reason: str, reasons: dict[str, str | None]) -> None:
    assert reason in (reasons[name] or "")


def test_a_page_that_never_ends_does_not_hold_up_the_next(reasons: dict[str, str | None]) -> None:
    assert reasons["after"] is None


class Desk:
    """A scripted model that writes screens into a file."""

    def __init__(self, path: Path, server: ScriptedEndpoint) -> None:
        self.path, self.server, self.calls = path, server, list[ModelCall]()

    def write(self, screens: int, scenarios: Sequence[Scenario] = SCENARIOS) -> Sequence[Written]:
        return asyncio.run(self._write(Wish(screens, 5, scenarios, 4000, 0.0)))

    async def _write(self, wish: Wish) -> Sequence[Written]:
        endpoint = endpoint_of(self.server)
        with Scratch("synth-test") as scratch:
            async with (
                client_of(endpoint, LocalLimiter(1, endpoint.lease_seconds)) as client,
                Recorder(scratch) as recorder,
            ):
                return await write_screens(self.path, wish, client, recorder, self.calls, lambda _: None)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    english = PAGE.replace("Parcels waiting", "Parcels of today")
    chinese = PAGE.replace("Give to", "交给").replace("Parcel ", "包裹").replace("waiting", "待领")
    with serving(
        says(f"Here it is:\n```html\n{PAGE}\n```", when="everything that can be read: English"),
        says(english, when="everything that can be read: English", times=None),
        says(chinese, when="everything that can be read: Simplified Chinese", times=None),
    ) as server:
        yield Desk(tmp_path / "screens.jsonl", server)


def test_a_file_that_cannot_be_written_costs_one_line(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    desk.path = tmp_path / "file" / "screens.jsonl"

    with pytest.raises(ConfigError, match=r"out: .* cannot be written"):
        desk.write(1)


def test_the_model_is_asked_for_each_plan_and_all_is_kept_with_reasons(desk: Desk) -> None:
    found = desk.write(4)

    assert [one.number for one in found] == [0, 1, 2, 3]
    assert written_in(desk.path) == found
    assert {one.language for one in found} == {plan_of(SCENARIOS, 5, number).language for number in range(4)}
    assert any(one.reason is None for one in found)
    assert len(desk.calls) == 4


def test_what_is_in_the_file_is_not_asked_for_again_and_a_cut_line_is(desk: Desk) -> None:
    first = desk.write(2)
    whole = desk.path.read_text("utf-8")
    desk.path.write_text(whole + whole[: len(whole) // 5], "utf-8")

    later = desk.write(3)

    assert later[:2] == first
    assert len(desk.calls) == 3
    assert written_in(desk.path) == later


def test_pages_that_look_alike_are_kept_once(tmp_path: Path) -> None:
    with serving(says(PAGE, times=None)) as server:
        found = Desk(tmp_path / "screens.jsonl", server).write(6)

    kept = [one for one in found if one.reason is None]
    assert len({one.likeness for one in kept}) == len(kept)
    assert all(one.reason and ("looks like" in one.reason or one.language == "zh") for one in found if one.reason)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (says("I would rather not."), "there is no whole page in the reply"),
        (says(PAGE[:400], finish="length"), "the model's reply was truncated"),
        (says(None, refusal="no"), "the model's reply was refused"),
    ],
)
def test_replies_without_a_page_are_rejected(reply: ScriptedReply, reason: str, tmp_path: Path) -> None:
    with serving(reply) as server:
        (found,) = Desk(tmp_path / "screens.jsonl", server).write(1)

    assert found.reason == reason


def test_a_reference_picture_goes_with_the_words(tmp_path: Path) -> None:
    Pictures.new("RGB", (40, 30), "white").save(tmp_path / "shot.png")
    scenario = SCENARIOS[0].model_copy(update={"reference": str(tmp_path / "shot.png")})
    with serving(says(PAGE, times=None)) as server:
        Desk(tmp_path / "screens.jsonl", server).write(1, [scenario])
        parts = server.requests[0].body["messages"][0]["content"]

    assert [part["type"] for part in parts] == ["text", "image_url"]
    assert "take over how it is laid out" in parts[0]["text"]


def test_a_reference_that_is_no_picture_is_named(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_text("no picture")
    scenario = SCENARIOS[0].model_copy(update={"reference": str(tmp_path / "shot.png")})

    with serving(says(PAGE)) as server, pytest.raises(ConfigError, match="parcel-desk"):
        Desk(tmp_path / "screens.jsonl", server).write(1, [scenario])


def test_labelled_places_on_written_screens_rest_on_nothing_the_page_says_of_its_icons(tmp_path: Path) -> None:
    screens = [written(PAGE, number=3).screen]
    out = str(tmp_path / "data")

    asyncio.run(make(out, order_of(6, 1, screens), lambda _: None, screens))

    rows = [row for row in Dataset(out).rows(Grounding) if row.family == "written-parcel-desk"]
    assert check(out) == []
    assert rows
    assert not {"icon", "functional"} & {row.kind for row in rows}
    assert not [row for row in rows if row.refusal and ("icon" in row.instruction or "print" in row.instruction)]


def test_the_same_number_is_the_same_plan_and_every_scenario_takes_its_turn() -> None:
    scenarios = scenarios_of(None)
    plans = [plan_of(scenarios, 2, number) for number in range(2 * len(scenarios))]

    assert plans == [plan_of(scenarios, 2, number) for number in range(2 * len(scenarios))]
    assert [plan.scenario for plan in plans] == [*scenarios, *scenarios]
    assert {plan.language for plan in plans} == {"en", "zh"}
    assert all(str(plan.look.width) in plan.prompt and plan.persona.company in plan.prompt for plan in plans)


@pytest.mark.parametrize(
    "text", ["[]", "- {name: A b, about: x, platforms: [web]}", "- {name: a, platforms: [tv]}", "3"]
)
def test_scenarios_that_cannot_be_used_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(text)

    with pytest.raises(ConfigError, match=r"own\.yaml"):
        scenarios_of(tmp_path / "own.yaml")


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n')

    with pytest.raises(ConfigError, match="no written screens"):
        written_in(tmp_path / "rows.jsonl")
