"""The environment that stands still, and records that are put back or disturbed."""

from __future__ import annotations

from pipeline.actions import Click, Finished
from pipeline.envs.fake import Faults
from pipeline.policies.scripted import ScriptedPolicy
from pipeline.protocols import Environment
from pipeline.records import Record
from taskspecs.frozen import UNHEARD_OF, FrozenEnvironment, Stills, disturbed, stills_of, undone
from tests.episodes import fake_task, on_screen, play
from verifiers.contract import changed_rows, rows_at_end, side_effects, state_of

TASK = fake_task("Add a to-do")
(ADDED,) = TASK.checks


async def followed() -> tuple[Record, Stills]:
    """The oracle's record and what it left."""
    record = await play(ScriptedPolicy("oracle", TASK), TASK)
    stills = stills_of(record)
    assert stills is not None
    return record, stills


async def test_it_shows_the_first_screen_whatever_is_done() -> None:
    live, stills = await followed()
    environment: Environment = FrozenEnvironment(stills)

    record = await play([Click(point=await on_screen("Help", "link")), Finished()], TASK, environment)

    assert [step.status for step in record.steps] == ["ok", "ok"]
    assert {row.tree_sha256 for row in record.observations} == {live.observations[0].tree_sha256}
    assert record.events == [] and record.steps[0].target is None
    await environment.close()


async def test_its_state_is_the_untouched_one_unless_it_was_written() -> None:
    _, stills = await followed()

    untouched = await play([Finished()], TASK, FrozenEnvironment(stills))
    written = await play([Finished()], TASK, FrozenEnvironment(stills, written=True))

    assert [state_of(ADDED, rows_at_end(ADDED, one)) for one in (untouched, written)] == ["failed", "passed"]
    assert [changed_rows(TASK, one) for one in (untouched, written)] == [[], [["todo/11", "added"]]]


async def test_it_begins_again_at_every_start() -> None:
    _, stills = await followed()
    environment = FrozenEnvironment(stills, written=True)

    first, second = [await play([Finished()], TASK, environment) for _ in range(2)]

    assert [read.value for read in first.probe_reads] == [read.value for read in second.probe_reads]


async def test_an_episode_that_never_saw_a_screen_leaves_nothing() -> None:
    assert stills_of(await play([Finished()], TASK, faults=Faults(failing_starts=1))) is None


async def test_a_failed_picture_stays_a_failed_picture() -> None:
    stills = stills_of(await play([Finished()], TASK, faults=Faults(failing_looks=[0])))

    assert stills is not None
    assert (stills.screen.frame, stills.screen.capture_error) == (None, "timeout")


async def test_what_is_undone_reads_as_at_the_start_and_the_rest_stays() -> None:
    record, stills = await followed()

    back = undone(record, stills, [ADDED])

    assert rows_at_end(ADDED, record) == [["high", "open", ""]]
    assert rows_at_end(ADDED, back) == []
    assert changed_rows(TASK, back) == [["todo/11", "added"]]


async def test_a_disturbed_record_has_one_change_more() -> None:
    record, _ = await followed()

    assert side_effects(TASK, record) == []
    assert side_effects(TASK, disturbed(record)) == [UNHEARD_OF]
