"""What concerns the whole session: which slow tests belong to it, and fixtures made when first asked for.

`--shard K/N` keeps every fast test, every slow one that is marked `core`, and the K-th of N shards of the other slow
ones (K counts from 0 and is taken modulo N). Without it all tests run. Files with slow tests come first: where files
are shared out among processes, none is left with a long one when the others are done.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.cluster import Cluster, connected
from tests.collected import collect
from tests.handsets import handset
from tests.objectstore import bucket, object_store, storage

__all__ = ["bucket", "handset", "object_store", "ray_here", "storage"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shard", metavar="K/N", help="run only the K-th of N shards of the slow tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    shard = config.getoption("--shard")
    if shard is not None:
        _keep_shard(config, items, str(shard))
    long = {item.path for item in items if item.get_closest_marker("slow") is not None}
    items.sort(key=lambda item: item.path not in long)


def _keep_shard(config: pytest.Config, items: list[pytest.Item], shard: str) -> None:
    number, _, shards = shard.partition("/")
    if not (number.isdecimal() and shards.isdecimal() and int(shards)):
        raise pytest.UsageError(f"--shard: '{shard}' is not K/N, for example 2/5")
    left_out = [item for item in items if _elsewhere(item, int(number) % int(shards), int(shards))]
    config.hook.pytest_deselected(items=left_out)
    others = set(left_out)
    items[:] = [item for item in items if item not in others]


def _elsewhere(item: pytest.Item, shard: int, shards: int) -> bool:
    """Whether a test belongs to another shard. The name decides, so that a shard is the same on every machine."""
    if item.get_closest_marker("slow") is None or item.get_closest_marker("core") is not None:
        return False
    return zlib.crc32(item.nodeid.encode()) % shards != shard


@pytest.fixture(scope="session")
def ray_here() -> Iterator[Cluster]:
    """A Ray of our own with room for four rollout workers; runs find it and leave it as it is."""
    with connected(4, "web") as cluster:
        yield cluster


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset folder of the fake application, to be read only."""
    return collect(tmp_path_factory.mktemp("dataset") / "run")
