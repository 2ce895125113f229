"""A dataset under `s3://bucket/prefix`: conditional writes decide who was first, a lease keeps drivers out.

The endpoint, keys and region are the usual AWS_* variables' (AWS_ENDPOINT_URL for servers other than Amazon's).
Arrow and DuckDB read through Arrow's own client; it cannot write conditionally, so all writing goes through boto3.
"""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from functools import cache
from typing import Any, BinaryIO, ClassVar, NamedTuple

import boto3
import pyarrow.fs as pafs
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    HTTPClientError,
    NoCredentialsError,
    ParamValidationError,
)
from botocore.exceptions import (
    ConnectionError as NoConnectionError,
)
from fsspec import AbstractFileSystem
from fsspec.implementations.arrow import ArrowFSWrapper

from pipeline.lease import Lease, Stamped, held

CONNECT_SECONDS = 5
READ_SECONDS = 20
TRIES = 3

_MAGIC = re.compile(r"[*?\[]")
_ESCAPED = re.compile(r"\[([*?\[])\]")
_GONE = frozenset({"404", "NoSuchKey"})
_TAKEN = frozenset({"412", "PreconditionFailed", "409", "ConditionalRequestConflict"})
_REFUSED = frozenset(
    {
        "401",
        "403",
        "AccessDenied",
        "ExpiredToken",
        "Forbidden",
        "InvalidAccessKeyId",
        "InvalidToken",
        "SignatureDoesNotMatch",
        "Unauthorized",
    }
)
_KEYS = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"


class StoreError(OSError):
    """The store does not do what it is asked, whatever it is; the message names it and what to mend."""


class AddressError(StoreError):
    """There is no such place in the store: the address is wrong."""


class S3Storage(NamedTuple):
    """The bucket and the prefix, without slashes around it."""

    bucket: str
    prefix: str

    @property
    def address(self) -> str:
        """With its scheme."""
        return f"s3://{self._path('')}".rstrip("/")

    @property
    def files(self) -> pafs.FileSystem:
        """Arrow's view of the prefix."""
        return pafs.SubTreeFileSystem(self._path("").rstrip("/"), _arrow(os.environ.get("AWS_ENDPOINT_URL")))

    @property
    def shown(self) -> AbstractFileSystem:
        """DuckDB's own S3 reader is an extension to download; it takes any file system it is shown instead."""
        return _Shown(_arrow(os.environ.get("AWS_ENDPOINT_URL")))

    def url(self, key: str) -> str:
        """The object's address."""
        return f"s3://{self._path(key)}"

    def prepare(self, folders: list[str]) -> None:
        """An object store has no folders."""

    def drop(self, folders: list[str]) -> None:
        """An object store has no folders."""

    def has(self, folder: str) -> bool:
        """Whether any object is under the prefix."""
        return bool(self.sizes(folder))

    def read(self, key: str) -> bytes:
        """The object's bytes."""
        return self.stamped(key).data

    def stamped(self, key: str) -> Stamped:
        """The object's bytes, and the mark of this version of it."""
        with _os_errors(self.url(key)):
            found = self._client.get_object(Bucket=self.bucket, Key=self._key(key))
            return Stamped(found["Body"].read(), found["ETag"])

    def size(self, key: str) -> int | None:
        """The object's size."""
        try:
            with _os_errors(self.url(key)):
                size: int = self._client.head_object(Bucket=self.bucket, Key=self._key(key))["ContentLength"]
                return size
        except FileNotFoundError:
            return None

    def sizes(self, folder: str) -> dict[str, int]:
        """The objects directly under a prefix."""
        prefix = self._key(f"{folder}/" if folder else "")
        with _os_errors(self.url(folder)):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self.bucket, Prefix=prefix, Delimiter="/"
            )
            found = {one["Key"][len(prefix) :]: one["Size"] for page in pages for one in page.get("Contents", ())}
        return dict(sorted(found.items()))

    def folders(self) -> list[str]:
        """The prefixes directly under this one."""
        return list(self.others(""))

    def others(self, folder: str) -> dict[str, str]:
        """The prefixes directly under a prefix."""
        prefix = self._key(f"{folder}/" if folder else "")
        with _os_errors(self.url(folder)):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self.bucket, Prefix=prefix, Delimiter="/"
            )
            found = [one["Prefix"] for page in pages for one in page.get("CommonPrefixes", ())]
        return {name[len(prefix) :].rstrip("/"): "a folder" for name in sorted(found)}

    def refuse_odd(self, key: str) -> None:
        """An object store has plain objects only."""

    def occupied(self, besides: Collection[str]) -> bool:
        """Whether any object is under the prefix."""
        with _os_errors(self.address):
            found = self._client.list_objects_v2(
                Bucket=self.bucket, Prefix=self._key(""), MaxKeys=len(besides) + 1
            ).get("Contents", ())
        return any(one["Key"].rpartition("/")[2] not in besides for one in found)

    def create(self, key: str, data: bytes) -> None:
        """Write a new object."""
        try:
            self.swap(key, data, None)
        except FileExistsError:
            # A try that was answered too late has written it all the same; the next one finds its own bytes.
            if self.read(key) != data:
                raise

    def swap(self, key: str, data: bytes, mark: str | None) -> str:
        """Write in place of the version with this mark, or of nothing; the new mark. Raises FileExistsError."""
        condition = {"IfMatch": mark} if mark else {"IfNoneMatch": "*"}
        return self._put(key, data, **condition)

    def replace(self, key: str, data: bytes) -> None:
        """Write an object whatever is there."""
        self._put(key, data)

    def delete(self, key: str) -> None:
        """Remove an object."""
        with _os_errors(self.url(key)):
            self._client.delete_object(Bucket=self.bucket, Key=self._key(key))

    @contextmanager
    def new_file(self, key: str) -> Iterator[BinaryIO]:
        """A file of this machine, which becomes the object in one request."""
        with tempfile.TemporaryFile() as file:
            yield file
            file.seek(0)
            self._put(key, file, IfNoneMatch="*")

    def lock(self) -> AbstractContextManager[None]:
        """A lease that this process renews."""
        return held(self, Lease())

    def _put(self, key: str, body: Any, **condition: str) -> str:
        with _os_errors(self.url(key)):
            mark: str = self._client.put_object(Bucket=self.bucket, Key=self._key(key), Body=body, **condition)["ETag"]
            return mark

    def _key(self, key: str) -> str:
        return f"{self.prefix}/{key}" if self.prefix else key

    def _path(self, key: str) -> str:
        return f"{self.bucket}/{self._key(key)}"

    @property
    def _client(self) -> Any:
        return _boto(os.environ.get("AWS_ENDPOINT_URL"))


class _Shown(ArrowFSWrapper):  # type: ignore[misc]  # fsspec is not typed
    """Arrow's S3 client as DuckDB wants to see one; parts never change, so that each is asked about once."""

    protocol: ClassVar[str] = "s3"
    cachable: ClassVar[bool] = False

    def __init__(self, files: pafs.FileSystem) -> None:
        super().__init__(files)
        self._infos: dict[str, dict[str, Any]] = {}

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Size and time of an object."""
        if path not in self._infos:
            self._infos[path] = super().info(path)
        return self._infos[path]

    def glob(self, path: str, maxdepth: int | None = None, **options: Any) -> list[str]:
        """Names that fit a pattern. One that a single name fits is that name: nothing has to be listed for it."""
        if _MAGIC.search(_ESCAPED.sub("", path)):
            found: list[str] = super().glob(path, maxdepth=maxdepth, **options)
            return found
        name: str = self._strip_protocol(_ESCAPED.sub(r"\g<1>", path))
        return [name] if self.exists(name) else []

    def modified(self, path: str) -> datetime:
        """When it was written."""
        found: datetime = self.info(path)["mtime"]
        return found


@cache
def _boto(endpoint: str | None) -> Any:
    """The client; one for the process, as it holds connections and may be used by many threads."""
    retries = {"mode": "standard", "max_attempts": TRIES}
    deadlines = {"connect_timeout": CONNECT_SECONDS, "read_timeout": READ_SECONDS}
    try:
        return boto3.client("s3", endpoint_url=endpoint, config=Config(retries=retries, **deadlines))
    except ValueError as error:
        raise AddressError(f"AWS_ENDPOINT_URL: {error}") from error


@cache
def _arrow(endpoint: str | None) -> pafs.S3FileSystem:
    region = _boto(endpoint).meta.region_name
    return pafs.S3FileSystem(
        endpoint_override=endpoint,
        region=None if region == "aws-global" else region,
        connect_timeout=CONNECT_SECONDS,
        request_timeout=READ_SECONDS,
        retry_strategy=pafs.AwsStandardS3RetryStrategy(max_attempts=TRIES),
    )


@contextmanager
def _os_errors(what: str) -> Iterator[None]:
    """What the client raises, as the error that a file would have raised."""
    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in _GONE:
            raise FileNotFoundError(errno.ENOENT, "no such object", what) from error
        if code in _TAKEN:
            raise FileExistsError(errno.EEXIST, "written by someone else", what) from error
        raise _refusal(what, code, str(error)) from error
    except NoCredentialsError as error:
        raise StoreError(f"{what}: no keys for {_server()}: set {_KEYS}") from error
    except ParamValidationError as error:
        raise AddressError(f"{what}: {str(error).splitlines()[-1]}") from error
    except (HTTPClientError, NoConnectionError) as error:
        raise StoreError(
            f"{what}: {_server()} does not answer: check AWS_ENDPOINT_URL, and that the server runs"
        ) from error
    except BotoCoreError as error:
        raise StoreError(f"{what}: {error}") from error


def _refusal(what: str, code: str, said: str) -> StoreError:
    if code == "NoSuchBucket":
        bucket = what.removeprefix("s3://").partition("/")[0]
        return AddressError(f"{what}: {_server()} has no bucket {bucket}: create it, or mend the address")
    if code in _REFUSED:
        return StoreError(f"{what}: {_server()} refuses access ({code}): check {_KEYS}, and what they may do")
    return StoreError(f"{what}: {said}")


def _server() -> str:
    return os.environ.get("AWS_ENDPOINT_URL", "Amazon S3")
