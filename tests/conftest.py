"""Fixtures of the whole session: one private Ray, started when first asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pipeline.cluster import Cluster, connected


@pytest.fixture(scope="session")
def ray_here() -> Iterator[Cluster]:
    """A Ray of our own with room for four rollout workers; runs find it and leave it as it is."""
    with connected(4, "web") as cluster:
        yield cluster
