"""Applications that do not respond and of which no window says so: the event log of the device tells.

Newer systems may hide that window; then the tree tool finds nothing, or waits in vain. Old entries of the log are none
of the episode's affair.
"""

from __future__ import annotations

import re

from pipeline.envs.adb_device import AdbDevice

_TAG = "am_anr"
_ENTRY = re.compile(rf"\b{_TAG}\b[^\[\n]*\[\d+,\d+,([\w.]+)")


class AnrLog:
    """What the log has said since `begin`."""

    def __init__(self, device: AdbDevice) -> None:
        self._device = device
        self._before = 0
        self.latest = ""
        """The application of which it was said last; empty where it was said of none."""

    async def begin(self) -> None:
        """Forget what is there now; raises EnvError."""
        self._before, self.latest = len(await self._entries()), ""

    async def read(self) -> str:
        """Look again; the latest. Raises EnvError."""
        entries = await self._entries()
        # A log that is shorter than before has begun anew.
        self._before = min(self._before, len(entries))
        if len(entries) > self._before:
            self._before, self.latest = len(entries), entries[-1]
        return self.latest

    async def _entries(self) -> list[str]:
        return _ENTRY.findall(await self._device.ask("logcat", "-d", "-b", "events", "-s", _TAG))
