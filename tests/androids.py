"""A scripted phone that answers as Android does, a fleet that is just it, and an application that is just there."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence

from PIL import Image as Pictures

from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android import AndroidEnvironment, Fleet, Phone
from pipeline.envs.android_apps import PhoneApp
from pipeline.envs.android_ready import READY_SECONDS, ready
from pipeline.errors import ProbeError
from pipeline.handset.wire import Output
from pipeline.tasks import Check, SetupOperation, Start, TaskSpec
from tests.phones import ScriptedPhone

PACKAGE = "org.example.notes"
FOCUS = f"{PACKAGE}/{PACKAGE}.Main"
OTHER_KEYBOARD = "com.example.keys/.Keys"
ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
WIDTH, HEIGHT = 200, 400
NEWER = 10
"""The version of Android that says where displays are described what was said elsewhere before."""


def noise(width: int = WIDTH, height: int = HEIGHT, seed: int = 7) -> bytes:
    """A PNG of seeded noise."""
    return _png(Pictures.frombytes("RGB", (width, height), random.Random(seed).randbytes(width * height * 3)))


def black(width: int = WIDTH, height: int = HEIGHT) -> bytes:
    """A black PNG under a light bar at the top."""
    picture = Pictures.new("RGB", (width, height))
    picture.paste((250, 250, 250), (0, 0, width, height // 20))
    return _png(picture)


def _png(picture: Pictures.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def node(kind: str = "android.widget.Button", box: str = "[0,0][20,20]", **attributes: str) -> str:
    """One element of a tree."""
    said = {"class": kind, "bounds": box, **{name.replace("_", "-"): text for name, text in attributes.items()}}
    return "<node " + " ".join(f'{name}="{text}"' for name, text in said.items()) + " />"


def tree(*nodes: str, rotation: int = 0) -> bytes:
    """What the tree tool prints."""
    xml = f'<?xml version="1.0" encoding="UTF-8"?><hierarchy rotation="{rotation}">{"".join(nodes)}</hierarchy>'
    return f"{xml}UI hierchary dumped to: /dev/tty\n".encode()


class AndroidPhone(ScriptedPhone):
    """A phone at rest with one application; what it shows and says can be set."""

    def __init__(self) -> None:
        super().__init__()
        self.png = noise()
        self.tree = tree(node(text="Save", box="[10,20][110,60]", clickable="true"))
        self.size = (WIDTH, HEIGHT)
        self.rotation = 0
        self.focus = FOCUS
        self.version = 14
        self.dialog_flags: str | None = None
        """Of a window over the focused one, with the same title."""
        self.flags = "LAYOUT_IN_SCREEN"
        self.boot_id = "first"
        self.settings = {"default_input_method": OTHER_KEYBOARD, "enabled_input_methods": OTHER_KEYBOARD}
        for pattern in ("wm ", "rm ", "ime enable", "am force-stop", "input "):
            self.on(pattern, 0)
        self.on("screencap", self._screencap)
        self.on("uiautomator dump", self._tree)
        self.on("dumpsys window displays", self._displays)
        self.on("dumpsys window windows", self._windows)
        self.on("dumpsys display", self._logical_displays)
        self.on("am start", "Starting: Intent { }\nStatus: ok\n")
        self.on("cat /proc/sys/kernel/random/boot_id", self._boot_id)
        self.on("getprop sys.boot_completed", "1\n")
        self.on("getprop ro.build.fingerprint", "example/s1:14\n")
        self.on("pm list packages", f"package:{PACKAGE}\n")
        self.on("settings put", 0)
        self.on("settings get", self._setting)
        self.on(f"pm path {PACKAGE}", f"package:/data/app/{PACKAGE}/base.apk\n")
        self.on("pm clear", "Success\n")
        self.on("ime set", self._choose)
        self.on(
            "cmd package query-activities", f"priority=0 preferredOrder=0\n{PACKAGE}/.Main\norg.example.phone/.Dial\n"
        )

    async def _screencap(self, command: str, output: Output) -> int:
        del command
        await output.out(self.png)
        return 0

    async def _tree(self, command: str, output: Output) -> int:
        del command
        await output.out(self.tree)
        return 0

    async def _boot_id(self, command: str, output: Output) -> int:
        del command
        await output.out(f"{self.boot_id}\n".encode())
        return 0

    async def _displays(self, command: str, output: Output) -> int:
        del command
        width, height = self.size
        await output.out(
            f"  Display: mDisplayId=0\n    init={WIDTH}x{HEIGHT} 320dpi cur={width}x{height} app={width}x{height}\n"
            f"    deferred=false mLayoutNeeded=false\n".encode()
        )
        if self.version >= NEWER:
            rotation = f"  DisplayRotation\n    mRotation=ROTATION_{self.rotation * 90}\n"
            await output.out(f"{rotation}  mCurrentFocus={self._window}\n".encode())
        return 0

    async def _logical_displays(self, command: str, output: Output) -> int:
        del command
        width, height = self.size
        await output.out(
            f'    mBaseDisplayInfo=DisplayInfo{{"Built-in, displayId 0", uniqueId "local:0", rotation 0}}\n'
            f'    mOverrideDisplayInfo=DisplayInfo{{"Built-in, displayId 0", uniqueId "local:0", '
            f"real {width} x {height}, rotation {self.rotation}, density 320 (403.4 x 402.1) dpi}}\n".encode()
        )
        return 0

    @property
    def _window(self) -> str:
        return f"Window{{1a2b u0 {self.focus}}}"

    async def _windows(self, command: str, output: Output) -> int:
        del command
        over = f"  Window #1 Window{{3c u0 {self.focus}}}:\n    mAttrs={{(0,0)\n      fl={self.dialog_flags}}}\n"
        # Android 10 has moved the focus to what is said of displays.
        end = "  mTopFocusedDisplayId=0" if self.version >= NEWER else f"  mCurrentFocus={self._window}"
        await output.out(
            f"  Window #0 Window{{9f u0 StatusBar}}:\n    mAttrs={{(0,0) fl=SECURE_NOT}}\n"
            f"{over if self.dialog_flags is not None else ''}"
            f"  Window #2 {self._window}:\n    mAttrs={{(0,0)(fillxfill)\n"
            f"      fl={self.flags}\n      pfl=NO_MOVE}}\n{end}\n".encode()
        )
        return 0

    async def _setting(self, command: str, output: Output) -> int:
        await output.out(f"{self.settings.get(command.split()[3], 'null')}\n".encode())
        return 0

    async def _choose(self, command: str, output: Output) -> int:
        self.settings["default_input_method"] = command.split()[2]
        await output.out(b"Input method selected\n")
        return 0


class PlainApp(PhoneApp):
    """An application that is on the phone and has no state that anybody knows of."""

    def __init__(self, device: AdbDevice) -> None:
        self.title, self.package = "Notes", PACKAGE
        self.device = device
        self.resets = 0
        self.left = 0

    @property
    def alive(self) -> bool:
        return True

    async def start(self) -> None:
        """Nothing is started."""

    async def reset(self) -> None:
        self.resets += 1
        await self.device.done("am", "force-stop", self.package)

    async def apply(self, operations: Sequence[SetupOperation]) -> None:
        """Nothing is set up."""

    async def offer(self) -> None:
        """It is there."""

    async def open(self, path: str) -> None:
        await self.device.done("am", "start", "-n", f"{self.package}/{path.strip('/') or '.Main'}")

    async def read(self, check: Check) -> list[list[str]]:
        raise ProbeError("unknown_probe", f"there is no probe '{check.probe}'")

    async def mark(self) -> None:
        """There is no state."""

    async def changes(self) -> list[list[str]]:
        return []

    async def leave(self) -> None:
        self.left += 1
        await self.device.done("settings", "put", "system", "screen_brightness", "100")

    async def close(self) -> None:
        """Nothing was started."""


class OneDevice(Fleet):
    """A fleet of one device; keeps whether it worked each time."""

    def __init__(self, device: AdbDevice, ready_seconds: float = READY_SECONDS) -> None:
        self._device, self._seconds = device, ready_seconds
        self.worked: list[bool] = []

    async def take(self) -> Phone:
        life = await ready(self._device, self._seconds)
        return Phone(self._device, self._device.serial, "adb", life.build)

    async def give_back(self, phone: Phone, *, worked: bool) -> None:
        del phone
        self.worked.append(worked)

    async def close(self) -> None:
        """Nothing was started."""


def environment_of(device: AdbDevice, idle_seconds: float = 3.0) -> AndroidEnvironment:
    return AndroidEnvironment(OneDevice(device), lambda _, of: PlainApp(of), idle_seconds=idle_seconds)


def phone_task() -> TaskSpec:
    return TaskSpec(
        task_id="task",
        app_ids=["notes"],
        platform="mobile",
        tier="single",
        instruction="look around",
        language="en",
        capability_ids=[],
        start=Start(app_id="notes", path="/"),
        contract_kind="state",
        segments=[],
        domain="Mobile",
    )


def damaged(data: bytes) -> dict[str, bytes]:
    """A picture as it may arrive: four ways that lose nothing, three that do."""
    return {
        "intact": data,
        "warned": (b"[Warning] Multiple displays were found\n" * 10)[:300] + data,
        "crlf": data.replace(b"\n", b"\r\n"),
        "trailing": data + b"\0\0\0\0",
        "half": data[: len(data) // 2],
        "endless": data[:-12],
        "nothing": b"",
    }
