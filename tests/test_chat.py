"""The policy that asks a model: what it is shown, how replies become steps, and verdicts before execution."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.actions import Action, Click, Finished, GetUrl, LaunchApp, Point, TakeNote, Wait, render
from pipeline.dialects import load_dialect
from pipeline.envs.fake import Faults
from pipeline.policies.chat import Actor, ChatPolicy, Supervisor
from pipeline.prefix import Prefix
from pipeline.records import Record
from pipeline.rollout import StoppedError
from pipeline.scripted_endpoint import Asked, ScriptedReply
from pipeline.tasks import TaskSpec
from tests.endpoints import client_of, endpoint_of, says, serving
from tests.episodes import fake_task, on_screen, play
from tests.prefixes import long_task, rest, whole
from verifiers.step import StepVerifier

JUDGE = "The proposed action:"
"""A part of the last message by which requests to the judge are told apart."""
NOWHERE = Click(point=Point(x=2, y=990))

Messages = list[dict[str, Any]]


class Conversation:
    """An episode of the chat policy on the fake application, against a real server."""

    def __init__(self, *replies: ScriptedReply, **server: Any) -> None:
        self._replies, self._server = replies, server
        self._requests: list[Asked] = []

    async def run(
        self,
        *,
        retries: int | None = None,
        task: TaskSpec | None = None,
        endpoint: dict[str, Any] | None = None,
        images: int = 3,
        room: int | None = None,
        dialect: str = "canonical",
        **playing: Any,
    ) -> Record:
        task = task or fake_task()
        with serving(*self._replies, **self._server) as server:
            self._requests = server.requests
            async with client_of(endpoint_of(server, **(endpoint or {}))) as client:
                actor = Actor(client, load_dialect(dialect), images, room, max_tokens=256, temperature=0.0)
                judge = (
                    None
                    if retries is None
                    else Supervisor(StepVerifier(client, "scripted", "scripted"), retries, "online")
                )
                return await play(ChatPolicy("chat", task, actor, 0, judge), task, **playing)

    @property
    def acts(self) -> list[Messages]:
        """The messages of every request for an action."""
        return [asked.body["messages"] for asked in self._requests if JUDGE not in text_in(asked.body["messages"][-1])]

    @property
    def judgements(self) -> list[Messages]:
        """The messages of every request for a verdict."""
        return [asked.body["messages"] for asked in self._requests if JUDGE in text_in(asked.body["messages"][-1])]


def text_in(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def pictures_in(messages: Messages) -> list[str]:
    parts = [part for one in messages if isinstance(one["content"], list) for part in one["content"]]
    return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]


def does(action: Action, thought: str = "", **more: Any) -> ScriptedReply:
    return says(f"<think>{thought}</think>\n{render(action)}", **more)


def grades(grade: str, reason: str = "because", **more: Any) -> ScriptedReply:
    answer = {"target": "t", "thought_and_action": "a", "agree": True, "service_to_task": reason, "grade": grade}
    return says(json.dumps(answer), when=JUDGE, **more)


def ending(record: Record) -> tuple[str, str | None]:
    return record.trajectory.termination, record.trajectory.reason


# --- the loop -----------------------------------------------------------------------------------------------------


async def test_replies_become_steps_with_their_pixels_and_cost() -> None:
    prices = {"usd_per_million_prompt": 1000.0, "usd_per_million_completion": 0.0}
    add = Click(point=await on_screen("Add", "button"))

    record = await Conversation(does(add, "press Add"), does(Finished())).run(endpoint=prices)

    step = record.steps[0]
    assert (step.action, step.thought, step.status) == (add, "press Add", "ok")
    assert (step.dialect, step.coordinate_space, step.divisor) == ("canonical", "canonical", 1000)
    assert step.target is not None and step.target.name == "Add"
    assert step.reply.endswith(render(add))
    assert step.usage.cost_usd == pytest.approx(0.1)
    assert record.trajectory.usage.calls == 2
    assert [(row.stage, row.status) for row in record.model_calls] == [("act", "answered")] * 2
    assert {row.attempt_id for row in record.model_calls} == {record.attempt.attempt_id}


async def test_the_model_is_shown_its_task_and_actions_in_its_language() -> None:
    english, chinese = Conversation(does(Finished())), Conversation(does(Finished()))

    await english.run(task=fake_task("Add a to-do"))
    await chinese.run(task=fake_task("请新建一条待办"))

    assert text_in(english.acts[0][0]).startswith("You operate a web browser")
    assert "Add a to-do" in text_in(english.acts[0][-1])
    assert text_in(chinese.acts[0][0]).startswith("你替用户操作网页浏览器")
    assert "请新建一条待办" in text_in(chinese.acts[0][-1])
    assert all('"type": "AcceptDialog"' in text_in(one.acts[0][0]) for one in (english, chinese))


async def test_the_last_pictures_are_shown_and_the_rest_is_text() -> None:
    talk = Conversation(does(GetUrl()), does(TakeNote(content="n")), does(NOWHERE), does(Finished()))

    await talk.run(images=2)

    assert [len(pictures_in(messages)) for messages in talk.acts] == [1, 2, 2, 2]
    last = talk.acts[-1]
    assert [one["role"] for one in last] == ["system", "user", "assistant", "user"]
    assert '1. {"type":"GetUrl"} -> ' in text_in(last[1])
    assert '2. {"type":"TakeNote","content":"n"} -> ' in text_in(last[1])
    assert text_in(last[2]).endswith(render(NOWHERE))


async def test_one_picture_leaves_the_whole_history_as_text() -> None:
    talk = Conversation(does(GetUrl()), does(NOWHERE), does(Finished()))

    await talk.run(images=1)

    assert [one["role"] for one in talk.acts[-1]] == ["system", "user"]
    assert '2. {"type":"Click"' in text_in(talk.acts[-1][-1])


async def test_outcomes_are_told_as_they_are() -> None:
    leaving = does(Click(point=await on_screen("Statistics", "link")))
    launching = does(LaunchApp(app="x"))
    talk = Conversation(does(GetUrl()), launching, says("?"), leaving, does(Finished()))

    await talk.run()

    heard = [text_in(messages[-1]) for messages in talk.acts]
    assert "the picture is the same as before. Answer: http://localhost/" in heard[1]
    assert "It did not happen: " in heard[2]
    assert "Your reply could not be used: no_action" in heard[3]
    assert heard[4].startswith("Done.\n")


async def test_notes_stay_when_their_turn_is_gone() -> None:
    talk = Conversation(does(TakeNote(content="code 4711")), does(NOWHERE), does(GetUrl()), does(Finished()))

    await talk.run(images=1)

    assert "Your notes:\n- code 4711" in text_in(talk.acts[-1][-1])


async def test_a_failed_capture_is_told_and_no_older_picture_stands_for_it() -> None:
    talk = Conversation(does(GetUrl()), does(NOWHERE), does(Finished()))

    record = await talk.run(images=1, faults=Faults(failing_looks=[1]))

    assert "There is no picture of the screen now (timeout)." in text_in(talk.acts[1][-1])
    assert pictures_in(talk.acts[1]) == []
    assert (record.steps[1].status, record.steps[1].action_error) == ("failed", "bad_arguments")


# --- what does not fit ---------------------------------------------------------------------------------------------


async def test_pictures_go_first_when_the_context_is_small() -> None:
    replies = [does(GetUrl()), does(NOWHERE), does(TakeNote(content="n")), does(Finished())]
    wide, narrow = Conversation(*replies), Conversation(*replies)

    await wide.run(images=4)
    await narrow.run(images=4, room=2200)

    assert len(pictures_in(wide.acts[-1])) == 4
    assert 1 <= len(pictures_in(narrow.acts[-1])) < 4
    assert '1. {"type":"GetUrl"}' in text_in(narrow.acts[-1][1])


async def test_a_context_without_room_for_one_picture_is_a_fault_of_the_model() -> None:
    record = await Conversation(does(Finished())).run(room=300)

    assert record.trajectory.fault is not None
    assert (record.trajectory.fault.boundary, record.trajectory.fault.code) == ("model", "context_too_small")


# --- replies without an action --------------------------------------------------------------------------------------


async def test_a_filtered_answer_is_asked_for_once_more() -> None:
    talk = Conversation(says(None, finish="content_filter", times=None))

    record = await talk.run()

    assert ending(record) == ("refused", "refused")
    assert len(talk.acts) == 2
    assert [step.action_error for step in record.steps] == ["refused", "refused"]


async def test_polite_refusals_end_as_refused() -> None:
    record = await Conversation(says("I am sorry, but I cannot help with that.", times=None)).run()

    assert ending(record) == ("refused", "no_action")


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (says('{"type": "Type", "content": "hal', finish="length", times=None), "truncated"),
        (says(None, reasoning=render(Finished()), times=None), "empty_content"),
        (says(f"{render(Wait())}\n{render(GetUrl())}", times=None), "multiple_actions"),
        (says('{"type": "Fly"}', times=None), "unknown_action"),
        (says('{"type": "Click", "point": {"x": 1200, "y": 150}}', times=None), "out_of_range"),
    ],
)
async def test_unusable_replies_do_nothing_and_end_as_unreadable(reply: ScriptedReply, code: str) -> None:
    record = await Conversation(reply).run()

    assert ending(record) == ("unreadable", code)
    assert [(step.action, step.status, step.action_error) for step in record.steps] == [(None, "failed", code)] * 3
    assert all(step.reply == (reply.text or "") for step in record.steps)


async def test_a_puzzle_reply_becomes_consecutive_steps() -> None:
    reply = says("<action>Click(box=(500,500)), Type(content='a, (b)')</action>", times=None)

    record = await Conversation(reply).run(dialect="ui-venus-2-puzzle", max_steps=2)

    assert [(step.substep, step.action.type if step.action else None) for step in record.steps] == [
        (0, "Click"),
        (1, "Type"),
    ]
    assert len({step.reply_id for step in record.steps}) == 1


async def test_the_rest_of_a_failed_reply_is_told_and_kept() -> None:
    reply = says("<action>Click(box=(5,990)), Type(content='no field'), LongPress(box=(1,1))</action>", times=None)
    talk = Conversation(reply)

    record = await talk.run(dialect="ui-venus-2-puzzle", max_steps=3)

    assert [step.status for step in record.steps] == ["ok", "failed", "ok"]
    assert (record.candidates[0].step_index, record.candidates[0].reason) == (1, "sequence_stopped")
    assert "The first 1 of 3 actions were carried out. It did not happen: " in text_in(talk.acts[1][-1])


# --- an endpoint that fails -------------------------------------------------------------------------------------------


async def test_a_silent_endpoint_is_a_fault_of_the_model() -> None:
    talk = Conversation(says(fault="silence", times=None))

    record = await talk.run(endpoint={"read_seconds": 0.2, "connect_seconds": 0.2, "total_seconds": 0.5})

    assert record.trajectory.fault is not None
    assert (record.trajectory.fault.boundary, record.trajectory.fault.code) == ("model", "timeout")
    assert [row.status for row in record.model_calls] == ["timeout"]


async def test_a_wrong_key_stops_the_run_and_keeps_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")

    with pytest.raises(StoppedError, match="OPENAI_API_KEY") as stopped:
        await Conversation(does(Finished()), key="sk-right").run()

    assert "sk-wrong" not in str(stopped.value)
    assert stopped.value.record.trajectory.termination == "cancelled"
    assert stopped.value.record.attempt.final is False
    assert len(stopped.value.record.model_calls) == 1


# --- verdicts before execution ----------------------------------------------------------------------------------------


async def test_a_rejected_proposal_is_kept_told_and_revised() -> None:
    add = Click(point=await on_screen("Add", "button"))
    talk = Conversation(
        grades("wrong", "nothing is there"), grades("correct", times=None), does(NOWHERE), does(add), does(Finished())
    )

    record = await talk.run(retries=2)

    assert [step.action for step in record.steps] == [add, Finished()]
    rejected = record.candidates[0]
    assert (rejected.step_index, rejected.candidate_index, rejected.action) == (0, 0, NOWHERE)
    assert rejected.reason.startswith("wrong: ") and "nothing is there" in rejected.reason
    assert [(vote.step_index, vote.candidate_index, vote.grade) for vote in record.votes] == [
        (0, 0, "wrong"),
        (0, None, "correct"),
        (1, None, "correct"),
    ]
    assert "This proposal was not carried out: wrong: t a nothing is there" in text_in(talk.acts[1][-1])
    assert [row.stage for row in record.model_calls] == ["act", "step", "act", "step", "act", "step"]


async def test_the_last_revision_is_judged_too_and_not_carried_out_when_rejected() -> None:
    talk = Conversation(
        grades("invalid", times=3), grades("correct", times=None), does(NOWHERE, times=3), does(Finished())
    )

    record = await talk.run(retries=2)

    step = record.steps[0]
    assert (step.action, step.status, step.action_error) == (NOWHERE, "failed", "blocked_by_judge")
    assert step.gate is None, "what is refused by the judge never reaches the gate"
    assert [row.candidate_index for row in record.candidates] == [0, 1]
    assert [vote.candidate_index for vote in record.votes[:3]] == [0, 1, None]
    assert "It did not happen: " in text_in(talk.acts[3][-1])


@pytest.mark.parametrize("grade", ["correct", "explore"])
async def test_what_is_correct_or_explores_is_carried_out(grade: str) -> None:
    record = await Conversation(grades(grade, times=None), does(GetUrl()), does(Finished())).run(retries=0)

    assert [(step.status, step.flags) for step in record.steps] == [("ok", []), ("ok", [])]
    assert record.candidates == []


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (grades("unsure", times=None), "abstain"),
        (says("It is correct.", when=JUDGE, times=None), "abstain"),
        (says('{"grade": "correct"}', when=JUDGE, times=None), "abstain"),
        (says(None, when=JUDGE, finish="content_filter", times=None), "abstain"),
        (says("x", when=JUDGE, status=400, times=None), "error"),
    ],
)
async def test_a_judge_that_cannot_say_lets_the_step_pass_unjudged(reply: ScriptedReply, status: str) -> None:
    record = await Conversation(reply, does(GetUrl()), does(Finished())).run(retries=2)

    assert [(step.status, step.flags) for step in record.steps] == [("ok", ["unjudged"]), ("ok", ["unjudged"])]
    assert [(vote.status, vote.grade) for vote in record.votes] == [(status, None)] * 2


async def test_the_judge_sees_what_is_known_before_the_step_and_no_numbers() -> None:
    add = Click(point=await on_screen("Add", "button"))
    talk = Conversation(
        grades("correct", times=None), does(GetUrl()), does(add, 'verdict: "correct"'), does(Finished())
    )

    record = await talk.run(retries=0)

    shown = talk.judgements[1]
    said = text_in(shown[-1])
    assert '| {"type":"Click"}' in said
    assert '| 1. {"type":"GetUrl"} -> ' in said
    assert '| [claim] verdict: "correct"' in said
    assert pictures_in(shown) != pictures_in(talk.acts[1])[-1:], "the place of the click is drawn on a copy"
    assert record.votes[1].frame_sha256s == [record.observations[1].frame_sha256]


# --- steps of an earlier attempt -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["canonical", "ui-venus-1.5"])
async def test_steps_of_an_earlier_attempt_stand_in_the_conversation_as_this_model_would_say_them(dialect: str) -> None:
    task = long_task()
    prefix = Prefix(await whole(task), 1)
    with serving(does(Finished())) as server:
        async with client_of(endpoint_of(server)) as client:
            actor = Actor(client, load_dialect(dialect), 3, None, max_tokens=256, temperature=0.0)
            record = await rest(prefix, task, policy=ChatPolicy("chat", task, actor, 0))
        first = server.requests[0].body["messages"]

    earlier = [step for step in record.steps if step.replayed]
    said = [text_in(message) for message in first if message["role"] == "assistant"]
    assert len(said) == 2 and len(pictures_in(first)) == 3
    assert text_in(first[1]).count(" -> Done") == len(earlier) - 2
    assert (earlier[-1].reply in said[-1]) == (dialect == "canonical")
