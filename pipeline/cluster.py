"""Where the work runs: a Ray of our own on this machine, or the cluster this process was started for.

Inside a Ray job, or with RAY_ADDRESS set, the existing cluster is joined as it is, without a runtime environment of our
own. Otherwise a private Ray is started that listens on loopback only, asks every caller for a token, and ends with us.
Knows nothing of tasks or rows.
"""

from __future__ import annotations

import logging
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import ray
from ray._private import ray_constants

from pipeline.errors import RunError, WorkerError, boundary
from pipeline.words import Platform

RESOURCES: dict[Platform, str] = {"desktop": "desktop", "mobile": "phone", "web": "browser"}
"""The custom resource of which a rollout worker holds one unit, by platform."""

_START_TRIES = 4
"""Ray waits half a minute for its own first node, whatever it is told: so all of them make the two minutes below."""
_OBJECT_STORE_BYTES = 96 * 1024 * 1024
_SHARE_OF_A_CPU = 0.5
_LAUNCHER_FILE = Path("~/ray_bootstrap_config.yaml")


class Place(NamedTuple):
    """What a Ray actor asks for."""

    num_cpus: float
    resources: dict[str, float]

    def times(self, count: int) -> Place:
        """What an actor that does the work of several asks for."""
        return Place(self.num_cpus * count, {name: units * count for name, units in self.resources.items()})


class Cluster(NamedTuple):
    """The Ray we work on: the node this process is on, and what one rollout worker asks for."""

    local: bool
    node_id: str
    worker: Place

    @property
    def judge(self) -> Place:
        """What a judge asks for."""
        return Place(_SHARE_OF_A_CPU, {})


@contextmanager
def connected(workers: int, platform: Platform) -> Iterator[Cluster]:
    """Join or start Ray for the length of the block; a Ray that was there before is left as it was.

    Raises RunError when the cluster cannot be joined.
    """
    before = ray.is_initialized()
    local = not before and not joins_cluster()
    with _own_folder() if local else nullcontext() as folder:
        if local:
            _start(workers, platform, folder)
        elif not before:
            _join()
        try:
            yield Cluster(local, ray.get_runtime_context().get_node_id(), _worker_place(platform))
        finally:
            if not before:
                ray.shutdown()


def joins_cluster() -> bool:
    """Whether the environment names a cluster to which the work goes."""
    return os.environ.get("RAY_ADDRESS", "local") not in ("", "local")


def several_nodes() -> bool:
    """Whether the cluster has other nodes than this one, or an autoscaler that may bring some."""
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return sum(node["Alive"] for node in nodes) > 1 or _LAUNCHER_FILE.expanduser().exists()


def inside_job() -> bool:
    """Whether this process is the entry point of a Ray job."""
    return "RAY_JOB_CONFIG_JSON_ENV_VAR" in os.environ


@contextmanager
def _own_folder() -> Iterator[str | None]:
    """Where Ray puts its sockets, logs and what does not fit into memory: with us, for ours are nobody else's.

    Its own choice, a folder that everybody may write to, is left to those who name one by RAY_TMPDIR.
    """
    if "RAY_TMPDIR" in os.environ:
        yield None
        return
    # Not below $TMPDIR: the path of a socket has about a hundred characters.
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        yield f"{folder}/s"  # Ray opens the one it is given to everybody


def _start(workers: int, platform: Platform, folder: str | None) -> None:
    # Without this switch Ray takes the machine's outward address and listens on every interface.
    ray_constants.ENABLE_RAY_CLUSTER = False
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # Ray asks for a token by itself; without one of ours it would leave its own in a file of the home folder.
    if "RAY_AUTH_TOKEN_PATH" not in os.environ:
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    # Workers must import the project also when this process was started from another folder.
    root = str(Path(__file__).resolve().parents[1])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    # Ray gives its processes 30 s to come up, which a busy machine may exceed.
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "120")
    for tries_left in reversed(range(_START_TRIES)):
        try:
            with boundary(WorkerError, "not_started"):
                ray.init(
                    address="local",
                    num_cpus=max(2, os.cpu_count() or 1),
                    resources={RESOURCES[platform]: workers},
                    object_store_memory=_OBJECT_STORE_BYTES,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    _temp_dir=folder,
                )
            return
        except WorkerError as error:
            ray.shutdown()
            if not tries_left:
                raise RunError(f"Ray could not be started on this machine: {_first_line(error)}") from error


def _join() -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        with boundary(WorkerError, "not_joined"):
            ray.init(address="auto", log_to_driver=False, logging_level=logging.ERROR)
    except WorkerError as error:
        address = os.environ["RAY_ADDRESS"]
        raise RunError(
            f"the Ray cluster at RAY_ADDRESS={address} cannot be joined: {_first_line(error)};"
            " check the address and the token (RAY_AUTH_MODE, ~/.ray/auth_token), or unset RAY_ADDRESS"
        ) from error


def _worker_place(platform: Platform) -> Place:
    """One unit of the platform's resource; a share of a CPU on a cluster that never declares that resource."""
    resource = RESOURCES[platform]
    declared = resource in ray.cluster_resources()  # type: ignore[no-untyped-call]
    if declared or _LAUNCHER_FILE.expanduser().exists():  # the launcher's autoscaler brings nodes that declare it
        return Place(0, {resource: 1})
    return Place(_SHARE_OF_A_CPU, {})


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
