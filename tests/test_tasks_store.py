"""Reading capability catalogs and task sets from YAML and JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from catalogs.store import capability, load_catalog
from pipeline.errors import ConfigError
from pipeline.structs import Param
from pipeline.tasks import ProcedureStep, SetupOperation, TaskSpec, task_id_of
from taskspecs.store import bind, load_tasks

CATALOG = """
platform: web
language: en
capabilities:
  - id: notes.add
    path: [notes, list, add]
    verb: add
    object: a note
    slots: {title: [Milk, Bread]}
    effect: the note exists
    consequence: create
    reversible: true
    procedure:
      - {action: Type, role: textbox, name: Title, content: "{title}"}
      - {action: Click, role: button, name: Add}
  - id: notes.count
    path: [notes, list, count]
    verb: count
    object: notes
    effect: none
    consequence: none
    reversible: true
    procedure:
      - {action: TakeNote, capture: "(\\\\d+) notes", save_as: count, content: "{count}"}
"""

TASKS = """
defaults:
  app_ids: [notes]
  platform: web
  domain: Web
  tier: single
  contract_kind: state
  start: {app_id: notes}
tasks:
  - instruction: {en: 'Add the note "Milk".', zh: 添加笔记“Milk”。}
    calls: [{capability: notes.notes.add, with: {title: Milk}}]
    segments:
      - name: added
        checks:
          - {name: exists, probe: note, args: {title: Milk, copies: 2}, verifier: equals, expected: Milk}
    setup: [{kind: append, app_id: notes, target: list, content: Eggs}]
  - instruction: {en: 'How many notes are there?'}
    contract_kind: answer
    calls: [{capability: notes.notes.count}]
    finish: "{count}"
    segments:
      - {name: answered, checks: [{name: number, probe: answer, verifier: number, expected: [4]}]}
"""


@pytest.fixture(autouse=True)
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that stands for the packages' data, with one application."""
    (tmp_path / "apps" / "notes").mkdir(parents=True)
    (tmp_path / "apps" / "notes" / "capabilities.yaml").write_text(CATALOG, encoding="utf-8")
    (tmp_path / "sets" / "small").mkdir(parents=True)
    (tmp_path / "sets" / "small" / "a.yaml").write_text(TASKS, encoding="utf-8")
    monkeypatch.setattr("catalogs.store.resources.files", lambda _: tmp_path)
    load_catalog.cache_clear()
    yield tmp_path
    load_catalog.cache_clear()


def loaded(tmp_path: Path, text: str) -> list[TaskSpec]:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    return load_tasks(str(file))


# --- catalogs -----------------------------------------------------------------------------------------------------


def test_a_catalog_entry_gets_identity_application_and_slots() -> None:
    found = capability("notes.notes.add")
    assert (found.app_id, found.platform, found.language) == ("notes", "web", "en")
    assert [(slot.name, slot.values) for slot in found.slots] == [("title", ["Milk", "Bread"])]
    assert [entry.capability_id for entry in load_catalog("notes")] == ["notes.notes.add", "notes.notes.count"]


@pytest.mark.parametrize(
    ("identity", "words"),
    [("notes.fly", "notes.fly"), ("birds.fly", "birds")],
)
def test_an_unknown_capability_or_application_is_named(identity: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        capability(identity)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CATALOG.replace("reversible: true", "reversible: maybe"), "reversible"),
        (CATALOG.replace("  - id: notes.add", "  - name: notes.add"), "id: missing"),
        (CATALOG.replace("platform: web", ""), "platform: missing"),
        ("capabilities: [", "not readable YAML"),
    ],
)
def test_a_malformed_catalog_is_one_line_that_names_the_place(shipped: Path, text: str, words: str) -> None:
    (shipped / "apps" / "notes" / "capabilities.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=words) as caught:
        load_catalog("notes")
    assert "notes/capabilities.yaml" in str(caught.value) and "\n" not in str(caught.value)


# --- task sets ----------------------------------------------------------------------------------------------------


def test_one_task_per_language() -> None:
    tasks = load_tasks("small")
    assert [(task.language, task.instruction) for task in tasks] == [
        ("en", 'Add the note "Milk".'),
        ("zh", "添加笔记“Milk”。"),
        ("en", "How many notes are there?"),
    ]
    assert len({task.task_id for task in tasks}) == 3


def test_the_oracle_is_compiled_from_the_calls() -> None:
    task = load_tasks("small")[0]
    assert task.capability_ids == ["notes.notes.add"]
    assert [(step.action, step.content) for step in task.oracle] == [
        ("Type", "Milk"),
        ("Click", None),
        ("Finished", ""),
    ]
    assert task.consequence == "create"


def test_the_answers_form_ends_the_oracle() -> None:
    assert load_tasks("small")[2].oracle[-1] == ProcedureStep(action="Finished", content="{count}")


def test_an_oracle_that_is_written_out_is_kept(tmp_path: Path) -> None:
    text = TASKS.replace("    setup:", "    oracle: [{action: Wait}]\n    setup:")
    assert loaded(tmp_path, text)[0].oracle == [ProcedureStep(action="Wait")]


def test_arguments_and_expectations_become_text() -> None:
    check = load_tasks("small")[0].checks[0]
    assert check.call == "note(copies=2, title=Milk)"
    assert check.expected == ["Milk"]
    assert load_tasks("small")[2].checks[0].expected == ["4"]


def test_json_lines_give_the_same_tasks(tmp_path: Path) -> None:
    tasks = load_tasks("small")
    file = tmp_path / "tasks.jsonl"
    file.write_text("\n".join(task.model_dump_json() for task in tasks) + "\n", encoding="utf-8")
    assert load_tasks(str(file)) == tasks


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tasks: [", "not readable YAML"),
        ("- just a list", "list of `tasks`"),
        ("{}", "list of `tasks`"),
        (TASKS.replace("tier: single", "tier: easy"), r"task 1 \('Add the note \"Milk\".'\): tier"),
        (TASKS.replace("capability: notes.notes.add", "capability: notes.fly"), "notes.fly"),
        (TASKS.replace("- instruction: {en: 'How", "- question: {en: 'How"), "task 2: instruction: missing"),
        (TASKS.replace("verifier: equals", "verifier: roughly"), "verifier"),
        (TASKS.replace("start: {app_id: notes}", "colour: red"), "start"),
        (TASKS.replace("instruction: {en: 'How many notes are there?'}", "instruction: How many?"), "task 2"),
    ],
)
def test_a_malformed_set_is_one_line_that_names_the_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        loaded(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_a_malformed_line_is_named_by_its_number(tmp_path: Path) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text(load_tasks("small")[0].model_dump_json() + "\n{}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"tasks\.jsonl:2"):
        load_tasks(str(file))


def test_an_unknown_set_is_named() -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        load_tasks("nowhere")


# --- slots --------------------------------------------------------------------------------------------------------


def test_slots_are_filled_where_known() -> None:
    raw = ProcedureStep(action="Click", role="link", name="{title}", near="{owner}", content="{title} by {owner}")
    bound = bind([raw], [Param(name="title", value="Milk")])[0]
    assert (bound.name, bound.near, bound.content) == ("Milk", "{owner}", "Milk by {owner}")


def test_a_value_inside_a_pattern_stands_for_itself() -> None:
    raw = ProcedureStep(action="TakeNote", capture=r"{name}: (\d{2,4})")
    assert bind([raw], [Param(name="name", value="a.b (c)")])[0].capture == r"a\.b\ \(c\): (\d{2,4})"


# --- identities ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"instruction": "Add it."},
        {"language": "fr"},
        {"max_steps": 5},
        {"segments": []},
        {"setup": [SetupOperation(kind="append", app_id="notes", target="list", content="Tea")]},
        {"app_versions": [Param(name="notes", value="2")]},
    ],
)
def test_what_makes_another_task(change: dict[str, object]) -> None:
    task = load_tasks("small")[0]
    assert task_id_of(task.model_copy(update=change)) != task.task_id


@pytest.mark.parametrize("change", [{"split": "test"}, {"oracle": []}, {"generator": "model"}, {"feasible": False}])
def test_what_does_not(change: dict[str, object]) -> None:
    task = load_tasks("small")[0]
    assert task_id_of(task.model_copy(update=change)) == task.task_id
