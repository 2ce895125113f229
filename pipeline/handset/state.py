"""What the phone knows of itself: its clock, its boots, its properties and its settings.

Nothing here has an effect by itself: who changes a setting tells the phone.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from pipeline.handset.database import Database

NAMESPACES = ("system", "secure", "global")
LOCALE = "persist.sys.locale"
LANGUAGES = {"en": "en-US", "zh": "zh-CN"}
"""The languages that the applications speak, and the locale that stands for each."""

LATIN_IME = "com.android.inputmethod.latin/.LatinIME"
FAULT = "pathproof_fault"
"""The global setting that faults are ordered with."""

_MOMENT = datetime(2026, 6, 15, 9, 30, tzinfo=UTC)
_SCHEMA = "".join(
    f'CREATE TABLE "{space}" (_id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, value TEXT);' for space in NAMESPACES
)
_DEFAULTS: Mapping[str, Mapping[str, str]] = {
    "system": {
        "accelerometer_rotation": "0",
        "font_scale": "1.0",
        "haptic_feedback_enabled": "1",
        "screen_brightness": "128",
        "screen_off_timeout": "60000",
        "sound_effects_enabled": "1",
        "time_12_24": "24",
        "user_rotation": "0",
        "volume_ring": "5",
    },
    "secure": {
        "default_input_method": LATIN_IME,
        "enabled_input_methods": LATIN_IME,
        "location_mode": "3",
        "ui_night_mode": "1",
    },
    "global": {
        "airplane_mode_on": "0",
        "bluetooth_on": "0",
        "device_name": "Handset",
        "low_power": "0",
        "mobile_data": "1",
        "wifi_on": "1",
        "zen_mode": "0",
    },
}


class Clock:
    """The phone's clock: it stands still, so that what the phone shows and writes down is the same every time."""

    def __init__(self, moment: datetime = _MOMENT) -> None:
        """The moment at which it stands, UTC."""
        self.moment = moment

    @property
    def seconds(self) -> int:
        """Seconds since 1970."""
        return int(self.moment.timestamp())

    @property
    def text(self) -> str:
        """As applications write it down."""
        return self.moment.strftime("%Y-%m-%d %H:%M")


class Boot:
    """One boot of the phone after another; unlike the clock its age is real."""

    def __init__(self) -> None:
        """The first boot."""
        self.renew()

    def renew(self) -> None:
        """Boot again."""
        self.boot_id = str(uuid.uuid4())
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the boot."""
        return time.monotonic() - self._began


class Properties:
    """What `getprop` answers; those that begin with `ro.` stay as they are."""

    def __init__(self, values: Mapping[str, str]) -> None:
        """The first values."""
        self._values = dict(values)

    def get(self, name: str) -> str:
        """A property; empty where there is none."""
        return self._values.get(name, "")

    def put(self, name: str, value: str) -> bool:
        """Set a property; whether it may be set."""
        if name.startswith("ro.") and name in self._values:
            return False
        self._values[name] = value
        return True

    def all(self) -> list[tuple[str, str]]:
        """Every property by name."""
        return sorted(self._values.items())

    @property
    def language(self) -> str:
        """The language the phone speaks: `en` or `zh`."""
        return "zh" if self.get(LOCALE).startswith("zh") else "en"


class Settings:
    """What `settings` reads and writes: three tables of one database."""

    def __init__(self, path: Path, first: Mapping[str, str]) -> None:
        """The file, and system settings that differ from phone to phone."""
        seed = {
            space: [
                {"name": name, "value": value}
                for name, value in sorted({**_DEFAULTS[space], **(first if space == "system" else {})}.items())
            ]
            for space in NAMESPACES
        }
        self.database = Database(path, _SCHEMA, seed)

    def get(self, space: str, name: str) -> str | None:
        """A setting; None where there is none."""
        row = self.database.row(f'SELECT value FROM "{space}" WHERE name = ?', name)
        return None if row is None else row["value"]

    def is_on(self, space: str, name: str) -> bool:
        """Whether a switch is on."""
        return self.get(space, name) not in (None, "", "0")

    def put(self, space: str, name: str, value: str) -> None:
        """Set it."""
        self.database.run(
            f'INSERT INTO "{space}" (name, value) VALUES (?, ?)'
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            name,
            value,
        )

    def delete(self, space: str, name: str) -> bool:
        """Remove it; whether it was there."""
        there = self.get(space, name) is not None
        self.database.run(f'DELETE FROM "{space}" WHERE name = ?', name)
        return there

    def all(self, space: str) -> list[tuple[str, str]]:
        """Every setting of a namespace by name."""
        rows = self.database.rows(f'SELECT name, value FROM "{space}" ORDER BY name')
        return [(row["name"], row["value"]) for row in rows]


def first_properties(locale: str, density: int) -> Mapping[str, str]:
    """What a phone says of itself before anybody sets anything."""
    return {
        "dev.bootcomplete": "1",
        LOCALE: locale,
        "ro.build.fingerprint": "pathproof/handset/handset:emulated/1/1:user/release-keys",
        "ro.build.version.release": "14",
        "ro.build.version.sdk": "34",
        "ro.product.brand": "pathproof",
        "ro.product.cpu.abi": "x86_64",
        "ro.product.device": "handset",
        "ro.product.locale": "en-US",
        "ro.product.manufacturer": "pathproof",
        "ro.product.model": "handset: emulated, not Android",
        "ro.product.name": "handset",
        "ro.serialno": "handset",
        "ro.sf.lcd_density": str(density),
        "sys.boot_completed": "",
    }
