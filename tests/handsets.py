"""A handset for tests, asked through the real adb server: one process of each for a test file."""

from __future__ import annotations

import asyncio
import base64
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from xml.etree import ElementTree

import adbutils
import pytest

from pipeline.envs.adb import AdbServer
from pipeline.envs.handset import HandsetProcess
from pipeline.reaper import Scratch

ADB_IME = "com.android.adbkeyboard/.AdbIME"

_SECONDS = 30
_SIDES = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")


class Seen(NamedTuple):
    """A node of the UI tree."""

    text: str
    description: str
    kind: str
    """The last part of its class."""
    attributes: dict[str, str]

    @property
    def middle(self) -> tuple[int, int]:
        sides = _SIDES.fullmatch(self.attributes["bounds"])
        assert sides is not None
        left, top, right, bottom = map(int, sides.groups())
        return (left + right) // 2, (top + bottom) // 2

    def is_called(self, name: str) -> bool:
        return name in (self.text, self.description, self.attributes["resource-id"].rpartition("/")[2])

    @property
    def on(self) -> bool:
        return self.attributes["checked"] == "true"


class Held:
    """A handset in the hand of a test."""

    def __init__(self, port: int, serial: str) -> None:
        self._words = [str(adbutils.adb_path()), "-P", str(port)]
        self.serial = serial

    def host(self, *words: str) -> str:
        """What the server says."""
        return subprocess.run([*self._words, *words], capture_output=True, timeout=_SECONDS, text=True).stdout

    def adb(self, *words: str, seconds: float = _SECONDS) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([*self._words, "-s", self.serial, *words], capture_output=True, timeout=seconds)

    def ran(self, line: str) -> tuple[int, str, str]:
        """Exit code and both outputs of a command line."""
        done = self.adb("shell", line)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def sh(self, line: str) -> str:
        """What a command line that must succeed says."""
        code, out, err = self.ran(line)
        assert code == 0, (line, code, out, err)
        return out.strip()

    def open(self, package: str) -> None:
        self.sh(f"am start -W -n {package}/.MainActivity")

    def nodes(self) -> list[Seen]:
        said = self.adb("exec-out", "uiautomator dump /dev/tty").stdout.decode()
        document = said[: said.rindex("</hierarchy>") + len("</hierarchy>")]
        found = [node.attrib for node in ElementTree.fromstring(document).iter("node")]
        return [Seen(n["text"], n["content-desc"], n["class"].rpartition(".")[2], n) for n in found]

    def texts(self) -> list[str]:
        return [node.text or node.description for node in self.nodes() if node.text or node.description]

    def find(self, name: str) -> Seen:
        """The node that is called so, or begins so, or has this id; waited for."""
        until = time.monotonic() + 5
        while True:
            nodes = self.nodes()
            whole = [node for node in nodes if node.is_called(name)]
            found = whole or [node for node in nodes if (node.text or node.description).startswith(name)]
            if found:
                return found[0]
            assert time.monotonic() < until, (name, self.texts())

    def tap(self, *names: str) -> None:
        for name in names:
            x, y = self.find(name).middle
            self.sh(f"input tap {x} {y}")

    def until_on(self, name: str, *, off: bool = False) -> None:
        """Wait until something is ticked, or is not."""
        until = time.monotonic() + 5
        while self.find(name).on == off:
            assert time.monotonic() < until, name

    def type(self, field: str, text: str) -> None:
        """Put a text in place of what a field holds."""
        self.tap(field)
        message = base64.b64encode(text.encode()).decode()
        self.sh(f"am broadcast -a ADB_CLEAR_TEXT; am broadcast -a ADB_INPUT_B64 --es msg {message}")

    def rows(self, uri: str, where: str = "1", columns: str = "_id") -> list[str]:
        said = self.sh(f'content query --uri content://{uri} --projection {columns} --where "{where}"')
        return [] if said == "No result found." else [row.split(" ", 2)[2] for row in said.splitlines()]

    def fresh(self, *packages: str) -> None:
        """Packages as they are at first, in English, the home screen upright, and the ADB keyboard."""
        if self.sh("getprop persist.sys.locale") != "en-US":
            self.sh("setprop persist.sys.locale en-US")
        clears = [f"pm clear {package}" for package in packages]
        upright = "settings put system user_rotation 0"
        self.sh("; ".join([*clears, upright, "input keyevent HOME", f"ime enable {ADB_IME}", f"ime set {ADB_IME}"]))

    def until(self, line: str, expected: str) -> None:
        """Ask again until the answer is as expected."""
        until = time.monotonic() + 15
        while self.ran(line)[1].strip() != expected:
            assert time.monotonic() < until, (line, expected, self.ran(line))
            time.sleep(0.05)


@contextmanager
def held(language: str = "en", webs: dict[str, str] | None = None) -> Iterator[Held]:
    """A handset process and a private adb server that is connected to it."""
    with Scratch("handset-test") as scratch:
        server = AdbServer(scratch)
        phone = HandsetProcess(scratch, language=language, webs=webs)
        # The server's locks belong to a loop, its process does not.
        asyncio.run(_started(server, phone))
        hand = Held(server.port, phone.serial)
        assert "connected" in hand.host("connect", phone.serial)
        yield hand


@pytest.fixture(scope="session")
def handset() -> Iterator[Held]:
    """A handset with two wrapped web applications, for all tests that leave it as it is: each begins with `fresh`."""
    with held(webs={"fava": "Fava", "wiki": "Wiki"}) as hand:
        yield hand


async def _started(server: AdbServer, phone: HandsetProcess) -> None:
    await asyncio.gather(server.start(), phone.start())
