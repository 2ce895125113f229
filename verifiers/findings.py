"""The state of each keypoint by the evidence: met, unmet, or unclear, with the screen and the words that show it.

`unmet` is said only of what is plainly so: a value that was never entered and is on no screen, that was entered and
never sent, that is still there though it should be gone. What is merely out of sight is unclear. Knows nothing of
grades.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pipeline.protocols import JudgeView
from pipeline.words import KeypointState
from verifiers.evidence import Evidence
from verifiers.keypoints import DEEDS, Sought, ValueKind, keypoints_of, unquoted
from verifiers.normalise import days_of, folded, number_of, text_of
from verifiers.operated import Told, deeds_told
from verifiers.wordlists import FUNCTIONS

ON_NO_SCREEN = "on no screen"
"""How the reason ends where a value was looked for in vain."""
_NEVER_ENTERED = "never entered and on no screen"


class Finding(NamedTuple):
    """The state of one keypoint and what shows it."""

    sought: Sought
    state: KeypointState
    reason: str
    look: int
    frame_sha256: str | None


def findings_of(view: JudgeView, evidence: Evidence, answer: str | None) -> list[Finding]:
    """What the evidence says of every keypoint; `answer` is only looked for, giving it proves nothing."""
    wanted = keypoints_of(view)
    deeds = [sought for sought in wanted if sought.wanted in DEEDS]
    told = dict(zip(deeds, deeds_told(deeds, evidence.record), strict=True))
    return [
        _of_deed(sought, told[sought], evidence)
        if sought in told
        else _seeing(_finding(sought, evidence, answer), evidence)
        for sought in wanted
    ]


def missing_of(view: JudgeView, evidence: Evidence) -> list[str]:
    """What an agent may rightly say is not there: named things, choices of a chooser it opened, whole functions.

    A choice is taken to be one word; a longer new value is more likely a text to be typed.
    """
    wanted = [sought for sought in keypoints_of(view) if sought.kind == "text"]
    if evidence.blind:
        return []
    named = [sought for sought in wanted if sought.wanted in ("seen", "gone") and evidence.first_seen(sought) is None]
    choices = [sought for sought in wanted if sought.wanted == "shown" and evidence.offered]
    return [
        *(sought.value for sought in named),
        *(sought.value for sought in choices if " " not in sought.value and not evidence.anywhere(sought)),
        *_functions(view.instruction, evidence),
    ]


def _functions(instruction: str, evidence: Evidence) -> Iterator[str]:
    """Functions the instruction speaks of that no control on any screen has in its name."""
    asked = folded(unquoted(instruction))
    controls = {name for screen in evidence.screens for name in screen.controls}
    for function in FUNCTIONS:
        word = function.first(asked)
        if word is not None and not any(function.within(name) for name in controls):
            yield word


def value_of(answer: str, sought: Sought) -> Sought:
    """A keypoint that looks for the answer's own value."""
    kind: ValueKind = "number" if number_of(answer) is not None else "day" if days_of(answer) else "text"
    return sought._replace(value=text_of(answer) or answer, kind=kind)


def _seeing(found: Finding, evidence: Evidence) -> Finding:
    """What was looked for in vain is not unmet where a picture was left unread."""
    if found.state == "unmet" and evidence.blind and found.reason in (ON_NO_SCREEN, _NEVER_ENTERED):
        return found._replace(state="unclear", reason=f"{found.reason} that could be read")
    return found


def _of_deed(sought: Sought, told: Told, evidence: Evidence) -> Finding:
    screen = evidence.screens[told.look]
    return Finding(sought, told.state, told.reason, screen.look, screen.frame_sha256)


def _finding(sought: Sought, evidence: Evidence, answer: str | None) -> Finding:
    match sought.wanted:
        case "shown":
            return _shown(sought, evidence)
        case "gone":
            return _gone(sought, evidence)
        case "seen":
            return _seen(sought, evidence)
        case "changed":
            return _changed(sought, evidence)
        case "answered":
            return _answered(sought, evidence, answer)
        case "ranked" | "counted" | "formatted":
            return _at_end(sought, "unclear", "not to be told without comparing", evidence)
        case _:
            return _at_end(sought, "unclear", "not understood", evidence)


def _shown(sought: Sought, evidence: Evidence) -> Finding:
    entry = evidence.last_entry(sought)
    sent = evidence.sent_after(entry if entry is not None else -1)
    sighting = evidence.seen(sought, since=sent + 1) if sent is not None else None
    if sighting is not None:
        return Finding(sought, "met", f"shown after step {sent}: “{sighting.quote}”", *sighting[:2])
    if not evidence.anywhere(sought) and sought.kind == "text":
        return _at_end(sought, "unmet", _NEVER_ENTERED, evidence)
    if sent is None and entry is not None and evidence.seen(sought, since=entry + 1) is None:
        silent = next((step for step in evidence.silent if step > entry), None)
        if silent is not None:
            return _at_end(
                sought, "unclear", f"entered in step {entry}; step {silent} may have sent it unseen", evidence
            )
        return _at_end(sought, "unmet", f"entered in step {entry} and never sent", evidence)
    return _at_end(sought, "unclear", "entered, but no later screen displays it", evidence)


def _gone(sought: Sought, evidence: Evidence) -> Finding:
    first = evidence.first_seen(sought)
    deleted = [step for step in evidence.deleted if first is not None and step >= first]
    if evidence.on_last_screen(sought):
        state: KeypointState = "unclear" if deleted else "unmet"
        return _at_end(sought, state, "still displayed at the end", evidence)
    if first is None:
        return _at_end(sought, "unclear", "never on screen", evidence)
    if deleted:
        return _at_end(sought, "met", f"on screen in look {first}, deleted in step {deleted[-1]}", evidence)
    return _at_end(sought, "unclear", "out of sight, but nothing deleted it", evidence)


def _seen(sought: Sought, evidence: Evidence) -> Finding:
    sighting = evidence.seen(sought)
    if sighting is not None:
        return Finding(sought, "met", f"“{sighting.quote}”", *sighting[:2])
    if evidence.anywhere(sought) or sought.kind != "text":
        return _at_end(sought, "unclear", "not displayed within a picture", evidence)
    return _at_end(sought, "unmet", ON_NO_SCREEN, evidence)


def _changed(sought: Sought, evidence: Evidence) -> Finding:
    entry = evidence.last_entry()
    if evidence.sent and (entry is None or evidence.sent[-1] > entry):
        return _at_end(sought, "met", f"sent in step {evidence.sent[-1]}", evidence)
    if entry is not None:
        return _at_end(sought, "unclear", f"nothing was sent after step {entry}", evidence)
    return _at_end(sought, "unclear", "no control that sends was seen to work", evidence)


def _answered(sought: Sought, evidence: Evidence, answer: str | None) -> Finding:
    """The answer is only looked for; that the agent gives it proves nothing."""
    if not answer:
        return _at_end(sought, "unmet", "no answer was given", evidence)
    said = value_of(answer, sought)
    sighting = evidence.seen(said)
    if sighting is None:
        return _at_end(sought, "unclear", f"“{answer[:80]}” is {ON_NO_SCREEN}", evidence)
    state: KeypointState = "met" if said.kind != "text" or evidence.stands_alone(said) else "unclear"
    words = f"“{sighting.quote}”" if state == "met" else f"only as a part of “{sighting.quote}”"
    return Finding(sought, state, words, *sighting[:2])


def _at_end(sought: Sought, state: KeypointState, reason: str, evidence: Evidence) -> Finding:
    last = evidence.screens[-1]
    return Finding(sought, state, reason, last.look, last.frame_sha256)
