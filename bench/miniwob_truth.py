"""How often the judges without a model are right about MiniWoB++ pages, whose own reward they never see.

    python bench/miniwob_truth.py
    python bench/miniwob_truth.py --seeds 1 --pages click-button enter-text
    python bench/miniwob_truth.py --examples 10

The pages are those that can be solved from their text and tree. Their reward, their clock and their own copy of what is
asked are taken off the screen, and a page stands still once its episode has ended; a look that speaks of the reward
stops the measurement.

Every page is played from several seeds by four policies: one that solves it, the same one with mistakes on purpose, one
that claims success at once, and one that presses and types anything. Truth of a trajectory is the page's raw reward; of
a step, the mistake that was made on purpose or that none was. The end of an episode is right where the page was solved.
Steps at random have no truth and are not counted.

A task here is a `rubric` without checks, and one family of judges without a contract gives no quorum: what is
measured is the vote of `screen` on the trajectory and of `effect` on each step, not the panel's verdict. What a judge
leaves open counts as missed in the recall and as not right in the accuracy of steps.

Rules of the judges were looked after on every other page of the alphabet (`tuned`), and on those only; the others are
`heldout`. The last line has the figures of all pages and those of the held-out ones.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from bench.effect_truth import Graded, fitting_grades
from bench.miniwob_policies import policy_of
from bench.miniwob_site import Outcome, Pages, Watched, served, task_of
from bench.miniwob_solvers import SOLVERS
from pipeline.actions import Terminal
from pipeline.config import PanelConfig
from pipeline.envs.browser import Browser, Screen
from pipeline.envs.web import WebEnvironment
from pipeline.episode import plan_attempt
from pipeline.errors import EpisodeError
from pipeline.judging import Bench, build_judges, judge_record
from pipeline.reaper import Scratch
from pipeline.records import Record
from pipeline.rollout import rollout
from pipeline.safety import sandbox_gate
from pipeline.tasks import TaskSpec
from pipeline.words import StepGrade

Half = Literal["tuned", "heldout"]
SCREEN = Screen(width=400, height=300)
ATTEMPTS = 2
SHARE = {"good": 3, "clumsy": 3, "idle": 1, "random": 2}
"""From how many of the seeds each policy plays a page."""
TRACE_GRADES = ("complete", "partial", "infeasible", "fail", "abstain")
STEP_GRADES = ("correct", "explore", "invalid", "wrong", "abstain")
_SHOWN_REWARD = re.compile(r"last reward|last 10 average|time left|episodes done|\breward\b", re.IGNORECASE)


class Played(NamedTuple):
    """An episode, and apart from it what the page said of it."""

    page: str
    half: Half
    policy: str
    task: TaskSpec
    record: Record
    outcome: Outcome


class Judgement(NamedTuple):
    """What the judges said of an episode: the vote on the trajectory, and every step with a truth."""

    played: Played
    grade: str
    reason: str
    steps: list[Graded]


class Rates(NamedTuple):
    """The figures of a set of episodes."""

    precision: float
    recall: float
    coverage: float
    accuracy: float
    complete: int


def half_of(page: str) -> Half:
    """Which half a page belongs to: every other one of the alphabet."""
    return "tuned" if sorted(SOLVERS).index(page) % 2 == 0 else "heldout"


def shows_reward(record: Record) -> list[str]:
    """Texts of any look that speak of the reward; there must be none."""
    nodes = [node for tree in record.trees.values() for node in tree.nodes]
    return [text for node in nodes for text in (node.name, node.value) if _SHOWN_REWARD.search(text)]


# --- playing -----------------------------------------------------------------------------------------------------


async def play(url: str, pages: Sequence[str], seeds: int, at_once: int = 2) -> list[Played]:
    """Every page by every policy, several pages at once."""
    waiting = list(reversed(pages))
    found: list[Played] = []
    starting = asyncio.Lock()  # a browser knows its driver by what is new among the processes

    async def one_browser() -> None:
        with Scratch("bench") as scratch:
            browser = Browser(scratch, episodes=len(pages) * seeds * (len(SHARE) + 1) * ATTEMPTS)
            environment = Watched(WebEnvironment(browser, lambda _: Pages(url), screen=SCREEN))
            try:
                async with starting:
                    await _asked(environment, pages[0], "a")
                while waiting:
                    found.extend(await play_page(environment, waiting.pop(), seeds))
            finally:
                await environment.close()

    await asyncio.gather(*(one_browser() for _ in range(min(at_once, len(pages)))))
    return sorted(found, key=lambda played: (played.page, played.policy, played.task.task_id))


async def play_page(environment: Watched, page: str, seeds: int) -> list[Played]:
    """One page from several seeds by every policy; an episode that the world breaks is played again, then left out."""
    found = []
    for number in range(seeds):
        seed = chr(ord("a") + number)  # letters, so that no number in an address is taken for one that is asked for
        asked = await _asked(environment, page, seed)
        for name in [name for name, share in SHARE.items() if number < share]:
            for attempt in range(1, ATTEMPTS + 1):
                played = await _episode(environment, task_of(page, seed, asked), page, name, number)
                if isinstance(played, Played):
                    found.append(played)
                    break
                print(f"{page} from {seed} by {name} broke, attempt {attempt} of {ATTEMPTS}: {played}", flush=True)
    return found


async def _asked(environment: Watched, page: str, seed: str) -> str:
    """What a page asks for; tried again where the world breaks."""
    for _ in range(ATTEMPTS - 1):
        with contextlib.suppress(EpisodeError):
            return await environment.utterance(page, seed)
    return await environment.utterance(page, seed)


async def _episode(environment: Watched, task: TaskSpec, page: str, name: str, seed: int) -> Played | str:
    """An episode, or why it broke."""
    plan = plan_attempt("bench", task.task_id, name, seed=seed)
    policy = policy_of(name, SOLVERS[page], task.instruction, seed)
    record = await rollout(task, environment, policy, sandbox_gate(), plan)
    fault, outcome = record.trajectory.fault, environment.outcome
    if fault is not None or outcome is None:
        return fault.code if fault is not None else "the page did not say how it ended"
    return Played(page, half_of(page), name, task, record, outcome)


# --- judging -----------------------------------------------------------------------------------------------------


async def judge(played: Played) -> Judgement:
    """The votes on one episode."""
    bench = Bench(build_judges(["screen", "effect"]))
    found = await judge_record(played.task, played.record, bench, PanelConfig(), "bench")
    traces = [vote for vote in found.votes if vote.target == "trace"]
    steps = [
        _graded(played, vote.step_index, vote.grade or "abstain", vote.reason)
        for vote in found.votes
        if vote.target == "step" and vote.step_index is not None and played.policy != "random"
    ]
    return Judgement(played, traces[0].grade or "abstain", traces[0].reason, steps)


def _graded(played: Played, index: int, grade: str, reason: str) -> Graded:
    step = played.record.steps[index]
    if isinstance(step.action, Terminal):
        right: StepGrade = "correct" if played.outcome.solved else "wrong"
        mark, fitting = "end_due" if played.outcome.solved else "end_not_due", frozenset([right])
    else:
        mark, fitting = step.injected or "none", fitting_grades(step, feasible=True)
    return Graded(mark, fitting, grade, reason, step, played.task.instruction)


def rates_of(judgements: Sequence[Judgement]) -> Rates:
    """Precision and recall of `complete`, share of graded trajectories, share of steps graded rightly."""
    said = [one for one in judgements if one.grade == "complete"]
    true = [one for one in judgements if one.played.outcome.solved]
    both = [one for one in said if one.played.outcome.solved]
    steps = [step for one in judgements for step in one.steps]
    return Rates(
        precision=len(both) / max(len(said), 1),
        recall=len(both) / max(len(true), 1),
        coverage=sum(one.grade != "abstain" for one in judgements) / max(len(judgements), 1),
        accuracy=sum(step.grade in step.fitting for step in steps) / max(len(steps), 1),
        complete=len(true),
    )


# --- printing ----------------------------------------------------------------------------------------------------


def report(name: str, judgements: Sequence[Judgement]) -> None:
    """Both confusion matrices and the figures of one set of episodes."""
    traces = Counter(
        (f"{'solved' if one.played.outcome.solved else 'not solved'} by {one.played.policy}", one.grade)
        for one in judgements
    )
    steps = Counter((step.mark, step.grade) for one in judgements for step in one.steps)
    pages = {one.played.page for one in judgements}
    rates = rates_of(judgements)
    print(f"\n{name}: {len(pages)} pages, {len(judgements)} runs, {rates.complete} solved")
    _table("trajectories", TRACE_GRADES, traces)
    _table("steps", STEP_GRADES, steps)
    print(
        f"complete: precision {rates.precision:.3f}, recall {rates.recall:.3f}; graded {rates.coverage:.3f}; "
        f"steps graded rightly {rates.accuracy:.3f} of {steps.total()}"
    )


def _table(title: str, columns: Sequence[str], counts: Counter[tuple[str, str]]) -> None:
    print(f"{title:<24}" + "".join(f"{column:>12}" for column in columns))
    for row in sorted({row for row, _ in counts}):
        print(f"{row:<24}" + "".join(f"{counts[row, column]:>12}" for column in columns))


def examples(judgements: Sequence[Judgement], most: int) -> None:
    """Trajectories and steps that were graded wrongly or not at all, of the tuned half only."""
    tuned = [one for one in judgements if one.played.half == "tuned"]
    for one in [one for one in tuned if (one.grade == "complete") != one.played.outcome.solved][:most]:
        solved = "solved" if one.played.outcome.solved else "not solved"
        print(f"- {one.played.page} {one.played.policy}, {solved}: {one.grade}, {one.reason}")
    for step in [step for one in tuned for step in one.steps if step.grade not in step.fitting][:most]:
        print(f"- {step.mark}: {step.grade}, {step.step.thought} | {step.reason} | {step.instruction}")


def main() -> None:
    """Play, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="seeds of every page (default 3)")
    parser.add_argument("--pages", nargs="+", choices=sorted(SOLVERS), default=sorted(SOLVERS), metavar="PAGE")
    parser.add_argument("--examples", type=int, default=0, help="print this many disagreements of the tuned half")
    given = parser.parse_args()
    with served() as url:
        played = asyncio.run(play(url, given.pages, given.seeds))
    told = [text for one in played for text in shows_reward(one.record)]
    if told:
        raise SystemExit(f"error: the reward is in view: {told[0]!r}")
    judgements = [asyncio.run(judge(one)) for one in played]
    heldout = [one for one in judgements if one.played.half == "heldout"]
    report("tuned", [one for one in judgements if one.played.half == "tuned"])
    report("held out", heldout)
    report("all", judgements)
    examples(judgements, given.examples)
    every, apart = rates_of(judgements), rates_of(heldout)
    print(
        f"complete_precision={every.precision:.3f} complete_recall={every.recall:.3f} "
        f"step_accuracy={every.accuracy:.3f} pages={len({one.page for one in played})} "
        f"complete_runs={every.complete} heldout_precision={apart.precision:.3f} "
        f"heldout_recall={apart.recall:.3f} heldout_step_accuracy={apart.accuracy:.3f}"
    )


if __name__ == "__main__":
    main()
