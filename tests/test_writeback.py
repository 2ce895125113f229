"""What a round changes in the catalogs: statuses, counters and evidence; what is explored again; what is taken out."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalogs.complaints import Complaint, Kind, Rollout
from catalogs.rollouts import stored_rollouts
from catalogs.writeback import (
    BROKEN,
    Heard,
    applied,
    heard,
    taken_out,
    to_explore,
    written_back,
)
from pipeline.structs import Param
from pipeline.tasks import Capability, Evidence
from pipeline.words import CapabilityStatus
from tests.datasets import attempt, begin, judging, put, verdict
from tests.records import NOON, Look, look, node
from tests.rounds import (
    BARE,
    CREATE,
    LOGIN,
    capability,
    create_task,
    later,
    stuck,
    without_effect,
    worked,
)

DOCUMENT = Evidence(source="help.html", quote_sha256="0" * 64, licence="BSD-3-Clause")
SUBMIT = look(node("textbox", "Summary"), node("button", "Add ticket"), path="/new")
STATUSES: tuple[CapabilityStatus, ...] = get_args(CapabilityStatus)


def after(*rollouts: Rollout, **before: Any) -> Capability:
    """The capability after a round of these trajectories."""
    (changed,) = written_back([capability(**before)], rollouts, 1, later(1))
    return changed


def status(*rollouts: Rollout, **before: Any) -> str:
    return after(*rollouts, **before).status


def lost(count: int, *screens: Look, of: Any = None) -> list[Rollout]:
    """So many trajectories that were stuck in the same way."""
    return [stuck(*screens, name=f"lost-{number}", of=of) for number in range(count)]


def won(count: int) -> list[Rollout]:
    return [worked(f"won-{number}") for number in range(count)]


# --- statuses -----------------------------------------------------------------------------------------------------


def test_one_complaint_changes_no_status() -> None:
    assert status(*lost(1), status="confirmed") == "confirmed"


@pytest.mark.parametrize(
    ("before", "becomes"),
    [
        ({"status": "documented"}, "unsupported"),
        ({"status": "confirmed"}, "outdated"),
        ({"status": "documented", "success_count": 1}, "outdated"),
        ({"status": "unsupported"}, "unsupported"),
        ({"status": "needs_login"}, "unsupported"),
    ],
)
def test_what_is_missing_again_is_outdated_if_it_ever_worked(before: dict[str, Any], becomes: str) -> None:
    assert status(*lost(2), **before) == becomes


def test_a_control_by_another_name_is_renamed() -> None:
    assert status(*lost(2, SUBMIT, SUBMIT), status="confirmed") == "renamed"


def test_a_login_that_is_asked_for_again_is_needed() -> None:
    assert status(*lost(2, LOGIN, LOGIN), status="confirmed") == "needs_login"


def test_complaints_in_other_words_do_not_add_up() -> None:
    assert status(*lost(1), stuck(LOGIN, LOGIN, name="other"), status="confirmed") == "confirmed"


def test_failure_beside_success_is_flaky() -> None:
    assert status(*lost(2), *won(1), status="confirmed") == "flaky"
    assert status(*lost(1), *won(1), status="confirmed") == "confirmed"


def test_success_on_an_older_version_is_no_flakiness() -> None:
    newer = create_task(app_versions=[Param(name="demo", value="2.0")])
    failures = [one._replace(record=_at(one, 2)) for one in lost(2, of=newer)]

    assert status(*won(3), *failures, status="confirmed") == "outdated"


def test_failure_on_an_older_version_is_forgotten() -> None:
    newer = create_task(app_versions=[Param(name="demo", value="2.0")])
    fresh = worked("fresh", of=newer, at=later(2))

    assert status(*lost(2), fresh, status="confirmed") == "confirmed"


@pytest.mark.parametrize("before", sorted({*STATUSES} - {"flaky"}))
def test_success_by_the_recorded_procedure_confirms(before: CapabilityStatus) -> None:
    assert status(*won(1), status=before) == "confirmed"


def test_success_by_another_way_says_nothing_of_the_procedure() -> None:
    elsewhere = worked("elsewhere")
    record = elsewhere.record.model_copy(update={"steps": elsewhere.record.steps[-1:]})
    made = elsewhere._replace(record=record)

    assert after(made, status="renamed").status == "renamed"
    assert after(made, status="renamed").success_count == 1
    assert status(made, *lost(2), status="documented") == "outdated"


@pytest.mark.parametrize(("successes", "becomes"), [(2, "flaky"), (3, "confirmed")])
def test_what_was_flaky_must_prove_itself(successes: int, becomes: str) -> None:
    assert status(*won(successes), status="flaky") == becomes


def test_a_procedure_without_effect_must_be_so_in_two_tasks() -> None:
    again = [without_effect("t1"), without_effect("t2")]
    other = without_effect("t3", of=create_task(language="zh"))

    assert status(*again, status="confirmed") == "confirmed"
    assert status(*again, other, status="confirmed") == "outdated"


def test_agents_that_fail_on_their_own_change_nothing() -> None:
    own = [
        worked("gave-up", grade="fail", accepted=False, termination="refused"),
        stuck(BARE, BARE, name="stopped", termination="cancelled"),
    ]

    assert written_back([capability()], own, 1, NOON) == []


# --- counters and evidence ----------------------------------------------------------------------------------------


def test_what_changed_says_how_often_when_and_by_which_trajectories() -> None:
    found = after(*lost(2), *won(1), evidence=[DOCUMENT], success_count=4, failure_count=1)

    assert (found.success_count, found.failure_count, found.round, found.updated_at) == (5, 3, 1, later(1))
    assert [entry.source for entry in found.evidence] == [
        "help.html",
        "trajectory:lost-0",
        "trajectory:lost-1",
        "trajectory:won-0",
    ]


def test_capabilities_that_nobody_met_are_not_among_the_changed() -> None:
    others = [capability(), capability("demo.other")]

    assert [one.capability_id for one in written_back(others, won(1), 1, NOON)] == [CREATE]


def test_complaints_of_two_rounds_add_up() -> None:
    once = after(*lost(1), status="confirmed")
    (twice,) = written_back([once], [stuck(BARE, BARE, name="again")], 2, later(2))

    assert (once.status, twice.status) == ("confirmed", "outdated")


def test_the_same_trajectory_is_counted_once() -> None:
    once = after(*lost(1), status="confirmed")
    (again,) = written_back([once], lost(1), 2, later(2))

    assert again.status == "confirmed"


def test_a_round_of_success_settles_complaints() -> None:
    once = after(*lost(1), status="confirmed")
    (fine,) = written_back([once], won(1), 2, later(2))
    (again,) = written_back([fine], [stuck(BARE, BARE, name="again")], 3, later(3))

    assert again.status == "confirmed"


def test_a_complaint_beside_a_success_does_not_count_towards_breaking() -> None:
    mixed = after(*lost(1), *won(1), status="confirmed")
    (once,) = written_back([mixed], [stuck(BARE, BARE, name="again")], 2, later(2))
    (twice,) = written_back([once], [stuck(BARE, BARE, name="and-again")], 3, later(3))

    assert (once.status, twice.status) == ("confirmed", "outdated")


def test_complaints_that_had_their_effect_are_spent_once_it_was_explored_again() -> None:
    broken = after(*lost(2), status="confirmed")
    explored = broken.model_copy(update={"status": "confirmed"})
    (once,) = written_back([explored], [stuck(BARE, BARE, name="new")], 2, later(2))

    assert (broken.status, once.status) == ("outdated", "confirmed")


def test_evidence_does_not_grow_for_ever() -> None:
    assert len(after(*lost(50), evidence=[DOCUMENT]).evidence) == 21


# --- any round ----------------------------------------------------------------------------------------------------

KINDS: tuple[Kind, ...] = get_args(Kind)
words = st.builds(
    lambda number, version, kind, at, as_recorded: Heard(
        CREATE,
        f"t{number}",
        f"task-{number % 3}",
        version,
        later(at),
        as_recorded and kind is None,
        Complaint(CREATE, kind, kind) if kind else None,
    ),
    st.integers(0, 30),
    st.sampled_from(["1.0", "2.0"]),
    st.sampled_from([None, None, *KINDS]),
    st.integers(0, 5),
    st.booleans(),
)
rounds = st.lists(words, min_size=1, max_size=12, unique_by=lambda word: word.trajectory_id)


@settings(deadline=None)
@given(rounds, st.sampled_from(STATUSES), st.integers(0, 3), st.randoms(use_true_random=False))
def test_the_order_of_trajectories_means_nothing(
    said: list[Heard], before: CapabilityStatus, successes: int, shuffler: random.Random
) -> None:
    known = {CREATE: capability(status=before, success_count=successes, evidence=[DOCUMENT])}
    shuffled = list(said)
    shuffler.shuffle(shuffled)

    assert applied(known, said, 1, NOON) == applied(known, shuffled, 1, NOON)


@settings(deadline=None)
@given(rounds, st.sampled_from(STATUSES), st.integers(0, 3))
def test_statuses_are_earned(said: list[Heard], before: CapabilityStatus, successes: int) -> None:
    known = {CREATE: capability(status=before, success_count=successes, evidence=[DOCUMENT])}

    (found,) = applied(known, said, 1, NOON)

    complaints = [word for word in said if word.complaint]
    assert found.success_count + found.failure_count == successes + len(said)
    assert DOCUMENT in found.evidence
    if found.status != before and found.status in {*BROKEN, "flaky"}:
        assert len(complaints) >= 2
    if found.status == "flaky" != before:
        assert any(word.as_recorded for word in said)
    if found.status == "unsupported" != before:
        assert not successes and len(complaints) == len(said)
    if found.status == "confirmed" != before:
        assert any(word.as_recorded for word in said)


# --- what follows -------------------------------------------------------------------------------------------------


def test_what_is_broken_flaky_or_old_is_explored_again() -> None:
    fresh, old = later(23), NOON - timedelta(days=40)
    known = [capability(f"demo.{name}", status=name, updated_at=fresh) for name in STATUSES]
    known.append(capability("demo.old", status="confirmed", updated_at=old))
    known.append(capability("demo.never", status="confirmed"))

    found = to_explore(known, later(24), timedelta(days=30))

    assert [one.capability_id.removeprefix("demo.") for one in found] == sorted([*BROKEN, "flaky", "never", "old"])


def test_tasks_that_need_what_is_broken_are_taken_out() -> None:
    fine, gone = create_task(), create_task(CREATE, "demo.gone")
    known = [capability(), capability("demo.gone", status="renamed"), capability("demo.else", status="outdated")]

    (found,) = taken_out([fine, gone], known, NOON)

    assert (found.task_id, found.held, found.reason) == (gone.task_id, False, "demo.gone is renamed")
    assert found.expires_at == NOON


# --- from a dataset -----------------------------------------------------------------------------------------------


def test_a_round_of_a_dataset_is_read_with_its_verdicts(tmp_path: Path) -> None:
    asked = create_task()
    committer = begin(tmp_path, [asked])
    first, second = attempt("t1", task=asked), attempt("t2", task=asked)
    third = attempt("t3", task=asked)
    third = third.model_copy(update={"attempt": third.attempt.model_copy(update={"round": 1})})
    unjudged = attempt("t4", task=asked)
    put(committer, tmp_path, [first, second, third, unjudged])
    committer.record([judging(), verdict("t1-1"), verdict("t2-1", "fail"), verdict("t3-1")])
    committer.finish()

    found = list(stored_rollouts(tmp_path, 0))

    assert [(one.trajectory_id, one.accepted) for one in found] == [("t1", True), ("t2", False)]
    assert [one.verdict and one.verdict.grade for one in found] == ["complete", "fail"]
    assert found[0].task == asked
    assert found[0].record.steps == first.steps
    assert [one.trajectory_id for one in stored_rollouts(tmp_path, 1)] == ["t3"]


def test_a_trajectory_speaks_of_each_capability_it_used() -> None:
    known = {name: capability(name) for name in (CREATE, "demo.other")}

    said = heard(worked(of=create_task(CREATE, "demo.other")), known)

    assert [(word.capability_id, word.version, word.as_recorded) for word in said] == [
        (CREATE, "1.0", False),
        ("demo.other", "1.0", False),
    ]


def _at(rollout: Rollout, hours: int) -> Any:
    finished = rollout.record.attempt.model_copy(update={"finished_at": later(hours)})
    return rollout.record.model_copy(update={"attempt": finished})
