"""Weights for distilling several teachers into a student: which part of the student's action still needs teaching.

Three cases. The whole action is right: nothing of it is supervised any more. The type is right and a parameter is
wrong: the whole action is weighted up. The type is wrong: only the type is supervised, for the parameters of another
action teach nothing.
"""

from __future__ import annotations

from pipeline.actions import Action, Model

PLAIN = 1.0
RAISED = 2.0


class MopdWeights(Model):
    """Weights of the supervision on the tokens of the action's type and of its parameters; 0 masks them."""

    type: float
    parameters: float


def mopd_weights(student_action: Action, right_action: Action) -> MopdWeights:
    """The weights for what a student wanted to do, given what would have been right."""
    if student_action == right_action:
        return MopdWeights(type=0.0, parameters=0.0)
    if student_action.type == right_action.type:
        return MopdWeights(type=RAISED, parameters=RAISED)
    return MopdWeights(type=PLAIN, parameters=0.0)


def teacher_hint(right_action: Action) -> str:
    """What the teacher is told and the student is not: the type of the right action, never its parameters."""
    return f"The right type of action for this step is {right_action.type}."
