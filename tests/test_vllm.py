"""The acting model and the step judge on a real vLLM, on the CPU: `make vllm`.

The models have random weights, so what they say means nothing; the wire, the limits, the forms of answers and the
typed outcomes are real. Two servers run at once, as for a panel: one sees two pictures per request, one sees none.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import psutil
import pytest
from pydantic import BaseModel

from pipeline.actions import Click
from pipeline.check import check
from pipeline.cluster import Cluster, connected
from pipeline.config import RunConfig
from pipeline.dialects import load_dialect
from pipeline.errors import ConfigError, ModelError, RunError, SetupError
from pipeline.llm import Client, Endpoint, LocalLimiter, demand, probe, read_structured
from pipeline.llm.limiter import Limiter
from pipeline.model_server import KEY_VARIABLE, ModelServer
from pipeline.policies.chat import Actor, ChatPolicy, Supervisor
from pipeline.ports import listening
from pipeline.progress import Board
from pipeline.protocols import Move, view_of
from pipeline.records import ModelCall, Record
from pipeline.run import collect
from pipeline.serving import served
from pipeline.supervision import Halt
from tests.endpoints import picture, user
from tests.episodes import fake_task, on_screen, play
from tests.runs import fake_config, one, rows
from tests.vllm_models import CONTEXT, make_model, offline_vllm, on_cpu, vllm_python
from verifiers.step import Proposal, StepAnswer, StepVerifier

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not vllm_python().exists(), reason=f"no vLLM at {vllm_python()}: `make vllm` installs it"),
]

KEY = "sk-of-our-own-servers"
CLICK = {
    "type": "object",
    "properties": {
        "type": {"const": "Click"},
        "point": {
            "type": "object",
            "properties": {name: {"type": "integer", "minimum": 0, "maximum": 999} for name in ("x", "y")},
            "required": ["x", "y"],
            "additionalProperties": False,
        },
    },
    "required": ["type", "point"],
    "additionalProperties": False,
}
"""Holds the acting model to one kind of action, anywhere on the screen."""
CLICKS = {"response_format": {"type": "json_schema", "json_schema": {"name": "click", "schema": CLICK}}}


class Serving(NamedTuple):
    """Servers that are up: the configuration with their addresses, and where they run."""

    config: RunConfig
    cluster: Cluster


@contextmanager
def ours_is_the_key() -> Iterator[None]:
    """The variable is set before Ray starts, whose processes inherit it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_VARIABLE, KEY)
        yield


@pytest.fixture(scope="module")
def vision(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model("vision", tmp_path_factory.mktemp("models") / "vision")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model("text", tmp_path_factory.mktemp("models") / "text")


@pytest.fixture(scope="module")
def serving(vision: Path, text: Path) -> Iterator[Serving]:
    """Both servers, started as a run starts them, behind a key of their own."""
    servers = [on_cpu("eyes", vision, family="eyes"), on_cpu("reader", text)]
    models = ["policy=chat", "model.name=eyes", "model.images=2", "step_judge.online=true", "step_judge.name=reader"]
    config = fake_config(*models, "model.max_tokens=64").model_copy(update={"serving": servers})
    with ours_is_the_key(), connected(4, "web") as cluster, asyncio.Runner() as runner:
        up = served(config, cluster, Halt(), lambda _: None, offline_vllm)
        reachable = runner.run(up.__aenter__())
        yield Serving(reachable, cluster)
        runner.run(up.__aexit__(None, None, None))


def endpoint_named(serving: Serving, name: str, **more: Any) -> Endpoint:
    part = serving.config.model if name == "eyes" else serving.config.step_judge
    found = {"base_url": part.base_url, "model": name, "api_key_env": part.api_key_env, "family": name}
    return Endpoint.model_validate({**found, **more})


def limiter_for(endpoint: Endpoint) -> Limiter:
    return LocalLimiter(endpoint.in_flight, endpoint.lease_seconds)


@asynccontextmanager
async def asking(serving: Serving, name: str, **more: Any) -> AsyncIterator[Client]:
    """A client that knows what the server can do."""
    endpoint = endpoint_named(serving, name, **more)
    abilities = await probe(endpoint, limiter_for(endpoint), [], 1)
    async with Client(endpoint, limiter_for(endpoint), abilities=abilities) as client:
        yield client


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "wanted", "found"), [("eyes", 2, 2), ("eyes", 3, 1), ("reader", 1, 0)])
async def test_the_probe_finds_what_the_server_can_do(serving: Serving, name: str, wanted: int, found: int) -> None:
    endpoint = endpoint_named(serving, name)
    ledger: list[ModelCall] = []

    abilities = await probe(endpoint, limiter_for(endpoint), ledger, wanted)

    assert abilities == ((name,), found, True, CONTEXT)
    assert {row.stage for row in ledger} == {"probe"}


async def test_more_pictures_than_the_server_allows_are_a_typed_error(serving: Serving) -> None:
    async with asking(serving, "eyes") as client:
        two = await client.ask(user(picture(), picture("blue"), "hi"), stage="act", ledger=[], max_tokens=4)
        with pytest.raises(ModelError) as refused:
            await client.ask(user(*[picture()] * 3, "hi"), stage="act", ledger=[], max_tokens=4)

    assert two.usage.images == 2
    assert refused.value.code == "too_many_images"


async def test_pictures_for_a_model_that_sees_none_are_a_typed_error(serving: Serving) -> None:
    async with asking(serving, "reader") as client:
        with pytest.raises(ModelError) as refused:
            await client.ask(user(picture(), "hi"), stage="act", ledger=[])

    assert refused.value.code == "images_unsupported"


async def test_a_prompt_beyond_the_context_is_a_typed_error(serving: Serving) -> None:
    async with asking(serving, "reader") as client:
        with pytest.raises(ModelError) as refused:
            await client.ask(user("a screen " * CONTEXT), stage="act", ledger=[])

    assert refused.value.code == "context_too_long"


async def test_what_a_run_wants_and_the_server_lacks_is_said_before_it_begins(serving: Serving) -> None:
    endpoint = endpoint_named(serving, "eyes")
    abilities = await probe(endpoint, limiter_for(endpoint), [], 3)

    with pytest.raises(ConfigError, match=r"takes 1 pictures per request, 3 are wanted: .*--limit-mm-per-prompt"):
        demand(endpoint, abilities, 3)


async def test_a_wrong_key_stops_the_run_and_is_not_repeated(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WRONG_KEY", "sk-wrong")
    endpoint = endpoint_named(serving, "eyes", api_key_env="WRONG_KEY")

    with pytest.raises(RunError, match="WRONG_KEY") as stopped:
        await probe(endpoint, limiter_for(endpoint), [])

    assert "sk-wrong" not in str(stopped.value)


async def test_a_model_the_server_does_not_have_stops_the_run(serving: Serving) -> None:
    endpoint = endpoint_named(serving, "eyes", model="other")

    async with Client(endpoint, limiter_for(endpoint)) as client:
        with pytest.raises(RunError, match="'other' is not found"):
            await client.ask(user("hi"), stage="act", ledger=[])


# --- replies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["eyes", "reader"])
async def test_a_reply_cut_at_its_limit_is_no_answer(serving: Serving, name: str) -> None:
    ledger: list[ModelCall] = []
    async with asking(serving, name) as client:
        reply = await client.ask(user("hi"), stage="act", ledger=ledger, max_tokens=7)

    assert (reply.outcome, reply.finish, reply.usage.completion_tokens) == ("truncated", "length", 7)
    assert (ledger[0].status, ledger[0].prompt_tokens > 0) == ("truncated", True)


async def test_an_answer_cut_within_its_form_is_no_answer_either(serving: Serving) -> None:
    async with asking(serving, "reader") as client:
        reply = await client.ask(user("hi"), stage="judge", ledger=[], schema=StepAnswer, max_tokens=5)

    assert reply.outcome == "truncated"


class Review(BaseModel):
    """A form with what judges' forms have: text, numbers, choices, lists, and forms within."""

    class Point(BaseModel):
        text: str
        state: Literal["met", "unmet", "unclear"]

    reasons: str
    windows: list[int]
    points: list[Point]
    certain: bool
    verdict: Literal["complete", "partial", "infeasible", "fail"]


@pytest.mark.parametrize("schema", [StepAnswer, Review])
@pytest.mark.parametrize("name", ["eyes", "reader"])
async def test_answers_have_the_form_that_was_asked_for(serving: Serving, name: str, schema: type[BaseModel]) -> None:
    async with asking(serving, name) as client:
        reply = await client.ask(user("hi"), stage="judge", ledger=[], schema=schema, max_tokens=1024)

    assert reply.outcome == "answered"
    assert isinstance(read_structured(reply.text, schema), schema)
    assert list(dict.fromkeys(schema.model_fields)) == [
        name for name in sorted(schema.model_fields, key=reply.text.index)
    ]


# --- the policy and the judge -----------------------------------------------------------------------------------------


async def acted(serving: Serving, steps: int, judge: str | None = None, **model: Any) -> Record:
    """An episode in which the model that sees acts, watched over by a judge if one is named."""
    task = fake_task(max_steps=steps)
    async with asking(serving, "eyes", **model) as client, asking(serving, judge or "eyes") as asked:
        actor = Actor(client, load_dialect("canonical"), 2, CONTEXT - 64, max_tokens=64, temperature=0.0)
        supervisor = Supervisor(StepVerifier(asked, judge, judge), 1, "online") if judge else None
        return await play(ChatPolicy("chat", task, actor, 0, supervisor), task)


async def test_the_policy_acts_on_what_a_real_server_replies(serving: Serving) -> None:
    record = await acted(serving, 3, extra=CLICKS)

    assert [type(step.action) for step in record.steps] == [Click] * len(record.steps)
    assert record.trajectory.termination in ("step_limit", "loop")
    assert all(step.device_point is not None for step in record.steps)
    assert {row.status for row in record.model_calls} == {"answered"}
    assert max(row.images for row in record.model_calls) == 2
    assert record.trajectory.usage.prompt_tokens > 0


async def test_replies_that_never_end_are_never_actions(serving: Serving) -> None:
    record = await acted(serving, 8)

    assert record.trajectory.termination == "unreadable"
    assert {(step.action, step.action_error) for step in record.steps} == {(None, "truncated")}


async def test_the_step_judge_grades_by_a_real_reply(serving: Serving) -> None:
    move = Move(action=Click(point=await on_screen("Add", "button")))
    frame = next(iter((await acted(serving, 1, extra=CLICKS)).frames.values()))
    proposal = Proposal(view_of(fake_task()), frame, [], "press Add", [move])
    ledger: list[ModelCall] = []

    async with asking(serving, "eyes") as client:
        vote = await StepVerifier(client, "eyes", "eyes").grade(proposal, "online", ledger)

    answer = read_structured(vote.reply or "", StepAnswer)
    assert isinstance(answer, StepAnswer)
    assert (vote.status, vote.grade) == (("abstain", None) if answer.grade == "unsure" else ("graded", answer.grade))
    assert (vote.family, ledger[0].model, ledger[0].images) == ("eyes", "eyes", 1)


async def test_real_verdicts_decide_what_is_carried_out(serving: Serving) -> None:
    record = await acted(serving, 2, "eyes", extra=CLICKS)

    votes = [vote for vote in record.votes if vote.candidate_index is None]
    assert len(votes) == len(record.steps) > 0
    for step, vote in zip(record.steps, votes, strict=True):
        assert (step.action_error == "blocked_by_judge") == (vote.grade in ("invalid", "wrong"))
        assert ("unjudged" in step.flags) == (vote.status != "graded")


async def test_a_judge_that_sees_nothing_errs_and_grades_nothing(serving: Serving) -> None:
    record = await acted(serving, 2, "reader", extra=CLICKS)

    assert {(vote.status, vote.grade) for vote in record.votes} == {("error", None)}
    assert all("images_unsupported" in vote.reason for vote in record.votes)
    assert all("unjudged" in step.flags for step in record.steps)


def test_a_whole_run_on_a_real_server_is_sound(serving: Serving, tmp_path: Path) -> None:
    model = serving.config.model.model_copy(update={"extra": CLICKS})
    chosen = fake_config("policy=chat", "tasks.limit=3", "max_steps=3", "workers=2")

    outcome = collect(chosen.model_copy(update={"model": model}), "fake", tmp_path / "run", Board())

    assert outcome.reason is None
    assert check(tmp_path / "run") == []
    assert one(tmp_path / "run", "SELECT count(*) FROM trajectories WHERE fault IS NULL") == 3
    assert rows(tmp_path / "run", "SELECT DISTINCT status FROM model_calls WHERE stage = 'act'") == [("answered",)]
    assert not any(KEY.encode() in path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())


# --- the server's life ------------------------------------------------------------------------------------------------


async def test_a_model_that_is_not_there_is_quoted_from_the_servers_log(tmp_path: Path) -> None:
    server = ModelServer(on_cpu("none", tmp_path / "missing"), command=offline_vllm)

    with pytest.raises(SetupError, match=r"(?s)server 'none' did not start: it ended with code 1; .*missing"):
        await server.start()

    await server.close()


async def test_a_killed_server_comes_back_at_its_address_and_a_waiting_call_is_answered(text: Path) -> None:
    server = ModelServer(on_cpu("reader", text), "127.0.0.2", offline_vllm)
    await server.start()
    keeping = asyncio.create_task(server.ended())
    before = family_of_the(server)
    before[0].kill()

    endpoint = Endpoint(base_url=server.base_url, model="reader", api_key_env=KEY_VARIABLE, tries=32)
    async with Client(endpoint, limiter_for(endpoint)) as client:
        reply = await client.ask(user("hi"), stage="act", ledger=[], max_tokens=4)
    left = [process for process in before if lives(process)]
    after = family_of_the(server)
    hosts = {host for host, _ in listening(after[0].pid)}
    keeping.cancel()
    await server.close()

    assert reply.outcome == "truncated"
    assert left == []
    assert all(host.startswith("127.") for host in hosts)
    assert not [process for process in after if lives(process)]


def lives(process: psutil.Process) -> bool:
    """Whether it has not ended, collected by its parent or not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def family_of_the(server: ModelServer) -> list[psutil.Process]:
    """The server's process, and those in which it computes."""
    port = str(urlsplit(server.base_url).port)
    ours = psutil.Process().children(recursive=True)
    first = next(one for one in ours if "--port" in one.cmdline() and port in one.cmdline())
    return [first, *first.children(recursive=True)]
