"""The seams: what a rollout needs of an environment, a policy, a gate and a sink, and what a verifier is.

Everything that touches the world stands behind one of these; each has a fake that ships with the package. Nothing here
knows a concrete implementation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from pydantic import Field

from pipeline.actions import Action, Model, Pixel
from pipeline.records import (
    Candidate,
    CheckResult,
    Event,
    Frame,
    Keypoint,
    ModelCall,
    ProbeRead,
    Record,
    Step,
    Tree,
    Vote,
)
from pipeline.structs import EnvironmentInfo, GateDecision, LeadingTarget, TargetUnderPoint, Usage
from pipeline.tasks import Check, TaskSpec
from pipeline.words import (
    ActionErrorCode,
    CaptureErrorCode,
    Consequence,
    JudgeKind,
    Mistake,
    ObservationFlag,
    Target,
    TreeErrorCode,
)


class Observation(Model):
    """One look at the world: picture and tree of the same moment, or the reason why one is missing."""

    frame: Frame | None
    tree: Tree | None
    location: str
    title: str
    capture_error: CaptureErrorCode | None = None
    tree_error: TreeErrorCode | None = None
    flags: list[ObservationFlag] = Field(default_factory=list)
    seconds: float


class Move(Model):
    """An action, and the pixels of the observed picture at which it is carried out: none, one, or start and end.

    The pixels are computed directly from the model's own numbers; `action.point` is the canonical form of the same.
    """

    action: Action
    device_points: list[Pixel] = Field(default_factory=list)
    flags: list[str] = Field(default_factory=list)


class Decision(Model):
    """What a policy wants done. `action` is null when the reply could not be read (`action_error` says why).

    `device_points` and `flags` are those of a `Move`; `then` are further moves of the same reply, carried out one after
    another as long as each succeeds.
    """

    thought: str
    action: Action | None
    action_error: ActionErrorCode | None = None
    error_detail: str | None = None
    reply: str
    dialect: str = "canonical"
    coordinate_space: str = "canonical"
    divisor: int | None = 1000
    device_points: list[Pixel] = Field(default_factory=list)
    flags: list[str] = Field(default_factory=list)
    injected: Mistake | None = None
    then: list[Move] = Field(default_factory=list)
    usage: Usage = Usage()
    infeasible: bool = False
    """The dialect's own refusal: the agent says the task cannot be done."""


class ActResult(Model):
    """What an executed action had to say: text for the next turn (GetUrl, a download) and step flags."""

    feedback: str | None = None
    flags: list[str] = Field(default_factory=list)


class Environment(Protocol):
    """The thing acted on, for one episode at a time; a worker keeps one and runs many episodes on it."""

    async def start(self, task: TaskSpec) -> EnvironmentInfo:
        """Reset, set up and open the task's start; raises SetupError."""
        ...

    async def observe(self) -> Observation:
        """Look; a failed capture is an observation with `capture_error`. Raises EnvError when the world is gone."""
        ...

    async def target(self, pixel: Pixel) -> TargetUnderPoint | None:
        """What lies under a pixel of the last picture, now."""
        ...

    async def act(self, action: Action, points: Sequence[Pixel]) -> ActResult:
        """Carry out an action and wait until the screen settles; raises ActionError or EnvError."""
        ...

    async def probe(self, checks: Sequence[Check], observation_index: int) -> list[ProbeRead]:
        """Read what the checks ask (each distinct call once), and the state changes since `start`, probe `changes`.

        A read that fails is a ProbeRead with `error`; with an empty `value` too where it was the episode that made a
        thing of which nothing can be read. Rows of `changes` are [key, added|removed|changed].
        `attempt_id` of the reads is empty; the rollout fills it in.
        """
        ...

    def drain_events(self) -> list[Event]:
        """Events since the last call, in order; `attempt_id` and `step_index` are filled in by the rollout."""
        ...

    async def finish(self) -> None:
        """End the episode (tabs, context); always called, also after errors. The next `start` may follow."""
        ...

    async def close(self) -> None:
        """Leave nothing behind: no process, no folder, no port."""
        ...


@runtime_checkable
class Keeping(Protocol):
    """What an environment may offer besides: states that are kept under a name and begun from.

    A kept state is lost with the environment, and may be dropped before: whoever asks for one must do without.
    """

    async def keep(self, name: str) -> None:
        """Keep the present state; raises EnvError."""
        ...

    async def start_from(self, task: TaskSpec, name: str) -> EnvironmentInfo | None:
        """As `start`, but in the state of that name, its changes counted from the start that led to it.

        Nothing has happened when there is no such state. Raises SetupError.
        """
        ...


@runtime_checkable
class Locating(Protocol):
    """What an environment may offer besides: which application has the screen now, where there are several."""

    async def app_here(self) -> str | None:
        """The application that would take what is typed now; null when it is none of the episode's."""
        ...


@runtime_checkable
class Leading(Protocol):
    """What an environment may offer besides: where the keyboard leads, by the word of the page."""

    async def leading(self) -> LeadingTarget | None:
        """What the enter key would press, where that leads somewhere; raises EnvError."""
        ...


@runtime_checkable
class Slow(Protocol):
    """What an environment may offer besides: more time for its calls, as where machines are emulated."""

    @property
    def patience(self) -> float:
        """How many times as long as usual they may take; the most it may be, until that is known."""
        ...


async def leading_in(environment: Environment) -> LeadingTarget | None:
    """What the enter key would press in an environment, where it is known to lead somewhere."""
    return await environment.leading() if isinstance(environment, Leading) else None


MOST_PATIENCE = 5.0
"""No environment has more."""


def patience_of(environment: Environment) -> float:
    """How many times as long as usual the calls of an environment may take."""
    return environment.patience if isinstance(environment, Slow) else 1.0


class Turn(NamedTuple):
    """What a policy may know when it decides."""

    step_index: int
    observation: Observation
    last_step: Step | None
    feedback: str | None


class Consulted(NamedTuple):
    """What a policy asked of models while it decided, and the proposals that were replaced, in order.

    `attempt_id` and `step_index` of the rows are filled in by the rollout.
    """

    calls: list[ModelCall]
    candidates: list[Candidate]
    votes: list[Vote]


class Policy(Protocol):
    """Chooses the next action; one instance per episode."""

    policy_id: str
    name: str

    async def decide(self, turn: Turn) -> Decision:
        """The next action; raises ModelError when its endpoint fails."""
        ...

    def follow(self, turn: Turn, decision: Decision) -> None:
        """What an earlier attempt did in this turn, and is done now: the policy goes on from there.

        Nothing for a policy that decides by the screen alone.
        """
        del turn, decision

    def drain_consulted(self) -> Consulted:
        """What was asked since the last call, also by a decision that failed; nothing where no model is asked."""
        return Consulted([], [], [])


class Gate(Protocol):
    """Stands before every execution."""

    async def decide(
        self, task: TaskSpec, observation: Observation, action: Action, target: TargetUnderPoint | None
    ) -> GateDecision:
        """Allow, ask or refuse; the decision becomes a row. Raises ModelError when a model it asks fails."""
        ...

    def drain_calls(self) -> list[ModelCall]:
        """The calls of models since the last time; `attempt_id` is filled in by the rollout."""
        ...


class Opinion(NamedTuple):
    """What a model makes of an action that is about to happen."""

    consequence: Consequence | None
    """The class of what it would bring about here, if anything."""
    explicit: bool
    """Whether the instruction asks for this very thing: this object, this amount, nothing beyond it."""
    reason: str


class SecondOpinion(Protocol):
    """A model that is asked what an action would bring about, beside the rules."""

    async def of(
        self, task: TaskSpec, observation: Observation, action: Action, target: TargetUnderPoint | None
    ) -> Opinion:
        """What it makes of it; raises ModelError when it does not answer."""
        ...

    def drain_calls(self) -> list[ModelCall]:
        """Its calls since the last time."""
        ...


class Sink(Protocol):
    """Where records go."""

    def write(self, record: Record) -> None:
        """Take one record; raises SinkError."""
        ...


class JudgeView(Model):
    """What a judge may see of a task: no policy, seed, oracle, procedure, `feasible` or injected mistakes."""

    task_id: str
    instruction: str
    language: str
    platform: str
    app_ids: list[str]
    max_steps: int


def view_of(task: TaskSpec) -> JudgeView:
    """What a judge may know of a task."""
    return JudgeView(
        task_id=task.task_id,
        instruction=task.instruction,
        language=task.language,
        platform=task.platform,
        app_ids=task.app_ids,
        max_steps=task.max_steps,
    )


class Judged(NamedTuple):
    """One judge's output for one trajectory."""

    votes: list[Vote]
    keypoints: list[Keypoint]


class Judge(Protocol):
    """Grades a trajectory, its steps, or both, from the record alone."""

    name: str
    family: str
    kind: JudgeKind
    targets: tuple[Target, ...]

    def judge(self, view: JudgeView, record: Record, pass_id: str) -> Judged:
        """Votes and keypoints; abstention is a vote state. Raises an EpisodeError when it cannot work at all."""
        ...


class Facts(Protocol):
    """What is true of an application as every episode finds it."""

    async def read(self, app_id: str, probe: str, args: Mapping[str, str]) -> list[list[str]]:
        """The rows that a read-only question is answered with now; raises SetupError or ProbeError."""
        ...


class Evaluated(NamedTuple):
    """What contract checks found in the stored reads."""

    results: list[CheckResult]
    side_effects: list[str]
