"""Puzzles as pages, as an application with verdicts, and as tasks with a contract."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from pipeline.app_entry import load_app
from pipeline.app_instance import Instance
from pipeline.puzzles.catalog import TYPES
from pipeline.puzzles.page import html_of
from pipeline.puzzles.puzzle import Key
from pipeline.puzzles.serving import address_of, puzzle_of, served
from pipeline.puzzles.tasking import puzzle_tasks
from pipeline.reaper import Scratch
from pipeline.tasks import TaskSpec
from taskspecs.store import load_tasks

KEY = Key("tc_vowel", 1, 2, "en")


class Heard:
    """What a site told of its verdicts."""

    def __init__(self) -> None:
        self.verdicts: list[tuple[Key, bool]] = []

    def __call__(self, key: Key, right: bool) -> None:
        self.verdicts.append((key, right))


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
async def client(heard: Heard) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        served(heard) as address,
        httpx.AsyncClient(base_url=f"http://{address}", timeout=30, trust_env=False) as client,
    ):
        yield client


async def test_a_page_is_judged_by_what_was_done_on_it(client: httpx.AsyncClient, heard: Heard) -> None:
    scene = puzzle_of(KEY).scene
    clicks = [scene.marks[mark].centre for mark in scene.answer.model_dump()["marks"]]

    right = await client.post(address_of(KEY), json={"clicks": clicks})
    wrong = await client.post(address_of(KEY), json={"clicks": []})

    assert (right.json(), wrong.json()) == ({"right": True}, {"right": False})
    assert heard.verdicts == [(KEY, True), (KEY, False)]


@pytest.mark.parametrize(
    "path", ["/nothing/1/2/en", "/tc_vowel/x/2/en", "/tc_vowel/1/9/en", "/tc_vowel/1/2/fr", "/tc_vowel/-1/2/en", "/x"]
)
async def test_there_is_no_other_puzzle(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(path)).status_code == 404


@pytest.mark.parametrize(
    "said", [b"", b"[]", b'{"clicks": "x"}', b'{"clicks": [[1e9, 0]]}', b'{"more": 1}', b'{"clicks": [[NaN, 0]]}']
)
async def test_what_no_page_says_is_refused_without_a_verdict(
    client: httpx.AsyncClient, heard: Heard, said: bytes
) -> None:
    answer = await client.post(address_of(KEY), content=said)

    assert answer.status_code == 400
    assert heard.verdicts == []


@pytest.mark.parametrize("name", sorted(TYPES))
def test_a_page_is_not_told_the_answer(name: str) -> None:
    puzzle = puzzle_of(Key(name, 5, 2, "en"))
    told = html_of(puzzle, "web").partition('id="spec">')[2].partition("</script>")[0]

    assert json.loads(told).keys() == {"control", "words"}
    for accepted in puzzle.scene.answer.model_dump().get("accepted", []):
        assert f'"{accepted}"' not in told


def test_the_shipped_tasks_are_those_that_the_puzzles_make() -> None:
    assert load_tasks("puzzles") == puzzle_tasks(sorted(TYPES), 2, 0)


def test_tasks_have_every_kind_both_languages_and_every_level() -> None:
    tasks = load_tasks("puzzles")

    assert {task.template_id for task in tasks} == TYPES.keys()
    assert {task.capability_ids[0].partition(".")[2] for task in tasks} == {one.kind for one in TYPES.values()}
    assert {task.language for task in tasks} == {"en", "zh"}
    assert {param.value for task in tasks for param in task.params} == {"1", "2", "3"}


def task_of(name: str) -> TaskSpec:
    return next(task for task in load_tasks("puzzles") if task.template_id == name)


async def test_the_application_writes_verdicts_down_and_is_put_back(tmp_path: Path) -> None:
    task = task_of("tc_vowel")
    check = task.checks[0]
    with Scratch("puzzles") as scratch:
        instance = Instance(load_app("puzzles"), scratch)
        try:
            await instance.start()
            instance.mark()
            async with httpx.AsyncClient(base_url=instance.base_url, timeout=30, trust_env=False) as client:
                await client.post(task.start.path, json={})
            read, changes = await instance.read(check), instance.changes()
            await instance.reset()
            after = await instance.read(check)
        finally:
            await instance.close()

    assert (read, after) == ([["wrong"]], [])
    assert changes == [[f"verdicts.txt|{task.start.path[1:]} wrong", "added"]]


def test_a_type_that_is_not_there_is_named() -> None:
    with pytest.raises(KeyError, match="nothing"):
        puzzle_tasks(["nothing"], 1, 0)
