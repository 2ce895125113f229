"""A dataset folder read back: records exactly as written, what is left to do, and views that answer as documented."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.dataset import Dataset
from pipeline.errors import ConfigError, RunError
from pipeline.file_names import PartName
from pipeline.parts import write_part
from pipeline.query import VIEWS, query, views_sql
from pipeline.records import CheckResult, Frame, ModelCall, Step, Trajectory, Verdict
from pipeline.schema import TABLES
from pipeline.sinks import Committer, PartWriter
from pipeline.structs import Calibration
from pipeline.tasks import Capability, TaskSpec
from tests.datasets import RUN, TASK, assigned, attempt, begin, collected, faulty, judging, put, verdict
from tests.records import NOON, check, task
from tests.records import task as one_task

RUBRIC = task("Look around.", contract_kind="rubric")
WITH_CAPABILITY = task("Use it.", capability_ids=["demo.used"])


def rows_of(sql: str, *folders: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = query(sql, folders).to_pylist()
    return found


def one(sql: str, *folders: Path) -> dict[str, Any]:
    [row] = rows_of(sql, *folders)
    return row


def grades(folder: Path) -> dict[str, str]:
    return {row["trajectory_id"]: row["grade"] for row in rows_of("SELECT * FROM trace_grades", folder)}


# --- records -------------------------------------------------------------------------------------------------------


def test_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    made = [attempt(f"t{number}") for number in range(6)]
    dataset = Dataset(collected(tmp_path, made))

    assert [dataset.record(record.attempt.attempt_id) for record in made] == made


def test_record_finds_pictures_that_its_writer_had_seen_before(tmp_path: Path) -> None:
    committer, writer, made = begin(tmp_path), PartWriter(tmp_path, RUN, 1, "w0"), [attempt("t1"), attempt("t2")]
    committer.assign([assigned(record) for record in made])
    for record in made:
        writer.write(record)
        batch = writer.flush()
        assert batch and committer.publish(batch)

    assert Dataset(tmp_path).record("t2-1") == made[1]


def test_record_without_pictures_keeps_everything_else(tmp_path: Path) -> None:
    made = attempt("t1")

    found = Dataset(collected(tmp_path, [made])).record("t1-1", pictures=False)

    assert found == made.model_copy(update={"frames": {}})


def test_picture_that_no_part_holds_is_left_out(tmp_path: Path) -> None:
    made = attempt("t1")
    hollow = made.model_copy(update={"frames": dict(list(made.frames.items())[:1])})

    assert Dataset(collected(tmp_path, [hollow])).record("t1-1") == hollow


@pytest.mark.parametrize("attempt_id", ["nobody-1", "t1-1"])
def test_attempt_that_is_unknown_or_superseded_has_no_record(tmp_path: Path, attempt_id: str) -> None:
    dataset = Dataset(collected(tmp_path, [attempt("t1", final=False), attempt("t1", 2)]))

    with pytest.raises(RunError, match=f"no final attempt {attempt_id}"):
        dataset.record(attempt_id)


def test_task_comes_back_as_it_was_written(tmp_path: Path) -> None:
    committer = begin(tmp_path, [TASK, RUBRIC])
    committer.record([WITH_CAPABILITY])
    dataset = Dataset(tmp_path)

    assert [dataset.task(spec.task_id) for spec in (TASK, RUBRIC, WITH_CAPABILITY)] == [TASK, RUBRIC, WITH_CAPABILITY]
    with pytest.raises(RunError, match="no task nothing"):
        dataset.task("nothing")


def test_rows_come_back_as_records_in_order(tmp_path: Path) -> None:
    made = [attempt("t1"), attempt("t2")]
    dataset = Dataset(collected(tmp_path, made))

    assert dataset.rows(Step) == [step for record in made for step in record.steps]
    assert dataset.rows(TaskSpec) == [TASK]


def test_pictures_are_never_read_all_at_once(tmp_path: Path) -> None:
    dataset = Dataset(collected(tmp_path, [attempt("t1")]))

    with pytest.raises(ValueError, match="never all at once"):
        dataset.rows(Frame)
    assert "image" not in dataset.table("frames").column_names
    assert dataset.table("frames", ["sha256", "image"]).column_names == ["sha256"]


def test_dataset_sees_later_parts_after_a_refresh(tmp_path: Path) -> None:
    committer = begin(tmp_path)
    dataset = Dataset(tmp_path)
    put(committer, tmp_path, [attempt("t1")])
    before = dataset.rows(Trajectory)

    dataset.refresh()

    assert before == []
    assert dataset.record("t1-1") == attempt("t1")


def test_replaced_parts_are_dropped(tmp_path: Path) -> None:
    committer = begin(tmp_path)
    put(committer, tmp_path, [attempt("t1")])
    dataset = Dataset(tmp_path)
    old = next(part for part in dataset.parts("steps") if part.rows)
    assert len(dataset.record("t1-1").steps) == 3

    steps = dataset.rows(Step)[:1]
    new = write_part(tmp_path, "steps", PartName(1, "compact", 0), steps, RUN)
    committer._list([new.model_copy(update={"replaces": [old.path]})])
    dataset.refresh()

    assert dataset.rows(Step) == steps
    assert rows_of("SELECT step_index FROM steps", tmp_path) == [{"step_index": 0}]


def test_folder_that_is_no_dataset_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a dataset folder"):
        Dataset(tmp_path)
    with pytest.raises(ConfigError, match="not a dataset folder"):
        query("SELECT 1", [tmp_path])


def test_part_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    dataset = Dataset(collected(tmp_path, [attempt("t1")]))
    (tmp_path / dataset.parts("steps")[-1].path).write_bytes(b"PAR1")

    with pytest.raises(RunError, match="run `pathproof check`"):
        dataset.rows(Step)


def test_part_whose_structs_have_drifted_says_what_to_do(tmp_path: Path) -> None:
    made = attempt("t1")
    dataset = Dataset(collected(tmp_path, [made]))
    path = tmp_path / dataset.parts("steps")[-1].path
    table = pq.read_table(path, partitioning=None)
    at = table.column_names.index("usage")
    pq.write_table(table.set_column(at, "usage", pa.nulls(len(table), pa.struct([("calls", pa.int64())]))), path)

    with pytest.raises(RunError, match=r"another column 'usage' than is declared: run `pathproof check`"):
        dataset.rows(Step)
    with pytest.raises(RunError, match="another column 'usage'"):
        dataset.record(made.attempt.attempt_id)


# --- what is left to do --------------------------------------------------------------------------------------------


def test_lost_attempts_are_those_begun_and_never_reported(tmp_path: Path) -> None:
    committer = begin(tmp_path)
    put(committer, tmp_path, [attempt("t1")])
    gone = [assigned(attempt("t2")), assigned(attempt("t3"))]
    committer.assign(gone)
    committer.revoke(gone[0], final=False)

    assert Dataset(tmp_path).lost_attempts() == gone[1:]


def test_lost_attempt_of_an_older_epoch_is_written_down_once(tmp_path: Path) -> None:
    lost = assigned(attempt("t1"))
    begin(tmp_path).assign([lost])

    newer = Committer.claim(tmp_path, RUN, {})
    assert newer.revoke(lost, final=True)

    dataset = Dataset(tmp_path)
    assert dataset.lost_attempts() == []
    [row] = rows_of("SELECT * FROM faults", tmp_path)
    assert (row["boundary"], row["code"], row["app_id"], row["final"]) == ("worker", "lost", "demo", True)
    assert row["finished_at"] == row["started_at"] == NOON


def test_what_a_resumed_run_needs_to_know(tmp_path: Path) -> None:
    committer = begin(tmp_path)
    put(committer, tmp_path, [attempt("t1", final=False), attempt("t1", 2), attempt("t2")])
    committer.assign([assigned(attempt("t3", 3))])
    committer.record([judging(), verdict("t1-2"), verdict("t2-1", "correct", step_index=0)])
    dataset = Dataset(tmp_path)

    assert dataset.finished_trajectories() == {"t1", "t2"}
    assert dataset.attempt_numbers() == {"t1": 2, "t2": 1, "t3": 3}
    assert dataset.unjudged_attempts() == ["t2-1"]


# --- queries -------------------------------------------------------------------------------------------------------


def test_promised_query_runs_over_several_folders(tmp_path: Path) -> None:
    first = collected(tmp_path / "a", [attempt("t1")], [judging(), verdict("t1-1")])
    rows = [judging(), verdict("u1-1"), verdict("u2-1", "fail")]
    second = collected(tmp_path / "b", [attempt("u1"), attempt("u2")], rows, run_id="run-b")
    sql = "SELECT app_id, grade, count(*) AS n FROM trace_grades JOIN trajectories USING (trajectory_id) GROUP BY ALL"

    found = rows_of(f"{sql} ORDER BY grade", first, second, first)

    assert found == [{"app_id": "demo", "grade": "complete", "n": 2}, {"app_id": "demo", "grade": "fail", "n": 1}]


def test_pictures_and_trees_show_each_hash_once(tmp_path: Path) -> None:
    committer = begin(tmp_path)
    put(committer, tmp_path, [attempt("t1")], worker="w0")
    put(committer, tmp_path, [attempt("t2")], worker="w1")

    counts = one("SELECT (SELECT count(*) FROM frames) AS frames, (SELECT count(*) FROM trees) AS trees", tmp_path)

    assert counts == {"frames": 3, "trees": 3}
    assert one("SELECT count(*) AS n FROM frames WHERE image.bytes IS NOT NULL AND width = 1280", tmp_path) == {"n": 3}


def test_dirty_folder_gives_fewer_rows_and_never_an_error(tmp_path: Path) -> None:
    committer = begin(tmp_path)
    for number in range(8):
        put(committer, tmp_path, [attempt(f"t{number}")], worker=f"w{number}")
    parts = [part for part in Dataset(tmp_path).parts("steps") if part.rows]
    paths = [tmp_path / part.path for part in parts]
    paths[0].unlink()
    paths[1].write_bytes(b"")
    paths[2].write_bytes(paths[2].read_bytes()[:-100])
    flip(paths[3], 60)
    shutil.copy(tmp_path / "votes/part-1-committer-0.parquet", paths[4])
    paths[5].with_name(".part-1-w9-0.parquet").write_bytes(b"half")
    paths[5].with_name("part-1-w9-1.parquet").write_bytes(b"half")
    (tmp_path / "manifest" / "1-2.jsonl").write_text('{"kind": "part", "tab')
    (tmp_path / "epochs" / "1.json").write_text("{")
    (tmp_path / "run.json").unlink()

    left = one("SELECT count(DISTINCT attempt_id) AS attempts, count(*) AS steps FROM steps", tmp_path)

    assert left == {"attempts": 3, "steps": 9}
    for view in VIEWS:
        rows_of(f"SELECT * FROM {view}", tmp_path)


def test_picture_that_rotted_is_left_out_when_reading_it_fails(tmp_path: Path) -> None:
    dataset = Dataset(collected(tmp_path, [attempt("t1")]))
    part = next(part for part in dataset.parts("frames") if part.rows)
    path = tmp_path / part.path
    data = path.read_bytes()
    path.write_bytes(data[:4] + bytes(200) + data[204:])

    assert one("SELECT count(image.bytes) AS n, count(sha256) AS m FROM frames", tmp_path) == {"n": 0, "m": 0}


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("sql", "says"),
    [("SELEC 1", "syntax error"), ("SELECT * FROM nothing", "nothing"), ("SELECT nix FROM steps", "nix")],
)
def test_bad_sql_is_one_line_for_the_user(tmp_path: Path, sql: str, says: str) -> None:
    with pytest.raises(ConfigError, match=f"query: .*{says}") as caught:
        query(sql, [collected(tmp_path, [])])
    assert "\n" not in str(caught.value)


def test_query_that_fails_on_sound_parts_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="query: "):
        query("SELECT thought::INTEGER FROM steps", [collected(tmp_path, [attempt("t1")])])


def test_query_cannot_see_the_programs_variables(tmp_path: Path) -> None:
    paths = query("SELECT 1 AS secret", [collected(tmp_path, [])])

    with pytest.raises(ConfigError, match="paths"):
        query("SELECT * FROM paths", [tmp_path])
    assert paths.num_rows == 1


def test_statement_without_a_result_gives_no_rows(tmp_path: Path) -> None:
    assert query("CREATE MACRO one() AS 1", [collected(tmp_path, [])]).num_rows == 0


def test_result_without_rows_keeps_its_columns(tmp_path: Path) -> None:
    assert query("SELECT 1 AS n WHERE false", [collected(tmp_path, [])]).column_names == ["n"]


def test_tables_without_a_part_have_their_columns_all_the_same(tmp_path: Path) -> None:
    folder = collected(tmp_path, [])
    full = query("SELECT * FROM tasks LIMIT 0", [folder]).schema
    assert "instruction" in full.names
    shutil.rmtree(tmp_path / "tasks")

    assert query("SELECT * FROM tasks", [folder]).schema == full
    assert views_sql({}).count("CREATE OR REPLACE VIEW") == len(TABLES) + len(VIEWS)


# --- views ---------------------------------------------------------------------------------------------------------


def test_grade_of_a_trace_is_a_persons_else_the_newest(tmp_path: Path) -> None:
    passes = [judging("p1", 13), judging("p2", 14), judging("p3", 15)]
    verdicts = [
        verdict("t1-1", "fail", pass_id="p1"),
        verdict("t1-1", "complete", pass_id="p2"),
        verdict("t2-1", "partial", pass_id="p1", rule="human"),
        verdict("t2-1", "infeasible", pass_id="p2", rule="human"),
        verdict("t2-1", "complete", pass_id="p3"),
        verdict("t3-1", "fail", pass_id="p3"),
        verdict("t3-1", "complete", pass_id="unknown"),
    ]

    folder = collected(tmp_path, [attempt("t1"), attempt("t2"), attempt("t3")], [*passes, *verdicts])

    assert grades(folder) == {"t1": "complete", "t2": "infeasible", "t3": "fail"}


def test_grade_of_a_step_is_of_its_own_action_and_of_final_attempts(tmp_path: Path) -> None:
    verdicts = [
        verdict("t1-2", "correct", step_index=0),
        verdict("t1-2", "wrong", step_index=0, candidate_index=0),
        verdict("t1-2", "explore", step_index=1),
        verdict("t1-1", "invalid", step_index=0),
        verdict("t1-2", "complete"),
    ]

    folder = collected(tmp_path, [attempt("t1", final=False), attempt("t1", 2)], [judging(), *verdicts])

    found = rows_of("SELECT trajectory_id, step_index, grade FROM step_grades ORDER BY step_index", folder)
    assert [tuple(row.values()) for row in found] == [("t1", 0, "correct"), ("t1", 1, "explore")]
    assert grades(folder) == {"t1": "complete"}


def test_grade_of_a_step_is_a_persons_else_the_newest_also_where_only_some_steps_were_judged_twice(
    tmp_path: Path,
) -> None:
    passes = [judging("p1", 13), judging("p2", 14), judging("p3", 15)]
    verdicts = [
        verdict("t1-1", "wrong", pass_id="p1", step_index=0),
        verdict("t1-1", "correct", pass_id="p2", step_index=1),
        verdict("t1-1", "invalid", pass_id="p3", step_index=1),
        verdict("t1-1", "explore", pass_id="p1", step_index=2, rule="human"),
        verdict("t1-1", "wrong", pass_id="p2", step_index=2),
        verdict("t2-1", "correct", pass_id="p1", step_index=0),
        verdict("t2-1", "wrong", pass_id="p2", step_index=1),
    ]

    folder = collected(tmp_path, [attempt("t1"), attempt("t2")], [*passes, *verdicts])

    found = rows_of("SELECT trajectory_id, step_index, grade FROM step_grades ORDER BY ALL", folder)
    assert [tuple(row.values()) for row in found] == [
        ("t1", 0, "wrong"),
        ("t1", 1, "invalid"),
        ("t1", 2, "explore"),
        ("t2", 0, "correct"),
        ("t2", 1, "wrong"),
    ]


CALIBRATION = Calibration(calibration_id="c", fpr=0.1, fnr=0.1, n=100)


@pytest.mark.parametrize(
    ("spec", "trajectory", "judged", "view"),
    [
        (TASK, {}, {}, "accepted"),
        (TASK, {}, {"grade": "partial"}, None),
        (TASK, {}, {"grade": "infeasible"}, "accepted_refusals"),
        (TASK, {}, {"grade": None}, None),
        (TASK, {}, {"side_effects": ["ticket/7 removed"]}, None),
        (TASK, {"contains_secret": True}, {}, None),
        (RUBRIC, {}, {}, None),
        (RUBRIC, {}, {"calibration": CALIBRATION}, "accepted"),
        (RUBRIC, {}, {"rule": "human"}, "accepted"),
        (RUBRIC, {}, {"rule": "human", "grade": "infeasible"}, "accepted_refusals"),
    ],
)
def test_what_is_accepted(
    tmp_path: Path, spec: TaskSpec, trajectory: dict[str, Any], judged: dict[str, Any], view: str | None
) -> None:
    committer = begin(tmp_path, [TASK, RUBRIC])
    put(committer, tmp_path, [attempt("t1", task=spec, **trajectory)])
    committer.record([judging(), verdict("t1-1", judged.pop("grade", "complete"), **judged)])

    found = [name for name in ("accepted", "accepted_refusals") if rows_of(f"SELECT * FROM {name}", tmp_path)]

    assert found == ([view] if view else [])


def test_yield_leaves_faults_and_unscored_out_of_its_denominator(tmp_path: Path) -> None:
    made = [attempt(f"t{number}") for number in range(7)] + [faulty("t7"), attempt("t8", app_id="other")]
    judged: Sequence[Verdict] = [
        verdict("t0-1"),
        verdict("t1-1", "partial"),
        verdict("t2-1", "infeasible"),
        verdict("t3-1", "fail"),
        verdict("t4-1", None),
        verdict("t5-1", None, status="unscored", rule="blocked"),
        verdict("t7-1", None, status="unscored", rule="fault"),
    ]

    folder = collected(tmp_path, made, [judging(), *judged])

    row = one("SELECT * FROM yield_by_app WHERE app_id = 'demo'", folder)
    assert row == {
        "app_id": "demo",
        "trajectories": 8,
        "faults": 1,
        "unscored": 1,
        "unjudged": 1,
        "undecided": 1,
        "graded": 4,
        "complete": 1,
        "partial": 1,
        "infeasible": 1,
        "fail": 1,
        "accepted": 1,
        "accepted_refusals": 1,
        "yield": 0.2,
    }
    assert one("SELECT yield FROM yield_by_app WHERE app_id = 'other'", folder) == {"yield": None}


def test_cost_counts_every_attempt_and_every_call(tmp_path: Path) -> None:
    folder = collected(
        tmp_path, [faulty("t1", final=False), attempt("t1", 2), attempt("t2")], [judging(), verdict("t1-2")]
    )

    row = one("SELECT * FROM cost_per_accepted", folder)

    assert row == {
        "app_id": "demo",
        "attempts": 3,
        "accepted": 1,
        "seconds": 3.0,
        "cost_usd": 0.75,
        "seconds_per_accepted": 3.0,
        "usd_per_accepted": 0.75,
    }


def test_cost_per_accepted_is_null_when_nothing_was(tmp_path: Path) -> None:
    folder = collected(tmp_path, [attempt("t1")])

    assert one("SELECT accepted, seconds_per_accepted AS s FROM cost_per_accepted", folder) == {
        "accepted": 0,
        "s": None,
    }


def test_coverage_names_the_holes(tmp_path: Path) -> None:
    capability = Capability(
        capability_id="demo.used",
        app_id="demo",
        platform="web",
        language="en",
        path=["Demo"],
        verb="use",
        object="it",
        effect="used",
        consequence="none",
        reversible=True,
    )
    hole = capability.model_copy(update={"capability_id": "demo.hole"})
    confirmed = capability.model_copy(update={"round": 1, "status": "confirmed"})
    committer = begin(tmp_path, [TASK, WITH_CAPABILITY])
    put(committer, tmp_path, [attempt("t1", task=WITH_CAPABILITY), faulty("t2", task=WITH_CAPABILITY)])
    committer.record([capability, hole, confirmed, judging(), verdict("t1-1")])

    columns = "capability_id, status, tasks, trajectories, faults, accepted, hole"
    rows = [tuple(row.values()) for row in rows_of(f"SELECT {columns} FROM coverage", tmp_path)]

    assert rows == [("demo.hole", "documented", 0, 0, 0, 0, True), ("demo.used", "confirmed", 1, 2, 1, 1, False)]


def test_faults_are_attempts_that_broke_superseded_ones_too(tmp_path: Path) -> None:
    folder = collected(tmp_path, [faulty("t1", final=False), attempt("t1", 2)])

    row = one("SELECT attempt_id, boundary, code, node, final, app_id FROM faults", folder)

    assert tuple(row.values()) == ("t1-1", "env", "crashed", "n0", False, "demo")


def test_scores_are_of_the_segments_from_which_an_attempt_began(tmp_path: Path) -> None:
    parts = [[check("count", "tickets", "1")], [check("count", "tickets", "2")], [check("count", "tickets", "3")]]
    cut = one_task("Three tickets.", *parts)
    whole, later = attempt("t1", task=cut), attempt("t2", task=cut)
    begins = later.attempt.model_copy(update={"start_segment": 1, "prefix_attempt_id": "t1-1"})
    found = [
        CheckResult(
            pass_id="pass-1", attempt_id=name, segment=segment, name="check", state=state, expected=[], observed=[]
        )
        for name in ("t1-1", "t2-1")
        for segment, state in (("part 1", "passed"), ("part 2", "failed"), ("part 3", "passed"), ("absence", "failed"))
    ]

    folder = collected(tmp_path, [whole, later.model_copy(update={"attempt": begins})], [cut, judging(), *found])

    rows = rows_of("SELECT attempt_id, contract_score, segment_score FROM contract_scores ORDER BY 1", folder)
    assert [tuple(row.values()) for row in rows] == [("t1-1", 0.5, 2 / 3), ("t2-1", 1 / 3, 0.5)]


def test_training_rows_hold_the_parts_of_a_reward_side_by_side(tmp_path: Path) -> None:
    first = CheckResult(
        pass_id="pass-1", attempt_id="t1-1", segment="part 1", name="a", state="passed", expected=[], observed=[]
    )
    made = attempt("t1")
    checks = [first, first.model_copy(update={"name": "b", "state": "failed"})]
    judged = [verdict("t1-1", "partial", share=0.75), verdict("t1-1", "wrong", step_index=1, share=0.5)]

    folder = collected(tmp_path, [made], [judging(), *checks, *judged])

    rows = rows_of("SELECT * FROM rl_steps ORDER BY step_index", folder)
    assert [row["step_index"] for row in rows] == [0, 1, 2]
    typed = rows[1]
    assert (typed["instruction"], typed["domain"], typed["app_id"]) == (TASK.instruction, "Web", "demo")
    assert (typed["step_grade"], typed["step_share"]) == ("wrong", 0.5)
    assert (typed["trace_grade"], typed["trace_share"], typed["contract_score"]) == ("partial", 0.75, 0.5)
    assert (typed["frame_sha256"], typed["next_frame_sha256"]) == (made.observations[1].frame_sha256, None)
    assert typed["action"]["content"] == "灯 🙂"
    assert not typed["accepted"]


def test_calls_without_an_attempt_cost_no_application_anything(tmp_path: Path) -> None:
    call = attempt("t1").model_calls[0].model_copy(update={"attempt_id": None, "cost_usd": 9.0})
    folder = collected(tmp_path, [attempt("t1")], [call])

    assert one("SELECT cost_usd FROM cost_per_accepted", folder) == {"cost_usd": 0.25}
    assert len(Dataset(folder).rows(ModelCall)) == 2


def test_times_are_shown_in_utc(tmp_path: Path) -> None:
    folder = collected(tmp_path, [attempt("t1")])

    row = one("SELECT started_at, started_at::VARCHAR AS text FROM attempts", folder)

    assert row["started_at"] - NOON == timedelta(0)
    assert row["text"] == "2026-03-05 12:00:00+00"
