"""The agent in a guest, as Debian ships it: programs run in the session of its user, and files written by them.

Programs are run as that user with an environment of the session's and nothing else, in the home folder. Knows nothing
of screens.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipeline.envs.machine import Ran
from pipeline.envs.qemu_wire import Channel, RefusedError
from pipeline.errors import EnvError

USER = 1000
"""The user of the session, by number, in every image of ours."""
SECONDS = 20.0
"""What the agent has for one answer: guests without acceleration are slow, and slower beside others."""

_FIRST_POLL_SECONDS, _POLL_SECONDS = 0.01, 0.1


class Agent:
    """The agent of one guest."""

    def __init__(
        self, channel: Channel, environment: Mapping[str, str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`environment` is that of the session; programs have their seconds by the `clock`."""
        self._channel = channel
        self._clock = clock
        self.environment = dict(environment)

    async def sync(self, seconds: float = SECONDS) -> None:
        """Return when the guest answers a new token; raises EnvError."""
        await self._channel.sync(seconds)

    async def run(self, argv: Sequence[str], *, seconds: float, feed: bytes = b"", root: bool = False) -> Ran:
        """Run a program to its end; raises EnvError when it says too much, or takes longer, after which it is ended."""
        until = self._clock() + seconds
        pid = await self._start(argv, {}, feed=feed, root=root, heard=True)
        pause = _FIRST_POLL_SECONDS
        while True:
            status = await self._ask("guest-exec-status", {"pid": pid})
            if status["exited"]:
                return _ran(status)
            if self._clock() > until:
                await self._start(["sh", "-c", f"kill -9 {pid}"], {}, root=True)
                raise EnvError("program_hangs", f"{argv[0]} took longer than {seconds:g} s")
            await asyncio.sleep(pause)
            pause = min(_POLL_SECONDS, 1.5 * pause)

    async def launch(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start a program and do not wait for it; raises EnvError."""
        found = await self.run(["sh", "-c", 'command -v -- "$1"', "sh", argv[0]], seconds=SECONDS)
        if found.code != 0:
            raise EnvError("program_missing", f"there is no program {argv[0]} in the machine's image")
        await self._start(argv, environment)

    async def write(self, path: str, content: bytes) -> None:
        """Make or replace a file of the user's, and the folders it lies in; raises OSError or EnvError.

        What lies there and is none, so that writing would hang or go elsewhere, is removed.
        """
        none = '[ -L "$1" ] || { [ -e "$1" ] && [ ! -f "$1" ] && [ ! -d "$1" ]; }'
        script = f'mkdir -p -- "${{1%/*}}" && if {none}; then rm -f -- "$1"; fi && cat >"$1"'
        done = await self.run(["sh", "-c", script, "sh", path], seconds=SECONDS, feed=content)
        if done.code != 0:
            raise OSError(done.err.decode(errors="replace").strip())

    async def _start(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        *,
        feed: bytes = b"",
        root: bool = False,
        heard: bool = False,
    ) -> int:
        """Start a program; its number. `heard` keeps what it says."""
        variables = {**self.environment, **environment}
        whole = list(argv)
        if not root:
            home = self.environment["HOME"]
            become = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", "--", "env", "-C", home]
            whole = [*become, "--", *argv]
        request: dict[str, object] = {
            "path": whole[0],
            "arg": whole[1:],
            "env": [f"{name}={value}" for name, value in variables.items()],
            "capture-output": heard,
        }
        if feed:
            request["input-data"] = base64.b64encode(feed).decode("ascii")
        return int((await self._ask("guest-exec", request))["pid"])

    async def _ask(self, command: str, arguments: Mapping[str, object]) -> Any:
        try:
            return await self._channel.ask(command, arguments, seconds=SECONDS)
        except RefusedError as error:
            raise EnvError("agent_refuses", f"the guest's agent refuses {command}: {error}") from error


def _ran(status: Mapping[str, Any]) -> Ran:
    """What a status says of a program that has ended; one that was killed has the negative number of the signal.

    Raises EnvError when it has said more than the agent keeps: the rest is lost.
    """
    if status.get("out-truncated") or status.get("err-truncated"):
        raise EnvError("answer_cut", "a program in the guest said more than the guest's agent keeps")
    code = -int(status["signal"]) if "signal" in status else int(status.get("exitcode", 0))
    out, err = (base64.b64decode(status.get(name, "")) for name in ("out-data", "err-data"))
    return Ran(code, out, err)
