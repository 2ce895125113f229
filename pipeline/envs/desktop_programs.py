"""Programs of an episode on a machine: prepared homes laid out and proved, started, asked for what they have made.

Everything about a program is data (its entry). Knows nothing of pictures or input.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pipeline.app_entry import ProgramEntry, filled
from pipeline.app_state import difference
from pipeline.envs.home_files import shaped, state_of
from pipeline.envs.machine import Machine, Ran, Window
from pipeline.envs.product_probes import path_of, read_product
from pipeline.errors import ActionError, EnvError, ProbeError, SetupError, boundary
from pipeline.found_files import SPECIAL
from pipeline.program_probe import ProgramProbe
from pipeline.records import ProbeRead
from pipeline.tasks import CHANGES, RESERVED_PROBES, Check, SetupOperation, TaskSpec

LoadProgram = Callable[[str], ProgramEntry]
"""The entry of an id; raises ConfigError for an unknown one."""

_POLL_SECONDS = 0.03
_SETTLE_SECONDS, _LEAST_SETTLE_SECONDS = 10.0, 3.0
"""How long a program that shows its window may take to come to rest, within its time to show it, and at least."""
_CALM_SECONDS = 0.7
"""How long no file may change: dialogs of a common toolkit save half a second after they were told to."""
_WRITTEN_SECONDS, _FIND_SECONDS = 5.0, 10.0
_NOT_SHOWN = ("app_not_ready", "program_missing")
"""What may become of a launch though nothing is broken: some programs show a window once only."""
_AGAIN_SECONDS = 20.0
"""What a program has to show a window when it is launched within an episode."""


_PLACE = ".place"
"""A file for whose sake a folder is made."""


_DATE = 'while [ $# -gt 1 ]; do touch -h -c -d "$1" -- "$2"; shift 2; done'
_AT_ONCE = 1000


class KeptHome(NamedTuple):
    """What an episode made of the home folder, and the states that it began with; times are those of changes."""

    written: dict[str, bytes]
    folders: list[str]
    removed: list[str]
    shapes: dict[str, str]
    times: dict[str, str]
    first: dict[str, str]
    began: dict[str, dict[str, str]]


class Programs:
    """The programs of one machine's episode, by id."""

    def __init__(self, machine: Machine, load: LoadProgram) -> None:
        self._machine = machine
        self._load = load
        self._entries: dict[str, ProgramEntry] = {}
        self._began: dict[str, dict[str, str]] = {}
        self._marked: dict[str, str] = {}
        self._first: dict[str, str] = {}
        """What lay in the home folder before anything was done: also in an episode that this one goes on from."""
        self._home = ""

    async def prepare(self, task: TaskSpec) -> None:
        """Lay out what the task's programs find, on a machine that has just been restored; raises SetupError."""
        app_ids = list(dict.fromkeys([task.start.app_id, *task.app_ids]))
        self._entries, self._home = {app_id: self._load(app_id) for app_id in app_ids}, task.start.app_id
        first = self._entries[self._home]
        await self._machine.speak(first.locale, first.layout)
        with boundary(SetupError, "setup_failed"):
            before = await self._machine.files()
            laid: dict[str, bytes] = {}
            for entry in self._entries.values():
                laid |= self._prepared(entry)
            for operation in task.setup:
                _add(laid, operation)
            for path, content in laid.items():
                await self._machine.write(path, content)
            await self._prove(before, laid)

    async def start(self, path: str) -> None:
        """Start the program that the task begins in, with a file when the path names one; raises SetupError."""
        entry = self._entries[self._home]
        try:
            await self._launch(entry, path, entry.ready.seconds)
        except (EnvError, ActionError) as error:
            raise SetupError("app_not_ready", f"{entry.app_id}: {error}") from error

    async def mark(self, kept: KeptHome | None = None) -> None:
        """Remember the states the episode begins with, or those that led to what was kept; raises SetupError."""
        with boundary(SetupError, "setup_failed"):
            self._marked = await self._machine.files()
            told = shaped(self._marked, await self._shapes())
        began = {app_id: state_of(told, entry.state) for app_id, entry in self._entries.items()}
        self._began, self._first = (kept.began, kept.first) if kept else (began, self._marked)

    @property
    def hide(self) -> bool:
        """Whether a program of the episode holds what can neither be seen nor kept."""
        return any(entry.hides for entry in self._entries.values())

    async def shapes(self) -> dict[str, str]:
        """Kind, mode and target of all that is not hidden, by path: contents do not tell them. Raises EnvError."""
        return _visible(await self._shapes())

    async def kept(self) -> KeptHome | None:
        """What has become of the home folder since it was marked, unless something of it cannot be read; raises
        EnvError."""
        now = await self._machine.files()
        changed = [path for path, value in now.items() if value not in (self._marked.get(path), SPECIAL)]
        try:
            written = {path: await self._machine.read(path) for path in changed if not path.endswith("/")}
        except (OSError, ValueError):
            return None
        folders = [path for path in changed if path.endswith("/")]
        removed = [path for path in self._marked if path not in now]
        times = _visible(await self._found("@%T@"))
        return KeptHome(written, folders, removed, await self.shapes(), times, self._first, self._began)

    async def put(self, kept: KeptHome) -> None:
        """Make the home folder what it was when it was kept; programs must not run yet. Raises SetupError."""
        with boundary(SetupError, "setup_failed"):
            for path in kept.removed:
                await self._machine.remove(path.rstrip("/"))
            for folder in kept.folders:
                await self._machine.write(f"{folder}{_PLACE}", b"")
                await self._machine.remove(f"{folder}{_PLACE}")
            for path, content in kept.written.items():
                await self._machine.write(path, content)
            now = await self.shapes()
            for path, shape in kept.shapes.items():
                if now.get(path) != shape:
                    how, _, target = shape.partition(" ")
                    argv = ["ln", "-sfn", "--", target, path] if how[0] == "l" else ["chmod", how[1:], "--", path]
                    await self._run(argv)
            # File managers show times, and sort by them.
            dated = [part for path, time in kept.times.items() for part in (time, path)]
            for at in range(0, len(dated), _AT_ONCE):
                await self._run(["sh", "-c", _DATE, "sh", *dated[at : at + _AT_ONCE]])

    async def launch_by_name(self, name: str) -> None:
        """Start a program of the episode by what people call it; raises ActionError or EnvError."""
        wanted = name.strip().casefold()
        for entry in self._entries.values():
            if wanted in (entry.app_id, entry.title.casefold()):
                try:
                    await self._launch(entry, "/", min(_AGAIN_SECONDS, entry.ready.seconds))
                except EnvError as error:
                    if error.code not in _NOT_SHOWN:
                        raise
                    raise ActionError(None, error.message) from error
                return
        known = ", ".join(entry.title for entry in self._entries.values())
        raise ActionError("bad_arguments", f"there is no program '{name}'; there are: {known}")

    async def written(self) -> None:
        """Wait until files change no more and no program works: they write a moment after what made them. Raises
        EnvError."""
        until = self._machine.clock() + _WRITTEN_SECONDS * self._machine.patience
        before, now, works = None, await self._machine.files(), False
        while (works or now != before) and self._machine.clock() < until:
            await asyncio.sleep(_CALM_SECONDS)
            works = await self._machine.works()
            before, now = now, await self._machine.files()

    async def read(self, checks: Sequence[Check], index: int) -> list[ProbeRead]:
        """Each distinct question once, then the changes of every program; raises EnvError."""
        calls = {(check.app_id or self._home, check.call): check for check in checks}
        reads = [
            await self._answered(app_id, check, index)
            for (app_id, _), check in calls.items()
            if check.probe not in RESERVED_PROBES and check.probe != CHANGES
        ]
        files = shaped(await self._machine.files(), await self._shapes())
        for app_id, entry in self._entries.items():
            rows = difference(self._began.get(app_id, {}), state_of(files, entry.state))
            kept = [row for row in rows if not any(fnmatchcase(row[0], pattern) for pattern in entry.bookkeeping)]
            reads.append(_read(app_id, CHANGES, index, kept, None))
        return reads

    async def _shapes(self) -> dict[str, str]:
        return await self._found("%y%m %l")

    async def _found(self, told: str) -> dict[str, str]:
        """What `find` tells of everything in the home folder, by path; raises EnvError."""
        ran = await self._run(["find", ".", "-mindepth", "1", "-printf", f"%P\\0{told}\\0"])
        if ran.code != 0 and not ran.out:
            said = ran.err.decode(errors="replace").strip()
            raise EnvError("files_untold", f"it is not told what lies in the home folder: {said}")
        parts = ran.out.decode(errors="surrogateescape").split("\0")
        return dict(zip(parts[::2], parts[1::2], strict=False))

    async def _run(self, argv: Sequence[str]) -> Ran:
        return await self._machine.run(argv, seconds=_FIND_SECONDS * self._machine.patience)

    async def _answered(self, app_id: str, check: Check, index: int) -> ProbeRead:
        path: str | None = None
        try:
            with boundary(ProbeError, "unreadable"):
                probe, args = self._probe(app_id, check)
                path = path_of(probe, args)
                return _read(app_id, check.call, index, await read_product(probe, args, self._machine), None)
        except ProbeError as error:
            late = isinstance(error.__cause__, TimeoutError | MemoryError)
            value: list[list[str]] | None = [] if path and not late and await self._was_made(path) else None
            return _read(app_id, check.call, index, value, error.message)

    def _probe(self, app_id: str, check: Check) -> tuple[ProgramProbe, dict[str, str]]:
        entry = self._entries.get(app_id)
        if entry is None or check.probe not in entry.probes:
            raise ProbeError("unknown_probe", f"{app_id} has no probe '{check.probe}' in this episode")
        return entry.probes[check.probe], {param.name: param.value for param in check.args}

    async def _was_made(self, path: str) -> bool:
        """Whether the episode has made what lies there, and it is not still being written."""
        name = str(PurePosixPath(path))
        found = (await self._machine.files()).get(name)
        await asyncio.sleep(_CALM_SECONDS)
        if await self._machine.works() or (await self._machine.files()).get(name) != found:
            return False
        return name not in self._first or self._first[name] != found

    def _prepared(self, entry: ProgramEntry) -> dict[str, bytes]:
        """Files that an entry lays into the home folder."""
        top = entry.folder / entry.prepared
        found = {
            path.relative_to(top).as_posix(): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()
        }
        values = {"home": self._machine.home}
        return found | {path: filled(text, values).encode() for path, text in entry.files.items()}

    async def _prove(self, before: dict[str, str], laid: dict[str, bytes]) -> None:
        """Raise SetupError unless the home folder has what was laid, and else what was there before.

        Hidden files beside are the session's own, whose programs write when they please.
        """
        from_here = {path: hashlib.sha256(content).hexdigest() for path, content in laid.items()}
        now = await self._machine.files()
        wrong = [path for path, value in from_here.items() if now.get(path) != value]
        strange = [
            row[0]
            for row in difference(before | from_here, now)
            if not row[0].endswith("/") and not row[0].startswith(".")
        ]
        if wrong or strange:
            raise SetupError("setup_failed", f"the home folder is not as prepared: {[*wrong, *strange][:5]}")

    async def _launch(self, entry: ProgramEntry, path: str, seconds: float) -> None:
        """Start a program and wait for its window; raises EnvError when it does not show."""
        values = {"home": self._machine.home}
        argv = [filled(part, values) for part in entry.start]
        if path.strip("/"):
            argv.append(str(Path(self._machine.home) / path.lstrip("/")))
        had = len(_fitting(entry, await self._machine.windows()))
        variables = {name: filled(text, values) for name, text in entry.environment.items()}
        try:
            await self._machine.launch(argv, variables)
        except EnvError as error:
            packages = " ".join(entry.install.packages)
            raise EnvError(error.code, f"{error.message} (it comes with the packages {packages})") from error
        seconds *= self._machine.patience
        until = self._machine.clock() + seconds
        while len(_fitting(entry, await self._machine.windows())) <= had:
            if self._machine.clock() > until:
                shown = [window.title for window in await self._machine.windows()]
                raise EnvError("app_not_ready", f"no window of {entry.title} in {seconds:g} s; there are: {shown}")
            await asyncio.sleep(_POLL_SECONDS)
        left = (until - self._machine.clock()) / self._machine.patience
        await self._machine.settle(min(_SETTLE_SECONDS, max(_LEAST_SETTLE_SECONDS, left)))


def _visible(told: dict[str, str]) -> dict[str, str]:
    """Of what is neither hidden nor in a hidden folder: those are the session's own."""
    return {path: value for path, value in told.items() if "/." not in f"/{path}"}


def _fitting(entry: ProgramEntry, windows: Sequence[Window]) -> list[Window]:
    ready = entry.ready
    return [w for w in windows if re.search(ready.kind, w.kind) and re.search(ready.title, w.title)]


def _add(laid: dict[str, bytes], operation: SetupOperation) -> None:
    """Carry out a task's set-up on what is to be laid; raises SetupError for what cannot be done to files."""
    content = operation.content.encode()
    match operation.kind:
        case "write":
            laid[operation.target] = content
        case "append":
            laid[operation.target] = laid.get(operation.target, b"") + content
        case kind:
            raise SetupError("setup_failed", f"'{kind}' cannot be done on a desktop")


def _read(app_id: str, probe: str, index: int, value: list[list[str]] | None, error: str | None) -> ProbeRead:
    return ProbeRead(attempt_id="", observation_index=index, app_id=app_id, probe=probe, value=value, error=error)
