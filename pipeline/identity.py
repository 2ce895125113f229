"""Identities of policies, trajectories and attempts: content hashes, so that the same work has the same name anywhere.

Task identities live with the tasks. This module knows nothing of where or by whom the work is done.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.records import digest


def policy_id_of(name: str, settings: Mapping[str, str]) -> str:
    """Identity of a policy: its name and everything that changes what it decides."""
    return digest("policy", name, *(f"{key}={settings[key]}" for key in sorted(settings)))


def trajectory_id_of(
    run_id: str,
    task_id: str,
    policy_id: str,
    seed: int,
    round_: int = 0,
    start_segment: int = 0,
    prefix_attempt_id: str | None = None,
) -> str:
    """Identity of a trajectory: which run, task, policy, seed and round, and where it starts."""
    return digest(
        "trajectory",
        run_id,
        task_id,
        policy_id,
        str(seed),
        str(round_),
        str(start_segment),
        prefix_attempt_id or "",
    )


def attempt_id_of(trajectory_id: str, number: int) -> str:
    """Identity of the n-th attempt at a trajectory, counted from 1."""
    return f"{trajectory_id}-{number}"
