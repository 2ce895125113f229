"""Whether the answer of a task lies open before any work is done: in its wording, or on the screen it starts with.

Pure functions over a task and UI nodes. They know nothing of runs and verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from pipeline.allowlist import AllowList
from pipeline.policies.grounding import captured
from pipeline.structs import Node, Param
from pipeline.tasks import ANSWER, Check, ProcedureStep, TaskSpec
from taskspecs.gate_cases import Finding, Surroundings, case_of
from taskspecs.gate_contract import answer_in_fixture
from taskspecs.store import bind
from taskspecs.wording import literals, read_wording
from verifiers.contract import state_of
from verifiers.normalise import folded, stands_in, text_of

_DISTINCT = 4
"""Letters or digits that a text needs to be recognised by itself; a shorter one stands on many screens."""
_ENDING = ("Answer", "CallUser", "Finished")
_NOTHING_AROUND = Surroundings({}, {}, frozenset(), AllowList(), date(2000, 1, 1))


def told_values(task: TaskSpec) -> list[str]:
    """What the instruction tells in particular: its quotations, its numbers, and the values of slots it names."""
    wording = read_wording(task.instruction)
    said = folded(wording.text)
    params = [*(param for call in task.calls for param in call.params), *task.params]
    values = [param.value for param in params if param.value and folded(param.value) in said]
    return list(dict.fromkeys([*wording.quoted, *values, *sorted(literals(wording))]))


def in_wording(task: TaskSpec) -> Finding | None:
    """The instruction holds the answer."""
    return answer_in_fixture(case_of(task, _NOTHING_AROUND))


def on_screen(task: TaskSpec, nodes: Sequence[Node]) -> Finding | None:
    """The start screen shows the answer of a task that asks for more than reading it there.

    It does where the oracle would find it at once, where it stands beside what the instruction names, and where it is
    distinct enough to be recognised by itself.
    """
    checks = [check for check in task.checks if check.probe == ANSWER]
    if not checks or not task.feasible or not any(step.action not in _ENDING for step in task.oracle):
        return None
    if _read_at_once(task.oracle, nodes, checks):
        return Finding("answer_in_fixture", "what the oracle reads stands on the start screen already")
    told = [folded(value) for value in told_values(task) if _distinct(value)]
    texts = [text for node in nodes for text in (node.name, node.value) if text]
    for check in checks:
        # What the question itself offers is for the claims to guess.
        for expected in (text for text in check.expected if folded(text) not in told):
            shown = next((text for text in texts if _tells(text, expected, check, told)), None)
            if shown is not None:
                return Finding("answer_in_fixture", f"the start screen shows {expected!r} in {shown[:80]!r}")
    return None


def _read_at_once(oracle: Sequence[ProcedureStep], nodes: Sequence[Node], checks: Sequence[Check]) -> bool:
    """Whether the oracle's captures, made on this screen without any move, give the expected answer."""
    learnt: list[Param] = []
    for step in (step for step in oracle if step.capture is not None):
        value = captured(nodes, bind([step], learnt)[0].capture or "")
        if value is None:
            return False
        learnt.append(Param(name=step.save_as or "captured", value=value))
    said = bind(list(oracle[-1:]), learnt)[0].content or ""
    return bool(learnt) and all(state_of(check, [[said]]) == "passed" for check in checks)


def _tells(text: str, expected: str, check: Check, told: Sequence[str]) -> bool:
    """Whether a text on the screen gives the answer away."""
    answer, shown = text_of(expected), folded(text)
    if any(stands_in(value, shown) for value in told) and stands_in(answer, shown):
        return True
    if check.verifier != "text" or not _distinct(expected):
        return False
    return stands_in(answer, shown) if " " in answer else text_of(text) == answer


def _distinct(text: str) -> bool:
    return sum(mark.isalnum() for mark in text) >= _DISTINCT
