"""When a screen has come to rest: its program has come so far, and nothing is drawn any more.

Most programs answer a ping of the window manager's protocol between two events, so an answer tells that what was sent
before has been seen to. Where a program does not, only time tells. Knows nothing of what was done.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from pipeline.envs.x11_display import Display
from pipeline.envs.x11_wire import RefusedError

_ROUNDS = 3
"""Answers in a row: what an event sets in motion is often seen to a moment later."""
_QUIET_SECONDS = 0.04
"""More than two frames without a change."""
_PATIENCE = 2
"""How many of its slowest answers a program may take to draw."""
_FIRST_SECONDS = 0.3
"""How long a first change is waited for: most actions change something, some programs think before."""
_LOOK_SECONDS = 0.1
"""How long an answer is waited for before it is looked whether its window is still there."""
_BLIND_SECONDS = 0.15
"""How long nothing may be drawn where no program can be asked."""


def settle(display: Display, most_seconds: float, clock: Callable[[], float] = time.monotonic) -> bool:
    """Wait until the screen is at rest; whether it came to rest in time, by a clock.

    Raises EnvError when the display is gone.
    """
    until = clock() + most_seconds
    first = _FIRST_SECONDS
    while True:
        window = display.active_window()
        if not _Pinger(display, window, clock).wait(until, quiet=_QUIET_SECONDS, first=first):
            return False
        if display.active_window() == window:
            return True
        first = 0.0  # another window in front is a change


def wait_until_handled(display: Display, most_seconds: float, clock: Callable[[], float] = time.monotonic) -> bool:
    """Wait until the program in front has seen to what was sent to it; whether it did in time, by a clock."""
    window = display.active_window()
    return _Pinger(display, window, clock).wait(clock() + most_seconds, quiet=0.0, first=0.0)


class _Pinger:
    """Asks the program of one window."""

    def __init__(self, display: Display, window: int, clock: Callable[[], float]) -> None:
        self._display, self._window, self._clock = display, window, clock
        self._asks = window != 0 and display.answers_pings(window)
        self._answered, self._token, self._asked_at = 0, 0, 0.0

    def wait(self, until: float, *, quiet: float, first: float) -> bool:
        """Until there were answers enough and nothing was drawn for a while, after a first change or without any for
        so long; False when it is later than `until` by the clock."""
        quiet = quiet if self._asks else _BLIND_SECONDS
        calm_until, slowest = time.monotonic() + max(quiet, first), 0.0
        try:
            self._ask()
            while self._clock() < until:
                left = calm_until - time.monotonic()
                if left <= 0 and self._done:
                    return True
                patience = left if self._done else until - self._clock()
                drawn, pongs = self._display.take(min(_LOOK_SECONDS, max(0.0, patience)))
                now = time.monotonic()
                if not self._done and now - self._asked_at > _LOOK_SECONDS and self._has_gone():
                    return True
                if self._token in pongs:
                    # A program that is slow to answer is slow to draw.
                    slowest = max(slowest, _PATIENCE * (now - self._asked_at))
                    calm_until = max(calm_until, now + slowest)
                    self._answered += 1
                    self._ask()
                if drawn:
                    calm_until = now + quiet + slowest
            return False
        except RefusedError:
            # The window went: there is nobody to be asked, and another one will be in front.
            return True

    def _has_gone(self) -> bool:
        """Whether another window is in front: one that has gone, such as a dialog, never answers."""
        return self._display.active_window() != self._window

    @property
    def _done(self) -> bool:
        return not self._asks or self._answered >= _ROUNDS

    def _ask(self) -> None:
        if not self._done:
            self._asked_at = time.monotonic()
            # Never the one before: its answer may still come.
            self._token = time.monotonic_ns() // 1000 & 0x7FFF_FFFF
            self._display.ping(self._window, self._token)
            self._display.sync()
