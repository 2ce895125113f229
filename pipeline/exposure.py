"""What of ours can be reached from other machines: a program that listens beyond loopback.

`exposed` looks at all that is ours on this machine, whoever started it, and at datagrams too; `refuse` at what this
process has started, before any work is done with it and while it is. Programs that look for others, as adb does, wait
for datagrams by themselves: they are named and not refused. Knows nothing of what the programs are for.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

import psutil

from pipeline.errors import RunError
from pipeline.guardian import MARK, owner_of

_NAMES = ("adb", "gcs_server", "pathproof", "ray::", "raylet")
_LOOK_SECONDS = 5.0
_ROOT = str(Path(__file__).resolve().parents[1])
_RAY = ("/ray/_private/", "/ray/dashboard/")
"""Parts of Ray that are Python programs: in their arguments."""


def exposed() -> list[str]:
    """Programs of ours that listen beyond loopback, each as `NAME on ADDRESS:PORT`: Ray, adb, ourselves, and all that
    runs have started, such as browsers, model servers, applications, displays and machines."""
    ours = (process for process in psutil.process_iter(["name", "uids", "environ", "cmdline"]) if _is_ours(process))
    return _outside(ours, ("tcp", "udp"))


def refuse() -> None:
    """Raise RunError when what this process has started listens beyond loopback."""
    here = psutil.Process()
    family = [here, *here.children(recursive=True)]
    found = _outside([*family, *_in_background({process.pid for process in family})], ("tcp",))
    if found:
        raise RunError(
            f"refused: other machines could reach {', '.join(found)}; a run of its own listens on loopback only,"
            " a cluster is joined by RAY_ADDRESS"
        )


async def watch(tell: Callable[[RunError], None], seconds: float = _LOOK_SECONDS) -> None:
    """Look again and again, and tell of what is refused; then it has ended."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await asyncio.to_thread(refuse)
        except RunError as error:
            tell(error)
            return


def _is_ours(process: psutil.Process) -> bool:
    info = process.info
    if info["uids"] is None or info["uids"].real != os.getuid():
        return False
    if str(info["name"]).startswith(_NAMES) or MARK in (info["environ"] or {}):
        return True
    words = (info["cmdline"] or [])[1:]
    return any(word.startswith((_ROOT, "pipeline.")) or any(part in word for part in _RAY) for word in words)


def _in_background(family: Collection[int]) -> Iterator[psutil.Process]:
    """Programs that left the family that started them: they carry the mark of a folder that one of it owns."""
    for process in psutil.process_iter(["uids", "environ"]):
        mark = (process.info["environ"] or {}).get(MARK)
        ours = process.info["uids"] is not None and process.info["uids"].real == os.getuid()
        if mark and ours and process.pid not in family:
            with contextlib.suppress(LookupError):
                if owner_of(Path(mark)) in family:
                    yield process


def _outside(processes: Iterable[psutil.Process], kinds: Sequence[str]) -> list[str]:
    return sorted({listener for process in processes for kind in kinds for listener in _listeners(process, kind)})


def _listeners(process: psutil.Process, kind: str) -> Iterator[str]:
    """Where a process listens beyond loopback; what it has in a network of its own is not among it."""
    with contextlib.suppress(psutil.Error):
        for found in process.net_connections(kind=kind):
            # A datagram socket without a partner takes what anybody sends.
            waits = found.status == psutil.CONN_LISTEN if kind == "tcp" else not found.raddr
            if waits and found.laddr and not _is_loopback(found.laddr.ip):
                yield f"{process.name()} on {found.laddr.ip}:{found.laddr.port}{' (udp)' if kind == 'udp' else ''}"


def _is_loopback(address: str) -> bool:
    machine = ipaddress.ip_address(address)
    return bool((getattr(machine, "ipv4_mapped", None) or machine).is_loopback)
