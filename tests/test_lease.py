"""A lease keeps two healthy drivers apart, and a dead one's passes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from pipeline.errors import RunError
from pipeline.lease import LEASE_NAME, Lease, held
from pipeline.s3_storage import S3Storage
from pipeline.storage import storage_of

QUICK = Lease(renew_seconds=0.1, expire_seconds=2.0)

HOLDER = """
import sys, time
from pipeline.lease import Lease, held
from pipeline.storage import storage_of
with held(storage_of(sys.argv[1]), Lease(0.1, 2.0)):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def store(bucket: str) -> S3Storage:
    found = storage_of(f"{bucket}/run")
    assert isinstance(found, S3Storage)
    return found


@contextmanager
def other_driver(store: S3Storage) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lease."""
    with subprocess.Popen([sys.executable, "-c", HOLDER, store.address], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_lease_that_is_renewed_is_refused(store: S3Storage) -> None:
    with (
        other_driver(store) as other,
        pytest.raises(RunError, match=rf"in use by another driver \(process {other.pid} "),
        held(store, QUICK),
    ):
        pass


def test_lease_of_a_killed_driver_is_taken_over_once_it_has_expired(store: S3Storage) -> None:
    with other_driver(store) as other:
        other.send_signal(signal.SIGKILL)
        other.wait()
        began = time.monotonic()
        with held(store, QUICK):
            waited = time.monotonic() - began

    assert waited >= QUICK.expire_seconds


def test_lease_that_was_given_back_is_free_at_once(store: S3Storage) -> None:
    slow = Lease(renew_seconds=60, expire_seconds=60)
    with held(store, slow):
        pass

    with held(store, slow):
        assert b'"released":false' in store.read(LEASE_NAME)
    assert b'"released":true' in store.read(LEASE_NAME)


def test_lease_is_renewed_while_it_is_held(store: S3Storage) -> None:
    with held(store, QUICK):
        first = store.stamped(LEASE_NAME).mark
        until = time.monotonic() + 30
        while store.stamped(LEASE_NAME).mark == first:
            assert time.monotonic() < until


def test_overtaken_holder_leaves_the_new_lease_alone(store: S3Storage) -> None:
    with ExitStack() as old:
        old.enter_context(held(store, Lease(renew_seconds=0.1, expire_seconds=0)))
        store.replace(LEASE_NAME, b'{"holder": "the next one", "token": "t", "beat": 7}')

    assert b"the next one" in store.read(LEASE_NAME)


def test_renewal_whose_answer_was_lost_goes_on(store: S3Storage) -> None:
    with held(store, Lease(renew_seconds=60, expire_seconds=60)):
        stamped = store.stamped(LEASE_NAME)
        store.swap(LEASE_NAME, stamped.data.replace(b'"beat":0', b'"beat":9'), stamped.mark)

    assert b'"released":true' in store.read(LEASE_NAME)


def test_of_two_drivers_that_come_at_once_one_is_refused(store: S3Storage) -> None:
    both_inside = threading.Barrier(2, timeout=60)

    def drive(_: int) -> str:
        both_inside.wait()
        try:
            with held(store, QUICK):
                done.wait(60)
                return "held"
        except RunError:
            done.set()
            return "refused"

    done = threading.Event()
    with ThreadPoolExecutor(2) as drivers:
        assert sorted(drivers.map(drive, range(2))) == ["held", "refused"]
