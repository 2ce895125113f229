"""Runs one verification pass over a record: contract checks, judges, panel; rows come out.

Judges without a model go first. Then models are asked one after another, each only about what those that wait may still
change, and the one to escalate to at the end, where votes do not decide. A model that is left out could have changed
neither the status nor the grade nor the rule of a verdict; shares and reasons are those of who was heard.

Judges see a view of the task and a stripped copy of the record: no policy, seed, oracle, procedure, `feasible` or
injected mistakes. Nothing here touches an environment, so stored records can be judged again.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pipeline.clients import Clients, Need, endpoint_of, family_of
from pipeline.config import JudgeConfig, PanelConfig, RunConfig
from pipeline.errors import CaptureError, ConfigError, EpisodeError
from pipeline.held_steps import HeldStep
from pipeline.ocr import PictureReader
from pipeline.protocols import Judge, Judged, view_of
from pipeline.records import CheckResult, Keypoint, ModelCall, Record, Verdict, Vote
from pipeline.tasks import TaskSpec
from pipeline.words import Target
from verifiers.asking import LANGUAGES, pinned_text, prompt_text, together
from verifiers.calibration import CalibrationFile, applicable
from verifiers.contract import evaluate, segments_told
from verifiers.effect import EffectJudge
from verifiers.foresight import Unheard, Waiting, open_of
from verifiers.model_judge import ModelJudge
from verifiers.panel import Case, decide, process_score, unscored
from verifiers.screen import ScreenJudge
from verifiers.step import PROMPT
from verifiers.telemetry import TelemetryJudge
from verifiers.trace import PROMPTS, most_calls
from verifiers.tying import tied

_JUDGES: tuple[tuple[str, Callable[[CalibrationFile | None], Judge]], ...] = (
    ("effect", lambda _: EffectJudge()),
    ("screen", lambda _: ScreenJudge(PictureReader())),
    ("telemetry", lambda known: TelemetryJudge(known.telemetry if known else None)),
)
"""Every judge without a model by name, sorted; one of them needs weights from a calibration."""

PROGRAM_SECONDS = 120.0
"""The longest that the judges without a model may take over one trajectory."""

_PROMPTS = {"step": (PROMPT,), "trace": PROMPTS}
"""What a model is asked with, by what it grades."""


class Bench(NamedTuple):
    """The judges of a pass: programs, models from the cheapest, one to escalate to, and what is measured of them."""

    programs: Sequence[Judge]
    models: Sequence[ModelJudge] = ()
    escalate: ModelJudge | None = None

    @property
    def grades_steps(self) -> bool:
        """Whether any of them grades steps."""
        asked = [*self.models, *([self.escalate] if self.escalate else [])]
        return any("step" in judge.targets for judge in self.programs) or any(judge.grades_steps for judge in asked)

    calibration: CalibrationFile | None = None


class Judgement(NamedTuple):
    """The rows of one pass over one record."""

    votes: list[Vote]
    keypoints: list[Keypoint]
    checks: list[CheckResult]
    verdicts: list[Verdict]
    calls: list[ModelCall]


def judge_names() -> list[str]:
    """Names of the judges without a model, sorted."""
    return [name for name, _ in _JUDGES]


def build_judges(names: Sequence[str | JudgeConfig], calibration: CalibrationFile | None = None) -> list[Judge]:
    """The judges without a model among these, each once; raises ConfigError naming the known ones."""
    makers, wanted = dict(_JUDGES), [name for name in names if isinstance(name, str)]
    for name in wanted:
        if name not in makers:
            raise ConfigError(f"judges: no judge '{name}'; judges: {', '.join(judge_names())}")
    return [makers[name](calibration) for name in dict.fromkeys(wanted)]


def build_bench(config: RunConfig, clients: Clients) -> Bench:
    """All judges of a configuration; raises ConfigError."""
    escalate, calibration = config.panel.escalate, calibration_of(config)
    return Bench(
        build_judges(config.judges, calibration),
        [_model("judges", judge, clients) for judge in config.judges if isinstance(judge, JudgeConfig)],
        _model("panel.escalate", escalate, clients) if escalate else None,
        calibration,
    )


def calibration_of(config: RunConfig) -> CalibrationFile | None:
    """The calibration that verdicts may cite: nothing where none is named or where it is of other judges.

    Raises ConfigError where the panel's rule cannot do without it, and where a judge is not known.
    """
    return applicable(
        config.panel.calibration, config.panel.rule, _judges_of(config, "trace"), _judges_of(config, "step")
    )


def _judges_of(config: RunConfig, target: Target) -> list[tuple[str, str]]:
    """Who grades trajectories, or steps: names with families."""
    programs = [(judge.name, judge.family) for judge in build_judges(config.judges) if target in judge.targets]
    models = [(judge.name or "", family_of(judge)) for _, judge in model_judges(config) if target in judge.grades]
    return [*programs, *models]


def needs(config: RunConfig) -> list[Need]:
    """Every endpoint that judging will call; raises ConfigError naming the key."""
    return [Need(endpoint_of(part, judge), judge.images) for part, judge in model_judges(config)]


def model_judges(config: RunConfig) -> list[tuple[str, JudgeConfig]]:
    """The judges that are models, each with its part of the configuration."""
    found = [("judges", judge) for judge in config.judges if isinstance(judge, JudgeConfig)]
    return found + ([("panel.escalate", config.panel.escalate)] if config.panel.escalate else [])


def prompts(config: RunConfig) -> list[str]:
    """Every fixed text that the configured judges show to a model, and those that pin several for a vote, sorted."""
    graded = {grade for _, judge in model_judges(config) for grade in judge.grades}
    shown = {name for grade in graded for name in _PROMPTS[grade]}
    texts = [prompt_text(name, language) for name in shown for language in LANGUAGES]
    pinned = [pinned_text(_PROMPTS["trace"], language) for language in LANGUAGES] if "trace" in graded else []
    return sorted([*texts, *pinned])


def longest(config: RunConfig, steps: Sequence[int]) -> float:
    """Seconds after which judges of trajectories of so many steps are broken, not slow.

    Every call of every model may take all the time a call has, in the share of the endpoint's slots that falls to one
    process; what waits for a slot is late by as much as those before it.
    """
    seconds = PROGRAM_SECONDS * len(steps)
    for part, judge in model_judges(config):
        endpoint = endpoint_of(part, judge)
        calls = sum(_most_calls(judge, count) for count in steps)
        slots = max(1, endpoint.in_flight // (2 * config.workers + 1))
        seconds += math.ceil(calls / slots) * endpoint.total_seconds
    return seconds


def _most_calls(judge: JudgeConfig, steps: int) -> int:
    of_trace = most_calls(steps, judge.images) if "trace" in judge.grades else 0
    return of_trace + (steps if "step" in judge.grades else 0)


async def judge_record(
    task: TaskSpec,
    record: Record,
    bench: Bench,
    panel: PanelConfig,
    pass_id: str,
    ledger: list[ModelCall] | None = None,
    standing: Sequence[HeldStep] = (),
) -> Judgement:
    """The rows of a pass over one record. Of what is unscored no judge is asked. Raises RunError.

    Calls stand in the ledger as soon as they end, so that they are known of a pass that is not brought to its end.
    `standing` are the verdicts on steps that hold so far: the process score is of what holds after this pass.
    """
    case = Case(task, stripped(record), evaluate(task, record, pass_id), view_of(task), bench.calibration)
    found = Judged([], [])
    calls = [] if ledger is None else ledger
    if not unscored(record):
        for judge in bench.programs:
            _join(found, await asyncio.to_thread(_ask, judge, case, pass_id))
        last = _unheard(bench.escalate) if bench.escalate else None
        unheard = [_unheard(model) for model in bench.models]
        for place, model in enumerate(bench.models):
            waiting = Waiting(unheard[place:], last)
            _join(found, await _ask_model(model, case, found.votes, panel, pass_id, calls, waiting))
        if bench.escalate:
            waiting = Waiting((), last)
            _join(found, await _ask_model(bench.escalate, case, found.votes, panel, pass_id, calls, waiting))
    trace, *steps = decide(case, found.votes, panel, pass_id)
    # A pass that was not to grade steps says nothing of them: what is known of them already stays in force.
    steps = steps if bench.grades_steps else []
    return Judgement(
        votes=found.votes,
        keypoints=[*_segments(case, record, pass_id), *tied(found.keypoints, task.checks)],
        checks=case.evaluated.results,
        verdicts=[_scored(trace, standing, steps), *steps],
        calls=calls,
    )


def _scored(trace: Verdict, standing: Sequence[HeldStep], steps: Sequence[Verdict]) -> Verdict:
    """The trajectory's verdict with the score of the steps as they stand now: by persons, by this pass, by others."""
    if trace.status == "unscored":
        return trace
    now: dict[int | None, HeldStep | Verdict] = {held.step_index: held for held in standing}
    now |= {verdict.step_index: verdict for verdict in steps}
    now |= {held.step_index: held for held in standing if held.rule == "human"}
    return trace.model_copy(update={"process_score": process_score(list(now.values()))})


def _segments(case: Case, record: Record, pass_id: str) -> list[Keypoint]:
    """What the contract says of its segments; a record that is not scored has nothing to say."""
    return [] if unscored(record) else segments_told(case.task, case.evaluated, record, pass_id)


async def _ask_model(
    judge: ModelJudge,
    case: Case,
    votes: Sequence[Vote],
    panel: PanelConfig,
    pass_id: str,
    calls: list[ModelCall],
    waiting: Waiting,
) -> Judged:
    """A model's votes on what those that wait, it among them, may still change."""
    trace, steps = open_of(case, votes, panel, waiting)
    asking = [judge.trace(case.view, case.record, pass_id, calls)] if trace and judge.grades_traces else []
    if judge.grades_steps:
        asking += [judge.step(case.view, case.record, index, pass_id, calls) for index in steps]
    found = Judged([], [])
    for one in await together(asking):
        _join(found, one)
    return found


def _unheard(judge: ModelJudge) -> Unheard:
    return Unheard(judge.name, judge.family, judge.grades)


def _join(found: Judged, more: Judged) -> None:
    found.votes.extend(more.votes)
    found.keypoints.extend(more.keypoints)


def _model(part: str, config: JudgeConfig, clients: Clients) -> ModelJudge:
    endpoint = endpoint_of(part, config)
    return ModelJudge(clients.client(endpoint), endpoint.model, endpoint.family, config.grades, config.images)


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


def _ask(judge: Judge, case: Case, pass_id: str) -> Judged:
    """One judge's votes; one that cannot work leaves votes that say so, never a grade."""
    try:
        return judge.judge(case.view, case.record, pass_id)
    except (EpisodeError, CaptureError) as error:
        return Judged(_error_votes(judge, case.record, pass_id, f"{error.code}: {error}"), [])


def _error_votes(judge: Judge, record: Record, pass_id: str, reason: str) -> list[Vote]:
    steps = [step.step_index for step in record.own_steps] if "step" in judge.targets else []
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
