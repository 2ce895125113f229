"""Policies that need no model, and the one place that builds them from a configuration."""

from __future__ import annotations

from typing import assert_never

from pipeline.config import RunConfig
from pipeline.identity import policy_id_of
from pipeline.policies.noop import NoopPolicy
from pipeline.policies.planner import PlannerPolicy
from pipeline.policies.scripted import ScriptedPolicy
from pipeline.protocols import Policy
from pipeline.tasks import TaskSpec


def build(config: RunConfig, task: TaskSpec, seed: int) -> Policy:
    """A policy for one episode of a task."""
    identity = policy_id(config)
    match config.policy.name:
        case "noop":
            return NoopPolicy(identity, task)
        case "planner":
            return PlannerPolicy(identity, task, config.policy.mistakes, seed)
        case "scripted":
            return ScriptedPolicy(identity, task)
        case _:
            assert_never(config.policy.name)


def policy_id(config: RunConfig) -> str:
    """Identity of the configured policy, the same for all its tasks."""
    settings = {"mistakes": f"{config.policy.mistakes:g}"} if config.policy.name == "planner" else {}
    return policy_id_of(config.policy.name, settings)
