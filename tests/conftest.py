"""Fixtures of the whole session: a private Ray, an object store, a collected dataset, made when first asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.cluster import Cluster, connected
from tests.collected import collect
from tests.objectstore import bucket, object_store, storage

__all__ = ["bucket", "object_store", "ray_here", "storage"]


@pytest.fixture(scope="session")
def ray_here() -> Iterator[Cluster]:
    """A Ray of our own with room for four rollout workers; runs find it and leave it as it is."""
    with connected(4, "web") as cluster:
        yield cluster


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset folder of the fake application, to be read only."""
    return collect(tmp_path_factory.mktemp("dataset") / "run")
