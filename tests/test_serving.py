"""The servers of a run: which are started, where workers find them, and what a run does without one."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from pipeline import drive, serving
from pipeline.cluster import Cluster
from pipeline.config import RunConfig, ServerConfig
from pipeline.errors import ConfigError, RunError, SetupError
from pipeline.model_server import KEY_VARIABLE
from pipeline.policies import policy_id
from pipeline.progress import Board
from pipeline.run import collect
from pipeline.serving import Served, ServerActor, addressed, served, servers_of
from pipeline.supervision import Halt
from tests.runs import fake_config, one, rows, soon
from tests.servers import script_file, scripted_command

pytestmark = pytest.mark.timeout(300)  # the first of them starts Ray

ACTING = ["policy=chat", "model.name=mine", "model.images=2"]


def listed(*servers: dict[str, Any]) -> str:
    """The `serving` key."""
    given = [{"model": "m", "gpus": 0, "start_seconds": 60, **server} for server in servers]
    return f"serving={given!r}"


def ask(base_url: str | None) -> httpx.Response:
    assert base_url is not None
    return httpx.get(f"{base_url}/models")


def server_at(base_url: str | None) -> psutil.Process:
    """The process of ours that listens at an address."""
    wanted = ("127.0.0.1", urlsplit(base_url or "").port)
    listening = (one for one in psutil.net_connections(kind="tcp") if one.status == psutil.CONN_LISTEN)
    return next(psutil.Process(one.pid) for one in listening if one.pid and tuple(one.laddr) == wanted)


def silent(_: str) -> None:
    """Nothing is told."""


# --- which servers ----------------------------------------------------------------------------------------------------


def test_only_the_servers_that_models_name_are_started_with_the_pictures_they_are_shown() -> None:
    judged = ["step_judge.online=true", "step_judge.name=judge"]
    servers = listed({"name": "mine"}, {"name": "judge"}, {"name": "idle"})

    assert [(server.name, server.images) for server in servers_of(fake_config(*ACTING, *judged, servers))] == [
        ("mine", 2),
        ("judge", 1),
    ]


def test_a_judge_that_is_asked_of_the_acting_model_needs_no_server_of_its_own() -> None:
    config = fake_config(*ACTING, "step_judge.online=true", listed({"name": "mine", "images": 5}))

    assert [(server.name, server.images) for server in servers_of(config)] == [("mine", 5)]


def test_a_panel_has_a_server_for_each_of_its_families() -> None:
    judges = (
        "judges=[screen, {name: big, images: 4}, {name: small, grades: [step]}, {name: far, base_url: 'http://x/v1'}]"
    )
    config = fake_config(judges, "panel.escalate={name: big, images: 8}", listed({"name": "big"}, {"name": "small"}))
    up = [Served(server, f"http://127.0.0.1:7/{server.name}") for server in config.serving]

    found = addressed(config, up)

    assert [(server.name, server.images) for server in servers_of(config)] == [("big", 8), ("small", 10)]
    assert [judge if isinstance(judge, str) else judge.base_url for judge in found.judges] == [
        "screen",
        "http://127.0.0.1:7/big",
        "http://127.0.0.1:7/small",
        "http://x/v1",
    ]
    assert found.panel.escalate is not None and found.panel.escalate.base_url == "http://127.0.0.1:7/big"


def test_no_server_is_started_for_a_policy_that_asks_no_model() -> None:
    assert servers_of(fake_config("policy=planner", "model.name=mine", listed({"name": "mine"}))) == []


def test_too_few_pictures_are_refused_before_anything_starts() -> None:
    with pytest.raises(ConfigError, match=r"serving\.mine\.images: 2 pictures are shown at once"):
        servers_of(fake_config(*ACTING, listed({"name": "mine", "images": 1})))


def test_a_model_is_reached_at_its_server_under_its_family_without_another_services_key() -> None:
    config = fake_config(*ACTING, "model.api_key_env=OTHER_KEY")
    up = Served(ServerConfig(name="mine", model="m", family="qwen"), "http://127.0.0.1:7/v1")

    model = addressed(config, [up]).model

    assert (model.base_url, model.family, model.api_key_env) == ("http://127.0.0.1:7/v1", "qwen", KEY_VARIABLE)
    assert model.tries > config.model.tries


def test_one_model_under_two_names_is_of_one_family() -> None:
    config = fake_config("judges=[{name: one}, {name: two}, {name: three, family: other}]")
    names = ("one", "two", "three")
    up = [Served(ServerConfig(name=name, model="Qwen/Qwen3-VL-8B"), "http://127.0.0.1:7/v1") for name in names]

    families = [judge.family for judge in addressed(config, up).judges if not isinstance(judge, str)]

    assert families == ["qwen", "qwen", "other"]


def test_a_model_with_an_address_is_left_where_it_is() -> None:
    config = fake_config(*ACTING, "model.base_url=http://elsewhere/v1")

    assert addressed(config, [Served(ServerConfig(name="mine", model="m"), "http://127.0.0.1:7/v1")]) == config


def test_policies_of_different_weights_are_told_apart() -> None:
    ids = {policy_id(fake_config(*ACTING, listed({"name": "mine", "model": model}))) for model in ("a", "b", "b")}

    assert len(ids) == 2


def test_a_server_listens_on_its_nodes_address_only_where_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ray.util.get_node_ip_address", lambda: "10.0.0.7")
    configs = [ServerConfig(name="mine", model="m", listen=listen) for listen in ("loopback", "node")]

    hosts = [urlsplit(ServerActor(config, scripted_command).base_url).hostname for config in configs]

    assert hosts == ["127.0.0.1", "10.0.0.7"]


# --- what cannot be served ------------------------------------------------------------------------------------------


async def refusal(config: RunConfig, cluster: Cluster) -> str:
    with pytest.raises(ConfigError) as found:
        async with served(config, cluster, Halt(), silent, scripted_command):
            pass
    return str(found.value)


async def test_gpus_this_machine_lacks_are_said_at_once(ray_here: Cluster) -> None:
    said = await refusal(fake_config(*ACTING, listed({"name": "mine", "gpus": 512})), ray_here)

    assert said == "serving: 512 GPU are wanted, more than this machine has; gpus: 0 takes the CPU"


async def test_loopback_is_refused_where_workers_may_be_elsewhere(
    ray_here: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "several_nodes", lambda: True)

    said = await refusal(fake_config(*ACTING, listed({"name": "mine"})), ray_here._replace(local=False))

    assert said.startswith("serving.mine.listen: the cluster has several nodes")


async def test_a_server_that_does_not_start_is_quoted_and_the_others_end(ray_here: Cluster, tmp_path: Path) -> None:
    judged = ["step_judge.online=true", "step_judge.name=judge"]
    good, bad = script_file(tmp_path / "good.json"), tmp_path / "missing.json"
    servers = listed({"name": "mine", "model": str(good)}, {"name": "judge", "model": str(bad)})

    with pytest.raises(SetupError, match=r"(?s)server 'judge' did not start: .*cannot be read") as failed:
        async with served(fake_config(*ACTING, *judged, servers), ray_here, Halt(), silent, scripted_command):
            pass

    assert failed.value.code == "server_start"
    assert await asyncio.to_thread(soon, lambda: not started_with(good) or None)


async def test_an_interrupted_start_is_given_up(ray_here: Cluster, tmp_path: Path) -> None:
    script, halt = script_file(tmp_path / "other.json", "other"), Halt()
    told: list[str] = []

    def interrupt(line: str) -> None:
        told.append(line)
        halt.call(RunError("interrupted"))

    with pytest.MonkeyPatch.context() as patch, pytest.raises(RunError, match="interrupted"):
        patch.setattr(serving, "TELL_SECONDS", 0.2)
        config = fake_config(*ACTING, listed({"name": "mine", "model": str(script)}))
        async with served(config, ray_here, halt, interrupt, scripted_command):
            pass

    assert told[0].startswith("server mine: ")
    assert await asyncio.to_thread(soon, lambda: not started_with(script) or None)


def started_with(script: Path) -> list[psutil.Process]:
    """Processes that were given the script."""
    return [one for one in psutil.process_iter(["cmdline"]) if str(script) in (one.info["cmdline"] or [])]


# --- while the run lasts ----------------------------------------------------------------------------------------------


async def test_servers_answer_at_their_addresses_until_the_block_ends(ray_here: Cluster, tmp_path: Path) -> None:
    judged = ["step_judge.online=true", "step_judge.name=judge"]
    scripts = {name: script_file(tmp_path / f"{name}.json", name) for name in ("mine", "judge")}
    servers = listed(*({"name": name, "model": str(path)} for name, path in scripts.items()))
    told: list[str] = []

    async with served(
        fake_config(*ACTING, *judged, servers), ray_here, Halt(), told.append, scripted_command
    ) as config:
        names = [
            (await asyncio.to_thread(ask, address)).json()["data"][0]["id"]
            for address in (config.model.base_url, config.step_judge.base_url)
        ]

    assert names == ["mine", "judge"]
    assert {"server judge: ready", "server mine: ready"} <= set(told)
    assert await asyncio.to_thread(soon, lambda: not any(map(started_with, scripts.values())) or None)


async def test_a_dead_server_comes_back_at_its_address(ray_here: Cluster, tmp_path: Path) -> None:
    config, halt = fake_config(*ACTING, listed({"name": "mine", "model": str(script_file(tmp_path / "s"))})), Halt()
    async with served(config, ray_here, halt, silent, scripted_command) as reachable:
        first = server_at(reachable.model.base_url)

        first.kill()
        again = await asyncio.to_thread(soon, lambda: _other_than(first, reachable.model.base_url))
        response = await asyncio.to_thread(soon, lambda: _unless_refused(reachable.model.base_url))

    assert again.pid != first.pid
    assert response.status_code == 200
    assert halt.reason is None


def _other_than(first: psutil.Process, base_url: str | None) -> psutil.Process | None:
    """Who listens there in place of an earlier process."""
    try:
        found = server_at(base_url)
    except (StopIteration, psutil.NoSuchProcess):
        return None
    return None if found.pid == first.pid else found


def _unless_refused(base_url: str | None) -> httpx.Response | None:
    try:
        return ask(base_url)
    except httpx.ConnectError:
        return None


async def test_a_lost_actor_takes_its_server_along_and_halts_the_run(ray_here: Cluster, tmp_path: Path) -> None:
    script, halt = script_file(tmp_path / "script.json"), Halt()
    config = fake_config(*ACTING, listed({"name": "mine", "model": str(script)}))
    async with served(config, ray_here, halt, silent, scripted_command) as reachable:
        process = server_at(reachable.model.base_url)
        parent = process.parent()
        assert parent is not None

        parent.kill()
        await asyncio.wait_for(halt.called.wait(), 60)

        assert "server mine cannot be kept running: its process is lost" in str(halt.reason)
        assert await asyncio.to_thread(soon, lambda: not started_with(script) or None)


@pytest.mark.slow
def test_a_run_serves_its_own_model_and_keeps_no_address_in_its_configuration(
    ray_here: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive, "served", partial(served, command=scripted_command))
    script = script_file(tmp_path / "script.json", reply='{"type": "Finished"}')
    settings = fake_config(*ACTING, "tasks.limit=2", listed({"name": "mine", "model": str(script)}))

    outcome = collect(settings, "fake", tmp_path / "run", Board())

    assert outcome.reason is None
    assert rows(tmp_path / "run", "SELECT DISTINCT termination FROM trajectories") == [("finished",)]
    assert one(tmp_path / "run", "SELECT count(DISTINCT endpoint) FROM model_calls") == 1
    assert one(tmp_path / "run", "SELECT count(*) FROM runs, unnest(config) AS c WHERE c.value LIKE '%127.0.0.1%'") == 0
    assert started_with(script) == []
