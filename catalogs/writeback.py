"""What a round of trajectories changes in the capability catalogs, with the trajectories as evidence.

An accepted trajectory that followed the recorded procedure to its end proves the capability; complaints.py says what
speaks against one. A single complaint changes no status. It is kept as evidence, and when a second trajectory says the
same of the same version, in this round or a later one:
- if nothing proved the capability since the first: `needs_login` when a login was asked for, `renamed` when something
  like the missing control was there, `outdated` when the capability had worked before, else `unsupported`;
- beside a proof in the same round: `flaky`.
A proof confirms what was documented or broken; what was flaky is steady again after three in a round without complaint.
Counters count accepted trajectories and complaints: what agents did wrong is in neither. Pure functions.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from catalogs.complaints import Complaint, Rollout, complaint_of
from catalogs.following import followed, way_of
from pipeline.records import Validation
from pipeline.tasks import Capability, Evidence, TaskSpec
from pipeline.words import CapabilityStatus

BROKEN: frozenset[CapabilityStatus] = frozenset({"unsupported", "renamed", "needs_login", "outdated"})
"""Statuses of capabilities that no task may use until they were explored again."""

REPEATED = 2
"""So many trajectories must complain in the same words."""
STEADY = 3
"""So many successes without a complaint take `flaky` back."""

_TRAJECTORY = "trajectory:"
_LICENCE = "none: observed"
_SEEN_TO_WORK: frozenset[CapabilityStatus] = frozenset({"confirmed", "flaky", "outdated", "renamed"})
_KEPT = 20
"""So many trajectories are kept as evidence of one capability; those of earlier rounds are in its earlier rows."""


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_PROOF = _hash("accepted, by the recorded procedure")


class Heard(NamedTuple):
    """A trajectory's word on one capability: a complaint, or that it worked, and whether by the recorded procedure."""

    capability_id: str
    trajectory_id: str
    task_id: str
    version: str
    finished_at: datetime
    as_recorded: bool
    complaint: Complaint | None


def written_back(
    capabilities: Iterable[Capability], rollouts: Iterable[Rollout], round_: int, at: datetime
) -> list[Capability]:
    """The capabilities that change by these trajectories, by id; the order of what is given means nothing."""
    known = {capability.capability_id: capability for capability in capabilities}
    return applied(known, [word for rollout in rollouts for word in heard(rollout, known)], round_, at)


def heard(rollout: Rollout, known: Mapping[str, Capability]) -> list[Heard]:
    """What one trajectory says of capabilities; most that failed say nothing."""
    if rollout.accepted:
        as_recorded = _as_recorded(rollout, known)
        return [_word(rollout, known[name], as_recorded, None) for name in _called(rollout.task) if name in known]
    complaint = complaint_of(rollout, known)
    return [_word(rollout, known[complaint.capability_id], False, complaint)] if complaint else []


def applied(known: Mapping[str, Capability], words: Iterable[Heard], round_: int, at: datetime) -> list[Capability]:
    """The capabilities that change by what was heard of them."""
    groups: dict[str, list[Heard]] = {}
    for word in words:
        groups.setdefault(word.capability_id, []).append(word)
    return [_changed(known[name], group, round_, at) for name, group in sorted(groups.items()) if name in known]


def to_explore(capabilities: Iterable[Capability], at: datetime, max_age: timedelta) -> list[Capability]:
    """Those to be explored again, by id: broken or flaky ones, and those whose last sight is older than `max_age`."""
    return sorted(
        (one for one in capabilities if one.status in BROKEN or one.status == "flaky" or _stale(one, at, max_age)),
        key=lambda one: one.capability_id,
    )


def taken_out(tasks: Iterable[TaskSpec], capabilities: Iterable[Capability], at: datetime) -> list[Validation]:
    """A validation that does not hold for each task that needs a broken capability; other tasks have none."""
    broken = {one.capability_id: one.status for one in capabilities if one.status in BROKEN}
    return [
        Validation(
            task_id=task.task_id,
            validated_at=at,
            held=False,
            reason="; ".join(f"{name} is {broken[name]}" for name in found),
            expires_at=at,
        )
        for task in tasks
        if (found := [name for name in _called(task) if name in broken])
    ]


def _word(rollout: Rollout, capability: Capability, as_recorded: bool, complaint: Complaint | None) -> Heard:
    return Heard(
        capability_id=capability.capability_id,
        trajectory_id=rollout.trajectory_id,
        task_id=rollout.task.task_id,
        version=rollout.version(capability.app_id),
        finished_at=rollout.record.attempt.finished_at,
        as_recorded=as_recorded,
        complaint=complaint,
    )


def _as_recorded(rollout: Rollout, known: Mapping[str, Capability]) -> bool:
    """Whether the procedures were followed to their end; where there are none, success is all there is to see."""
    called = [known[name] for name in _called(rollout.task) if name in known]
    if not any(one.procedure for one in called):
        return True
    return followed(way_of(rollout.task, known), rollout.record).whole


def _called(task: TaskSpec) -> list[str]:
    return sorted({*(call.capability_id for call in task.calls), *task.capability_ids})


def _changed(capability: Capability, words: Sequence[Heard], round_: int, at: datetime) -> Capability:
    """The capability after what was heard of it; only what concerns the newest version decides its status."""
    version = max(words, key=lambda word: (word.finished_at, word.version)).version
    now = sorted((word for word in words if word.version == version), key=lambda word: word.trajectory_id)
    proofs = [word for word in now if word.as_recorded]
    complaints = [word for word in now if word.complaint]
    evidence = _evidence(capability, proofs, complaints)
    worked = sum(word.complaint is None for word in words)
    counted = capability.model_copy(
        update={
            "success_count": capability.success_count + worked,
            "failure_count": capability.failure_count + len(words) - worked,
            "evidence": evidence,
            "round": round_,
            "updated_at": at,
        }
    )
    return counted.model_copy(update={"status": _status(counted, proofs, complaints)})


def _status(capability: Capability, proofs: Sequence[Heard], complaints: Sequence[Heard]) -> CapabilityStatus:
    """The status by this round's words; `capability` has its counters and evidence already, its status not yet."""
    against = _since_proof(capability.evidence) if not proofs else capability.evidence
    repeated = [word for word in complaints if _times(word, complaints, against) >= REPEATED]
    if proofs and repeated:
        return "flaky"
    if proofs and capability.status == "flaky":
        return "confirmed" if len(proofs) >= STEADY and not complaints else "flaky"
    if proofs or not repeated:
        return "confirmed" if proofs else capability.status
    kinds = {word.complaint.kind for word in repeated if word.complaint}
    if "login" in kinds:
        return "needs_login"
    if "renamed" in kinds:
        return "renamed"
    return "outdated" if capability.success_count or capability.status in _SEEN_TO_WORK else "unsupported"


def _times(word: Heard, complaints: Sequence[Heard], against: Sequence[Evidence]) -> int:
    """How many trajectories complained in these words; where the task itself may be wrong, how many tasks did now."""
    if word.complaint is not None and word.complaint.kind == "no_effect":
        return len({other.task_id for other in complaints if other.complaint == word.complaint})
    return sum(entry.quote_sha256 == _quoted(word) for entry in against)


def _evidence(capability: Capability, proofs: Sequence[Heard], complaints: Sequence[Heard]) -> list[Evidence]:
    """Documents, then trajectories in the order of rounds: complaints, and the last proof where it stands in time.

    A round that proves the capability without any complaint settles the older ones.
    """
    documents = [entry for entry in capability.evidence if not entry.source.startswith(_TRAJECTORY)]
    before = [] if proofs and not complaints else _unsettled(capability)
    if proofs:
        before = [entry for entry in before if entry.quote_sha256 != _PROOF]
    fresh = [_entry(word) for word in [*complaints, *proofs[:1]]]
    kept = {entry.source: entry for entry in [*before, *fresh]}
    return [*documents, *list(kept.values())[-_KEPT:]]


def _unsettled(capability: Capability) -> list[Evidence]:
    """The trajectories among its evidence, unless they have had their effect and it was found to work since."""
    entries = [entry for entry in capability.evidence if entry.source.startswith(_TRAJECTORY)]
    if capability.status not in ("confirmed", "documented"):
        return entries
    counts = Counter(entry.quote_sha256 for entry in _since_proof(entries))
    return [] if any(count >= REPEATED for count in counts.values()) else entries


def _since_proof(entries: Sequence[Evidence]) -> Sequence[Evidence]:
    """The evidence after the last proof."""
    places = [place for place, entry in enumerate(entries) if entry.quote_sha256 == _PROOF]
    return entries[places[-1] + 1 :] if places else entries


def _entry(word: Heard) -> Evidence:
    return Evidence(source=f"{_TRAJECTORY}{word.trajectory_id}", quote_sha256=_quoted(word), licence=_LICENCE)


def _quoted(word: Heard) -> str:
    """The hash of what was observed, for a complaint together with the version it was observed in."""
    return _hash(f"{word.version}\n{word.complaint.words}") if word.complaint else _PROOF


def _stale(capability: Capability, at: datetime, max_age: timedelta) -> bool:
    return capability.updated_at is None or at - capability.updated_at > max_age
