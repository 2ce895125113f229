"""Trac's tasks and capabilities against its seeded database: values exist, answers are right, nothing holds yet."""

from __future__ import annotations

import re

import httpx
import pytest

from pipeline.app_entry import load_app
from pipeline.app_instance import Instance
from pipeline.reaper import Scratch
from pipeline.tasks import TaskSpec
from tests.seeded import ask, examples, tasks_of, untouched

DATABASE = "db/trac.db"
TASKS = tasks_of("trac")
INFEASIBLE = [task for task in TASKS if not task.feasible]
FEASIBLE = [task for task in TASKS if task.feasible]


def told(task: TaskSpec) -> str:
    return task.instruction[:40]


@pytest.mark.parametrize("task", FEASIBLE, ids=told)
def test_no_segment_holds_on_the_untouched_state(task: TaskSpec) -> None:
    states = [[untouched("trac", check) for check in segment.checks] for segment in task.segments]

    assert states and all("failed" in segment for segment in states)


@pytest.mark.parametrize("task", INFEASIBLE, ids=told)
def test_absence_checks_hold_on_the_untouched_state(task: TaskSpec) -> None:
    states = {untouched("trac", check) for check in task.absence_checks}

    assert states == {"passed"} and not task.segments


@pytest.mark.parametrize(
    ("capability_id", "slot", "query"),
    [
        ("tickets.comment", "ticket", "SELECT summary FROM ticket WHERE status <> 'closed'"),
        ("tickets.create", "type", "SELECT name FROM enum WHERE type = 'ticket_type'"),
        ("tickets.create", "priority", "SELECT name FROM enum WHERE type = 'priority'"),
        ("tickets.create_planned", "component", "SELECT name FROM component"),
        ("tickets.create_planned", "milestone", "SELECT name FROM milestone WHERE completed = 0"),
        ("tickets.resolve", "resolution", "SELECT name FROM enum WHERE type = 'resolution'"),
        ("roadmap.read_open_count", "milestone", "SELECT name FROM milestone WHERE completed = 0"),
        ("wiki.append", "page", "SELECT name FROM wiki"),
    ],
)
def test_example_values_exist(capability_id: str, slot: str, query: str) -> None:
    known = {row[0] for row in ask("trac", DATABASE, query)}

    values = examples("trac", capability_id, slot)

    assert values and set(values) <= known


@pytest.mark.parametrize(
    ("capability_id", "slot", "query"),
    [
        ("tickets.create", "summary", "SELECT summary FROM ticket"),
        ("roadmap.create_milestone", "milestone", "SELECT name FROM milestone"),
        ("admin.add_component", "component", "SELECT name FROM component"),
        ("admin.add_version", "version", "SELECT name FROM version"),
        ("wiki.create_page", "page", "SELECT name FROM wiki"),
    ],
)
def test_what_is_to_be_made_does_not_exist_yet(capability_id: str, slot: str, query: str) -> None:
    known = {row[0] for row in ask("trac", DATABASE, query)}

    assert not known & set(examples("trac", capability_id, slot))


@pytest.mark.parametrize(
    ("capability_id", "query"),
    [
        ("trac.tickets.read_owner", "SELECT owner FROM ticket WHERE summary = 'Sketch the rights of album guests'"),
        (
            "trac.roadmap.read_open_count",
            "SELECT CAST(count(*) AS TEXT) FROM ticket WHERE milestone = '1.1' AND status <> 'closed'",
        ),
    ],
)
def test_expected_answers_are_what_the_database_says(capability_id: str, query: str) -> None:
    asked = [task for task in TASKS if task.capability_ids == [capability_id]]

    assert asked
    for task in asked:
        assert task.contract_kind == "answer"
        assert [tuple(check.expected) for check in task.checks] == ask("trac", DATABASE, query)


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_a_reset_of_the_running_server_also_empties_what_it_keeps_in_memory() -> None:
    with Scratch("test-trac") as scratch:
        instance = Instance(load_app("trac"), scratch)
        await instance.start()
        base = instance.base_url
        async with httpx.AsyncClient(base_url=base, timeout=20, follow_redirects=True, trust_env=False) as client:
            before = await offered(client)
            await add(client, "Aurora")
            during = await offered(client)
            await instance.reset()
            after = await offered(client)
            await add(client, "Borealis")
            again = await offered(client)
        assert instance.base_url == base
        await instance.close()

    assert during == {*before, "Aurora"}
    assert after == before
    assert again == {*before, "Borealis"}


async def offered(client: httpx.AsyncClient) -> set[str]:
    """The components a new ticket may be of, which the server reads from its own cache."""
    page = (await client.get("/newticket")).text
    chooser = re.search(r'<select[^>]*name="field_component".*?</select>', page, re.DOTALL)
    assert chooser is not None
    return set(re.findall(r"<option[^>]*>([^<]+)</option>", chooser[0]))


async def add(client: httpx.AsyncClient, name: str) -> None:
    page = await client.get("/admin/ticket/components")
    token = client.cookies["trac_form_token"]
    fields = {"__FORM_TOKEN": token, "name": name, "owner": "", "add": "Add"}
    assert (await client.post("/admin/ticket/components", data=fields)).status_code == page.status_code == 200
