"""One running application on loopback, with its own port, data folder and, where that can be, network.

`Instance` starts an application from its data template, proves that its state is the template's again after a reset,
carries out a task's set-up, answers probes and tells what changed. Everything about an application is data (its
entry); this module knows no application by name, and nothing of browsers or tasks beyond their set-up and checks.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial

import httpx

from pipeline import relay
from pipeline.apart import before_command, can_part
from pipeline.app_entry import AppEntry, filled
from pipeline.app_install import install, place_of, render, tail, variables
from pipeline.app_probes import PageEval, Table, read_file, read_http, read_page, read_sqlite
from pipeline.app_state import checksum, difference, prepare, restore, snapshot
from pipeline.entry_state import FileProbe, HttpJsonProbe, PageProbe, SqliteProbe
from pipeline.errors import PathproofError, ProbeError, SetupError, boundary
from pipeline.ports import LOOPBACK, free_port, is_taken, listening
from pipeline.reaper import Scratch
from pipeline.tasks import Check, SetupOperation
from pipeline.threads import to_end

_PORT_TRIES = 5
_POLL_SECONDS = 0.05
_REQUEST_SECONDS = 10.0
_READ_SECONDS = 15.0
_SECOND_PORT = "{port2}"


class _PortTakenError(PathproofError):
    """Somebody else has the port."""


class Instance:
    """An application that runs for one worker; its process and data live in the worker's scratch folder."""

    def __init__(self, entry: AppEntry, scratch: Scratch, choose_port: Callable[[], int] = free_port) -> None:
        """Nothing is started yet."""
        self.entry = entry
        self._scratch = scratch
        self._choose_port = choose_port
        self._place = place_of(entry)
        self._data = scratch.path / f"{entry.app_id}-{time.monotonic_ns()}"
        self._log = self._data.with_name(f"{self._data.name}.log")
        self._port: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._client: httpx.AsyncClient | None = None
        self._pristine = ""
        self._marked: dict[str, str] = {}

    @property
    def base_url(self) -> str:
        """The address; a start or a reset may change its port."""
        if self._port is None:
            raise SetupError("app_not_ready", f"{self.entry.app_id} has not been started")
        return f"http://{LOOPBACK}:{self._port}"

    @property
    def alive(self) -> bool:
        """Whether the application's process runs."""
        return self._process is not None and self._process.poll() is None

    async def start(self) -> None:
        """Install if need be, lay out fresh data, serve; raises SetupError with the end of the application's log."""
        await asyncio.to_thread(install, self.entry)
        with boundary(SetupError, "app_not_ready"):
            self._pristine = checksum(snapshot(self.entry.state, self._place.template))
        await self._start_afresh()

    async def reset(self) -> None:
        """Make the state the template's again, and prove it; nothing is touched when it already is."""
        if self.alive and self._is_pristine():
            return
        if self.alive and self.entry.reset == "in_place":
            with boundary(SetupError, "reset_failed"):
                await to_end(lambda: restore(self.entry.state, self._place.template, self._data))
        if not (self.alive and self._is_pristine()):
            await self._stop()
            await self._start_afresh()
        if not self._is_pristine():
            changed = difference(snapshot(self.entry.state, self._place.template), self.snapshot())
            raise SetupError("reset_failed", f"{self.entry.app_id}: after a reset the state differs: {changed[:5]}")

    async def apply(self, operations: Sequence[SetupOperation]) -> None:
        """Carry out a task's set-up; raises SetupError."""
        for operation in operations:
            with boundary(SetupError, "setup_failed"):
                if operation.kind == "http":
                    await self._send(operation)
                else:
                    await to_end(partial(prepare, operation, self._data))

    async def read(self, check: Check, page_eval: PageEval | None = None) -> Table:
        """What the check's probe answers: rows of cells. Raises ProbeError."""
        if check.probe not in self.entry.probes:
            raise ProbeError("unknown_probe", f"{self.entry.app_id} has no probe '{check.probe}'")
        with boundary(ProbeError, "unreadable"):
            async with asyncio.timeout(_READ_SECONDS):
                return await self._read(check, page_eval)

    def snapshot(self) -> dict[str, str]:
        """The state now: a fingerprint for every key."""
        return snapshot(self.entry.state, self._data)

    def mark(self) -> None:
        """Remember the state as the one the episode begins with."""
        with boundary(SetupError, "setup_failed"):
            self._marked = self.snapshot()

    def changes(self) -> Table:
        """Rows [key, added|removed|changed] since the mark, without the application's own bookkeeping."""
        with boundary(ProbeError, "unreadable"):
            rows = difference(self._marked, self.snapshot())
        return [row for row in rows if not any(fnmatchcase(row[0], pattern) for pattern in self.entry.bookkeeping)]

    async def close(self) -> None:
        """Stop the application and remove its data; again is harmless."""
        await self._stop()
        await to_end(lambda: shutil.rmtree(self._data, ignore_errors=True))

    def _is_pristine(self) -> bool:
        with boundary(SetupError, "reset_failed"):
            return checksum(self.snapshot()) == self._pristine

    async def _start_afresh(self) -> None:
        with boundary(SetupError, "app_not_ready"):
            await to_end(lambda: shutil.rmtree(self._data, ignore_errors=True))
            await to_end(lambda: shutil.copytree(self._place.template, self._data))
        for _ in range(_PORT_TRIES):
            port = self._choose_port()
            try:
                with boundary(SetupError, "app_not_ready"):
                    self._launch(port)
                await self._until_ready(port)
            except _PortTakenError:
                await self._stop()
            except PathproofError:
                await self._stop()
                raise
            else:
                return
        raise SetupError("app_not_ready", f"{self.entry.app_id}: {_PORT_TRIES} ports in a row were taken")

    def _launch(self, port: int) -> None:
        values = render(self.entry, self._place, self._data, port)
        if any(_SECOND_PORT in part for part in self.entry.start):
            values["port2"] = str(self._choose_port())
        self._process = self._spawned([filled(part, values) for part in self.entry.start], values, port)
        user, _, password = (self.entry.credentials or "").partition(":")
        self._client = httpx.AsyncClient(
            base_url=f"http://{LOOPBACK}:{port}",
            auth=(user, password) if user else None,
            timeout=_REQUEST_SECONDS,
            trust_env=False,
        )
        self._port = port

    def _spawned(self, command: Sequence[str], values: Mapping[str, str], port: int) -> subprocess.Popen[bytes]:
        """The application's process: where that can be, in a network of its own, which others enter by its port."""
        if not can_part() or shutil.which(command[0]) is None:
            return self._started(command, values)
        with socket.socket() as listener:
            try:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind((LOOPBACK, port))
            except OSError as error:
                raise _PortTakenError from error
            number = listener.fileno()
            relayed = [sys.executable, "-I", "-S", relay.__file__, str(number), str(port), *command]
            inside = [*before_command(), *relayed]
            return self._started(inside, values, number)

    def _started(self, command: Sequence[str], values: Mapping[str, str], *descriptors: int) -> subprocess.Popen[bytes]:
        return self._scratch.spawn(
            command,
            cwd=self._data,
            log=self._log,
            environment=variables(self.entry, dict(values)),
            descriptors=descriptors,
        )

    async def _until_ready(self, port: int) -> None:
        deadline = time.monotonic() + self.entry.ready.seconds
        seen: str | None = "it never listened"
        while time.monotonic() < deadline:
            taken = is_taken(port)
            if not self.alive:
                raise _PortTakenError if taken else self._not_ready("it ended at once")
            # Whoever listens there may be a stranger: nobody is asked anything until it is our own program.
            if taken and self._listens(port):
                seen = await self._asked()
                if seen is None:
                    return
            await asyncio.sleep(_POLL_SECONDS)
        raise self._not_ready(f"after {self.entry.ready.seconds:.0f} s {seen}")

    async def _asked(self) -> str | None:
        """What was seen instead of the page that shows readiness; None when it is there."""
        ready = self.entry.ready
        assert self._client is not None
        try:
            response = await self._client.get(ready.path)
        except httpx.HTTPError as error:
            return f"it did not answer: {type(error).__name__}"
        if response.status_code != ready.status:
            return f"it answered {response.status_code} to {ready.path}"
        return None if ready.contains in response.text else f"'{ready.contains}' was not in {ready.path}"

    def _listens(self, port: int) -> bool:
        """Whether our program has the port; raises SetupError when it can be reached from outside."""
        assert self._process is not None
        addresses = listening(self._process.pid)
        outside = [f"{host}:{number}" for host, number in addresses if host not in (LOOPBACK, "::1")]
        if outside:
            raise SetupError("not_loopback", f"{self.entry.app_id} listens beyond loopback: {', '.join(outside)}")
        return port in {number for _, number in addresses}

    def _not_ready(self, why: str) -> SetupError:
        return SetupError(
            "app_not_ready", f"{self.entry.app_id} did not start: {why}; end of its log:\n{tail(self._log)}"
        )

    async def _stop(self) -> None:
        if self._client is not None:
            await self._client.aclose()
        if self._process is not None:
            await to_end(partial(self._scratch.stop, self._process))
        self._client, self._process, self._port = None, None, None

    async def _send(self, operation: SetupOperation) -> None:
        method, _, path = operation.target.partition(" ")
        is_json = operation.content.lstrip()[:1] in ("{", "[")
        kind = "application/json" if is_json else "application/x-www-form-urlencoded"
        if self._client is None:
            raise SetupError("app_not_ready", f"{self.entry.app_id} does not run")
        response = await self._client.request(
            method, path, content=operation.content.encode(), headers={"Content-Type": kind}
        )
        response.raise_for_status()

    async def _read(self, check: Check, page_eval: PageEval | None) -> Table:
        args = {param.name: param.value for param in check.args}
        match self.entry.probes[check.probe]:
            case SqliteProbe() as probe:
                return await asyncio.to_thread(read_sqlite, probe, args, self._data)
            case FileProbe() as probe:
                return await asyncio.to_thread(read_file, probe, args, self._data)
            case PageProbe() as probe:
                return await read_page(probe, args, page_eval)
            case HttpJsonProbe() as probe:
                if self._client is None:
                    raise ProbeError("unreadable", f"{self.entry.app_id} does not run")
                return await read_http(probe, args, self._client)
