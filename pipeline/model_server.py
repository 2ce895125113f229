"""One model server: vLLM, or another program that speaks as it does, kept running on one port until it is closed.

It is ready when our own process has the port, says that it is well, and lists the model. When it dies or falls silent
it is started again, on the same port, so that callers need not be told; not for ever. Everything it starts dies with
us. Knows nothing of what the model is asked, or of Ray.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import httpx

from pipeline.config import ServerConfig
from pipeline.errors import SetupError, boundary
from pipeline.ports import LOOPBACK, free_port, is_taken, listening
from pipeline.reaper import Scratch

KEY_VARIABLE = "PATHPROOF_SERVING_KEY"
"""The variable with the key that servers ask for, where it is set; the keys of other services are not for them."""
CODE = "server_start"
RESTARTS = 5
SILENCE_SECONDS = 180.0
LOOK_SECONDS = 1.0

_PORT_TRIES = 5
_REQUEST_SECONDS = 10.0
_TAIL_CHARACTERS = 1500
_LINE_CHARACTERS = 160


class Program(NamedTuple):
    """How a server is started; the variables are added to ours."""

    argv: list[str]
    variables: Mapping[str, str]


Command = Callable[[ServerConfig, str, int], Program]
"""The program that serves a model at a host and port."""


def vllm_command(server: ServerConfig, host: str, port: int) -> Program:
    """vLLM's own server. It reports to nobody, and finds no module of ours in place of one of its own."""
    argv = [server.python or sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    argv += ["--model", server.model, "--served-model-name", server.name]
    argv += ["--tensor-parallel-size", str(server.tensor_parallel)]
    if server.context is not None:
        argv += ["--max-model-len", str(server.context)]
    if server.images is not None:
        argv += ["--limit-mm-per-prompt", json.dumps({"image": server.images})]
    argv += [*server.arguments, "--disable-uvicorn-access-log", "--host", host, "--port", str(port)]
    variables = {"PYTHONPATH": "", "VLLM_NO_USAGE_STATS": "1"}
    key = serving_key()
    return Program(argv, variables | ({"VLLM_API_KEY": key} if key else {}))


def serving_key() -> str:
    """The key of this moment; empty where the servers ask for none."""
    return os.environ.get(KEY_VARIABLE, "").strip()


class _PortTakenError(Exception):
    """Somebody else has the port."""


class ModelServer:
    """A server that is kept running."""

    def __init__(
        self,
        server: ServerConfig,
        host: str = LOOPBACK,
        command: Command = vllm_command,
        choose_port: Callable[[str], int] = free_port,
    ) -> None:
        """Nothing is started yet."""
        self._server, self._host, self._command, self._choose_port = server, host, command, choose_port
        self._scratch: Scratch | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._log: Path | None = None
        self._port = 0
        self._closing = False

    @property
    def base_url(self) -> str:
        """The address for callers, the same for the server's whole life."""
        return f"http://{self._host}:{self._port}/v1"

    async def start(self) -> str:
        """Serve; the address. Raises SetupError with the end of the server's log."""
        self._scratch = await asyncio.to_thread(Scratch, f"server-{self._server.name}")
        self._log = self._scratch.path / "server.log"
        for _ in range(_PORT_TRIES):
            self._port = self._choose_port(self._host)
            try:
                await self._up()
            except _PortTakenError:
                continue
            return self.base_url
        raise SetupError(CODE, f"server '{self._server.name}': {_PORT_TRIES} ports in a row were taken")

    async def progress(self) -> str:
        """The last line the server has logged; empty before the first."""
        lines = self._tail().replace("\r", "\n").split("\n")
        return lines[-1].strip()[-_LINE_CHARACTERS:]

    async def ended(self) -> str:
        """Keep the server running; why that is given up, once it is."""
        reason = ""
        for number in range(RESTARTS):
            reason = await self._down()
            try:
                await self._up()
            except (SetupError, _PortTakenError) as error:
                reason = str(error) or f"port {self._port} was taken while the server was down"
                await asyncio.sleep(LOOK_SECONDS * 2**number)
        return f"started again {RESTARTS} times, then: {await self._down() if self._alive else reason}"

    async def close(self) -> None:
        """Stop the server and leave nothing behind; again is harmless."""
        self._closing = True
        if self._scratch is not None:
            await asyncio.to_thread(self._scratch.close)

    @property
    def _alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    async def _up(self) -> None:
        """Start the program and wait until it is ready."""
        assert self._scratch is not None and self._log is not None
        await self._stop()
        if self._closing:  # what is started now would outlive us
            raise SetupError(CODE, f"server '{self._server.name}' is closed")
        if is_taken(self._port, self._host):
            raise _PortTakenError
        program = self._command(self._server, self._host, self._port)
        self._process = self._scratch.spawn(program.argv, log=self._log, environment=program.variables)
        deadline, seen = time.monotonic() + self._server.start_seconds, "it does not listen"
        while time.monotonic() < deadline:
            if not self._alive:
                if is_taken(self._port, self._host):
                    raise _PortTakenError
                raise self._failed(f"it ended with code {self._process.returncode}")
            # Whoever answers there may be a stranger: nobody is asked before it is our own program.
            if self._port in {port for _, port in await asyncio.to_thread(listening, self._process.pid)}:
                seen = await self._missing()
                if not seen:
                    return
            await asyncio.sleep(LOOK_SECONDS)
        await self._stop()
        raise self._failed(f"after {self._server.start_seconds:g} s {seen}")

    async def _missing(self) -> str:
        """What readiness still lacks; empty when nothing."""
        if not await self._well():
            return "/health does not answer 200"
        try:
            with boundary(SetupError, CODE):
                listed = (await self._asked("/v1/models")).json()
                names = [entry["id"] for entry in listed["data"]]
        except SetupError as error:
            return f"/v1/models cannot be read: {error.message}"
        return "" if self._server.name in names else f"/v1/models lists {names}, not '{self._server.name}'"

    async def _down(self) -> str:
        """Wait until the server is dead or has been silent for long; what happened."""
        heard = time.monotonic()
        while self._alive:
            if await self._well():
                heard = time.monotonic()
            elif time.monotonic() - heard > SILENCE_SECONDS:
                return f"no answer from /health for {SILENCE_SECONDS:g} s"
            await asyncio.sleep(LOOK_SECONDS)
        code = self._process.returncode if self._process else None
        return f"it ended with code {code}; end of its log:\n{self._tail()}"

    async def _well(self) -> bool:
        try:
            return (await self._asked("/health")).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False

    async def _asked(self, path: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {serving_key() or 'none'}"}
        async with httpx.AsyncClient(timeout=_REQUEST_SECONDS, trust_env=False, headers=headers) as client:
            return await client.get(f"http://{self._host}:{self._port}{path}")

    async def _stop(self) -> None:
        if self._scratch is not None and self._process is not None:
            await asyncio.to_thread(self._scratch.stop, self._process)

    def _failed(self, why: str) -> SetupError:
        name = self._server.name
        return SetupError(CODE, f"server '{name}' did not start: {why}; end of its log:\n{self._tail()}")

    def _tail(self) -> str:
        """The end of the log."""
        if self._log is None or not self._log.exists():
            return ""
        with self._log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - 4 * _TAIL_CHARACTERS))
            return log.read().decode(errors="replace")[-_TAIL_CHARACTERS:].strip()
