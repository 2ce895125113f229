"""Puzzles as an application: `python -m pipeline.puzzles --help`. It serves on loopback until it is ended."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from pipeline.puzzles.puzzle import Key
from pipeline.puzzles.serving import served

_EXAMPLES = """examples:
  python -m pipeline.puzzles --port 8090 --journal verdicts.txt
  then open http://127.0.0.1:8090/
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run until interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m pipeline.puzzles",
        description="Serve interaction puzzles on loopback and write down their verdicts.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=0, help="the port; a free one by default")
    parser.add_argument("--journal", type=Path, required=True, help="the file that each verdict is added to as a line")
    options = parser.parse_args(arguments)
    asyncio.run(_run(options.port, options.journal))


async def _run(port: int, journal: Path) -> None:
    def told(key: Key, right: bool) -> None:
        with journal.open("a", encoding="utf-8") as file:
            file.write(f"{'/'.join(map(str, key))} {'right' if right else 'wrong'}\n")

    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with served(told, port) as address:
        sys.stdout.write(f"http://{address}/\n")
        sys.stdout.flush()
        await ended.wait()


if __name__ == "__main__":
    main()
