"""The pages of the handset's applications, asked over HTTP: no browser runs."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from pipeline.envs.browser import Browser
from pipeline.handset.__main__ import packages
from pipeline.handset.apps import APPS
from pipeline.handset.apps.app import App
from pipeline.handset.content import database_of
from pipeline.handset.database import Database
from pipeline.handset.phone import Build, Phone
from pipeline.handset.server import PageServer
from pipeline.handset.state import Clock
from pipeline.reaper import Scratch

NAMES = [app.name for app in APPS]
ASKED = {
    name: f"{name}?id=2"
    for name in ("address", "alarm", "contact", "edit", "group", "note", "order", "product", "timer")
}


@pytest.fixture(scope="module")
def scratch() -> object:
    with Scratch("pages") as made:
        yield made


@asynccontextmanager
async def serving(
    scratch: Scratch, folder: Path, language: str = "en"
) -> AsyncIterator[tuple[Phone, httpx.AsyncClient]]:
    phone = Phone(Build(folder, packages([("wiki", "Wiki")]), Clock(), language), Browser(scratch))
    server = PageServer(phone)
    await server.open()
    headers = {"X-Handset": "1"}
    try:
        async with httpx.AsyncClient(base_url=phone.base, headers=headers, trust_env=False) as client:
            yield phone, client
    finally:
        await server.close()


def app_named(name: str) -> App:
    return next(app for app in APPS if app.name == name)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
async def test_every_screen_shows_and_leads_only_to_what_there_is(
    scratch: Scratch, tmp_path: Path, name: str, language: str
) -> None:
    app = app_named(name)
    async with serving(scratch, tmp_path, language) as (_, client):
        for screen in app.screens:
            for path in {screen, ASKED.get(screen, screen)}:
                answer = await client.get(f"/{app.package.name}/{path}")
                assert answer.status_code == 200, (path, answer.text)
                acts = set(re.findall(r'data-act="(\w+)"', answer.text))
                paths = {found.partition("?")[0].removeprefix("./")
                         for found in re.findall(r'data-(?:go|turn|find)="([^"]*)"', answer.text)}  # fmt: skip
                assert acts <= set(app.acts), path
                assert paths <= set(app.screens), path


@pytest.mark.parametrize("name", NAMES)
def test_every_text_is_there_in_both_languages(name: str) -> None:
    words = app_named(name).words

    assert all(isinstance(text, str) and text for texts in words.values() for text in texts)


@pytest.mark.parametrize("name", NAMES)
def test_first_rows_differ_only_in_words(name: str) -> None:
    app = app_named(name)
    english, chinese = app.seed("en"), app.seed("zh")

    assert {table: len(rows) for table, rows in english.items()} == {
        table: len(rows) for table, rows in chinese.items()
    }
    for table, rows in english.items():
        for one, other in zip(rows, chinese[table], strict=True):
            numbers = [key for key, value in one.items() if not isinstance(value, str)]
            assert one.keys() == other.keys()
            assert {key: one[key] for key in numbers} == {key: other[key] for key in numbers}


async def test_a_page_of_another_server_changes_nothing(scratch: Scratch, tmp_path: Path) -> None:
    async with serving(scratch, tmp_path) as (phone, client):
        del client.headers["X-Handset"]
        refused = await client.post("/org.pathproof.notes/empty")

        assert refused.status_code == 403
        assert database_of(phone, app_named("notes")).row("SELECT 1 FROM notes WHERE deleted = 1")


async def acted(client: httpx.AsyncClient, app: str, act: str, **fields: object) -> dict[str, str]:
    answer = await client.post(f"/org.pathproof.{app}/{act}", data={name: str(value) for name, value in fields.items()})
    told: dict[str, str] = answer.raise_for_status().json()
    return told


async def test_a_cart_comes_to_what_coupon_and_delivery_make_of_it(scratch: Scratch, tmp_path: Path) -> None:
    async with serving(scratch, tmp_path) as (phone, client):
        shop = database_of(phone, app_named("shop"))
        assert (await acted(client, "shop", "coupon", code="summer20"))["problem"]
        assert (await acted(client, "shop", "coupon", code="nonsense"))["problem"] == "There is no such code"
        await acted(client, "shop", "add", id=6, quantity=2)
        await acted(client, "shop", "coupon", code="summer20")
        await acted(client, "shop", "choose", delivery="express")
        await acted(client, "shop", "choose", payment="cash")
        told = await acted(client, "shop", "place", note="ring twice")

        goods = 3490 + 2 * 7900
        order = shop.row("SELECT * FROM orders ORDER BY _id DESC")
        assert order is not None
        assert told["path"] == f"order?id={order['_id']}&new=1"
        assert (order["total"], order["discount"]) == (goods - goods * 20 // 100 + 990, goods * 20 // 100)
        assert (order["payment"], order["delivery"], order["note"]) == ("cash", "express", "ring twice")
        assert shop.rows("SELECT * FROM cart") == []
        assert (await acted(client, "shop", "place"))["problem"] == "Your cart is empty"


async def test_a_delivered_order_cannot_be_cancelled(scratch: Scratch, tmp_path: Path) -> None:
    async with serving(scratch, tmp_path) as (phone, client):
        for number in (1, 2):
            await acted(client, "shop", "cancel", id=number)

        orders = database_of(phone, app_named("shop")).rows("SELECT status FROM orders ORDER BY _id")
        assert [order["status"] for order in orders] == ["delivered", "cancelled"]


async def test_what_is_sold_out_or_too_much_does_not_get_into_the_cart(scratch: Scratch, tmp_path: Path) -> None:
    async with serving(scratch, tmp_path) as (phone, client):
        assert (await acted(client, "shop", "add", id=7))["problem"] == "Sold out"
        await acted(client, "shop", "add", id=3, quantity=8)

        held = database_of(phone, app_named("shop")).row("SELECT quantity FROM cart WHERE product_id = 3")
        assert held == {"quantity": 3}


@pytest.mark.parametrize(
    ("app", "act", "fields", "problem"),
    [
        ("notes", "save", {"title": " "}, "Write a title or a text first"),
        ("notes", "save_folder", {"name": "Work"}, "There is a folder of this name"),
        ("contacts", "save", {"name": ""}, "Enter a name"),
        ("contacts", "save", {"name": "A", "phone": "call me"}, "This is not a phone number"),
        ("clock", "save_alarm", {"hour": 24, "minute": 0}, "Enter an hour from 0 to 23 and a minute from 0 to 59"),
        ("clock", "save_timer", {"minutes": 0, "seconds": 0}, "Enter a duration"),
        ("settings", "rename", {"value": ""}, "Enter a name"),
        ("shop", "save_address", {"name": "A"}, "Fill in every field"),
    ],
)
async def test_what_cannot_be_saved_is_said(
    scratch: Scratch, tmp_path: Path, app: str, act: str, fields: dict[str, object], problem: str
) -> None:
    async with serving(scratch, tmp_path) as (_, client):
        assert (await acted(client, app, act, **fields))["problem"] == problem


async def test_a_deleted_folder_leaves_its_notes_in_the_first(scratch: Scratch, tmp_path: Path) -> None:
    async with serving(scratch, tmp_path) as (phone, client):
        await acted(client, "notes", "delete_folder", id=2)
        await acted(client, "notes", "delete_folder", id=1)

        notes = database_of(phone, app_named("notes"))
        assert notes.row("SELECT folder_id FROM notes WHERE title = 'Weekly meeting'") == {"folder_id": 1}
        assert [row["_id"] for row in notes.rows("SELECT _id FROM folders ORDER BY _id")] == [1, 3]


async def test_an_alarm_keeps_its_days_in_order(scratch: Scratch, tmp_path: Path) -> None:
    async with serving(scratch, tmp_path) as (phone, client):
        body = {"hour": "5", "minute": "07", "label": "Run", "days": ["sun", "mon"], "vibrate": "1"}
        await client.post("/org.pathproof.clock/save_alarm", data=body)

        alarm = database_of(phone, app_named("clock")).row("SELECT * FROM alarms ORDER BY _id DESC")
        assert alarm == {
            "_id": 5,
            "hour": 5,
            "minute": 7,
            "label": "Run",
            "days": "mon,sun",
            "enabled": 1,
            "vibrate": 1,
        }


async def test_settings_are_written_to_the_phones_store(scratch: Scratch, tmp_path: Path) -> None:
    async with serving(scratch, tmp_path) as (phone, client):
        await acted(client, "settings", "switch", name="airplane_mode_on")
        await acted(client, "settings", "level", name="screen_brightness", way=-1)
        await acted(client, "settings", "choose", name="screen_off_timeout", value="300000")

        assert [phone.settings.get("global", name) for name in ("airplane_mode_on", "wifi_on", "mobile_data")] == [
            "1",
            "0",
            "0",
        ]
        assert phone.settings.get("system", "screen_brightness") == "102"
        assert phone.settings.get("system", "screen_off_timeout") == "300000"


async def test_a_city_has_its_own_time_and_day(scratch: Scratch, tmp_path: Path) -> None:
    async with serving(scratch, tmp_path) as (_, client):
        await acted(client, "clock", "add_city", city="auckland")
        world = (await client.get("/org.pathproof.clock/world")).text

        assert re.findall(r'class="big">([^<]+)<', world) == ["10:30", "17:30", "05:30", "21:30"]


@pytest.mark.parametrize("name", NAMES)
def test_the_documentation_names_every_table_and_column(tmp_path: Path, name: str) -> None:
    app = app_named(name)
    data = Database(tmp_path / "x.db", app.schema, {})
    text = (Path(__file__).parents[1] / "docs" / "handset.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith(f"| `{app.package.name}`"))

    for table in app.tables:
        columns = " ".join(column["name"] for column in data.rows(f"SELECT name FROM pragma_table_info('{table}')"))
        assert f"`{table}` (`{columns}`" in row
