"""The one call of a model, against a real server that replies from a script."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback

import pytest

from pipeline.errors import ModelError, RunError
from pipeline.llm import Client, LocalLimiter, Message
from pipeline.records import ModelCall
from pipeline.retry import RetryRules
from tests.endpoints import QUICK, asked, client_of, endpoint_of, limiter_of, picture, says, serving, user

KEY = "sk-not-to-be-seen-0123456789"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (says("hello"), "answered"),
        (says("half", finish="length"), "truncated"),
        (says("", finish="length"), "truncated"),
        (says(None), "empty"),
        (says(" \n"), "empty"),
        (says(None, reasoning='{"type": "Click"}'), "empty"),
        (says(None, finish="content_filter"), "filtered"),
        (says("half of it", finish="content_filter"), "filtered"),
        (says("", refusal="I will not"), "refused"),
        (says("x", status=400, code="content_filter"), "filtered"),
        (says("x", status=400, code="data_inspection_failed"), "filtered"),
    ],
)
async def test_each_reply_has_a_typed_outcome(reply: object, outcome: str) -> None:
    ledger: list[ModelCall] = []
    with serving(reply) as server:  # type: ignore[arg-type]
        found = await asked(server, ledger)

    assert found.outcome == outcome
    assert [row.status for row in ledger] == [outcome]


async def test_a_reply_keeps_reasoning_and_refusal_apart_from_the_text() -> None:
    with serving(says("text", reasoning="why", refusal="no")) as server:
        found = await asked(server)

    assert (found.text, found.reasoning, found.refusal, found.finish) == ("text", "why", "no", "stop")


async def test_a_call_is_a_row_with_its_consumption_and_cost() -> None:
    ledger: list[ModelCall] = []
    prices = {"usd_per_million_prompt": 2.0, "usd_per_million_completion": 10.0}
    with serving(says(prompt_tokens=1000, completion_tokens=100)) as server:
        async with client_of(endpoint_of(server, **prices)) as client:
            prompt = user("look", picture("red"), picture("blue"))
            found = await client.ask(prompt, stage="judge", ledger=ledger, attempt_id="a", pass_id="p")

    (row,) = ledger
    assert (row.call_id, row.attempt_id, row.pass_id, row.stage) == (found.call_id, "a", "p", "judge")
    assert (row.endpoint, row.model, row.retries) == (server.base_url, "scripted", 0)
    assert (row.prompt_tokens, row.completion_tokens, row.images) == (1000, 100, 2)
    assert row.cost_usd == pytest.approx(0.003)
    assert found.usage.cost_usd == row.cost_usd
    assert found.usage.calls == 1


async def test_parameters_are_sent_and_extra_ones_win() -> None:
    with serving(says()) as server:
        async with client_of(endpoint_of(server, extra={"top_k": 5, "max_tokens": None})) as client:
            await client.ask(user("hi"), stage="act", ledger=[], max_tokens=7, temperature=0.5, seed=3)

    body = server.requests[0].body
    assert {name: body.get(name) for name in ("top_k", "temperature", "seed")} == {
        "top_k": 5,
        "temperature": 0.5,
        "seed": 3,
    }
    assert "max_tokens" not in body


async def test_messages_arrive_in_order_with_text_exact() -> None:
    hard = 'a "b" \\ <|im_end|> 你好 🙂\n\x00 \ud83d'
    prompt = [Message("system", ("rules",)), Message("user", ("see", picture(), hard)), Message("assistant", ("ok",))]
    with serving(says()) as server:
        async with client_of(endpoint_of(server)) as client:
            await client.ask(prompt, stage="act", ledger=[])

    system, said, answer = server.requests[0].body["messages"]
    assert system == {"role": "system", "content": "rules"}
    assert answer == {"role": "assistant", "content": "ok"}
    assert [part["type"] for part in said["content"]] == ["text", "image_url", "text"]
    assert said["content"][2]["text"] == hard.replace("\ud83d", "?")


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_what_passes_is_tried_again_and_counted(status: int) -> None:
    ledger: list[ModelCall] = []
    with serving(says("busy", status=status, times=2), says("at last")) as server:
        found = await asked(server, ledger)

    assert found.text == "at last"
    assert [(row.status, row.retries) for row in ledger] == [("answered", 2)]
    assert len(server.requests) == 3


async def test_a_connection_dropped_in_the_middle_is_tried_again() -> None:
    with serving(says(fault="drop"), says("at last")) as server:
        assert (await asked(server)).text == "at last"


@pytest.mark.parametrize(
    ("reply", "code", "requests"),
    [
        (says("busy", status=429, times=None), "rate_limited", 4),
        (says("broken", status=500, times=None), "server_error", 4),
        (says(fault="drop", times=None), "connection_failed", 4),
        (says("context length is 4096 tokens, prompt has 5000", status=400), "context_too_long", 1),
        (says("x", status=400, code="context_length_exceeded"), "context_too_long", 1),
        (says("prompt longer than the model length, text and multimodal", status=400), "context_too_long", 1),
        (says("At most 1 image(s) per request", status=400), "too_many_images", 1),
        (says("this is not a multimodal model", status=400), "images_unsupported", 1),
        (says("body", status=413), "request_too_large", 1),
        (says("temperature must be positive", status=422), "bad_request", 1),
    ],
)
async def test_a_call_that_fails_is_a_fault_of_the_model_and_a_row(reply: object, code: str, requests: int) -> None:
    ledger: list[ModelCall] = []
    with serving(reply) as server, pytest.raises(ModelError) as caught:  # type: ignore[arg-type]
        await asked(server, ledger)

    assert (caught.value.code, caught.value.boundary) == (code, "model")
    assert server.base_url in caught.value.message
    assert [(row.status, row.retries) for row in ledger] == [(code, requests - 1)]
    assert len(server.requests) == requests


async def test_an_endpoint_that_is_not_there_is_tried_as_often_as_the_rules_say() -> None:
    with serving() as server:
        gone = endpoint_of(server)
    ledger: list[ModelCall] = []

    async with client_of(gone) as client:
        with pytest.raises(ModelError) as caught:
            await client.ask(user("hi"), stage="act", ledger=ledger)

    assert caught.value.code == "connection_failed"
    assert [row.retries for row in ledger] == [3]


async def test_a_silent_endpoint_ends_at_its_read_limit() -> None:
    ledger: list[ModelCall] = []
    with serving(says(fault="silence")) as server:
        started = time.monotonic()
        with pytest.raises(ModelError) as caught:
            await asked(server, ledger, read_seconds=0.3)
        lasted = time.monotonic() - started

    assert caught.value.code == "timeout"
    assert 0.3 <= lasted < 2.0
    assert [(row.status, row.retries) for row in ledger] == [("timeout", 0)]


async def test_all_tries_together_end_at_the_total_limit() -> None:
    ledger: list[ModelCall] = []
    with serving(says("busy", status=500, times=None)) as server:
        endpoint = endpoint_of(server, total_seconds=0.4)
        patient = RetryRules(tries=1000, first_seconds=0.05, most_seconds=0.1)
        async with Client(endpoint, limiter_of(endpoint), rules=patient) as client:
            with pytest.raises(ModelError):
                await client.ask(user("hi"), stage="act", ledger=ledger)

    assert ledger[0].seconds < 1.5


async def test_waiting_for_a_turn_is_not_counted() -> None:
    ledger: list[ModelCall] = []
    with serving(says(times=None, delay_seconds=0.3)) as server:
        endpoint = endpoint_of(server, in_flight=1, total_seconds=0.8)
        async with client_of(endpoint) as client:
            found = await asyncio.gather(*(client.ask(user("hi"), stage="act", ledger=ledger) for _ in range(5)))

    assert [reply.outcome for reply in found] == ["answered"] * 5
    assert max(row.seconds for row in ledger) > 0.8


async def test_a_call_that_waited_for_its_turn_still_ends_at_its_limit() -> None:
    ledger: list[ModelCall] = []
    with serving(says("first", delay_seconds=0.6), says("busy", status=500, times=None)) as server:
        endpoint = endpoint_of(server, in_flight=1, total_seconds=0.9)
        patient = RetryRules(tries=1000, first_seconds=0.05, most_seconds=0.1)
        async with Client(endpoint, limiter_of(endpoint), rules=patient) as client:
            asking = [client.ask(user("hi"), stage="act", ledger=ledger) for _ in range(2)]
            first, second = await asyncio.gather(*asking, return_exceptions=True)

    assert getattr(first, "text", None) == "first"
    assert isinstance(second, ModelError)
    assert 0.6 + 0.5 < ledger[1].seconds < 2.5


async def test_a_wait_longer_than_the_call_may_last_is_not_begun() -> None:
    with serving(says("busy", status=429, retry_after_seconds=3600)) as server:
        started = time.monotonic()
        with pytest.raises(ModelError, match="3600 s") as caught:
            await asked(server, total_seconds=5.0)

    assert caught.value.code == "rate_limited"
    assert time.monotonic() - started < 2.0


async def test_a_wrong_key_stops_the_run_and_is_never_seen(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    ledger: list[ModelCall] = []
    with serving(says(times=None), key="another") as server:
        endpoint = endpoint_of(server, api_key_env="SOME_KEY")
        async with client_of(endpoint) as client:
            with pytest.raises(RunError) as caught:
                await client.ask(user("hi"), stage="act", ledger=ledger)
        seen = [repr(endpoint), endpoint.model_dump_json(), repr(client), repr(vars(client)), str(server.requests)]

    text = "".join(traceback.format_exception(caught.value))
    assert server.base_url in str(caught.value)
    assert "SOME_KEY" in str(caught.value)
    assert len(server.requests) == 1
    assert [row.status for row in ledger] == ["unauthorised"]
    written = capfd.readouterr()
    for place in [text, caplog.text, written.out, written.err, str(ledger), *seen]:
        assert KEY not in place


async def test_an_error_that_repeats_the_key_is_cleaned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(says(f"bad request of {KEY}", status=400)) as server, pytest.raises(ModelError) as caught:
        await asked(server)

    assert "bad request of [key]" in caught.value.message


async def test_the_key_is_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(says(times=None), key=KEY) as server:
        async with client_of(endpoint_of(server)) as client:
            monkeypatch.setenv("OPENAI_API_KEY", KEY)
            found = await client.ask(user("hi"), stage="act", ledger=[])
            monkeypatch.setenv("OPENAI_API_KEY", "changed")
            with pytest.raises(RunError):
                await client.ask(user("hi"), stage="act", ledger=[])

    assert found.outcome == "answered"


async def test_an_unknown_model_stops_the_run() -> None:
    with serving(says()) as server, pytest.raises(RunError, match="'nobody' is not found"):
        await asked(server, model="nobody")


@pytest.mark.parametrize("reply", [says("pay", status=402), says("pay", status=429, code="insufficient_quota")])
async def test_an_empty_account_stops_the_run(reply: object) -> None:
    with serving(reply) as server, pytest.raises(RunError, match="no quota left"):  # type: ignore[arg-type]
        await asked(server)


async def test_a_cancelled_call_gives_its_slot_back_and_is_a_row() -> None:
    ledger: list[ModelCall] = []
    with serving(says(fault="silence"), says("next")) as server:
        endpoint = endpoint_of(server, in_flight=1)
        async with client_of(endpoint) as client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await client.ask(user("hi"), stage="act", ledger=ledger)
            found = await client.ask(user("hi"), stage="act", ledger=ledger)

    assert found.text == "next"
    assert [row.status for row in ledger] == ["cancelled", "answered"]


async def test_a_call_that_was_never_sent_is_no_row() -> None:
    class Closed:
        async def acquire(self) -> str:
            raise RunError("budget.calls: used up")

        async def release(self, lease: str, spent: object) -> None: ...

    ledger: list[ModelCall] = []
    with serving(says()) as server:
        async with Client(endpoint_of(server), Closed(), rules=QUICK) as client:
            with pytest.raises(RunError):
                await client.ask(user("hi"), stage="act", ledger=ledger)

    assert ledger == []
    assert server.requests == []


async def test_calls_in_flight_never_exceed_the_endpoints_limit() -> None:
    with serving(says(times=None, delay_seconds=0.05)) as server:
        endpoint = endpoint_of(server, in_flight=3)
        async with client_of(endpoint, LocalLimiter(3, 10.0)) as client:
            await asyncio.gather(*(client.ask(user("hi"), stage="act", ledger=[]) for _ in range(12)))

    assert max(request.in_flight for request in server.requests) == 3


async def test_an_endpoint_says_how_often_a_call_is_tried() -> None:
    with serving(says("later", status=503, times=None)) as server:
        endpoint = endpoint_of(server, tries=1)
        async with Client(endpoint, limiter_of(endpoint)) as client:
            with pytest.raises(ModelError, match=r"\(tries: 1\)"):
                await client.ask(user("hi"), stage="act", ledger=[])

    assert len(server.requests) == 1
