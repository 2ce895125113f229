"""Whether drawing capabilities by weight covers more of them than drawing them alike, at equal rollouts.

    python bench/coverage.py
    python bench/coverage.py --replay runs/first runs/second --seeds 20
    python bench/coverage.py --by-weight runs/w1 runs/w2 --alike runs/a1 runs/a2
    python bench/coverage.py --loop runs/coverage --apps sqlite-web,ihatemoney --per-round 24 --mistakes 0.05

Two arms start from the same catalog and have the same number of rollouts a round; after each round both look at what
was accepted so far. One draws by `catalogs.coverage.weights`, the other draws every capability alike. The n-th draw of
a capability has the same outcome in both arms of a seed. Without `--replay` every rollout is acted and judged here, by
the planner with mistakes on the to-do application in memory. With it, outcomes are those stored in datasets, drawn at
random for each capability: then the choice of capabilities is real, and what came of them is replayed. With
`--by-weight` and `--alike` nothing is drawn here: two lists of finished runs are compared, pair by pair. `--loop` makes
such runs: `pathproof collect tasks=generate rounds=3` on real applications, both ways on each seed, with everything
that a round has; what an earlier call has finished is not run again.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from catalogs.coverage import Covered, covered, drawn, equal_weights, untried, weights
from catalogs.store import load_catalog
from pipeline.config import PanelConfig, load_config
from pipeline.envs.fake import FakeEnvironment
from pipeline.episode import plan_attempt
from pipeline.judging import Bench, judge_record
from pipeline.policies import build, policy_id
from pipeline.query import query
from pipeline.rollout import rollout
from pipeline.safety import sandbox_gate
from taskspecs.store import load_tasks

Outcome = Literal["accepted", "failed", "other"]
Weigh = Callable[[Sequence[Covered]], Mapping[str, float]]

ROUNDS = 3
RESAMPLES = 10_000
RUN_SECONDS = 3600.0
APP = "fake-todo"


class Source(Protocol):
    """Where rollouts come from: the capabilities that can be drawn, and what comes of a draw."""

    told: str
    rows: list[Covered]

    async def outcome(self, capability_id: str, seed: str) -> Outcome:
        """What comes of one rollout; the same for the same seed."""
        ...


class Replayed:
    """Outcomes that datasets hold, drawn at random among those of the capability."""

    def __init__(self, folders: Sequence[str]) -> None:
        known = [row for row in covered(folders) if row.accepted + row.failed + row.other - row.faults]
        self._stored = {row.capability_id: _outcomes(row) for row in known}
        self.rows = [_fresh(row) for row in known]
        count = query("SELECT count(*) AS n FROM trajectories", folders).to_pylist()[0]["n"]
        self.told = f"replayed: outcomes of {count} stored trajectories, {len(known)} capabilities; no rollout was made"

    async def outcome(self, capability_id: str, seed: str) -> Outcome:
        """One of the stored ones."""
        return random.Random(f"{seed}/{capability_id}").choice(self._stored[capability_id])


class Acted:
    """Rollouts made here: the planner on the to-do application in memory, judged by the contracts of its tasks."""

    def __init__(self, mistakes: float) -> None:
        self._tasks = [task for task in load_tasks("fake") if task.feasible and len(task.calls) == 1]
        called = {task.capability_ids[0] for task in self._tasks}
        self.rows = [untried(one) for one in load_catalog(APP) if one.capability_id in called]
        self._config = load_config("fake", [f"policy.mistakes={mistakes}"])
        self._environment = FakeEnvironment()
        self.told = (
            f"acted here: the planner with policy.mistakes={mistakes} on the to-do application in memory, "
            f"{len(self.rows)} capabilities; rollouts and verdicts are real, the application is a fake"
        )

    async def outcome(self, capability_id: str, seed: str) -> Outcome:
        """Roll out a task of the capability, and judge it."""
        chance = random.Random(f"{seed}/{capability_id}")
        task = chance.choice([task for task in self._tasks if task.capability_ids == [capability_id]])
        number = chance.randrange(1 << 30)
        plan = plan_attempt("bench", task.task_id, policy_id(self._config), seed=number)
        policy = build(self._config, task, number)
        record = await rollout(task, self._environment, policy, sandbox_gate(), plan)
        judgement = await judge_record(task, record, Bench([]), PanelConfig(), "bench")
        verdict = next(one for one in judgement.verdicts if one.target == "trace")
        if verdict.status != "graded":
            return "other"
        return "accepted" if verdict.grade == "complete" and not verdict.side_effects else "failed"


class Arm(NamedTuple):
    """One way of drawing, on one seed: the share of capabilities that is covered after each round."""

    shares: list[float]

    @property
    def mean(self) -> float:
        """Over the rounds: the sooner something is covered, the more it counts."""
        return sum(self.shares) / len(self.shares)


class Pair(NamedTuple):
    """Both arms on one seed."""

    by_weight: Arm
    alike: Arm

    @property
    def gain(self) -> float:
        """By how much drawing by weight covered more, over the rounds."""
        return self.by_weight.mean - self.alike.mean


async def collect(source: Source, weigh: Weigh, per_round: int, seed: int) -> Arm:
    """Some rounds of draws, each by what the ones before have shown."""
    rows = {row.capability_id: row for row in source.rows}
    times: Counter[str] = Counter()
    shares = []
    for round_ in range(ROUNDS):
        for name in drawn(weigh(list(rows.values())), per_round, 1000 * seed + round_):
            outcome = await source.outcome(name, f"{seed}/{times[name]}")
            times[name] += 1
            rows[name] = rows[name]._replace(**{outcome: getattr(rows[name], outcome) + 1})
        shares.append(sum(row.state == "accepted" for row in rows.values()) / len(rows))
    return Arm(shares)


_ROLLOUTS = """
SELECT e.round, t.trajectory_id, a.attempt_id IS NOT NULL AS accepted, k.capability_ids
FROM trajectories AS t JOIN attempts AS e USING (run_id, attempt_id) LEFT JOIN accepted AS a USING (run_id, attempt_id)
JOIN tasks AS k ON k.run_id = t.run_id AND k.task_id = t.task_id ORDER BY t.trajectory_id
"""


class Stored(NamedTuple):
    """A finished run: the capabilities it knows, and its rollouts round by round, in an order that means nothing."""

    known: set[str]
    rounds: list[list[dict[str, Any]]]


def stored(folder: str) -> Stored:
    """Read a finished run."""
    known = {row["capability_id"] for row in _rows("SELECT DISTINCT capability_id FROM capabilities", folder)}
    found = _rows(_ROLLOUTS, folder)
    return Stored(known, [[row for row in found if row["round"] == number] for number in range(ROUNDS)])


def compare(one: Stored, other: Stored) -> Pair:
    """Both at equal rollouts: of each round so many as both have, of capabilities those that both know."""
    known = one.known & other.known
    counts = [min(map(len, both)) for both in zip(one.rounds, other.rounds, strict=True)]
    if not known or not all(counts):
        raise SystemExit(f"error: these runs have no {ROUNDS} rounds of the same capabilities: {counts}")
    return Pair(_covered(one, known, counts), _covered(other, known, counts))


def _covered(run: Stored, known: set[str], counts: Sequence[int]) -> Arm:
    seen: set[str] = set()
    shares = []
    for rollouts, count in zip(run.rounds, counts, strict=True):
        seen.update(name for row in rollouts[:count] if row["accepted"] for name in row["capability_ids"])
        shares.append(len(seen & known) / len(known))
    return Arm(shares)


def _rows(sql: str, folder: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = query(sql, [folder]).to_pylist()
    return found


async def measure(source: Source, per_round: int, seeds: int) -> list[Pair]:
    """Both arms on each seed."""
    return [
        Pair(
            await collect(source, weights, per_round, seed),
            await collect(source, equal_weights, per_round, seed),
        )
        for seed in range(seeds)
    ]


def run_loops(into: Path, settings: Sequence[str], seeds: int) -> list[Pair]:
    """Have the runs of both arms on each seed, and compare them."""
    pairs = []
    for seed in range(seeds):
        # A round's tasks have the run's seed plus the round: seeds that far apart share none.
        varying = [f"seed={10 * seed}", *settings]
        arms = [_loop(into / f"{arm}-{seed}", [*varying, f"tasks.sampling={arm}"]) for arm in ("need", "uniform")]
        pairs.append(compare(*arms))
        sys.stderr.write(f"seed {seed}: gain {pairs[-1].gain:+.1%}\n")
    return pairs


def _loop(folder: Path, settings: Sequence[str]) -> Stored:
    """A finished run of the loop; raises SystemExit when it did not come to its end."""
    program = [sys.executable, "-m", "pipeline.cli"]
    begun = (folder / "run.json").is_file()
    command = ["resume", str(folder)] if begun else ["collect", "--out", str(folder), "tasks=generate", *settings]
    ended = subprocess.run(
        [*program, *command], cwd=Path(__file__).parent.parent, stdout=subprocess.DEVNULL, timeout=RUN_SECONDS
    )
    if ended.returncode:
        raise SystemExit(f"error: the run in {folder} did not come to its end; call again to go on with it")
    return stored(str(folder))


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """The middle 95 % of the mean of paired differences, by bootstrap over the pairs."""
    chance = random.Random(11)
    count = len(differences)
    means = sorted(sum(chance.choices(differences, k=count)) / count for _ in range(RESAMPLES))
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]


def _outcomes(row: Covered) -> list[Outcome]:
    """Faults are tried again by a run and are no outcome."""
    kinds: tuple[tuple[Outcome, int], ...] = (
        ("accepted", row.accepted),
        ("failed", row.failed),
        ("other", row.other - row.faults),
    )
    return [kind for kind, count in kinds for _ in range(count)]


def _fresh(row: Covered) -> Covered:
    return row._replace(accepted=0, failed=0, other=0, faults=0, last_seen=None)


def _report(pairs: Sequence[Pair]) -> None:
    for place, pair in enumerate(pairs):
        print(f"seed {place}: by weight {_told(pair.by_weight)}   alike {_told(pair.alike)}   gain {pair.gain:+.1%}")
    gains = [pair.gain for pair in pairs]
    low, high = interval(gains)
    gain = sum(gains) / len(gains)
    print(f"gain, the mean over the rounds: {gain:+.1%}, 95 % interval {low:+.1%} to {high:+.1%}")
    ends = [sum(arm.shares[-1] for arm in arms) / len(pairs) for arms in zip(*pairs, strict=True)]
    print(
        f"coverage_by_weight={ends[0]:.3f} coverage_alike={ends[1]:.3f} gain={gain:.3f} gain_low={low:.3f}"
        f" gain_high={high:.3f}"
    )


def _told(arm: Arm) -> str:
    return " ".join(f"{share:4.0%}" for share in arm.shares)


def _source(folders: Sequence[str] | None, mistakes: float) -> Source:
    return Replayed(folders) if folders else Acted(mistakes)


def _looped(into: Path, apps: str, per_round: int, mistakes: float, seeds: int) -> list[Pair]:
    mistaken = f"policy.mistakes={mistakes:g}"
    print(f"the loop itself on {apps}: {ROUNDS} rounds of {per_round} drafts, {mistaken}, {seeds} seeds; covered:")
    return run_loops(into, [f"apps={apps}", f"rounds={ROUNDS}", f"tasks.limit={per_round}", mistaken], seeds)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replay", nargs="+", metavar="DIR", help="take outcomes from these datasets")
    parser.add_argument("--by-weight", nargs="+", metavar="DIR", help="finished runs that drew by weight")
    parser.add_argument("--alike", nargs="+", metavar="DIR", help="as many that drew alike, in the same order")
    parser.add_argument("--loop", type=Path, metavar="DIR", help="run the loop itself, every run in this folder")
    parser.add_argument("--apps", default="sqlite-web,ihatemoney", help="the applications of the loop")
    parser.add_argument("--mistakes", type=float, default=0.5, help="how often the planner errs where it acts")
    parser.add_argument("--per-round", type=int, help="rollouts in a round; as many as capabilities by default")
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    if given.by_weight or given.alike:
        if len(given.by_weight or []) != len(given.alike or []):
            parser.error("--by-weight and --alike: as many of one as of the other")
        print("the loop itself: finished runs on the applications that their folders name; nothing was replayed")
        runs = zip(given.by_weight, given.alike, strict=True)
        return _report([compare(stored(one), stored(other)) for one, other in runs])
    if given.loop:
        return _report(_looped(given.loop.resolve(), given.apps, given.per_round or 24, given.mistakes, given.seeds))
    source = _source(given.replay, given.mistakes)
    per_round = given.per_round or len(source.rows)
    print(f"{source.told}\n{ROUNDS} rounds of {per_round} rollouts in each arm, {given.seeds} seeds; covered:")
    return _report(asyncio.run(measure(source, per_round, given.seeds)))


if __name__ == "__main__":
    main()
