"""An emulator of Android's own, started by us: a read-only instance of a virtual device, on a port pair of its own.

Several instances of one virtual device run at a time, as none of them writes to it. Snapshots are loaded through the
console, which listens on loopback and asks for the token in the user's folder.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from pipeline.app_install import tail
from pipeline.envs.device_leases import Lease, Leases
from pipeline.errors import EnvError, SetupError
from pipeline.ports import LOOPBACK, is_taken, listening
from pipeline.reaper import Scratch
from pipeline.threads import to_end

START_SECONDS = 60.0
"""Until it listens; booting takes longer."""
RESTORE_SECONDS = 60.0

_CONSOLE_PORTS = range(5554, 5684, 2)
"""Each with the next one for adb."""
_POLL_SECONDS = 0.1
_START_TRIES = 3
_NOBODY = "1"
"""A port on which no adb server is: emulators tell the user's server of themselves."""
_TOKEN = ".emulator_console_auth_token"


class Emulator:
    """One instance of a virtual device."""

    def __init__(
        self,
        scratch: Scratch,
        avd: str,
        snapshot: str | None = None,
        *,
        leases: Leases | None = None,
        ports: Iterable[int] = _CONSOLE_PORTS,
    ) -> None:
        """`avd` is the virtual device's name; nothing is started yet."""
        self._scratch, self._avd, self._snapshot = scratch, avd, snapshot
        self._leases = leases or Leases()
        self._ports = list(ports)
        self._log = scratch.path / "emulator.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._lease: Lease | None = None
        self._port = 0
        self.serial = ""

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    async def start(self) -> None:
        """Start it on a pair of ports that nobody has, and see that it has them; raises SetupError."""
        program = find_emulator()
        for port, lease in islice(self._reserved(), _START_TRIES):
            self._port, self._lease = port, lease
            command = [str(program), *arguments(self._avd, port, self._snapshot)]
            variables = {"ANDROID_ADB_SERVER_PORT": _NOBODY}
            self._process = await asyncio.to_thread(self._scratch.spawn, command, log=self._log, environment=variables)
            if await self._listens():
                self.serial = f"emulator-{port}"
                return
            await self.close()
        raise SetupError("emulator_not_started", f"'{self._avd}' did not start; end of its log:\n{self._said()}")

    async def restore(self) -> None:
        """Load the snapshot into the running instance; raises EnvError."""
        await self._told(f"avd snapshot load {self._snapshot}")

    async def close(self) -> None:
        """End it, and let others have its ports."""
        if self._process is not None:
            await to_end(partial(self._scratch.stop, self._process))
        self._process = None
        if self._lease is not None:
            self._lease.release()
        self._lease, self.serial = None, ""

    def _reserved(self) -> Iterator[tuple[int, Lease]]:
        """Pairs of ports that nobody has, reserved one after the other: others of ours look at the same moment."""
        for port in self._ports:
            lease = self._leases.claim(f"ports-{port}")
            if lease is None:
                continue
            if is_taken(port) or is_taken(port + 1):
                lease.release()
                continue
            yield port, lease

    async def _listens(self) -> bool:
        """Whether it has come to listen on both of its ports."""
        wanted = {(LOOPBACK, self._port), (LOOPBACK, self._port + 1)}
        for _ in range(round(START_SECONDS / _POLL_SECONDS)):
            if self._process is None or self._process.poll() is not None:
                return False
            if wanted <= set(await asyncio.to_thread(listening, self._process.pid)):
                return True
            await asyncio.sleep(_POLL_SECONDS)
        return False

    async def _told(self, command: str) -> None:
        """Have the console do something; raises EnvError."""
        writer: asyncio.StreamWriter | None = None
        try:
            async with asyncio.timeout(RESTORE_SECONDS):
                reader, writer = await asyncio.open_connection(LOOPBACK, self._port)
                greeting = await _answer(reader)
                if "Authentication required" in greeting:
                    token = await asyncio.to_thread((Path.home() / _TOKEN).read_text)
                    await _say(reader, writer, f"auth {token.strip()}")
                await _say(reader, writer, command)
        except TimeoutError as error:
            raise EnvError("console_timeout", f"the emulator's console took more than {RESTORE_SECONDS:g} s") from error
        except (OSError, EOFError) as error:
            raise EnvError("console", f"the emulator's console cannot be used: {error}") from error
        finally:
            if writer is not None:
                writer.transport.abort()

    def _said(self) -> str:
        return tail(self._log) if self._log.exists() else "no port pair is free"


def arguments(avd: str, port: int, snapshot: str | None) -> list[str]:
    """What an instance is started with: it shows no window, plays nothing, and writes neither device nor snapshot."""
    chosen = ["-snapshot", snapshot] if snapshot else ["-no-snapshot-load"]
    quiet = ["-no-window", "-no-audio", "-no-boot-anim", "-no-snapshot-save"]
    return ["-avd", avd, "-port", str(port), "-read-only", *quiet, "-gpu", "swiftshader_indirect", *chosen]


def find_emulator() -> Path:
    """The emulator program of the Android SDK; raises SetupError naming the fix."""
    sdks = [os.environ.get(name) for name in ("ANDROID_HOME", "ANDROID_SDK_ROOT")]
    places = [Path(sdk) / "emulator" / "emulator" for sdk in sdks if sdk]
    found = shutil.which("emulator")
    places += [Path(found)] if found else []
    for place in places:
        if os.access(place, os.X_OK):
            return place
    raise SetupError("no_emulator", "no `emulator` program; install the Android SDK's and set ANDROID_HOME")


async def _say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: str) -> None:
    writer.write(f"{line}\n".encode())
    await writer.drain()
    await _answer(reader)


async def _answer(reader: asyncio.StreamReader) -> str:
    """What the console says until it is done; raises EnvError when it refuses."""
    lines: list[str] = []
    while True:
        line = (await reader.readline()).decode(errors="replace")
        if not line:
            raise EOFError("it has hung up")
        lines.append(line.strip())
        if lines[-1] == "OK":
            return "\n".join(lines)
        if lines[-1].startswith("KO"):
            raise EnvError("console", f"the emulator's console says: {lines[-1]}")
