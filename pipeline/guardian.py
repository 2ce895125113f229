"""A small process that outlives its owner and removes what the owner leaves behind.

`Scratch` (pipeline.reaper) starts this file with one argument, its folder, and holds the other end of standard input.
When the pipe closes or the owner's pid is gone, every process that carries the folder's mark is ended and the folder
is removed. Processes are found by their mark, never by a name. Knows nothing of applications, browsers or Ray, and
imports nothing of the project, so that it starts at once from any working directory.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import shutil
import signal
import socket
import sys
import time
from collections.abc import Collection, Iterable
from pathlib import Path

import psutil

MARK = "PATHPROOF_SCRATCH"
"""Environment variable that ties a process to a scratch folder."""

OWNER_FILE = ".owner"
SESSIONS_FILE = ".sessions"
READY = b"ready\n"

_POLL_SECONDS = 1.0
_TICK_SECONDS = 0.02
_GRACE_SECONDS = 1.5
_PATIENCE_SECONDS = 15.0
_CLOCK_TOLERANCE_SECONDS = 2.0


def record_owner(folder: Path) -> None:
    """Write down which process owns the folder, so that a later start can tell whether it still lives."""
    me = psutil.Process()
    text = json.dumps({"pid": me.pid, "created": me.create_time(), "machine": machine()})
    (folder / OWNER_FILE).write_text(text, encoding="utf-8")


def record_session(folder: Path, leader: int) -> None:
    """Write down that a session belongs to the folder: programs that rename themselves erase their environment."""
    with (folder / SESSIONS_FILE).open("a", encoding="ascii") as sessions:
        sessions.write(f"{leader}\n")


def owner_of(folder: Path) -> int | None:
    """Pid of the folder's owner when it lives; None when it is dead.

    Raises LookupError when that cannot be told: no readable record, or one made on another machine or in another
    pid namespace.
    """
    try:
        owner = json.loads((folder / OWNER_FILE).read_text(encoding="utf-8"))
        pid, created, where = int(owner["pid"]), float(owner["created"]), str(owner["machine"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LookupError(f"{folder}: no readable owner record") from error
    if where != machine():
        raise LookupError(f"{folder}: owned by a process of another machine or container")
    return pid if _lives(pid, created) else None


def machine() -> str:
    """Where a pid means something: host name, boot and pid namespace."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    namespace = Path("/proc/self/ns/pid")
    boot_id = boot.read_text(encoding="ascii").strip() if boot.exists() else ""
    return "/".join([socket.gethostname(), boot_id, str(namespace.readlink()) if namespace.is_symlink() else ""])


def reap(folder: Path, spare: Collection[int] = ()) -> bool:
    """End every marked process except `spare` and ourselves, remove the folder; False when the time ran out."""
    kept = {*spare, os.getpid()}
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        left = marked(folder, kept)
        end(left, _GRACE_SECONDS)
        if not left and _removed(folder):
            return True
    return False


def marked(folder: Path, spare: Collection[int] = ()) -> list[psutil.Process]:
    """Live processes of this user that belong to the folder, with descendants.

    They carry it in their environment or command line, or work in it as members of one of its sessions.
    """
    sessions = _sessions(folder)
    mark = re.compile(re.escape(str(folder)) + r"(?![\w.-])")
    found: dict[int, psutil.Process] = {}
    children: dict[int, list[psutil.Process]] = {}
    for process in psutil.process_iter(["ppid", "uids", "cmdline", "environ", "status"]):
        info = process.info
        if info["status"] == psutil.STATUS_ZOMBIE or info["uids"] is None or info["uids"].real != os.getuid():
            continue
        children.setdefault(info["ppid"], []).append(process)
        if _belongs(process, mark, sessions):
            found[process.pid] = process
    queue = [pid for pid in found if pid not in spare]
    while queue:
        for child in children.get(queue.pop(), []):
            if child.pid not in found:
                found[child.pid] = child
                queue.append(child.pid)
    return [process for pid, process in found.items() if pid not in spare]


def end(processes: Iterable[psutil.Process], grace_seconds: float) -> None:
    """Ask the processes to terminate, then kill those that are still there after the grace time."""
    left = list(processes)
    for number in (signal.SIGTERM, signal.SIGKILL):
        send(left, number)
        left = wait(left, grace_seconds)


def send(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    """Signal the processes that are still there."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            process.send_signal(number)


def wait(processes: Iterable[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Wait until the processes have ended; those that have not in time. Their exit codes stay with their parents."""
    deadline = time.monotonic() + seconds
    left = [process for process in processes if _runs(process)]
    while left and time.monotonic() < deadline:
        time.sleep(_TICK_SECONDS)
        left = [process for process in left if _runs(process)]
    return left


def main(folder: Path) -> None:
    """Stand guard until the owner is gone, then reap."""
    if os.fork():
        # Ray ends the direct children of a worker that exits; being a grandchild keeps the guardian out of that.
        os._exit(0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.write(sys.stdout.fileno(), READY)
    _wait_for_end(folder)
    try:
        owner = owner_of(folder)
    except LookupError:
        owner = None
    reap(folder, spare=() if owner is None else (owner,))


def _sessions(folder: Path) -> set[int]:
    try:
        return {int(line) for line in (folder / SESSIONS_FILE).read_text(encoding="ascii").split()}
    except OSError:
        return set()


def _belongs(process: psutil.Process, mark: re.Pattern[str], sessions: set[int]) -> bool:
    """Whether a process carries the mark, or is a member of a session and works in the folder.

    The working directory proves that the session's number is not used anew by others.
    """
    info = process.info
    if mark.search((info["environ"] or {}).get(MARK, "")) or any(map(mark.search, info["cmdline"] or [])):
        return True
    try:
        return os.getsid(process.pid) in sessions and mark.match(process.cwd()) is not None
    except (ProcessLookupError, psutil.Error):
        return False


def _wait_for_end(folder: Path) -> None:
    """Return when standard input closes; a fork that inherited the other end must not keep us: also ask for the pid."""
    with selectors.DefaultSelector() as selector:
        selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
        while not selector.select(_POLL_SECONDS):
            try:
                if owner_of(folder) is None:
                    return
            except LookupError:
                continue


def _lives(pid: int, created: float) -> bool:
    try:
        process = psutil.Process(pid)
    except psutil.NoSuchProcess:
        return False
    return _runs(process) and abs(process.create_time() - created) <= _CLOCK_TOLERANCE_SECONDS


def _runs(process: psutil.Process) -> bool:
    """Whether the process has not ended; one that only waits to be collected by its parent has."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _removed(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
