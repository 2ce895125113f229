"""A real S3-speaking server on loopback, as fixtures, and a dataset's place on either kind of storage."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from pipeline.file_names import EPOCHS, MANIFEST
from pipeline.schema import TABLES
from pipeline.storage import Storage, storage_of

KEYS = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}

SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("http://{}:{}".format(*server.get_host_and_port()), flush=True)
sys.stdin.read()
server.stop()
"""


@pytest.fixture(scope="session")
def object_store() -> Iterator[str]:
    """The address of a server in a process of its own, which ends when its standard input does."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdout is not None and process.stdin is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


@pytest.fixture
def bucket(object_store: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The s3:// address of a new bucket; this process and its children find the server by their environment."""
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": object_store}.items():
        monkeypatch.setenv(name, value)
    name = f"bucket-{uuid.uuid4().hex}"
    boto3.client("s3", endpoint_url=object_store).create_bucket(Bucket=name)
    return f"s3://{name}"


@pytest.fixture(params=["local", "s3"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    """An empty place for a dataset, of each kind."""
    if request.param == "local":
        return storage_of(tmp_path / "data")
    bucket: str = request.getfixturevalue("bucket")
    return storage_of(f"{bucket}/runs/data")


def contents(storage: Storage) -> dict[str, bytes]:
    """Every object of a dataset by its key, but for the driver's lock."""
    folders = ["", *(f"{name}/" for name in (*TABLES, MANIFEST, EPOCHS))]
    keys = [folder + name for folder in folders for name in storage.sizes(folder.rstrip("/"))]
    return {key: storage.read(key) for key in keys if not key.startswith("driver.")}
