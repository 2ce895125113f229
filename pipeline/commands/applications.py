"""The commands about the real applications that run on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline import apps as applications
from pipeline.app_entry import entry_names
from pipeline.commands.shell import Command, examples
from pipeline.envs.qemu_image import (
    MachineImage,
    built_of,
    image_names,
    load_image,
    megabytes,
    outdated,
    remove_outdated,
)
from pipeline.envs.qemu_ready import up as prepare_machine
from pipeline.errors import ConfigError

AppId = Annotated[str, typer.Argument(metavar="APP", help="An application or a machine of `pathproof apps list`.")]


def list_() -> int:
    """Every application, its version and licence, and whether it is installed; then machines that programs run in."""
    for app in applications.list_apps():
        state = "installed" if app.installed else "not installed"
        typer.echo(f"{app.app_id}\t{app.version}\t{app.licence}\t{state}\t{app.title}")
    for image in map(load_image, image_names()):
        state = "made" if built_of(image).done else "not made"
        typer.echo(f"{image.machine_id}\t{image.suite}\tmany\t{state}\t{image.title}")
    return 0


def up(app_id: AppId) -> int:
    """Run an application in the foreground, on loopback, until Ctrl-C; prints its address. Of a machine, make its image
    and prepared state."""
    if app_id in image_names():
        image = load_image(app_id)
        prepare_machine(image, typer.echo)
        _tell_outdated(image)
    else:
        applications.up(_known(app_id), typer.echo)
    return 0


def down(app_id: AppId) -> int:
    """End what `pathproof apps up` runs of an application. Of a machine, remove images that are outdated and not in
    use."""
    if app_id in image_names():
        count = remove_outdated(load_image(app_id), typer.echo)
        typer.echo(f"{app_id}: {count} outdated images removed", err=True)
        return 0
    return _told(app_id, applications.down(_known(app_id)), "ended")


def reset(app_id: AppId) -> int:
    """Put what `pathproof apps up` runs of an application back to its first state."""
    return _told(app_id, applications.reset(app_id), "reset")


def _known(app_id: str) -> str:
    """The name of an application; raises ConfigError naming all that could have been meant."""
    if app_id not in entry_names():
        names = sorted([*entry_names(), *image_names()])
        raise ConfigError(f"apps: unknown application '{app_id}'; known: {', '.join(names)}")
    return app_id


def _tell_outdated(image: MachineImage) -> None:
    """Nothing is removed unasked: another checkout may have made it and go on with it."""
    for folder in outdated(image):
        fix = f"remove it with: pathproof apps down {image.machine_id}"
        typer.echo(f"{folder} is outdated and takes {megabytes(folder)} MB; {fix}")


def _told(app_id: str, count: int, done: str) -> int:
    none = "no instance is running; start one with: pathproof apps up " + app_id
    typer.echo(f"{app_id}: {f'{count} {done}' if count else none}", err=True)
    return 0 if count else 1


COMMANDS = {
    "list": Command(list_, examples("pathproof apps list")),
    "up": Command(up, examples("pathproof apps up fava", "pathproof apps up debian-desktop")),
    "down": Command(down, examples("pathproof apps down fava", "pathproof apps down debian-desktop")),
    "reset": Command(reset, examples("pathproof apps reset fava")),
}
