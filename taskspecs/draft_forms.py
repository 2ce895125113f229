"""The forms in which a model plans, drafts and criticises a task. Reasons stand before what they lead to."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

StateVerifier = Literal["equals", "contains", "absent", "count", "matches"]
AnswerVerifier = Literal["text", "number", "date"]
CriticReason = Literal[
    "unsupported",
    "not_executable",
    "ambiguous",
    "not_verifiable",
    "underspecified",
    "needs_login",
    "needs_payment",
    "destructive",
    "unsafe",
    "date_past",
    "answer_in_fixture",
]


class NamedValue(BaseModel):
    """A value with its name."""

    name: str
    value: str


class Plan(BaseModel):
    """What is to be looked up."""

    reasons: str
    queries: list[str] = Field(min_length=1)


class DraftCall(BaseModel):
    """A function with a value for each of its slots."""

    capability: str
    values: list[NamedValue]


class Existing(BaseModel):
    """A value that is said to exist now, and where."""

    value: str
    probe: str
    args: list[NamedValue]
    column: int = Field(ge=0)


class DraftCheck(BaseModel):
    """A check of the state at the end."""

    name: str
    probe: str
    args: list[NamedValue]
    verifier: StateVerifier
    expected: list[str]


class DraftSegment(BaseModel):
    """A part of the goal, and what proves it."""

    name: str
    checks: list[DraftCheck]


class DraftAnswer(BaseModel):
    """Where the answer is found; it is read there and never written by the model."""

    probe: str
    args: list[NamedValue]
    column: int = Field(ge=0)
    verifier: AnswerVerifier


class TaskDraft(BaseModel):
    """A task as a model writes it."""

    reasons: str
    used: list[int]
    persona: str
    instruction: str = Field(min_length=1)
    calls: list[DraftCall] = Field(min_length=1)
    existing: list[Existing]
    segments: list[DraftSegment]
    answer: DraftAnswer | None
    expected_changes: list[str]


class Problem(BaseModel):
    """Something wrong with a draft, and the reason it would be rejected for."""

    detail: str
    reason: CriticReason


class Critique(BaseModel):
    """What a second look found."""

    reasons: str
    problems: list[Problem]
    verdict: Literal["accept", "revise", "reject"]
