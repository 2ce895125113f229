"""Programs of ours that listen beyond loopback are named, and a run refuses those that it has started."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline.app_install import home
from pipeline.cli import app_for
from pipeline.commands import running
from pipeline.config import RunConfig
from pipeline.errors import RunError
from pipeline.exports.files import whole_folder
from pipeline.exposure import exposed, refuse, watch
from pipeline.guardian import MARK
from pipeline.llm.cache import ReplyCache
from pipeline.llm.reply import Reply
from pipeline.local_storage import LocalStorage
from pipeline.reaper import Scratch

_LISTENER = """
import ctypes, socket, sys
ctypes.CDLL(None).prctl(15, sys.argv[2].encode(), 0, 0, 0)
held = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
held.bind((sys.argv[1], 0))
held.listen()
print(held.getsockname()[1], flush=True)
sys.stdin.read()
"""
OURS = {MARK: "/tmp/pathproof-test-exposure"}
_WAITING = """
import socket, sys, time
held = socket.create_server((sys.argv[1], 0))
print(held.getsockname()[1], flush=True)
time.sleep(60)
"""
_DATAGRAMS = """
import socket, sys
held = socket.socket(type=socket.SOCK_DGRAM)
held.bind((sys.argv[1], 0))
print(held.getsockname()[1], flush=True)
sys.stdin.read()
"""


@contextmanager
def listening(
    address: str, name: str = "listener", variables: Mapping[str, str] | None = None, before: tuple[str, ...] = ()
) -> Iterator[str]:
    """A program that listens; where, as it is named."""
    command = [*before, sys.executable, "-c", _LISTENER, address, name]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **(variables or {})}
    ) as program:
        assert program.stdout is not None
        try:
            yield f"{name} on {address}:{program.stdout.readline().strip()}"
        finally:
            program.communicate("")


@pytest.mark.parametrize("address", ["0.0.0.0", "::"])
def test_what_a_run_has_started_is_named_when_it_listens_beyond_loopback(address: str) -> None:
    with listening(address, variables=OURS) as listener:
        assert listener in exposed()


@pytest.mark.parametrize("name", ["raylet", "gcs_server", "ray::IDLE", "adb", "pathproof"])
def test_programs_that_runs_need_are_known_by_name(name: str) -> None:
    with listening("0.0.0.0", name) as listener:
        assert listener in exposed()


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"])
def test_loopback_exposes_nothing(address: str) -> None:
    with listening(address, variables=OURS) as listener:
        assert not any(listener.rpartition(":")[2] in found for found in exposed())
        refuse()


def test_programs_of_others_are_none_of_our_business() -> None:
    with listening("0.0.0.0") as listener:
        assert listener not in exposed()


@pytest.mark.skipif(
    subprocess.run(["unshare", "-Urn", "true"], capture_output=True, timeout=10).returncode != 0,
    reason="no network of one's own is to be had here",
)
def test_a_network_of_its_own_exposes_nothing() -> None:
    with listening("0.0.0.0", variables=OURS, before=("unshare", "-Urn")) as listener:
        assert listener not in exposed()
        refuse()


def test_a_run_refuses_what_it_has_started_itself() -> None:
    with listening("0.0.0.0") as listener, pytest.raises(RunError, match=listener):
        refuse()


@contextmanager
def in_the_background(scratch: Scratch, address: str) -> Iterator[str]:
    """A program that listens and whose parent has ended; where, without its name."""
    log = scratch.path / "background.log"
    scratch.spawn(["setsid", "-f", sys.executable, "-c", _WAITING, address], log=log)
    deadline = time.monotonic() + 20
    while not log.read_text(encoding="utf-8").endswith("\n"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    yield f"{address}:{log.read_text(encoding='utf-8').strip()}"


@pytest.mark.parametrize(("address", "refused"), [("0.0.0.0", True), ("127.0.0.1", False)])
def test_a_run_refuses_what_has_gone_into_the_background(address: str, refused: bool) -> None:
    with (
        Scratch("exposed") as scratch,
        in_the_background(scratch, address) as listener,
        pytest.raises(RunError, match=listener) if refused else nullcontext(),
    ):
        refuse()


async def test_what_begins_to_listen_while_a_run_goes_on_is_told_of() -> None:
    told: asyncio.Queue[RunError] = asyncio.Queue()
    looking = asyncio.create_task(watch(told.put_nowait, 0.01))
    with Scratch("exposed") as scratch, in_the_background(scratch, "0.0.0.0") as listener:
        error = await asyncio.wait_for(told.get(), 20)
        await looking

    assert listener in str(error)


@pytest.mark.parametrize(("address", "told"), [("0.0.0.0", True), ("127.0.0.1", False)])
def test_who_waits_for_datagrams_is_named_and_not_refused(address: str, told: bool) -> None:
    command = [sys.executable, "-c", _DATAGRAMS, address]
    own = {**os.environ, **OURS}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=own) as program:
        assert program.stdout is not None
        port = program.stdout.readline().strip()
        found = [one for one in exposed() if one.endswith(f"{address}:{port} (udp)")]
        refuse()
        program.communicate("")

    assert bool(found) is told


def test_the_doctor_has_a_line_for_it() -> None:
    with listening("0.0.0.0", variables=OURS) as listener:
        lines = CliRunner().invoke(app_for(["doctor"]), ["doctor"]).output.splitlines()

    [line] = [line for line in lines if line.startswith("exposure:")]
    assert listener in line


def test_a_run_says_beforehand_what_of_other_runs_can_be_reached(capsys: pytest.CaptureFixture[str]) -> None:
    with listening("0.0.0.0", variables=OURS) as listener:
        running._announce(RunConfig())

    assert listener in capsys.readouterr().err


def rights(root: Path) -> dict[str, int]:
    """What may be done with a folder and with all in it, in the bits for the owner, the group and others."""
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in [root, *root.rglob("*")]}


@pytest.fixture(autouse=True)
def an_open_mask() -> Iterator[None]:
    """Nothing but what we ask for keeps others out."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_a_dataset_in_a_new_folder_is_nobody_else_s(tmp_path: Path) -> None:
    LocalStorage(tmp_path / "runs" / "first").prepare(["steps"])

    assert rights(tmp_path / "runs" / "first") == {"first": 0o700, "steps": 0o700}


def test_a_dataset_in_an_open_folder_has_files_that_are_nobody_else_s(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path / "mine")
    storage.root.mkdir(mode=0o755)
    storage.prepare(["steps"])
    storage.create("run.json", b"{}")
    storage.replace("steps/one", b"1")
    with storage.new_file("frames/two") as file:
        file.write(b"2")
    with storage.lock():
        pass

    folders = {"mine": 0o755, "steps": 0o700, "frames": 0o700}
    assert rights(storage.root) == folders | dict.fromkeys(["run.json", "one", "two", "driver.lock"], 0o600)


def test_an_export_is_nobody_else_s(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "out") as aside:
        begun = rights(aside)
        (aside / "data").mkdir()
        (aside / "data" / "train.jsonl").write_text("{}", encoding="utf-8")

    assert list(begun.values()) == [0o700]
    assert rights(tmp_path / "out") == {"out": 0o700, "data": 0o700, "train.jsonl": 0o600}


def test_replies_that_are_kept_are_nobody_else_s(tmp_path: Path) -> None:
    ReplyCache(tmp_path).write("abcd", Reply(call_id="1", outcome="answered", text="yes"))

    assert rights(tmp_path)["ab"] == 0o700


@pytest.mark.parametrize("begins", [None, 0o755])
def test_the_cache_is_nobody_else_s_however_old_it_is(
    begins: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PATHPROOF_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    if begins is not None:
        (tmp_path / ".cache" / "pathproof").mkdir(mode=begins, parents=True)

    assert stat.S_IMODE(home().stat().st_mode) == 0o700


@pytest.mark.parametrize(("begins", "then"), [(None, 0o700), (0o755, 0o755)])
def test_a_cache_that_was_named_is_closed_where_it_is_new(
    begins: int | None, then: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATHPROOF_HOME", str(tmp_path / "cache"))
    if begins is not None:
        (tmp_path / "cache").mkdir(mode=begins)

    assert stat.S_IMODE(home().stat().st_mode) == then
