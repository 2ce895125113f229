"""Calls in threads that are waited for to their end, also when nobody wants what they give any more.

A thread cannot be stopped: one that is left to itself goes on with what it shares with the next one. Knows nothing of
what is called.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")


async def to_end(call: Callable[[], _T], hurry: Callable[[], object] | None = None) -> _T:
    """What a call gives, made in a thread. Whoever is cancelled meanwhile hears of it when the call has ended.

    `hurry` is called then, for calls that can be told to end soon.
    """
    work = asyncio.ensure_future(asyncio.to_thread(call))
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
            if hurry is not None:
                hurry()
    if cancelled is None:
        return work.result()
    if not work.cancelled():
        work.exception()  # it has been looked at
    raise cancelled
