"""Environments: what policies act on, and the one place that builds them from a configuration."""

from __future__ import annotations

from pipeline.apps import Instance, load_app
from pipeline.config import RunConfig
from pipeline.envs.browser import Browser
from pipeline.envs.desktops import desktop_environment
from pipeline.envs.discreet import discreet_environment
from pipeline.envs.fake import FakeEnvironment
from pipeline.envs.phones import phone_environment
from pipeline.envs.web import WebEnvironment
from pipeline.envs.withheld import WithheldEnvironment
from pipeline.errors import ConfigError
from pipeline.protocols import Environment
from pipeline.reaper import Scratch
from pipeline.vault import Vault

NO_SECRETS = Vault()
_TAKE_DEVICES = ("adb", "avd", "qemu")


def build(config: RunConfig, scratch: Scratch, vault: Vault = NO_SECRETS) -> Environment:
    """The environment of one worker; what it starts lives in the worker's scratch folder, and it types what is in the
    vault.
    """
    made = discreet_environment(_made(config, scratch), vault)
    return WithheldEnvironment(made) if config.probes == "withhold" else made


def check_devices(config: RunConfig) -> None:
    """Raise ConfigError for devices that are named and that nothing would take."""
    if config.devices and config.provider not in _TAKE_DEVICES:
        takers = ", ".join(_TAKE_DEVICES)
        raise ConfigError(f"devices: provider '{config.provider}' takes none; those that do: {takers}")


def _made(config: RunConfig, scratch: Scratch) -> Environment:
    check_devices(config)
    match config.provider, config.platform:
        case "fake", _:
            return FakeEnvironment()
        case "chromium", "web":
            return WebEnvironment(
                Browser(scratch), lambda app_id: Instance(load_app(app_id), scratch), allow=config.allow
            )
        case "adb" | "avd" | "handset", "mobile":
            return phone_environment(config, scratch)
        case "xvfb" | "qemu", "desktop":
            return desktop_environment(config)
        case provider, platform:
            raise ConfigError(f"provider: '{provider}' does not run the platform '{platform}'")
