"""Endpoints that fail in ways of their own."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from pipeline.errors import ModelError
from pipeline.llm import Endpoint
from pipeline.llm.failures import error_in
from pipeline.llm.reply import UnreadableAnswerError, reply_of
from pipeline.records import ModelCall
from tests.endpoints import asked, client_of, says, serving, user

ENDPOINT = Endpoint(base_url="http://127.0.0.1:1/v1", model="mine")


async def test_a_page_in_place_of_an_answer_is_a_fault() -> None:
    ledger: list[ModelCall] = []
    with serving(says(fault="garbage")) as server, pytest.raises(ModelError) as caught:
        await asked(server, ledger)

    assert caught.value.code == "bad_answer"
    assert [row.status for row in ledger] == ["bad_answer"]


async def test_a_connection_that_is_never_taken_up_is_tried_again() -> None:
    ledger: list[ModelCall] = []
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        address = f"http://127.0.0.1:{full.getsockname()[1]}/v1"
        endpoint = Endpoint(base_url=address, model="m", connect_seconds=0.1)
        async with client_of(endpoint) as client:
            with pytest.raises(ModelError, match=r"no connection in 0\.1 s") as caught:
                await client.ask(user("hi"), stage="act", ledger=ledger)

    assert caught.value.code == "connection_failed"
    assert [row.retries for row in ledger] == [3]


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        ({"code": 429, "message": "slow down"}, "passing", "rate_limited"),
        ({"code": 502, "message": "the provider is gone"}, "passing", "server_error"),
        ({"code": 401, "message": "no"}, "run", "unauthorised"),
        ({"code": "content_filter", "message": "no"}, "filtered", "filtered"),
        ({"message": "what is this"}, "call", "bad_request"),
        ("just text", "call", "bad_request"),
    ],
)
def test_an_error_inside_a_good_answer_is_an_error(error: object, kind: str, code: str) -> None:
    found = error_in({"error": error, "choices": []}, ENDPOINT, "key")

    assert found is not None
    assert (found.kind, found.code) == (kind, code)


@pytest.mark.parametrize("body", [{"choices": [], "error": None}, {}, "text", None])
def test_an_answer_without_an_error_has_none(body: object) -> None:
    assert error_in(body, ENDPOINT, "key") is None


@pytest.mark.parametrize(
    "body", [None, "text", {}, {"choices": []}, {"choices": ["x"]}, {"choices": [{"text": "old"}]}]
)
def test_what_is_no_completion_is_said_to_be_none(body: object) -> None:
    with pytest.raises(UnreadableAnswerError):
        reply_of(body, "id", ENDPOINT, 0)


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab", ""),
        ({"content": "a", "reasoning": "why"}, "a", "why"),
        ({"content": "a", "reasoning": {"steps": 3}}, "a", ""),
        ({"content": "half \ud83d"}, "half ?", ""),
    ],
)
def test_forms_of_a_message_that_servers_have(message: dict[str, Any], text: str, reasoning: str) -> None:
    found = reply_of({"choices": [{"message": message, "finish_reason": "stop"}]}, "id", ENDPOINT, 0)

    assert (found.text, found.reasoning, found.outcome) == (text, reasoning, "answered")


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, {"prompt_tokens": -5, "completion_tokens": "7"}])
def test_missing_counts_are_zero(usage: object) -> None:
    body = {"choices": [{"message": {"content": "a"}}], "usage": usage}

    found = reply_of(body, "id", ENDPOINT, 2).usage

    assert (found.calls, found.prompt_tokens, found.completion_tokens, found.images) == (1, 0, 0, 2)
