"""Calls in threads whose end is waited for."""

from __future__ import annotations

import asyncio
import threading

import pytest

from pipeline.threads import to_end


async def test_what_a_call_gives_or_raises_is_given_on() -> None:
    assert await to_end(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        await to_end(lambda: 1 // 0)


async def test_who_is_cancelled_hears_of_it_when_the_call_has_ended() -> None:
    begun, told, ended = threading.Event(), threading.Event(), threading.Event()

    def call() -> None:
        begun.set()
        told.wait(20)
        ended.set()
        raise OSError("told to end")

    waiting = asyncio.create_task(to_end(call, hurry=told.set))
    await asyncio.to_thread(begun.wait, 20)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert ended.is_set()


async def test_a_call_that_cannot_be_hurried_is_waited_for_however_often_one_is_cancelled() -> None:
    begun, end = threading.Event(), threading.Event()

    def call() -> bool:
        begun.set()
        return end.wait(20)

    waiting = asyncio.create_task(to_end(call))
    await asyncio.to_thread(begun.wait, 20)
    for _ in range(3):
        waiting.cancel()
        await asyncio.sleep(0)
    assert not waiting.done()
    end.set()

    with pytest.raises(asyncio.CancelledError):
        await waiting
