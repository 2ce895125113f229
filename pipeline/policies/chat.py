"""The policy that asks a model: screen in, action out, turn after turn.

A reply is read by the model's dialect, never repaired or guessed at. With a step verifier a proposal graded `invalid`
or `wrong` is not carried out: it is kept as a candidate, the model hears why, and may revise it so many times; what is
still rejected then is refused. Where the verifier cannot say, the step is carried out and marked `unjudged`.
"""

from __future__ import annotations

from typing import NamedTuple

from pipeline.actions import Action
from pipeline.budget import consumed
from pipeline.dialects import Dialect, Said
from pipeline.dialects import Move as Read
from pipeline.dialects import Picture as Size
from pipeline.errors import ActionError
from pipeline.llm import Client, Reply
from pipeline.policies.transcript import Rejected, Transcript
from pipeline.protocols import Consulted, Decision, Move, Policy, Turn, view_of
from pipeline.records import Candidate, ModelCall, Vote
from pipeline.tasks import TaskSpec
from verifiers.step import Proposal, StepVerifier

STAGE = "act"
"""Stage of the acting model's calls."""
UNJUDGED = "unjudged"
"""Flag of a step that was to be graded before execution, and was not."""
_REJECTED = ("invalid", "wrong")
_NO_PICTURE = Size(1000, 1000)


class Actor(NamedTuple):
    """The acting model: where it answers, how it spells actions, and how it is asked."""

    client: Client
    dialect: Dialect
    images: int
    room: int | None
    """Tokens a prompt may take; null where that is not known."""
    max_tokens: int
    temperature: float | None


class Supervisor(NamedTuple):
    """Grades proposals before they are carried out; a rejected one may be revised `retries` times."""

    verifier: StepVerifier
    retries: int
    pass_id: str


class ChatPolicy(Policy):
    """Asks a model for every action."""

    name = "chat"

    def __init__(
        self, policy_id: str, task: TaskSpec, actor: Actor, seed: int, supervisor: Supervisor | None = None
    ) -> None:
        self.policy_id = policy_id
        self._task, self._actor, self._seed, self._supervisor = task, actor, seed, supervisor
        self._transcript = Transcript(task, actor.dialect, actor.images, actor.room)
        self._calls: list[ModelCall] = []
        self._candidates: list[Candidate] = []
        self._votes: list[Vote] = []

    def follow(self, turn: Turn, decision: Decision) -> None:
        """It becomes part of the conversation, in the words of this model's dialect."""
        self._transcript.begin(turn)
        self._transcript.decided(turn, self._spelled(decision, turn))

    async def decide(self, turn: Turn) -> Decision:
        """The model's next action, revised as often as the supervisor demands and allows."""
        self._transcript.begin(turn)
        rejected: list[Rejected] = []
        while True:
            decision = self._read(await self._ask(turn, rejected), turn)
            vote = await self._graded(decision, turn)
            if vote is None or vote.grade not in _REJECTED:
                flags = [UNJUDGED] if vote is not None and vote.grade is None else []
                return self._settle(turn, decision, vote, flags)
            if self._supervisor is None or len(rejected) >= self._supervisor.retries:
                refused = {"action_error": "blocked_by_judge", "error_detail": vote.reason}
                return self._settle(turn, decision.model_copy(update=refused), vote, [])
            rejected.append(self._reject(decision, vote, len(rejected)))

    def drain_consulted(self) -> Consulted:
        """The calls, replaced proposals and votes since the last time."""
        told = Consulted(self._calls, self._candidates, self._votes)
        self._calls, self._candidates, self._votes = [], [], []
        return told

    def _spelled(self, decision: Decision, turn: Turn) -> Decision:
        """A decision of somebody else as this model would have said it; left out what its dialect cannot say."""
        dialect, frame, action = self._actor.dialect, turn.observation.frame, decision.action
        if action is None or decision.dialect == dialect.name:
            return decision
        size = Size(frame.width, frame.height) if frame else _NO_PICTURE
        moves = [Read(move.action, tuple(move.device_points)) for move in _moves(decision, action)]
        try:
            reply = dialect.render(moves, decision.thought, size)
        except ActionError:
            reply = ""
        return decision.model_copy(update={"reply": reply})

    async def _ask(self, turn: Turn, rejected: list[Rejected]) -> Reply:
        return await self._actor.client.ask(
            self._transcript.prompt(turn, rejected),
            stage=STAGE,
            ledger=self._calls,
            max_tokens=self._actor.max_tokens,
            temperature=self._actor.temperature,
            seed=self._seed,
        )

    def _read(self, reply: Reply, turn: Turn) -> Decision:
        """The decision in a reply; one that cannot be read has an `action_error` and no action."""
        dialect, frame = self._actor.dialect, turn.observation.frame
        declared = {
            "reply": reply.text,
            "dialect": dialect.name,
            "coordinate_space": dialect.coordinate_space,
            "divisor": dialect.divisor,
        }
        said = Said(reply.text or None, reply.reasoning, reply.finish, reply.refusal)
        try:
            reading = dialect.read(said, Size(frame.width, frame.height) if frame else _NO_PICTURE)
        except ActionError as error:
            unread = {"thought": reply.reasoning, "action": None, "action_error": error.code}
            return Decision.model_validate({**declared, **unread, "error_detail": error.detail})
        first, *rest = map(_move, reading.moves)
        return Decision(
            thought=reading.thought or reply.reasoning,
            then=rest,
            infeasible=reading.infeasible,
            **declared,
            **dict(first),
        )

    async def _graded(self, decision: Decision, turn: Turn) -> Vote | None:
        """The supervisor's vote; null without one, or where there is nothing to grade."""
        supervisor, frame, action = self._supervisor, turn.observation.frame, decision.action
        if supervisor is None or frame is None or action is None:
            return None
        proposal = Proposal(
            view_of(self._task), frame, self._transcript.history, decision.thought, _moves(decision, action)
        )
        return await supervisor.verifier.grade(proposal, supervisor.pass_id, self._calls)

    def _reject(self, decision: Decision, vote: Vote, number: int) -> Rejected:
        reason = f"{vote.grade}: {vote.reason}"
        self._votes.append(vote.model_copy(update={"candidate_index": number}))
        self._candidates.append(
            Candidate(
                attempt_id="",
                step_index=0,
                candidate_index=number,
                action=decision.action,
                reply=decision.reply,
                reason=reason,
            )
        )
        return Rejected(decision.reply, reason)

    def _settle(self, turn: Turn, decision: Decision, vote: Vote | None, flags: list[str]) -> Decision:
        """This is the turn's decision, with what all of it cost."""
        self._votes += [vote] if vote else []
        usage = consumed(self._calls)
        settled = decision.model_copy(update={"flags": [*decision.flags, *flags], "usage": usage})
        self._transcript.decided(turn, settled)
        return settled


def _move(read: Read) -> Move:
    return Move(action=read.action, device_points=list(read.points), flags=list(read.flags))


def _moves(decision: Decision, action: Action) -> list[Move]:
    return [Move(action=action, device_points=decision.device_points), *decision.then]
