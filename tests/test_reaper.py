"""Scratch folders: nothing a worker started survives it, and nothing else is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from pipeline import guardian
from pipeline.errors import SetupError
from pipeline.reaper import Scratch, sweep

SLEEPER = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(120)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(120)",
]
ESCAPED = [
    sys.executable,
    "-c",
    "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(120)'],"
    " env={}, start_new_session=True); print('up', flush=True); import time; time.sleep(120)",
]
OWNER = """
import sys
from pathlib import Path
from pipeline.reaper import Scratch
scratch = Scratch("owner", Path(sys.argv[1]))
child = scratch.spawn([sys.executable, "-c", "import time; time.sleep(120)"], log=scratch.path / "log")
print(scratch.path, child.pid, flush=True)
sys.stdin.read()
"""


def until(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def spawn_and_wait(scratch: Scratch, argv: list[str]) -> subprocess.Popen[bytes]:
    log = scratch.path / f"log-{time.monotonic_ns()}"
    process = scratch.spawn(argv, log=log)
    assert until(lambda: b"up" in log.read_bytes())
    return process


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    with Scratch("test", tmp_path) as made:
        yield made


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path, int]]:
    """Another process that owns a scratch folder with one child in it."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout is not None
        folder, child = process.stdout.readline().split()
        yield process, Path(folder), int(child)
        process.kill()


def test_the_folder_is_private_and_named_after_its_owner(scratch: Scratch) -> None:
    assert scratch.path.stat().st_mode & 0o777 == 0o700
    assert scratch.path.name.startswith("pathproof-test-")


def test_spawned_programs_carry_the_mark_and_keep_temporary_files_inside(scratch: Scratch) -> None:
    log = scratch.path / "log"
    show = "import os, tempfile; print(os.environ['PATHPROOF_SCRATCH'], tempfile.gettempdir(), os.environ['EXTRA'])"

    scratch.spawn([sys.executable, "-c", show], log=log, environment={"EXTRA": "x"}).wait(timeout=20)

    assert log.read_text().split() == [str(scratch.path), str(scratch.path), "x"]


def test_close_ends_processes_and_removes_the_folder(tmp_path: Path) -> None:
    scratch = Scratch("test", tmp_path)
    child = spawn_and_wait(scratch, SLEEPER)
    scratch.close()
    assert child.wait(timeout=5) == -signal.SIGTERM
    assert not scratch.path.exists()


def test_close_twice_is_harmless(tmp_path: Path) -> None:
    scratch = Scratch("test", tmp_path)
    scratch.close()
    scratch.close()
    assert not scratch.path.exists()


def test_close_kills_what_ignores_termination(tmp_path: Path) -> None:
    scratch = Scratch("test", tmp_path)
    child = spawn_and_wait(scratch, STUBBORN)
    scratch.close()
    assert child.wait(timeout=5) == -signal.SIGKILL


def test_descendants_without_the_mark_are_ended_too(tmp_path: Path) -> None:
    scratch = Scratch("test", tmp_path)
    child = spawn_and_wait(scratch, ESCAPED)
    grandchild = psutil.Process(child.pid).children()[0].pid
    scratch.close()
    assert until(lambda: gone(grandchild))


def test_a_process_marked_only_by_its_command_line_is_ended(tmp_path: Path) -> None:
    scratch = Scratch("test", tmp_path)
    profile = f"--user-data-dir={scratch.path}/profile"
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)", profile])
    scratch.close()
    assert child.wait(timeout=5) == -signal.SIGTERM


def test_an_orphan_that_erased_its_environment_is_ended(tmp_path: Path) -> None:
    scratch = Scratch("test", tmp_path)
    parent = spawn_and_wait(scratch, ["sh", "-c", "env -i sleep 120 & echo $! > orphan; echo up"])
    parent.wait(timeout=5)
    orphan = int((scratch.path / "orphan").read_text())
    assert until(lambda: psutil.Process(orphan).name() == "sleep" and not psutil.Process(orphan).environ())

    scratch.close()

    assert until(lambda: gone(orphan))


def test_who_works_in_the_folder_without_belonging_to_it_is_spared(scratch: Scratch) -> None:
    visitor = subprocess.Popen(["env", "-i", "sleep", "120"], cwd=scratch.path)
    try:
        assert visitor.pid not in [process.pid for process in guardian.marked(scratch.path)]
    finally:
        visitor.kill()
        visitor.wait(timeout=5)


def test_processes_of_another_scratch_are_untouched(tmp_path: Path) -> None:
    with Scratch("test", tmp_path) as other:
        bystander = spawn_and_wait(other, SLEEPER)
        Scratch("test", tmp_path).close()
        assert bystander.poll() is None


def test_a_longer_folder_name_is_not_mistaken_for_ours(tmp_path: Path) -> None:
    longer = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)", f"{tmp_path}/run-1"])
    try:
        assert guardian.marked(tmp_path / "run") == []
        assert [process.pid for process in guardian.marked(tmp_path / "run-1")] == [longer.pid]
    finally:
        longer.kill()
        longer.wait(timeout=5)


def test_stop_ends_one_program_with_its_descendants_only(scratch: Scratch) -> None:
    child = spawn_and_wait(scratch, ESCAPED)
    grandchild = psutil.Process(child.pid).children()[0].pid
    bystander = spawn_and_wait(scratch, SLEEPER)

    scratch.stop(child)

    assert child.poll() is not None
    assert gone(grandchild)
    assert bystander.poll() is None


def test_stop_finds_the_session_of_a_program_that_already_ended(scratch: Scratch) -> None:
    log = scratch.path / "pid"
    leave = (
        "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(120)']).pid)"
    )
    head = scratch.spawn([sys.executable, "-c", leave], log=log)
    head.wait(timeout=20)
    orphan = int(log.read_text())

    scratch.stop(head)

    assert gone(orphan)


def test_a_missing_program_is_a_setup_error(scratch: Scratch) -> None:
    with pytest.raises(SetupError, match="cannot start '/no/such/program'") as caught:
        scratch.spawn(["/no/such/program"], log=scratch.path / "log")
    assert caught.value.code == "program_not_started"


def test_a_root_that_cannot_be_written_is_a_setup_error(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="cannot make a scratch folder") as caught:
        Scratch("test", tmp_path / "absent")
    assert caught.value.code == "no_scratch"


def test_sigkill_of_the_owner_leaves_nothing(owner: tuple[subprocess.Popen[str], Path, int]) -> None:
    process, folder, child = owner
    process.kill()
    process.wait(timeout=5)
    assert until(lambda: not folder.exists() and gone(child))


def test_ending_the_owner_without_close_leaves_nothing(owner: tuple[subprocess.Popen[str], Path, int]) -> None:
    process, folder, child = owner
    assert process.stdin is not None
    process.stdin.close()
    process.wait(timeout=10)
    assert until(lambda: not folder.exists() and gone(child))


def test_sweep_removes_what_a_dead_owner_and_a_dead_guardian_left(
    owner: tuple[subprocess.Popen[str], Path, int], tmp_path: Path
) -> None:
    process, folder, child = owner
    guard = next(found for found in guardian.marked(folder) if guardian.__file__ in found.cmdline())
    guard.kill()
    process.kill()
    process.wait(timeout=5)
    assert folder.exists() and not gone(child)

    assert sweep(tmp_path) == [folder]

    assert not folder.exists() and gone(child)


def test_sweep_spares_living_owners_foreign_folders_and_other_machines(scratch: Scratch, tmp_path: Path) -> None:
    (tmp_path / "pathproof-results").mkdir()
    elsewhere = tmp_path / "pathproof-elsewhere"
    elsewhere.mkdir()
    (elsewhere / guardian.OWNER_FILE).write_text('{"pid": 999999, "created": 1.0, "machine": "another"}')
    assert sweep(tmp_path) == []
    assert scratch.path.exists() and elsewhere.exists()


def test_a_guardian_that_cannot_start_is_a_setup_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(SetupError, match="did not come up") as caught:
        Scratch("test", tmp_path)
    assert caught.value.code == "no_guardian"


def test_the_guardian_is_not_our_direct_child(scratch: Scratch) -> None:
    guard = next(found for found in guardian.marked(scratch.path) if guardian.__file__ in found.cmdline())
    assert guard.ppid() != os.getpid()
