"""The phone's own screens: home, overview, status bar, windows over an application, and an empty browser.

Each is what its template is given; acts are what taps on them do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from importlib import resources
from typing import Any

import yaml
from babel.dates import format_date

from pipeline.handset.apps.app import Shown, Words
from pipeline.handset.packages import Package
from pipeline.handset.phone import Phone

Form = Mapping[str, str]


def clock_text(phone: Phone) -> str:
    """The time as the status bar shows it."""
    if phone.settings.get("system", "time_12_24") == "12":
        return phone.clock.moment.strftime("%I:%M").lstrip("0")
    return phone.clock.moment.strftime("%H:%M")


def _home(phone: Phone, query: Form) -> Shown:
    del query
    locale = "zh_CN" if phone.language == "zh" else "en_US"
    pattern = "M月d日 EEEE" if phone.language == "zh" else "EEEE, MMMM d"
    values = {
        "apps": [_tile(phone, package) for package in phone.packages.launchable()],
        "time": clock_text(phone),
        "date": format_date(phone.clock.moment, pattern, locale=locale),
        "owner": phone.settings.get("global", "device_name") or "",
    }
    return Shown("home.html", values)


def _recents(phone: Phone, query: Form) -> Shown:
    del query
    return Shown("recents.html", {"apps": [_tile(phone, task.package) for task in phone.tasks]})


def _bar(phone: Phone, query: Form) -> Shown:
    del query
    on = {name: phone.settings.is_on("global", f"{name}_on") for name in ("airplane_mode", "wifi", "bluetooth")}
    return Shown("bar.html", {"time": clock_text(phone), "on": on})


def _window(phone: Phone, query: Form) -> Shown:
    del query
    return Shown("window.html", {"window": phone.window})


def _empty(phone: Phone, query: Form) -> Shown:
    package = phone.packages.get(query.get("package", ""))
    return Shown("empty.html", {"name": phone.label(package) if package else ""})


def _tile(phone: Phone, package: Package) -> Mapping[str, Any]:
    return {"name": package.name, "label": phone.label(package), "colour": package.colour, "icon": package.icon}


async def _start(phone: Phone, form: Form) -> None:
    package = phone.packages.get(form.get("package", ""))
    if package is not None:
        await phone.start(package)


async def _dismiss(phone: Phone, form: Form) -> None:
    await phone.stop(form.get("package", ""))


async def _dismiss_all(phone: Phone, form: Form) -> None:
    del form
    for task in list(phone.tasks):
        await phone.stop(task.package.name)
    await phone.home()


async def _answer(phone: Phone, form: Form) -> None:
    await phone.answer(form.get("key", ""), form.get("text", ""))


SCREENS: Mapping[str, Callable[[Phone, Form], Shown]] = {
    "bar": _bar,
    "empty": _empty,
    "home": _home,
    "recents": _recents,
    "window": _window,
}
ACTS: Mapping[str, Callable[[Phone, Form], Awaitable[None]]] = {
    "answer": _answer,
    "dismiss": _dismiss,
    "dismiss_all": _dismiss_all,
    "start": _start,
}


@cache
def system_words() -> Words:
    """Texts of these screens."""
    folder = resources.files("pipeline.handset") / "pages"
    loaded = [
        yaml.safe_load((folder / name / "texts.yaml").read_text(encoding="utf-8")) for name in ("shared", "system")
    ]
    return {key: (texts[0], texts[1]) for part in loaded for key, texts in part.items()}
