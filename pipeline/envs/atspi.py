"""UI trees of a session over AT-SPI, read by a child of the system's own Python, which has the bindings.

A child that does not answer in time is ended, and another one is asked the next time. Its answers have a language of
their own (scripts/atspi_reader.py); here they become nodes. Knows nothing of how sessions are made.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pipeline.actions import Pixel
from pipeline.envs.machine import NODES, TREE_SECONDS, Seen
from pipeline.errors import TreeError
from pipeline.structs import Box, Node

SCRIPT = Path(__file__).parent / "scripts" / "atspi_reader.py"
COMMAND = ("/usr/bin/python3", "-E", str(SCRIPT))
"""The child, by the interpreter that the packages python3-gi and gir1.2-atspi-2.0 belong to."""

_MORE_SECONDS = 3.0
"""What the child has beside the time for the tree itself: a call that hangs ends by itself before."""
_GREET_MS = 1800
"""What programs have for their first answers, before which they are asked for all that they have ever shown."""
_AT_SECONDS = 1.5
_BUS_SECONDS = 8.0
"""What the child has to start and to be answered once."""

Spawn = Callable[[], Awaitable[asyncio.subprocess.Process]]
"""Starts the child within a session, with pipes."""


class TreeReader:
    """Asks one session for trees."""

    def __init__(self, spawn: Spawn) -> None:
        self._spawn = spawn
        self._child: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()

    async def start(self) -> None:
        """Start the child before it is asked; again is harmless. Raises TreeError."""
        if self._child is None or self._child.returncode is not None:
            try:
                self._child = await self._spawn()
            except OSError as error:
                raise TreeError("unavailable", f"{COMMAND[0]} cannot be run: {error}") from error

    async def check(self) -> None:
        """Raise TreeError unless the bus answers: programs that find a silent one wait half a minute for it."""
        await self._ask({"op": "bus"}, _BUS_SECONDS)

    async def tree(self, nodes: int = NODES, seconds: float = TREE_SECONDS) -> Seen:
        """The tree of what shows; raises TreeError."""
        request = {"op": "tree", "nodes": nodes, "seconds": seconds, "greet_ms": _GREET_MS}
        answer = await self._ask(request, seconds + _MORE_SECONDS)
        return seen_of(answer)

    async def node_at(self, pixel: Pixel) -> Node | None:
        """What lies under a pixel; raises TreeError."""
        answer = await self._ask({"op": "at", "x": pixel.x, "y": pixel.y}, _AT_SECONDS)
        return None if answer.get("node") is None else node_of(answer["node"])

    async def close(self) -> None:
        """End the child; again is harmless."""
        child, self._child = self._child, None
        if child is None:
            return
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
        await child.communicate()

    async def _ask(self, request: Mapping[str, object], seconds: float) -> dict[str, Any]:
        async with self._lock:
            try:
                async with asyncio.timeout(seconds):
                    await self.start()
                    line = await self._exchange(json.dumps(request))
            except TimeoutError as error:
                await self.close()
                raise TreeError("timeout", f"no tree in {seconds:g} s") from error
            except asyncio.CancelledError:
                # Its answer would be taken for that to the next request.
                await self.close()
                raise
            except ConnectionError:
                line = b""  # it ended before it had read
            except (OSError, ValueError) as error:
                await self.close()
                raise TreeError("unavailable", f"the tree reader failed: {error}") from error
            if not line:
                await self.close()
                raise TreeError("unavailable", "no tree reader: install the packages python3-gi and gir1.2-atspi-2.0")
        return answer_of(line)

    async def _exchange(self, request: str) -> bytes:
        assert self._child is not None and self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.write(request.encode() + b"\n")
        await self._child.stdin.drain()
        return await self._child.stdout.readline()


def answer_of(line: bytes) -> dict[str, Any]:
    """The child's answer; raises TreeError when it says that it failed, or nothing sound."""
    try:
        answer = json.loads(line)
    except ValueError as error:
        raise TreeError("unavailable", f"the tree reader said {line[:200]!r}") from error
    if not isinstance(answer, dict) or "error" in answer:
        raise TreeError("unavailable", f"the tree reader failed: {str(answer)[:300]}")
    return answer


def seen_of(answer: Mapping[str, Any]) -> Seen:
    """The tree of an answer; raises TreeError, also for one without nodes: programs that say nothing show something."""
    try:
        nodes = [node_of(row) for row in answer["nodes"]]
        partial = bool(answer["partial"])
    except (KeyError, TypeError) as error:
        raise TreeError("unavailable", f"the tree reader said {str(answer)[:200]}") from error
    if not nodes:
        raise TreeError("timeout" if partial else "unavailable", "no program tells what it shows")
    return Seen(nodes, partial)


def node_of(row: object) -> Node:
    """A node of its row; raises TreeError."""
    try:
        match row:
            case [role, name, value, [left, top, right, bottom], states]:
                box = Box(left=left, top=top, right=right, bottom=bottom)
                return Node(role=role, name=name, value=value, box=box, states=states)
            case [role, name, value, None, states]:
                return Node(role=role, name=name, value=value, states=states)
    except ValidationError as error:
        raise TreeError("unavailable", f"the tree reader said {str(row)[:200]}") from error
    raise TreeError("unavailable", f"the tree reader said {str(row)[:200]}")
