"""Settings: what the phone's settings store holds, to be changed by hand.

Everything is written to the store that the `settings` command reads; the application has no data of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.handset.apps.app import App, Asked, Done, Screen, Shown
from pipeline.handset.packages import Package
from pipeline.handset.state import LANGUAGES

_SWITCHES: Mapping[str, tuple[str, str, str]] = {
    "airplane_mode_on": ("global", "1", "0"),
    "bluetooth_on": ("global", "1", "0"),
    "haptic_feedback_enabled": ("system", "1", "0"),
    "location_mode": ("secure", "3", "0"),
    "low_power": ("global", "1", "0"),
    "mobile_data": ("global", "1", "0"),
    "sound_effects_enabled": ("system", "1", "0"),
    "time_12_24": ("system", "24", "12"),
    "ui_night_mode": ("secure", "2", "1"),
    "wifi_on": ("global", "1", "0"),
    "zen_mode": ("global", "1", "0"),
}
"""Namespace, and the values for on and off."""

_CHOICES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "font_scale": ("system", ("0.85", "1.0", "1.15", "1.3")),
    "screen_off_timeout": ("system", ("15000", "30000", "60000", "120000", "300000", "600000")),
    "system_locales": ("system", tuple(LANGUAGES.values())),
}
_LEVELS: Mapping[str, tuple[str, int, int]] = {
    "screen_brightness": ("system", 255, 51),
    "volume_ring": ("system", 7, 1),
}
"""Namespace, highest value and step."""

_FLIGHT = ("wifi_on", "bluetooth_on", "mobile_data")
"""What airplane mode switches off."""


def _root(asked: Asked) -> Shown:
    words = asked.field("q").lower()
    entries = [
        {"path": path, "icon": icon, "label": asked.text(key), "sub": asked.text(f"{key}_sub")}
        for path, icon, key in (
            ("network", "wifi", "network"),
            ("display", "bulb", "display"),
            ("sound", "volume", "sound"),
            ("language", "globe", "language"),
            ("privacy", "lock", "privacy"),
            ("battery", "battery", "battery"),
            ("about", "phone", "about"),
        )
    ]
    found = [one for one in entries if words in f"{one['label']} {one['sub']}".lower()]
    return Shown("root.html", {"entries": found, "q": asked.field("q")})


def _screen(title: str, *names: str) -> Screen:
    """A screen with some of the settings."""

    def screen(asked: Asked) -> Shown:
        entries = [_entry(asked, name) for name in names]
        return Shown("section.html", {"title": asked.text(title), "entries": entries})

    return screen


def _entry(asked: Asked, name: str) -> dict[str, object]:
    """How one setting shows: a switch, a choice, a level or a text."""
    label, told = asked.text(name), {"name": name}
    if name in _SWITCHES:
        space, on, _ = _SWITCHES[name]
        sub = asked.words.get(f"{name}_sub")
        return {
            **told,
            "kind": "switch",
            "label": label,
            "on": asked.settings.get(space, name) == on,
            "sub": asked.text(f"{name}_sub") if sub else "",
        }
    if name in _LEVELS:
        space, most, _ = _LEVELS[name]
        level = round(int(asked.settings.get(space, name) or 0) * 100 / most)
        return {**told, "kind": "level", "label": label, "level": level}
    if name in _CHOICES:
        space, values = _CHOICES[name]
        now = asked.settings.get(space, name)
        choices = [{"value": value, "label": asked.text(f"{name}_{value}"), "on": value == now} for value in values]
        return {**told, "kind": "choice", "label": label, "choices": choices}
    return {**told, "kind": "text", "label": label, "value": asked.settings.get("global", name) or ""}


def _switch(asked: Asked) -> Done:
    name = asked.field("name")
    space, on, off = _SWITCHES[name]
    is_on = asked.settings.get(space, name) == on
    asked.settings.put(space, name, off if is_on else on)
    if name == "airplane_mode_on" and not is_on:
        for other in _FLIGHT:
            asked.settings.put("global", other, "0")
    return Done(changed=[name])


def _choose(asked: Asked) -> Done:
    name, value = asked.field("name"), asked.field("value")
    space, values = _CHOICES[name]
    if value in values:
        asked.settings.put(space, name, value)
    return Done(changed=[name])


def _level(asked: Asked) -> Done:
    name, way = asked.field("name"), asked.number("way")
    space, most, step = _LEVELS[name]
    now = int(asked.settings.get(space, name) or 0)
    # Levels move on the steps, wherever they were before.
    steps = (now + step // 2) // step + (1 if way > 0 else -1)
    asked.settings.put(space, name, str(min(max(steps * step, 0), most)))
    return Done()


def _rename(asked: Asked) -> Done:
    if not asked.field("value"):
        return Done(problem=asked.text("name_missing"))
    asked.settings.put("global", "device_name", asked.field("value"))
    return Done(changed=["device_name"])


def _reset_network(asked: Asked) -> Done:
    for name, value in (("airplane_mode_on", "0"), ("wifi_on", "1"), ("bluetooth_on", "0"), ("mobile_data", "1")):
        asked.settings.put("global", name, value)
    return Done()


def _about(asked: Asked) -> Shown:
    return Shown("about.html", {"entry": _entry(asked, "device_name")})


def _network(asked: Asked) -> Shown:
    names = ("wifi_on", "bluetooth_on", "mobile_data", "airplane_mode_on")
    return Shown("network.html", {"title": asked.text("network"), "entries": [_entry(asked, name) for name in names]})


SETTINGS = App(
    Package("org.pathproof.settings", "builtin", {"en": "Settings", "zh": "设置"}, colour="#607080", icon="gear"),
    tables=(),
    screens={
        "": _root,
        "about": _about,
        "battery": _screen("battery", "low_power"),
        "display": _screen("display", "ui_night_mode", "screen_brightness", "font_scale", "screen_off_timeout"),
        "language": _screen("language", "system_locales", "time_12_24"),
        "network": _network,
        "privacy": _screen("privacy", "location_mode"),
        "sound": _screen("sound", "volume_ring", "zen_mode", "haptic_feedback_enabled", "sound_effects_enabled"),
    },
    acts={"choose": _choose, "level": _level, "rename": _rename, "reset_network": _reset_network, "switch": _switch},
)
