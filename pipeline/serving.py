"""The model servers of a run, as Ray actors on the nodes that have their GPUs, for as long as the run lasts.

Only servers that a model of the run names are started; its address then stands in that model's configuration, and
workers reach it like any other. What can be refused is refused before the first one starts, which takes minutes.
Knows nothing of what the models are asked.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, NamedTuple

import ray
from ray.exceptions import RayError

from pipeline.actions import Model
from pipeline.clients import family_of
from pipeline.cluster import Cluster, Place, several_nodes
from pipeline.config import EndpointConfig, RunConfig, ServerConfig
from pipeline.errors import ConfigError, PathproofError, RunError, WorkerError
from pipeline.model_server import KEY_VARIABLE, Command, ModelServer, vllm_command
from pipeline.ports import LOOPBACK
from pipeline.required import needs
from pipeline.supervision import CLOSE_SECONDS, Halt, actor, ask, dismiss, offered, spelled, unless

TELL_SECONDS = 15.0
"""How often a starting server's progress is told."""
_NODE_SECONDS = 1800.0
"""How long a cluster may take to bring a node with GPUs."""
_PROGRESS_SECONDS = 5.0
_TRIES = 32
"""So that calls outlast a restart: with their waits these take longer than a call may last in all."""
_NOT_YET = "http://server.invalid/v1"


class Served(NamedTuple):
    """A server that is up."""

    server: ServerConfig
    base_url: str


class ServerActor(ModelServer):
    """A model server in an actor's process; it listens where its configuration lets it."""

    def __init__(self, server: ServerConfig, command: Command) -> None:
        host = LOOPBACK
        if server.listen == "node":
            host = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
        super().__init__(server, host, command)


@contextlib.asynccontextmanager
async def served(
    config: RunConfig, cluster: Cluster, halt: Halt, say: Callable[[str], None], command: Command = vllm_command
) -> AsyncIterator[RunConfig]:
    """The configuration with the addresses of its servers, which run until the block ends.

    Raises ConfigError for what cannot be served, SetupError with the end of its log for a server that does not start,
    and the halt's reason when it comes before they are up. A server that cannot be kept running halts the run.
    """
    wanted = servers_of(config)
    _refuse_impossible(wanted, cluster)
    handles = [_actor_of(server, command) for server in wanted]
    pairs = list(zip(handles, wanted, strict=True))
    tasks: list[asyncio.Task[Any]] = [asyncio.create_task(_started(*pair, halt, say)) for pair in pairs]
    try:
        up: list[Served] = await asyncio.gather(*tasks)
        _refuse_impossible(wanted, cluster)
        tasks += [asyncio.create_task(_watch(*pair, halt)) for pair in pairs]
        yield addressed(config, up)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*map(_closed, handles), *tasks, return_exceptions=True)


def servers_of(config: RunConfig) -> list[ServerConfig]:
    """The servers that models of the run name, each with as many pictures as it is shown; raises ConfigError."""
    promised = addressed(config, [Served(server, _NOT_YET) for server in config.serving])
    images: Counter[str] = Counter()
    for endpoint, shown in needs(promised):
        if endpoint.base_url == _NOT_YET:
            images[endpoint.model] = max(images[endpoint.model], shown)
    for server in config.serving:
        if server.images is not None and images[server.name] > server.images:
            raise ConfigError(
                f"serving.{server.name}.images: {images[server.name]} pictures are shown at once; allow as many"
            )
    return [
        server if server.images is not None else server.model_copy(update={"images": images[server.name]})
        for server in config.serving
        if server.name in images
    ]


def addressed(config: RunConfig, up: Sequence[Served]) -> RunConfig:
    """The configuration with an address for every model that has none and is called as a server is."""
    by_name = {one.server.name: one for one in up}
    return config.model_copy(update={part: _reached(value, by_name) for part, value in config})


def _reached(value: Any, by_name: Mapping[str, Served]) -> Any:
    """A part of the configuration, with the addresses of the models in it."""
    if isinstance(value, list):
        return [_reached(one, by_name) for one in value]
    if isinstance(value, EndpointConfig):
        one = None if value.base_url else by_name.get(value.name or "")
        return value if one is None else value.model_copy(update=_as_ours(value, one))
    if isinstance(value, Model):
        return value.model_copy(update={name: _reached(inner, by_name) for name, inner in value})
    return value


def _as_ours(endpoint: EndpointConfig, one: Served) -> dict[str, object]:
    """What changes for a model that we serve."""
    return {
        "base_url": one.base_url,
        # By the weights, not by what the server is called: one model under two names is no panel of two families.
        "family": endpoint.family or one.server.family or family_of(EndpointConfig(name=one.server.model)),
        # Another service's key must not be shown to ours, possibly over a network without encryption.
        "api_key_env": KEY_VARIABLE,
        "tries": max(endpoint.tries, _TRIES),
    }


def _refuse_impossible(servers: Sequence[ServerConfig], cluster: Cluster) -> None:
    """Raise ConfigError for servers that this cluster has no GPUs for, or that its other nodes could not reach."""
    for server in servers:
        if server.listen == "loopback" and not cluster.local and several_nodes():
            raise ConfigError(
                f"serving.{server.name}.listen: the cluster has several nodes, and a server on loopback is reached"
                " from its own only; write listen: node"
            )
    wanted = _gpus(sum(server.gpu_share for server in servers))
    if cluster.local and not offered(wanted):
        raise ConfigError(f"serving: {spelled(wanted)} are wanted, more than this machine has; gpus: 0 takes the CPU")


def _actor_of(server: ServerConfig, command: Command) -> Any:
    return actor(ServerActor, Place(0, {}), num_gpus=server.gpu_share).remote(server, command)


async def _started(handle: Any, server: ServerConfig, halt: Halt, say: Callable[[str], None]) -> Served:
    """Wait until a server is up, and tell how far it is."""
    telling = asyncio.create_task(_tell(handle, server, say))
    try:
        seconds = _NODE_SECONDS + server.start_seconds
        up = ask(handle.start.remote(), seconds, f"server {server.name} starting")
        base_url = await unless(up, halt.called.is_set)
    except WorkerError as error:
        place = _gpus(server.gpu_share)
        if error.code == "no_answer" and not offered(place):
            raise RunError(f"no node of the cluster offers {spelled(place)} for server {server.name}") from error
        raise
    finally:
        telling.cancel()
    if base_url is None:
        raise halt.reason or RunError("interrupted")
    say(f"server {server.name}: ready")
    return Served(server, base_url)


async def _tell(handle: Any, server: ServerConfig, say: Callable[[str], None]) -> None:
    while True:
        await asyncio.sleep(TELL_SECONDS)
        try:
            line = await ask(handle.progress.remote(), _PROGRESS_SECONDS, "progress")
        except PathproofError:
            line = f"waiting for a node that offers {spelled(_gpus(server.gpu_share))}"
        say(f"server {server.name}: {line or 'starting'}")


async def _watch(handle: Any, server: ServerConfig, halt: Halt) -> None:
    """Halt the run when the server's life is over before the run's."""
    try:
        reason = await handle.ended.remote()
    except RayError as error:
        reason = f"its process is lost: {str(error).splitlines()[0]}"
    halt.call(RunError(f"server {server.name} cannot be kept running: {reason}"))


async def _closed(handle: Any) -> None:
    """End a server in order if it answers, and in any case; its guardian sees to the rest."""
    with contextlib.suppress(PathproofError):
        await ask(handle.close.remote(), CLOSE_SECONDS, "closing")
    dismiss(handle)


def _gpus(count: float) -> Place:
    return Place(0, {"GPU": count} if count else {})
