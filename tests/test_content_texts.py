"""Capabilities of applications whose state are text files: the seeded files hold what the examples name."""

from __future__ import annotations

import json
import re

import pytest

from catalogs.store import load_catalog
from pipeline.app_entry import load_app
from tests.seeded import examples


def files(app_id: str, folder: str) -> dict[str, str]:
    """The entry's files below a folder of the data, by path."""
    return {name: text for name, text in load_app(app_id).files.items() if name.startswith(folder)}


def titles(section: str) -> set[str]:
    texts = [text for name, text in files("lektor", "content/").items() if name.split("/")[1:-2] == [section]]
    return {found[1] for text in texts if (found := re.search(r"(?m)^title: (.+)$", text))}


@pytest.mark.parametrize(
    ("capability_id", "slot", "section"),
    [
        ("plots.set_keeper", "plot", "plots"),
        ("plots.delete", "plot", "plots"),
        ("events.set_place", "event", "events"),
        ("events.read_fee", "event", "events"),
        ("news.set_author", "article", "news"),
    ],
)
def test_lektor_has_the_records_of_the_examples(capability_id: str, slot: str, section: str) -> None:
    assert set(examples("lektor", capability_id, slot)) <= titles(section)


@pytest.mark.parametrize(
    ("capability_id", "section"), [("plots.add", "plots"), ("events.add", "events"), ("news.add", "news")]
)
def test_lektor_lacks_what_is_to_be_made(capability_id: str, section: str) -> None:
    assert not set(examples("lektor", capability_id, "title")) & titles(section)


def test_lektor_knows_the_fields_of_every_record() -> None:
    for name, text in files("lektor", "content/").items():
        section = name.split("/")[1] if name.count("/") == 3 else ""
        model = {"plots": "plot", "events": "event", "news": "article"}.get(section) or text.split("\n")[0][
            len("_model: ") :
        ]
        known = re.findall(r"(?m)^\[fields\.(\w+)\]", load_app("lektor").files[f"models/{model}.ini"])
        assert set(re.findall(r"(?m)^([a-z]\w*):", text)) <= set(known), name


def test_jupyterlab_has_the_files_of_the_examples() -> None:
    for known in load_catalog("jupyterlab"):
        slots = {slot.name: slot.values for slot in known.slots}
        for file in slots.get("file", []):
            found = [f"work/{folder}/{file}" in files("jupyterlab", "work/") for folder in slots["folder"]]
            assert any(found), (known.capability_id, file)


def test_jupyterlab_names_what_its_lists_hold() -> None:
    work = files("jupyterlab", "work/")

    for item in examples("jupyterlab", "read.count_of", "item"):
        assert re.search(rf"(?m)^{item} \d+$", work["work/notes/equipment.txt"])
    for person in examples("jupyterlab", "read.role_of", "person"):
        assert re.search(rf"(?m)^{person} - .+$", work["work/notes/contacts.txt"])


def test_the_notebook_needs_no_kernel_to_be_saved_as_it_is() -> None:
    notebook = json.loads(files("jupyterlab", "work/")["work/analysis.ipynb"])

    assert [cell["cell_type"] for cell in notebook["cells"]] == ["markdown", "code", "code", "markdown", "code"]
    assert notebook["metadata"]["kernelspec"] == {"display_name": "", "name": ""}
    assert not any(cell.get("outputs") for cell in notebook["cells"])


def test_nothing_can_be_run_in_jupyterlab() -> None:
    config = load_app("jupyterlab").files["config.py"]

    assert "c.ServerApp.terminals_enabled = False" in config
    assert 'c.KernelSpecManager.allowed_kernelspecs = {"none"}' in config


@pytest.mark.parametrize("app_id", ["jupyterlab", "lektor", "wagtail"])
def test_most_of_what_is_known_does_more_than_open_a_page(app_id: str) -> None:
    known = load_catalog(app_id)
    opening = [one for one in known if one.consequence == "none" and not any(step.capture for step in one.procedure)]

    assert len(known) >= 25
    assert len(opening) <= len(known) / 3
