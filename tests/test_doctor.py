"""What the doctor finds on this machine, and what it says when something is missing or exposed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline import doctor
from pipeline.doctor import Finding, examine
from pipeline.errors import RunError

_LISTENER = """
import socket, sys
held = socket.socket()
held.bind((sys.argv[1], 0))
held.listen()
print(held.getsockname()[1], flush=True)
sys.stdin.read()
"""


def found(what: str) -> Finding:
    return next(finding for finding in examine() if finding.what == what)


def test_this_machine_can_run_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert all(finding.good for finding in examine() if finding.needed)


def test_a_missing_browser_comes_with_its_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))

    finding = found("chromium")

    assert (finding.good, finding.needed) == (False, True)
    assert "apt-get install chromium" in finding.detail
    with pytest.raises(RunError):
        doctor.chromium()


@pytest.mark.parametrize(("address", "good"), [("127.0.0.1", True), ("0.0.0.0", False)])
def test_what_listens_beyond_loopback_is_named(address: str, good: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_OURS", ("doctorprobe",))
    renamed = f"import ctypes; ctypes.CDLL(None).prctl(15, b'doctorprobe', 0, 0, 0)\n{_LISTENER}"
    with subprocess.Popen(
        [sys.executable, "-c", renamed, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as listener:
        assert listener.stdout is not None
        port = listener.stdout.readline().strip()
        finding = found("exposed")
        listener.communicate("")

    assert finding.good is good
    assert (f"doctorprobe on {address}:{port}" in finding.detail) is not good
