"""Starts an emulated phone as a program of its own, in a worker's scratch folder, and says where adb finds it.

The phone is a handset: emulated, not Android. What it can do is its own affair (docs/handset.md); here it is a process
with an address.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from pipeline.app_install import tail
from pipeline.errors import SetupError
from pipeline.reaper import Scratch
from pipeline.threads import to_end

START_SECONDS = 60.0
"""What a handset has to boot."""

_ROOT = Path(__file__).resolve().parents[2]
_POLL_SECONDS = 0.05
_ADDRESS = re.compile(r"^127\.0\.0\.1:[0-9]+$", re.MULTILINE)


class HandsetProcess:
    """One handset; its files are thrown away with it."""

    def __init__(
        self, scratch: Scratch, *, name: str = "handset", language: str = "en", webs: Mapping[str, str] | None = None
    ) -> None:
        """`webs` are wrapped web applications, their titles by name; `name` is the one of its log in the folder."""
        self._scratch = scratch
        self._log: Path = scratch.path / f"{name}.log"
        self._words = ["--language", language]
        for app, title in (webs or {}).items():
            self._words += ["--web", f"{app}={title}"]
        self._process: subprocess.Popen[bytes] | None = None
        self.serial = ""
        """What adb calls it; empty before `start`."""

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process is not None and self._process.poll() is None

    async def start(self, *, fault: str = "") -> None:
        """Boot it, in place of one that runs; raises SetupError. `fault` is what it is to suffer from."""
        await self.close()
        self._log.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pipeline.handset", *self._words, "--fault", fault]
        # Its own scratch folder lies beside ours, not in it: the browser's socket has room for a short path only.
        beside = {"TMPDIR": tempfile.gettempdir()}
        self._process = self._scratch.spawn(command, cwd=_ROOT, log=self._log, environment=beside)
        until = time.monotonic() + START_SECONDS
        while self.alive and time.monotonic() < until:
            found = _ADDRESS.search(self._log.read_text(errors="replace"))
            if found:
                self.serial = found[0]
                return
            await asyncio.sleep(_POLL_SECONDS)
        reason = "did not boot in time" if self.alive else "ended"
        await self.close()
        raise SetupError("handset_not_started", f"the handset {reason}; end of its log:\n{tail(self._log)}")

    async def close(self) -> None:
        """End it with everything it started; again is harmless."""
        self.serial = ""
        if self._process is not None:
            await to_end(partial(self._scratch.stop, self._process))
        self._process = None
