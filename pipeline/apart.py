"""Programs in a network of their own, in which there are only themselves: where Linux lets us make one, root or not.

Knows nothing of what the programs are. A program that is to be reached from outside is started by `relay`.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache

from pipeline import loopback

APART = (
    *("unshare", "--user", "--map-current-user", "--keep-caps", "--net"),
    *(sys.executable, "-I", "-S", loopback.__file__),
    *("setpriv", "--ambient-caps=-all", "--inh-caps=-all"),
)
"""Before a command: in a network of its own, where loopback answers; without the rights that this took."""

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
    try:
        trial = [*APART, sys.executable, "-I", "-S", "-c", _TRIAL]
        done = subprocess.run(trial, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
