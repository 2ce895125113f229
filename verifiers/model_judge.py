"""One model as a judge of trajectories and steps: the trace verifier and the step verifier behind one name and family.

Whoever asks says what is still to be graded. A step that cannot be graded gets an abstention, never a grade.
"""

from __future__ import annotations

from collections.abc import Collection, MutableSequence

from pipeline.llm import Client
from pipeline.protocols import Judged, JudgeView
from pipeline.records import ModelCall, Record, Vote
from pipeline.words import Target
from verifiers.step import StepVerifier, proposal_of
from verifiers.trace import TraceVerifier


class ModelJudge:
    """A model that grades; `images` is how many pictures it may be shown at once."""

    def __init__(self, client: Client, name: str, family: str, grades: Collection[Target], images: int) -> None:
        self.name, self.family, self.grades = name, family, tuple(grades)
        self.grades_traces, self.grades_steps = "trace" in grades, "step" in grades
        self._trace = TraceVerifier(client, name, family, images)
        self._step = StepVerifier(client, name, family)

    async def trace(self, view: JudgeView, record: Record, pass_id: str, ledger: MutableSequence[ModelCall]) -> Judged:
        """A vote on the trajectory, with its keypoints; raises RunError."""
        return await self._trace.judge(view, record, pass_id, ledger)

    async def step(
        self, view: JudgeView, record: Record, index: int, pass_id: str, ledger: MutableSequence[ModelCall]
    ) -> Judged:
        """A vote on one step; raises RunError."""
        place = {"attempt_id": record.attempt.attempt_id, "step_index": index}
        proposal = proposal_of(view, record, index)
        if proposal is None:
            return Judged([self._abstains(place, pass_id)], [])
        calls: list[ModelCall] = []
        try:
            vote = await self._step.grade(proposal, pass_id, calls)
        finally:
            ledger.extend(call.model_copy(update={"attempt_id": record.attempt.attempt_id}) for call in calls)
        return Judged([vote.model_copy(update=place)], [])

    def _abstains(self, place: dict[str, object], pass_id: str) -> Vote:
        return Vote.model_validate(
            {
                **place,
                "pass_id": pass_id,
                "target": "step",
                "judge": self.name,
                "judge_kind": "model",
                "family": self.family,
                "status": "abstain",
                "grade": None,
                "reason": "there is no picture or no action to grade",
            }
        )
