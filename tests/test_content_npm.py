"""Catalogs and templates of the applications from npm against the files these are seeded from; none is installed."""

from __future__ import annotations

import email
import json
from email.message import Message
from functools import cache

import pytest

from catalogs.store import load_catalog
from pipeline.app_entry import load_app
from pipeline.tasks import Capability
from taskspecs.templates import load_templates
from tests.seeded import examples

APPS = ["maildev", "node-red", "tiddlywiki"]


@cache
def tiddlers() -> dict[str, dict[str, str]]:
    text = (load_app("tiddlywiki").folder / "tiddlers.json").read_text(encoding="utf-8")
    return {one["title"]: one for one in json.loads(text)}


@cache
def nodes() -> dict[str, dict[str, object]]:
    """Flows by label, nodes by name."""
    text = (load_app("node-red").folder / "flows.json").read_text(encoding="utf-8")
    return {one.get("label") or one["name"]: one for one in json.loads(text)}


@cache
def mails() -> dict[str, Message]:
    folder = load_app("maildev").folder / "mail"
    found = [email.message_from_bytes(path.read_bytes()) for path in sorted(folder.glob("*.eml"))]
    return {str(mail["Subject"]): mail for mail in found}


def tagged(tag: str) -> set[str]:
    return {title for title, one in tiddlers().items() if tag in one.get("tags", "").split()}


@pytest.mark.parametrize("app_id", APPS)
def test_a_catalog_has_enough_that_is_no_navigation(app_id: str) -> None:
    catalog = load_catalog(app_id)
    idle = [one for one in catalog if one.consequence == "none" and not any(step.capture for step in one.procedure)]

    assert len(catalog) >= 25
    assert len(idle) * 3 <= len(catalog)


@pytest.mark.parametrize("app_id", APPS)
def test_what_is_captured_is_noted(app_id: str) -> None:
    for one in load_catalog(app_id):
        for step in one.procedure:
            assert step.capture is None or (step.save_as and step.content == f"{{{step.save_as}}}"), one.capability_id


@pytest.mark.parametrize("app_id", APPS)
def test_templates_are_of_every_tier_and_some_cannot_be_done(app_id: str) -> None:
    templates = load_templates(app_id)

    assert {one.tier for one in templates if one.feasible} == {"single", "multi", "workflow"}
    assert {one.infeasible for one in templates if not one.feasible} == {"absent_object", "missing_function"}
    assert sum(one.feasible for one in templates) >= 8


@pytest.mark.parametrize("app_id", APPS)
def test_every_wording_has_three_forms_in_both_languages(app_id: str) -> None:
    for one in load_templates(app_id):
        assert {language: len(forms) for language, forms in one.wording.items()} == {"en": 3, "zh": 3}, one.template_id


@pytest.mark.parametrize(
    ("capability_id", "slot", "known"),
    [
        ("pages.append", "page", None),
        ("pages.delete", "page", None),
        ("pages.clone", "page", None),
        ("tasks.tick", "task", "Task"),
        ("members.read_phone", "member", "Member"),
    ],
)
def test_pages_of_examples_exist(capability_id: str, slot: str, known: str | None) -> None:
    values = examples("tiddlywiki", capability_id, slot)

    assert values and set(values) <= (tagged(known) if known else set(tiddlers()))


@pytest.mark.parametrize("capability_id", ["fields.set", "fields.remove", "fields.read"])
def test_the_first_page_of_an_example_has_the_first_field(capability_id: str) -> None:
    page, field = (examples("tiddlywiki", capability_id, slot)[0] for slot in ("page", "field"))
    assert tiddlers()[page][field]


def test_only_one_task_is_done() -> None:
    done = [title for title in tagged("Task") if tiddlers()[title]["status"] == "done"]
    assert done == examples("tiddlywiki", "tasks.untick", "task")


@pytest.mark.parametrize("capability", load_catalog("node-red"), ids=lambda capability: capability.capability_id)
def test_flows_and_nodes_of_examples_exist_and_belong_together(capability: Capability) -> None:
    slots = {slot.name: slot.values for slot in capability.slots}
    for flow, node in zip(slots.get("flow", []), slots.get("node", []), strict=False):
        assert nodes()[node]["z"] == nodes()[flow]["id"]
    assert set(slots.get("flow", [])) | set(slots.get("node", [])) <= set(nodes())


def test_wires_of_the_flows_lead_to_nodes() -> None:
    known = {one["id"] for one in nodes().values()}
    wires = [one["wires"] for one in nodes().values() if "wires" in one]
    assert {target for ports in wires if isinstance(ports, list) for port in ports for target in port} <= known


MACHINE = ["10-function", "90-exec", "10-file", "23-watch", "21-httpin", "21-httprequest", "31-tcpin", "32-udp"]


@cache
def loaded() -> str:
    """The settings' list of kinds of nodes that are loaded, and no others."""
    return load_app("node-red").files["settings.js"].partition("nodesIncludes: [")[2].partition("]")[0]


@pytest.mark.parametrize("kind", MACHINE)
def test_no_node_can_run_code_or_reach_files_or_a_network(kind: str) -> None:
    assert "20-inject.js" in loaded()
    assert f'"{kind}.js"' not in loaded()


def test_every_node_of_the_flows_is_of_a_kind_that_is_loaded() -> None:
    kinds = {str(one["type"]) for one in nodes().values()} - {"tab"}
    assert kinds and all(f"-{kind}.js" in loaded() for kind in kinds)


def test_no_node_does_anything_by_itself() -> None:
    injects = [one for one in nodes().values() if one["type"] == "inject"]
    assert injects and not any(one["repeat"] or one["crontab"] or one["once"] for one in injects)


@pytest.mark.parametrize("capability", load_catalog("maildev"), ids=lambda capability: capability.capability_id)
def test_mails_of_examples_exist(capability: Capability) -> None:
    subjects = next((slot.values for slot in capability.slots if slot.name == "mail"), [])
    assert set(subjects) <= set(mails())


def test_a_mail_is_named_by_its_identifier_and_its_subject_is_found_once() -> None:
    folder = load_app("maildev").folder / "mail"
    seeded = {path.stem for path in folder.glob("*.eml")}
    listed = {f"{mail['To']} {subject} {mail.get_payload()}" for subject, mail in mails().items()}

    assert {str(mail["Message-ID"]) for mail in mails().values()} == {f"<{stem}@fernway.example>" for stem in seeded}
    assert all(sum(subject in text for text in listed) == 1 for subject in mails())
    assert {part.removeprefix("{entry}/mail/").removesuffix(".eml") for part in seed_parts()} == seeded


def seed_parts() -> list[str]:
    """The files that the seed's commands name."""
    steps = [step for step in load_app("maildev").seed if isinstance(step, list)]
    return [part for step in steps for part in step if part.startswith("{entry}/")]
