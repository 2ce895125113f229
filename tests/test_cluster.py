"""The Ray we start for ourselves: loopback only, with a token; and joining one that is there."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import ray

from pipeline.cluster import Cluster, connected, inside_job, joins_cluster, several_nodes
from pipeline.errors import RunError

pytestmark = pytest.mark.timeout(300)  # the first of them starts Ray


def test_nothing_listens_beyond_loopback(ray_here: Cluster) -> None:
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    listening = [
        found.laddr.ip
        for process in family
        for found in process.net_connections(kind="tcp")
        if found.status == psutil.CONN_LISTEN
    ]

    assert len(listening) > 5
    assert {address.removeprefix("::ffff:") for address in listening} == {"127.0.0.1"}


def test_callers_need_a_token(ray_here: Cluster) -> None:
    assert os.environ["RAY_AUTH_MODE"] == "token"
    assert len(os.environ["RAY_AUTH_TOKEN"]) == 64


def test_a_ray_that_is_there_is_used_and_left_alone(ray_here: Cluster) -> None:
    with connected(2, "web") as cluster:
        assert cluster.node_id == ray_here.node_id
        assert cluster.worker.resources == {"browser": 1}

    assert ray.is_initialized()


def test_a_platform_whose_resource_nobody_declares_takes_a_share_of_a_cpu(
    ray_here: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    with connected(2, "mobile") as cluster:
        plain = cluster.worker
    (tmp_path / "ray_bootstrap_config.yaml").write_text("# made by the cluster launcher")
    with connected(2, "mobile") as cluster:
        autoscaled = cluster.worker

    assert (plain.num_cpus, plain.resources) == (0.5, {})
    assert (autoscaled.num_cpus, autoscaled.resources) == (0, {"phone": 1})


def test_an_autoscaler_may_bring_more_nodes_than_this_one(
    ray_here: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    alone = several_nodes()
    (tmp_path / "ray_bootstrap_config.yaml").write_text("# made by the cluster launcher")

    assert (alone, several_nodes()) == (False, True)


def test_a_cluster_that_cannot_be_joined_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.cluster.ray.is_initialized", lambda: False)
    monkeypatch.setenv("RAY_ADDRESS", "http://nowhere:1")

    with pytest.raises(RunError, match="RAY_ADDRESS=http://nowhere:1 cannot be joined"), connected(1, "web"):
        pass


@pytest.mark.parametrize(("address", "joins"), [("", False), ("local", False), ("10.0.0.1:6379", True)])
def test_an_address_in_the_environment_means_a_cluster(
    address: str, joins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", address)

    assert joins_cluster() is joins


def test_a_job_is_known_by_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = inside_job()
    monkeypatch.setenv("RAY_JOB_CONFIG_JSON_ENV_VAR", "{}")

    assert (before, inside_job()) == (False, True)


@pytest.mark.parametrize(("token", "answered"), [(None, True), ("0" * 64, False)])
def test_only_callers_with_the_token_are_answered(ray_here: Cluster, token: str | None, answered: bool) -> None:
    asking = "import sys; from ray._raylet import GcsClient; print(GcsClient(address=sys.argv[1]).get_all_node_info(5))"
    address = ray.get_runtime_context().gcs_address
    environment = os.environ if token is None else {**os.environ, "RAY_AUTH_TOKEN": token}

    asked = subprocess.run(
        [sys.executable, "-c", asking, address], env=environment, capture_output=True, text=True, timeout=60
    )

    assert (asked.returncode == 0) is answered, asked.stderr
    assert ("InvalidAuthToken" in asked.stderr or "Unauthenticated" in asked.stderr) is not answered, asked.stderr


def test_what_ray_writes_is_nobody_else_s(ray_here: Cluster) -> None:
    nodes = ray.nodes()  # type: ignore[no-untyped-call]
    [socket, *_] = [Path(node["ObjectStoreSocketName"]) for node in nodes if node["Alive"]]

    assert any(stat.S_IMODE(folder.stat().st_mode) == 0o700 for folder in socket.parents)
