"""What an endpoint can do, asked at the start."""

from __future__ import annotations

import pytest

from pipeline.errors import ConfigError, RunError
from pipeline.llm import Abilities, Endpoint, demand, probe
from pipeline.records import ModelCall
from pipeline.scripted_endpoint import ScriptedEndpoint
from tests.endpoints import QUICK, endpoint_of, limiter_of, says, serving

SERVED = [{"id": "scripted", "max_model_len": 4096}, {"id": "other"}]


async def probed(server: ScriptedEndpoint, ledger: list[ModelCall] | None = None, images: int = 2) -> Abilities:
    endpoint = endpoint_of(server)
    return await probe(endpoint, limiter_of(endpoint), [] if ledger is None else ledger, images, QUICK)


async def test_an_able_endpoint() -> None:
    ledger: list[ModelCall] = []
    with serving(models=SERVED) as server:
        found = await probed(server, ledger, images=3)

    assert found == Abilities(models=("other", "scripted"), images=3, schema=True, context=4096)
    assert [(row.stage, row.status, row.images) for row in ledger] == [
        ("probe", "answered", 3),
        ("probe", "answered", 0),
    ]


@pytest.mark.parametrize(("limit", "found"), [(0, 0), (1, 1), (2, 1), (3, 3)])
async def test_the_largest_number_of_pictures_that_is_taken(limit: int, found: int) -> None:
    with serving(images=limit) as server:
        assert (await probed(server, images=3)).images == found


async def test_a_server_without_schemas() -> None:
    with serving(schemas=False) as server:
        assert (await probed(server)).schema is False


async def test_a_model_that_is_not_served_is_known_after_one_request() -> None:
    with serving(models=[{"id": "one"}]) as server:
        found = await probed(server)

    assert found.models == ("one",)
    assert [request.path for request in server.requests] == ["/v1/models"]


async def test_a_wrong_key_stops_at_the_first_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
    with serving(key="right") as server, pytest.raises(RunError, match="OPENAI_API_KEY") as caught:
        await probed(server)

    assert "sk-wrong" not in str(caught.value)
    assert len(server.requests) == 1


async def test_an_endpoint_that_is_not_there_stops_the_run() -> None:
    with serving(says()) as server:
        pass
    with pytest.raises(RunError, match=f"the endpoint does not work: {server.base_url}"):
        await probed(server)


ENDPOINT = Endpoint(base_url="http://127.0.0.1:1/v1", model="mine")


@pytest.mark.parametrize(
    ("abilities", "images", "context", "said"),
    [
        (Abilities(("a", "b"), 2, True, None), 1, 0, r"model\.name: 'mine' is not served at .*; served: a, b"),
        (Abilities(("mine",), 1, True, None), 3, 0, r"model\.images: .* takes 1 pictures per request, 3 are wanted"),
        (Abilities((), 0, True, 4096), 0, 5000, r"model\.name: 'mine' has a context of 4096 tokens, 5000 are needed"),
    ],
)
def test_what_is_lacking_is_said_in_one_line(abilities: Abilities, images: int, context: int, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        demand(ENDPOINT, abilities, images, context)

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("abilities", [Abilities(("mine",), 3, False, 5000), Abilities((), 3, False, None)])
def test_what_suffices_passes(abilities: Abilities) -> None:
    with pytest.raises(ConfigError):
        demand(ENDPOINT, abilities, images=4, context=5000)

    demand(ENDPOINT, abilities, images=3, context=5000)
