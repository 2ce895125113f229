"""MiniWoB++ pages as a web environment meets them: without their reward on show, and still once an episode has ended.

The pages show the last reward and begin again by themselves. Here the script that all of them share is served with an
addition that leaves both out. The reward stays in a variable of the page; `Watched` reads it when an episode ends and
keeps it apart, so that no record holds it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from pipeline.actions import Action, Pixel
from pipeline.envs.web import WebEnvironment
from pipeline.envs.web_sites import PageEval, StaticSite
from pipeline.errors import ProbeError
from pipeline.protocols import ActResult, Environment, Observation
from pipeline.records import Event, ProbeRead
from pipeline.structs import EnvironmentInfo, TargetUnderPoint
from pipeline.tasks import Check, Start, TaskSpec

FREEZE = Path(__file__).with_name("miniwob_freeze.js")
_SHARED = "/core/core.js"
_SCRIPTS = {
    "utterance": "() => [[core.getUtterance()]]",
    "outcome": "() => [[String(WOB_DONE_GLOBAL), String(WOB_RAW_REWARD_GLOBAL)]]",
}


class Outcome(NamedTuple):
    """What the page says of an episode: whether it had ended, and its reward."""

    done: bool
    reward: float

    @property
    def solved(self) -> bool:
        """Whether the whole reward was given."""
        return self.done and self.reward > 0.99


@contextmanager
def served() -> Iterator[str]:
    """The pages of the installed package on a free loopback port; their address."""
    spec = find_spec("miniwob")
    if spec is None or spec.origin is None:
        raise SystemExit("error: the package miniwob is not installed: run `make setup`")
    handler = partial(_Pages, directory=str(Path(spec.origin).parent / "html"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Pages(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        """A file as it is, or the shared script with the addition; a browser may leave before it has it all."""
        with contextlib.suppress(ConnectionError):
            if self.path == _SHARED:
                self._send_shared()
            else:
                super().do_GET()

    def _send_shared(self) -> None:
        script = Path(self.translate_path(self.path)).read_bytes() + b"\n" + FREEZE.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript")
        self.send_header("Content-Length", str(len(script)))
        self.end_headers()
        self.wfile.write(script)

    def log_message(self, format: str, *args: object) -> None:
        del format, args


class Pages(StaticSite):
    """The pages as a site whose probes read a page's own variables."""

    async def read(self, check: Check, page_eval: PageEval | None = None) -> list[list[str]]:
        """What the page says; raises ProbeError."""
        if check.probe not in _SCRIPTS or page_eval is None:
            raise ProbeError("unknown_probe", f"no probe '{check.probe}'")
        value = await page_eval(_SCRIPTS[check.probe])
        if not isinstance(value, list):
            raise ProbeError("unreadable", f"the page answers {value!r}")
        return [[str(cell) for cell in row] for row in value]


class Watched:
    """A web environment that reads an episode's outcome just before it is over; implements `Environment`."""

    def __init__(self, inner: WebEnvironment) -> None:
        self._inner = inner
        self._started = False
        self.outcome: Outcome | None = None

    async def start(self, task: TaskSpec) -> EnvironmentInfo:
        """As the inner one."""
        self.outcome = None
        info = await self._inner.start(task)
        self._started = True
        return info

    async def utterance(self, page: str, seed: str) -> str:
        """What a page asks for, from a seed; raises ProbeError when the page does not say."""
        await self.start(task_of(page, seed, page))
        rows = await self._ask("utterance")
        await self._inner.finish()
        self._started = False
        return rows[0][0]

    async def observe(self) -> Observation:
        """As the inner one."""
        return await self._inner.observe()

    async def target(self, pixel: Pixel) -> TargetUnderPoint | None:
        """As the inner one."""
        return await self._inner.target(pixel)

    async def act(self, action: Action, points: Sequence[Pixel]) -> ActResult:
        """As the inner one."""
        return await self._inner.act(action, points)

    async def probe(self, checks: Sequence[Check], observation_index: int) -> list[ProbeRead]:
        """As the inner one."""
        return await self._inner.probe(checks, observation_index)

    def drain_events(self) -> list[Event]:
        """As the inner one."""
        return self._inner.drain_events()

    async def finish(self) -> None:
        """Keep the outcome, then end the episode."""
        if self._started:
            self._started = False
            (done, reward), *_ = await self._ask("outcome")
            self.outcome = Outcome(done == "true", float(reward))
        await self._inner.finish()

    async def close(self) -> None:
        """As the inner one."""
        await self._inner.close()

    async def _ask(self, probe: str) -> list[list[str]]:
        check = Check(name=probe, verifier="equals", probe=probe)
        read = next(read for read in await self._inner.probe([check], 0) if read.probe == check.call)
        if read.value is None:
            raise ProbeError("unreadable", read.error or "the page does not answer")
        return read.value


def task_of(page: str, seed: str, instruction: str) -> TaskSpec:
    """The task of a page from a seed; a `rubric` without checks, so that no judge has a contract to lean on."""
    return TaskSpec(
        task_id=f"{page}-{seed}",
        app_ids=["miniwob"],
        platform="web",
        tier="single",
        instruction=instruction,
        language="en",
        capability_ids=[],
        start=Start(app_id="miniwob", path=f"/miniwob/{page}.html?seed={seed}"),
        contract_kind="rubric",
        segments=[],
        domain="Web",
        max_steps=20,
    )


def _conforms(environment: Watched) -> Environment:
    return environment
