"""Work that is begun ahead comes in its order, no more of it at once than allowed, and what is left is given up."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from pipeline.ahead import ahead, batches


class Workshop:
    """Work whose parts end in the opposite order of their beginning."""

    def __init__(self, parts: int) -> None:
        self.under_way = self.most = 0
        self.ended: list[int] = []
        self.given_up: list[int] = []
        self._doors = [asyncio.Event() for _ in range(parts)]

    async def part(self, number: int) -> int:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            if number % 2 == 0 and number + 1 < len(self._doors):
                await self._doors[number + 1].wait()
            self._doors[number].set()
            self.ended.append(number)
            return number
        except asyncio.CancelledError:
            self.given_up.append(number)
            raise
        finally:
            self.under_way -= 1


async def test_results_come_in_the_order_of_the_work() -> None:
    shop = Workshop(6)

    found = [one async for one in ahead((shop.part(number) for number in range(6)), 2)]

    assert found == list(range(6))
    assert shop.ended == [1, 0, 3, 2, 5, 4]
    assert shop.most == 2


async def test_what_is_not_wanted_any_more_is_given_up() -> None:
    shop = Workshop(8)
    async with aclosing(ahead((shop.part(number) for number in range(7)), 3)) as results:
        async for _ in results:
            break

    assert shop.under_way == 0
    assert shop.given_up == [2]


async def test_batches_hold_so_many_results_and_the_last_one_the_rest() -> None:
    shop = Workshop(5)

    found = [batch async for batch in batches(ahead((shop.part(number) for number in range(5)), 2), 2)]

    assert found == [[0, 1], [2, 3], [4]]
