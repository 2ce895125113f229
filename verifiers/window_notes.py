"""What windows say of the keypoints, taken together: one state per keypoint, and what no window has looked at.

A later window decides over an earlier one where it rests on screens that the earlier one had not seen: things are done
and undone. Two notes about screens that both windows saw cannot both be right; such a keypoint is unclear, with both
notes as its reason, until somebody looks again. Nothing is known here of grades.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import BaseModel

from pipeline.words import KeypointState
from verifiers.shots import Shot

_NOT_SHOWN = "no window shows it"


class WindowNote(BaseModel):
    """One keypoint in one window; the evidence stands before the state."""

    keypoint: int
    evidence: str
    screens: list[int]
    state: KeypointState


class WindowAnswer(BaseModel):
    """What a window shows."""

    seen: str
    notes: list[WindowNote]


class Finding(NamedTuple):
    """The state of a keypoint: by which window, from which pictures, and why."""

    text: str
    state: KeypointState
    window: int
    frame_sha256s: list[str]
    reason: str


class Findings(NamedTuple):
    """All keypoints in order, and the windows of which nothing was said, each by its first and last look."""

    of_keypoints: list[Finding]
    unseen: list[tuple[int, int]]


class _Told(NamedTuple):
    """A note that decides its keypoint, the looks it rests on, and all looks of its window."""

    note: WindowNote
    window: int
    looks: frozenset[int]
    of_window: frozenset[int]


def findings_of_windows(
    texts: Sequence[str], windows: Sequence[Sequence[Shot]], answers: Sequence[WindowAnswer | None]
) -> Findings:
    """The state of every keypoint over all windows; an answer is null where a window gave none."""
    frames = {shot.look: shot.frame.sha256 for window in windows for shot in window}
    told = list(_deciding(windows, answers))
    return Findings(
        [
            _finding(text, _standing([one for one in told if one.note.keypoint == number]), frames)
            for number, text in enumerate(texts)
        ],
        [
            (window[0].look, window[-1].look)
            for window, answer in zip(windows, answers, strict=True)
            if answer is None or not answer.notes
        ],
    )


def _deciding(windows: Sequence[Sequence[Shot]], answers: Sequence[WindowAnswer | None]) -> Iterator[_Told]:
    """The notes that say something, from screens their window really shows."""
    for place, (window, answer) in enumerate(zip(windows, answers, strict=True)):
        shown = frozenset(shot.look for shot in window)
        for note in answer.notes if answer else []:
            looks = shown.intersection(note.screens)
            if note.state != "unclear" and looks:
                yield _Told(note, place, looks, shown)


def _standing(told: Sequence[_Told]) -> list[_Told]:
    """The notes that hold in the end: one, or several that contradict each other."""
    standing: list[_Told] = []
    for one in told:
        standing = [*(other for other in standing if _contradict(other, one)), one]
    return standing


def _contradict(before: _Told, after: _Told) -> bool:
    """Whether two notes differ about what both windows saw; otherwise the later one has seen more."""
    if before.note.state == after.note.state:
        return False
    return bool(before.looks & after.looks) or after.looks <= before.of_window


def _finding(text: str, standing: Sequence[_Told], frames: dict[int, str]) -> Finding:
    if not standing:
        return Finding(text, "unclear", 0, [], _NOT_SHOWN)
    last = standing[-1]
    if len(standing) == 1:
        return Finding(text, last.note.state, last.window, _pictures(standing, frames), last.note.evidence)
    return Finding(text, "unclear", last.window, _pictures(standing, frames), "\n".join(map(_line, standing)))


def _pictures(told: Sequence[_Told], frames: dict[int, str]) -> list[str]:
    """The pictures that notes rest on, as the notes name them."""
    return list(dict.fromkeys(frames[look] for one in told for look in one.note.screens if look in one.looks))


def _line(told: _Told) -> str:
    """A note in one line, for whoever decides between two."""
    screens = ", ".join(map(str, sorted(told.looks)))
    return f"{told.note.state} [{screens}]: {told.note.evidence}"
