"""Exploring the application in memory: what is found, budgets, order, evidence."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from catalogs.explore import Budget, Explored, Line, explore, is_navigation
from catalogs.store import capability, load_catalog
from catalogs.subject import Subject
from pipeline.envs.fake import FakeEnvironment, Faults
from pipeline.structs import EnvironmentInfo
from pipeline.tasks import Capability, TaskSpec

TODO = Subject("fake-todo")
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ALL = Budget(seconds=60, states=20, edges=100)
SEARCHED = {
    "fake-todo.found.add": "create",
    "fake-todo.found.clear-done": "delete",
    "fake-todo.found.done": "edit",
    "fake-todo.found.a-record-save": "edit",
    "fake-todo.found.a-record-delete-yes-delete": "delete",
    "fake-todo.found.open-statistics": "none",
    "fake-todo.found.open-help": "none",
}


async def explored(known: list[Capability] | None = None, budget: Budget = ALL, **more: Any) -> Explored:
    environment = FakeEnvironment(more.pop("faults", None))
    return await explore(TODO, [environment], known or [], budget, clock=lambda: NOON, **more)


async def test_an_application_without_a_catalog_gets_one() -> None:
    result = await explored()

    assert {row.capability_id: row.consequence for row in result.capabilities} == SEARCHED
    assert {row.status for row in result.capabilities} == {"confirmed"}
    assert all(line.found for line in result.report.lines)


async def test_what_is_found_holds_when_it_is_tried_as_known() -> None:
    found = await explored()

    again = await explored(found.capabilities, Budget(60, 0, 0))

    assert {line.status for line in again.report.lines} == {"confirmed"} and len(again.report.lines) == len(SEARCHED)


async def test_navigation_is_at_most_a_third() -> None:
    result = await explored(list(load_catalog("fake-todo")))

    navigation = [line for line in result.report.lines if line.navigation]
    assert 0 < len(navigation) <= len(result.report.lines) / 3


async def test_several_environments_share_what_is_known_and_keep_its_order() -> None:
    known = list(load_catalog("fake-todo"))
    tried: list[list[str]] = [[], []]

    class Counted(FakeEnvironment):
        def __init__(self, names: list[str]) -> None:
            super().__init__()
            self._names = names

        async def start(self, task: TaskSpec) -> EnvironmentInfo:
            self._names.append(task.task_id)
            await asyncio.sleep(0)
            return await super().start(task)

    result = await explore(TODO, [Counted(names) for names in tried], known, Budget(60, 0, 0), clock=lambda: NOON)

    assert [row.capability_id for row in result.capabilities] == [row.capability_id for row in known]
    assert all(tried) and not set(tried[0]) & set(tried[1])


async def test_finds_that_known_capabilities_cover_are_merged() -> None:
    result = await explored(list(load_catalog("fake-todo")))

    assert not [row for row in result.capabilities if ".found." in row.capability_id and row.consequence != "none"]
    assert "6 finds are what known capabilities do" in result.report.notes


async def test_rows_carry_time_round_and_the_edge_that_shows_them() -> None:
    result = await explored([capability("fake-todo.add")], round_=3)

    ends = {f"explored:{row.from_signature}>{row.to_signature}" for row in result.transitions}
    assert {row.updated_at for row in result.capabilities} == {NOON}
    assert {row.round for row in result.capabilities} == {row.round for row in result.transitions} == {3}
    assert all(row.evidence[-1].source in ends for row in result.capabilities)


async def test_a_later_exploration_replaces_the_evidence_of_the_one_before() -> None:
    first = await explored([capability("fake-todo.add")], Budget(60, 0, 0))

    second = await explored(first.capabilities, Budget(60, 0, 0))

    assert len(second.capabilities[0].evidence) == 1 and second.capabilities[0].success_count == 2


async def test_edges_name_frames_and_trees_that_are_there() -> None:
    result = await explored()

    frames = {frame.sha256 for frame in result.frames}
    named = {sha256 for row in result.transitions for sha256 in (row.frame_before, row.frame_after)}
    assert named == frames and result.trees
    assert result.report.edges == len(result.transitions)


async def test_the_same_seed_gives_the_same_rows() -> None:
    first, second = await explored(seed=5), await explored(seed=5)

    assert first.capabilities == second.capabilities and first.transitions == second.transitions


async def test_another_seed_chooses_other_values() -> None:
    values = {str([slot.values for slot in (await explored(seed=seed)).capabilities[0].slots]) for seed in range(4)}

    assert len(values) > 1


async def test_no_more_is_tried_than_the_budget_allows() -> None:
    result = await explored(budget=Budget(60, 20, 2))

    assert result.report.notes[0].startswith("stopped by edges")
    assert len(result.report.lines) <= 2


async def test_no_more_screens_are_gone_on_from_than_the_budget_allows() -> None:
    result = await explored(budget=Budget(60, 1, 100))

    assert "fake-todo.found.a-record-save" not in {row.capability_id for row in result.capabilities}
    assert "stopped by states, 3 screens were not gone on from" in result.report.notes


async def test_without_time_nothing_is_tried_and_nothing_changes() -> None:
    known = list(load_catalog("fake-todo"))

    result = await explored(known, Budget(0, 20, 100))

    assert result.capabilities == known and not result.transitions
    assert {line.reason for line in result.report.lines} == {"not tried: out of time"}


async def test_what_is_not_confirmed_is_tried_first() -> None:
    rows = [row.model_copy(update={"status": "confirmed"}) for row in load_catalog("fake-todo")]
    rows[-1] = rows[-1].model_copy(update={"status": "outdated"})
    heard: list[Line] = []

    await explored(rows, Budget(60, 0, 0), tell=heard.append)

    assert [line.capability_id for line in heard] == [rows[-1].capability_id, *(r.capability_id for r in rows[:-1])]


async def test_an_environment_that_breaks_ends_the_search_not_the_report() -> None:
    result = await explored(faults=Faults(crash_at=2))

    assert result.report.notes[:1] == ["the search broke off: env/crashed: step 2 breaks on command"]


def gone() -> Capability:
    row = capability("fake-todo.complete").model_dump()
    row["procedure"] = [{"action": "Click", "role": "button", "name": "Snooze until tomorrow"}]
    return Capability.model_validate(row)


async def test_what_is_nowhere_is_unsupported() -> None:
    result = await explored([gone()])

    assert result.capabilities[0].status == "unsupported"
    assert result.report.lines[0].reason.endswith("nor on any other screen")


async def test_more_is_looked_for_only_where_something_broke_if_so_wanted() -> None:
    budget = ALL._replace(only_for_broken=True)

    whole, broken = await explored([capability("fake-todo.add")], budget), await explored([gone()], budget)

    assert [line.found for line in whole.report.lines] == [False]
    assert broken.capabilities[0].status == "unsupported"


def test_opening_a_page_is_navigation_reading_it_is_not() -> None:
    steps = [{"action": "Click", "role": "link", "name": "Statistics"}]
    opening = Capability.model_validate({**capability("fake-todo.count-by-priority").model_dump(), "procedure": steps})

    assert is_navigation(opening)
    assert not is_navigation(capability("fake-todo.count-by-priority"))
    assert not is_navigation(capability("fake-todo.complete"))
