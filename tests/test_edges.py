"""The edges an exploration walked, and the evidence they are."""

from __future__ import annotations

from catalogs.confirming import Confirmer
from catalogs.edges import EXPLORED, Edges, closings, evidence_of
from catalogs.store import capability
from catalogs.subject import Subject
from pipeline.envs.fake import FakeEnvironment
from pipeline.records import Record


async def record(name: str) -> Record:
    """What a run of a capability of the fake application leaves."""
    confirmer = Confirmer(FakeEnvironment(), Subject("fake-todo"))
    return (await confirmer.attempt(capability(f"fake-todo.{name}"), 20)).record


async def test_every_action_but_the_last_word_is_an_edge() -> None:
    edges = Edges("fake-todo", 2)

    edges.add_record(await record("delete"), "fake-todo.delete")

    assert [row.action.type for row in edges.transitions] == ["Click"] * 4
    assert {row.capability_id for row in edges.transitions} == {"fake-todo.delete"}
    assert {row.round for row in edges.transitions} == {2}
    assert len(edges.states) == 3 and len(edges.frames) == 4


async def test_an_edge_that_is_there_is_not_kept_twice() -> None:
    edges = Edges("fake-todo", 0)

    for _ in range(2):
        edges.add_record(await record("delete"), "fake-todo.delete")

    assert len(edges.transitions) == 4


async def test_the_last_edge_is_the_evidence() -> None:
    edges, found = Edges("fake-todo", 0), await record("delete")
    edges.add_record(found, "fake-todo.delete")

    last, evidence = edges.transitions[-1], evidence_of(found)

    assert evidence.source == f"{EXPLORED}{last.from_signature}>{last.to_signature}"
    assert evidence.quote_sha256 == last.frame_after


async def test_the_first_edge_to_a_screen_shows_that_it_is_there() -> None:
    edges = Edges("fake-todo", 0)
    edges.add_record(await record("count-by-priority"), "fake-todo.count-by-priority")
    target = edges.ends(await record("count-by-priority")).pop()

    evidence = edges.evidence_for(target)

    assert evidence is not None and evidence.source.endswith(f">{target}")
    assert edges.evidence_for("no such screen") is None


async def test_what_was_pressed_last_tells_capabilities_apart() -> None:
    assert closings(await record("delete")) == {("/todo/{}/delete", "button", "Yes, delete")}
    assert closings(await record("complete")) == {("/", "checkbox", "Done:")}


async def test_a_run_without_actions_shows_nothing() -> None:
    empty = (await record("delete")).model_copy(update={"steps": []})

    assert closings(empty) == set() and evidence_of(empty).source == f"{EXPLORED}>"
