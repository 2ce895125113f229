"""An OpenAI-compatible server that replies from a script: for tests and demonstrations, on loopback only.

    python -m pipeline.scripted_endpoint --script replies.yaml --port 8000

It speaks the real protocol (models, chat completions without streaming) and misbehaves on demand: delays, rate limits
in each form of header, errors, dropped connections, silence. Requests are kept, without their keys, and pictures by
hash. The questions of the start-up probe are answered from what the script says the server can do, and use up no reply.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import sys
import threading
import time
import uuid
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

from aiohttp import web
from pydantic import Field, ValidationError

from pipeline.actions import Model
from pipeline.errors import ConfigError, PathproofError, SetupError, first_problem
from pipeline.llm.probe import PROBE_TEXT
from pipeline.user_files import text_of, yaml_of

_START_SECONDS = 10.0
_STOP_SECONDS = 10.0
_MOST_BYTES = 256 * 1024 * 1024


class ScriptedReply(Model):
    """One reply, or one misbehaviour, and when it is given.

    `when` is a part of the last user message's text; without it any request fits. `times` is how often it is given,
    null for always. A status from 400 on makes it an error with `text` as its message.
    """

    text: str | None = ""
    reasoning: str | None = None
    finish: str = "stop"
    refusal: str | None = None
    prompt_tokens: int = 100
    completion_tokens: int = 20
    when: str | None = None
    times: int | None = Field(default=1, ge=1)
    delay_seconds: float = Field(default=0.0, ge=0)
    status: int = Field(default=200, ge=200, le=599)
    code: str | None = None
    retry_after_seconds: float | None = Field(default=None, ge=0)
    retry_after_form: Literal["seconds", "date", "milliseconds"] = "seconds"
    fault: Literal["drop", "garbage", "silence"] | None = None


class ServedModel(Model):
    """A model in the server's list."""

    id: str = "scripted"
    max_model_len: int | None = None


class Script(Model):
    """What the server can do, and its replies: the first that fits and is not used up is given."""

    models: list[ServedModel] = Field(default_factory=lambda: [ServedModel()])
    key: str | None = None
    images: int = Field(default=16, ge=0)
    schemas: bool = True
    replies: list[ScriptedReply] = Field(default_factory=list)


def load_script(path: Path) -> Script:
    """The script in a YAML or JSON file; raises ConfigError."""
    try:
        return Script.model_validate(yaml_of(text_of(path, "--script"), f"--script: {path}"))
    except ValidationError as error:
        raise ConfigError(f"--script: {path}: {first_problem(error)}") from error


class Asked(NamedTuple):
    """A request: when it arrived (monotonic), how many were in flight with it, and the status it was given."""

    at: float
    in_flight: int
    path: str
    body: dict[str, Any]
    status: int


class ScriptedEndpoint:
    """The server, in a thread of its own from entering to leaving; `port` 0 takes a free one."""

    def __init__(self, script: Script, *, port: int = 0, log: Path | None = None) -> None:
        self.requests: list[Asked] = []
        self.base_url = ""
        self._script = script
        self._port = port
        self._log = log
        self._left = [reply.times for reply in script.replies]
        self._in_flight = 0
        self._started: Future[_Running] = Future()
        self._thread = threading.Thread(target=self._run, name="scripted-endpoint", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.base_url = f"http://127.0.0.1:{self._started.result(_START_SECONDS).port}/v1"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        running = self._started.result()
        running.loop.call_soon_threadsafe(running.ending.set)
        self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        application = web.Application(client_max_size=_MOST_BYTES)
        application.router.add_get("/health", self._health)
        application.router.add_get("/v1/models", self._models)
        application.router.add_post("/v1/chat/completions", self._chat)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        self._ending = asyncio.Event()
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", self._port).start()
            port = int(runner.addresses[0][1])
            self._started.set_result(_Running(port, asyncio.get_running_loop(), self._ending))
            await self._ending.wait()
        except OSError as error:
            message = f"the scripted endpoint cannot listen on port {self._port}: {error}"
            self._started.set_exception(SetupError("port_taken", message))
        finally:
            await runner.cleanup()

    async def _health(self, _: web.Request) -> web.StreamResponse:
        """What vLLM answers when it is well."""
        return web.Response()

    async def _models(self, request: web.Request) -> web.StreamResponse:
        refusal = self._refusal(request, {})
        self._keep(request, {}, refusal.status if refusal else 200)
        if refusal:
            return _error(refusal)
        served = [{"object": "model", **model.model_dump(exclude_none=True)} for model in self._script.models]
        return web.json_response({"object": "list", "data": served})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self._in_flight += 1
        try:
            body = await request.json()
            reply = self._refusal(request, body) or self._probe_reply(body) or self._scripted(body)
            self._keep(request, body, reply.status)
            return await self._given(request, reply)
        finally:
            self._in_flight -= 1

    async def _given(self, request: web.Request, reply: ScriptedReply) -> web.StreamResponse:
        await asyncio.sleep(reply.delay_seconds)
        if reply.fault == "silence":
            await self._ending.wait()
        if reply.fault == "garbage":
            return web.Response(text="<html>a page in place of an answer</html>", content_type="text/html")
        if reply.status >= 400:
            return _error(reply)
        answer = web.json_response(_completion(reply))
        if reply.fault == "drop":
            await _dropped(request, answer)
        return answer

    def _refusal(self, request: web.Request, body: dict[str, Any]) -> ScriptedReply | None:
        """What the server cannot or may not do, whatever the script goes on to say."""
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self._script.key is not None and given != self._script.key:
            # Some servers repeat the key they were given; nobody may pass that on.
            return ScriptedReply(status=401, text=f"the key {given} is not valid", code="invalid_api_key")
        if body and body.get("model") not in [model.id for model in self._script.models]:
            return ScriptedReply(status=404, text=f"no model {body.get('model')}", code="model_not_found")
        shown, limit = sum(1 for part in _parts(body) if part.get("type") == "image_url"), self._script.images
        if shown > limit:
            text = (
                f"the request shows {shown} images, at most {limit} are allowed" if limit else "images: not supported"
            )
            return ScriptedReply(status=400, text=text)
        if "response_format" in body and not self._script.schemas:
            return ScriptedReply(status=400, text="response_format: not supported")
        return None

    def _probe_reply(self, body: dict[str, Any]) -> ScriptedReply | None:
        if _last_text(body) != PROBE_TEXT:
            return None
        return ScriptedReply(text='{"ready": true}' if "response_format" in body else "ready")

    def _scripted(self, body: dict[str, Any]) -> ScriptedReply:
        text = _last_text(body)
        for index, reply in enumerate(self._script.replies):
            left = self._left[index]
            if left != 0 and (reply.when is None or reply.when in text):
                self._left[index] = None if left is None else left - 1
                return reply
        return ScriptedReply(status=400, text="the script has no reply to this", code="script_ended")

    def _keep(self, request: web.Request, body: dict[str, Any], status: int) -> None:
        asked = Asked(time.monotonic(), self._in_flight, request.path, _hashed(body), status)
        self.requests.append(asked)
        if self._log is not None:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asked._asdict(), ensure_ascii=False) + "\n")


class _Running(NamedTuple):
    port: int
    loop: asyncio.AbstractEventLoop
    ending: asyncio.Event


def _completion(reply: ScriptedReply) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    total = reply.prompt_tokens + reply.completion_tokens
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish, "logprobs": None}],
        "usage": {
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "total_tokens": total,
        },
    }


def _error(reply: ScriptedReply) -> web.Response:
    body = {"error": {"message": reply.text, "type": "scripted", "code": reply.code}}
    return web.json_response(body, status=reply.status, headers=_wait_headers(reply))


def _wait_headers(reply: ScriptedReply) -> dict[str, str]:
    seconds = reply.retry_after_seconds
    if seconds is None:
        return {}
    if reply.retry_after_form == "milliseconds":
        return {"retry-after-ms": f"{seconds * 1000:g}"}
    if reply.retry_after_form == "seconds":
        return {"Retry-After": f"{seconds:g}"}
    # Dates have whole seconds: the next one, so that nobody comes too early.
    until = datetime.fromtimestamp(math.ceil(time.time() + seconds), UTC)
    return {"Retry-After": format_datetime(until, usegmt=True)}


async def _dropped(request: web.Request, answer: web.Response) -> None:
    """Send the head and half of the body, then cut the connection."""
    assert isinstance(answer.body, bytes)
    half = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(answer.body))})
    await half.prepare(request)
    await half.write(answer.body[: len(answer.body) // 2])
    if request.transport is not None:
        request.transport.close()


def _parts(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of all messages that have parts."""
    contents = [message.get("content") for message in body.get("messages", [])]
    return [part for content in contents if isinstance(content, list) for part in content]


def _last_text(body: dict[str, Any]) -> str:
    """The text of the last user message."""
    said = [message.get("content") for message in body.get("messages", []) if message.get("role") == "user"]
    if not said or isinstance(said[-1], str):
        return str(said[-1]) if said else ""
    return "\n".join(part["text"] for part in said[-1] if part.get("type") == "text")


def _hashed(value: Any) -> Any:
    """The same data with every picture replaced by the hash of its data URL."""
    if isinstance(value, dict):
        return {name: _hashed(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_hashed(inner) for inner in value]
    if isinstance(value, str) and value.startswith("data:image/"):
        return f"sha256:{hashlib.sha256(value.encode()).hexdigest()}"
    return value


def main(arguments: list[str] | None = None) -> None:
    """Serve until interrupted; the address is the first line of standard output."""
    parser = argparse.ArgumentParser(prog="python -m pipeline.scripted_endpoint", description="Replies from a script.")
    parser.add_argument("--script", type=Path, required=True, help="YAML or JSON file")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--log", type=Path, help="file for one JSON line per request")
    options = parser.parse_args(arguments)
    try:
        with ScriptedEndpoint(load_script(options.script), port=options.port, log=options.log) as server:
            sys.stdout.write(f"{server.base_url}\n")
            sys.stdout.flush()
            with suppress(KeyboardInterrupt):
                threading.Event().wait()
    except PathproofError as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    main()
