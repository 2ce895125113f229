"""A running application: own port, own data, proved resets, honest failures."""

from __future__ import annotations

import asyncio
import shutil
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from pipeline import app_instance
from pipeline.apart import can_part
from pipeline.app_entry import AppEntry
from pipeline.app_instance import Instance
from pipeline.errors import ProbeError, SetupError
from pipeline.ports import free_port
from pipeline.reaper import Scratch
from pipeline.structs import Param
from pipeline.tasks import Check, SetupOperation
from tests.elsewhere import second_server
from tests.tinyapp import make_entry

needs_networks = pytest.mark.skipif(not can_part(), reason="no network of one's own is to be had here")


@pytest.fixture(scope="module", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache folder for this file's tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATHPROOF_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module")
def entry(tmp_path_factory: pytest.TempPathFactory) -> AppEntry:
    """A small application."""
    return make_entry(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scratch]:
    """A worker's scratch folder."""
    with Scratch("worker", tmp_path_factory.mktemp("scratch")) as made:
        yield made


@pytest.fixture
async def tiny(entry: AppEntry, scratch: Scratch) -> AsyncIterator[Instance]:
    """The small application, running."""
    instance = Instance(entry, scratch)
    await instance.start()
    yield instance
    await instance.close()


async def test_data_that_is_being_laid_out_when_nobody_waits_any_more_is_not_in_the_way_of_the_next_start(
    entry: AppEntry, scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid = shutil.copytree
    instance, slow, done = Instance(entry, scratch), threading.Event(), threading.Event()

    def copy(source: Path, target: Path) -> Path:
        if not slow.is_set():
            slow.set()
            time.sleep(0.3)
        copied = laid(source, target)
        done.set()
        return copied

    monkeypatch.setattr("pipeline.app_instance.shutil.copytree", copy)
    starting = asyncio.create_task(instance.start())
    await asyncio.to_thread(slow.wait, 20)
    starting.cancel()
    await asyncio.wait([starting])
    assert starting.cancelled()
    assert done.is_set()

    await instance.start()

    assert instance.alive
    await instance.close()


async def add(instance: Instance, name: str) -> None:
    """Do what a person would do in the application."""
    async with httpx.AsyncClient(trust_env=False) as client:
        (await client.post(f"{instance.base_url}/items", data={"name": name, "price": "1"})).raise_for_status()


async def get(instance: Instance, path: str) -> str:
    async with httpx.AsyncClient(trust_env=False) as client:
        return (await client.get(instance.base_url + path)).text


def check(probe: str, **args: str) -> Check:
    params = [Param(name=name, value=value) for name, value in args.items()]
    return Check(name="c", verifier="equals", probe=probe, args=params)


def operation(kind: str, target: str, content: str) -> SetupOperation:
    return SetupOperation.model_validate({"kind": kind, "app_id": "tiny", "target": target, "content": content})


async def failure(entry: AppEntry, scratch: Scratch) -> SetupError:
    """The error of a start that fails; nothing of it is left running."""
    instance = Instance(entry, scratch)
    with pytest.raises(SetupError) as caught:
        await instance.start()
    assert not instance.alive
    return caught.value


async def test_a_started_application_answers_with_its_rendered_files(tiny: Instance, scratch: Scratch) -> None:
    assert tiny.base_url.startswith("http://127.0.0.1:")
    assert str(scratch.path) in await get(tiny, "/")


async def test_two_instances_share_neither_port_nor_data(tiny: Instance, entry: AppEntry, scratch: Scratch) -> None:
    other = Instance(entry, scratch)
    await other.start()
    await add(tiny, "desk")
    assert other.base_url != tiny.base_url
    assert await tiny.read(check("price", name="desk")) == [["1"]]
    assert await other.read(check("price", name="desk")) == []
    await other.close()
    assert tiny.alive


async def test_eight_instances_at_once_get_eight_ports(entry: AppEntry, scratch: Scratch) -> None:
    instances = [Instance(entry, scratch) for _ in range(8)]
    await asyncio.gather(*(instance.start() for instance in instances))
    assert len({instance.base_url for instance in instances}) == 8
    await asyncio.gather(*(instance.close() for instance in instances))


async def test_a_port_that_is_taken_is_left_to_its_owner(entry: AppEntry, scratch: Scratch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as foreign:
        ports = iter([foreign.getsockname()[1], free_port()])
        instance = Instance(entry, scratch, lambda: next(ports))
        await instance.start()
        assert instance.base_url != f"http://127.0.0.1:{foreign.getsockname()[1]}"
        await instance.close()


async def test_another_instance_on_the_port_is_not_mistaken_for_ours(
    tiny: Instance, entry: AppEntry, scratch: Scratch
) -> None:
    taken = int(tiny.base_url.rpartition(":")[2])
    ports = iter([taken, free_port()])
    instance = Instance(entry, scratch, lambda: next(ports))
    await instance.start()
    assert instance.base_url != tiny.base_url and instance.alive
    await instance.close()


async def test_ports_are_not_tried_for_ever(tiny: Instance, entry: AppEntry, scratch: Scratch) -> None:
    taken = int(tiny.base_url.rpartition(":")[2])
    instance = Instance(entry, scratch, lambda: taken)
    with pytest.raises(SetupError, match="5 ports in a row were taken"):
        await instance.start()


async def test_an_application_that_ends_at_once_is_a_setup_error_with_its_log(
    entry: AppEntry, scratch: Scratch
) -> None:
    error = await failure(entry.model_copy(update={"environment": {"TINY_MODE": "broken"}}), scratch)
    assert error.code == "app_not_ready"
    assert "it ended at once" in error.message and "tiny: no such table of contents" in error.message


async def test_an_application_that_never_answers_is_a_setup_error(entry: AppEntry, scratch: Scratch) -> None:
    ready = entry.ready.model_copy(update={"seconds": 1.0})
    error = await failure(entry.model_copy(update={"environment": {"TINY_MODE": "mute"}, "ready": ready}), scratch)
    assert "after 1 s it never listened" in error.message and "tiny: thinking" in error.message


@pytest.mark.parametrize(
    ("ready", "said"),
    [({"contains": "Giant"}, "'Giant' was not in /"), ({"status": 401}, "it answered 200 to /")],
)
async def test_a_wrong_page_is_not_readiness(
    entry: AppEntry, scratch: Scratch, ready: dict[str, object], said: str
) -> None:
    changed = entry.ready.model_copy(update={"seconds": 1.0, **ready})
    assert said in (await failure(entry.model_copy(update={"ready": changed}), scratch)).message


async def test_a_missing_program_is_a_setup_error(entry: AppEntry, scratch: Scratch) -> None:
    error = await failure(entry.model_copy(update={"start": ["{bin}/nothing"]}), scratch)
    assert error.code == "program_not_started"


async def test_listening_beyond_loopback_is_refused(
    entry: AppEntry, scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_instance, "can_part", lambda: False)
    start = [part.replace("127.0.0.1", "0.0.0.0") for part in entry.start]
    error = await failure(entry.model_copy(update={"start": start}), scratch)
    assert error.code == "not_loopback" and "0.0.0.0:" in error.message


@pytest.mark.parametrize("apart", [pytest.param(True, marks=needs_networks), False])
async def test_an_application_in_a_network_of_its_own_reaches_no_other_server(
    entry: AppEntry, scratch: Scratch, monkeypatch: pytest.MonkeyPatch, apart: bool
) -> None:
    monkeypatch.setattr(app_instance, "can_part", lambda: apart)
    instance = Instance(entry, scratch)
    await instance.start()
    async with second_server() as other:
        said = await get(instance, f"/reach?{other.port}")
        assert (other.connections, said) == ((0, "refused") if apart else (1, "reached"))
    await instance.close()


@needs_networks
async def test_large_answers_and_many_at_once_pass_into_its_network(tiny: Instance) -> None:
    answers = await asyncio.gather(*(get(tiny, "/large") for _ in range(40)))
    assert {len(answer) for answer in answers} == {2_000_000}


async def test_an_instance_that_was_not_started_has_no_address(entry: AppEntry, scratch: Scratch) -> None:
    instance = Instance(entry, scratch)
    with pytest.raises(SetupError, match="has not been started"):
        _ = instance.base_url
    await instance.close()


async def test_changes_are_told_since_the_mark_without_bookkeeping(tiny: Instance) -> None:
    await add(tiny, "desk")
    tiny.mark()
    assert tiny.changes() == []
    await add(tiny, "sofa")
    assert tiny.changes() == [["items/4", "added"]]


@pytest.mark.parametrize("mode", ["in_place", "restart"])
async def test_a_reset_brings_the_template_back(entry: AppEntry, scratch: Scratch, mode: str) -> None:
    instance = Instance(entry.model_copy(update={"reset": mode}), scratch)
    await instance.start()
    instance.mark()
    before = instance.base_url
    await add(instance, "desk")
    await instance.apply([operation("write", "uploads/a.txt", "a"), operation("append", "notes.txt", "c\n")])
    assert len(instance.changes()) == 3

    await instance.reset()

    assert instance.changes() == []
    assert "desk" not in await get(instance, "/items")
    assert (instance.base_url == before) == (mode == "in_place")
    await instance.close()


async def test_a_reset_of_an_untouched_application_does_nothing(
    tiny: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_instance, "restore", None)
    before = tiny.base_url
    await tiny.reset()
    assert tiny.base_url == before


async def test_a_second_port_is_another_one(entry: AppEntry, scratch: Scratch) -> None:
    ports = [free_port(), free_port()]
    instance = Instance(entry.model_copy(update={"start": [*entry.start, "{port2}"]}), scratch, iter(ports).__next__)

    await instance.start()

    assert instance.base_url.endswith(f":{ports[0]}")
    assert instance._process is not None and str(instance._process.args).endswith(f"'{ports[1]}']")
    await instance.close()


async def test_a_reset_revives_an_application_that_died(tiny: Instance) -> None:
    with pytest.raises(httpx.HTTPError):
        await get(tiny, "/die")
    assert tiny._process is not None
    tiny._process.wait(timeout=5)
    before = tiny.alive
    await tiny.reset()
    assert (before, tiny.alive) == (False, True)
    assert "lamp" in await get(tiny, "/items")


async def test_a_reset_in_place_that_does_not_take_becomes_a_restart(
    tiny: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_instance, "restore", lambda *_: None)
    before = tiny.base_url
    await add(tiny, "desk")
    await tiny.reset()
    assert tiny.base_url != before
    assert "desk" not in await get(tiny, "/items")


async def test_a_reset_that_cannot_be_proved_is_a_setup_error(entry: AppEntry, scratch: Scratch) -> None:
    instance = Instance(
        entry.model_copy(update={"environment": {"TINY_MODE": "counting"}, "reset": "restart"}), scratch
    )
    # The environment is part of the template's identity: make the template before the mode writes at every start.
    await instance.start()
    with pytest.raises(SetupError, match=r"after a reset the state differs: \[\['log/1', 'added'\]\]") as caught:
        await instance.reset()
    assert caught.value.code == "reset_failed"
    await instance.close()


async def test_set_up_reaches_files_database_and_http(tiny: Instance) -> None:
    tiny.mark()
    await tiny.apply(
        [
            operation("sqlite", "tiny.db", "UPDATE items SET price = 9 WHERE name = 'lamp'"),
            operation("http", "POST /items", "name=sofa&price=7"),
            operation("http", "POST /items", '{"name": "rug", "price": 8}'),
        ]
    )
    assert tiny.changes() == [["items/1", "changed"], ["items/3", "added"], ["items/4", "added"]]
    assert "rug" in await get(tiny, "/items")


@pytest.mark.parametrize(
    "wrong",
    [
        operation("sqlite", "tiny.db", "UPDATE absent SET x = 1"),
        operation("write", "../../x", ""),
        operation("http", "POST /items", "price=7"),
        operation("http", "PUT /items", ""),
    ],
)
async def test_a_set_up_that_fails_is_a_setup_error(tiny: Instance, wrong: SetupOperation) -> None:
    with pytest.raises(SetupError) as caught:
        await tiny.apply([wrong])
    assert caught.value.code == "setup_failed"


async def test_every_kind_of_probe_is_read(tiny: Instance) -> None:
    async def page_eval(script: str) -> object:
        return [["found", script]]

    assert await tiny.read(check("price", name="lamp")) == [["12.5"]]
    assert await tiny.read(check("api")) == [["lamp", "12.5", "a,lamp"], ["chair", "40", "a,chair"]]
    assert await tiny.read(check("dear", price="40")) == [["chair"]]
    assert await tiny.read(check("line", text="b")) == [["b"]]
    assert await tiny.read(check("page", what="x"), page_eval) == [["found", 'find("x")']]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (check("absent"), "unknown_probe"),
        (check("price"), "unreadable"),
        (check("remove"), "unreadable"),
        (check("nowhere"), "unreadable"),
        (check("outside", name="worker.log"), "unreadable"),
        (check("page", what="x"), "unreadable"),
    ],
)
async def test_what_cannot_be_read_is_a_probe_error(tiny: Instance, asked: Check, code: str) -> None:
    with pytest.raises(ProbeError) as caught:
        await tiny.read(asked)
    assert caught.value.code == code
    assert "lamp" in await get(tiny, "/items")


async def test_a_probe_of_a_hung_page_is_ended(tiny: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    async def page_eval(_: str) -> object:
        return await asyncio.Event().wait()

    monkeypatch.setattr(app_instance, "_READ_SECONDS", 0.1)
    with pytest.raises(ProbeError, match="TimeoutError"):
        await tiny.read(check("page", what="x"), page_eval)


async def test_an_http_probe_of_a_dead_application_is_a_probe_error(entry: AppEntry, scratch: Scratch) -> None:
    instance = Instance(entry, scratch)
    with pytest.raises(ProbeError, match="does not run"):
        await instance.read(check("api"))


async def test_a_state_that_cannot_be_read_is_a_probe_error(tiny: Instance, scratch: Scratch) -> None:
    tiny.mark()
    database = max(scratch.path.glob("tiny-*/tiny.db"))
    database.write_bytes(b"not a database at all, but long enough to look like one" * 40)
    with pytest.raises(ProbeError) as caught:
        tiny.changes()
    assert caught.value.code == "unreadable"


async def test_close_leaves_no_process_and_no_data(entry: AppEntry, scratch: Scratch) -> None:
    instance = Instance(entry, scratch)
    await instance.start()
    address = instance.base_url
    data = set(scratch.path.glob("tiny-*/"))
    await instance.close()
    await instance.close()
    assert not instance.alive
    assert len(data - set(scratch.path.glob("tiny-*/"))) == 1
    with pytest.raises(httpx.ConnectError):
        async with httpx.AsyncClient(trust_env=False) as client:
            await client.get(address)


async def test_a_full_template_copy_that_fails_is_a_setup_error(
    entry: AppEntry, scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copytree", full)
    assert "No space left on device" in (await failure(entry, scratch)).message
