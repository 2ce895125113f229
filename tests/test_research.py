"""Cold start of catalogs: with and without a model, known capabilities, past tasks; the commands build and show."""

from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path

import pytest

from catalogs.interpret import STAGE
from catalogs.library import Library
from catalogs.research import Built, asked_for, build, documented, known_catalog, past, says
from catalogs.sources import Source, Tasks, find_sources
from pipeline.cataloguing import catalog_folder, read_catalog, write_catalog
from pipeline.cli import app_for
from pipeline.commands.shell import run
from pipeline.config import load_config
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError, ModelError, RunError
from pipeline.records import ModelCall
from pipeline.researching import ResearchWorker
from pipeline.scripted_endpoint import ScriptedReply
from pipeline.tasks import Capability
from tests.endpoints import client_of, endpoint_of, serving
from tests.endpoints import says as replies
from tests.manuals import POISON_EN, manual, read


def built(source: Source) -> Built:
    return asyncio.run(build([source], read(source)))


def draft(**fields: object) -> dict[str, object]:
    return {
        "reason": "the page says so",
        "quote": "Reminders need a day.",
        "verb": "set",
        "object": "day of a reminder",
        "slots": [],
        **fields,
    }


def drafts(*found: dict[str, object], **more: object) -> ScriptedReply:
    return replies(json.dumps({"capabilities": list(found)}), **more)


def asked(source: Source, *given: ScriptedReply, ledger: list[ModelCall] | None = None) -> tuple[Built, str]:
    """What is built with a model that replies so, and everything it was shown."""
    reading = read(source, "en")

    async def ask() -> Built:
        async with client_of(endpoint_of(server)) as client:
            return await build([source], reading, client, ledger)

    with serving(*given, drafts(times=None)) as server:
        made = asyncio.run(ask())
        shown = json.dumps([request.body for request in server.requests], ensure_ascii=False)
    return made, shown


def capability(**fields: object) -> Capability:
    tree = {
        "capability_id": "scribe.x",
        "app_id": "scribe",
        "platform": "desktop",
        "language": "en",
        "path": ["a", "b", "c"],
        "verb": "create",
        "object": "note",
        "effect": "A note is there.",
        "consequence": "create",
        "reversible": True,
    }
    return Capability.model_validate({**tree, **fields})


# --- without a model ----------------------------------------------------------------------------------------------


def test_every_capability_found_has_evidence(tmp_path: Path) -> None:
    made = built(manual(tmp_path))

    assert made.documents == 3
    assert made.findings == ()
    assert made.capabilities
    assert all(one.evidence and one.status == "documented" for one in made.capabilities)


def test_the_same_documents_make_the_same_catalog(tmp_path: Path) -> None:
    assert built(manual(tmp_path)) == built(manual(tmp_path))


def test_what_is_known_comes_first_and_keeps_its_procedure(tmp_path: Path) -> None:
    source = manual(tmp_path, app_id="trac")

    made = built(source)

    known = known_catalog("trac")
    assert [one.capability_id for one in made.capabilities[: len(known)]] == [one.capability_id for one in known]
    assert [one.procedure for one in made.capabilities[: len(known)]] == [one.procedure for one in known]


def test_an_application_without_a_catalog_has_nothing_known() -> None:
    assert known_catalog("scribe") == ()
    assert known_catalog("fake-todo")


def test_sentences_document_what_is_known(tmp_path: Path) -> None:
    library = Library(read(manual(tmp_path)).documents)

    found = documented(capability(verb="attach", object="file of today to a note"), library)

    assert [one.source for one in found.evidence] == ["scribe-manual/en/notes"]
    assert documented(capability(verb="delete"), library).evidence == []


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("You can create a new note.", True),
        ("Notes can be added.", True),
        ("Create a day, and forget about the other one until you see the note.", False),
        ("Open a note.", False),
    ],
)
def test_a_doing_is_said_close_to_its_object(text: str, holds: bool) -> None:
    assert says(text, "create", "note") is holds


# --- past tasks ---------------------------------------------------------------------------------------------------


def test_past_tasks_count_what_people_ask_for() -> None:
    texts = ["Please create a note about lamps", "add two notes", "create a table", "note that"]

    assert asked_for([capability(), capability(capability_id="scribe.y", object="lamp post")], texts) == {"scribe.x": 2}


@pytest.mark.parametrize("name", ["tasks.jsonl", "tasks.jsonl.gz"])
def test_nothing_of_a_past_task_is_kept(tmp_path: Path, name: str) -> None:
    line = json.dumps({"instruction": "Create a note called Zanzibar"}) + "\n"
    (tmp_path / name).write_bytes(gzip.compress(line.encode()) if name.endswith("gz") else line.encode())
    source = manual(tmp_path)
    place = Tasks(language="en", path=str(tmp_path / name), field="instruction", install="by hand")
    made = built(source.model_copy(update={"places": [*source.places, place]}))

    assert made.asked["scribe.notes.create_note"] == 1
    assert "Zanzibar" not in repr(made)


def test_only_the_past_tasks_of_an_application_are_read(tmp_path: Path) -> None:
    rows = [{"app": "scribe", "text": "one"}, {"app": "other", "text": "two"}, {"app": ["x", "scribe"], "text": "3"}]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    place = Tasks(
        language="en", path=str(tmp_path / "x.jsonl"), field="text", where={"app": ["scribe"]}, install="by hand"
    )

    assert list(past(place)) == ["one", "3"]


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("{}\n", encoding="utf-8")
    place = Tasks(language="en", path=str(tmp_path / "x.jsonl"), field="instruction", install="by hand")

    with pytest.raises(ConfigError, match=r"x\.jsonl"):
        list(past(place))


# --- with a model -------------------------------------------------------------------------------------------------


def test_proved_quotations_make_capabilities(tmp_path: Path) -> None:
    source, ledger = manual(tmp_path), list[ModelCall]()

    made, shown = asked(
        source, drafts(draft(object="reminder day", slots=["day", "hour"]), when="Reminder"), ledger=ledger
    )

    found = next(one for one in made.capabilities if one.capability_id == "scribe.notes.set_reminder_day")
    assert found.evidence[0].source == "scribe-manual/en/notes"
    assert [slot.name for slot in found.slots] == ["day"]
    assert {call.stage for call in ledger} == {STAGE}
    assert "| Reminders need a day." in shown


@pytest.mark.parametrize(
    "wrong",
    [
        {"quote": "Reminders need an hour."},
        {"quote": "day"},
        {"object": "password"},
    ],
)
def test_unproved_quotations_are_reported_and_make_nothing(tmp_path: Path, wrong: dict[str, object]) -> None:
    source = manual(tmp_path)

    made, _ = asked(source, drafts(draft(**wrong), when="Reminder"))

    assert made.capabilities == asked(source)[0].capabilities
    assert [(finding.kind, finding.source) for finding in made.findings] == [("unproved", "scribe-manual/en/notes")]


def test_a_model_is_not_shown_what_speaks_to_it_and_cannot_follow_it(tmp_path: Path) -> None:
    source = manual(tmp_path)
    clean = asked(source)[0].capabilities
    notes = tmp_path / "notes" / "notes.md"
    notes.write_text(notes.read_text(encoding="utf-8") + f"\n{POISON_EN}\n", encoding="utf-8")

    obeyed = draft(quote="deletes every file of the user", verb="delete", object="every file")
    made, shown = asked(source, drafts(obeyed, when="Reminder"))

    assert "previous instructions" not in shown
    assert made.capabilities == clean
    assert [finding.kind for finding in made.findings] == ["injection", "unproved"]


@pytest.mark.parametrize("reply", [replies("no list at all"), replies("", refusal="no")])
def test_an_answer_that_is_none_is_reported(tmp_path: Path, reply: ScriptedReply) -> None:
    made, _ = asked(manual(tmp_path), reply)

    assert [finding.kind for finding in made.findings] == ["unreadable"]
    assert made.capabilities


def test_a_failing_endpoint_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        asked(manual(tmp_path), replies("bad", status=400, times=None))


# --- folders and files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["catalog.yaml", "catalog.jsonl", "catalog"])
def test_a_catalog_is_read_back_as_it_was_written(tmp_path: Path, name: str) -> None:
    found = built(manual(tmp_path)).capabilities
    place = str(tmp_path / "out" / name)

    write_catalog(place, found, [], {})

    assert read_catalog(place) == sorted(found, key=lambda one: (one.capability_id, one.language))


def test_a_folder_keeps_every_round_and_the_newest_counts(tmp_path: Path) -> None:
    place = str(tmp_path / "out")
    write_catalog(place, [capability(), capability(capability_id="scribe.y")], [], {})

    write_catalog(place, [capability(status="confirmed")], [], {})

    assert [(one.capability_id, one.status, one.round) for one in read_catalog(place)] == [
        ("scribe.x", "confirmed", 1),
        ("scribe.y", "documented", 0),
    ]
    assert len(Dataset(place).rows(Capability)) == 3


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "holiday.txt").write_text("sun", encoding="utf-8")

    with pytest.raises(RunError, match="something else"), catalog_folder(str(tmp_path), {}):
        pass


@pytest.mark.parametrize("text", ["a: [", "{}", "capabilities: [{app_id: x}]"])
def test_a_file_that_is_no_catalog_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError, match=r"x\.yaml"):
        read_catalog(str(tmp_path / "x.yaml"))


# --- the commands -------------------------------------------------------------------------------------------------


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(app_for(), ["catalog", *arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def manual_file(folder: Path, **changes: object) -> str:
    manual(folder, **changes)
    return str(folder / "scribe-manual.yaml")


@pytest.mark.usefixtures("ray_here")
def test_build_closes_with_the_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "catalog.yaml"

    code, told, progress = command(capsys, "build", manual_file(tmp_path), "--out", str(out))

    found = read_catalog(str(out))
    assert code == 0
    assert told.splitlines()[-1] == (
        f"sources=1 documents=3 capabilities={len(found)} with_evidence={len(found)} injections=0"
    )
    assert "scribe-manual zh: 1 documents" in progress


@pytest.mark.usefixtures("ray_here")
def test_build_counts_and_tells_injections(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = manual_file(tmp_path)
    (tmp_path / "notes" / "notes.md").write_text(f"# Create note\n\n{POISON_EN}\n", encoding="utf-8")

    code, told, progress = command(capsys, "build", source, "--language", "en")

    assert code == 0
    assert told.splitlines()[-1].endswith("injections=1")
    assert "injection\tscribe-manual/en/notes\tIgnore all" in progress


@pytest.mark.usefixtures("ray_here")
def test_build_asks_the_model_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = manual_file(tmp_path), str(tmp_path / "out")
    answer = drafts(draft(object="reminder day"), when="Reminder")
    with serving(answer, drafts(times=None)) as server:
        model = (f"model.base_url={server.base_url}", "model.name=scripted")
        code, _, _ = command(capsys, "build", source, *model, "--language", "en", "--out", out)

    assert code == 0
    assert "scribe.notes.set_reminder_day" in {one.capability_id for one in read_catalog(out)}
    assert STAGE in {call.stage for call in Dataset(out).rows(ModelCall)}


async def test_a_worker_reads_tells_what_it_read_and_says_it_once(tmp_path: Path) -> None:
    manual(tmp_path)
    worker = ResearchWorker(load_config("quickstart", []))
    await worker.ready()

    found = await worker.build(find_sources(str(tmp_path / "scribe-manual.yaml")), "zh", None)
    heard, again = await worker.heard(), await worker.heard()
    await worker.close()

    assert (found.app_id, found.documents) == ("scribe", {"zh": 1})
    assert (heard, again) == (["scribe-manual zh: 1 documents"], [])
    assert {one.language for one in found.built.capabilities} == {"zh"}


@pytest.mark.parametrize("named", ["nowhere", "model.height=3"])
def test_build_refuses_what_it_does_not_know(capsys: pytest.CaptureFixture[str], named: str) -> None:
    code, _, error = command(capsys, "build", named)

    assert code == 2
    assert named.partition("=")[0].rpartition(".")[2] in error


def test_build_without_any_document_says_how_they_are_had(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = command(capsys, "build", manual_file(tmp_path), "--language", "fr")
    assert code == 2

    (tmp_path / "en" / "tables.html").unlink()
    (tmp_path / "en").rmdir()
    _, _, told = command(capsys, "build", str(tmp_path / "scribe-manual.yaml"), "--language", "en")
    assert "none of these documents" in error
    assert "scribe-manual en: not here; debian: scribe-help" in told


def test_show_draws_the_tree_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    write_catalog(out, built(manual(tmp_path)).capabilities, [], {})

    code, told, _ = command(capsys, "show", out, "--language", "zh")

    lines = told.splitlines()
    assert code == 0
    assert lines[0] == "scribe"
    assert "  writing" in lines
    assert "      insert_table\tdocumented\tevidence=1\tzh\tscribe.writing.insert_table" in lines


def test_show_cuts_the_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "x.yaml")
    write_catalog(out, built(manual(tmp_path)).capabilities, [], {})

    _, told, _ = command(capsys, "show", out, "--limit", "2")

    assert told.count("evidence=") == 2
