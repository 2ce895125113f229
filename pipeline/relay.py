"""Runs a program in the network this is started in, and lets in who connects to a socket of the network outside.

    python relay.py DESCRIPTOR PORT COMMAND...

The descriptor is a socket that was bound outside and belongs there for good. It listens once the program answers at the
port inside, to which whoever connects is then connected. Ends with the program, and with its exit code. A script with
nothing but the standard library, started anew with each application: it knows nothing of the pipeline.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time

_CHUNK = 65536
_BACKLOG = 128
_POLL_SECONDS = 0.01


def main(arguments: list[str]) -> int:
    """Start the program, and let others in for as long as it runs."""
    outside, port = socket.socket(fileno=int(arguments[0])), int(arguments[1])
    with subprocess.Popen(arguments[2:]) as program:
        while program.poll() is None:
            with contextlib.suppress(OSError):
                _inside(port).close()
                break
            time.sleep(_POLL_SECONDS)
        outside.listen(_BACKLOG)
        threading.Thread(target=_serve, args=(outside, port), daemon=True).start()
        return program.wait()


def _serve(outside: socket.socket, port: int) -> None:
    """Connect everybody who comes."""
    while True:
        client, _ = outside.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            inside = _inside(port)
        except OSError:
            client.close()  # as a program that has gone away
        else:
            threading.Thread(target=_join, args=(client, inside), daemon=True).start()


def _inside(port: int) -> socket.socket:
    """A connection to the program; raises OSError while it does not listen."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _join(client: socket.socket, inside: socket.socket) -> None:
    """Carry bytes both ways until both have ended."""
    with client, inside:
        back = threading.Thread(target=_carry, args=(inside, client), daemon=True)
        back.start()
        _carry(client, inside)
        back.join()


def _carry(source: socket.socket, sink: socket.socket) -> None:
    """Carry bytes until the source ends; the other end is told so."""
    with contextlib.suppress(OSError):
        while data := source.recv(_CHUNK):
            sink.sendall(data)
    for side, how in ((sink, socket.SHUT_WR), (source, socket.SHUT_RD)):
        with contextlib.suppress(OSError):
            side.shutdown(how)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
