"""Where a dataset is: a local folder or `s3://bucket/prefix`, behind one small seam.

Keys are relative to the dataset, with `/`. Everything written under a key is there as a whole or not at all, durable
when the call returns. Whatever goes wrong is an OSError; `disk_errors` makes it a SinkError. This module knows nothing
of tables, manifests or runs.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

import pyarrow.fs as pafs
from fsspec import AbstractFileSystem

from pipeline.errors import ConfigError, RunError, SinkError
from pipeline.lease import LEASE_NAME
from pipeline.local_storage import LOCK_NAME, LocalStorage
from pipeline.s3_storage import AddressError, S3Storage, StoreError

LOCK_NAMES = frozenset({LEASE_NAME, LOCK_NAME})
"""What a driver leaves in a dataset before there is anything else in it."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

# A path object takes `s3://` for a folder called `s3:` and drops one of the slashes.
_S3 = re.compile(r"s3://?([^/]+)/?(.*)")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+://")


class Storage(Protocol):
    """One dataset's place; small, immutable, and picklable, so that workers elsewhere can be told of it."""

    @property
    def address(self) -> str:
        """How a person writes it, complete."""

    @property
    def files(self) -> pafs.FileSystem:
        """Arrow's view of it, for reading; its paths are keys."""

    @property
    def shown(self) -> AbstractFileSystem | None:
        """What DuckDB must be given to open `url`; null when it needs nothing."""

    def url(self, key: str) -> str:
        """How DuckDB names the object."""

    def prepare(self, folders: list[str]) -> None:
        """Have these folders, where there is such a thing."""

    def drop(self, folders: list[str]) -> None:
        """Be rid of these folders, where there is such a thing and nothing in them."""

    def has(self, folder: str) -> bool:
        """Whether there is such a folder, or anything in it."""

    def read(self, key: str) -> bytes:
        """The whole object; raises FileNotFoundError."""

    def size(self, key: str) -> int | None:
        """Its bytes; null when there is no such object."""

    def sizes(self, folder: str) -> dict[str, int]:
        """Names and bytes of the objects directly in a folder, sorted; empty when there is none. "" is the root."""

    def folders(self) -> list[str]:
        """Names of the folders directly in it, sorted."""

    def others(self, folder: str) -> dict[str, str]:
        """What is directly in a folder and no object: names, and what each one is."""

    def refuse_odd(self, key: str) -> None:
        """Raise OSError when what is there is no plain file: to open a pipe, for one, may never end."""

    def occupied(self, besides: Collection[str]) -> bool:
        """Whether anything is there, at any depth, but objects of these names."""

    def create(self, key: str, data: bytes) -> None:
        """Write a new object; raises FileExistsError, and leaves the other one alone, when the key is taken."""

    def replace(self, key: str, data: bytes) -> None:
        """Write an object in place of what may be there; a reader sees the old bytes or the new ones."""

    def delete(self, key: str) -> None:
        """Remove an object; one that is not there is no error."""

    def new_file(self, key: str) -> AbstractContextManager[BinaryIO]:
        """A file to write a new object into: there when the block ends, absent when it raises (FileExistsError)."""

    def lock(self) -> AbstractContextManager[None]:
        """Hold the dataset for one driver; raises RunError when another live driver has it."""


Address = Path | str | Storage
"""How callers say where a dataset is."""


def storage_of(address: Address) -> Storage:
    """The storage behind an address; raises ConfigError for one of an unknown kind."""
    if not isinstance(address, Path | str):
        return address
    text = str(address)
    match = _S3.fullmatch(text)
    if match:
        return S3Storage(match[1], match[2].strip("/"))
    if _SCHEME.match(text):
        raise ConfigError(f"{text}: a dataset is a local folder or s3://bucket/prefix")
    return LocalStorage(Path(address).expanduser().resolve())


@contextmanager
def driver_lock(address: Address) -> Iterator[None]:
    """Hold a dataset for one driver; raises RunError when another live driver has it, SinkError when it cannot be."""
    storage = storage_of(address)
    with ExitStack() as held:
        with disk_errors(f"cannot use {storage.address}"):
            held.enter_context(storage.lock())
        yield


def local_path(option: str, text: str) -> Path:
    """The path, when it is of this machine; raises ConfigError naming the option for an address elsewhere."""
    if _SCHEME.match(text):
        raise ConfigError(f"{option}: {text} is no local path; write it here, and copy it from here")
    return Path(text)


@contextmanager
def store_errors() -> Iterator[None]:
    """Turn what a store refuses, or its silence, into a ConfigError where the address is wrong, else a RunError.

    For reading; writers have `disk_errors`.
    """
    try:
        yield
    except AddressError as error:
        raise ConfigError(str(error)) from error
    except StoreError as error:
        raise RunError(str(error)) from error


@contextmanager
def disk_errors(what: str) -> Iterator[None]:
    """Turn an OSError of the block into a SinkError, code `disk_full`, `write_failed`, or `no_store` for a store."""
    try:
        yield
    except StoreError as error:
        raise SinkError("no_store", str(error)) from error
    except OSError as error:
        code = "disk_full" if error.errno in _FULL else "write_failed"
        raise SinkError(code, f"{what}: {error}") from error
