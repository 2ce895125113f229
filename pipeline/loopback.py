"""Brings up the loopback device of the network this is started in, and becomes another program.

    python loopback.py COMMAND...

A script with nothing but the standard library, started anew with each program that has a network of its own: there that
device is down at first.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import sys

_SET_FLAGS = 0x8914
_UP = 0x1


def main(command: list[str]) -> None:
    """Bring it up, and become the command."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as anything:
        fcntl.ioctl(anything, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
