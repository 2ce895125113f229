"""Runs one verification pass over a record: contract checks, judges, panel; rows come out.

The registry of judges is here. Judges see a view of the task and a stripped copy of the record: no policy, seed,
oracle, procedure, `feasible` or injected mistakes. Nothing here touches an environment, so stored records can be judged
again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pipeline.config import PanelConfig
from pipeline.errors import CaptureError, ConfigError, EpisodeError
from pipeline.ocr import PictureReader
from pipeline.protocols import Judge, Judged, JudgeView, view_of
from pipeline.records import CheckResult, Keypoint, Record, Verdict, Vote
from pipeline.tasks import TaskSpec
from verifiers.contract import evaluate
from verifiers.effect import EffectJudge
from verifiers.panel import Case, decide, unscored
from verifiers.screen import ScreenJudge

_JUDGES: tuple[tuple[str, Callable[[], Judge]], ...] = (
    ("effect", EffectJudge),
    ("screen", lambda: ScreenJudge(PictureReader())),
)
"""Every judge by name, sorted."""


class Judgement(NamedTuple):
    """The rows of one pass over one record."""

    votes: list[Vote]
    keypoints: list[Keypoint]
    checks: list[CheckResult]
    verdicts: list[Verdict]


def judge_names() -> list[str]:
    """Names of the judges there are, sorted."""
    return [name for name, _ in _JUDGES]


def build_judges(names: Sequence[str]) -> list[Judge]:
    """The judges of these names, each once; raises ConfigError naming the known ones."""
    makers = dict(_JUDGES)
    for name in names:
        if name not in makers:
            raise ConfigError(f"judges: no judge '{name}'; judges: {', '.join(judge_names())}")
    return [makers[name]() for name in dict.fromkeys(names)]


def judge_record(
    task: TaskSpec, record: Record, judges: Sequence[Judge], panel: PanelConfig, pass_id: str
) -> Judgement:
    """The rows of a pass over one record. Of what is unscored no judge is asked."""
    evaluated = evaluate(task, record, pass_id)
    view, bare = view_of(task), stripped(record)
    judged = [] if unscored(record) else [_ask(judge, view, bare, pass_id) for judge in judges]
    votes = [vote for one in judged for vote in one.votes]
    return Judgement(
        votes=votes,
        keypoints=[keypoint for one in judged for keypoint in one.keypoints],
        checks=evaluated.results,
        verdicts=decide(Case(task, bare, evaluated, view), votes, panel, pass_id),
    )


def stripped(record: Record) -> Record:
    """The record without who acted, from which seed, and which mistakes were made on purpose."""
    hidden = {"policy_id": "", "seed": 0}
    return record.model_copy(
        update={
            "attempt": record.attempt.model_copy(update=hidden),
            "trajectory": record.trajectory.model_copy(update={**hidden, "policy": ""}),
            "steps": [step.model_copy(update={"injected": None}) for step in record.steps],
        }
    )


def _ask(judge: Judge, view: JudgeView, record: Record, pass_id: str) -> Judged:
    """One judge's votes; one that cannot work leaves votes that say so, never a grade."""
    try:
        return judge.judge(view, record, pass_id)
    except (EpisodeError, CaptureError) as error:
        return Judged(_error_votes(judge, record, pass_id, f"{error.code}: {error}"), [])


def _error_votes(judge: Judge, record: Record, pass_id: str, reason: str) -> list[Vote]:
    steps = [step.step_index for step in record.steps] if "step" in judge.targets else []
    asked = [("trace", None)] if "trace" in judge.targets else []
    return [
        Vote.model_validate(
            {
                "pass_id": pass_id,
                "target": target,
                "attempt_id": record.attempt.attempt_id,
                "step_index": index,
                "judge": judge.name,
                "judge_kind": judge.kind,
                "family": judge.family,
                "status": "error",
                "grade": None,
                "reason": reason,
            }
        )
        for target, index in [*asked, *(("step", index) for index in steps)]
    ]
