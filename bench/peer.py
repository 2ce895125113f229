"""BrowserGym beside us: installs it into an environment of its own, once, and asks that for the times of its steps.

Knows how BrowserGym is installed and started, nothing of what its figures are compared with.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.actions import Pixel
from pipeline.app_install import home, tail
from pipeline.envs.browser import find_chromium
from pipeline.errors import SetupError
from pipeline.reaper import Scratch

VERSION = "0.14.3"

VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "browsergym": {},
    "browsergym_nosleep": {"pre_observation_delay": 0},
    "browsergym_bare": {
        "pre_observation_delay": 0,
        "slow_mo": 0,
        "viewport": {"width": 1280, "height": 720},
    },
}
"""How BrowserGym is run: as shipped; without its half second before every look; and also without the 0.1 s that its
MiniWoB++ tasks add to every browser call, at our size of picture."""

_REQUIREMENTS = (f"browsergym-core=={VERSION}", f"browsergym-miniwob=={VERSION}")
_INSTALL_SECONDS = 600.0
_STEPS_SECONDS = 1800.0


def install(scratch: Scratch) -> Path:
    """The Python of BrowserGym's environment, which is made when it is not there; raises SetupError."""
    folder = home() / "peers" / f"browsergym-{VERSION}"
    python, done = folder / "bin" / "python", folder / "installed"
    if done.exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    make = [uv, "venv", "--quiet", "--python", sys.executable] if uv else [sys.executable, "-m", "venv"]
    fill = [uv, "pip", "install", "--quiet", "--python", str(python)] if uv else [str(python), "-m", "pip", "install"]
    for command in ([*make, str(folder)], [*fill, *_REQUIREMENTS]):
        _output(scratch, command, _INSTALL_SECONDS)
    done.touch()
    return python


def step_seconds(
    scratch: Scratch, python: Path, url: str, pages: Sequence[str], points: Sequence[Pixel], variant: str
) -> list[float]:
    """How long BrowserGym takes for a click at each point of each page; raises SetupError when it fails."""
    plan = {
        "url": url,
        "chromium": str(find_chromium()),
        "pages": list(pages),
        "points": [[point.x, point.y] for point in points],
        "options": VARIANTS[variant],
    }
    script = Path(__file__).parent / "peers" / "browsergym_steps.py"
    printed = _output(scratch, [str(python), str(script), json.dumps(plan)], _STEPS_SECONDS)
    seconds: list[float] = json.loads(printed.splitlines()[-1])
    return seconds


def _output(scratch: Scratch, command: Sequence[str], seconds: float) -> str:
    """What a command prints; a failed or late one is ended with all that it started."""
    log = scratch.path / "peer.log"
    log.unlink(missing_ok=True)
    process = scratch.spawn(command, log=log)
    try:
        code = process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        code = None
    finally:
        scratch.stop(process)
    if code != 0:
        raise SetupError("peer_failed", f"'{command[0]}' ended with {code}: {tail(log)}")
    return log.read_text(encoding="utf-8", errors="replace")
