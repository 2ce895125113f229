"""The desktop environment of a configuration: which kind of machine its programs run on.

`xvfb` is a private X display of this computer for each worker, `qemu` a virtual machine.
"""

from __future__ import annotations

from pipeline.config import RunConfig
from pipeline.envs.desktop import DesktopEnvironment
from pipeline.envs.machines import Machines
from pipeline.envs.qemu import QemuMachine
from pipeline.envs.qemu_image import DEFAULT, load_image
from pipeline.envs.xvfb import XvfbMachine
from pipeline.errors import ConfigError


def desktop_environment(config: RunConfig) -> DesktopEnvironment:
    """The environment of one worker; raises ConfigError."""
    match config.provider:
        case "xvfb":
            return DesktopEnvironment(Machines(lambda number: XvfbMachine(f"xvfb-{number}", isolated=config.isolated)))
        case "qemu":
            if len(config.devices) > 1:
                raise ConfigError("devices: provider 'qemu' takes one, the name of a machine's image")
            image = load_image(config.devices[0] if config.devices else DEFAULT)
            return DesktopEnvironment(Machines(lambda number: QemuMachine(f"qemu-{number}", image)))
        case provider:
            raise ConfigError(f"provider: '{provider}' has no desktops")
