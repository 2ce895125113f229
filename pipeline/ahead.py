"""Work that is begun ahead of its turn: several pieces at the same time, their results in order.

Knows nothing of the work.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from typing import Any, TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")


async def in_turn(
    pieces: Iterable[Piece], work: Callable[[Piece], Coroutine[Any, Any, Result]], at_once: int
) -> AsyncGenerator[Result, None]:
    """The results of all pieces in their order; what is under way when it is closed is cancelled and waited for."""
    waiting: deque[asyncio.Task[Result]] = deque()
    try:
        for piece in pieces:
            waiting.append(asyncio.create_task(work(piece)))
            if len(waiting) == at_once:
                yield await waiting.popleft()
        while waiting:
            yield await waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
