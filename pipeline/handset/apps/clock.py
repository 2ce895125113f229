"""Clock: alarms, the time in other cities, and timers that are kept as presets.

The phone's clock stands still, so no alarm ever rings and a timer that was started does not run down.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from pipeline.handset.apps.acts import flipping, keep, removing
from pipeline.handset.apps.app import App, Asked, Done, Shown
from pipeline.handset.database import Row
from pipeline.handset.packages import Package

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_CITIES: Mapping[str, tuple[str, str, int]] = {
    "auckland": ("Auckland", "奥克兰", 720),
    "beijing": ("Beijing", "北京", 480),
    "berlin": ("Berlin", "柏林", 120),
    "cairo": ("Cairo", "开罗", 180),
    "delhi": ("Delhi", "德里", 330),
    "dubai": ("Dubai", "迪拜", 240),
    "lima": ("Lima", "利马", -300),
    "lisbon": ("Lisbon", "里斯本", 60),
    "london": ("London", "伦敦", 60),
    "nairobi": ("Nairobi", "内罗毕", 180),
    "new_york": ("New York", "纽约", -240),
    "oslo": ("Oslo", "奥斯陆", 120),
    "paris": ("Paris", "巴黎", 120),
    "sao_paulo": ("São Paulo", "圣保罗", -180),
    "seoul": ("Seoul", "首尔", 540),
    "sydney": ("Sydney", "悉尼", 600),
    "tokyo": ("Tokyo", "东京", 540),
    "vancouver": ("Vancouver", "温哥华", -420),
}
"""English and Chinese name, and minutes ahead of UTC in summer."""


def _alarms(asked: Asked) -> Shown:
    alarms = [_with_days(asked, row) for row in asked.data.rows("SELECT * FROM alarms ORDER BY hour, minute, _id")]
    return Shown("alarms.html", {"alarms": alarms})


def _alarm(asked: Asked) -> Shown:
    first: Row = {"_id": 0, "hour": 7, "minute": 0, "label": "", "days": "", "enabled": 1, "vibrate": 1}
    alarm = asked.data.row("SELECT * FROM alarms WHERE _id = ?", asked.id) or first
    days = [{"key": day, "name": asked.text(day), "on": day in alarm["days"].split(",")} for day in DAYS]
    return Shown("alarm.html", {"alarm": alarm, "days": days})


def _world(asked: Asked) -> Shown:
    rows = asked.data.rows("SELECT * FROM cities ORDER BY home DESC, _id")
    return Shown("world.html", {"cities": [{**row, **_city(asked, row["city"])} for row in rows]})


def _cities(asked: Asked) -> Shown:
    words = asked.field("q")
    shown = {row["city"] for row in asked.data.rows("SELECT city FROM cities")}
    found = [{"city": key, **_city(asked, key)} for key, names in _CITIES.items() if _fits(words, names)]
    return Shown("cities.html", {"cities": [one for one in found if one["city"] not in shown], "q": words})


def _timers(asked: Asked) -> Shown:
    return Shown("timers.html", {"timers": asked.data.rows("SELECT * FROM timers ORDER BY _id")})


def _timer(asked: Asked) -> Shown:
    timer = asked.data.row("SELECT * FROM timers WHERE _id = ?", asked.id)
    return Shown("timer.html", {"timer": timer or {"_id": 0, "name": "", "seconds": 300}})


def _save_alarm(asked: Asked) -> Done:
    hour, minute = asked.number("hour", -1), asked.number("minute", -1)
    if not (0 <= hour < 24 and 0 <= minute < 60):
        return Done(problem=asked.text("time_wrong"))
    fields: dict[str, Any] = {
        "hour": hour,
        "minute": minute,
        "label": asked.field("label"),
        "days": ",".join(day for day in DAYS if day in asked.chosen.get("days", [])),
        "vibrate": int("vibrate" in asked.given),
        "enabled": 1,
    }
    keep(asked, "alarms", fields)
    return Done("back")


def _all_off(asked: Asked) -> Done:
    asked.data.run("UPDATE alarms SET enabled = 0")
    return Done()


def _add_city(asked: Asked) -> Done:
    city = asked.field("city")
    if city in _CITIES:
        asked.data.run("INSERT OR IGNORE INTO cities (city) VALUES (?)", city)
    return Done("back")


def _home_city(asked: Asked) -> Done:
    asked.data.run("UPDATE cities SET home = (_id = ?)", asked.id)
    return Done()


def _save_timer(asked: Asked) -> Done:
    seconds = asked.number("minutes") * 60 + asked.number("seconds")
    if seconds <= 0:
        return Done(problem=asked.text("duration_wrong"))
    fields: dict[str, Any] = {"name": asked.field("name"), "seconds": seconds}
    keep(asked, "timers", fields)
    return Done("back")


def _run_timer(asked: Asked) -> Done:
    state = asked.field("state")
    if state in ("stopped", "running", "paused"):
        asked.data.update("timers", asked.id, state=state)
    return Done()


def _with_days(asked: Asked, alarm: Row) -> Row:
    days = [day for day in alarm["days"].split(",") if day]
    if len(days) == len(DAYS):
        told = asked.text("every_day")
    else:
        told = asked.text("comma").join(asked.text(day) for day in days) or asked.text("once")
    return {**alarm, "told": told}


def _city(asked: Asked, key: str) -> Row:
    english, chinese, minutes = _CITIES[key]
    moment = asked.clock.moment + timedelta(minutes=minutes)
    apart = moment.date() - asked.clock.moment.date()
    day = asked.text({-1: "yesterday", 0: "today", 1: "tomorrow"}[apart.days])
    return {"name": chinese if asked.language == "zh" else english, "time": moment.strftime("%H:%M"), "day": day}


def _fits(words: str, names: tuple[str, str, int]) -> bool:
    return words.lower() in names[0].lower() or words in names[1]


CLOCK = App(
    Package("org.pathproof.clock", "builtin", {"en": "Clock", "zh": "时钟"}, colour="#5b4bc4", icon="clock"),
    tables=("alarms", "cities", "timers"),
    screens={
        "": _alarms,
        "alarm": _alarm,
        "cities": _cities,
        "timer": _timer,
        "timers": _timers,
        "world": _world,
    },
    acts={
        "add_city": _add_city,
        "all_off": _all_off,
        "delete_alarm": removing("alarms"),
        "delete_timer": removing("timers"),
        "drop_city": removing("cities", "stay"),
        "home_city": _home_city,
        "run_timer": _run_timer,
        "save_alarm": _save_alarm,
        "save_timer": _save_timer,
        "toggle": flipping("alarms", "enabled"),
    },
)
