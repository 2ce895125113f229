"""The gate that stands before every execution: what an action would bring about here, and whether it may."""

from __future__ import annotations

from pipeline.safety.gate import ConsequenceGate, Live, gate_of, sandbox_gate

__all__ = ["ConsequenceGate", "Live", "gate_of", "sandbox_gate"]
