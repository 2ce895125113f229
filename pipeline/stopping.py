"""When an episode must end although the agent goes on: pure rules over the rows written so far.

Time is not looked at here: the rollout bounds it. An agent's own declaration of the end is no rule either.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.episode import Ending, Episode, Limits
from pipeline.errors import EnvError
from pipeline.records import ObservationRow, Step

_REFUSALS = ("no_action", "refused")


def must_end(episode: Episode, max_steps: int) -> Ending | None:
    """The ending that the rules demand now, if any; raises EnvError when the world cannot be seen any more."""
    limits, steps = episode.plan.limits, episode.own_steps
    if _blind(episode.observations, limits):
        raise EnvError("capture_failed", f"{limits.failed_captures} captures failed in a row")
    for event in episode.events:
        if event.kind in ("captcha", "login"):
            return Ending("blocked", reason=event.kind)
    if sum(step.action_error == "blocked_by_gate" for step in steps) >= limits.gate_refusals:
        return Ending("blocked", reason="gate")
    unusable = _unusable(steps, limits)
    if unusable is not None:
        return unusable
    if _repeats(steps, episode.observations, limits):
        return Ending("loop", reason="same_action")
    return Ending("step_limit", reason="max_steps") if len(steps) >= max_steps else None


def _blind(observations: Sequence[ObservationRow], limits: Limits) -> bool:
    """Whether capture after capture has failed; that a window forbids pictures is no failure."""
    newest = observations[-limits.failed_captures :]
    failed = [row for row in newest if row.capture_error not in (None, "secure_screen")]
    return len(failed) == limits.failed_captures


def _unusable(steps: Sequence[Step], limits: Limits) -> Ending | None:
    """Replies without an action in a row: one retry after a content filter, `unusable_replies` turns otherwise."""
    newest = steps[-limits.unusable_replies :]
    if [step.action_error for step in steps[-2:]] == ["refused", "refused"]:
        return Ending("refused", reason="refused")
    if len(newest) < limits.unusable_replies or any(step.action is not None for step in newest):
        return None
    if all(step.action_error in _REFUSALS for step in newest):
        return Ending("refused", reason="no_action")
    return Ending("unreadable", reason=newest[-1].action_error)


def _repeats(steps: Sequence[Step], observations: Sequence[ObservationRow], limits: Limits) -> bool:
    """The same action on the same picture, time after time."""
    newest = steps[-limits.same_actions :]
    if len(newest) < limits.same_actions or any(step.action is None for step in newest):
        return False
    first = newest[0]
    pictures = {observations[step.step_index].frame_sha256 for step in newest}
    return len(pictures) == 1 and None not in pictures and all(step.action == first.action for step in newest)
