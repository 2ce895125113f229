"""Leases on devices: one owner each, released by death, quarantine after failures in a row."""

import signal
import subprocess
import sys
from pathlib import Path

from pipeline.envs.device_leases import Lease, Leases

HOLDER = """
import sys
from pathlib import Path
from pipeline.envs.device_leases import Leases
lease = Leases(Path(sys.argv[1])).claim("a:1")
print("held" if lease else "refused", flush=True)
sys.stdin.read()
"""


def _claimed(leases: Leases, name: str = "a:1") -> Lease:
    lease = leases.claim(name)
    assert lease is not None
    return lease


def test_a_device_has_one_owner_at_a_time(tmp_path: Path) -> None:
    first = _claimed(Leases(tmp_path))

    refused = Leases(tmp_path).claim("a:1")
    other = Leases(tmp_path).claim("b/../c")
    first.release()
    first.release()

    assert refused is None and other is not None
    assert Leases(tmp_path).claim("a:1") is not None
    assert [path.parent for path in tmp_path.iterdir()] == [tmp_path] * 2


def test_a_lease_ends_with_its_holder(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        said = holder.stdout.readline()
        while_held = Leases(tmp_path).claim("a:1")
        holder.send_signal(signal.SIGKILL)
        holder.wait(timeout=10)

    assert said == "held\n" and while_held is None
    assert Leases(tmp_path).claim("a:1") is not None


def test_failures_in_a_row_put_a_device_in_quarantine(tmp_path: Path) -> None:
    leases = Leases(tmp_path, most_failures=2)
    for worked in (False, True, False):
        lease = _claimed(leases)
        lease.note(worked=worked)
        lease.release()
    before = leases.in_quarantine("a:1")
    lease = _claimed(leases)

    lease.note(worked=False)
    lease.release()

    assert not before and leases.in_quarantine("a:1")
    assert leases.claim("a:1") is None
    assert Leases(tmp_path).claim("a:1") is None
    assert not leases.in_quarantine("never seen")


def test_after_quarantine_one_more_failure_is_enough(tmp_path: Path) -> None:
    leases = Leases(tmp_path, most_failures=2, quarantine_seconds=0.0)
    for _ in range(2):
        lease = _claimed(leases)
        lease.note(worked=False)
        lease.release()
    strict = Leases(tmp_path, most_failures=2)
    lease = _claimed(strict)

    lease.note(worked=False)
    lease.release()

    assert strict.in_quarantine("a:1")


def test_what_a_dead_holder_left_half_written_says_nothing(tmp_path: Path) -> None:
    leases = Leases(tmp_path)
    _claimed(leases).release()
    (path,) = tmp_path.iterdir()
    path.write_text('{"failures": 9, "un')

    assert not leases.in_quarantine("a:1")
    assert leases.claim("a:1") is not None
