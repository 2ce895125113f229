"""What the self-tests leave of drafts: those that hold, and the rows of those that do not.

Knows nothing of how a self-test is made.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.records import Rejection
from taskspecs.gate import rejection
from taskspecs.gate_cases import Candidate, Finding
from taskspecs.generate import Drafts
from taskspecs.selftest import Trial
from taskspecs.sieve import Sieved


def proven(drafts: Drafts, sieved: Sieved, trials: Mapping[str, Trial]) -> Drafts:
    """The drafts whose contract holds, by task, and every rejection so far; what was not tested is in neither."""
    candidates: list[Candidate] = []
    rejections: list[Rejection] = list(sieved.rejections)
    for candidate in drafts.candidates:
        trial = trials.get(candidate.task.task_id)
        if trial is not None and trial.held:
            task = candidate.task.model_copy(update={"fixture_fingerprint": trial.fixture_fingerprint})
            candidates.append(candidate._replace(task=task))
        elif trial is not None:
            rejections.append(rejection(candidate, Finding(trial.reason or "not_executable", told(trial))))
    return Drafts(candidates, rejections)


def told(trial: Trial) -> str:
    """What a self-test that did not hold has to say."""
    return trial.detail or (f"{trial.fault.code}: {trial.fault.message}" if trial.fault else "")
