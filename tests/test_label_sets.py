"""Labelled sets read from tables and from runs that persons reviewed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.errors import ConfigError
from pipeline.label_sets import read_labels
from pipeline.records import PassRow, Record, Verdict, Vote
from pipeline.tasks import TaskSpec
from pipeline.words import PassKind
from tests.datasets import attempt, begin, judging, put, verdict
from tests.records import check, read, task
from tests.votes import person, program, vote
from verifiers.calibration import FAILED, PASSED
from verifiers.labelled import Voter

HEADER = "task_id,item_id,truth,infeasible,domain,vote:judge-a:x,vote:screen:program,sign:budget"


def table(tmp_path: Path, *rows: str, header: str = HEADER) -> str:
    path = tmp_path / "labels.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return str(path)


# --- tables ------------------------------------------------------------------------------------------------------


def test_a_row_is_an_item_and_an_empty_cell_a_silent_judge(tmp_path: Path) -> None:
    labels, steps = read_labels(table(tmp_path, "t,i-1,1,0,Web,1,,0.5", "t,i-2,0,1,Mobile,false,TRUE,"))

    first, second = labels.items
    assert (first.item_id, first.task_id, first.truth, first.infeasible) == ("i-1", "t", True, False)
    assert (first.votes, first.signs) == ({"judge-a": True}, {"budget": 0.5})
    assert (second.truth, second.infeasible) == (False, True)
    assert (second.votes, second.signs) == ({"judge-a": False, "screen": True}, {})
    assert (first.domain, second.domain) == ("Web", "Mobile")
    assert steps.items == []
    assert list(labels.voters) == [
        Voter(name="judge-a", kind="model", family="x"),
        Voter(name="screen", kind="program", family="program"),
    ]


def test_parquet_holds_the_same_table_with_types_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "labels.parquet"
    columns: dict[str, list[Any]] = {
        "task_id": ["t", "t"],
        "item_id": ["i-1", "i-2"],
        "truth": [True, False],
        "vote:judge-a:x": [1, None],
        "sign:budget": [0.5, None],
    }
    pq.write_table(pa.table(columns), path)

    labels = read_labels(str(path)).traces

    assert [(item.truth, item.votes, item.signs) for item in labels.items] == [
        (True, {"judge-a": True}, {"budget": 0.5}),
        (False, {}, {}),
    ]
    assert {item.domain for item in labels.items} == {None}


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        ("task_id,truth", "t,1", "has no column item_id"),
        (HEADER + ",votes", "t,i,1,0,Web,1,1,0.5,1", "has a column 'votes'; columns are task_id"),
        (HEADER + ",vote:b", "t,i,1,0,Web,1,1,0.5,1", "has a column 'vote:b'"),
        (HEADER, "t,i,maybe,0,Web,1,1,0.5", "item 'i': truth is 'maybe', not 1 or 0"),
        (HEADER, "t,i,,0,Web,1,1,0.5", "item 'i': truth is '', not 1 or 0"),
        (HEADER, "t,i,1,0,Web,2,1,0.5", "item 'i': vote:judge-a:x is '2', not 1 or 0"),
        (HEADER, "t,i,1,0,Web,1,1,1.5", "item 'i': sign:budget is '1.5', not 0 to 1"),
        (HEADER, "t,i,1,0,Web,1,1,nan", "item 'i': sign:budget is 'nan', not 0 to 1"),
        (HEADER, "t,i,1,0,Internet,1,1,1", "has the domain 'Internet'; domains: Grounding"),
        (HEADER + ",target", "t,i,1,0,Web,1,1,1,episode", "has the target 'episode'; targets: trace, step"),
        (HEADER, "t,,1,0,Web,1,1,1", "row 1: item_id and task_id must not be empty"),
        (HEADER, ",i,1,0,Web,1,1,1", "row 1: item_id and task_id must not be empty"),
        (HEADER + ",vote:judge-a:y", "t,i,1,0,Web,1,1,1,1", "has two columns of votes by 'judge-a'"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, header: str, row: str, message: str) -> None:
    with pytest.raises(ConfigError, match=r"^--labels: ") as raised:
        read_labels(table(tmp_path, row, header=header))

    assert message in str(raised.value)


def test_an_item_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="row 2: the item 'i' is there twice"):
        read_labels(table(tmp_path, "t,i,1,0,Web,1,1,1", "t,i,0,0,Web,1,1,1"))


def test_rows_of_steps_are_kept_apart_with_the_judges_that_saw_them(tmp_path: Path) -> None:
    header = "task_id,item_id,truth,target,vote:judge-a:x,vote:effect:program"

    traces, steps = read_labels(table(tmp_path, "t,i,1,,1,", "t,i,0,step,,1", header=header))

    assert [(item.truth, item.votes) for item in traces.items] == [(True, {"judge-a": True})]
    assert [(item.truth, item.votes) for item in steps.items] == [(False, {"effect": True})]
    assert [voter.name for voter in [*traces.voters, *steps.voters]] == ["judge-a", "effect"]


def test_an_empty_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no rows"):
        read_labels(table(tmp_path))


@pytest.mark.parametrize(
    ("name", "content"), [("x.parquet", b"no parquet"), ("x.csv", b"\xff\xfe\x00"), ("x.txt", b"1")]
)
def test_a_file_of_another_kind_is_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(ConfigError, match=r"^--labels: "):
        read_labels(str(tmp_path / name))


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match="/nowhere"):
        read_labels("/nowhere")


# --- runs --------------------------------------------------------------------------------------------------------

CHECKED = task("Create the ticket “Lamp”.", [check("equals", "ticket", "new", name="made")])


def of_pass(pass_id: str, made: Record, *votes: Vote) -> list[Vote]:
    own = {"pass_id": pass_id, "attempt_id": made.attempt.attempt_id}
    return [one.model_copy(update=own) for one in votes]


def passed(pass_id: str, hour: int, kind: PassKind = "collect") -> PassRow:
    return judging(pass_id, hour).model_copy(update={"kind": kind})


def reviewed(made: Record, grade: str, pass_id: str = "review") -> Verdict:
    return verdict(made.attempt.attempt_id, grade, pass_id=pass_id, rule="human")


def run(tmp_path: Path, tasks: Sequence[TaskSpec], records: Sequence[Record], rows: Sequence[Any]) -> str:
    committer = begin(tmp_path / "run", tasks)
    put(committer, tmp_path / "run", records)
    committer.record(rows)
    committer.finish()
    return str(tmp_path / "run")


def test_a_persons_grade_is_the_truth_and_the_newest_pass_has_the_votes(tmp_path: Path) -> None:
    made, other = attempt("a" * 24), attempt("b" * 24)
    rows = [
        passed("old", 13),
        passed("new", 14, "rejudge"),
        passed("review", 15, "review"),
        *of_pass("old", made, vote("complete", "x"), vote("complete", "z")),
        *of_pass("new", made, vote("fail", "x").model_copy(update={"prompt_sha256": None}), program(None)),
        *of_pass("new", made, vote("wrong", "x", step=0)),
        *of_pass("review", made, person("complete")),
        *of_pass("new", other, vote("complete", "x")),
        reviewed(made, "complete"),
    ]

    labels, _ = read_labels(run(tmp_path, [task()], [made, other], rows))

    assert [(item.item_id, item.truth, item.votes) for item in labels.items] == [
        (made.attempt.attempt_id, True, {"x": False})
    ]
    assert [(voter.name, voter.kind) for voter in labels.voters] == [("screen", "program"), ("x", "model")]
    assert labels.items[0].domain == "Web"


def test_the_last_answer_of_a_person_counts(tmp_path: Path) -> None:
    made = attempt("a" * 24)
    rows = [
        passed("later", 16, "review"),
        passed("review", 15, "review"),
        reviewed(made, "fail", "later"),
        reviewed(made, "complete"),
    ]

    assert [item.truth for item in read_labels(run(tmp_path, [task()], [made], rows)).traces.items] == [False]


def test_an_answer_that_was_taken_back_is_no_truth(tmp_path: Path) -> None:
    made = attempt("a" * 24)
    withdrawn = verdict(made.attempt.attempt_id, None, pass_id="later", rule="human")
    rows = [passed("later", 16, "review"), passed("review", 15, "review"), reviewed(made, "complete"), withdrawn]

    assert read_labels(run(tmp_path, [task()], [made], rows)).traces.items == []


def test_signs_and_checks_come_from_the_record(tmp_path: Path) -> None:
    good = attempt("a" * 24, task=CHECKED, claim="success")
    poor = attempt("b" * 24, task=CHECKED, claim="success")
    good = good.model_copy(update={"probe_reads": [_ticket(good, "new")]})
    poor = poor.model_copy(update={"probe_reads": [_ticket(poor, "closed")]})
    rows = [passed("review", 15, "review"), reviewed(good, "complete"), reviewed(poor, "partial")]

    first, second = read_labels(run(tmp_path, [CHECKED], [good, poor], rows)).traces.items

    assert (first.signs.get(PASSED), first.signs.get(FAILED)) == (1.0, None)
    assert (second.signs.get(PASSED), second.signs.get(FAILED)) == (None, 1.0)
    assert first.signs["budget"] == pytest.approx(0.1)
    assert second.truth is False


def _ticket(made: Record, status: str) -> Any:
    row = read("ticket", [[status]], len(made.observations) - 1)
    return row.model_copy(update={"attempt_id": made.attempt.attempt_id})


def test_a_refusal_that_a_person_confirms_is_right_and_a_vote_for_complete_wrong(tmp_path: Path) -> None:
    made = attempt("a" * 24, claim="infeasible")
    rows = [
        passed("new", 14),
        passed("review", 15, "review"),
        *of_pass("new", made, vote("infeasible", "x"), vote("complete", "y")),
        reviewed(made, "infeasible"),
    ]

    item = read_labels(run(tmp_path, [task()], [made], rows)).traces.items[0]

    assert (item.truth, item.infeasible, item.votes) == (True, True, {"x": True, "y": False})


def test_steps_that_a_person_graded_are_right_when_they_serve_or_look_around(tmp_path: Path) -> None:
    made = attempt("a" * 24)
    rows = [
        passed("new", 14),
        passed("review", 15, "review"),
        *of_pass("new", made, vote("correct", "x", step=0), vote("wrong", "y", step=0), vote("fail", "x")),
        reviewed(made, "explore").model_copy(update={"target": "step", "step_index": 0}),
    ]

    traces, steps = read_labels(run(tmp_path, [task()], [made], rows))

    assert traces.items == []
    assert [(item.truth, item.votes, item.domain) for item in steps.items] == [(True, {"x": True, "y": False}, "Web")]
    assert steps.items[0].grades == {"x": "correct", "y": "wrong"}
