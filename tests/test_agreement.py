"""Rows that do not fit each other are found, each kind alone, and what is allowed to differ is left in peace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.actions import Finished, Model, Point
from pipeline.agreement import CONTRADICTIONS, KEYS, PLACES, REFERENCES
from pipeline.check import Finding, check
from pipeline.compact import compact
from pipeline.grounding import Grounding, GroundingTarget
from pipeline.manifest import Assigned
from pipeline.puzzle_rows import PuzzleMove, PuzzleRow
from pipeline.records import Record, RunRow, Transition, Vote, now
from pipeline.schema import TABLES
from pipeline.sinks import Batch, Committer, PartWriter
from pipeline.storage import Storage
from pipeline.structs import Box, Param
from tests.datasets import RUN, TASK, attempt, begin, collected, faulty, judging, put, verdict
from tests.records import check as contract_check
from tests.records import task as one_task
from tests.rounds import capability

MADE = attempt("t1")


def test_every_table_with_identities_has_a_key_of_its_columns() -> None:
    assert set(TABLES) - set(KEYS) == {"events", "frames", "transitions", "trees"}
    for table, key in KEYS.items():
        assert set(key) <= {"run_id", *TABLES[table].model_fields}


def test_references_are_sorted_and_name_real_columns() -> None:
    assert list(REFERENCES) == sorted(REFERENCES)
    for reference in REFERENCES:
        column = reference.column.removeprefix("unnest(").removesuffix(")")
        assert column in TABLES[reference.table].model_fields
        assert reference.key in TABLES[reference.home].model_fields


def test_every_column_that_names_a_row_elsewhere_is_a_reference() -> None:
    homes = {"attempt_id", "pass_id", "frame_sha256", "frame_sha256s", "tree_sha256", "prefix_attempt_id"}
    named = {(reference.table, reference.column.removeprefix("unnest(").rstrip(")")) for reference in REFERENCES}

    columns = {(table, column) for table, kind in TABLES.items() for column in homes & set(kind.model_fields)}

    assert columns - named == {("attempts", "attempt_id"), ("passes", "pass_id")}


def test_places_and_contradictions_are_sorted_by_table() -> None:
    assert [rule.table for rule in PLACES] == sorted(rule.table for rule in PLACES)
    assert [rule[:3] for rule in CONTRADICTIONS] == sorted(rule[:3] for rule in CONTRADICTIONS)


def found(folder: Path, records: Sequence[Record], rows: Sequence[Model] = ()) -> list[tuple[str, str, str]]:
    """What is wrong with a dataset of these rows, up to the first colon of the detail."""
    findings = check(collected(folder, records, [judging(), *rows]))
    return [(finding.kind, finding.path, finding.detail.partition(":")[0]) for finding in findings]


# --- references ------------------------------------------------------------------------------------------------------

RUN_ROW = RunRow(started_at=now(), config=[], commit=None, versions=[], prompt_sha256s=["gone"])
EDGE = Transition(
    app_id="demo",
    round=0,
    from_signature="a",
    to_signature="b",
    action=Finished(),
    frame_before=None,
    frame_after=None,
    capability_id=None,
)
VOTE = Vote(
    pass_id="pass-1",
    target="step",
    attempt_id="t1-1",
    step_index=0,
    judge="j",
    judge_kind="model",
    family="f",
    status="graded",
    grade="correct",
    reason="",
)


@pytest.mark.parametrize(
    ("row", "table", "column"),
    [
        (MADE.model_calls[0].model_copy(update={"call_id": "c", "pass_id": "gone"}), "model_calls", "pass_id"),
        (EDGE.model_copy(update={"frame_before": "gone"}), "transitions", "frame_before"),
        (EDGE.model_copy(update={"frame_after": "gone"}), "transitions", "frame_after"),
        (EDGE.model_copy(update={"capability_id": "gone"}), "transitions", "capability_id"),
        (VOTE.model_copy(update={"prompt_sha256": "gone"}), "votes", "prompt_sha256"),
        (VOTE.model_copy(update={"frame_sha256s": ["gone"]}), "votes", "unnest(frame_sha256s)"),
        (VOTE.model_copy(update={"step_index": 9}), "votes", "step_index"),
        (VOTE.model_copy(update={"step_index": -1}), "votes", "step_index"),
        (VOTE.model_copy(update={"step_index": None}), "votes", "step_index"),
        (VOTE.model_copy(update={"candidate_index": 4}), "votes", "candidate_index"),
        (verdict("t1-1", "correct", step_index=3), "verdicts", "step_index"),
        (verdict("t1-1", "correct", step_index=0, candidate_index=0), "verdicts", "candidate_index"),
        (MADE.candidates[0].model_copy(update={"step_index": 4}), "candidates", "step_index"),
        (MADE.events[0].model_copy(update={"step_index": 3}), "events", "step_index"),
        (MADE.probe_reads[0].model_copy(update={"observation_index": 9}), "probe_reads", "observation_index"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_names_nothing_is_found(row: Model, table: str, column: str, tmp_path: Path) -> None:
    assert found(tmp_path, [MADE], [row]) == [("dangling_id", table, column)]


def test_prompts_of_a_run_must_be_there(tmp_path: Path) -> None:
    assert ("dangling_id", "runs", "unnest(prompt_sha256s)") in found(tmp_path, [MADE], [RUN_ROW])


def test_capabilities_of_a_task_must_be_there(tmp_path: Path) -> None:
    calling = TASK.model_copy(update={"task_id": "other", "capability_ids": ["demo.gone"]})

    assert found(tmp_path, [MADE], [calling, capability()]) == [("dangling_id", "tasks", "unnest(capability_ids)")]


def test_an_attempt_that_ended_before_its_first_look_may_have_been_read(tmp_path: Path) -> None:
    reads = [read.model_copy(update={"observation_index": 0}) for read in MADE.probe_reads[:1]]
    made = MADE.model_copy(update={"observations": [], "steps": [], "probe_reads": reads})

    assert ("dangling_id", "probe_reads", "observation_index") not in found(tmp_path, [made])


@pytest.mark.parametrize("left", [0, 1, 2])
def test_a_step_acts_on_a_look_and_yields_the_next_one(left: int, tmp_path: Path) -> None:
    """Only what the last step yields may be missing: the world may have broken there."""
    looks = MADE.observations[:left]
    reads = [read for read in MADE.probe_reads if read.observation_index < left]
    made = MADE.model_copy(update={"observations": looks, "probe_reads": reads})

    assert ("dangling_id", "steps", "step_index") in found(tmp_path, [made])


@pytest.mark.parametrize(
    "row",
    [
        VOTE.model_copy(update={"step_index": 3}),
        MADE.candidates[0].model_copy(update={"step_index": 3}),
        VOTE.model_copy(update={"step_index": 1, "candidate_index": 0}),
        verdict("t1-1", "correct", step_index=1, candidate_index=0),
        MADE.events[0].model_copy(update={"step_index": -1}),
        EDGE.model_copy(update={"frame_before": next(iter(MADE.frames))}),
    ],
)
def test_what_an_episode_may_leave_is_no_error(row: Model, tmp_path: Path) -> None:
    assert found(tmp_path, [MADE], [row]) == []


CUT = one_task("Two tickets.", [contract_check("count", "tickets", "1")], [contract_check("count", "tickets", "2")])


def begun_later(segment: int = 1, prefix: str | None = "t1-1", own_first: bool = False) -> Record:
    """An attempt at a task of two segments whose first step is an earlier attempt's, made again."""
    made = attempt("t2", task=CUT, step_count=2)
    begins = {"start_segment": segment, "prefix_attempt_id": prefix}
    return made.model_copy(
        update={
            "attempt": made.attempt.model_copy(update=begins),
            "steps": [step.model_copy(update={"replayed": step.step_index == int(own_first)}) for step in made.steps],
        }
    )


def test_an_attempt_may_begin_with_steps_of_an_earlier_one(tmp_path: Path) -> None:
    assert found(tmp_path, [MADE, begun_later()], [CUT]) == []


def test_prefix_of_an_attempt_must_be_there(tmp_path: Path) -> None:
    assert found(tmp_path, [begun_later(prefix="gone")], [CUT]) == [("dangling_id", "attempts", "prefix_attempt_id")]


def test_prefix_of_an_attempt_may_be_in_the_dataset_that_the_run_names(tmp_path: Path) -> None:
    named = RUN_ROW.model_copy(update={"prompt_sha256s": [], "config": [Param(name="prefix_from", value="/other")]})

    assert found(tmp_path, [begun_later(prefix="elsewhere")], [CUT, named]) == []


_NOWHERE = "attempts that begin at a segment without a prefix, at none with one, or at one that their task has not"
_MIXED = "attempts with steps of an earlier one, that begin with none or do something else before"


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (begun_later(prefix=None), {("attempts", _NOWHERE)}),
        (begun_later(segment=0), {("attempts", _NOWHERE), ("steps", _MIXED)}),
        (begun_later(segment=2), {("attempts", _NOWHERE)}),
        (begun_later(own_first=True), {("steps", _MIXED)}),
    ],
)
def test_beginnings_that_cannot_be_are_found(record: Record, expected: set[tuple[str, str]], tmp_path: Path) -> None:
    findings = found(tmp_path, [MADE, record], [CUT])

    assert {(table, what) for kind, table, what in findings if kind == "contradiction"} == expected


# --- what is told twice ----------------------------------------------------------------------------------------------


def changed(part: str, **update: object) -> Record:
    """The attempt, with another value in its trajectory or attempt."""
    return MADE.model_copy(update={part: getattr(MADE, part).model_copy(update=update)})


@pytest.mark.parametrize(
    ("record", "what"),
    [
        (changed("trajectory", seed=99), "trajectories that are not as their attempt says"),
        (changed("trajectory", termination="loop"), "trajectories that are not as their attempt says"),
        (changed("trajectory", policy_id="other"), "trajectories that are not as their attempt says"),
        (changed("attempt", trajectory_id="t9"), "trajectories that are not as their attempt says"),
        (changed("attempt", fault=faulty("t").attempt.fault), "trajectories that are not as their attempt says"),
        (changed("trajectory", step_count=2), "trajectories whose step_count is not the number of their own steps"),
        (
            MADE.model_copy(update={"steps": MADE.steps[:2]}),
            "trajectories whose step_count is not the number of their own steps",
        ),
    ],
)
def test_trajectory_must_agree_with_its_attempt_and_steps(record: Record, what: str, tmp_path: Path) -> None:
    assert found(tmp_path, [record]) == [("contradiction", "trajectories", what)]


def test_trajectory_of_a_superseded_attempt_is_found(tmp_path: Path) -> None:
    rows = [MADE.trajectory]

    assert found(tmp_path, [attempt("t1", final=False)], rows) == [
        ("contradiction", "trajectories", "trajectories that are not as their attempt says")
    ]


def test_final_attempt_without_its_trajectory_is_found(tmp_path: Path) -> None:
    row = MADE.attempt.model_copy(update={"attempt_id": "t2-1", "trajectory_id": "t2"})

    assert found(tmp_path, [MADE], [row]) == [("contradiction", "attempts", "final attempts without their trajectory")]


@pytest.mark.parametrize(("table", "word"), [("steps", "steps"), ("observations", "looks")])
def test_gap_within_an_attempt_is_found_also_in_a_superseded_one(table: str, word: str, tmp_path: Path) -> None:
    record = attempt("t1", final=False, step_count=2)
    rows = getattr(record, table)
    record = record.model_copy(update={table: [rows[0], *rows[2:]]})
    what = f"attempts whose {word} are not numbered from 0 without a gap"

    assert ("contradiction", table, what) in found(tmp_path, [record])


def test_lost_attempt_agrees_with_itself(tmp_path: Path) -> None:
    committer = begin(tmp_path)
    line = Assigned.model_validate(
        {
            **MADE.attempt.model_dump(include=set(Assigned.model_fields)),
            **MADE.trajectory.model_dump(include=set(Assigned.model_fields)),
            "epoch": 1,
            "assigned_at": now(),
        }
    )
    committer.assign([line])
    committer.revoke(line, final=True)

    assert check(tmp_path) == []


def test_rows_of_another_run_are_found(storage: Storage) -> None:
    committer = begin(storage)
    put(committer, storage, [MADE])
    writer = PartWriter(storage, "run-b", committer.epoch, "stranger")
    writer.add([judging()])
    written = writer.flush()
    assert written and committer.publish(Batch(epoch=1, worker="w9", number=0, parts=written.parts, attempts=[]))

    (finding,) = check(storage)

    assert finding == Finding(severity="error", kind="foreign_run", path="passes", detail="rows of 1 other runs: run-b")


# --- pictures and trees ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["frames", "trees"])
def test_picture_or_tree_that_is_another_than_its_name_says_is_found(kind: str, storage: Storage) -> None:
    one, other = list(getattr(MADE, kind).values())[:2]
    swapped = {
        "frames": {"image": other.image} if kind == "frames" else {},
        "trees": {"nodes": other.nodes} if kind == "trees" else {},
    }
    record = MADE.model_copy(update={kind: {**getattr(MADE, kind), one.sha256: one.model_copy(update=swapped[kind])}})

    (finding,) = check(collected(storage, [record]))

    assert (finding.kind, finding.path) == ("wrong_content", f"{kind}/part-1-w0-0.parquet")
    assert finding.detail.endswith(f": {one.sha256}")


def test_pictures_stay_what_they_are_called_when_they_are_compacted(storage: Storage) -> None:
    collected(storage, [MADE, attempt("t2"), faulty("t3")])
    Committer.claim(storage, RUN, {}).leave()

    compact(storage)

    assert check(storage) == []


# --- labelled places -------------------------------------------------------------------------------------------------

PLACE = Grounding(
    row_id="row",
    screen_id="screen",
    screen_number=0,
    family="mail",
    platform="web",
    shell="web",
    theme="light",
    language="en",
    width=1000,
    height=500,
    device_ratio=1.0,
    frame_sha256=next(iter(MADE.frames)),
    instruction='Click "Send".',
    instruction_language="en",
    kind="literal",
    target=GroundingTarget(role="button", name="Send", text="Send", box=Box(left=100, top=100, right=200, bottom=120)),
    point=Point(x=150, y=220),
    refusal=False,
    seed=0,
    split="train",
    label_hash="label",
    phash="looks",
)
MISLABELLED = (
    "contradiction",
    "grounding",
    "labelled places that are refusals with a target, or have none, or whose point lies outside it",
)


def test_a_place_within_its_box_is_sound(tmp_path: Path) -> None:
    refused = PLACE.model_copy(
        update={"row_id": "other", "kind": "refusal", "refusal": True, "target": None, "point": None}
    )

    assert found(tmp_path, [MADE], [PLACE, refused]) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"point": Point(x=99, y=220)},
        {"point": Point(x=200, y=220)},
        {"point": Point(x=150, y=240)},
        {"point": None},
        {"target": None},
        {"refusal": True},
        {"kind": "refusal"},
    ],
    ids=str,
)
def test_a_place_that_is_none_or_elsewhere_is_found(wrong: dict[str, object], tmp_path: Path) -> None:
    assert found(tmp_path, [MADE], [PLACE.model_copy(update=wrong)]) == [MISLABELLED]


# --- puzzles ---------------------------------------------------------------------------------------------------------

DRAG = PuzzleMove(
    type="Drag",
    point=Point(x=150, y=220),
    end=Point(x=250, y=220),
    content=None,
    target=Box(left=0, top=0, right=1, bottom=1),
    end_target=Box(left=0, top=0, right=1, bottom=1),
)
PUZZLE = PuzzleRow(
    row_id="puzzle",
    number=0,
    type="sl_gap",
    kind="slider_puzzle",
    seed=1,
    level=1,
    language="en",
    platform="web",
    width=1,
    height=1,
    device_ratio=1.0,
    frame_sha256=next(iter(MADE.frames)),
    instruction="Drag the slider.",
    moves=[DRAG],
    ordered=False,
    tolerance=0.05,
    answer="{}",
    state="{}",
    refused=1,
    split="train",
)


def puzzle(**changes: object) -> PuzzleRow:
    """A puzzle as large as its picture, with a change."""
    frame = MADE.frames[PUZZLE.frame_sha256]
    whole = Box(left=0, top=0, right=frame.width, bottom=frame.height)
    drag = DRAG.model_copy(update={"target": whole, "end_target": whole})
    sizes = {"width": frame.width, "height": frame.height, "moves": [drag]}
    return PUZZLE.model_copy(update=sizes | changes)


def test_a_puzzle_that_agrees_with_itself_is_sound(tmp_path: Path) -> None:
    assert found(tmp_path, [MADE], [puzzle()]) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"moves": []},
        {"moves": [DRAG.model_copy(update={"target": None, "end_target": None})]},
        {"moves": [DRAG.model_copy(update={"end_target": Box(left=0, top=0, right=0, bottom=0)})]},
        {"moves": [DRAG.model_copy(update={"end": None})]},
        {"moves": [DRAG.model_copy(update={"point": None})]},
        {"refused": 0},
        {"level": 9},
        {"language": "xx"},
        {"split": "elsewhere"},
        {"instruction": " "},
        {"answer": "not JSON"},
        {"state": "{"},
        {"number": -1},
        {"width": 10_000},
    ],
    ids=str,
)
def test_a_puzzle_that_contradicts_itself_is_found(wrong: dict[str, object], tmp_path: Path) -> None:
    kinds = {(kind, table) for kind, table, _ in found(tmp_path, [MADE], [puzzle(**wrong)])}

    assert kinds == {("contradiction", "puzzles")}


def test_two_puzzles_of_one_number_are_found(tmp_path: Path) -> None:
    kinds = [(kind, table) for kind, table, _ in found(tmp_path, [MADE], [puzzle(), puzzle(row_id="other")])]

    assert kinds == [("contradiction", "puzzles")]


def test_the_picture_of_a_place_must_be_there(tmp_path: Path) -> None:
    gone = PLACE.model_copy(update={"frame_sha256": "gone"})

    assert found(tmp_path, [MADE], [gone]) == [("dangling_id", "grounding", "frame_sha256")]
