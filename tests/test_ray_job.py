"""Three ways to start the main job: script, console command, and a Ray job on a head with token authentication."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline.check import check
from pipeline.repeat import repeating_rows

pytestmark = [pytest.mark.core, pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[1]
TOKEN = "0123456789abcdef" * 4
ARGUMENTS = ["--config", "fake", "tasks.limit=6"]
SECONDS = 400


class Head(NamedTuple):
    """A running head: where jobs are submitted, and an environment that knows its token."""

    address: str
    environment: dict[str, str]


def free_port() -> int:
    with closing(socket.socket()) as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


def bare_environment(home: Path) -> dict[str, str]:
    """As in a new shell: nothing of Ray, a home of its own, our Python first on the path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAY_", "PYTHON"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "HOME": str(home), "PATH": path, "RAY_USAGE_STATS_ENABLED": "0"}


@pytest.fixture(scope="module")
def script_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows that the script writes."""
    home = tmp_path_factory.mktemp("home")
    out = home / "run"
    done = subprocess.run(
        [sys.executable, "pipeline/collect.py", *ARGUMENTS, f"out={out}"],
        cwd=ROOT,
        env=bare_environment(home),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"data: {out}" in done.stdout
    assert not (home / ".ray").exists()
    return out


@pytest.fixture
def head(tmp_path: Path) -> Iterator[Head]:
    """`ray start --head` in the foreground, ended by its pid."""
    token = tmp_path / ".ray" / "auth_token"
    token.parent.mkdir()
    token.write_text(TOKEN)
    token.chmod(0o600)
    environment = {**bare_environment(tmp_path), "RAY_AUTH_MODE": "token"}
    jobs = free_port()
    ports = {"port": free_port(), "dashboard-port": jobs, "dashboard-agent-listen-port": free_port()}
    ports |= {"ray-client-server-port": free_port()}
    # Sockets lie below this folder, and their paths may not be long.
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        options = ["--num-cpus=2", "--dashboard-host=127.0.0.1", f"--temp-dir={folder}", "--block"]
        options += [f"--{name}={port}" for name, port in ports.items()]
        with (tmp_path / "head.log").open("wb") as log:
            process = subprocess.Popen(
                ["ray", "start", "--head", *options], env=environment, stdout=log, stderr=log, start_new_session=True
            )
        try:
            _until_up(f"http://127.0.0.1:{jobs}", process, tmp_path / "head.log")
            yield Head(f"http://127.0.0.1:{jobs}", environment)
        finally:
            process.terminate()
            try:
                process.wait(timeout=30)
            finally:
                _end_session(process.pid)


def test_the_console_command_gives_the_same_rows(script_run: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pipeline.cli", "collect", *ARGUMENTS, "--out", str(tmp_path / "run")],
        cwd=ROOT,
        env=bare_environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert repeating_rows(tmp_path / "run", live=False) == repeating_rows(script_run, live=False)


def test_a_ray_job_gives_the_same_rows(script_run: Path, head: Head, tmp_path: Path) -> None:
    out = tmp_path / "run"
    job = ["python", "pipeline/collect.py", *ARGUMENTS, f"out={out}"]

    done = subprocess.run(
        ["ray", "job", "submit", "--address", head.address, "--working-dir", ".", "--", *job],
        cwd=ROOT,
        env=head.environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert f"data: {out}" in done.stdout
    assert repeating_rows(out, live=False) == repeating_rows(script_run, live=False)
    assert check(out) == []


def _until_up(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the job interface answers a caller without a token: with a refusal."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/api/jobs/", timeout=5):
                raise AssertionError("the head answers callers without a token")
        except urllib.error.HTTPError as refused:
            refused.close()
            if refused.code in (401, 403):
                return
        except OSError:
            pass
        time.sleep(0.5)
    raise AssertionError(f"the head did not come up: {log.read_text(errors='replace')[-2000:]}")


def _end_session(leader: int) -> None:
    """Agents of an ended raylet live on; all of them are in the session of the head that we started."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if os.getsid(int(entry.name)) == leader:
                os.kill(int(entry.name), signal.SIGKILL)
        except ProcessLookupError:
            continue
