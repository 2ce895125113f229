"""Settings of a device as they were before our episodes: kept on the device itself until they have been put back.

Settings are the whole device's, so what one application's episode changes another one's would find. They are kept in a
file of the device, so that whoever uses it after a run that was killed puts back what was before that run, and does not
take its leftovers for the first state. Knows nothing of what settings mean.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from pydantic import TypeAdapter, ValidationError

from pipeline.entry_state import SettingState
from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android_reinstall import installed_files
from pipeline.errors import EnvError

PLACE = "/data/local/tmp/.pathproof-settings"
_UNSET = "null"
"""What `settings get` prints for one that is not set."""

Settings = Mapping[str, Sequence[SettingState]]
"""Settings by the package that has them as state."""

_KEPT = TypeAdapter(dict[str, str | None])


class KeptSettings:
    """The settings of one device that applications with an entry have as state."""

    def __init__(self, device: AdbDevice, states: Settings) -> None:
        """`states` are those of each package; those of packages that are not on the device are left alone."""
        self._device = device
        self._states = states
        self._places: list[tuple[str, str]] | None = None

    async def keep(self) -> None:
        """Put back what an earlier run has left changed, and remember what is there; raises EnvError."""
        if self._places is None:
            found = [place for package in self._states for place in await self._places_of(package)]
            self._places = list(dict.fromkeys(found))
        kept = await self._put_back()
        new = [place for place in self._places if "/".join(place) not in kept]
        if new:
            kept |= zip(map("/".join, new), await self._values(new), strict=True)
            await self._device.push(json.dumps(kept).encode(), PLACE)

    async def leave(self) -> None:
        """Put back what is kept, and keep it no longer; raises EnvError."""
        if await self._put_back():
            await self._device.done("rm", "-f", PLACE)

    async def _places_of(self, package: str) -> list[tuple[str, str]]:
        if not await installed_files(self._device, package):
            return []
        return [(state.namespace, name) for state in self._states[package] for name in state.names]

    async def _put_back(self) -> dict[str, str | None]:
        """Make every kept setting what it was; those that are kept. Raises EnvError when one stays as it is."""
        kept = await self._kept() if self._places else {}
        changed = await self._changed(kept)
        for (namespace, name), was in changed.items():
            words = ("delete", namespace, name) if was is None else ("put", namespace, name, was)
            await self._device.done("settings", *words)
        if changed and (left := await self._changed(kept)):
            raise EnvError("reset_failed", f"settings that cannot be put back: {', '.join(map('/'.join, left))}")
        return kept

    async def _changed(self, kept: Mapping[str, str | None]) -> dict[tuple[str, str], str | None]:
        """Those that have another value now, with the one that is kept."""
        places = [(namespace, name) for namespace, _, name in (key.partition("/") for key in kept)]
        now = await self._values(places) if places else []
        return {place: was for place, was, found in zip(places, kept.values(), now, strict=True) if found != was}

    async def _kept(self) -> dict[str, str | None]:
        """What is kept of the settings asked for now; a file that cannot be read keeps nothing."""
        ran = await self._device.run("cat", PLACE)
        known = set(map("/".join, self._places or []))
        try:
            kept = _KEPT.validate_json(ran.out if ran.code == 0 else b"{}")
        except ValidationError:
            return {}
        return {key: value for key, value in kept.items() if key in known}

    async def _values(self, places: Sequence[tuple[str, str]]) -> list[str | None]:
        """The present values, all read in one go."""
        mark = f"<{uuid.uuid4().hex}>"
        commands = [words for place in places for words in (["echo", mark], ["settings", "get", *place])]
        ran = await self._device.run_all(*commands, ["echo", mark])
        ends = list(_found(ran.text, f"{mark}\n"))
        if ran.code != 0 or ran.err or len(ends) != len(places) + 1:
            raise EnvError("settings_unreadable", f"its settings cannot be read: {ran.complaint}")
        values = [ran.text[begin + len(mark) + 1 : end].removesuffix("\n") for begin, end in pairwise(ends)]
        return [None if value == _UNSET else value for value in values]


def _found(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part))
