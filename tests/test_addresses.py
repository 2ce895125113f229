"""Addresses that a page may name: read, or none, and never an error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.actions import Launch
from pipeline.addresses import joined, parts_of
from pipeline.allowlist import AllowList
from pipeline.envs.web_actions import full_address
from pipeline.envs.web_walls import Source, wall_of
from pipeline.llm.endpoint import Endpoint
from pipeline.protocols import Observation
from pipeline.safety.reading import read

NONSENSE = (
    "http://[",
    "//[",
    "http://[x]/",
    "http://a\u2100b/",
    "http://host:99999/delete",
    "http://host:x/delete",
    "wss://]/",
)
"""What Python's own reader does not take."""
SEEN = Observation(frame=None, tree=None, location="http://127.0.0.1/", title="", seconds=0.0)


@pytest.mark.parametrize("address", NONSENSE)
def test_what_cannot_be_read_is_an_address_without_parts(address: str) -> None:
    assert set(parts_of(address)) == {""}


@pytest.mark.parametrize("address", NONSENSE)
def test_it_leads_nowhere(address: str) -> None:
    assert not AllowList(["host", "[::1]", "x"]).permits_url(full_address(address, "http://host/"))


@pytest.mark.parametrize("address", NONSENSE)
def test_it_shows_no_wall_and_brings_nothing_about(address: str) -> None:
    assert wall_of([], "", address, [Source(address, shown=True)]) is None
    assert read(SEEN, Launch(url=address), None, "web") == []


@pytest.mark.parametrize("address", NONSENSE)
def test_no_model_is_served_there(address: str) -> None:
    with pytest.raises(ValueError, match="must be an http or https address"):
        Endpoint(base_url=address, model="m")


@given(st.text(), st.text())
def test_no_text_is_an_error(base: str, address: str) -> None:
    whole = joined(f"http://{base}", f"//{address}")

    assert parts_of(whole).port != -1
    assert parts_of(f"http://{address}").hostname != ""


def test_what_can_be_read_has_its_parts() -> None:
    assert parts_of("http://[::1]:80/a?b=c#d")[:4] == ("http", "[::1]:80", "/a", "b=c")
    assert joined("http://host/a/b", "../c") == "http://host/c"
