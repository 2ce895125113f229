"""Work that is begun a little ahead and taken in order, one by one or several together.

Knows nothing of what is worked on.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Coroutine, Iterable
from typing import TypeVar

Result = TypeVar("Result")


async def ahead(work: Iterable[Coroutine[None, None, Result]], at_once: int) -> AsyncGenerator[Result, None]:
    """The results in the order of the work, of which so many are under way; what is left at the end is given up."""
    waiting: deque[asyncio.Task[Result]] = deque()
    try:
        for one in work:
            waiting.append(asyncio.create_task(one))
            if len(waiting) == at_once:
                yield await waiting.popleft()
        while waiting:
            yield await waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def batches(results: AsyncIterable[Result], size: int) -> AsyncGenerator[list[Result], None]:
    """So many results at a time; the last ones may be fewer."""
    batch: list[Result] = []
    async for result in results:
        batch.append(result)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
