"""Calibration files and labelled sets made by rule, with seeded errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from pipeline.words import Domain, Target
from verifiers.calibration import CalibrationFile, Cell, Measured, identified
from verifiers.dependence import Dependence
from verifiers.labelled import Item, LabelSet, Voter
from verifiers.metrics import decisions_of, figures_of
from verifiers.weighing import Weighing, Weight

RULES = ("quorum", "single", "weighted")
MADE_AT = datetime(2026, 11, 29, tzinfo=UTC)


def model(name: str, family: str | None = None, prompts: Sequence[str] = ()) -> Voter:
    """A judge with a model."""
    return Voter(name=name, kind="model", family=family or name, prompt_sha256s=list(prompts))


def weighing(accept: float = 0.5, reject: float | None = None, **weights: float) -> Weighing:
    """Weights by hand; `x__for` stands for the feature `x:for`, `sign__budget` for `sign:budget`."""
    return Weighing(
        intercept=0.0,
        weights=[Weight(feature=name.replace("__", ":"), weight=weight) for name, weight in weights.items()],
        accept=accept,
        reject=accept if reject is None else reject,
    )


def calibration(
    judges: Sequence[Voter] = (model("x"), model("y")),
    domains: Sequence[Domain] = ("Web",),
    weights: Weighing | None = None,
    telemetry: Weighing | None = None,
    targets: Sequence[Target] = ("trace",),
) -> CalibrationFile:
    """A file whose every rule has one false positive in four and one false negative in five, on what it measures."""
    truth = [True] * 5 + [False] * 4
    sides = [True] * 4 + [False] + [True] + [False] * 3
    figures = figures_of(decisions_of(sides), np.array(truth), [f"task-{n}" for n in range(9)])
    return identified(
        CalibrationFile(
            calibration_id="",
            made_at=MADE_AT,
            source="by hand",
            judges=list(judges),
            step_judges=list(judges) if "step" in targets else [],
            validation="none",
            measured=[Measured(name=name, kind="rule", figures=figures) for name in RULES],
            steps=[],
            cells=[
                Cell(target=target, domain=domain, checked=checked, rule=rule, figures=figures)
                for target in targets
                for domain in domains
                for checked in (False, True)
                for rule in RULES
            ],
            dependence=Dependence(voters=len(judges), effective=None, pairs=[]),
            weighing=weights or weighing(),
            telemetry=telemetry,
            curve=[],
        )
    )


def labelled(
    accuracies: Mapping[str, float],
    tasks: int = 60,
    per_task: int = 3,
    seed: int = 1,
    signs: bool = False,
) -> LabelSet:
    """Items of which a judge is right with the probability of its accuracy, independently of the others."""
    random = np.random.default_rng(seed)
    items = []
    for number in range(tasks * per_task):
        truth = bool(random.random() < 0.4)
        votes = {name: truth == bool(random.random() < accuracy) for name, accuracy in accuracies.items()}
        unfinished = float(random.random() < (0.05 if truth else 0.8))
        shown = {"known": 1.0, "unfinished": unfinished} if signs else {}
        items.append(Item(f"item-{number}", f"task-{number % tasks}", truth, votes, shown, domain="Web"))
    return LabelSet("by rule", items, [model(name) for name in accuracies])
