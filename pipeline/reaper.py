"""Scratch folders that leave nothing behind: private, marked, and watched by a guardian process.

Whatever a worker starts (application servers, browsers) is started in a scratch folder and carries its mark, so that a
crash of the worker, even by SIGKILL, takes all of it along. Knows nothing of what the programs are.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import psutil

from pipeline import guardian
from pipeline.errors import SetupError

PREFIX = "pathproof-"

_GUARDIAN_START_SECONDS = 20.0
_GUARDIAN_END_SECONDS = 20.0
_COLLECT_SECONDS = 5.0


class Scratch:
    """A private folder with a guardian; a context manager."""

    def __init__(self, name: str, root: Path | None = None) -> None:
        """Make the folder and wait until its guardian stands; raises SetupError."""
        try:
            made = tempfile.mkdtemp(prefix=f"{PREFIX}{name}-", dir=root)
            self.path = Path(made).resolve()
            guardian.record_owner(self.path)
        except OSError as error:
            raise SetupError("no_scratch", f"cannot make a scratch folder for '{name}': {error}") from error
        self._guard = _Guard(self.path)
        self._spawned: list[subprocess.Popen[bytes]] = []

    @property
    def environment(self) -> dict[str, str]:
        """Our environment variables with the mark, and temporary files kept inside the folder."""
        return {**os.environ, "TMPDIR": str(self.path), guardian.MARK: str(self.path)}

    def spawn(
        self,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        log: Path,
        environment: Mapping[str, str] | None = None,
        descriptors: Sequence[int] = (),
    ) -> subprocess.Popen[bytes]:
        """Start a program in its own session, output appended to `log`; `environment` adds variables.

        The program is handed the `descriptors` under their numbers.
        """
        variables = {**self.environment, **(environment or {}), guardian.MARK: str(self.path)}
        try:
            with log.open("ab") as output:
                process = subprocess.Popen(
                    list(argv),
                    cwd=cwd or self.path,
                    env=variables,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    pass_fds=descriptors,
                )
        except OSError as error:
            raise SetupError("program_not_started", f"cannot start '{argv[0]}': {error}") from error
        guardian.record_session(self.path, process.pid)
        self._spawned = [earlier for earlier in self._spawned if earlier.poll() is None] + [process]
        return process

    def stop(self, process: subprocess.Popen[bytes], grace_seconds: float = 3.0) -> None:
        """End a program with everything it started, also what left its process tree but stayed in its session."""
        others = self._family(process)
        for number in (signal.SIGTERM, signal.SIGKILL):
            process.send_signal(number)
            guardian.send(others, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=grace_seconds)
            others = guardian.wait(others, grace_seconds)

    def close(self) -> None:
        """End everything that carries the mark and remove the folder; again is harmless."""
        self._guard.dismiss()
        if self.path.exists():
            guardian.reap(self.path)
        for process in self._spawned:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=_COLLECT_SECONDS)

    def __enter__(self) -> Scratch:
        """The scratch itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def _family(self, process: subprocess.Popen[bytes]) -> list[psutil.Process]:
        """Descendants of a program and marked members of its session, without the program itself."""
        family: dict[int, psutil.Process] = {}
        if process.poll() is None:
            with contextlib.suppress(psutil.NoSuchProcess):
                family = {child.pid: child for child in psutil.Process(process.pid).children(recursive=True)}
        for member in guardian.marked(self.path, {os.getpid(), process.pid}):
            with contextlib.suppress(ProcessLookupError):
                if os.getsid(member.pid) == process.pid:
                    family[member.pid] = member
        return list(family.values())


class _Guard:
    """Our ends of the two pipes to the guardian: one that tells it we live, one that tells us it does."""

    def __init__(self, folder: Path) -> None:
        variables = {key: value for key, value in os.environ.items() if key != guardian.MARK}
        read_end, self._life = os.pipe()
        self._voice, write_end = os.pipe()
        try:
            starter = subprocess.Popen(
                [sys.executable, "-P", guardian.__file__, str(folder)],
                cwd="/",
                env=variables,
                stdin=read_end,
                stdout=write_end,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            self._close()
            raise SetupError("no_guardian", f"the guardian of {folder} could not be started: {error}") from error
        finally:
            os.close(read_end)
            os.close(write_end)
        if self._hear(_GUARDIAN_START_SECONDS) != guardian.READY:
            starter.kill()
            starter.wait(timeout=_COLLECT_SECONDS)
            self._close()
            raise SetupError("no_guardian", f"the guardian of {folder} did not come up")
        starter.wait(timeout=_COLLECT_SECONDS)

    def dismiss(self) -> None:
        """Let the guardian do its work and wait for its end."""
        if self._life < 0:
            return
        os.close(self._life)
        self._life = -1
        self._hear(_GUARDIAN_END_SECONDS)
        self._close()

    def _hear(self, seconds: float) -> bytes:
        """What the guardian says next; empty when it has ended or the time ran out."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._voice, selectors.EVENT_READ)
            return os.read(self._voice, 64) if selector.select(seconds) else b""

    def _close(self) -> None:
        for end in (self._life, self._voice):
            if end >= 0:
                os.close(end)
        self._life = self._voice = -1


def sweep(root: Path | None = None) -> list[Path]:
    """Remove scratch folders under `root` whose owner is dead, with their processes; the folders removed."""
    removed = []
    for folder in sorted((root or Path(tempfile.gettempdir())).glob(f"{PREFIX}*")):
        try:
            abandoned = folder.stat().st_uid == os.getuid() and guardian.owner_of(folder) is None
        except (LookupError, FileNotFoundError):
            continue
        if abandoned and guardian.reap(folder.resolve()):
            removed.append(folder)
    return removed
