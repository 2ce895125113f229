"""What votes are worth on public labelled sets: the panel's judges and rules, and the best rule fitted on other tasks.

`--data` is a folder with the subfolders `arb` (AgentRewardBench: web trajectories labelled by persons, the votes of
three judges, and the benchmarks' own reward, which stands for a program check), `sgv_vwa` (three prompts of one model
on VisualWebArena; the truth is the benchmark's reward) and `osworld_text` (desktop episodes; the truth is the
benchmark's score; there are no votes, only what an episode shows by itself). The sets do not come with the project:
without the folder, which the environment variable PATHPROOF_LABELS may name too, nothing is measured.

Everything that is fitted is measured on tasks it was not fitted on: five folds by task, averaged over ten reshuffles.
Intervals resample tasks.

`weighted` takes the votes, with or without the signs that a record alone gives (how it ended, repeats, answer, budget).
Which of the two is better is not chosen by hand: both are printed. `recall_at_p90` is the point of the cross-validated
curve; the rows `accepting at 0.90` choose the threshold on the other folds as well.

    python bench/votes.py --data labels
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from rich.console import Console

from bench.label_sets import REWARD, agent_rewards, desktop_episodes, visual_web_arena
from pipeline.calibrating import figures_table, pairs_table
from verifiers.calibrate import decided_by
from verifiers.dependence import dependence_of
from verifiers.fitting import cross_validated
from verifiers.labelled import LabelSet
from verifiers.metrics import Decisions, Figures, Point, curve_of, decisions_of, figures_of
from verifiers.rules import RULES

_SETS = ("arb", "osworld_text", "sgv_vwa")
_PRECISION, _RECALL = 0.9, 0.8
_WIDTH = 190
_SHOWN = ("all", "any", "majority, tie against", "majority, tie for", "quorum")


class Weighted(NamedTuple):
    """The weighted rule on tasks it was not fitted on."""

    best: Figures
    careful: Figures
    curve: list[Point]

    @property
    def recall_at_precision(self) -> float:
        """The largest share found with no more wrong among the accepted than wished."""
        return max((point.recall for point in self.curve if point.risk <= 1 - _PRECISION), default=0.0)

    @property
    def fpr_at_recall(self) -> float:
        """The smallest false-positive rate at which enough is found."""
        return min((point.fpr for point in self.curve if point.recall >= _RECALL), default=1.0)


def weighted(labels: LabelSet) -> Weighted:
    """Fit and measure, with the threshold for F1 and with the one for precision."""
    best, careful = cross_validated(labels.items), cross_validated(labels.items, _PRECISION)
    return Weighted(
        figures(labels, Decisions(best.accepted, best.accepted | best.rejected)),
        figures(labels, Decisions(careful.accepted, np.ones_like(careful.accepted))),
        curve_of(best.scores.mean(axis=0), np.array([item.truth for item in labels.items])),
    )


def figures(labels: LabelSet, decisions: Decisions) -> Figures:
    """Every rate of these decisions."""
    truth = np.array([item.truth for item in labels.items])
    return figures_of(decisions, truth, [item.task_id for item in labels.items])


def fixed(labels: LabelSet) -> Iterator[tuple[str, Figures]]:
    """Every judge, and the rules that need no labels."""
    for voter in labels.voters:
        yield voter.name, figures(labels, decisions_of([item.votes.get(voter.name) for item in labels.items]))
    for rule in RULES:
        if rule.name in _SHOWN:
            yield f"rule: {rule.name}", figures(labels, decided_by(rule.decide, labels))


def measure(console: Console, title: str, labels: LabelSet) -> tuple[Weighted, Weighted]:
    """Print all there is to know of one set of votes; the weighted rule by votes alone, and with signs."""
    plain, signed = weighted(labels.without_signs()), weighted(labels)
    fitted = [
        ("rule: weighted, votes", plain.best),
        ("rule: weighted, votes and signs", signed.best),
        ("  votes, accepting at 0.90", plain.careful),
        ("  votes and signs, accepting at 0.90", signed.careful),
    ]
    apart = labels.where(lambda item: item.infeasible)
    show(console, title, [*fixed(labels), *fitted])
    if apart.items:
        show(console, f"{title}: tasks that cannot be done, apart", list(fixed(apart)))
    heading, table = pairs_table(dependence_of(labels))
    console.print(heading, highlight=False)
    console.print(table)
    return plain, signed


def measure_telemetry(console: Console, labels: LabelSet) -> Figures:
    """The judge that knows signs only, beside what else is known of the same episodes."""
    seen = labels.where(lambda item: bool(item.signs))
    alone = weighted(seen._replace(items=[item._replace(votes={}) for item in seen.items], voters=[]))
    beside = [
        (voter.name, figures(seen, decisions_of([item.votes.get(voter.name) for item in seen.items])))
        for voter in seen.voters
    ]
    fitted = [("telemetry", alone.best), ("  accepting at 0.90", alone.careful)]
    show(console, f"{labels.source}, telemetry alone", [*beside, *fitted])
    return alone.best


def show(console: Console, title: str, rows: Sequence[tuple[str, Figures]]) -> None:
    """One table with its heading."""
    n = rows[0][1]
    heading, table = figures_table(f"{title}: {n.n} items of {n.tasks} tasks, {n.positives} right", rows)
    console.print(heading, highlight=False)
    console.print(table)


def main() -> None:
    """Measure both sets and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    named = Path(os.environ.get("PATHPROOF_LABELS", "labels"))
    parser.add_argument("--data", type=Path, default=named, help="folder of the labelled sets")
    folder: Path = parser.parse_args().data
    if not all((folder / name).is_dir() for name in _SETS):
        print(f"{folder} has not all of {', '.join(_SETS)}: nothing is measured")
        print("measured=0")
        return
    console = Console(width=_WIDTH)
    rewards = agent_rewards(folder / "arb")
    checked = rewards.where(lambda item: REWARD in item.votes)
    judges = [voter.name for voter in rewards.voters if voter.name != REWARD]
    alone, alone_signed = measure(console, "AgentRewardBench, judges alone", rewards.only(*judges))
    with_check, with_check_signed = measure(console, "AgentRewardBench, with the program check", checked)
    primed, primed_signed = measure(
        console, "VisualWebArena, three prompts of one model", visual_web_arena(folder / "sgv_vwa")
    )

    web_signs = measure_telemetry(console, rewards)
    desktop_signs = measure_telemetry(console, desktop_episodes(folder / "osworld_text"))
    heading, table = pairs_table(dependence_of(visual_web_arena(folder / "sgv_vwa", again=True)))
    console.print(f"with one judge's samples scored once more: {heading}", highlight=False)
    console.print(table)
    told = {
        "measured": 1,
        "arb_n": alone.best.n,
        "arb_f1_votes": alone.best.f1.value,
        "arb_f1_votes_signs": alone_signed.best.f1.value,
        "arb_check_n": with_check.best.n,
        "arb_f1_check": with_check.best.f1.value,
        "arb_f1_check_low": with_check.best.f1.low,
        "arb_f1_check_high": with_check.best.f1.high,
        "arb_f1_check_signs": with_check_signed.best.f1.value,
        "arb_recall_at_p90_check": with_check.recall_at_precision,
        "arb_recall_at_p90_check_signs": with_check_signed.recall_at_precision,
        "arb_f1_telemetry": web_signs.f1.value,
        "osworld_f1_telemetry": desktop_signs.f1.value,
        "vwa_n": primed.best.n,
        "vwa_fpr_at_r80_votes": primed.fpr_at_recall,
        "vwa_fpr_at_r80_votes_signs": primed_signed.fpr_at_recall,
    }
    print(
        " ".join(
            f"{name}={value:.3f}" if isinstance(value, float) else f"{name}={value}" for name, value in told.items()
        )
    )


if __name__ == "__main__":
    main()
