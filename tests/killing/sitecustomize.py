"""Python imports this at start when its folder is on the path: processes of a run then kill themselves where told to.

`KILLING` names a folder with one empty file per moment; the first process that reaches a moment removes its file and
is gone.
"""

from __future__ import annotations

import builtins
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ["KILLING"])

_EARLIER = ("a_part_is_open", "parts_are_closed")
_import = builtins.__import__


def die_once(moment: str) -> None:
    """Die by SIGKILL when nobody has died at this moment before."""
    try:
        (FOLDER / moment).unlink()
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def before(owner: Any, name: str, moment: str, when: Callable[..., bool]) -> None:
    """Let a call of the owner be the moment, when its arguments say so."""
    real = getattr(owner, name)

    def dying(*args: Any, **more: Any) -> Any:
        if when(*args):
            die_once(moment)
        return real(*args, **more)

    setattr(owner, name, dying)


def arm(sinks: Any, parts: Any) -> None:
    """Put the moments in place."""
    before(
        parts.pq.ParquetWriter,
        "write_table",
        "a_part_is_open",
        lambda *call: "thought" in call[1].schema.names and call[1].num_rows > 0,
    )
    before(
        sinks.PartWriter,
        "take",
        "parts_are_closed",
        lambda writer: writer._worker != "committer" and len(writer._written_attempts) > 0,
    )
    # Last, for the run ends with its committer: on a slow store it may publish before any worker closed a part.
    before(
        sinks.Committer,
        "_take_over",
        "the_object_is_published",
        lambda *call: len(call[0]._contents) > 9 and not any((FOLDER / moment).exists() for moment in _EARLIER),
    )


def importing(name: str, *args: Any, **more: Any) -> Any:
    """Import as ever, until the sinks are there to be armed."""
    module = _import(name, *args, **more)
    sinks, parts = sys.modules.get("pipeline.sinks"), sys.modules.get("pipeline.parts")
    if hasattr(sinks, "Committer") and hasattr(parts, "write_groups"):
        builtins.__import__ = _import
        arm(sinks, parts)
    return module


builtins.__import__ = importing
