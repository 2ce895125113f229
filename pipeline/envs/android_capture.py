"""Pictures of a device's screen: the capture tool's bytes through the raw channel, checked whole, retried once at most.

A window that forbids pictures yields a black one; that is told apart from a screen that is black.
"""

from __future__ import annotations

import io

from PIL import Image as Pictures

from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android_display import is_secure
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


async def capture(device: AdbDevice) -> Frame:
    """The screen as it is now; raises CaptureError, or EnvError when the device is gone."""
    try:
        frame = await _taken(device)
    except CaptureError:
        # Something on the way; once more, and what that says stands.
        frame = await _taken(device)
    if _is_black(frame) and await is_secure(device):
        raise CaptureError("secure_screen", "the window in front forbids pictures")
    return frame


async def _taken(device: AdbDevice) -> Frame:
    try:
        return frame_of(await device.raw("screencap", "-p", seconds=CAPTURE_SECONDS))
    except EnvError as error:
        if error.code != "adb_timeout":
            raise
        raise CaptureError("timeout", f"no picture in {CAPTURE_SECONDS:g} s") from error


def _is_black(frame: Frame) -> bool:
    data, pixels = frame.image.bytes, frame.width * frame.height
    if len(data) > pixels * _BYTES_PER_PIXEL:
        return False
    with Pictures.open(io.BytesIO(data), formats=["PNG"]) as picture:
        counts = picture.convert("L").histogram()
    return sum(counts[: _BLACK + 1]) >= pixels * _BLACK_SHARE
