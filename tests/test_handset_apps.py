"""Each application of the handset used by finger and keyboard through adb, and what its data are afterwards."""

from __future__ import annotations

import pytest

from tests.handsets import Held

pytestmark = pytest.mark.slow

APPS = [f"org.pathproof.{name}" for name in ("clock", "contacts", "notes", "shop")]
CLOCK, CONTACTS, NOTES, SHOP = APPS
SETTINGS = "org.pathproof.settings"


@pytest.fixture
def phone(handset: Held) -> Held:
    return handset


@pytest.fixture(autouse=True)
def fresh(phone: Held) -> None:
    phone.fresh(*APPS, SETTINGS)


def test_notes(phone: Held) -> None:
    phone.open(NOTES)
    phone.tap("More options", "New checklist")
    phone.type("Title", "Party")
    phone.tap("Save")
    phone.type("Add item", "Balloons")
    phone.tap("add_item", "Balloons")
    phone.sh("input keyevent BACK")
    phone.tap("Party 1 of 1 done", "Pin")
    phone.find("Unpin")

    assert phone.rows(f"{NOTES}/notes", "title='Party'", "kind:pinned") == ["kind=checklist, pinned=1"]
    assert phone.rows(f"{NOTES}/items", "done=1 AND note_id=9", "text") == ["text=Balloons"]


def test_notes_are_found_and_deleted(phone: Held) -> None:
    phone.open(NOTES)
    phone.type("Search notes", "lemon")
    phone.sh("input keyevent ENTER")
    phone.find("Lentil soup")
    phone.tap("Lentil soup", "More options", "Delete")
    asked = phone.find("Move this note to the bin?")
    phone.tap("sure_yes")
    phone.find("Nothing here yet")

    assert asked.text or asked.description
    assert phone.rows(f"{NOTES}/notes", "deleted=1", "title") == ["title=Lentil soup", "title=Router manual"]


def test_contacts(phone: Held) -> None:
    phone.open(CONTACTS)
    phone.tap("New contact")
    phone.type("Name", "Zoë 张")
    phone.type("Phone", "nonsense")
    phone.tap("Save")
    phone.find("This is not a phone number")
    phone.type("Phone", "555 0199")
    phone.tap("Save")
    phone.type("Search contacts", "张")
    phone.tap("Search", "Zoë 张", "Add to favourites", "Choir")
    phone.until_on("Choir")

    assert phone.rows(f"{CONTACTS}/contacts", "favourite=1", "name:phone")[-1] == "name=Zoë 张, phone=555 0199"
    assert phone.rows(f"{CONTACTS}/members", "group_id=3", "contact_id") == ["contact_id=13"]


def test_clock(phone: Held) -> None:
    phone.open(CLOCK)
    phone.tap("New alarm")
    phone.type("Hour", "5")
    phone.type("Minute", "40")
    phone.type("Label", "Train")
    phone.tap("Tue", "Fri", "Save")
    phone.until_on("06:45 Wake up")
    phone.tap("06:45 Wake up")
    phone.until_on("06:45 Wake up", off=True)

    assert phone.rows(f"{CLOCK}/alarms", "label='Train'", "hour:minute:days:enabled") == [
        "hour=5, minute=40, days=tue,fri, enabled=1"
    ]
    assert phone.rows(f"{CLOCK}/alarms", "label='Wake up'", "enabled") == ["enabled=0"]


def test_settings(phone: Held) -> None:
    phone.open(SETTINGS)
    phone.tap("Display", "Dark theme", "Font size", "Largest")
    assert phone.find("Dark theme").on
    phone.sh("input keyevent BACK")
    phone.tap("About phone", "Device name")
    phone.type("rename_text", "Blue phone")
    phone.tap("Save")
    phone.find("Device name Blue phone")

    held_now = [phone.sh(f"settings get {name}") for name in ("secure ui_night_mode", "system font_scale")]
    assert [*held_now, phone.sh("settings get global device_name")] == ["2", "1.3", "Blue phone"]
    phone.sh("settings put secure ui_night_mode 1; settings put system font_scale 1.0")


def test_the_language_is_changed_by_hand(phone: Held) -> None:
    phone.open(SETTINGS)
    phone.tap("Language and time", "System language", "中文")
    phone.find("系统语言")
    phone.sh("input keyevent HOME")
    home = phone.texts()

    assert {"便签", "通讯录", "时钟", "设置", "商城"} <= set(home)
    assert phone.sh("getprop persist.sys.locale; settings get system system_locales").split() == ["zh-CN", "zh-CN"]


def test_shop_in_chinese(phone: Held) -> None:
    phone.sh("setprop persist.sys.locale zh-CN; pm clear org.pathproof.shop")
    phone.open(SHOP)
    phone.tap("厨房", "粗陶马克杯")
    phone.type("数量", "2")
    phone.tap("加入购物车", "购物车 (3)")
    phone.type("优惠码", "welcome10")
    phone.tap("使用", "结算", "加急")
    phone.sh("input swipe 390 1300 390 500 300")
    phone.tap("货到付款", "提交订单")
    phone.find("订单已提交")

    total = (3490 + 2500) - (3490 + 2500) // 10 + 990
    assert phone.rows(f"{SHOP}/orders", "_id=3", "total:payment:delivery:coupon:recipient") == [
        f"total={total}, payment=cash, delivery=express, coupon=WELCOME10, recipient=江山"
    ]
    assert phone.rows(f"{SHOP}/cart") == []
