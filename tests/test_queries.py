"""Every documented question is asked of a collected dataset, and of nothing but what the document says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.query import query
from tests.collected import collect

DOCUMENT = Path(__file__).parents[1] / "docs" / "queries.md"
Rows = list[dict[str, Any]]


def questions() -> dict[str, str]:
    """The SQL of each section of the document, by its heading."""
    sections = DOCUMENT.read_text(encoding="utf-8").split("\n## ")[1:]
    return {section.splitlines()[0]: re.findall(r"```sql\n(.*?)```", section, re.DOTALL)[0] for section in sections}


def ask(dataset: Path, beginning: str) -> Rows:
    (sql,) = (sql for heading, sql in questions().items() if heading.startswith(beginning))
    rows: Rows = query(sql, [dataset]).to_pylist()
    return rows


UNANSWERED = {"What did judging again change?"}
"""The dataset was judged once."""


@pytest.mark.parametrize("heading", questions())
def test_every_documented_query_has_an_answer(heading: str, dataset: Path) -> None:
    rows = query(questions()[heading], [dataset]).to_pylist()
    assert rows or heading in UNANSWERED
    assert query(questions()[heading], [dataset, dataset]).to_pylist() == rows


def test_there_are_enough_of_them() -> None:
    assert len(questions()) >= 12


def known(dataset: Path, sql: str) -> Any:
    ((cell,),) = (tuple(row.values()) for row in query(sql, [dataset]).to_pylist())
    return cell


ANSWERS: dict[str, Callable[[Rows, Path], bool]] = {
    "Which applications yield": lambda rows, _: [row["app_id"] for row in rows] == ["fake-todo"],
    "Which capabilities yield": lambda rows, _: len(rows) > 5 and all(0 <= row["yield"] <= 1 for row in rows),
    "On which trajectories": lambda rows, _: all(
        [vote.split(":")[0] for vote in row["votes"]] == ["ann", "bob"] for row in rows
    ),
    "How often do two judges": lambda rows, _: (
        [(row["one"], row["other"]) for row in rows] == [("ann", "bob")] and 0 < rows[0]["agreement"] < 1
    ),
    "Which steps of accepted": lambda rows, _: all(row["action_type"] and row["reason"] for row in rows),
    "What does an accepted": lambda rows, _: rows[0]["attempts"] > rows[0]["accepted"] > 0 and rows[0]["usd"] > 0,
    "Which machines break": lambda rows, dataset: (
        {row["node"] for row in rows} == {"node-0", "node-1"}
        and sum(row["faults"] for row in rows) == known(dataset, "SELECT count(*) FROM faults")
    ),
    "Which trajectories were made": lambda rows, _: all(len(row["attempt_ids"]) == row["copies"] > 1 for row in rows),
    "How many screens": lambda rows, _: 0 < rows[0]["duplicate_share"] < 1 and rows[0]["failed_captures"] == 1,
    "Why do trajectories fail": lambda rows, _: (
        {row["grade"] for row in rows} == {"fail", "partial"} and "noop" in {row["policy"] for row in rows}
    ),
    "Which contract checks": lambda rows, _: all(0 < row["not_passed"] <= row["asked"] for row in rows),
    "How often is the agent's": lambda rows, _: ("success", "fail") in {(row["claim"], row["grade"]) for row in rows},
    "Which tasks come out": lambda rows, _: all(0 < row["complete"] < row["graded"] for row in rows),
    "Do judges notice": lambda rows, _: (
        {"useless", "wrong_target"} <= {row["injected"] for row in rows}
        and sum(row["noticed"] for row in rows) > sum(row["missed"] for row in rows)
    ),
    "Which actions": lambda rows, _: rows[0]["action_type"] == "Click",
    "Where does the time": lambda rows, _: rows[0]["decide_p95"] >= rows[0]["decide_median"] >= 0,
    "How many verdicts": lambda rows, _: {row["target"] for row in rows} == {"step", "trace"},
    "What did judging again": lambda rows, _: rows == [],
    "Which tasks have expired": lambda rows, _: (
        [(row["held"], row["reason"]) for row in rows] == [(True, None), (False, "oracle_fails")]
    ),
    "What was rejected": lambda rows, _: {row["rejected"] for row in rows} == {"Click", "Wait"},
}


@pytest.mark.parametrize("beginning", ANSWERS)
def test_the_answers_are_right(beginning: str, dataset: Path) -> None:
    assert ANSWERS[beginning](ask(dataset, beginning), dataset)


def test_holes_are_capabilities_without_an_accepted_trajectory(dataset: Path) -> None:
    holes = {row["capability_id"] for row in ask(dataset, "Which capabilities have no")}
    filled = {row["capability_id"] for row in ask(dataset, "Which capabilities yield") if row["accepted"]}
    assert holes and not holes & filled


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second run of the same tasks."""
    return collect(tmp_path_factory.mktemp("other") / "run", "another")


COUNTED = {
    "Which applications yield": "trajectories",
    "Which capabilities yield": "scored",
    "Which capabilities have no": "tasks",
    "On which trajectories": None,
    "How often do two judges": "both",
    "Which steps of accepted": None,
    "What does an accepted": "attempts",
    "Which machines break": "faults",
    "How many screens": "pictures_seen",
    "Why do trajectories fail": "trajectories",
    "Which contract checks": "asked",
    "How often is the agent's": "trajectories",
    "Do judges notice": "steps",
    "Which actions": "steps",
    "Where does the time": "steps",
    "How many verdicts": "verdicts",
    "What was rejected": None,
    "What did judging again": None,
    "Which tasks have expired": None,
}
"""What each answer counts: a column, or its rows."""

ACROSS = {"Which trajectories were made", "Which tasks come out"}
"""What compares one run with the other, so that two runs answer more than each alone."""


def counted(rows: Rows, column: str | None) -> int:
    return len(rows) if column is None else sum(row[column] for row in rows)


@pytest.mark.parametrize("beginning", COUNTED)
def test_over_two_runs_everything_is_counted_once(beginning: str, dataset: Path, other: Path) -> None:
    (sql,) = (sql for heading, sql in questions().items() if heading.startswith(beginning))
    first, second, both = (
        counted(query(sql, folders).to_pylist(), COUNTED[beginning])
        for folders in ([dataset], [other], [dataset, other])
    )
    assert both == first + second
    assert both or beginning in ("What did judging again", "Which capabilities have no")


def test_over_two_runs_the_same_task_is_one_task(dataset: Path, other: Path) -> None:
    tried = {heading: query(sql, [dataset, other]).to_pylist() for heading, sql in questions().items()}
    (copies,) = (rows for heading, rows in tried.items() if heading.startswith("Which trajectories were made"))
    (mixed,) = (rows for heading, rows in tried.items() if heading.startswith("Which tasks come out"))
    assert max(row["copies"] for row in copies) >= 4
    assert len({row["instruction"] for row in mixed}) == len(mixed)
    assert sum(row["graded"] for row in mixed) > sum(row["graded"] for row in ask(dataset, "Which tasks come out"))


def test_every_question_is_asked_of_two_runs() -> None:
    asked = [*COUNTED, *ACROSS]
    assert all(any(heading.startswith(one) for one in asked) for heading in questions())
