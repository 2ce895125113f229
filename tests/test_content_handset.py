"""Tasks and capabilities of the handset's applications: words stand on its screens, values exist, nothing is done yet.

The first state of an application is what its seed says, so that most is shown without a phone. Every task is proved on
a real handset by the tests marked slow.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import pytest_asyncio

from catalogs.store import load_catalog
from pipeline import envs
from pipeline.app_entry import PhoneEntry, filled, load_phone_app
from pipeline.config import load_config
from pipeline.entry_state import ContentProbe, ContentState, SettingProbe
from pipeline.handset.apps import APPS
from pipeline.handset.apps.app import App
from pipeline.handset.database import Database
from pipeline.handset.state import Settings
from pipeline.policies.planner import planned
from pipeline.protocols import Environment
from pipeline.reaper import Scratch
from pipeline.tasks import ANSWER, Check, TaskSpec
from pipeline.words import CheckState
from taskspecs.store import load_tasks
from tests.seeded import examples
from tests.test_tasks import Worlds, length_of, prove_oracle, prove_the_rest
from verifiers.contract import state_of

NAMES = ("clock", "contacts", "notes", "settings", "shop")
IDS = [f"handset-{name}{suffix}" for name in NAMES for suffix in ("", "-zh")]
TASKS = [task for task in load_tasks("mobile") if task.start.app_id in IDS]
FEASIBLE = [task for task in TASKS if task.feasible]
INFEASIBLE = [task for task in TASKS if not task.feasible]
ACTIONS = {"Click", "LaunchApp", "PressHome", "PressRecent", "TakeNote", "Type"}


def told(task: TaskSpec) -> str:
    return f"{task.start.app_id}-{task.tier}-{task.task_id[:6]}"


def language_of(app_id: str) -> str:
    return "zh" if app_id.endswith("-zh") else "en"


def app_of(app_id: str) -> App:
    return next(app for app in APPS if app.package.name == load_phone_app(app_id).package)


def words_of(app_id: str) -> re.Pattern[str]:
    """Every text that the application, or the launcher, may show in its language; gaps are for what is filled in."""
    place = ("en", "zh").index(language_of(app_id))
    texts = [*(pair[place] for pair in app_of(app_id).words.values()), load_phone_app(app_id).title]
    return re.compile("|".join(".+".join(map(re.escape, re.split(r"\{\w+\}", text))) for text in texts))


def columns(app_id: str, folder: Path, question: str) -> set[str]:
    """The first column of a question to the seeded database."""
    app = app_of(app_id)
    seeded = Database(folder / f"{app_id}.db", app.schema, app.seed(language_of(app_id)))
    return {str(next(iter(row.values()))) for row in seeded.rows(question)}


def untouched(task: TaskSpec, check: Check, folder: Path) -> CheckState:
    """What a check says of the first state; nobody has answered anything there."""
    if check.probe == ANSWER:
        return state_of(check, [])
    app_id = check.app_id or task.start.app_id
    args = {param.name: param.value for param in check.args}
    return state_of(check, seeded_rows(load_phone_app(app_id), args, check.probe, folder))


def seeded_rows(entry: PhoneEntry, args: dict[str, str], name: str, folder: Path) -> list[list[str]]:
    match entry.probes[name]:
        case SettingProbe() as probe:
            value = Settings(folder / "settings.db", {}).get(probe.namespace, filled(probe.name, args))
            return [] if value is None else [[value]]
        case ContentProbe() as probe:
            app = app_of(entry.app_id)
            seeded = Database(folder / f"{entry.app_id}.db", app.schema, app.seed(language_of(entry.app_id)))
            asked = {column: filled(text, args) for column, text in probe.where.items()}
            query = f'SELECT {", ".join(probe.select)} FROM "{probe.uri.rpartition("/")[2]}"'
            query += " WHERE " + " AND ".join(f"CAST({column} AS TEXT) = ?" for column in asked) if asked else ""
            return [[str(cell) for cell in row.values()] for row in seeded.rows(query, *asked.values())]


# --- capabilities -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("app_id", IDS)
def test_most_of_what_an_application_can_do_changes_something(app_id: str) -> None:
    known = load_catalog(app_id)

    assert len(known) >= 20 and len({one.capability_id for one in known}) == len(known)
    assert {(one.platform, one.language) for one in known} == {("mobile", language_of(app_id))}
    assert sum(one.consequence != "none" for one in known) >= 0.6 * len(known)
    assert all(one.effect and one.procedure and one.screens and len(one.path) == 3 for one in known)
    assert all(slot.values for one in known for slot in one.slots)


@pytest.mark.parametrize("app_id", IDS)
def test_a_procedure_names_what_stands_on_the_screens_and_does_what_a_finger_can(app_id: str) -> None:
    words = words_of(app_id)

    for one in load_catalog(app_id):
        slots = {f"{{{slot.name}}}" for slot in one.slots}
        for step in one.procedure:
            assert step.action in ACTIONS, one.capability_id
            named = step.content if step.action == "LaunchApp" else step.name
            assert named is None or named in slots or words.fullmatch(named), (one.capability_id, named)


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_know_the_same(name: str) -> None:
    english, chinese = (
        [
            (one.capability_id.partition(".")[2], one.consequence, [(s.action, s.role) for s in one.procedure])
            for one in known
        ]
        for known in (load_catalog(f"handset-{name}"), load_catalog(f"handset-{name}-zh"))
    )

    assert english == chinese


@pytest.mark.parametrize(
    ("name", "capability_id", "slot", "question"),
    [
        ("notes", "notes.rename", "note", "SELECT title FROM notes WHERE deleted = 0 AND kind = 'text'"),
        ("notes", "notes.unpin", "note", "SELECT title FROM notes WHERE pinned"),
        ("notes", "checklists.tick", "list", "SELECT title FROM notes WHERE kind = 'checklist'"),
        ("notes", "checklists.tick", "item", "SELECT text FROM items WHERE NOT done"),
        ("notes", "folders.delete", "folder", "SELECT name FROM folders WHERE _id > 1"),
        ("notes", "bin.destroy", "note", "SELECT title FROM notes WHERE deleted"),
        ("contacts", "contacts.delete", "contact", "SELECT name FROM contacts"),
        ("contacts", "contacts.block", "contact", "SELECT name FROM contacts WHERE NOT blocked"),
        ("contacts", "contacts.remove_favourite", "contact", "SELECT name FROM contacts WHERE favourite"),
        ("contacts", "contacts.read_email", "contact", "SELECT name FROM contacts WHERE email <> ''"),
        ("contacts", "groups.delete", "group", "SELECT name FROM groups"),
        ("clock", "alarms.turn_on", "alarm", "SELECT label FROM alarms WHERE NOT enabled"),
        ("clock", "alarms.turn_off", "alarm", "SELECT label FROM alarms WHERE enabled"),
        ("clock", "timers.start", "timer", "SELECT name FROM timers WHERE state <> 'running'"),
        ("shop", "cart.add", "product", "SELECT name FROM products WHERE stock > 0"),
        ("shop", "cart.remove", "product", "SELECT name FROM products JOIN cart ON product_id = products._id"),
        (
            "shop",
            "favourites.remove",
            "product",
            "SELECT name FROM products JOIN favourites f ON product_id = products._id",
        ),
        ("shop", "products.find_cheapest", "category", "SELECT category FROM products"),
    ],
)
@pytest.mark.parametrize("suffix", ["", "-zh"])
def test_example_values_exist(
    name: str, capability_id: str, slot: str, question: str, suffix: str, tmp_path: Path
) -> None:
    app_id = f"handset-{name}{suffix}"

    values = examples(app_id, capability_id, slot)

    assert values and set(values) <= columns(app_id, tmp_path, question)


@pytest.mark.parametrize(
    ("name", "capability_id", "slot", "question"),
    [
        ("notes", "notes.create", "title", "SELECT title FROM notes"),
        ("notes", "folders.create", "name", "SELECT name FROM folders"),
        ("contacts", "contacts.create", "name", "SELECT name FROM contacts"),
        ("contacts", "groups.create", "name", "SELECT name FROM groups"),
        ("clock", "alarms.create", "label", "SELECT label FROM alarms"),
        ("clock", "timers.create", "label", "SELECT name FROM timers"),
        ("shop", "addresses.add", "street", "SELECT street FROM addresses"),
    ],
)
@pytest.mark.parametrize("suffix", ["", "-zh"])
def test_what_is_to_be_made_is_not_there_yet(
    name: str, capability_id: str, slot: str, question: str, suffix: str, tmp_path: Path
) -> None:
    app_id = f"handset-{name}{suffix}"

    values = examples(app_id, capability_id, slot)

    assert values and not set(values) & columns(app_id, tmp_path, question)


# --- tasks --------------------------------------------------------------------------------------------------------


def test_the_set_is_large_and_mixed_enough() -> None:
    assert len(TASKS) >= 40 and len({task.instruction for task in TASKS}) == len(TASKS)
    assert {task.start.app_id for task in TASKS} == set(IDS)
    assert all(task.language == language_of(app_id) for task in TASKS for app_id in task.app_ids)
    assert min(Counter(task.language for task in TASKS).values()) >= len(TASKS) // 3
    assert {task.tier for task in TASKS} == {"single", "multi", "workflow"}
    assert sum(task.contract_kind == "answer" for task in FEASIBLE) >= 8
    assert {"none", "create", "edit", "delete"} <= {task.consequence for task in TASKS}
    assert 0.1 <= len(INFEASIBLE) / len(TASKS) <= 0.35
    assert {task.language for task in TASKS if len(task.app_ids) > 1} == {"en", "zh"}


@pytest.mark.parametrize("task", TASKS, ids=told)
def test_a_task_has_what_its_kind_and_tier_need(task: TaskSpec) -> None:
    calls = len(task.calls)
    assert {"single": calls <= 1, "multi": calls in (2, 3), "workflow": calls >= 4}[task.tier]
    assert [param.name for param in task.app_versions] == task.app_ids and task.start.app_id == task.app_ids[0]
    assert length_of(task) * 2 <= task.max_steps <= length_of(task) * 3 + 10
    if not task.feasible:
        assert task.absence_checks and task.infeasible_reason and not task.segments and not task.expected_changes
        assert (task.oracle[-1].content or "").startswith("infeasible: ") and len(task.oracle) >= 3
    elif task.contract_kind == "answer":
        assert [check.probe for check in task.checks] == [ANSWER] and not task.expected_changes
    else:
        assert len(task.segments) >= (1 if task.tier == "single" else 2) and task.expected_changes


@pytest.mark.parametrize("task", FEASIBLE, ids=told)
def test_the_planners_plan_is_the_oracle(task: TaskSpec) -> None:
    assert [found.step for found in planned(task)] == task.oracle


@pytest.mark.parametrize("task", TASKS, ids=told)
def test_a_change_that_is_expected_is_named_closely(task: TaskSpec) -> None:
    sources = [source for app_id in task.app_ids for source in load_phone_app(app_id).state]
    known = [
        f"{source.uri.removeprefix('content://')}/"
        if isinstance(source, ContentState)
        else f"{source.namespace}/{name}"
        for source in sources
        for name in ([""] if isinstance(source, ContentState) else source.names)
    ]

    for pattern in task.expected_changes:
        assert any(pattern.startswith(one) for one in known), pattern
        assert not fnmatchcase("org.pathproof.any/table/77", pattern)


@pytest.mark.parametrize("task", FEASIBLE, ids=told)
def test_no_segment_holds_on_the_untouched_state(task: TaskSpec, tmp_path: Path) -> None:
    states = [[untouched(task, check, tmp_path) for check in segment.checks] for segment in task.segments]

    assert states and all("failed" in segment for segment in states)


@pytest.mark.parametrize("task", INFEASIBLE, ids=told)
def test_absence_checks_hold_on_the_untouched_state(task: TaskSpec, tmp_path: Path) -> None:
    assert {untouched(task, check, tmp_path) for check in task.absence_checks} == {"passed"}


@pytest.mark.parametrize(
    ("capability_id", "question"),
    [
        ("handset-contacts.contacts.read_email", "SELECT email FROM contacts WHERE name = 'Grace Lin'"),
        ("handset-contacts-zh.contacts.read_company", "SELECT company FROM contacts WHERE name = '马医生'"),
        ("handset-clock-zh.timers.read_duration", "SELECT (seconds / 60) || ':00' FROM timers WHERE name = '小睡'"),
        (
            "handset-shop.products.find_cheapest",
            "SELECT name FROM products WHERE category = 'Outdoor' ORDER BY price LIMIT 1",
        ),
        ("handset-shop-zh.products.read_stock", "SELECT stock FROM products WHERE name = '头灯'"),
    ],
)
def test_answers_are_what_the_first_state_says(capability_id: str, question: str, tmp_path: Path) -> None:
    expected = {text for task in FEASIBLE if task.capability_ids == [capability_id] for text in task.checks[0].expected}

    assert expected == columns(capability_id.partition(".")[0], tmp_path, question)


def test_the_configuration_has_all_of_them() -> None:
    config = load_config("mobile", [])

    assert set(IDS) <= set(config.apps) and (config.platform, config.provider, config.tasks.set) == (
        "mobile",
        "handset",
        "mobile",
    )


# --- the proof ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scratches() -> Iterator[tuple[Scratch, Scratch]]:
    with Scratch("oracle") as one, Scratch("others") as other:
        yield one, other


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def worlds(scratches: tuple[Scratch, Scratch]) -> AsyncIterator[Worlds]:
    """Two handsets, so that what fails is tried while the oracle runs."""
    config = load_config("mobile", [])
    one, other = (envs.build(config, scratch) for scratch in scratches)
    yield Worlds(one, other)
    await asyncio.gather(one.close(), other.close())


@pytest.mark.slow
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("task", TASKS, ids=told)
async def test_a_task_is_proved_on_the_handset(task: TaskSpec, worlds: Worlds) -> None:
    environment: Environment = worlds.oracle
    async with asyncio.TaskGroup() as proofs:
        oracle = proofs.create_task(prove_oracle(task, environment))
        idle = proofs.create_task(prove_the_rest(task, worlds.others))

    granted = oracle.result()
    assert (granted.checks if task.feasible else granted.absence) == "passed"
    assert idle.result().checks != "passed"
