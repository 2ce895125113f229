"""Which work is missing, in which order it is handed out, and how broken attempts come back."""

from __future__ import annotations

from typing import Any

from pipeline.planning import Desk, Order, Tried, Work, again, missing
from pipeline.tasks import Start, TaskSpec, identified


def task(name: str, app_id: str = "notes") -> TaskSpec:
    return identified(
        TaskSpec(
            task_id="",
            app_ids=[app_id],
            platform="web",
            tier="single",
            instruction=name,
            language="en",
            capability_ids=[],
            start=Start(app_id=app_id),
            contract_kind="state",
            segments=[],
            domain="Web",
        )
    )


def order(*tasks: TaskSpec, **more: Any) -> Order:
    fields: dict[str, Any] = {"seed": 7, "attempts": 3, **more}
    return Order(run_id="run", policy_id="policy", rounds=[tasks] * fields.pop("rounds", 1), **fields)


def all_of(rounds: list[list[Work]]) -> list[Work]:
    return [work for round_ in rounds for work in round_]


def test_everything_is_missing_at_first() -> None:
    wanted = order(task("a"), task("b"), rounds=2)

    rounds = list(missing(wanted, set(), {}))

    assert [len(round_) for round_ in rounds] == [2, 2]
    assert len({work.plan.trajectory_id for work in all_of(rounds)}) == wanted.total == 4


def test_each_round_has_its_own_seed() -> None:
    works = all_of(list(missing(order(task("a"), rounds=3), set(), {})))

    assert [(work.plan.round, work.plan.seed) for work in works] == [(0, 7), (1, 8), (2, 9)]


def test_what_is_final_is_not_planned_again() -> None:
    wanted = order(task("a"), task("b"))
    first, second = all_of(list(missing(wanted, set(), {})))

    left = all_of(list(missing(wanted, {first.plan.trajectory_id}, {})))

    assert [work.plan.trajectory_id for work in left] == [second.plan.trajectory_id]


def test_identities_do_not_depend_on_what_is_missing() -> None:
    wanted = order(task("a"), task("b"))
    everything = all_of(list(missing(wanted, set(), {})))

    rest = all_of(list(missing(wanted, {everything[0].plan.trajectory_id}, {})))

    assert rest == everything[1:]


def test_numbers_go_on_and_broken_attempts_count() -> None:
    wanted = order(task("a"))
    (work,) = all_of(list(missing(wanted, set(), {})))

    (resumed,) = all_of(list(missing(wanted, set(), {work.plan.trajectory_id: Tried(last=2, broken=2)})))

    assert (resumed.plan.number, resumed.plan.attempts) == (3, 3)
    assert again(resumed) is None


def test_cancelled_attempts_cost_no_try() -> None:
    wanted = order(task("a"))
    (work,) = all_of(list(missing(wanted, set(), {})))

    (resumed,) = all_of(list(missing(wanted, set(), {work.plan.trajectory_id: Tried(last=2, broken=0)})))

    assert (resumed.plan.number, resumed.plan.attempts) == (3, 5)


def test_a_broken_attempt_comes_back_under_a_new_number() -> None:
    (work,) = all_of(list(missing(order(task("a"), attempts=2), set(), {})))

    following = again(work)

    assert following is not None
    assert following.plan.trajectory_id == work.plan.trajectory_id
    assert following.plan.number == 2
    assert following.plan.attempt_id != work.plan.attempt_id
    assert again(following) is None


def test_workers_spread_over_applications_and_stay_there() -> None:
    tasks = [task("a", "one"), task("b", "one"), task("c", "two"), task("d", "two")]
    desk = Desk(missing(order(*tasks), set(), {}))

    taken = [desk.take(seat) for seat in (0, 1, 0, 1)]

    assert [work.app_id if work else None for work in taken] == ["one", "two", "one", "two"]
    assert desk.take(0) is None


def test_a_worker_out_of_work_helps_with_another_application() -> None:
    tasks = [task("a", "one"), task("b", "two"), task("c", "two")]
    desk = Desk(missing(order(*tasks), set(), {}))
    first = [desk.take(0), desk.take(1)]

    helped = desk.take(0)

    assert all(first)
    assert helped is not None
    assert helped.app_id == "two"


def test_a_broken_application_lets_the_others_go_first() -> None:
    tasks = [task("a", "bad"), task("b", "bad"), task("c", "good"), task("d", "good")]
    desk = Desk(missing(order(*tasks), set(), {}))
    work = desk.take(0)
    assert work is not None
    following = again(work)
    assert following is not None

    desk.give_back(following)
    order_of_apps = [taken.app_id for taken in iter(lambda: desk.take(0), None)]

    assert order_of_apps == ["good", "good", "bad", "bad"]


def test_the_desk_is_idle_when_all_work_has_ended() -> None:
    desk = Desk(missing(order(task("a")), set(), {}))
    work = desk.take(0)
    assert work is not None
    assert not desk.idle

    desk.settle()

    assert desk.idle


def test_rounds_follow_one_another() -> None:
    desk = Desk(missing(order(task("a"), rounds=3), set(), {}))

    rounds = [taken.plan.round for taken in iter(lambda: desk.take(0), None)]

    assert rounds == [0, 1, 2]
