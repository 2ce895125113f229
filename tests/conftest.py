"""Fixtures of the whole session: one private Ray and one object store, started when first asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pipeline.cluster import Cluster, connected
from tests.objectstore import bucket, object_store, storage

__all__ = ["bucket", "object_store", "ray_here", "storage"]


@pytest.fixture(scope="session")
def ray_here() -> Iterator[Cluster]:
    """A Ray of our own with room for four rollout workers; runs find it and leave it as it is."""
    with connected(4, "web") as cluster:
        yield cluster
