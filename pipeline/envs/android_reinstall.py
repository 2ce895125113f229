"""Putting an application of a device back: by clearing its data, or by installing it anew, where the data go with it.

The file is proved by its checksum three times: here, when it has arrived, and as the system has it once it is
installed. Knows nothing of what an application stores.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from pathlib import Path

from pipeline.app_entry import ApkFile
from pipeline.envs.adb_device import AdbDevice
from pipeline.errors import SetupError, boundary

_INSTALL_SECONDS = 120.0
_PLACE = "/data/local/tmp/pathproof-{}.apk"
_PATH = re.compile(r"^package:(\S.*)$", re.MULTILINE)


async def installed_files(device: AdbDevice, package: str) -> list[str]:
    """The files of a package on the device, its own before its parts; none when it is not installed."""
    found = await device.run("pm", "path", package)
    return [path.strip() for path in _PATH.findall(found.text)] if found.code == 0 else []


async def clear(device: AdbDevice, package: str) -> None:
    """Remove all that a package has stored; raises SetupError."""
    await _told(device, "pm", "clear", package)


async def reinstall(device: AdbDevice, package: str, folder: Path, apk: ApkFile) -> None:
    """Uninstall a package and install it from a file of this machine; raises SetupError.

    `apk_differs` when a checksum is not the one that the entry names, here or on the device.
    """
    with boundary(SetupError, "apk_missing"):
        data = await asyncio.to_thread((folder / apk.file).read_bytes)
    _same(apk, hashlib.sha256(data).hexdigest(), apk.file)
    place = _PLACE.format(package)
    await device.push(data, place)
    try:
        _same(apk, await _checksum(device, place), "what has arrived on the device")
        if await installed_files(device, package):
            await _told(device, "pm", "uninstall", package)
        await _told(device, "pm", "install", "-g", place)
    finally:
        await device.run("rm", "-f", place)
    files = await installed_files(device, package)
    if not files:
        raise SetupError("app_not_installed", f"{apk.file} does not install the package {package}")
    _same(apk, await _checksum(device, files[0]), f"{package} as it is installed")


async def _told(device: AdbDevice, *words: str) -> None:
    """Carry out what the package manager answers with a word."""
    ran = await device.run(*words, seconds=_INSTALL_SECONDS)
    if ran.code != 0 or "Success" not in ran.text:
        raise SetupError("reset_failed", f"{' '.join(words)}: {ran.complaint}")


async def _checksum(device: AdbDevice, path: str) -> str:
    ran = await device.run("sha256sum", path, seconds=_INSTALL_SECONDS)
    if ran.code != 0:
        raise SetupError("reset_failed", f"sha256sum {path}: {ran.complaint}")
    return ran.text.partition(" ")[0].strip().removeprefix("\\")


def _same(apk: ApkFile, found: str, what: str) -> None:
    if found != apk.sha256:
        raise SetupError("apk_differs", f"{what} has the SHA-256 {found}, the entry says {apk.sha256}")
