"""Asking no more models than needed: the benchmark of it on votes made here, with real requests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.judge import lengths, measure, order_of
from bench.label_sets import REWARD
from pipeline.config import PanelConfig
from pipeline.protocols import view_of
from pipeline.records import Verdict, Vote
from pipeline.words import Claim, Grade, Target, VoteStatus
from tests.calibrations import MADE_AT, calibration, labelled, model, weighing
from tests.records import task
from tests.test_panel import QUORUM, asked, case_of, ended, outcome, written
from tests.test_public_labels import web_set
from tests.votes import letters, program, vote
from verifiers.ballot import PROGRAM
from verifiers.calibrate import calibrate
from verifiers.contract import evaluate
from verifiers.foresight import Unheard, Waiting, open_of
from verifiers.labelled import LabelSet, Voter
from verifiers.panel import BY_VOTES, Case, decide


def panel_of_four() -> LabelSet:
    made = labelled({"a": 0.95, "b": 0.75, "c": 0.7, REWARD: 0.9}, tasks=12, per_task=3)
    check = Voter(name=REWARD, kind="program", family=PROGRAM)
    return made._replace(voters=[model("c"), model("b"), model("a"), check])


def test_the_model_that_can_move_the_decision_most_is_asked_first() -> None:
    labels = panel_of_four()

    order = order_of(calibrate(labels, MADE_AT), [voter for voter in labels.voters if voter.kind == "model"])

    assert order[0].name == "a"


@pytest.mark.slow
async def test_weights_ask_fewer_models_and_give_the_verdict_of_all_votes() -> None:
    labels = panel_of_four()

    found = await measure(labels, PanelConfig(rule="weighted"), {item.item_id: 7 for item in labels.items})

    assert all(one.equal for one in found)
    assert {one.models for one in found} > {1}
    assert sum(one.models for one in found) < 3 * len(found)
    for one in found:
        assert (one.pictures, one.calls) == (one.models * 11, one.models * 5)
        assert (one.frames, one.all_pictures, one.all_calls) == (21, 33, 15)


def test_a_stored_trajectory_has_a_screen_more_than_steps(tmp_path: Path) -> None:
    assert lengths(web_set(tmp_path, {})) == {"an-agent t-1": 4}


# --- who is left out ----------------------------------------------------------------------------------------------

HEAVY = weighing(
    accept=0.7,
    reject=0.4,
    m0__for=1.2,
    m0__against=-1.0,
    m1__for=0.6,
    m1__against=-0.3,
    m2__for=0.2,
    m2__against=-1.5,
    last__for=0.8,
    last__against=-0.8,
    screen__for=0.5,
    screen__against=-2.0,
    sign__checks_passed=0.4,
)
SAID: list[Grade | None] = ["complete", "partial", "infeasible", "fail", None]
CLAIMS: list[Claim] = ["success", "infeasible"]
SILENCES: list[VoteStatus] = ["abstain", "error"]
RULES = [PanelConfig(), PanelConfig(rule="weighted"), PanelConfig(rule="single")]


class Panel(NamedTuple):
    """A case, and what everybody would say of the trajectory if asked."""

    case: Case
    config: PanelConfig
    programs: list[Vote]
    models: list[Vote]
    escalate: Vote | None

    def ask(self, *, all_of_them: bool) -> tuple[Verdict, list[str]]:
        """The verdict, and which models were asked for it."""
        heard, names = list(self.programs), []
        last = waits(self.escalate) if self.escalate else None
        for place, one in enumerate(self.models):
            waiting = Waiting([waits(other) for other in self.models[place:]], last)
            if all_of_them or open_of(self.case, heard, self.config, waiting)[0]:
                heard.append(one)
                names.append(one.judge)
        voted = self.verdict(heard).rule in BY_VOTES and any(
            vote.judge_kind == "model" and vote.status != "error" for vote in heard
        )
        if self.escalate and (
            not voted if all_of_them else open_of(self.case, heard, self.config, Waiting((), last))[0]
        ):
            heard.append(self.escalate)
            names.append(self.escalate.judge)
        return self.verdict(heard), names

    def verdict(self, votes: Sequence[Vote]) -> Verdict:
        return decide(self.case, votes, self.config, "pass")[0]


def waits(one: Vote) -> Unheard:
    return Unheard(one.judge, one.family, ["trace"])


def said(grade: Grade | None, silence: VoteStatus, family: str, judge: str) -> Vote:
    return vote(grade, family, judge, status=None if grade else silence)


@st.composite
def panels(draw: st.DrawFn) -> Panel:
    checks = draw(st.sampled_from([[], ["passed"], ["failed"], ["unreadable"], ["passed", "failed"]]))
    acted, claim = draw(st.booleans()), draw(st.sampled_from(CLAIMS))
    made, reads = asked(*checks) if checks else (task(), [])
    of = ended(*reads, acted=acted, claim=claim)
    families = draw(st.lists(st.sampled_from(["a", "b"]), min_size=4, max_size=4))
    grade, silence = st.sampled_from(SAID), st.sampled_from(SILENCES)
    models = [
        said(draw(grade), draw(silence), family, f"m{n}")
        for n, family in enumerate(families[: draw(st.integers(min_value=1, max_value=3))])
    ]
    escalate = said(draw(grade), draw(silence), families[3], "last") if draw(st.booleans()) else None
    heard = draw(grade)
    programs = [program(heard)] if heard else []
    judges = [model(one.judge, one.family) for one in [*models, *([escalate] if escalate else [])]]
    judges += [Voter(name="screen", kind="program", family=PROGRAM)] if programs else []
    known = calibration(judges, weights=HEAVY)
    case = Case(made, of, evaluate(made, of, "pass"), view_of(made), known)
    return Panel(case, draw(st.sampled_from(RULES)), programs, models, escalate)


@settings(max_examples=600, deadline=None)
@given(panels())
def test_models_that_were_not_asked_could_not_have_changed_the_verdict(panel: Panel) -> None:
    (adaptive, names), (whole, everybody) = panel.ask(all_of_them=False), panel.ask(all_of_them=True)

    assert outcome(adaptive) == outcome(whole)
    assert set(names) <= set(everybody)


def open_with(votes: Sequence[Vote], *waiting: str, made: str = "", escalate: str = "", acted: bool = True) -> bool:
    """Whether models of these families may still change the trajectory's verdict."""
    of_checks, reads = asked(made) if made else (task(), [])
    case = case_of(of_checks, ended(*reads, acted=acted), QUORUM)
    models = [Unheard(f"w{n}", family, ["trace"]) for n, family in enumerate(waiting)]
    last = Unheard("last", escalate, ["trace", "step"]) if escalate else None
    return open_of(case, votes, QUORUM, Waiting(models, last))[0]


def test_a_quorum_is_closed_when_those_who_wait_cannot_break_it() -> None:
    agreed = letters("SSSS", "xyxy")

    assert not open_with(agreed, "z", "z")
    assert open_with(agreed, "z", "z", "z")


def test_a_dispute_is_closed_when_nobody_can_end_it() -> None:
    against = letters("FF", "xy")

    assert not open_with(against, "z", made="passed")
    assert open_with(against, "z", "x", made="passed")
    assert open_with(against, "z", made="failed") is False


def test_what_the_agent_cannot_have_done_is_closed_before_any_model_is_asked() -> None:
    made, of = written("ticket/1", acted=False)
    waiting = Waiting([Unheard("a", "a", ["trace"]), Unheard("b", "b", ["trace"])])

    assert not open_of(case_of(made, of, QUORUM), [], QUORUM, waiting)[0]


def test_votes_that_can_no_longer_agree_are_closed() -> None:
    split = letters("SSFF", "xyxy")

    assert not open_with(split, "z")
    assert open_with(split, "z", "z")
    assert open_with(split, "z", escalate="z")


def test_the_one_to_escalate_to_is_asked_only_where_votes_do_not_decide() -> None:
    assert not open_with(letters("SS", "xy"), escalate="z")
    assert open_with(letters("SF", "xy"), escalate="z")
    assert open_with([program("complete"), vote(None, "x", status="error")], escalate="z")
    failed = [program("correct", "effect", 0), vote(None, "x", step=0, status="error")]
    last = Unheard("last", "z", ["step"])
    assert 0 in open_of(case_of(task(), ended(), QUORUM), failed, QUORUM, Waiting((), last))[1]
    assert not open_with([program("complete"), vote("complete")])


def test_programs_alone_close_nothing_while_a_model_waits() -> None:
    alone = [program("correct", "effect", 0)]
    case = case_of(task(), ended(), QUORUM)

    def steps(*grades: Target) -> list[int]:
        return open_of(case, alone, QUORUM, Waiting([Unheard("a", "a", grades)]))[1]

    assert steps("step", "trace") == [0, 1, 2]
    assert steps("trace") == []


def test_a_lone_model_is_heard_though_one_family_decides_nothing() -> None:
    assert open_with([], "x")
    assert open_with([], "x", made="unreadable")
    assert open_with([vote(None, "x", status="error")], escalate="x")
    assert not open_with([vote("complete", "x")], "x")
    assert not open_with([], "x", made="failed")


def test_nor_do_their_weights_before_any_model_is_heard() -> None:
    judges = [model("m0"), Voter(name="screen", kind="program", family=PROGRAM)]
    known = calibration(judges, weights=weighing(screen__against=-9.0))
    made, of, rule = task(), ended(), PanelConfig(rule="weighted")
    case = Case(made, of, evaluate(made, of, "pass"), view_of(made), known)
    against = [program("fail")]

    assert decide(case, against, rule, "pass")[0].rule == "weighted"
    assert open_of(case, against, rule, Waiting([Unheard("m0", "m0", ["trace"])]))[0]


def test_a_step_is_closed_by_a_quorum_on_its_own_action() -> None:
    case = case_of(task(), ended(), QUORUM)
    agreed = [program("wrong", "effect", 1), vote("wrong", "x", step=1)]
    proposed = [one.model_copy(update={"candidate_index": 0}) for one in agreed]
    waiting = Waiting([Unheard("a", "a", ["step"])])

    assert open_of(case, agreed, QUORUM, waiting)[1] == [0, 2]
    assert open_of(case, proposed, QUORUM, waiting)[1] == [0, 1, 2]


def test_too_many_ways_to_try_leave_it_open() -> None:
    agreed = letters("S" * 20, ["x", "y"] * 10)

    assert not open_with(agreed, *"abcd")
    assert open_with(agreed, *"abcde")


def test_a_vote_for_partial_that_is_still_to_come_keeps_a_weighted_failure_open() -> None:
    judges = [model(name) for name in ("m0", "m1", "m2")]
    known = calibration(judges, weights=weighing(m0__for=3.0, m0__against=-3.0))
    made, of = task(), ended()
    case = Case(made, of, evaluate(made, of, "pass"), view_of(made), known)
    waiting = Waiting([Unheard("m1", "m1", ["trace"]), Unheard("m2", "m2", ["trace"])])
    rule = PanelConfig(rule="weighted")
    against = [vote("fail", "m0")]

    assert decide(case, against, rule, "pass")[0].rule == "weighted"
    assert open_of(case, against, rule, waiting)[0]
    assert not open_of(case, against, rule, waiting._replace(models=waiting.models[:1]))[0]
    assert not open_of(case, [vote("complete", "m0")], rule, waiting)[0]
