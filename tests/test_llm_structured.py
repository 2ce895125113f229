"""Answers of a fixed form."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from pipeline.llm import Abilities, Client, Unreadable, read_structured
from pipeline.llm.structured import response_format
from tests.endpoints import QUICK, endpoint_of, limiter_of, says, serving, user


class Finding(BaseModel):
    window: int = 0
    seen: bool


class Opinion(BaseModel):
    reason: str
    findings: list[Finding] = Field(default_factory=list)
    verdict: Literal["success", "failure", "unsure"]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"reason": "a", "findings": [], "verdict": "success"}', "success"),
        ('Well.\n```json\n{"reason": "a", "verdict": "failure"}\n```', "failure"),
        ("{'reason': 'Status: success', 'verdict': 'failure'}", "failure"),
        ('<think>{"reason": "a", "verdict": "success"}</think>{"reason": "b", "verdict": "failure"}', "failure"),
        ('{"reason": "a", "verdict": "failure"} and again {"reason": "a", "verdict": "failure"}', "failure"),
        ('{"reason": "a", "verdict": "failure"} see [1]', "failure"),
        ('{"reason": "a", "findings": [{"window": 2, "seen": true}], "verdict": "unsure"}', "unsure"),
    ],
)
def test_the_answer_is_found(text: str, verdict: str) -> None:
    found = read_structured(text, Opinion)

    assert isinstance(found, Opinion)
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON object"),
        ("The task was a success.", "no JSON object"),
        ("成功", "no JSON object"),
        ('{"reason": "a", "verdict": "succ', "no JSON object"),
        ('{"reason": "a", "verdict": "unsuccessful"}', "verdict"),
        ('{"reason": "a", "verdict": "SUCCESS"}', "verdict"),
        ('{"reason": "a", "verdict": "true"}', "verdict"),
        ('{"reason": "a", "verdict": true}', "verdict"),
        ('{"reason": "a"}', "verdict"),
        ('{"reason": "a", "findings": [{"seen": "yes"}], "verdict": "success"}', "findings.0.seen"),
        ('{"reason": "a", "findings": [{"window": NaN, "seen": true}], "verdict": "success"}', "JSON compliant"),
        ('{"reason": "a", "verdict": "success"} {"reason": "a", "verdict": "failure"}', "differ"),
        ('{"verdict": "maybe"} {"reason": "a", "verdict": "success"}', "differ"),
        ('{"reason": "a", "verdict": "success", "verdict": "failure"}', "no JSON object"),
        ('<think>{"reason": "a", "verdict": "success"}', "no JSON object"),
    ],
)
def test_what_is_no_answer_says_why(text: str, reason: str) -> None:
    found = read_structured(text, Opinion)

    assert isinstance(found, Unreadable)
    assert reason in found.reason


def test_the_schema_is_closed_and_keeps_the_order_of_fields() -> None:
    form = json.loads(json.dumps(response_format(Opinion)))["json_schema"]
    schema, inner = form["schema"], form["schema"]["$defs"]["Finding"]

    assert (form["name"], form["strict"]) == ("Opinion", True)
    assert list(schema["properties"]) == ["reason", "findings", "verdict"]
    assert schema["required"] == ["reason", "findings", "verdict"]
    assert inner["required"] == ["window", "seen"]
    assert (schema["additionalProperties"], inner["additionalProperties"]) == (False, False)
    assert "default" not in inner["properties"]["window"]


@pytest.mark.parametrize("enforced", [True, False])
async def test_a_server_is_held_to_the_schema_or_asked_in_words(enforced: bool) -> None:
    with serving(says()) as server:
        endpoint, abilities = endpoint_of(server), Abilities((), 0, enforced, None)
        async with Client(endpoint, limiter_of(endpoint), abilities=abilities, rules=QUICK) as client:
            await client.ask(user("Judge this."), stage="judge", ledger=[], schema=Opinion)

    body = server.requests[0].body
    text = body["messages"][-1]["content"]
    assert body.get("response_format") == (response_format(Opinion) if enforced else None)
    assert text.startswith("Judge this.")
    assert ('"verdict"' in text) is not enforced
