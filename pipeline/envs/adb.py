"""A private adb server: started by us on a port of its own, asked with deadlines, ended with our scratch folder.

It is one process of ours among others, so nobody else's server is ever touched, and none is told to end itself. Which
devices there are and what is asked of one of them is in `adb_device`; of Android this module knows nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import NamedTuple

import adbutils

from pipeline.app_install import tail
from pipeline.errors import EnvError, SetupError
from pipeline.ports import LOOPBACK, free_port, listening
from pipeline.reaper import Scratch
from pipeline.threads import to_end

CALL_SECONDS = 10.0
"""What a short request may take."""
CONNECT_SECONDS = 15.0
"""The server itself gives a silent device ten seconds."""

EVERY_USB = "*"
"""Instead of one serial: every device on the USB bus."""

_START_SECONDS = 10.0
_POLL_SECONDS = 0.01
_START_TRIES = 3
_LENGTH_DIGITS = 4
_OFFLINE = ("offline", "not found", "closed", "authorizing", "connecting")
"""Words by which the server says that a device cannot be spoken to at the moment."""


class Listed(NamedTuple):
    """A device as the server lists it: `device`, `offline`, `unauthorized`, ..."""

    serial: str
    state: str


class Channel:
    """One connection to the server: it carries one request, and what the device says to it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def request(self, text: str) -> None:
        """Ask for a service; raises EnvError with the server's reason."""
        data = text.encode()
        if len(data) > 0xFFFF:
            raise EnvError("request_too_long", f"an adb request of {len(data)} bytes")
        self._writer.write(b"%04x" % len(data) + data)
        await self.status()

    async def status(self) -> None:
        """Read OKAY; raises EnvError with the reason for anything else."""
        said = await self.exactly(4)
        if said == b"FAIL":
            raise _refusal((await self.text()).strip())
        if said != b"OKAY":
            raise EnvError("adb_protocol", f"the adb server answers {said!r}")

    async def text(self) -> str:
        """A text with its length in front."""
        length = int(await self.exactly(_LENGTH_DIGITS), 16)
        return (await self.exactly(length)).decode(errors="replace")

    async def exactly(self, count: int) -> bytes:
        """So many bytes; raises EnvError when the stream ends before."""
        try:
            return await self._reader.readexactly(count)
        except asyncio.IncompleteReadError as error:
            raise EnvError("device_offline", "the connection to the device was cut") from error

    async def rest(self) -> bytes:
        """Everything until the device closes the stream."""
        return await self._reader.read()

    async def write(self, data: bytes) -> None:
        """Send to the device."""
        self._writer.write(data)
        await self._writer.drain()


class AdbServer:
    """One server for one worker. `start` it first; it starts itself again when it was lost."""

    def __init__(self, scratch: Scratch, *, usb: str | None = None) -> None:
        """`usb` is the serial of the one device that it may take from the USB bus, or `EVERY_USB`; otherwise none."""
        self._scratch = scratch
        self._usb = usb
        self._process: subprocess.Popen[bytes] | None = None
        self._log = scratch.path / "adb.log"
        self._starting = asyncio.Lock()
        self.port = 0

    async def start(self) -> None:
        """Bring it up, unless it is; raises SetupError."""
        async with self._starting:
            if self._process is not None and self._process.poll() is None:
                return
            for _ in range(_START_TRIES):
                if await self._came_up():
                    await self._check_version()
                    return
            raise SetupError("adb_not_started", f"the adb server did not start; end of its log:\n{tail(self._log)}")

    async def close(self) -> None:
        """End it: the process that we started, and no other."""
        if self._process is not None:
            await to_end(partial(self._scratch.stop, self._process))
        self._process = None

    async def listed(self) -> list[Listed]:
        """Every device that it knows; raises EnvError."""
        lines = (await self.ask("host:devices")).splitlines()
        return [Listed(serial, state) for serial, _, state in (line.partition("\t") for line in lines)]

    async def connect(self, address: str) -> None:
        """Connect to a device that listens at `host:port`; raises EnvError."""
        said = await self.ask(f"host:connect:{address}", CONNECT_SECONDS)
        if not said.startswith(("connected to", "already connected to")):
            raise EnvError("device_offline", said)

    async def find_emulator(self, port: int) -> None:
        """Look for an emulator whose adb port this is, as the emulator itself would ask; raises EnvError."""
        async with self.channel(CALL_SECONDS) as channel:
            # The server does not answer this request, and closes.
            with contextlib.suppress(EnvError):
                await channel.request(f"host:emulator:{port}")

    async def disconnect(self, address: str) -> None:
        """Forget the device at an address; one that is not known is none."""
        with contextlib.suppress(EnvError):
            await self.ask(f"host:disconnect:{address}")

    async def ask(self, request: str, seconds: float = CALL_SECONDS) -> str:
        """What the server itself answers; raises EnvError."""
        async with self.channel(seconds) as channel:
            await channel.request(request)
            return await channel.text()

    @asynccontextmanager
    async def channel(self, seconds: float) -> AsyncIterator[Channel]:
        """A connection that is cut after so many seconds; raises EnvError `adb_timeout`."""
        writer: asyncio.StreamWriter | None = None
        try:
            async with asyncio.timeout(seconds):
                reader, writer = await self._opened()
                yield Channel(reader, writer)
        except TimeoutError as error:
            raise EnvError("adb_timeout", f"no answer through adb in {seconds:g} s") from error
        except (ConnectionError, ValueError) as error:
            raise EnvError("device_offline", f"the connection through adb broke: {error}") from error
        finally:
            if writer is not None:
                writer.transport.abort()

    async def _opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            return await asyncio.open_connection(LOOPBACK, self.port)
        except OSError:
            try:
                await self.start()
            except SetupError as error:
                raise EnvError("adb_server_gone", error.message) from error
            return await asyncio.open_connection(LOOPBACK, self.port)

    async def _came_up(self) -> bool:
        """Start the process and wait until it listens; false when somebody else took the port."""
        self.port = free_port()
        only = ("--one-device", self._usb) if self._usb not in (None, EVERY_USB) else ()
        command = [adbutils.adb_path(), "-P", str(self.port), *only, "nodaemon", "server"]
        self._process = await asyncio.to_thread(
            self._scratch.spawn, command, log=self._log, environment=self._variables()
        )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_START_SECONDS):
                while self._process.poll() is None:
                    if (LOOPBACK, self.port) in listening(self._process.pid):
                        return True
                    await asyncio.sleep(_POLL_SECONDS)
        await asyncio.to_thread(self._scratch.stop, self._process)
        return False

    def _variables(self) -> dict[str, str]:
        """It looks for no devices but ours, on no network, and does not end because somebody says so.

        Phones on the bus trust the key in the user's own folder; others get a key of the scratch folder.
        """
        home = {} if self._usb else {"HOME": str(self._scratch.path)}
        return {
            "ADB_EMU": "0",
            "ADB_MDNS": "0",
            "ADB_REJECT_KILL_SERVER": "1",
            "ADB_USB": "1" if self._usb else "0",
            **home,
        }

    async def _check_version(self) -> None:
        """The server answers as the binary says of itself; raises SetupError."""
        try:
            found = int(await self.ask("host:version"), 16)
        except (EnvError, ValueError) as error:
            raise SetupError("adb_version", f"what listens on port {self.port} is no adb server: {error}") from error
        wanted = await asyncio.to_thread(_client_version)
        if found != wanted:
            raise SetupError("adb_version", f"the adb server speaks version {found}, {adbutils.adb_path()} {wanted}")


def _client_version() -> int:
    """The last part of `1.0.41`: the version of the protocol between client and server."""
    try:
        said = subprocess.run(
            [adbutils.adb_path(), "version"], capture_output=True, check=True, text=True, timeout=CALL_SECONDS
        ).stdout
        return int(said.splitlines()[0].rpartition(".")[2])
    except (OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
        raise SetupError("adb_version", f"{adbutils.adb_path()} does not run: {error}") from error


def _refusal(reason: str) -> EnvError:
    offline = any(word in reason for word in _OFFLINE)
    return EnvError("device_offline" if offline else "adb_refused", f"adb: {reason}")
