"""A driver's lease on a dataset in an object store: one small object that its holder renews, by conditional writes.

The store has no lock that dies with a process. So a holder writes a new version every few seconds, and another driver
takes a lease over only after having seen the same version for longer than any holder would leave it. No clocks are
compared. A holder that was overtaken, having slept or lost the network, is stopped by the epoch that follows; the
lease only keeps two healthy drivers apart.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple, Protocol

from pipeline.actions import Model
from pipeline.errors import RunError

LEASE_NAME = "driver.lease"
RENEW_SECONDS = 5.0
EXPIRE_SECONDS = 30.0


class Stamped(NamedTuple):
    """An object's bytes and the mark of the version they are of."""

    data: bytes
    mark: str


class Marked(Protocol):
    """A store whose objects have versions that can be compared and swapped."""

    @property
    def address(self) -> str:
        """How a person writes it."""

    def stamped(self, key: str) -> Stamped:
        """An object and its mark; raises FileNotFoundError."""

    def swap(self, key: str, data: bytes, mark: str | None) -> str:
        """Write in place of the version with this mark, or of nothing; raises FileExistsError."""


class Lease(NamedTuple):
    """How often a lease is renewed, and after how long without a renewal it is free."""

    renew_seconds: float = RENEW_SECONDS
    expire_seconds: float = EXPIRE_SECONDS


class _Claim(Model):
    """What the object says. `beat` makes every renewal another version."""

    holder: str
    token: str
    beat: int
    released: bool = False


@contextmanager
def held(store: Marked, lease: Lease) -> Iterator[None]:
    """Hold the lease; waits for one that is not renewed to expire, and raises RunError for one that is."""
    claim = _Claim(holder=f"process {os.getpid()} on {os.uname().nodename}", token=uuid.uuid4().hex, beat=0)
    renewal = _Renewal(store, claim, _taken(store, claim, lease), lease.renew_seconds)
    renewal.start()
    try:
        yield
    finally:
        renewal.release()


def _taken(store: Marked, claim: _Claim, lease: Lease) -> str:
    """The mark of our claim, once the lease is free."""
    mark = _free(store, lease)
    try:
        return store.swap(LEASE_NAME, _bytes(claim), mark)
    except FileExistsError:
        found = store.stamped(LEASE_NAME)
        if _read(found.data).token == claim.token:
            return found.mark
        raise _in_use(store, _read(found.data)) from None


def _free(store: Marked, lease: Lease) -> str | None:
    """The version that may be replaced; null when there is none."""
    try:
        first = store.stamped(LEASE_NAME)
    except FileNotFoundError:
        return None
    if _read(first.data).released:
        return first.mark
    until = time.monotonic() + lease.expire_seconds
    while time.monotonic() < until:
        time.sleep(lease.renew_seconds / 2)
        found = store.stamped(LEASE_NAME)
        claim = _read(found.data)
        if claim.released:
            return found.mark
        if found.mark != first.mark:
            raise _in_use(store, claim)
    return first.mark


class _Renewal(threading.Thread):
    """Renews a claim until it is released or someone else has taken it."""

    def __init__(self, store: Marked, claim: _Claim, mark: str, seconds: float) -> None:
        super().__init__(name="lease", daemon=True)
        self._store, self._claim, self._mark, self._seconds = store, claim, mark, seconds
        self._done = threading.Event()

    def run(self) -> None:
        """Write a new version now and then; trouble on the way is tried again the next time."""
        while not self._done.wait(self._seconds):
            with suppress(OSError):
                if not self._write(released=False):
                    return

    def release(self) -> None:
        """Let the next driver in at once; if it cannot be said, the lease expires."""
        self._done.set()
        self.join()
        with suppress(OSError):
            self._write(released=True)

    def _write(self, *, released: bool) -> bool:
        self._claim = self._claim.model_copy(update={"beat": self._claim.beat + 1, "released": released})
        data = _bytes(self._claim)
        try:
            self._mark = self._store.swap(LEASE_NAME, data, self._mark)
        except FileExistsError:
            # Either overtaken, or a write of our own whose answer was lost.
            found = self._store.stamped(LEASE_NAME)
            if _read(found.data).token != self._claim.token:
                return False
            self._mark = found.mark if found.data == data else self._store.swap(LEASE_NAME, data, found.mark)
        return True


def _in_use(store: Marked, claim: _Claim) -> RunError:
    return RunError(f"{store.address} is in use by another driver ({claim.holder}); wait for it or stop it")


def _read(data: bytes) -> _Claim:
    return _Claim.model_validate_json(data)


def _bytes(claim: _Claim) -> bytes:
    return f"{claim.model_dump_json()}\n".encode()
