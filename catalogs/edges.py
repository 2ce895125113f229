"""The edges that an exploration walked: rows with the screens before and after, and the pictures and trees they name.

Equal edges are kept once. Knows how to read edges out of a rollout's record, nothing of how they came about.
"""

from __future__ import annotations

from typing import NamedTuple

from catalogs.screens import masked, pattern_of, signature_of, structure_signature
from pipeline.actions import Action, Terminal, Wait, render
from pipeline.protocols import Observation
from pipeline.records import Frame, ObservationRow, Record, Transition, Tree, digest
from pipeline.tasks import Evidence

EXPLORED = "explored:"
"""Begins the source of evidence by exploration; `transitions` has the edge between the two signatures after it."""


class Seen(NamedTuple):
    """A screen as it was looked at."""

    signature: str
    frame: Frame | None
    tree: Tree | None


class Edges:
    """The edges of one application, in the order in which they were walked."""

    def __init__(self, app_id: str, round_: int) -> None:
        self._app_id, self._round = app_id, round_
        self._known: set[tuple[str, ...]] = set()
        self.transitions: list[Transition] = []
        self.states: dict[str, int] = {}
        """Signatures, and how often each was come to."""
        self.frames: dict[str, Frame] = {}
        self.trees: dict[str, Tree] = {}

    def add(self, before: Seen, action: Action, after: Seen, capability_id: str | None) -> None:
        """Keep an edge, its pictures and its trees; one that is there already only counts."""
        for seen in (before, after):
            self.states.setdefault(seen.signature, 0)
        self.states[after.signature] += 1
        key = (before.signature, after.signature, render(action), capability_id or "")
        if key in self._known:
            return
        self._known.add(key)
        for seen in (before, after):
            self._show(seen)
        self.transitions.append(
            Transition(
                app_id=self._app_id,
                round=self._round,
                from_signature=before.signature,
                to_signature=after.signature,
                action=action,
                frame_before=before.frame.sha256 if before.frame is not None else None,
                frame_after=after.frame.sha256 if after.frame is not None else None,
                capability_id=capability_id,
            )
        )

    def add_record(self, record: Record, capability_id: str | None) -> None:
        """Keep the edges that a rollout walked: every action but the waits and the last word."""
        for action, before, after in _walked(record):
            self.add(before, action, after, capability_id)

    @staticmethod
    def ends(record: Record) -> set[str]:
        """The signature of the screen a rollout ended on."""
        return {_seen(record, record.observations[-1]).signature} if record.observations else set()

    def evidence_for(self, signature: str) -> Evidence | None:
        """The first edge that led to a screen."""
        for row in self.transitions:
            if row.to_signature == signature != row.from_signature:
                return _evidence(row.from_signature, row.to_signature, row.frame_after)
        return None

    def _show(self, seen: Seen) -> None:
        if seen.frame is not None:
            self.frames[seen.frame.sha256] = seen.frame
        if seen.tree is not None:
            self.trees[seen.tree.sha256] = seen.tree


def shown(seen: Observation) -> Seen:
    """A look as an end of an edge."""
    return Seen(signature_of(seen), seen.frame, seen.tree)


def closings(record: Record) -> set[tuple[str, str, str]]:
    """What a rollout pressed last: address pattern of the screen, role and name; nothing when it pressed nothing."""
    for step in reversed(record.steps):
        if step.status == "ok" and step.target is not None and step.action is not None:
            location = record.observations[step.step_index].location
            return {(pattern_of(location), step.target.role, masked(step.target.name))}
    return set()


def evidence_of(record: Record) -> Evidence:
    """Where a capability was seen: the screens of the last edge, and the picture after it."""
    walked = _walked(record)
    if not walked:
        return _evidence("", "", None)
    _, before, after = walked[-1]
    proof = after.frame or after.tree
    return _evidence(before.signature, after.signature, proof.sha256 if proof is not None else None)


def _walked(record: Record) -> list[tuple[Action, Seen, Seen]]:
    looks = record.observations
    walked: list[tuple[Action, Seen, Seen]] = []
    for step in record.steps:
        action, at = step.action, step.step_index
        if action is None or isinstance(action, Terminal | Wait) or at + 1 >= len(looks):
            continue
        if step.status == "ok":
            walked.append((action, _seen(record, looks[at]), _seen(record, looks[at + 1])))
    return walked


def _seen(record: Record, row: ObservationRow) -> Seen:
    frame = record.frames[row.frame_sha256] if row.frame_sha256 else None
    tree = record.trees[row.tree_sha256] if row.tree_sha256 else None
    return Seen(structure_signature(row.location, tree.nodes if tree is not None else []), frame, tree)


def _evidence(before: str, after: str, proof: str | None) -> Evidence:
    return Evidence(
        source=f"{EXPLORED}{before}>{after}",
        quote_sha256=proof or digest("nothing was seen"),
        licence="none: observed",
    )
