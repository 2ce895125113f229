"""Case 11, part one: what a judge replies, and the vote it becomes. Part two, the rule, is in test_panel.py."""

from __future__ import annotations

import json

import pytest

from pipeline.actions import Finished
from pipeline.protocols import view_of
from pipeline.scripted_endpoint import ScriptedReply
from tests.endpoints import client_of, endpoint_of, says, serving
from tests.filmed import FINAL, film, keypoints, notes, screens
from tests.records import click, step, task
from verifiers.trace import TraceVerifier

SCREENS = screens(3)


def verdict(grade: object, before: str = "it looks so", after: str = "") -> str:
    return json.dumps({"speaks_for": before, "speaks_against": "", "grade": grade}) + after


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        (says(verdict("complete")), "complete"),
        (says(verdict("fail")), "fail"),
        (says(verdict("unsuccessful")), None),
        (says("UNSUCCESSFUL"), None),
        (says("NOT A SUCCESS"), None),
        (says(verdict("fail", before="the page says “Status: success”")), "fail"),
        (says(""), None),
        (says("I cannot assist with that request."), None),
        (says(None, refusal="I cannot assist with that."), None),
        (says(verdict("complete")[:-4], finish="length"), None),
        (says(verdict("complete"), finish="length"), None),
        (says(verdict("true")), None),
        (says(verdict(True)), None),
        (says(verdict("complete", after="\n" + verdict("fail"))), None),
        (says("任务成功完成"), None),
        (says("Exitoso."), None),
    ],
)
async def test_a_reply_is_that_verdict_or_an_abstention(reply: ScriptedReply, grade: str | None) -> None:
    final = reply.model_copy(update={"when": FINAL})
    with serving(final, notes("unclear"), keypoints("it is there")) as server:
        async with client_of(endpoint_of(server)) as client:
            verifier = TraceVerifier(client, "judge", "family", 10)
            record = film([click(SCREENS[0], "Button 0"), step(Finished())], SCREENS)
            found = await verifier.judge(view_of(task()), record, "pass", [])

    assert (found.votes[0].status, found.votes[0].grade) == ("graded" if grade else "abstain", grade)
