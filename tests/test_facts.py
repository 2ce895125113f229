"""What exists now: read from applications that run, each started once, or through an environment."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from pipeline.app_entry import AppEntry
from pipeline.app_instance import Instance
from pipeline.envs.fake import FakeEnvironment, Faults
from pipeline.errors import ProbeError, SetupError
from pipeline.protocols import Facts
from pipeline.reaper import Scratch
from taskspecs.facts import EnvironmentFacts, LiveFacts
from tests.tinyapp import make_entry


@pytest.fixture(scope="module", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATHPROOF_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module")
def entry(tmp_path_factory: pytest.TempPathFactory) -> AppEntry:
    return make_entry(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scratch]:
    with Scratch("facts", tmp_path_factory.mktemp("scratch")) as made:
        yield made


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of applications, whenever one is started."""
    names: list[str] = []
    start = Instance.start

    async def counted(instance: Instance) -> None:
        names.append(instance.entry.app_id)
        await start(instance)

    monkeypatch.setattr(Instance, "start", counted)
    return names


@pytest.fixture
async def live(entry: AppEntry, scratch: Scratch) -> AsyncIterator[LiveFacts]:
    facts = LiveFacts(scratch, {"tiny": entry})
    yield facts
    await facts.close()


async def test_an_application_is_started_when_it_is_asked_and_only_once(live: LiveFacts, started: list[str]) -> None:
    assert started == []

    assert await live.read("tiny", "price", {"name": "lamp"}) == [["12.5"]]
    assert await live.read("tiny", "api", {}) == [["lamp", "12.5", "a,lamp"], ["chair", "40", "a,chair"]]
    assert started == ["tiny"]


async def test_one_that_does_not_start_is_not_tried_again(
    entry: AppEntry, scratch: Scratch, started: list[str]
) -> None:
    broken = entry.model_copy(update={"environment": {"TINY_MODE": "broken"}})
    facts = LiveFacts(scratch, {"tiny": broken})

    for _ in range(2):
        with pytest.raises(SetupError, match="did not start"):
            await facts.read("tiny", "price", {"name": "lamp"})
    assert started == ["tiny"]


@pytest.mark.parametrize("probe", ["page", "unheard_of"])
async def test_what_cannot_be_read_is_an_error(live: LiveFacts, probe: str) -> None:
    with pytest.raises(ProbeError):
        await live.read("tiny", probe, {"what": "x"})


async def test_an_environment_tells_what_its_application_holds() -> None:
    facts: Facts = EnvironmentFacts(FakeEnvironment())

    assert ["Pay the rent"] in await facts.read("fake-todo", "todos", {})
    assert await facts.read("fake-todo", "todo", {"title": "Pay the rent"}) == [["high", "open", ""]]


async def test_a_probe_that_an_environment_cannot_read_is_an_error() -> None:
    facts = EnvironmentFacts(FakeEnvironment(Faults(failing_probe=True)))

    with pytest.raises(ProbeError, match="could not be read"):
        await facts.read("fake-todo", "todos", {})
