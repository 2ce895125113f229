"""The gate: stands before every execution and decides by what the action would do here, not by who wants it.

Independent of the acting model: it looks at the screen, the action and the instruction, never at the reasoning. Its
rules cannot classify what they cannot see (a screen without tree, a canvas) or have no words for. A model may be asked
for a second opinion; the stricter of the two stands, so that it can stop what the rules let through, never the reverse.
"""

from __future__ import annotations

from typing import NamedTuple

from pipeline.actions import Action, Keyed, Launch
from pipeline.allowlist import AllowList
from pipeline.config import RunConfig
from pipeline.permissions import Profile, load_profile
from pipeline.protocols import Observation, Opinion, SecondOpinion
from pipeline.records import ModelCall
from pipeline.safety.classes import kind_of
from pipeline.safety.finding import Finding
from pipeline.safety.keying import presses_enter
from pipeline.safety.permission import refusal_of
from pipeline.safety.reading import can_act, read, unread
from pipeline.structs import GateDecision, LeadingTarget, TargetUnderPoint
from pipeline.tasks import TaskSpec

_STRICTNESS = ("allow", "ask", "refuse")
_SHOWN = 160


class Live(NamedTuple):
    """Sites whose state nobody puts back, and what may happen there."""

    sites: AllowList
    profile: Profile


class ConsequenceGate:
    """Allows, asks or refuses by a profile."""

    def __init__(self, profile: Profile, second: SecondOpinion | None = None, live: Live | None = None) -> None:
        self._usual, self._second, self._live = profile, second, live

    async def decide(
        self, task: TaskSpec, observation: Observation, action: Action, target: TargetUnderPoint | None
    ) -> GateDecision:
        """What the rules say, or the second opinion where that is stricter.

        A model is asked only of actions that can bring something about, and where the profile could stop them at all.
        Raises ModelError when it does not answer: what nobody has looked at does not happen.
        """
        target = _worked(action, target)
        ruling = self.rule(task, observation, action, target)
        profile = self._profile(observation, action, target)
        if self._second is None or ruling.decision == "refuse" or not (can_act(action) and profile.can_stop):
            return ruling
        opinion = await self._second.of(task, observation, action, target)
        return max(ruling, _opined(profile, opinion), key=_strictness)

    def rule(
        self, task: TaskSpec, observation: Observation, action: Action, target: TargetUnderPoint | None
    ) -> GateDecision:
        """The strictest of what the profile says of everything that the action would bring about."""
        target = _worked(action, target)
        profile = self._profile(observation, action, target)
        decisions = [_ruled(profile, task, finding) for finding in read(observation, action, target, task.platform)]
        if decisions:
            return max(decisions, key=_strictness)
        unknown = unread(observation, action, target)
        if unknown is not None:
            return _decision(profile, profile.otherwise, "unclassified", unknown)
        return _decision(profile, "allow", "none", "nothing of consequence")

    def drain_calls(self) -> list[ModelCall]:
        """The calls of the second opinion since the last time."""
        return self._second.drain_calls() if self._second is not None else []

    def _profile(self, observation: Observation, action: Action, target: TargetUnderPoint | None) -> Profile:
        """The profile of where this is, and of where it leads: another one on sites whose state nobody puts back."""
        leads_to = target.leads_to.partition(" ")[2] if isinstance(target, LeadingTarget) else ""
        places = [observation.location, action.url if isinstance(action, Launch) else leads_to]
        if self._live is not None and any(map(self._live.sites.permits_url, places)):
            return self._live.profile
        return self._usual


def _worked(action: Action, target: TargetUnderPoint | None) -> TargetUnderPoint | None:
    """What an action works: of those of the keyboard only the enter key and the space bar press anything."""
    return target if not isinstance(action, Keyed) or presses_enter(action) else None


def _ruled(profile: Profile, task: TaskSpec, finding: Finding) -> GateDecision:
    refusal = refusal_of(task.instruction, finding)
    reversible = "no" if finding.final else finding.kind.reversible
    then = profile.then(finding.kind.name, reversible, explicit=refusal is None, machine=finding.reaches_machine)
    seen = f"{finding.place} '{finding.words[:_SHOWN]}'"
    return _decision(profile, then, finding.kind.name, f"{seen}: {refusal or 'asked for'}")


def _opined(profile: Profile, opinion: Opinion) -> GateDecision:
    if opinion.consequence is None:
        return _decision(profile, "allow", "none", f"second opinion: {opinion.reason}")
    kind = kind_of(opinion.consequence)
    then = profile.then(kind.name, kind.reversible, explicit=opinion.explicit, machine=False)
    return _decision(profile, then, kind.name, f"second opinion: {opinion.reason}")


def _decision(profile: Profile, then: str, consequence: str, reason: str) -> GateDecision:
    return GateDecision(decision=then, consequence=consequence, reason=reason, profile=profile.name)


def _strictness(decision: GateDecision) -> int:
    return _STRICTNESS.index(decision.decision)


def gate_of(config: RunConfig, second: SecondOpinion | None = None) -> ConsequenceGate:
    """The gate of a run: the sites of `allow` are live."""
    return ConsequenceGate(config.profile, second, Live(AllowList(config.allow), config.live_profile))


def sandbox_gate() -> ConsequenceGate:
    """The gate of what runs only where the state is put back: self-tests and exploration."""
    return ConsequenceGate(load_profile("sandbox"))
