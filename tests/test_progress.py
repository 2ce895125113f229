"""Progress lines where bars cannot be drawn, and bars on a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from pipeline.progress import Board


def test_the_last_state_is_said_as_a_plain_line() -> None:
    out = io.StringIO()

    with Board(Console(file=out, width=100)) as board:
        board.expect("trajectories", total=4, done=1)
        board.expect("judged", total=4, done=1)
        board.advance("trajectories", 2, "1 fault")

    assert out.getvalue().splitlines()[-1] == "trajectories 3/4 (1 fault); judged 1/4"
    assert "\x1b" not in out.getvalue()


def test_a_terminal_gets_bars() -> None:
    out = io.StringIO()

    with Board(Console(file=out, width=100, force_terminal=True, color_system=None)) as board:
        board.expect("trajectories", total=2, done=0)
        board.advance("trajectories", 2, "")

    assert "2/2" in out.getvalue()
    assert "trajectories 2/2" not in out.getvalue()


def test_a_said_line_is_not_broken_or_marked_up() -> None:
    out = io.StringIO()
    text = "continue with: pathproof resume " + "a" * 120 + " [bold]"

    Board(Console(file=out, width=40)).say(text)

    assert out.getvalue() == text + "\n"


def test_a_bar_that_is_there_is_set_anew() -> None:
    out = io.StringIO()

    with Board(Console(file=out, width=100)) as board:
        board.expect("tested", total=4, done=0)
        board.advance("tested", 4, "all")
        board.expect("tested", total=6, done=1)

    assert out.getvalue().splitlines()[-1].startswith("tested 1/6")
