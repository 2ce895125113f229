"""Tasks and capabilities as data: what is asked, how it is proved, what an application can do.

A `TaskSpec` is bound to an executable contract: set-up, checks in segments, expected changes, an oracle. A check names
a probe (a read-only question to the application) and a verifier (a pure comparison in verifiers.contract). This module
knows nothing of how probes are read or checks evaluated.
"""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field

from pipeline.actions import Model
from pipeline.records import digest
from pipeline.structs import Param
from pipeline.words import CapabilityStatus, ContractKind, Domain, Platform, Tier

VerifierName = Literal["equals", "contains", "absent", "count", "matches", "text", "number", "date", "unit"]
"""`equals`: the rows read are exactly the expected cells. `contains`/`absent`: some/no row has all expected cells.
`count`: number of rows. `matches`: a regular expression finds something in the first cell. `text`, `number`, `date`,
`unit`: the agent's answer, normalised."""

ANSWER = "answer"
ADDRESS = "address"
TREE = "tree"
CHANGES = "changes"
"""The probe whose rows [key, added|removed|changed] say what differs from the state at the start."""
RESERVED_PROBES = frozenset({ANSWER, ADDRESS, TREE})
"""Probes every environment has: the agent's answer, the last location, the last UI tree's names and values."""


class Check(Model):
    """A verifier with its parameters, about what one probe read at the end."""

    name: str
    verifier: VerifierName
    probe: str
    app_id: str | None = None
    args: list[Param] = Field(default_factory=list)
    expected: list[str] = Field(default_factory=list)

    @property
    def call(self) -> str:
        """The probe with its arguments, as `probe_reads.probe` spells it: `ticket(summary=Broken lamp)`."""
        return probe_call(self.probe, {param.name: param.value for param in self.args})


class Segment(Model):
    """A sub-goal with its own acceptance checks."""

    name: str
    checks: list[Check]


class Start(Model):
    """Where the episode starts: an app and an app-relative address, never a port."""

    app_id: str
    path: str = "/"


class SetupOperation(Model):
    """One change of the app's state before the episode, e.g. an SQL statement in a database of its data folder."""

    kind: Literal["sqlite", "write", "append", "http"]
    app_id: str
    target: str
    content: str


class ProcedureStep(Model):
    """One move of a recorded procedure, grounded anew on the current screen by role, name and text.

    `{slot}` in any text field is replaced by the slot's value. `role` and `name` find the node (name: exact match
    first, then case-insensitive containment; `nth` picks among equals, -1 the last; `near` prefers the candidate
    closest to a node with that text). `content` is typed text, an option's label for SelectOption, an address for
    Launch, keys joined by `+` for Hotkey, a direction for Scroll; for what points it is where in the node's box, in
    parts of its width and height, `0.25,0.8` (its middle unless said), and for Drag and Swipe a second place after a
    blank says where they end: `0.5,0.5 1.8,0.5`; parts below 0 or above 1 lie outside of the box. `capture` is a
    regular expression over the screen's names and values whose first group becomes slot `save_as`. `optional` steps are
    skipped when the node is absent.
    """

    action: str
    role: str | None = None
    name: str | None = None
    nth: int = 0
    near: str | None = None
    content: str | None = None
    capture: str | None = None
    save_as: str | None = None
    optional: bool = False


class Slot(Model):
    """A parameter of a capability, with example values."""

    name: str
    type: str = "text"
    values: list[str] = Field(default_factory=list)


class Evidence(Model):
    """Where a capability is documented."""

    source: str
    quote_sha256: str
    licence: str


class Capability(Model):
    """An atomic capability of an application."""

    capability_id: str
    app_id: str
    platform: Platform
    language: str
    round: int = 0
    path: list[str]
    verb: str
    object: str
    slots: list[Slot] = Field(default_factory=list)
    preconditions: list[str] = Field(default_factory=list)
    effect: str
    screens: list[str] = Field(default_factory=list)
    procedure: list[ProcedureStep] = Field(default_factory=list)
    consequence: str
    reversible: bool
    status: CapabilityStatus = "documented"
    success_count: int = 0
    failure_count: int = 0
    evidence: list[Evidence] = Field(default_factory=list)
    updated_at: AwareDatetime | None = None


class CapabilityCall(Model):
    """One use of a capability in a task, with the values of its slots."""

    capability_id: str
    params: list[Param] = Field(default_factory=list)


class TaskSpec(Model):
    """What is asked, and the contract that proves it."""

    task_id: str
    app_ids: list[str]
    app_versions: list[Param] = Field(default_factory=list)
    platform: Platform
    tier: Tier
    instruction: str
    language: str
    capability_ids: list[str]
    calls: list[CapabilityCall] = Field(default_factory=list)
    template_id: str | None = None
    params: list[Param] = Field(default_factory=list)
    start: Start
    setup: list[SetupOperation] = Field(default_factory=list)
    contract_kind: ContractKind
    segments: list[Segment]
    absence_checks: list[Check] = Field(default_factory=list)
    expected_changes: list[str] = Field(default_factory=list)
    always_ignore: list[str] = Field(default_factory=list)
    oracle: list[ProcedureStep] = Field(default_factory=list)
    files: list[str] = Field(default_factory=list)
    services: list[str] = Field(default_factory=list)
    materialisation: str | None = None
    preflight: list[Check] = Field(default_factory=list)
    fixture_fingerprint: str | None = None
    consequence: str = "none"
    domain: Domain
    feasible: bool = True
    infeasible_reason: str | None = None
    max_steps: int = 30
    max_seconds: float = 120.0
    sources: list[str] = Field(default_factory=list)
    generator: str = "hand"
    seed: int = 0
    split: str = "train"

    @property
    def checks(self) -> list[Check]:
        """Every contract check, segment by segment."""
        return [check for segment in self.segments for check in segment.checks]


_IDENTITY = (
    "app_ids",
    "app_versions",
    "instruction",
    "language",
    "start",
    "setup",
    "segments",
    "absence_checks",
    "expected_changes",
    "always_ignore",
    "preflight",
    "max_steps",
    "max_seconds",
)


def task_id_of(task: TaskSpec) -> str:
    """Identity of a task: instruction, language, app versions, start, set-up, checks, limits."""
    kept = task.model_dump_json(include=set(_IDENTITY))
    return digest("task", kept)


def identified(task: TaskSpec) -> TaskSpec:
    """The task with its identity filled in."""
    return task.model_copy(update={"task_id": task_id_of(task)})


def probe_call(probe: str, args: dict[str, str]) -> str:
    """One spelling for a probe and its arguments: `probe` or `probe(a=1, b=2)`, arguments sorted by name."""
    if not args:
        return probe
    return f"{probe}({', '.join(f'{name}={args[name]}' for name in sorted(args))})"
