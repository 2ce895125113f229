"""Rules for steps that end the episode: whether the end was due by what the screens had shown so far.

Knows the moment before the step and the instruction's keypoints; not the contract, and not what the agent believes.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.actions import Answer, CallUser, Drag, Finished
from pipeline.records import Record
from verifiers.evidence import Evidence, evidence_of
from verifiers.findings import ON_NO_SCREEN, Finding, findings_of, missing_of
from verifiers.keypoints import DEEDS, Wanted
from verifiers.moment import Assessment, Moment
from verifiers.normalise import folded
from verifiers.operations import any_task_specific, move_of
from verifiers.wordlists import CHANGING, COMPUTED

_LOOKED = 2
_DUE = frozenset[Wanted](["shown", "gone", *DEEDS])


def assess_end(moment: Moment, action: Answer | CallUser | Finished) -> Assessment:
    """The grade of declaring the end."""
    if folded(action.content).startswith("infeasible:"):
        return _refusing(moment)
    if isinstance(action, CallUser):
        return Assessment(None, "unknown", "asks the user; whether that was needed is not known")
    evidence = evidence_of(moment.past)
    findings = findings_of(moment.view, evidence, action.content or None)
    early = _too_early(findings, evidence, moment.past)
    if early is not None:
        return Assessment("wrong", "too_early", early)
    answered = next((found for found in findings if found.sought.wanted == "answered"), None)
    if answered is not None:
        return _answering(moment, action.content, answered)
    return Assessment("correct", "serves", "nothing that the instruction names is left to do")


def _too_early(findings: Sequence[Finding], evidence: Evidence, past: Record) -> str | None:
    changing = [found.sought for found in findings if found.sought.verb in CHANGING]
    if not past.steps and not any(found.sought.wanted == "answered" for found in findings):
        return "nothing has been done at all"
    if changing and not any_task_specific(past):
        return "nothing has been done that could have changed anything"
    contents = any(sought.wanted not in DEEDS for sought in changing)
    if contents and not evidence.sent and not any(isinstance(step.action, Drag) for step in past.steps):
        return "nothing has been sent yet"
    unmet = [found for found in findings if found.state == "unmet" and found.sought.wanted in _DUE]
    return f"still to do: {unmet[0].sought.text} {unmet[0].reason}" if unmet else None


def _answering(moment: Moment, content: str, found: Finding) -> Assessment:
    if not content:
        return Assessment("wrong", "too_early", "the instruction asks for an answer and none is given")
    if found.state == "met":
        return Assessment("correct", "serves", f"the answer stands on a screen: {found.reason}")
    if COMPUTED.within(folded(moment.view.instruction)):
        return Assessment(None, "unknown", "the answer is worked out; no screen shows it")
    if not found.reason.endswith(ON_NO_SCREEN):
        return Assessment(None, "unknown", f"whether that is the whole answer is not known: {found.reason}")
    return Assessment("wrong", "unfounded", f"no screen shows the answer “{content[:80]}”")


def _refusing(moment: Moment) -> Assessment:
    steps = [step for step in moment.past.steps if step.action is not None and move_of(step.action) != "end"]
    if len(steps) < _LOOKED:
        return Assessment("wrong", "too_early", "gives up before looking")
    missing = missing_of(moment.view, evidence_of(moment.past))
    if missing:
        return Assessment("correct", "serves", f"looked and found no {missing[0]}")
    return Assessment(None, "unknown", "everything the instruction names is there; whether it can be done is not known")
