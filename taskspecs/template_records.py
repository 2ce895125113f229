"""What a template of tasks is: its slots with where their values come from, its calls, wordings and contract.

Knows nothing of files, of values or of what fits together.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pipeline.actions import Model
from pipeline.structs import Param
from pipeline.tasks import CapabilityCall, Check, ProcedureStep, Segment, SetupOperation
from pipeline.words import ContractKind, Tier
from taskspecs.values import PerLanguage

InfeasibleKind = Literal["missing_function", "absent_object", "contradiction"]


class SlotSource(Model):
    """Where the value of a slot comes from: a pool, a list of values, or the rows of a probe.

    Of the rows, cell `column` counts; `args` may name earlier slots. The value differs from those of the slots in
    `differs`. One that is not `told` is no part of the wording: what is to be found out, or what is so before.
    """

    name: str = Field(pattern=r"^[a-z_]\w*$")
    pool: str | None = None
    values: PerLanguage = Field(default_factory=dict)
    probe: str | None = None
    args: list[Param] = Field(default_factory=list)
    column: int = Field(default=0, ge=0)
    differs: list[str] = Field(default_factory=list)
    told: bool = True


class Template(Model):
    """A task with slots. `{slot}` in any text of it stands for the slot's value.

    An infeasible one says of what kind it is, and proves it by its absence checks; its oracle is what its calls'
    procedures can still do, or what it writes out itself.
    """

    template_id: str
    app_id: str
    tier: Tier
    contract_kind: ContractKind = "state"
    infeasible: InfeasibleKind | None = None
    infeasible_reason: str | None = None
    calls: list[CapabilityCall] = Field(default_factory=list)
    slots: list[SlotSource] = Field(default_factory=list)
    wording: PerLanguage
    segments: list[Segment] = Field(default_factory=list)
    absence_checks: list[Check] = Field(default_factory=list)
    preflight: list[Check] = Field(default_factory=list)
    setup: list[SetupOperation] = Field(default_factory=list)
    finish: str | None = None
    oracle: list[ProcedureStep] = Field(default_factory=list)
    expected_changes: list[str] = Field(default_factory=list)
    always_ignore: list[str] = Field(default_factory=list)
    start: str | None = None
    """Where it starts, app-relative; the application's home where null."""
    max_steps: int | None = Field(default=None, ge=1)
    max_seconds: float = Field(default=120.0, gt=0)

    @property
    def feasible(self) -> bool:
        """Whether it can be done."""
        return self.infeasible is None

    @property
    def checks(self) -> list[Check]:
        """All checks, wherever they stand."""
        held = [check for segment in self.segments for check in segment.checks]
        return [*held, *self.absence_checks, *self.preflight]
