"""Images of virtual machines: Debian systems made of a list of packages, once, in the cache folder.

    <home>/machines/<machine_id>-<hash>/disk, kernel, initial, packages.txt    `image.done` is written last

The hash is that of all that an image is made from; which versions the packages had is in packages.txt, for mirrors move
on. What a crash left half made has no marker and is made again. Knows nothing of running machines.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, NamedTuple

import psutil
from pydantic import Field, ValidationError

from pipeline.actions import Model
from pipeline.app_install import alone, home, tail
from pipeline.debian_install import advice, missing
from pipeline.envs.qemu_accel import PACKAGES
from pipeline.errors import ConfigError, SetupError, boundary, first_problem
from pipeline.reaper import Scratch
from pipeline.records import digest
from pipeline.user_files import text_of, yaml_of

DEFAULT = "debian-desktop"
BUILD_PACKAGES = (*PACKAGES, "mmdebstrap", "e2fsprogs")
"""Debian packages that images are made by."""

_HERE = Path(__file__).parent
_GUEST = _HERE / "guest"
_PARTS = {
    "/etc/pathproof/openbox.xml": _HERE / "session" / "openbox.xml",
    "/etc/pathproof/gtk-settings.ini": _HERE / "session" / "gtk-settings.ini",
}
"""Files of ours that guests share with other desktops."""
_BUILD_SECONDS = 3600.0
_DISK_SECONDS = 600.0
_POLL_SECONDS = 0.2
_HASH_LETTERS = 12
_BLOCK_BYTES = 512
_NUMBER = "7b3c8a7e-3c0c-4a6e-9a3c-0d5f2f7f4a11"
"""Of every file system of ours, so that it does not depend on chance."""


class MachineImage(Model):
    """What is said of an image in `catalogs/machines/<machine_id>.yaml`."""

    machine_id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    notes: str = ""
    suite: str = Field(pattern=r"^[a-z-]+$")
    mirror: str = Field(default="http://deb.debian.org/debian", pattern=r"^https?://\S+$")
    memory_mb: int = Field(ge=256)
    disk_mb: int = Field(ge=1000)
    locales: list[Annotated[str, Field(pattern="^[a-z]{2}_[A-Z]{2}$")]]
    packages: list[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.+-]+$")]] = Field(min_length=1)

    @property
    def hash(self) -> str:
        """Of everything it is made from."""
        files = sorted(path for path in _GUEST.rglob("*") if path.is_file())
        contents = [part.read_text(encoding="utf-8") for part in (*files, *_PARTS.values())]
        return digest("machine", self.model_dump_json(), *contents)[:_HASH_LETTERS]


class Built(NamedTuple):
    """Where an image lies, made or not."""

    image: MachineImage
    folder: Path

    @property
    def disk(self) -> Path:
        """A raw disk, never written to once it is made."""
        return self.folder / "disk"

    @property
    def kernel(self) -> Path:
        """What is started."""
        return self.folder / "kernel"

    @property
    def initial(self) -> Path:
        """The initial file system."""
        return self.folder / "initial"

    @property
    def packages(self) -> Path:
        """The packages it has, with versions."""
        return self.folder / "packages.txt"

    @property
    def done(self) -> bool:
        """Whether all of it has been made."""
        return (self.folder / "image.done").exists()


def image_names() -> list[str]:
    """Images that ship with the package, sorted."""
    return sorted(path.stem for path in _catalog().glob("*.yaml"))


@cache
def load_image(machine_id: str) -> MachineImage:
    """What is said of an image; raises ConfigError."""
    if machine_id not in image_names():
        raise ConfigError(f"machines: unknown machine '{machine_id}'; known: {', '.join(image_names())}")
    path = _catalog() / f"{machine_id}.yaml"
    try:
        return MachineImage.model_validate(yaml_of(text_of(path), str(path)))
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_problem(error)}") from error


def built_of(image: MachineImage) -> Built:
    """Where the image lies."""
    return Built(image, home() / "machines" / f"{image.machine_id}-{image.hash}")


def build(image: MachineImage) -> Built:
    """Make the image unless that is done; raises SetupError, also where only root of a Debian system could."""
    built = built_of(image)
    if built.done:
        return built
    with boundary(SetupError, "image_not_made"):
        built.folder.mkdir(parents=True, exist_ok=True)
        with alone(built.folder / "lock"):
            if not built.done:
                _demand()
                with Scratch(f"image-{image.machine_id}", built.folder) as scratch:
                    _make(built, scratch)
    return built


def outdated(image: MachineImage) -> list[Path]:
    """Folders of images that were made from what this one is no longer made from."""
    fits = re.compile(rf"{re.escape(image.machine_id)}-[0-9a-f]{{{_HASH_LETTERS}}}")
    made, now = home() / "machines", built_of(image).folder
    return sorted(path for path in made.glob("*") if fits.fullmatch(path.name) and path != now)


def remove_outdated(image: MachineImage, announce: Callable[[str], None]) -> int:
    """Remove what `outdated` finds and no program has open, as machines have their disk; how many there were. Raises
    SetupError when one cannot be removed."""
    removed = 0
    for folder in outdated(image):
        if _is_open(folder):
            announce(f"{folder} is in use, and stays")
            continue
        with boundary(SetupError, "image_not_removed"):
            shutil.rmtree(folder)
        announce(f"{folder} is removed")
        removed += 1
    return removed


def megabytes(folder: Path) -> int:
    """What a folder takes on disk, of which files that are mostly empty take little."""
    return sum(path.lstat().st_blocks for path in folder.rglob("*")) * _BLOCK_BYTES // 1_000_000


def _is_open(folder: Path) -> bool:
    """Whether a program of this computer, as far as we may look, has a file below a folder open."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if any(Path(file.path).is_relative_to(folder) for file in process.open_files()):
                return True
    return False


def _demand() -> None:
    absent = missing(BUILD_PACKAGES)
    if absent:
        raise SetupError("packages_missing", f"a machine's image needs more Debian packages; {advice(absent)}")
    if os.geteuid() != 0:
        raise SetupError("root_needed", "only root can make a machine's image: files of a system belong to root")


def _make(built: Built, scratch: Scratch) -> None:
    image, system = built.image, scratch.path / "system"
    scripts = {name: f'sh {shlex.quote(str(_GUEST / name))} "$1"' for name in ("setup.sh", "customize.sh")}
    command = [
        *("mmdebstrap", "--mode=root", "--variant=essential", "--format=directory"),
        f"--include={','.join(image.packages)}",
        '--aptopt=APT::Install-Recommends "false"',
        f"--dpkgopt={_GUEST / 'left-out.txt'}",
        f"--setup-hook={scripts['setup.sh']}",
        f"--customize-hook={scripts['customize.sh']}",
        *(image.suite, str(system), image.mirror),
    ]
    parts = "\n".join(f"{source}={target}" for target, source in _PARTS.items())
    variables = {"FILES": str(_GUEST), "PARTS": parts, "LOCALES": " ".join(image.locales), "LC_ALL": "C.UTF-8"}
    _run(scratch, command, variables, _BUILD_SECONDS)
    for target, pattern in ((built.kernel, "vmlinuz-*"), (built.initial, "initrd.img-*")):
        shutil.copyfile(next((system / "boot").glob(pattern)), target)
    shutil.copyfile(system / "etc/pathproof/packages.txt", built.packages)
    options = f"lazy_itable_init=0,hash_seed={_NUMBER}"
    form = ["mke2fs", "-q", "-F", "-t", "ext4", "-O", "^has_journal", "-U", _NUMBER, "-E", options, "-d", str(system)]
    _run(scratch, [*form, str(built.disk), f"{image.disk_mb}M"], {}, _DISK_SECONDS)
    with built.disk.open("rb") as disk:
        os.fsync(disk.fileno())
    built.disk.chmod(0o444)
    (built.folder / "image.done").touch()


def _run(scratch: Scratch, command: Sequence[str], variables: Mapping[str, str], seconds: float) -> None:
    """Run a program to its end; raises SetupError."""
    log = scratch.path / "log"
    process = scratch.spawn(command, log=log, environment=variables)
    until = time.monotonic() + seconds
    while process.poll() is None:
        if time.monotonic() > until:
            scratch.stop(process)
            raise SetupError("image_not_made", f"{command[0]} took longer than {seconds:g} s: {tail(log)}")
        time.sleep(_POLL_SECONDS)
    if process.returncode != 0:
        raise SetupError("image_not_made", f"{command[0]} failed with code {process.returncode}: {tail(log)}")


def qemu_img(arguments: Sequence[str]) -> None:
    """Run the program that makes disks; raises SetupError."""
    command = ["qemu-img", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_DISK_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError("disk_not_made", f"qemu-img cannot be run: {error}") from error
    if done.returncode != 0:
        raise SetupError("disk_not_made", f"qemu-img failed: {done.stderr.strip()}")


def layered(below: Path, form: str, disk: Path) -> None:
    """Make a disk that has what another one has, which stays as it is; raises SetupError."""
    disk.unlink(missing_ok=True)
    qemu_img(["create", "-q", "-f", "qcow2", "-F", form, "-b", str(below), str(disk)])


def session_environment() -> dict[str, str]:
    """Environment variables of a guest's session."""
    lines = (_GUEST / "root/etc/pathproof/session.env").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line)


def _catalog() -> Path:
    return Path(str(resources.files("catalogs"))) / "machines"
