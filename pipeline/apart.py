"""Programs in a network of their own, in which there are only themselves: where Linux lets us make one, root or not.

Where it does they are, if that can be had too, among processes of their own: they see no other, and whatever they have
started ends with them, however it has hidden. Knows nothing of what the programs are. A program that is to be reached
from outside is started by `relay`.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache

from pipeline import loopback

_UNSHARE = ("unshare", "--user", "--map-current-user", "--keep-caps", "--net")
_LOOPBACK = (sys.executable, "-I", "-S", loopback.__file__)
_PLAIN = ("setpriv", "--ambient-caps=-all", "--inh-caps=-all")

APART = (*_UNSHARE, *_LOOPBACK, *_PLAIN)
"""Before a command: in a network of its own, where loopback answers; without the rights that this took."""

ALONE = (
    *(*_UNSHARE, "--pid", "--fork", "--kill-child", "--mount-proc", *_LOOPBACK),
    # The first process of its kind has to collect orphans, and is deaf to signals: no program is made for that.
    *("sh", "-c", '"$@"; exit $?', "sh", *_PLAIN),
)
"""As `APART`, and among processes of its own, which end when the command does, or when it is killed from outside."""

NO_NETWORKS = "the system makes no network namespaces for us"
"""Why programs reach what their host reaches."""

_SECONDS = 10.0
_TRIAL = (
    "import socket\n"
    "with socket.create_server(('127.0.0.1', 0)) as here, socket.create_connection(here.getsockname()): pass"
)


@cache
def can_part() -> bool:
    """Whether the system lets us run a program in a network of its own: many containers do not."""
    return _works(APART)


@cache
def can_end() -> bool:
    """Whether it also lets us see to it that nothing outlives such a program: some containers do not."""
    return _works(ALONE)


def before_command() -> tuple[str, ...]:
    """What is put before a command, by what the system lets us do."""
    if can_end():
        return ALONE
    return APART if can_part() else ()


def _works(prefix: tuple[str, ...]) -> bool:
    try:
        trial = [*prefix, sys.executable, "-I", "-S", "-c", _TRIAL]
        done = subprocess.run(trial, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
