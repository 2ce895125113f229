"""Ports: free, taken, and whose they are."""

from __future__ import annotations

import os
import socket

from pipeline.ports import LOOPBACK, free_port, is_taken, listening


def test_a_free_port_is_taken_once_somebody_listens_there() -> None:
    port = free_port()
    assert not is_taken(port)

    with socket.create_server((LOOPBACK, port)):
        assert is_taken(port)


def test_a_program_listens_where_it_does_and_not_after() -> None:
    with socket.create_server((LOOPBACK, 0)) as server:
        address = server.getsockname()
        assert address in listening(os.getpid())

    assert address not in listening(os.getpid())


def test_a_program_that_has_ended_listens_nowhere() -> None:
    assert listening(2**22 + 1) == []
