"""What this machine can run, what of ours is exposed, and the fix for what is missing. Looks only; changes nothing."""

from __future__ import annotations

import asyncio
import importlib.metadata
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import sync_playwright

from pipeline.apart import NO_NETWORKS, can_part
from pipeline.apps import list_apps
from pipeline.clients import Need
from pipeline.config import RunConfig
from pipeline.debian_install import DESKTOP, advice, missing
from pipeline.envs.browser import find_chromium
from pipeline.envs.device_survey import Seen, adb_version, emulators, survey_devices
from pipeline.envs.qemu_accel import acceleration
from pipeline.envs.qemu_image import BUILD_PACKAGES, DEFAULT, built_of, load_image
from pipeline.errors import ConfigError, EpisodeError, RunError
from pipeline.exposure import exposed
from pipeline.llm import LocalLimiter, demand, probe
from pipeline.required import needs

EXPOSURE = "exposure"
"""Not something that is there or missing: what others could reach."""

_LEAST_FREE_GB = 2.0


class Finding(NamedTuple):
    """One thing looked at; `needed` when the default run does not work without it."""

    what: str
    good: bool
    needed: bool
    detail: str


def examine(config: RunConfig) -> list[Finding]:
    """Everything worth knowing about this machine, and about the models that the configuration names."""
    return [
        *_programs(),
        *_applications(),
        *_phones(config),
        _desktop(config),
        _machine(config),
        _room(),
        _exposure(),
        *_endpoints(config),
    ]


def chromium() -> Path:
    """The browser that runs here: the system's, else Playwright's own download; raises RunError naming the fix."""
    try:
        return find_chromium()
    except RunError:
        return find_chromium(_downloaded())


def _programs() -> Iterator[Finding]:
    yield Finding("python", True, True, platform.python_version())
    yield Finding("ray", True, True, importlib.metadata.version("ray"))
    try:
        yield Finding("chromium", True, True, str(chromium()))
    except RunError as error:
        yield Finding("chromium", False, True, str(error))


def _applications() -> Iterator[Finding]:
    for app in list_apps():
        by = f"`pathproof apps up {app.app_id}`" if app.desktop else "`make setup`, or when first used"
        fix = "installed" if app.installed else f"installed by {by}"
        yield Finding(app.app_id, app.installed, False, f"{app.version} {fix}")


def _phones(config: RunConfig) -> Iterator[Finding]:
    """What can be used as a phone here, and at the addresses named; needed is what the configuration asks for."""
    adb = adb_version()
    yield _seen(adb, needed=config.platform == "mobile")
    yield _seen(emulators(), needed=config.provider == "avd")
    if not adb.good:
        return
    try:
        devices = asyncio.run(survey_devices(config.devices))
    except EpisodeError as error:
        devices = [Seen("none", False, error.message)]
    for device in devices:
        yield _seen(device._replace(name="phone", detail=f"{device.name}: {device.detail}"), needed=False)
    if not any(device.good for device in devices):
        advice = "no phone answers; connect one with USB debugging, or use provider=handset, which needs only Chromium"
        yield Finding("phone", False, config.provider == "adb", advice)


def _desktop(config: RunConfig) -> Finding:
    """Whether a private X display of this machine can be had, which the provider xvfb needs."""
    absent = missing(DESKTOP)
    reach = "which have no network" if can_part() else f"which reach what this machine reaches: {NO_NETWORKS}"
    detail = advice(absent) if absent else f"provider=xvfb has all it needs, beside the programs themselves, {reach}"
    return Finding("desktop", not absent, config.provider == "xvfb", detail)


def _machine(config: RunConfig) -> Finding:
    """Whether virtual machines can be had, which the provider qemu needs, and how fast they are."""
    needed = config.provider == "qemu"
    absent = missing(BUILD_PACKAGES)
    if absent:
        return Finding("machine", False, needed, advice(absent))
    image = load_image(config.devices[0] if needed and config.devices else DEFAULT)
    made = built_of(image).done
    fix = f"{image.machine_id} is made" if made else f"no image; as root: pathproof apps up {image.machine_id}"
    return Finding("machine", made, needed, f"{fix}; {acceleration().note}")


def _seen(seen: Seen, *, needed: bool) -> Finding:
    return Finding(seen.name, seen.good, needed, seen.detail)


def _endpoints(config: RunConfig) -> Iterator[Finding]:
    """What each model's endpoint answers, by the same probe that a run begins with."""
    for need in needs(config):
        found = asyncio.run(_endpoint(need))
        yield Finding("endpoint", found[0], True, found[1])


async def _endpoint(need: Need) -> tuple[bool, str]:
    endpoint = need.endpoint
    limiter = LocalLimiter(endpoint.in_flight, endpoint.lease_seconds)
    try:
        abilities = await probe(endpoint, limiter, [], need.images)
        demand(endpoint, abilities, need.images)
    except (ConfigError, RunError) as error:
        return False, str(error)
    context = f"context of {abilities.context} tokens" if abilities.context else "context unknown"
    schemas = "JSON schemas" if abilities.schema else "no JSON schemas"
    return True, f"{endpoint.model} at {endpoint.base_url}: {abilities.images} pictures, {schemas}, {context}"


def _room() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free / 1e9
    detail = f"{free:.1f} GB free here, {psutil.virtual_memory().available / 1e9:.1f} GB of memory available"
    return Finding("room", free >= _LEAST_FREE_GB, True, detail)


def _exposure() -> Finding:
    """Whether something of ours can be reached from other machines."""
    found = exposed()
    if not found:
        return Finding(EXPOSURE, True, True, "nothing of ours listens beyond loopback")
    return Finding(EXPOSURE, False, False, "beyond loopback: " + ", ".join(found))


def _downloaded() -> str:
    """Where Playwright keeps its own browser, whether it is there or not."""
    try:
        with sync_playwright() as playwright:
            return playwright.chromium.executable_path
    except PlaywrightError:
        return ""
