"""The main job as a script: `python pipeline/collect.py`, alone or as a Ray job. Arguments in, a run's exit code out.

Defines nothing that Ray would have to pickle: what is defined in a script travels by value.
"""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # started by path: import from the repository root, not from pipeline/
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from pipeline.commands import running
from pipeline.commands.shell import group, join, run

app = group()
join(app, {"collect": running.COMMANDS["collect"]})


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(run(app, sys.argv[1:]))


if __name__ == "__main__":
    main()
