"""One session on a private X display: server, bus, accessibility, window manager, and a home folder of its own.

    <scratch>/user      the home folder
    <scratch>/tmp       temporary files of programs
    <scratch>/run       sockets of the session, the cookie
    <scratch>/log       what its programs say

Everything is started in a scratch folder, so that an end of ours, even by SIGKILL, takes all of it along. Programs see
an environment that is made here, nothing of ours: it may hold keys. Each program finds a network of its own, in which
there is only itself, and processes of its own, which end with it, where the system lets us make them. For the rest they
run as the user that we are, on this machine: a session is private, it is no wall. Knows nothing of what is done in it.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from pipeline.apart import before_command, can_part
from pipeline.app_install import SURROUNDINGS, tail
from pipeline.envs.left_sockets import sockets_of
from pipeline.envs.x11_display import Display
from pipeline.errors import EnvError, SetupError, boundary
from pipeline.guardian import MARK, marked, send, wait
from pipeline.reaper import Scratch
from pipeline.threads import to_end

WIDTH, HEIGHT = 1280, 800
LAUNCHER = "/usr/libexec/at-spi-bus-launcher"
"""Of the package at-spi2-core."""

_NUMBERS = range(100, 1000)
"""Of displays; those below are people's own."""
_START_SECONDS = 20.0
_END_SECONDS = 5.0
_POLL_SECONDS = 0.005
_PROBE_SECONDS = 1.0
_AT_WORK = (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
_COOKIE_BYTES = 16
_ANY_FAMILY = 0xFFFF
_GREY = 0x5A6B7B
_PARTS = Path(__file__).parent / "session"
_SETTINGS = {".config/gtk-3.0/settings.ini": "gtk-settings.ini"}


class Session:
    """One session; it is started once and closed once."""

    def __init__(self, locales: Path) -> None:
        """Make its folders; `locales` is where compiled locales lie. Raises SetupError."""
        self.apart = can_part()
        """Whether its programs reach nothing but themselves."""
        self._scratch = Scratch("desktop")
        self._run, self._log = self._scratch.path / "run", self._scratch.path / "log"
        self.home = self._scratch.path / "user"
        for folder in (self.home, self._run, self._log, self._scratch.path / "tmp"):
            folder.mkdir(mode=0o700)
        for target, source in _SETTINGS.items():
            (self.home / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(_PARTS / source, self.home / target)
        self._cookie = secrets.token_bytes(_COOKIE_BYTES)
        (self._run / "cookie").write_bytes(_authority(self._cookie))
        self._server: subprocess.Popen[bytes] | None = None
        self._display: Display | None = None
        self._number = -1
        self.environment = _environment(self.home, self._scratch.path, locales)
        """What programs of the session find; complete once it has been started."""

    @property
    def display(self) -> Display:
        """Our client of its display; raises EnvError when it was not started or has ended."""
        if self._display is None or self._server is None or self._server.poll() is not None:
            raise EnvError("display_gone", "the X server does not run")
        return self._display

    async def start(self) -> None:
        """Start server, buses and window manager; raises SetupError."""
        try:
            self._number = await self._serve()
            self.environment["DISPLAY"] = f":{self._number}"
            bus = self._run / "bus"
            address = f"unix:path={bus}"
            self.environment["DBUS_SESSION_BUS_ADDRESS"] = address
            display = await to_end(self._connect)
            daemon = self.spawn("bus", ["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address={address}"])
            await self._until(bus.exists, daemon, "bus")
            # Programs that find no accessibility bus, or a silent one, wait for it for half a minute.
            self.spawn("accessibility", [LAUNCHER, "--launch-immediately"])
            manager = self.spawn("openbox", ["openbox", "--sm-disable", "--config-file", str(_PARTS / "openbox.xml")])
            await self._until(display.is_managed, manager, "openbox")
        except EnvError as error:
            raise SetupError("session_not_started", error.message) from error

    def spawn(
        self, name: str, argv: Sequence[str], variables: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a program of the session in its home folder; `name` is that of its log. Raises SetupError."""
        return self._scratch.spawn(self.inside(argv, variables), cwd=self.home, log=self._log / f"{name}.log")

    def inside(self, argv: Sequence[str], variables: Mapping[str, str] | None = None) -> list[str]:
        """The command that runs another one with the session's environment and nothing else."""
        pairs = {**self.environment, **(variables or {}), MARK: str(self._scratch.path)}
        return [
            "env",
            "-i",
            *(f"{name}={value}" for name, value in pairs.items()),
            *(before_command() if self.apart else ()),
            *argv,
        ]

    def said(self, name: str) -> str:
        """The end of a program's log."""
        log = self._log / f"{name}.log"
        return tail(log) if log.exists() else ""

    def works(self) -> bool:
        """Whether a program other than the X server computes, waits for a processor or for a disk."""
        server = self._server.pid if self._server is not None else 0
        return any(_status(program) in _AT_WORK for program in marked(self._scratch.path, {server}))

    def close(self) -> None:
        """End everything and remove the folder; again is harmless. Raises EnvError when something stays."""
        if self._display is not None:
            self._display.close()
        server = self._server.pid if self._server is not None else 0
        # Nothing is asked to end in its own time: what it would save is thrown away.
        programs = marked(self._scratch.path, {server})
        sockets = sockets_of(programs)
        send(programs, signal.SIGKILL)
        left = wait(programs, _END_SECONDS)
        if self._server is not None:
            self._scratch.stop(self._server)
        self._scratch.close()
        with boundary(EnvError, "not_torn_down"):
            for path in sockets:
                path.unlink(missing_ok=True)
        if left or self._scratch.path.exists():
            raise EnvError("not_torn_down", f"of {self._scratch.path} {len(left)} programs or some files stay")

    def _connect(self) -> Display:
        """Our client of the display, which gets its colour."""
        self._display = Display(self._number, self._cookie)
        self._display.paint(_GREY)
        return self._display

    async def _serve(self) -> int:
        """Start the X server on a display that nobody has; its number. Raises SetupError.

        The search begins anywhere: a server that ends removes its socket a moment after its lock, and would remove that
        of the next server.
        """
        first = secrets.randbelow(len(_NUMBERS))
        numbers: list[int] = [*_NUMBERS[first:], *_NUMBERS[:first]]
        for number in numbers:
            if not _is_taken(number) and await self._served(number):
                return number
        raise SetupError("session_not_started", f"no display number is free from {_NUMBERS[0]} to {_NUMBERS[-1]}")

    async def _served(self, number: int) -> bool:
        """Start the X server on a display; False when somebody was faster, which its own lock on the number tells."""
        name = f"server-{number}"
        log = self._log / f"{name}.log"
        self._server = self._scratch.spawn(
            [
                *("Xvfb", f":{number}", "-displayfd", "1", "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-noreset"),
                *("-auth", str(self._run / "cookie"), "-nolisten", "tcp", "-nolisten", "local", "-s", "0"),
            ],
            log=log,
        )
        try:
            # It writes the number when it can be asked.
            await self._until(lambda: f"{number}\n".encode() in log.read_bytes().splitlines(True), self._server, name)
        except SetupError:
            if self._server.poll() is None or "already active" not in self.said(name):
                raise
            return False
        return True

    async def _until(self, there: Callable[[], bool], process: subprocess.Popen[bytes], name: str) -> None:
        """Wait until something is there, while the program runs that makes it; raises SetupError."""
        until = time.monotonic() + _START_SECONDS
        while not there():
            if process.poll() is not None or time.monotonic() > until:
                raise SetupError("session_not_started", f"{name} did not start: {self.said(name)}")
            await asyncio.sleep(_POLL_SECONDS)


def _status(program: psutil.Process) -> str:
    try:
        return program.status()
    except psutil.NoSuchProcess:
        return psutil.STATUS_DEAD


def _is_taken(number: int) -> bool:
    """Whether a display number is somebody's: a server's that runs, or a stranger's who only listens there.

    What a killed server has left is nobody's; the next one removes it.
    """
    lock = Path(f"/tmp/.X{number}-lock")
    try:
        if psutil.pid_exists(int(lock.read_text(encoding="ascii"))):
            return True
    except FileNotFoundError:
        """Nobody's by that."""
    except (OSError, ValueError):
        return True
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(_PROBE_SECONDS)
        try:
            probe.connect(f"/tmp/.X11-unix/X{number}")
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except OSError:
            return True
    return True


def _authority(cookie: bytes) -> bytes:
    """An authority file with one cookie, for every display."""
    name = b"MIT-MAGIC-COOKIE-1"
    return b"".join(
        [
            struct.pack(">HH", _ANY_FAMILY, 0),
            struct.pack(">H", 0),
            struct.pack(">H", len(name)) + name,
            struct.pack(">H", len(cookie)) + cookie,
        ]
    )


def _environment(home: Path, scratch: Path, locales: Path) -> dict[str, str]:
    kept = {name: SURROUNDINGS[name] for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "no_proxy", "TZ")}
    return {
        **kept,
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/games",
        "HOME": str(home),
        "USER": "user",
        "LOGNAME": "user",
        "SHELL": "/bin/bash",
        "TMPDIR": str(scratch / "tmp"),
        "XAUTHORITY": str(scratch / "run" / "cookie"),
        "XDG_RUNTIME_DIR": str(scratch / "run"),
        "XDG_SESSION_TYPE": "x11",
        "XCURSOR_THEME": "Adwaita",
        "LOCPATH": str(locales),
        "LANG": "C.UTF-8",
        "GDK_BACKEND": "x11",
        "GTK_IM_MODULE": "gtk-im-context-simple",
        "GTK_MODULES": "gail:atk-bridge",
        "GSETTINGS_BACKEND": "keyfile",
        "GIO_USE_VFS": "local",
        "NO_AT_BRIDGE": "0",
        "SAL_USE_VCLPLUGIN": "gtk3",
        "LIBGL_ALWAYS_SOFTWARE": "1",
    }
