"""Pictures of a device's screen: the capture tool's bytes through the raw channel, checked whole, retried once at most.

A window that forbids pictures yields a black one; that is told apart from a screen that is black.
"""

from __future__ import annotations

import io

from PIL import Image as Pictures

from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android_display import is_secure, panel_of
from pipeline.errors import CaptureError, EnvError
from pipeline.frames import frame_of
from pipeline.records import Frame

CAPTURE_SECONDS = 6.0

_BYTES_PER_PIXEL = 0.05
"""A black picture packs to less than this."""
_BLACK = 8
"""Grey values up to this one are black."""
_BLACK_SHARE = 0.9
"""The system's own bar may still show over a window that forbids pictures."""
_SEVERAL = b"[Warning] Multiple displays"
"""What the tool says before the picture of whichever panel it found first."""


async def capture(device: AdbDevice, *, alone: bool = True) -> Frame:
    """The screen as it is now; raises CaptureError, or EnvError when the device is gone.

    `alone`: no further display is known; otherwise the picture is asked of the panel behind the default one.
    """
    try:
        frame = await _taken(device, alone)
    except CaptureError:
        # Something on the way; once more, and what that says stands.
        frame = await _taken(device, alone)
    if _is_black(frame) and await is_secure(device):
        raise CaptureError("secure_screen", "the window in front forbids pictures")
    return frame


async def _taken(device: AdbDevice, alone: bool) -> Frame:
    try:
        panel = None if alone else await panel_of(device)
        data = await _captured(device, panel)
        if panel is None and data.startswith(_SEVERAL):
            panel = await panel_of(device)
            data = await _captured(device, panel) if panel is not None else data
        return frame_of(data)
    except EnvError as error:
        if error.code != "adb_timeout":
            raise
        raise CaptureError("timeout", f"no picture in {CAPTURE_SECONDS:g} s") from error


async def _captured(device: AdbDevice, panel: str | None) -> bytes:
    which = ["-d", panel] if panel is not None else []
    return await device.raw("screencap", "-p", *which, seconds=CAPTURE_SECONDS)


def _is_black(frame: Frame) -> bool:
    data, pixels = frame.image.bytes, frame.width * frame.height
    if len(data) > pixels * _BYTES_PER_PIXEL:
        return False
    with Pictures.open(io.BytesIO(data), formats=["PNG"]) as picture:
        counts = picture.convert("L").histogram()
    return sum(counts[: _BLACK + 1]) >= pixels * _BLACK_SHARE
