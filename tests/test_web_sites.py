"""Applications behind a web environment: prepared when needed, asked once, never believed to be there."""

from collections.abc import Sequence

import pytest

from pipeline.apps import Instance
from pipeline.envs.web_sites import PageEval, Site, Sites, StaticSite
from pipeline.errors import ConfigError, EnvError, ProbeError, SetupError
from pipeline.structs import Param
from pipeline.tasks import Check, SetupOperation, TaskSpec
from tests.webworld import task_at


class FakeSite:
    """Notes what is asked of it; its probe `n` counts how often it is read."""

    def __init__(self, app_id: str) -> None:
        self.app_id = app_id
        self.base_url = f"http://127.0.0.1:{len(app_id)}"
        self.alive = True
        self.calls: list[str] = []
        self.broken = False

    async def start(self) -> None:
        self.calls.append("start")

    async def reset(self) -> None:
        self.calls.append("reset")

    async def apply(self, operations: Sequence[SetupOperation]) -> None:
        self.calls.append(f"apply {[operation.content for operation in operations]}")

    async def read(self, check: Check, page_eval: PageEval | None = None) -> list[list[str]]:
        if self.broken:
            raise ZeroDivisionError("broken")
        self.calls.append(f"read {check.call}")
        return [[check.call, str(await page_eval("1 + 1")) if page_eval else ""]]

    def mark(self) -> None:
        self.calls.append("mark")

    def changes(self) -> list[list[str]]:
        if self.broken:
            raise ZeroDivisionError("broken")
        return [["note/1", "added"]]

    async def close(self) -> None:
        self.calls.append("close")


def task(**fields: object) -> TaskSpec:
    return task_at().model_copy(update=fields)


def check(probe: str, app_id: str | None = None, **args: str) -> Check:
    params = [Param(name=name, value=value) for name, value in args.items()]
    return Check(name=probe, verifier="equals", probe=probe, app_id=app_id, args=params)


async def evaluate(script: str) -> object:
    return len(script)


class Shelf:
    """Provides fake sites and keeps them."""

    def __init__(self) -> None:
        self.made: dict[str, FakeSite] = {}

    def __call__(self, app_id: str) -> Site:
        if app_id == "unknown":
            raise ConfigError("apps: unknown application 'unknown'")
        self.made[app_id] = FakeSite(app_id)
        return self.made[app_id]


async def test_an_application_is_started_once_and_reset_for_every_episode() -> None:
    shelf = Shelf()
    sites = Sites(shelf)
    operation = SetupOperation(kind="write", app_id="site", target="x", content="for site")
    other = SetupOperation(kind="write", app_id="mail", target="x", content="for mail")
    await sites.prepare(task(setup=[operation, other]))
    await sites.prepare(task())
    assert list(shelf.made) == ["site"]
    assert shelf.made["site"].calls == ["start", "reset", "apply ['for site']", "reset", "apply []"]


async def test_every_application_of_a_task_is_prepared_and_its_address_known() -> None:
    shelf = Shelf()
    sites = Sites(shelf)
    await sites.prepare(task(app_ids=["mail", "site"]))
    assert sites.addresses() == ["127.0.0.1:4", "127.0.0.1:4"]
    assert sites.url("mail", "/inbox") == "http://127.0.0.1:4/inbox"


async def test_each_distinct_question_is_asked_once_and_reserved_ones_never() -> None:
    shelf = Shelf()
    sites = Sites(shelf)
    await sites.prepare(task(app_ids=["site", "mail"]))
    checks = [check("n"), check("n"), check("n", id="1"), check("n", "mail"), check("answer"), check("tree")]
    reads = await sites.read(checks, 3, evaluate)
    assert [(read.app_id, read.probe, read.value) for read in reads] == [
        ("site", "n", [["n", "5"]]),
        ("site", "n(id=1)", [["n(id=1)", "5"]]),
        ("mail", "n", [["n", "5"]]),
        ("site", "changes", [["note/1", "added"]]),
        ("mail", "changes", [["note/1", "added"]]),
    ]
    assert {read.observation_index for read in reads} == {3}


async def test_a_question_that_fails_is_an_error_in_its_row() -> None:
    shelf = Shelf()
    sites = Sites(shelf)
    await sites.prepare(task())
    shelf.made["site"].broken = True
    reads = await sites.read([check("n"), check("n", "nowhere")], 0, None)
    assert [(read.probe, read.value) for read in reads] == [("n", None), ("n", None), ("changes", None)]
    assert all(read.error for read in reads)
    assert "ZeroDivisionError" in str(reads[0].error)


async def test_an_application_that_has_ended_is_noticed() -> None:
    shelf = Shelf()
    sites = Sites(shelf)
    await sites.prepare(task())
    sites.check()
    shelf.made["site"].alive = False
    with pytest.raises(EnvError, match="site has ended"):
        sites.check()


async def test_the_state_is_marked_when_the_episode_begins() -> None:
    shelf = Shelf()
    sites = Sites(shelf)
    await sites.prepare(task())
    await sites.mark()
    assert shelf.made["site"].calls[-1] == "mark"


async def test_an_application_that_does_not_start_is_tried_anew_next_time() -> None:
    shelf = Shelf()
    tries = []

    def provide(app_id: str) -> Site:
        tries.append(app_id)
        site = shelf(app_id)
        if len(tries) == 1:
            site.start = broken  # type: ignore[method-assign]
        return site

    async def broken() -> None:
        raise SetupError("app_not_ready", "no")

    sites = Sites(provide)
    with pytest.raises(SetupError):
        await sites.prepare(task())
    await sites.prepare(task())
    assert tries == ["site", "site"]
    await sites.close()
    assert shelf.made["site"].calls[-1] == "close"


async def test_an_unknown_application_is_an_error_of_the_configuration() -> None:
    with pytest.raises(ConfigError):
        await Sites(Shelf()).prepare(task(app_ids=["unknown"]))


async def test_plain_pages_are_a_site_without_state() -> None:
    site: Site = StaticSite("http://127.0.0.1:9")
    await site.start()
    await site.reset()
    await site.apply([])
    site.mark()
    assert site.changes() == []
    with pytest.raises(ProbeError):
        await site.read(check("n"))
    await site.close()


def test_a_real_application_is_a_site() -> None:
    kind: type[Site] = Instance
    assert kind


async def test_an_address_belongs_to_the_application_that_serves_it() -> None:
    sites = Sites(FakeSite)
    await sites.prepare(task_at().model_copy(update={"app_ids": ["site", "s"]}))

    served = {
        "http://127.0.0.1:4": "site",
        "http://127.0.0.1:4/a?b#c": "site",
        "http://127.0.0.1:1/": "s",
        "http://127.0.0.1:41/": None,
        "http://127.0.0.1:4@evil.example/": None,
        "data:text/html,http://127.0.0.1:4/": None,
        "about:blank": None,
    }

    assert {url: sites.app_at(url) for url in served} == served
