"""The cluster description: what Ray's launcher accepts, and the resources the workers ask for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import ray
import yaml

from pipeline.cluster import RESOURCES

PATH = Path(__file__).resolve().parents[1] / "ray_cluster.yaml"


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(PATH.read_text(encoding="utf-8"))
    return found


def test_the_launcher_accepts_it(description: dict[str, Any]) -> None:
    schema = json.loads((Path(ray.__file__).parent / "autoscaler" / "ray-schema.json").read_text(encoding="utf-8"))

    assert list(jsonschema.Draft7Validator(schema).iter_errors(description)) == []


def test_every_resource_a_worker_asks_for_is_offered_within_bounds(description: dict[str, Any]) -> None:
    types = description["available_node_types"]
    offered = {name for node in types.values() for name in node["resources"]}

    assert {*RESOURCES.values(), "GPU", "CPU"} == offered
    workers = {name: node for name, node in types.items() if name != description["head_node_type"]}
    assert all(0 <= node["min_workers"] <= node["max_workers"] for node in workers.values())
    assert sum(node["max_workers"] for node in workers.values()) == description["max_workers"]


def test_every_node_starts_with_the_token(description: dict[str, Any]) -> None:
    starts = [line for key in ("head_start_ray_commands", "worker_start_ray_commands") for line in description[key]]

    assert all("RAY_AUTH_MODE=token" in line for line in starts if "ray start" in line)
    assert any(target.endswith(".ray/auth_token") for target in description["file_mounts"])
    assert "--dashboard-host=127.0.0.1" in " ".join(starts)
