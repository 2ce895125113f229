"""What adaptive judging saves: pictures and calls per trajectory, against showing every frame to every judge.

The judges are those of a public labelled set (`--data FOLDER/arb`): their stored votes are replayed by a scripted
endpoint, so that real verifiers, real requests and the real panel are counted. Trajectories have as many screens as the
stored ones, all of them different, and each is of a task of its own, which is the worst case: no screen can be left out
as seen before, and nothing that was drafted for a task serves twice. The panel has the weights
of a calibration on these votes, and the benchmark's own reward as a judge without a model; the model that can move the
decision most is asked first.

The full panel asks every model about every frame: the same windows over all of them, the same final look. `pictures`
counts what is sent with requests, `calls` the requests; `pictures_ratio_once` is against every frame sent once to every
model, without overlap and final look. Verdicts are compared item by item, in status, grade and rule, with those of the
panel that heard all votes. They are equal because a model is left out only when no vote of it could have changed any of
the three. That a model may say `partial` is allowed for, although the stored votes never do.

Without the folder, which the environment variable PATHPROOF_LABELS may name too, nothing is measured.

    python bench/judge.py --data labels
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.label_sets import REWARD, agent_rewards
from pipeline.actions import Finished, Type
from pipeline.config import PanelConfig
from pipeline.judging import Bench, judge_record
from pipeline.protocols import Judge, Judged, JudgeView, view_of
from pipeline.records import Record, Verdict, Vote, now
from pipeline.tasks import TaskSpec
from pipeline.words import JudgeKind, Target
from tests.endpoints import client_of, endpoint_of, serving
from tests.filmed import film, final, keypoints, notes, screens
from tests.records import Look, step, task
from verifiers.ballot import PROGRAM
from verifiers.calibrate import calibrate
from verifiers.calibration import CalibrationFile
from verifiers.contract import evaluate
from verifiers.labelled import Item, LabelSet, Voter
from verifiers.model_judge import ModelJudge
from verifiers.panel import Case, decide
from verifiers.shots import shots_of, windows_of

_IMAGES = 10
"""How many pictures a model is shown at once."""
_SHOTS = _IMAGES // 2
_CHECK = Voter(name=REWARD, kind="program", family=PROGRAM)
_FIXED_CALLS, _FIXED_PICTURES = 3, 3
"""Keypoints, general knowledge of the first screen, and the final look at the last two."""


class Replayed:
    """The program check as a judge whose vote is known."""

    name = REWARD
    family = PROGRAM
    kind: JudgeKind = "program"
    targets: tuple[Target, ...] = ("trace",)

    def __init__(self, right: bool) -> None:
        self._right = right

    def judge(self, view: JudgeView, record: Record, pass_id: str) -> Judged:
        """The stored vote."""
        del view
        return Judged([cast(_CHECK, self._right, record, pass_id)], [])


class Counted(NamedTuple):
    """What one trajectory took, and whether its verdict is that of all votes."""

    pictures: int
    calls: int
    frames: int
    all_pictures: int
    all_calls: int
    models: int
    equal: bool


def cast(voter: Voter, right: bool, record: Record, pass_id: str) -> Vote:
    """A stored vote as a row."""
    return Vote(
        pass_id=pass_id,
        target="trace",
        attempt_id=record.attempt.attempt_id,
        judge=voter.name,
        judge_kind=voter.kind,
        family=voter.family,
        status="graded",
        grade="complete" if right else "fail",
        reason="as stored",
    )


def lengths(folder: Path) -> dict[str, int]:
    """How many screens each stored trajectory has."""
    with gzip.open(folder / "webjudge_judgments.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {f"{row['agent'].removeprefix('GenericAgent-')} {row['task_id']}": row["n_steps"] + 1 for row in rows}


def played(looks: Sequence[Look]) -> Record:
    """A trajectory over these screens; nothing is pointed at, so no place is shown once more at a larger size."""
    return film([*(step(Type(content="x")) for _ in looks[2:]), step(Finished())], looks)


def order_of(file: CalibrationFile, models: Sequence[Voter]) -> list[Voter]:
    """The models, first the one whose vote moves the decision most."""
    weights = {one.feature: one.weight for one in file.weighing.weights}
    return sorted(models, key=lambda voter: -abs(weights[f"{voter.name}:for"] - weights[f"{voter.name}:against"]))


class Courtroom:
    """Models that say what is stored: two servers, one for each answer, shared by all."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._judges: dict[tuple[str, bool], ModelJudge] = {}

    async def open(self, models: Sequence[Voter]) -> None:
        """Start the servers and make every model once for each answer."""
        for right, grade in ((True, "complete"), (False, "fail")):
            server = self._stack.enter_context(serving(final(grade), notes("unclear"), keypoints("it is done")))
            client = await self._stack.enter_async_context(client_of(endpoint_of(server)))
            for voter in models:
                self._judges[voter.name, right] = ModelJudge(client, voter.name, voter.family, ["trace"], _IMAGES)

    def seated(self, models: Sequence[Voter], item: Item) -> list[ModelJudge]:
        """The models as they vote on this item."""
        return [self._judges[voter.name, item.votes[voter.name]] for voter in models]


async def measure(labels: LabelSet, panel: PanelConfig, counts: Mapping[str, int]) -> list[Counted]:
    """Every item, judged adaptively and compared with all votes at once."""
    file = calibrate(labels.without_signs(), now())
    models = order_of(file, [voter for voter in labels.voters if voter.kind == "model"])
    looks = screens(max(counts[item.item_id] for item in labels.items))
    async with AsyncExitStack() as stack:
        room = Courtroom(stack)
        await room.open(models)
        return [
            await _one(item, Hearing(played(looks[: counts[item.item_id]]), file, panel), models, room)
            for item in labels.items
        ]


class Hearing(NamedTuple):
    """One trajectory before the panel."""

    record: Record
    file: CalibrationFile
    panel: PanelConfig


async def _one(item: Item, hearing: Hearing, models: Sequence[Voter], room: Courtroom) -> Counted:
    record, file, panel = hearing
    of = task(f"Do what is asked in “{item.item_id}”.")
    programs: list[Judge] = [Replayed(item.votes[REWARD])]
    found = await judge_record(of, record, Bench(programs, room.seated(models, item), None, file), panel, "adaptive")
    windows = windows_of(shots_of(record), _SHOTS)
    return Counted(
        pictures=sum(call.images for call in found.calls),
        calls=len(found.calls),
        frames=len(models) * len(record.observations),
        all_pictures=len(models) * (sum(map(len, windows)) + _FIXED_PICTURES),
        all_calls=len(models) * (len(windows) + _FIXED_CALLS),
        models=len({vote.judge for vote in found.votes if vote.judge_kind == "model"}),
        equal=_held(found.verdicts[0]) == _held(_with_all(item, of, hearing, models)),
    )


def _with_all(item: Item, of: TaskSpec, hearing: Hearing, models: Sequence[Voter]) -> Verdict:
    """The verdict of the panel that heard every vote."""
    record, file, panel = hearing
    votes = [cast(voter, item.votes[voter.name], record, "all") for voter in [*models, _CHECK]]
    case = Case(of, record, evaluate(of, record, "all"), view_of(of), file)
    return decide(case, votes, panel, "all")[0]


def _held(verdict: Verdict) -> tuple[str, str | None, str]:
    return verdict.status, verdict.grade, verdict.rule


def report(name: str, found: Sequence[Counted]) -> dict[str, float]:
    """Print what one rule took, and the figures of it."""
    told = {
        "pictures_ratio": sum(one.pictures for one in found) / sum(one.all_pictures for one in found),
        "pictures_ratio_once": sum(one.pictures for one in found) / sum(one.frames for one in found),
        "calls_ratio": sum(one.calls for one in found) / sum(one.all_calls for one in found),
        "equal": sum(one.equal for one in found) / len(found),
    }
    n = len(found)
    print(
        f"{name:<10} {n} trajectories: {sum(one.models for one in found) / n:.2f} models asked,"
        f" {sum(one.pictures for one in found) / n:.1f} pictures in {sum(one.calls for one in found) / n:.1f} calls;"
        f" all of it: {sum(one.all_pictures for one in found) / n:.1f} pictures"
        f" in {sum(one.all_calls for one in found) / n:.1f} calls; equal verdicts {told['equal']:.3f}"
    )
    return told


def main() -> None:
    """Replay the stored votes under two rules."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    named = Path(os.environ.get("PATHPROOF_LABELS", "labels"))
    parser.add_argument("--data", type=Path, default=named, help="folder of the labelled sets")
    folder: Path = parser.parse_args().data / "arb"
    if not folder.is_dir():
        print(f"{folder} is not there: nothing is measured")
        print("measured=0")
        return
    counts = lengths(folder)
    labels = agent_rewards(folder).where(lambda item: REWARD in item.votes and counts.get(item.item_id, 0) > 1)
    figures: dict[str, float] = {}
    for rule in ("weighted", "quorum"):
        panel = PanelConfig.model_validate({"rule": rule})
        told = report(rule, asyncio.run(measure(labels, panel, counts)))
        figures |= {f"{rule}_{name}": value for name, value in told.items()}
    print(f"measured=1 n={len(labels.items)} " + " ".join(f"{name}={value:.3f}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
