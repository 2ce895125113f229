"""Replies kept by the hash of their whole request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from pipeline.errors import SinkError
from pipeline.llm import Abilities, Client, Message, ReplyCache
from pipeline.llm.prompt import Prompt
from pipeline.records import ModelCall
from pipeline.scripted_endpoint import ScriptedEndpoint
from tests.endpoints import QUICK, endpoint_of, limiter_of, picture, says, serving, user


class Verdict(BaseModel):
    reason: str
    grade: str


async def ask(
    server: ScriptedEndpoint, folder: Path, prompt: Prompt, endpoint: dict[str, Any] | None = None, **call: Any
) -> ModelCall:
    """The row of one call through a cache."""
    ledger: list[ModelCall] = []
    chosen = endpoint_of(server, **(endpoint or {}))
    async with Client(chosen, limiter_of(chosen), cache=ReplyCache(folder), rules=QUICK) as client:
        await client.ask(prompt, stage="judge", ledger=ledger, **call)
    return ledger[0]


def kept(folder: Path) -> list[Path]:
    """Every file of a cache."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


async def test_the_same_request_is_answered_from_the_folder_for_nothing(tmp_path: Path) -> None:
    prompt = user("look", picture())
    prices = {"usd_per_million_prompt": 5.0}
    with serving(says("once")) as server:
        first = await ask(server, tmp_path, prompt, prices)
        second = await ask(server, tmp_path, prompt, prices)

    assert (first.status, second.status) == ("answered", "cached")
    assert first.cost_usd > 0
    assert (second.cost_usd, second.prompt_tokens, second.images) == (0.0, 0, 0)
    assert first.call_id != second.call_id
    assert len(server.requests) == 1


async def test_the_kept_reply_is_the_reply(tmp_path: Path) -> None:
    with serving(says("text", reasoning="why")) as server:
        endpoint = endpoint_of(server)
        async with Client(endpoint, limiter_of(endpoint), cache=ReplyCache(tmp_path), rules=QUICK) as client:
            fresh = await client.ask(user("hi"), stage="act", ledger=[])
            again = await client.ask(user("hi"), stage="act", ledger=[])

    same = {"text", "reasoning", "finish", "refusal", "outcome"}
    assert again.model_dump(include=same) == fresh.model_dump(include=same)
    assert (fresh.cached, again.cached) == (False, True)
    assert again.usage.calls == 0


@pytest.mark.parametrize(
    ("prompt", "endpoint", "call"),
    [
        (user("other", picture()), {}, {}),
        (user("look", picture("blue")), {}, {}),
        (user("look", picture()._replace(width=20)), {}, {}),
        (user(picture(), "look"), {}, {}),
        ([Message("system", ("look", picture()))], {}, {}),
        (user("look", picture()), {"model": "second"}, {}),
        (user("look", picture()), {"extra": {"top_k": 3}}, {}),
        (user("look", picture()), {}, {"seed": 1}),
        (user("look", picture()), {}, {"temperature": 0.0}),
        (user("look", picture()), {}, {"max_tokens": 9}),
        (user("look", picture()), {}, {"schema": Verdict}),
    ],
)
async def test_whatever_decides_about_the_reply_is_part_of_the_request(
    tmp_path: Path, prompt: Prompt, endpoint: dict[str, Any], call: dict[str, Any]
) -> None:
    with serving(says(times=None), models=[{"id": "scripted"}, {"id": "second"}]) as server:
        await ask(server, tmp_path, user("look", picture()))
        other = await ask(server, tmp_path, prompt, endpoint, **call)

    assert other.status == "answered"


async def test_the_address_is_not_part_of_the_request(tmp_path: Path) -> None:
    with serving(says()) as one, serving(says()) as two:
        await ask(one, tmp_path, user("hi"))
        found = await ask(two, tmp_path, user("hi"))

    assert found.status == "cached"


@pytest.mark.parametrize("damage", ["", "{", '{"sha256": "0", "reply": "{}"}'])
async def test_a_damaged_reply_is_asked_for_again_and_mended(tmp_path: Path, damage: str) -> None:
    with serving(says(times=None)) as server:
        await ask(server, tmp_path, user("hi"))
        (reply,) = kept(tmp_path)
        reply.write_text(damage)

        statuses = [(await ask(server, tmp_path, user("hi"))).status for _ in range(2)]

    assert statuses == ["answered", "cached"]
    assert kept(tmp_path) == [reply]


async def test_a_reply_moved_to_another_requests_name_is_not_believed(tmp_path: Path) -> None:
    with serving(says("one", when="one"), says("two", when="two", times=None)) as server:
        await ask(server, tmp_path, user("one"))
        (one,) = kept(tmp_path)
        await ask(server, tmp_path, user("two"))
        (two,) = set(kept(tmp_path)) - {one}
        two.write_bytes(one.read_bytes())

        found = await ask(server, tmp_path, user("two"))

    assert found.status == "answered"


async def test_only_answers_are_kept(tmp_path: Path) -> None:
    bad = [says("half", finish="length"), says(None), says("", refusal="no"), says(None, finish="content_filter")]
    with serving(*bad, says("whole")) as server:
        statuses = [(await ask(server, tmp_path, user("hi"))).status for _ in range(6)]

    assert statuses == ["truncated", "empty", "refused", "filtered", "answered", "cached"]


async def test_a_request_held_to_a_schema_is_another_than_one_asked_in_words(tmp_path: Path) -> None:
    with serving(says(times=None)) as server:
        await ask(server, tmp_path, user("hi"), schema=Verdict)
        ledger: list[ModelCall] = []
        endpoint, abilities = endpoint_of(server), Abilities((), 0, True, None)
        cache = ReplyCache(tmp_path)
        async with Client(endpoint, limiter_of(endpoint), abilities=abilities, cache=cache, rules=QUICK) as client:
            await client.ask(user("hi"), stage="judge", ledger=ledger, schema=Verdict)

    assert ledger[0].status == "answered"


async def test_a_folder_that_cannot_be_written_is_a_fault_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with serving(says()) as server, pytest.raises(SinkError) as caught:
        await ask(server, tmp_path / "file", user("hi"))

    assert caught.value.code == "reply_cache"
