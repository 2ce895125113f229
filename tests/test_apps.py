"""The shipped applications for real: started, read, changed, reset; and what a person runs in the foreground."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pipeline.app_install import place_of
from pipeline.app_state import checksum, snapshot
from pipeline.apps import Instance, app_names, down, install, list_apps, load_app, main, reset
from pipeline.errors import ConfigError
from pipeline.reaper import Scratch
from pipeline.tasks import SetupOperation

TEMPLATES = {
    "fava": "29cca1c1b132dc3d8a4c7e4c",
    "ihatemoney": "74eae18ccc20e9f62b548a8f",
    "maildev": "66e2e0bbb90a652f8e7b4bef",
    "node-red": "8d537757901c862eb817ebad",
    "jupyterlab": "7aaab97d1a033b939baeba3f",
    "lektor": "9f5ebab0e0ea2265ec9cccd2",
    "sqlite-web": "f2d85684c7cf87256e7c866b",
    "tiddlywiki": "12513734b0de116e070acfbf",
    "trac": "624c0d719095712653c1469d",
    "wagtail": "08eb81409434cd61a976246b",
}
"""Checksums of the states the applications begin with: the same on every day and machine."""

FLOWS = json.loads((load_app("node-red").folder / "flows.json").read_text(encoding="utf-8"))

TOUCH = {
    "fava": ("append", "ledger.beancount", '2025-07-01 note Assets:US:BofA:Checking "Card replaced"\n'),
    "ihatemoney": ("sqlite", "budget.db", "DELETE FROM bill WHERE what = 'Tram tickets'"),
    "maildev": ("write", "mail/new00001.eml", "Subject: Closed on Friday\\n\\nSee you on Monday.\\n"),
    "node-red": ("write", "flows.json", json.dumps(FLOWS[:-1])),
    "jupyterlab": ("write", "work/data/depths.csv", "station,depth\n"),
    "lektor": ("write", "content/plots/plot-7/contents.lr", "title: Plot 7\n"),
    "sqlite-web": ("sqlite", "shop.db", "UPDATE products SET stock = 99 WHERE sku = 'TEA-001'"),
    "tiddlywiki": ("append", "wiki/tiddlers/Bed 1.tid", "It lies beside the gate.\n"),
    "trac": ("sqlite", "db/trac.db", "DELETE FROM milestone WHERE name = 'Someday'"),
    "wagtail": ("sqlite", "db.sqlite3", "UPDATE museum_notice SET active = 1 WHERE id = 3"),
}
CHANGED = {
    "fava": ['ledger.beancount|2025-07-01 note Assets:US:BofA:Checking "Card replaced"', "added"],
    "ihatemoney": ["bill/3", "removed"],
    "maildev": ["mail/new00001.eml", "added"],
    "node-red": ["flows.json/inject/n14day0000000001", "removed"],
    "jupyterlab": ["work/data/depths.csv", "added"],
    "lektor": ["content/plots/plot-7/contents.lr", "added"],
    "sqlite-web": ["products/1", "changed"],
    "tiddlywiki": ["wiki/tiddlers/Bed 1.tid", "changed"],
    "trac": ["milestone/4", "removed"],
    "wagtail": ["museum_notice/3", "changed"],
}

ON_THIS_MACHINE = [
    pytest.param(
        app_id,
        marks=pytest.mark.skipif(
            load_app(app_id).install.kind == "npm" and shutil.which("npm") is None, reason="npm is not installed"
        ),
    )
    for app_id in sorted(TEMPLATES)
]


@pytest.fixture(scope="module")
def scratch() -> Iterator[Scratch]:
    """A worker's scratch folder."""
    with Scratch("test-apps") as made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("app_id", ON_THIS_MACHINE)
async def test_an_application_starts_is_changed_and_is_reset(app_id: str, scratch: Scratch) -> None:
    instance = Instance(load_app(app_id), scratch)
    await instance.start()
    instance.mark()
    kind, target, content = TOUCH[app_id]
    change = SetupOperation.model_validate({"kind": kind, "app_id": app_id, "target": target, "content": content})

    await instance.apply([change])
    changed = instance.changes()
    await instance.reset()

    assert changed == [CHANGED[app_id]]
    assert instance.changes() == []
    browser_like = {"Accept": "text/html"}
    async with httpx.AsyncClient(trust_env=False, follow_redirects=True, headers=browser_like) as client:
        assert (await client.get(instance.base_url + instance.entry.home)).status_code == 200
    await instance.close()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
async def test_node_red_knows_no_node_that_runs_code_or_reaches_files_or_a_network(scratch: Scratch) -> None:
    instance = Instance(load_app("node-red"), scratch)
    await instance.start()
    async with httpx.AsyncClient(trust_env=False, base_url=instance.base_url) as client:
        found = (await client.get("/nodes", headers={"Accept": "application/json"})).json()
    await instance.close()

    known = {kind for one in found for kind in one["types"]}
    assert {one["type"] for one in FLOWS} - {"tab"} <= known
    assert not known & {"function", "exec", "file", "file in", "watch", "http in", "http request", "tcp in", "udp in"}


@pytest.mark.slow
@pytest.mark.parametrize("app_id", ON_THIS_MACHINE)
def test_the_first_state_is_the_same_everywhere(app_id: str) -> None:
    entry = load_app(app_id)
    install(entry)
    assert checksum(snapshot(entry.state, place_of(entry).template)) == TEMPLATES[app_id]


def test_the_list_tells_what_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATHPROOF_HOME", str(tmp_path))
    pages = [status for status in list_apps() if not status.desktop]
    assert [status.app_id for status in pages] == app_names()
    assert not any(status.installed for status in pages)


def test_what_is_not_up_cannot_be_told_anything() -> None:
    assert (down("trac"), reset("trac")) == (0, 0)


def test_an_unknown_application_is_a_config_error() -> None:
    for order in (down, reset):
        with pytest.raises(ConfigError, match="unknown application 'nope'"):
            order("nope")


def test_the_installer_fails_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "nope"]) == 2
    assert capsys.readouterr().err.startswith("error: apps: unknown application 'nope'")


@pytest.mark.parametrize("arguments", [[], ["install", "--config"], ["remove"]])
def test_a_wrong_order_to_the_installer_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
def test_the_applications_of_a_configuration_are_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "--config", "quickstart"]) == 0
    wanted = {"fava", "ihatemoney", "sqlite-web", "trac"}
    assert wanted <= {status.app_id for status in list_apps() if status.installed}


@pytest.mark.slow
def test_an_application_in_the_foreground_is_reset_and_ended_from_outside(tmp_path: Path) -> None:
    program = "import sys; from pipeline.apps import up; up('sqlite-web', lambda text: print(text, flush=True))"
    own = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=own) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert "shop.db" in httpx.get(address, trust_env=False).text
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tempfile, "tempdir", str(tmp_path))
            assert reset("sqlite-web") == 1
            assert process.stdout.readline().strip() == address
            assert (down("sqlite-web"), process.wait(timeout=20)) == (1, 0)
    assert not list(tmp_path.glob("pathproof-*"))
    with pytest.raises(httpx.ConnectError):
        httpx.get(address, trust_env=False)


@pytest.mark.slow
async def test_fava_shows_a_reset_on_the_very_next_page(scratch: Scratch) -> None:
    instance = Instance(load_app("fava"), scratch)
    await instance.start()
    opened = SetupOperation(
        kind="append", app_id="fava", target="ledger.beancount", content="2025-07-01 open Expenses:Fresh\n"
    )
    seen = []
    async with httpx.AsyncClient(trust_env=False, base_url=instance.base_url) as client:
        for _ in range(3):
            await instance.apply([opened])
            seen.append("Expenses:Fresh" in (await client.get(instance.entry.ready.path)).text)
            await instance.reset()
            seen.append("Expenses:Fresh" in (await client.get(instance.entry.ready.path)).text)
    assert seen == [True, False] * 3
    await instance.close()
