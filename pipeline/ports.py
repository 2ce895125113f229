"""TCP ports of this machine: one that is free, whether one is taken, and on which a program listens.

Knows nothing of what the programs are.
"""

from __future__ import annotations

import socket

import psutil

LOOPBACK = "127.0.0.1"


def free_port(host: str = LOOPBACK) -> int:
    """A port nobody listens on now; another program may still take it first, which a start notices."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def is_taken(port: int, host: str = LOOPBACK) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return True
    return False


def listening(pid: int) -> list[tuple[str, int]]:
    """Addresses on which a process or one of its descendants listens."""
    addresses = []
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
    for process in family:
        try:
            connections = process.net_connections(kind="tcp")
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        addresses += [(c.laddr.ip, c.laddr.port) for c in connections if c.status == psutil.CONN_LISTEN]
    return addresses
