"""A handset as a program: `python -m pipeline.handset --help`.

The first line of standard output is what `adb connect` takes; it comes when the phone has booted.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pipeline.errors import PathproofError
from pipeline.handset.apps import APPS
from pipeline.handset.device import running
from pipeline.handset.faults import Faults
from pipeline.handset.packages import Package, Packages, web_package
from pipeline.handset.phone import BROWSER, Build
from pipeline.handset.state import LANGUAGES, Clock
from pipeline.reaper import Scratch

_EXAMPLES = """examples:
  python -m pipeline.handset --port 5601
  python -m pipeline.handset --language zh --web fava=Fava --web tiddlywiki=TiddlyWiki
  adb connect 127.0.0.1:5601 && adb -s 127.0.0.1:5601 exec-out screencap -p > screen.png
"""


def packages(webs: Sequence[tuple[str, str]]) -> Packages:
    """All a handset comes with: its own applications, a browser, and wrapped web applications."""
    browser = Package(BROWSER, "web", {"en": "Browser", "zh": "浏览器"}, colour="#3c6e9f")
    return Packages([*(app.package for app in APPS), browser, *(web_package(name, title) for name, title in webs)])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run until interrupted."""
    options = _parser().parse_args(arguments)
    try:
        asyncio.run(_run(options))
    except PathproofError as error:
        sys.exit(f"handset: {error}")


async def _run(options: argparse.Namespace) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    with Scratch("handset") as scratch:
        folder = options.folder or Path(tempfile.mkdtemp(prefix="phone-", dir=scratch.path))
        build = Build(folder, packages(options.web), Clock(options.clock), options.language, options.fault)
        async with running(build, scratch, options.port) as handset:
            sys.stdout.write(f"{handset.serial}\n")
            sys.stdout.flush()
            await ended.wait()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pipeline.handset",
        description="An emulated phone, not Android: Chromium in phone metrics behind the device side of adb.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=0, help="where adb connects to, on loopback; 0 takes a free one")
    parser.add_argument("--language", choices=sorted(LANGUAGES), default="en")
    parser.add_argument("--web", type=_web, action="append", default=[], metavar="NAME=TITLE", help="a wrapped web app")
    parser.add_argument(
        "--clock", type=_moment, default=Clock().moment, help="where the clock stands, as 2026-06-15T09:30"
    )
    parser.add_argument("--folder", type=Path, help="the phone's files; kept between runs when given")
    parser.add_argument("--fault", type=_faults, default="", help="faults it starts with, see docs/handset.md")
    return parser


def _web(text: str) -> tuple[str, str]:
    name, equals, title = text.partition("=")
    if not equals or not name.isidentifier() or not title:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=TITLE")
    return name, title


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _faults(text: str) -> str:
    try:
        Faults(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


if __name__ == "__main__":
    main()
