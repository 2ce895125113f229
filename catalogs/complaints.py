"""What one trajectory says against a capability: only what its screens and its environment show, never its agent.

A complaint needs a task that was tried and judged not done, an agent that kept to the recorded procedure, and something
that was not there, did not answer, asked for a login, or had no effect. Whatever may be the agent's own mistake is no
complaint. Pure functions; how many complaints change a catalog is not decided here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import chain
from typing import Literal, NamedTuple

from catalogs.following import Followed, Look, Way, carries_out, followed, sought_by, way_of
from catalogs.meaning import senses
from pipeline.policies.grounding import INTERACTIVE, captured, find, option_index, options_of
from pipeline.records import Record, Verdict
from pipeline.structs import Node
from pipeline.tasks import Capability, ProcedureStep, TaskSpec
from pipeline.words import ActionErrorCode, Mistake, Termination

Kind = Literal["missing", "renamed", "refused", "login", "no_effect", "infeasible"]
"""`missing`: what belongs to the application was not there; `renamed`: something like it was. `refused`: it was there
and did not take the action. `no_effect`: the procedure ran to its end and the checks failed. `infeasible`: judges saw
that the function is missing."""

_AGENTS_OWN: frozenset[Termination] = frozenset({"refused", "unreadable", "fault", "cancelled"})
_REFUSALS: frozenset[ActionErrorCode] = frozenset(
    {"option_not_found", "target_covered", "text_not_delivered", "value_reverted"}
)
_HARMLESS: frozenset[Mistake] = frozenset({"useless"})
_LOOKS = 2
"""How often a screen must be seen without what is missing: the first look may have come too early."""
_CLOSE = 0.7
"""From this likeness on, two names are two spellings of one."""
_PASSWORD = ("password", "passphrase", "密码", "密碼", "口令")
_CHECKED = ("contract_failed", "contract_partial")


class Rollout(NamedTuple):
    """One judged trajectory: `accepted` as the view of that name says; its record needs no pictures."""

    task: TaskSpec
    record: Record
    verdict: Verdict | None
    accepted: bool

    @property
    def trajectory_id(self) -> str:
        """Which trajectory it is."""
        return self.record.trajectory.trajectory_id

    def version(self, app_id: str) -> str:
        """The version of an application it ran on, as far as that is known."""
        return next((param.value for param in self.task.app_versions if param.name == app_id), "")


class Complaint(NamedTuple):
    """What a trajectory says against a capability; equal words mean the same trouble."""

    capability_id: str
    kind: Kind
    words: str


def complaint_of(rollout: Rollout, known: Mapping[str, Capability]) -> Complaint | None:
    """What this trajectory says against a capability of its task, if anything."""
    if not _may_complain(rollout):
        return None
    way = way_of(rollout.task, known)
    seen = followed(way, rollout.record)
    blamed = _due_capability(rollout.task, seen)
    if blamed is None:
        return None
    if _login_asked(rollout.record):
        return Complaint(blamed, "login", "a login is asked for")
    if _blocked(rollout):
        return None
    if not way:
        infeasible = rollout.verdict is not None and rollout.verdict.grade == "infeasible"
        return Complaint(blamed, "infeasible", "judges saw that it is missing") if infeasible else None
    if seen.strayed:
        return None
    if seen.whole:
        return _without_effect(rollout, known[blamed])
    return _stuck(seen, known)


def _may_complain(rollout: Rollout) -> bool:
    """Whether the trajectory failed in a way that need not be its agent's doing."""
    trajectory, verdict = rollout.record.trajectory, rollout.verdict
    if rollout.accepted or not rollout.task.feasible or trajectory.fault or trajectory.termination in _AGENTS_OWN:
        return False
    if any(step.injected is not None and step.injected not in _HARMLESS for step in rollout.record.steps):
        return False
    if verdict is None or verdict.side_effects:
        return False
    failed = verdict.status == "graded" and verdict.grade in ("fail", "partial", "infeasible")
    return failed or (verdict.status == "unscored" and _login_asked(rollout.record))


def _login_asked(record: Record) -> bool:
    return any(event.kind == "login" for event in record.events) or (
        record.trajectory.termination == "blocked" and record.trajectory.reason == "login"
    )


def _blocked(rollout: Rollout) -> bool:
    return rollout.record.trajectory.termination == "blocked"


def _due_capability(task: TaskSpec, seen: Followed) -> str | None:
    """The capability that was due when it went no further; where no procedure tells, the only one of the task."""
    if seen.way:
        return (seen.stuck or seen.way[-1]).capability_id
    called = {call.capability_id for call in task.calls} or set(task.capability_ids)
    return next(iter(called)) if len(called) == 1 else None


def _without_effect(rollout: Rollout, capability: Capability) -> Complaint | None:
    """The checks failed although the procedure was carried out; an answer may be the agent's mistake."""
    verdict, task = rollout.verdict, rollout.task
    alone = len({call.capability_id for call in task.calls}) == 1
    writes = task.contract_kind == "state" and capability.consequence != "none"
    claimed = rollout.record.trajectory.claim == "success"
    if verdict is None or verdict.rule not in _CHECKED or not (alone and writes and claimed):
        return None
    return Complaint(capability.capability_id, "no_effect", "its procedure ran to its end and changed nothing right")


def _stuck(seen: Followed, known: Mapping[str, Capability]) -> Complaint | None:
    """What the screens show of the step that was due and not taken."""
    due = seen.stuck
    if due is None or due.named_by_task or not _sought(due.step):
        return None
    capability = known[due.capability_id]
    refusal = next((code for look in seen.looks if (code := _refusal(due.step, look))), None)
    if refusal is not None:
        return Complaint(due.capability_id, "refused", f"{_told(due.step)}: {refusal}")
    trees = [look.nodes for look in seen.looks]
    if len(trees) < _LOOKS or any(_there(nodes, due.step) for nodes in trees) or not _alive(trees[-1]):
        return None
    if _asks_password(trees[-1]):
        return Complaint(due.capability_id, "login", "a login is asked for")
    return _absent(due, trees[-1], capability, known)


def _absent(due: Way, nodes: Sequence[Node], capability: Capability, known: Mapping[str, Capability]) -> Complaint:
    app = (one for one in known.values() if one.app_id == capability.app_id)
    taken = {step.name for step in chain.from_iterable(one.procedure for one in app) if step.name}
    like = next((node for node in nodes if node.name not in taken and _alike(node, due.step)), None)
    if like is not None:
        words = f"{_told(due.step)} is missing; there is {like.role} {like.name!r}"
        return Complaint(due.capability_id, "renamed", words)
    return Complaint(due.capability_id, "missing", f"{_told(due.step)} is missing")


def _alike(node: Node, missing: ProcedureStep) -> bool:
    """Whether a node may be what is missing under a new name: of the same kind, with a word or a meaning in common."""
    if node.role != missing.role or not missing.name or not node.name or node.box is None:
        return False
    wanted, name = missing.name.casefold(), node.name.casefold()
    close = SequenceMatcher(None, wanted, name).ratio() >= _CLOSE
    return close or bool(_words(wanted) & _words(name)) or bool(senses(wanted) & senses(name))


def _words(text: str) -> frozenset[str]:
    """Words of four letters and more, and pairs of Chinese characters."""
    runs = re.findall("[\u4e00-\u9fff]+", text)
    pairs = (run[at : at + 2] for run in runs for at in range(len(run) - 1))
    return frozenset([*re.findall("[a-z]{4,}", text), *pairs])


def _sought(step: ProcedureStep) -> bool:
    return any(text for text in (step.role, *sought_by(step)))


def _refusal(planned: ProcedureStep, look: Look) -> ActionErrorCode | None:
    """Why the application did not take the action that was due, where it was tried and its target was there."""
    done = look.tried
    if done is None or done.action is None or done.status != "failed" or done.action_error not in _REFUSALS:
        return None
    return done.action_error if carries_out(planned, done, done.action, look.nodes) else None


def _there(nodes: Sequence[Node], step: ProcedureStep) -> bool:
    """Whether a screen has what a step looks for."""
    if step.capture is not None:
        return captured(nodes, step.capture) is not None
    named = step.role is not None or step.name is not None
    place = find(nodes, step) if named else None
    if named and place is None:
        return False
    if step.action != "SelectOption":
        return True
    options = options_of(nodes, place) if place is not None else [node for node in nodes if node.role == "option"]
    return option_index(options, step.content or "") is not None


def _alive(nodes: Sequence[Node]) -> bool:
    """Whether a screen is one of an application at work: it has something to click."""
    return any(node.role in INTERACTIVE for node in nodes)


def _asks_password(nodes: Sequence[Node]) -> bool:
    fields = [node.name.casefold() for node in nodes if node.role == "textbox"]
    return any(word in name for name in fields for word in _PASSWORD)


def _told(step: ProcedureStep) -> str:
    if step.capture is not None:
        return f"text like {step.capture!r}"
    if step.action == "SelectOption" and step.name is None:
        return f"option {step.content!r}"
    return f"{step.role or 'element'} {step.name!r}"
