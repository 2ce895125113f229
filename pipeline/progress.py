"""What a person sees while a run works: two bars on a terminal, plain lines elsewhere; always on standard error.

Knows counts and words only, nothing of Ray or files.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

_LINE_SECONDS = 5.0


class Board:
    """Progress of one run; a context manager."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._bars = Progress(
            TextColumn("{task.description:<13}"),
            BarColumn(bar_width=32),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._ids: dict[str, TaskID] = {}
        self._counts: dict[str, list[int]] = {}
        self._notes: dict[str, str] = {}
        self._last_line = time.monotonic()

    def __enter__(self) -> Self:
        """Start drawing."""
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the last state on the screen."""
        self._bars.stop()
        if self._counts:
            self._line()

    def expect(self, name: str, total: int, done: int) -> None:
        """Open a bar, or set one that is there: so many in all, so many done before."""
        self._counts[name] = [done, total]
        if name in self._ids:
            self._bars.update(self._ids[name], total=total, completed=done, note="")
        else:
            self._ids[name] = self._bars.add_task(name, total=total, completed=done, note="")

    def advance(self, name: str, count: int, note: str) -> None:
        """So many more are done; `note` says what there is to know about them."""
        self._counts[name][0] += count
        self._notes[name] = note
        self._bars.update(self._ids[name], advance=count, note=note)
        if time.monotonic() - self._last_line >= _LINE_SECONDS:
            self._line()

    def say(self, text: str) -> None:
        """One line that stays."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _line(self) -> None:
        """The state as one plain line, where bars cannot be drawn."""
        self._last_line = time.monotonic()
        if self._console.is_terminal:
            return
        parts = [
            f"{name} {done}/{total}" + (f" ({self._notes[name]})" if self._notes.get(name) else "")
            for name, (done, total) in self._counts.items()
        ]
        self.say("; ".join(parts))
