"""The one call: prompt in, typed reply out, one row per call, whatever became of it.

Tries again by the project's one policy, behind the limiter that all share. An endpoint's failure is a ModelError, a
wrong key or an unknown model stops the run. This module knows nothing of what is asked.
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Iterator, MutableSequence
from contextlib import contextmanager
from types import TracebackType
from typing import NamedTuple, Self

import openai
from pydantic import BaseModel

from pipeline.errors import ModelError, PathproofError, RunError
from pipeline.llm.cache import ReplyCache
from pipeline.llm.endpoint import Abilities, Endpoint
from pipeline.llm.failures import Failure, error_in, failure_of, unreadable
from pipeline.llm.limiter import Limiter, Spent
from pipeline.llm.prompt import PictureEncoder, Prompt, pictures_in
from pipeline.llm.reply import Reply, UnreadableAnswerError, filtered_reply, reply_of
from pipeline.llm.request import Request, Sampling
from pipeline.records import ModelCall
from pipeline.retry import RetryRules, TransientError, retrying
from pipeline.structs import Usage

_CACHED = "cached"
_CANCELLED = "cancelled"


class Client:
    """Calls one endpoint, on one event loop; several calls may be in flight. Close it at the end."""

    def __init__(
        self,
        endpoint: Endpoint,
        limiter: Limiter,
        *,
        abilities: Abilities | None = None,
        cache: ReplyCache | None = None,
        encoder: PictureEncoder | None = None,
        rules: RetryRules | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._limiter = limiter
        self._schema_enforced = abilities.schema if abilities else False
        self._cache = cache
        self._encoder = encoder or PictureEncoder()
        self._rules = rules or RetryRules(tries=endpoint.tries)
        self._chance = random.Random()
        self._openai = openai.AsyncOpenAI(
            base_url=endpoint.base_url,
            api_key="given with each request",
            max_retries=0,
            timeout=openai.Timeout(endpoint.read_seconds, connect=endpoint.connect_seconds),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._openai.close()

    async def ask(
        self,
        prompt: Prompt,
        *,
        stage: str,
        ledger: MutableSequence[ModelCall],
        attempt_id: str | None = None,
        pass_id: str | None = None,
        schema: type[BaseModel] | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
        seed: int | None = None,
    ) -> Reply:
        """The model's reply, and one row in the ledger; raises ModelError, and RunError when the run must stop."""
        sampling = Sampling(max_tokens, temperature, seed)
        request = Request(self.endpoint, prompt, sampling, schema, self._schema_enforced)
        call = _Call(pictures_in(prompt))
        with _recorded(call, self.endpoint, ledger, _Origin(stage, attempt_id, pass_id)):
            return await self._reply(request, call)

    async def model_entries(self) -> list[object] | None:
        """What the endpoint lists as its models; null when it has no such list. Raises ModelError and RunError."""
        try:
            async for attempt in retrying(self._rules):
                with attempt:
                    return await self._entries(attempt.retry_state.attempt_number)
        except TransientError as error:
            raise ModelError(error.code, error.message) from None
        raise AssertionError("the policy ends with a list or an error")

    async def _entries(self, number: int) -> list[object] | None:
        key = self.endpoint.key()
        try:
            async with asyncio.timeout(self.endpoint.request_seconds):
                body = await self._openai.get("/models", cast_to=object, options={"headers": _headers(key)})
        except openai.NotFoundError:
            return None
        except (openai.OpenAIError, TimeoutError, ValueError) as error:
            failure = self._with_wait(failure_of(error, self.endpoint, key), number)
            raise self._error(failure, 0.0) from None
        entries = body.get("data") if isinstance(body, dict) else None
        return entries if isinstance(entries, list) else None

    async def _reply(self, request: Request, call: _Call) -> Reply:
        name = request.name() if self._cache else ""
        kept = self._cache.read(name, call.call_id) if self._cache else None
        if kept is not None:
            call.status = _CACHED
            return kept
        reply = await self._patient(request.content(self._encoder), call)
        call.status, call.usage = reply.outcome, reply.usage
        if self._cache:
            self._cache.write(name, reply)
        return reply

    async def _patient(self, content: bytes, call: _Call) -> Reply:
        """Try until there is a reply, the policy gives up, or the call's time is over."""
        endpoint = self.endpoint
        try:
            async with asyncio.timeout(endpoint.total_seconds) as limit:
                async for attempt in retrying(self._rules):
                    with attempt:
                        return await self._try(content, call, await self._turn(call, limit))
        except TransientError as error:
            raise ModelError(error.code, f"{error.message} (tries: {call.sent})") from None
        except TimeoutError:
            call.status = "timeout"
            detail = f"no answer in {endpoint.total_seconds:g} s, all tries and the waits between them together"
            raise ModelError("timeout", f"{endpoint.base_url}, model {endpoint.model}: {detail}") from None
        raise AssertionError("the policy ends with a reply or an error")

    async def _turn(self, call: _Call, limit: asyncio.Timeout) -> str:
        """A lease. Others are why it takes long, so the call's own time stands still until then."""
        clock = asyncio.get_running_loop().time
        asked = clock()
        left = (limit.when() or asked) - asked
        limit.reschedule(None)
        try:
            return await self._limiter.acquire()
        finally:
            call.queued += clock() - asked
            limit.reschedule(clock() + left)

    async def _try(self, content: bytes, call: _Call, lease: str) -> Reply:
        spent = Spent()
        try:
            call.sent += 1
            answer = await self._post(content, call)
            if isinstance(answer, Reply):
                spent = Spent(calls=1, cost_usd=answer.usage.cost_usd)
                return answer
            call.status = answer.code
            error = self._error(answer, call.seconds - call.queued)
            again = isinstance(error, TransientError) and call.sent < self._rules.tries
            pause = answer.wait_seconds if answer.paused else None
            spent = Spent(calls=0 if again else 1, pause_seconds=pause or 0.0)
            raise error
        finally:
            await self._limiter.release(lease, spent)

    async def _post(self, content: bytes, call: _Call) -> Reply | Failure:
        """One request."""
        endpoint, key = self.endpoint, self.endpoint.key()
        try:
            async with asyncio.timeout(endpoint.request_seconds):
                body = await self._openai.post(
                    "/chat/completions", cast_to=object, content=content, options={"headers": _headers(key)}
                )
            failure = error_in(body, endpoint, key)
            if failure is None:
                return reply_of(body, call.call_id, endpoint, call.images)
        except UnreadableAnswerError as error:
            failure = unreadable(str(error), endpoint, key)
        except (openai.OpenAIError, TimeoutError, ValueError) as error:
            failure = failure_of(error, endpoint, key)
        if failure.kind == "filtered":
            return filtered_reply(call.call_id, endpoint, call.images)
        return self._with_wait(failure, call.sent)

    def _with_wait(self, failure: Failure, number: int) -> Failure:
        """The failure with the policy's own wait where the endpoint named none."""
        own_wait = self._rules.own_wait(number, self._chance)
        return failure if failure.wait_seconds is not None else failure._replace(wait_seconds=own_wait)

    def _error(self, failure: Failure, spent_seconds: float) -> PathproofError:
        """What to raise; a wait that the call's time does not allow is not begun."""
        wait = failure.wait_seconds or 0.0
        if failure.kind == "run":
            return RunError(failure.message)
        if failure.kind != "passing":
            return ModelError(failure.code, failure.message)
        if spent_seconds + wait > self.endpoint.total_seconds:
            return ModelError(
                failure.code, f"{failure.message} (asks to wait {wait:g} s, longer than the call may last)"
            )
        return TransientError(failure.code, failure.message, wait)


class _Origin(NamedTuple):
    """On whose behalf a call is made."""

    stage: str
    attempt_id: str | None
    pass_id: str | None


class _Call:
    """What is known so far of a call that goes on."""

    def __init__(self, images: int) -> None:
        self.call_id = uuid.uuid4().hex[:24]
        self.images = images
        self.sent = 0
        self.queued = 0.0
        self.status = _CANCELLED
        self.usage = Usage()
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since it began, waits included."""
        return time.monotonic() - self._started

    def row(self, endpoint: Endpoint, origin: _Origin) -> ModelCall:
        """The call as it is written down."""
        return ModelCall(
            call_id=self.call_id,
            attempt_id=origin.attempt_id,
            pass_id=origin.pass_id,
            stage=origin.stage,
            endpoint=endpoint.base_url,
            model=endpoint.model,
            status=self.status,
            prompt_tokens=self.usage.prompt_tokens,
            completion_tokens=self.usage.completion_tokens,
            images=self.images if self.sent else 0,
            cost_usd=self.usage.cost_usd,
            seconds=self.seconds,
            retries=max(0, self.sent - 1),
        )


@contextmanager
def _recorded(call: _Call, endpoint: Endpoint, ledger: MutableSequence[ModelCall], origin: _Origin) -> Iterator[None]:
    """Write the row of a call that was sent or found in the cache, also when it is cancelled."""
    try:
        yield
    finally:
        if call.sent or call.status == _CACHED:
            ledger.append(call.row(endpoint, origin))


def _headers(key: str) -> dict[str, str]:
    """The key goes with each request, so that no object keeps it."""
    return {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
