"""Application entries: what `catalogs/apps/<app_id>/app.yaml` may say, as typed data.

An entry says how an application is installed, started, reset and asked; adding one needs no code. In commands, files
and environment variables `{bin}` is the folder of installed programs, `{data}` the data folder, `{port}` the port and
`{entry}` the folder of the entry itself, `{python}` the interpreter that runs us and `{package}` the folder that our
package is in; in the command that starts it `{port2}` is another free port. Applications of a phone are `PhoneEntry`:
nothing of them is started on this machine, they are asked through the phone. Programs of a desktop are `ProgramEntry`.
Knows nothing of how any of it is carried out.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field, ValidationError, model_validator

from pipeline.actions import Model
from pipeline.entry_state import AnyProbe, FilesState, PageProbe, PhoneProbe, PhoneState, Probe, StateSource
from pipeline.errors import ConfigError, first_problem
from pipeline.program_probe import ProgramProbe
from pipeline.tasks import CHANGES, RESERVED_PROBES
from pipeline.user_files import text_of, yaml_of
from pipeline.words import Platform


class PipInstall(Model):
    """Installed by pip or uv into an environment of its own, from `requirements.lock` beside the entry."""

    kind: Literal["pip"] = "pip"
    requirements: list[str] = Field(min_length=1)


class NpmInstall(Model):
    """Installed by npm into a folder of its own, from `package.json` and `package-lock.json` beside the entry.

    `node` is the oldest major version of Node.js that it runs on.
    """

    kind: Literal["npm"]
    node: int = 18


class OwnInstall(Model):
    """Part of this package: nothing is installed, and it runs by the interpreter that runs us."""

    kind: Literal["own"] = "own"


Install = Annotated[PipInstall | NpmInstall | OwnInstall, Field(discriminator="kind")]


class SqlSeed(Model):
    """A seed step: the SQL file `script` beside the entry is run in the database `into` of the data folder."""

    script: str
    into: str


class Ready(Model):
    """The answer that shows the application serves: status and a text in the body, within `seconds`."""

    path: str = "/"
    status: int = 200
    contains: str = ""
    seconds: float = Field(default=30.0, gt=0)


_ProbeT = TypeVar("_ProbeT")


def _free(probes: dict[str, _ProbeT]) -> dict[str, _ProbeT]:
    """Probes by name, of which none is one that every environment answers itself; raises ValueError."""
    taken = sorted(probes.keys() & {CHANGES, *RESERVED_PROBES})
    if taken:
        raise ValueError(f"every environment answers {', '.join(map(repr, taken))} itself; choose another name")
    return probes


class ApkFile(Model):
    """What a phone's application is installed from: a file, as seen from the entry's folder, and its SHA-256."""

    file: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class Entry(Model):
    """What is said of every application."""

    app_id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    version: str
    platform: Platform
    licence: str
    notes: str = ""
    home: str = "/"
    folder: Path = Field(exclude=True)
    """Where the entry was read from; part of no identity."""


class PhoneEntry(Entry):
    """An application of a phone: the package of which a launcher shows an icon.

    One with `page_of` shows the pages of another application, which runs on this machine: state and probes are that
    one's, without scripts, which nobody can run in a page of the phone. Another one has its own, and is put back by
    clearing its data, or by installing its `apk` anew; settings that are state are put back as they were found.
    """

    platform: Literal["mobile"]
    package: str = Field(pattern=r"^[A-Za-z][\w.]*$")
    locale: str | None = Field(default=None, pattern="^[a-z]{2}-[A-Z]{2}$")
    """What the phone's language is set to for it; as it is where null."""
    page_of: str | None = None
    apk: ApkFile | None = None
    state: list[PhoneState] = Field(default_factory=list)
    bookkeeping: list[str] = Field(default_factory=list)
    probes: Annotated[dict[str, PhoneProbe], AfterValidator(_free)] = Field(default_factory=dict)

    @property
    def asked(self) -> Mapping[str, AnyProbe]:
        """The read-only questions it answers, by name."""
        probes: Mapping[str, AnyProbe] = load_app(self.page_of).probes if self.page_of else self.probes
        return {name: probe for name, probe in probes.items() if not isinstance(probe, PageProbe)}

    @model_validator(mode="after")
    def _has_one_source(self) -> PhoneEntry:
        if self.page_of is not None and (self.state or self.probes or self.bookkeeping or self.apk):
            raise ValueError(f"state, probes, bookkeeping and apk are those of '{self.page_of}', whose pages it shows")
        return self


class DebianInstall(Model):
    """Installed by the system's own package manager: Debian packages, of which none is changed afterwards."""

    kind: Literal["debian"] = "debian"
    packages: list[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.+-]+$")]] = Field(min_length=1)


class WindowReady(Model):
    """The window that shows the program is ready: `title` and `kind` (WM_CLASS) are found in it as patterns."""

    title: str = ""
    kind: str
    seconds: float = Field(default=30.0, gt=0)


class ProgramEntry(Entry):
    """A program of a desktop, with its home folder as every episode finds it.

    `start` is its command, to which a task's start path is added, a file of the home folder. What lies in `prepared`
    beside the entry is put into the home folder first, then `files`. In commands, environment variables and files
    `{home}` is the home folder.
    """

    platform: Literal["desktop"]
    install: DebianInstall
    start: list[str] = Field(min_length=1)
    environment: dict[str, str] = Field(default_factory=dict)
    ready: WindowReady
    locale: str = Field(default="en_US", pattern="^[a-z]{2}_[A-Z]{2}$")
    layout: str = Field(default="us", pattern=r"^[a-z]{2,3}$")
    """Of the keyboard."""
    hides: bool = False  # what it holds shows neither in files nor on the screen, as a shell's variables
    prepared: str = "home"
    files: dict[str, str] = Field(default_factory=dict)
    state: list[FilesState] = Field(min_length=1)
    bookkeeping: list[str] = Field(default_factory=list)
    """Patterns of state keys that change with every use; they are no side effects."""
    probes: Annotated[dict[str, ProgramProbe], AfterValidator(_free)] = Field(default_factory=dict)

    @property
    def asked(self) -> Mapping[str, AnyProbe]:
        """The read-only questions it answers, by name."""
        return self.probes


class AppEntry(Entry):
    """An application that runs on this machine and serves pages."""

    install: Install
    files: dict[str, str] = Field(default_factory=dict)
    seed: list[list[str] | SqlSeed] = Field(default_factory=list)
    start: list[str] = Field(min_length=1)
    environment: dict[str, str] = Field(default_factory=dict)
    ready: Ready = Ready()
    credentials: str | None = None
    """`user:password` for the application's own HTTP interface, used by probes and set-up; not a secret."""
    state: list[StateSource] = Field(min_length=1)
    bookkeeping: list[str] = Field(default_factory=list)
    """Patterns of state keys that change with every use (logs of changes): reset covers them, side effects do not."""
    reset: Literal["restart", "in_place"] = "restart"
    probes: Annotated[dict[str, Probe], AfterValidator(_free)] = Field(default_factory=dict)

    @property
    def asked(self) -> Mapping[str, AnyProbe]:
        """The read-only questions it answers, by name."""
        return self.probes

    @property
    def lock(self) -> Path:
        """The locked requirements, with hashes; what is part of this package has none."""
        return self.folder / ("package-lock.json" if self.install.kind == "npm" else "requirements.lock")


AnyEntry = AppEntry | PhoneEntry | ProgramEntry

_KINDS: Mapping[object, type[AppEntry] | type[PhoneEntry] | type[ProgramEntry]] = {
    "mobile": PhoneEntry,
    "desktop": ProgramEntry,
}
"""By platform; every other one is that of an `AppEntry`."""


def entry_names() -> list[str]:
    """Applications that ship with the package, sorted."""
    return sorted(path.parent.name for path in _catalog().glob("*/app.yaml"))


def app_names() -> list[str]:
    """Those that run on this machine, sorted."""
    return [name for name in entry_names() if isinstance(load_entry(name), AppEntry)]


@cache
def load_entry(app_id: str) -> AnyEntry:
    """The entry of an application; raises ConfigError naming the known ones, or what is wrong in the file."""
    if app_id not in entry_names():
        raise ConfigError(f"apps: unknown application '{app_id}'; known: {', '.join(entry_names())}")
    return read_entry(_catalog() / app_id / "app.yaml")


def load_app(app_id: str) -> AppEntry:
    """The entry of an application that runs on this machine; raises ConfigError as `load_entry` does, or when not."""
    entry = load_entry(app_id)
    if not isinstance(entry, AppEntry):
        where = "a phone" if isinstance(entry, PhoneEntry) else "a desktop"
        raise ConfigError(f"apps: '{app_id}' is an application of {where}; here run: {', '.join(app_names())}")
    return entry


def load_phone_app(app_id: str) -> PhoneEntry:
    """The entry of a phone's application; raises ConfigError as `load_entry` does, or when it is none."""
    entry = load_entry(app_id)
    if not isinstance(entry, PhoneEntry):
        raise ConfigError(f"apps: '{app_id}' is no application of a phone")
    return entry


def load_program(app_id: str) -> ProgramEntry:
    """The entry of a desktop's program; raises ConfigError as `load_entry` does, or when it is none."""
    entry = load_entry(app_id)
    if not isinstance(entry, ProgramEntry):
        raise ConfigError(f"apps: '{app_id}' is no program of a desktop")
    return entry


def server_of(app_id: str) -> AppEntry | None:
    """What has to run on this machine for an application: itself, what its pages are of, or nothing."""
    match load_entry(app_id):
        case AppEntry() as entry:
            return entry
        case PhoneEntry(page_of=str(served)):
            return load_app(served)
        case _:
            return None


def read_entry(path: Path) -> AnyEntry:
    """The entry in a file; raises ConfigError."""
    try:
        tree: Any = yaml_of(text_of(path), str(path))
        kind = _KINDS.get(tree.get("platform"), AppEntry)
        return kind.model_validate({**tree, "folder": path.parent})
    except (TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: not a readable application entry: {error}") from error
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_problem(error)}") from error


def filled(text: str, values: dict[str, str]) -> str:
    """The text with each `{name}` of `values` replaced; every other brace is left alone."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text


def _catalog() -> Path:
    return Path(str(resources.files("catalogs"))) / "apps"
