"""A reviewer's session on a dataset: what waits, what is drawn, what an answer changes for everybody else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline import manifest
from pipeline.check import check
from pipeline.errors import RunError, SinkError
from pipeline.file_names import RUN_FILE
from pipeline.query import query
from pipeline.review_answers import Answer
from pipeline.review_session import Progress, Selection, Session
from pipeline.sinks import Committer
from pipeline.storage import Storage, storage_of
from tests.objectstore import contents
from tests.reviews import ACCEPTED, BROKEN, UNDECIDED, vote, waiting

FAIL = Answer("fail", "wrong ticket", {})
COMPLETE = Answer("complete", "", {})
UNSURE = Answer(None, "too dark", {})


@pytest.fixture
def folder(tmp_path: Path) -> Storage:
    """A dataset on this machine."""
    return waiting(storage_of(tmp_path / "run"))


def begun(folder: Storage, name: str = "ann", **selection: Any) -> Session:
    """A session of this reviewer."""
    session = Session(folder, Selection(**selection))
    session.begin(name)
    return session


def answered(folder: Storage, name: str, *answers: tuple[str, Answer], **selection: Any) -> None:
    """A whole session that gives these answers."""
    with begun(folder, name, **selection) as session:
        for attempt_id, answer in answers:
            session.store(attempt_id, answer)


def found(folder: Storage, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in query(sql, [folder]).to_pylist()]


def held(folder: Storage, attempt_id: str) -> tuple[Any, ...]:
    """Status, grade and rule of what now holds of a trajectory."""
    (row,) = found(folder, f"SELECT status, grade, rule FROM trace_grades WHERE attempt_id = '{attempt_id}'")
    return row


# --- what there is to do ---------------------------------------------------------------------------------------------


def test_what_is_undecided_waits(folder: Storage) -> None:
    with begun(folder) as session:
        assert sorted(session.items) == sorted(UNDECIDED)
        assert session.others == []


def test_an_audit_adds_accepted_trajectories_by_lot(folder: Storage) -> None:
    drawn: set[frozenset[str]] = set()
    places: set[int] = set()
    for seed in range(4):
        with begun(folder, audit=2, seed=seed) as session:
            chosen = [one for one in session.items if one in ACCEPTED]
            drawn.add(frozenset(chosen))
            places.update(session.items.index(one) for one in chosen)

        assert sorted(session.items) == sorted([*UNDECIDED, *chosen])
        assert len(chosen) == 2

    assert len(drawn) > 1
    assert len(places) > 2, "drawn ones are not kept together"


def test_the_same_seed_draws_the_same_in_the_same_order(folder: Storage) -> None:
    with begun(folder, audit=2, seed=7) as first, begun(folder, audit=2, seed=7) as second:
        assert first.items == second.items


def test_a_limit_bounds_what_waits_and_not_the_audit(folder: Storage) -> None:
    with begun(folder, audit=2, limit=1) as session:
        assert len(set(session.items) & set(UNDECIDED)) == 1
        assert len(set(session.items) & set(ACCEPTED)) == 2


def test_an_audit_of_nothing_that_waits(folder: Storage) -> None:
    with begun(folder, audit=9, limit=0) as session:
        assert sorted(session.items) == sorted(ACCEPTED)


def test_what_a_person_has_graded_waits_for_nobody(folder: Storage) -> None:
    answered(folder, "ann", ("u1-1", FAIL))

    for name in ("ann", "bob"):
        with begun(folder, name) as session:
            assert sorted(session.items) == ["u2-1", "u3-1"]
            assert session.others == ["u1-1"]


def test_what_one_cannot_say_waits_for_others_only(folder: Storage) -> None:
    answered(folder, "ann", ("u1-1", UNSURE))

    with begun(folder, "ann") as session:
        assert "u1-1" not in session.items
    with begun(folder, "bob") as session:
        assert "u1-1" in session.items


def test_an_audit_draws_nothing_that_the_reviewer_has_answered(folder: Storage) -> None:
    answered(folder, "ann", ("a1-1", COMPLETE), ("a2-1", COMPLETE), audit=4)

    with begun(folder, "ann", audit=4, limit=0) as session:
        assert sorted(session.items) == ["a3-1", "a4-1"]
    with begun(folder, "bob", audit=4, limit=0) as session:
        assert sorted(session.items) == sorted(ACCEPTED)


def test_what_cannot_be_judged_is_never_asked(tmp_path: Path) -> None:
    folder = waiting(storage_of(tmp_path), [vote(BROKEN, "bob", "fail")])

    with begun(folder, audit=9) as session:
        assert not session.has(BROKEN)


def test_a_session_goes_through_what_is_unanswered_in_turn(folder: Storage) -> None:
    with begun(folder) as session:
        first, second, third = session.items
        session.store(second, FAIL)

        assert session.progress == Progress(1, 3)
        assert session.next_after(first) == third
        assert session.next_after(third) == first
        session.store(first, FAIL)
        session.store(third, UNSURE)
        assert session.next_after(third) is None
        assert session.progress == Progress(3, 3)


def test_a_list_shows_the_trajectories_in_order(folder: Storage) -> None:
    with begun(folder) as session:
        lines = session.lines(["u2-1", "nothing", "a1-1"])

    assert [line.attempt_id for line in lines] == ["u2-1", "a1-1"]
    assert lines[0].instruction.startswith("创建工单") and lines[0].step_count == 3


def test_a_session_has_one_reviewer(folder: Storage) -> None:
    with begun(folder) as session, pytest.raises(ValueError, match="ann"):
        session.begin("bob")


# --- what an answer changes ------------------------------------------------------------------------------------------


def test_answers_decide_and_the_dataset_stays_sound(storage: Storage) -> None:
    waiting(storage)

    answered(storage, "ann", ("u1-1", COMPLETE), ("u2-1", FAIL), ("a1-1", FAIL), audit=4)

    assert held(storage, "u1-1") == ("graded", "complete", "human")
    assert held(storage, "u2-1") == ("graded", "fail", "human")
    assert {row[0] for row in found(storage, "SELECT attempt_id FROM accepted")} == {"a2-1", "a3-1", "a4-1", "u1-1"}
    assert check(storage) == []


def test_an_answer_counts_at_once(folder: Storage) -> None:
    with begun(folder) as session:
        session.store("u1-1", COMPLETE)

        assert held(folder, "u1-1") == ("graded", "complete", "human")


def test_a_session_is_one_pass(folder: Storage) -> None:
    answered(folder, "ann", ("u1-1", COMPLETE), ("u2-1", UNSURE), ("u3-1", FAIL))

    passes = found(folder, "SELECT pass_id, judge_set, rule, calibration_id FROM passes WHERE kind = 'review'")
    assert [row[1:] for row in passes] == [(["ann"], "human", None)]
    assert found(folder, "SELECT DISTINCT pass_id FROM votes WHERE judge_kind = 'person'") == [(passes[0][0],)]


def test_an_answer_may_be_changed_within_a_session(folder: Storage) -> None:
    with begun(folder) as session:
        session.store("u1-1", Answer("complete", "", {0: "wrong"}))
        session.store("u1-1", FAIL)
        session.store("u1-1", Answer("partial", "half of it", {0: "correct"}))
        session.store("u2-1", COMPLETE)

        assert session.answer_of("u1-1") == Answer("partial", "half of it", {0: "correct"})

    assert held(folder, "u1-1") == ("graded", "partial", "human")
    twice = "SELECT pass_id, attempt_id, target, step_index FROM verdicts GROUP BY ALL HAVING count(*) > 1"
    assert found(folder, twice) == []
    step = "SELECT grade, rule FROM step_grades WHERE attempt_id = 'u1-1' AND step_index = 0"
    assert found(folder, step) == [("correct", "human")]


def test_an_answer_may_be_changed_in_a_later_session(folder: Storage) -> None:
    answered(folder, "ann", ("u1-1", COMPLETE))
    answered(folder, "ann", ("u1-1", FAIL))

    assert held(folder, "u1-1") == ("graded", "fail", "human")


def test_persons_who_disagree_leave_it_undecided_and_asked_no_more(folder: Storage) -> None:
    answered(folder, "ann", ("u1-1", COMPLETE))
    answered(folder, "bob", ("u1-1", FAIL))

    assert held(folder, "u1-1") == ("undecided", None, "human")
    with begun(folder, "cleo") as session:
        assert "u1-1" not in session.items and session.has("u1-1")


def test_a_grade_that_is_taken_back_waits_for_others(folder: Storage) -> None:
    answered(folder, "ann", ("u1-1", COMPLETE))
    answered(folder, "ann", ("u1-1", UNSURE))

    assert held(folder, "u1-1") == ("undecided", None, "human")
    with begun(folder, "bob") as session:
        assert "u1-1" in session.items


def test_the_contracts_score_is_kept_beside_a_persons_verdict(folder: Storage) -> None:
    answered(folder, "ann", ("u1-1", COMPLETE))

    sql = "SELECT DISTINCT contract_score, trace_grade FROM rl_steps WHERE attempt_id = 'u1-1'"
    assert found(folder, sql) == [(1.0, "complete")]


# --- what a session leaves behind ------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["running", "finished"])
def test_a_review_does_not_finish_a_run(folder: Storage, state: str) -> None:
    run = manifest.read_run(folder).model_copy(update={"state": state})
    folder.replace(RUN_FILE, run.model_dump_json().encode())

    answered(folder, "ann", (UNDECIDED[0], FAIL))

    assert manifest.read_run(folder).state == state
    assert check(folder) == []


def test_only_looking_changes_nothing(folder: Storage) -> None:
    before = contents(folder)

    answered(folder, "ann", audit=2)

    assert contents(folder) == before


def test_an_answer_that_could_not_be_written_leaves_nothing(folder: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    with begun(folder) as session:
        session.store("u1-1", COMPLETE)
        with monkeypatch.context() as broken:
            broken.setattr(type(folder), "create", full)
            with pytest.raises(SinkError, match="no space"):
                session.store("u2-1", FAIL)
        assert session.answer_of("u2-1") is None
        session.store("u3-1", FAIL)

    assert held(folder, "u2-1")[0] == "undecided"
    assert held(folder, "u3-1") == ("graded", "fail", "human")
    assert check(folder) == []


def full(*_: object) -> None:
    raise OSError(28, "no space left")


def test_another_driver_that_took_over_ends_the_session(folder: Storage) -> None:
    session = begun(folder)
    session.store("u1-1", COMPLETE)
    Committer.claim(folder, session.dataset.run.run_id, {}).finish()

    with pytest.raises(RunError, match="taken over"):
        session.store("u2-1", FAIL)
    with pytest.raises(RunError, match="taken over"):
        session.close()

    assert held(folder, "u2-1")[0] == "undecided"
