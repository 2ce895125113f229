"""A model server's process: when it is ready, what is said when it is not, and what follows its death."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from pipeline import model_server
from pipeline.config import ServerConfig
from pipeline.errors import SetupError
from pipeline.model_server import KEY_VARIABLE, ModelServer, Program, vllm_command
from pipeline.ports import LOOPBACK, free_port, is_taken
from tests.runs import soon
from tests.servers import script_file, scripted_command, server_config


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_server, "LOOK_SECONDS", 0.05)
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return script_file(tmp_path / "script.json")


@asynccontextmanager
async def running(config: ServerConfig, **more: Any) -> AsyncIterator[ModelServer]:
    """A server that has been started, and is closed."""
    server = ModelServer(config, **{"command": scripted_command, **more})
    try:
        await server.start()
        yield server
    finally:
        await server.close()


def process_of(server: ModelServer) -> psutil.Process | None:
    """Who listens on the server's port."""
    port = urlsplit(server.base_url).port
    for process in psutil.Process().children(recursive=True):
        try:
            connections = process.net_connections(kind="tcp")
        except psutil.Error:
            continue
        if any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in connections):
            return process
    return None


async def another(server: ModelServer, before: psutil.Process) -> psutil.Process:
    """The process that has taken the port of an earlier one."""

    def look() -> psutil.Process | None:
        found = process_of(server)
        return None if found == before else found

    return await asyncio.to_thread(soon, look)


async def models(server: ModelServer) -> httpx.Response:
    return await asyncio.to_thread(httpx.get, f"{server.base_url}/models")


# --- the program ----------------------------------------------------------------------------------------------------


def test_vllm_is_told_what_the_configuration_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "sk-ours")
    config = ServerConfig(
        name="judge", model="/models/a b", images=3, context=4096, tensor_parallel=2, arguments=["--dtype", "half"]
    )

    argv, variables = vllm_command(config, LOOPBACK, 8123)

    assert argv[:3] == [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    assert [*zip(argv[3:11:2], argv[4:12:2], strict=True)] == [
        ("--model", "/models/a b"),
        ("--served-model-name", "judge"),
        ("--tensor-parallel-size", "2"),
        ("--max-model-len", "4096"),
    ]
    limits = ["--limit-mm-per-prompt", '{"image": 3}']
    place = ["--host", "127.0.0.1", "--port", "8123"]
    assert argv[11:] == [*limits, "--dtype", "half", "--disable-uvicorn-access-log", *place]
    assert variables["VLLM_API_KEY"] == "sk-ours"
    assert "sk-ours" not in " ".join(argv)


def test_what_is_not_configured_is_left_to_vllm() -> None:
    argv, variables = vllm_command(ServerConfig(name="a", model="m", python="/other/python"), LOOPBACK, 1)

    assert argv[0] == "/other/python"
    assert not {"--max-model-len", "--limit-mm-per-prompt"} & set(argv)
    assert variables == {"PYTHONPATH": "", "VLLM_NO_USAGE_STATS": "1"}


# --- starting ---------------------------------------------------------------------------------------------------------


async def test_a_started_server_answers_at_its_address_and_its_log_is_told(script: Path) -> None:
    async with running(server_config(script)) as server:
        assert (await models(server)).json()["data"][0]["id"] == "mine"
        assert await server.progress() == server.base_url


async def test_nothing_is_left_of_a_closed_server(script: Path) -> None:
    async with running(server_config(script)) as server:
        process = process_of(server)
        assert process is not None

    assert not process.is_running()
    await server.close()


async def test_a_program_that_ends_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"(?s)'mine' did not start: it ended with code 2; .*cannot be read") as failed:
        async with running(server_config(tmp_path / "missing.json")):
            pass

    assert failed.value.code == "server_start"


async def test_a_program_that_cannot_be_run_is_named(script: Path) -> None:
    with pytest.raises(SetupError, match="/no/such/python"):
        async with running(server_config(script), command=lambda *_: Program(["/no/such/python"], {})):
            pass


@pytest.mark.slow
async def test_a_server_of_another_model_is_not_ready_and_is_stopped(tmp_path: Path) -> None:
    config = server_config(script_file(tmp_path / "other.json", "other"), start_seconds=25)
    server = ModelServer(config, command=scripted_command)

    with pytest.raises(SetupError, match=r"after 25 s /v1/models lists \['other'\], not 'mine'"):
        await server.start()

    assert process_of(server) is None
    await server.close()


async def test_the_key_is_shown_to_a_server_that_asks_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "sk-ours")
    script = script_file(tmp_path / "locked.json", key="sk-ours")

    async with running(server_config(script)) as server:
        assert (await models(server)).status_code == 401


async def test_a_taken_port_is_left_to_its_owner(script: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as foreign:
        foreign.settimeout(0)
        ports = iter([foreign.getsockname()[1], free_port()])
        async with running(server_config(script), choose_port=lambda _: next(ports)) as server:
            assert urlsplit(server.base_url).port != foreign.getsockname()[1]

        with pytest.raises(BlockingIOError):
            foreign.accept()


async def test_a_port_lost_to_a_stranger_while_starting_is_given_up(script: Path) -> None:
    strangers: list[socket.socket] = []

    def stolen(config: ServerConfig, host: str, port: int) -> Program:
        if not strangers:
            strangers.append(socket.create_server((host, port)))
        return scripted_command(config, host, port)

    async with running(server_config(script), command=stolen) as server:
        assert urlsplit(server.base_url).port != strangers[0].getsockname()[1]

    strangers[0].close()


async def test_it_is_said_when_no_port_can_be_had(script: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as foreign, pytest.raises(SetupError, match="5 ports in a row"):
        async with running(server_config(script), choose_port=lambda _: foreign.getsockname()[1]):
            pass


# --- keeping it running ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_dead_or_silent_server_is_started_again_on_its_port(
    script: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_server, "SILENCE_SECONDS", 1.0)
    monkeypatch.setattr(model_server, "_REQUEST_SECONDS", 0.5)
    async with running(server_config(script)) as server:
        first, address = process_of(server), server.base_url
        assert first is not None
        keeping = asyncio.create_task(server.ended())

        os.kill(first.pid, number)
        await another(server, first)

        assert not first.is_running()
        assert server.base_url == address
        assert not keeping.done()
        keeping.cancel()


async def test_a_server_that_cannot_be_kept_running_is_given_up_with_its_last_words(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_server, "RESTARTS", 2)
    async with running(server_config(script)) as server:
        process = process_of(server)
        assert process is not None
        await asyncio.to_thread(script.unlink)

        process.kill()
        reason = await asyncio.wait_for(server.ended(), 60)

    assert reason.startswith("started again 2 times, then: ")
    assert "cannot be read" in reason


async def test_a_closed_server_is_not_started_again(script: Path) -> None:
    async with running(server_config(script)) as server:
        keeping = asyncio.create_task(server.ended())
        await asyncio.sleep(0)  # it has begun
        await server.close()

        reason = await asyncio.wait_for(keeping, 60)

    assert reason.endswith("server 'mine' is closed")
    assert process_of(server) is None


async def test_a_port_taken_while_the_server_is_down_is_no_new_address(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_server, "RESTARTS", 1)
    holding = _Holder()
    async with running(server_config(script), command=holding.command) as server:
        process = process_of(server)
        assert process is not None
        holding.take = True

        process.kill()
        reason = await asyncio.wait_for(server.ended(), 60)

    assert reason.endswith("was taken while the server was down")
    assert is_taken(holding.port)
    holding.close()


class _Holder:
    """Takes the port from a server that is about to be started again."""

    def __init__(self) -> None:
        self.take, self.port = False, 0
        self.close: Callable[[], None] = lambda: None

    def command(self, config: ServerConfig, host: str, port: int) -> Program:
        if self.take:
            self.port = port
            self.close = socket.create_server((host, port)).close
        return scripted_command(config, host, port)
