"""The Android environment of a configuration: which devices, and which applications on them.

A provider says where devices come from: `adb` (shared ones by serial), `avd` (an emulator of Android's own for each
worker), `handset` (an emulated phone for each worker, which is not Android).
"""

from __future__ import annotations

import contextlib

from catalogs.pools import mobile_pool
from pipeline.app_entry import PhoneEntry, entry_names, load_app, load_entry, load_phone_app
from pipeline.app_instance import Instance
from pipeline.config import RunConfig
from pipeline.entry_state import SettingState
from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android import AndroidEnvironment, Fleet
from pipeline.envs.android_apps import PhoneApp, WrappedSite
from pipeline.envs.android_installed import InstalledApp
from pipeline.envs.devices import OwnDevice, SharedDevices
from pipeline.envs.emulator import Emulator
from pipeline.envs.handset import HandsetProcess
from pipeline.errors import ConfigError
from pipeline.reaper import Scratch

_WEB = "org.pathproof.web."
"""What packages of a handset begin with that show a web application's pages."""


def phone_environment(config: RunConfig, scratch: Scratch) -> AndroidEnvironment:
    """The environment of one worker; raises ConfigError."""

    def provide(app_id: str, device: AdbDevice) -> PhoneApp:
        entry = load_phone_app(app_id)
        if entry.page_of is None:
            return InstalledApp(entry, device)
        site = Instance(load_app(entry.page_of), scratch)
        return WrappedSite(entry, site, device, only=entry.package.startswith(_WEB))

    return AndroidEnvironment(_fleet(config, scratch), provide, names=_names(), settings=_settings())


def _fleet(config: RunConfig, scratch: Scratch) -> Fleet:
    match config.provider:
        case "adb":
            return SharedDevices(scratch, config.devices)
        case "avd":
            if len(config.devices) != 1:
                raise ConfigError("devices: provider 'avd' needs one virtual device, as NAME or NAME@SNAPSHOT")
            name, _, snapshot = config.devices[0].partition("@")
            emulator = Emulator(scratch, name, snapshot or None)
            return OwnDevice(scratch, "avd", emulator, emulator.restore if snapshot else None)
        case "handset":
            webs = {
                entry.package.removeprefix(_WEB): entry.title for entry in _entries() if entry.package.startswith(_WEB)
            }
            return OwnDevice(scratch, "handset", HandsetProcess(scratch, webs=webs))
        case provider:
            raise ConfigError(f"provider: '{provider}' has no phones")


def _names() -> dict[str, str]:
    """Packages by what people call them: those of the pool, and before them those with an entry."""
    return {row.name: row.package for row in mobile_pool()} | {entry.title: entry.package for entry in _entries()}


def _settings() -> dict[str, list[SettingState]]:
    """The settings that applications have as state, by package."""
    found: dict[str, list[SettingState]] = {}
    for entry in _entries():
        found.setdefault(entry.package, []).extend(source for source in entry.state if isinstance(source, SettingState))
    return {package: states for package, states in found.items() if states}


def _entries() -> list[PhoneEntry]:
    """Those that can be read: a run needs no entry but those of its own tasks, which are read before."""
    found: list[PhoneEntry] = []
    for name in entry_names():
        with contextlib.suppress(ConfigError):
            entry = load_entry(name)
            found += [entry] if isinstance(entry, PhoneEntry) else []
    return found
