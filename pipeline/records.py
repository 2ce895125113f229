"""What is written down: one frozen model per table row (the structs they hold are in structs.py).

A row model's fields are the table's columns, in order (schema.py derives Arrow types from them; `run_id` is added
to every table there). Times are UTC; naive ones are refused. Boxes and pixels are in pixels of the stored picture.
Tasks and capabilities live in tasks.py. This module knows nothing of files, Ray or browsers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime

from pydantic import AwareDatetime, Field

from pipeline.actions import Action, Model, Pixel
from pipeline.structs import (
    Calibration,
    EnvironmentInfo,
    Fault,
    GateDecision,
    Image,
    Node,
    Param,
    Sensitive,
    TargetUnderPoint,
    Usage,
)
from pipeline.words import (
    ActionErrorCode,
    CaptureErrorCode,
    CheckState,
    Claim,
    EventKind,
    FailureCategory,
    Grade,
    JudgeKind,
    KeypointState,
    Mistake,
    ObservationFlag,
    PassKind,
    Platform,
    Rule,
    StepStatus,
    Target,
    Termination,
    TreeErrorCode,
    VerdictStatus,
    VoteStatus,
)


def digest(*parts: str) -> str:
    """First 24 hex digits of the SHA-256 over the parts, unambiguously joined: the form of every id."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:24]


def now() -> datetime:
    """The present moment, UTC."""
    return datetime.now(UTC)


# --- rows of an attempt ------------------------------------------------------------------------------------------


class Attempt(Model):
    """One try at a trajectory; superseded attempts stay as rows."""

    attempt_id: str
    trajectory_id: str
    task_id: str
    policy_id: str
    seed: int
    round: int = 0
    start_segment: int = 0
    prefix_attempt_id: str | None = None
    number: int
    final: bool
    environment: EnvironmentInfo | None
    worker: str
    node: str
    started_at: AwareDatetime
    finished_at: AwareDatetime
    termination: Termination
    fault: Fault | None = None


class Trajectory(Model):
    """The final attempt of a trajectory."""

    trajectory_id: str
    attempt_id: str
    task_id: str
    app_id: str
    app_ids: list[str]
    platform: Platform
    policy: str
    policy_id: str
    seed: int
    termination: Termination
    reason: str | None
    fault: Fault | None
    claim: Claim
    answer: str | None
    step_count: int
    contains_secret: bool
    seconds: float
    usage: Usage


class ProbeRead(Model):
    """What one probe read: a table of text (rows of cells), or the reason it could not."""

    attempt_id: str
    observation_index: int
    app_id: str
    probe: str
    value: list[list[str]] | None
    error: str | None = None


class ObservationRow(Model):
    """One look at the world; step i acts on look i and yields look i+1."""

    attempt_id: str
    observation_index: int
    frame_sha256: str | None
    tree_sha256: str | None
    location: str
    title: str
    capture_error: CaptureErrorCode | None = None
    tree_error: TreeErrorCode | None = None
    flags: list[ObservationFlag] = Field(default_factory=list)
    seconds: float


class Step(Model):
    """The final action of a turn, executed or refused; `action` is null when the reply could not be read."""

    attempt_id: str
    step_index: int
    reply_id: str
    substep: int = 0
    replayed: bool = False
    thought: str
    action: Action | None
    target: TargetUnderPoint | None = None
    reply: str
    dialect: str
    coordinate_space: str
    divisor: int | None
    device_point: Pixel | None = None
    device_point_end: Pixel | None = None
    status: StepStatus
    action_error: ActionErrorCode | None = None
    error_detail: str | None = None
    flags: list[str] = Field(default_factory=list)
    gate: GateDecision | None = None
    injected: Mistake | None = None
    seconds_decide: float
    seconds_act: float
    usage: Usage = Usage()


class Candidate(Model):
    """A proposed action that was replaced or not reached."""

    attempt_id: str
    step_index: int
    candidate_index: int
    action: Action | None
    reply: str
    reason: str


class Frame(Model):
    """A distinct picture (PNG), by the hash of its bytes."""

    sha256: str
    image: Image
    width: int
    height: int
    sensitive: list[Sensitive] = Field(default_factory=list)


class Tree(Model):
    """A distinct UI tree, by the hash of its nodes."""

    sha256: str
    nodes: list[Node]
    sensitive: list[Sensitive] = Field(default_factory=list)


class Event(Model):
    """A thing that happened beside the actions."""

    attempt_id: str
    step_index: int
    kind: EventKind
    dialog_type: str | None = None
    message: str | None = None
    answer: str | None = None
    decided_by: str | None = None
    address: str | None = None
    opener: str | None = None
    detail: str | None = None


class ModelCall(Model):
    """One call of a model."""

    call_id: str
    attempt_id: str | None
    pass_id: str | None
    stage: str
    endpoint: str
    model: str
    status: str
    prompt_tokens: int
    completion_tokens: int
    images: int
    cost_usd: float
    seconds: float
    retries: int


# --- rows of a verification pass ---------------------------------------------------------------------------------


class Keypoint(Model):
    """What one judge found of one keypoint."""

    pass_id: str
    attempt_id: str
    keypoint_index: int
    text: str
    state: KeypointState
    window: int
    frame_sha256s: list[str]
    reason: str
    judge: str
    check_name: str | None = None


class CheckResult(Model):
    """What one contract check found in the stored reads."""

    pass_id: str
    attempt_id: str
    segment: str
    name: str
    state: CheckState
    expected: list[str]
    observed: list[str]


class Vote(Model):
    """What one judge said of one target."""

    pass_id: str
    target: Target
    attempt_id: str
    step_index: int | None = None
    candidate_index: int | None = None
    judge: str
    judge_kind: JudgeKind
    family: str
    status: VoteStatus
    grade: Grade | None
    reason: str
    frame_sha256s: list[str] = Field(default_factory=list)
    prompt_sha256: str | None = None
    reply: str | None = None
    usage: Usage = Usage()


class Verdict(Model):
    """What the pass decided about one target."""

    pass_id: str
    target: Target
    attempt_id: str
    step_index: int | None = None
    candidate_index: int | None = None
    status: VerdictStatus
    grade: Grade | None
    share: float | None
    families: int
    rule: Rule
    reason: str
    segments_passed: int | None = None
    side_effects: list[str] = Field(default_factory=list)
    failure_category: FailureCategory | None = None
    process_score: float | None = None
    calibration: Calibration | None = None


class PassRow(Model):
    """One verification pass."""

    pass_id: str
    kind: PassKind
    judge_set: list[str]
    rule: str
    calibration_id: str | None
    judged_at: AwareDatetime


# --- rows of a run -----------------------------------------------------------------------------------------------


class RunRow(Model):
    """One run: its configuration and what it ran with."""

    started_at: AwareDatetime
    config: list[Param]
    commit: str | None
    versions: list[Param]
    prompt_sha256s: list[str]


class Prompt(Model):
    """A distinct prompt text."""

    prompt_sha256: str
    text: str


class Transition(Model):
    """An explored edge of an app's state graph."""

    app_id: str
    round: int
    from_signature: str
    to_signature: str
    action: Action
    frame_before: str | None
    frame_after: str | None
    capability_id: str | None


class Validation(Model):
    """One validation of a task."""

    task_id: str
    validated_at: AwareDatetime
    held: bool
    reason: str | None
    expires_at: AwareDatetime | None


class Rejection(Model):
    """A rejected candidate task."""

    candidate_id: str
    app_ids: list[str]
    instruction: str
    reason: str
    detail: str
    duplicate_of: str | None
    origin: str


# --- an attempt as a whole ----------------------------------------------------------------------------------------


class Record(Model):
    """Everything one attempt left behind; what verifiers judge. Not a table itself."""

    attempt: Attempt
    trajectory: Trajectory
    observations: list[ObservationRow]
    steps: list[Step]
    candidates: list[Candidate] = Field(default_factory=list)
    frames: dict[str, Frame] = Field(default_factory=dict)
    trees: dict[str, Tree] = Field(default_factory=dict)
    probe_reads: list[ProbeRead] = Field(default_factory=list)
    events: list[Event] = Field(default_factory=list)
    model_calls: list[ModelCall] = Field(default_factory=list)
    votes: list[Vote] = Field(default_factory=list)
    """Votes before execution (pass kind `online`)."""

    @property
    def own_steps(self) -> list[Step]:
        """The steps that the policy asked for; those of an earlier attempt that were made again are not."""
        return [step for step in self.steps if not step.replayed]


def tree_of(nodes: Iterable[Node]) -> Tree:
    """A tree row with its content hash."""
    kept = list(nodes)
    return Tree(sha256=digest(*(node.model_dump_json() for node in kept)), nodes=kept)
