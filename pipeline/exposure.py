"""What of ours can be reached from other machines: a program that listens beyond loopback.

`exposed` looks at all that is ours on this machine, whoever started it; `refuse` at what this process has started,
before any work is done with it. Knows nothing of what the programs are for.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from pipeline.errors import RunError
from pipeline.guardian import MARK

_NAMES = ("adb", "gcs_server", "pathproof", "ray::", "raylet")
_ROOT = str(Path(__file__).resolve().parents[1])
_RAY = ("/ray/_private/", "/ray/dashboard/")
"""Parts of Ray that are Python programs: in their arguments."""


def exposed() -> list[str]:
    """Programs of ours that listen beyond loopback, each as `NAME on ADDRESS:PORT`: Ray, adb, ourselves, and all that
    runs have started, such as browsers, model servers, applications, displays and machines."""
    ours = (process for process in psutil.process_iter(["name", "uids", "environ", "cmdline"]) if _is_ours(process))
    return _outside(ours)


def refuse() -> None:
    """Raise RunError when what this process has started listens beyond loopback."""
    here = psutil.Process()
    found = _outside([here, *here.children(recursive=True)])
    if found:
        raise RunError(
            f"refused: other machines could reach {', '.join(found)}; a run of its own listens on loopback only,"
            " a cluster is joined by RAY_ADDRESS"
        )


def _is_ours(process: psutil.Process) -> bool:
    info = process.info
    if info["uids"] is None or info["uids"].real != os.getuid():
        return False
    if str(info["name"]).startswith(_NAMES) or MARK in (info["environ"] or {}):
        return True
    words = (info["cmdline"] or [])[1:]
    return any(word.startswith((_ROOT, "pipeline.")) or any(part in word for part in _RAY) for word in words)


def _outside(processes: Iterable[psutil.Process]) -> list[str]:
    return sorted({listener for process in processes for listener in _listeners(process)})


def _listeners(process: psutil.Process) -> Iterator[str]:
    """Where a process listens beyond loopback; what it has in a network of its own is not among it."""
    with contextlib.suppress(psutil.Error):
        for found in process.net_connections(kind="tcp"):
            if found.status == psutil.CONN_LISTEN and not _is_loopback(found.laddr.ip):
                yield f"{process.name()} on {found.laddr.ip}:{found.laddr.port}"


def _is_loopback(address: str) -> bool:
    machine = ipaddress.ip_address(address)
    return bool((getattr(machine, "ipv4_mapped", None) or machine).is_loopback)
