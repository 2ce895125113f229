"""The vocabulary: every closed set of words that appears in a row, one meaning each. Knows nothing else."""

from __future__ import annotations

from typing import Literal

Platform = Literal["web", "mobile", "desktop"]
Domain = Literal["Grounding", "CAPTCHA", "Mobile", "Web", "Computer"]
Tier = Literal["single", "multi", "workflow"]
ContractKind = Literal["state", "answer", "rubric"]
GroundingKind = Literal["literal", "icon", "spatial", "state", "attribute", "functional", "reasoning", "refusal"]
PuzzleKind = Literal[
    "ocr",
    "text_click",
    "icon_click",
    "image_rotation",
    "drag_end",
    "slider_puzzle",
    "oneclick_login",
    "visual_reasoning",
]

TraceGrade = Literal["complete", "partial", "infeasible", "fail"]
StepGrade = Literal["correct", "explore", "invalid", "wrong"]
Grade = Literal["complete", "partial", "infeasible", "fail", "correct", "explore", "invalid", "wrong"]
VerdictStatus = Literal["graded", "undecided", "unscored"]
VoteStatus = Literal["graded", "abstain", "error"]
Target = Literal["trace", "step"]
JudgeKind = Literal["model", "program", "person"]
PassKind = Literal["online", "collect", "rejudge", "review"]
CheckState = Literal["passed", "failed", "unreadable"]
KeypointState = Literal["met", "unmet", "unclear"]

Termination = Literal[
    "finished",
    "call_user",
    "step_limit",
    "time_limit",
    "loop",
    "refused",
    "unreadable",
    "blocked",
    "fault",
    "cancelled",
]
BlockedReason = Literal["captcha", "login", "gate"]
Claim = Literal["success", "infeasible", "none"]
Boundary = Literal["setup", "env", "model", "probe", "sink", "worker"]

StepStatus = Literal["ok", "failed", "unknown"]
ActionErrorCode = Literal[
    "out_of_range",
    "ambiguous_coordinates",
    "multiple_actions",
    "no_action",
    "unknown_action",
    "bad_arguments",
    "truncated",
    "empty_content",
    "refused",
    "option_not_found",
    "value_reverted",
    "text_not_delivered",
    "target_covered",
    "blocked_address",
    "blocked_by_gate",
    "blocked_by_judge",
    "sequence_stopped",
]
CaptureErrorCode = Literal["truncated", "empty", "undecodable", "timeout", "secure_screen"]
TreeErrorCode = Literal["not_idle", "timeout", "unavailable"]
ObservationFlag = Literal[
    "fonts_pending",
    "torn",
    "reloaded",
    "contains_secret",
    "contains_pii",
    "app_not_responding",
    "rotated",
]
EventKind = Literal[
    "dialog",
    "popup",
    "download",
    "crash",
    "blocked_address",
    "gate",
    "injection",
    "reload",
    "install",
    "late_commit",
    "captcha",
    "login",
    "app_not_responding",
]
RejectionReason = Literal[
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
    "address_not_allowed",
    "duplicate_of",
    "template_cap",
    "contaminated",
    "answer_in_fixture",
    "noop_passes",
    "oracle_fails",
    "mutation_survives",
    "claim_passes",
    "shortcut_passes",
    "preflight_failed",
]
CapabilityStatus = Literal["documented", "confirmed", "unsupported", "renamed", "needs_login", "flaky", "outdated"]
FailureCategory = Literal[
    "wrong_target",
    "missing_step",
    "wrong_value",
    "early_stop",
    "no_stop",
    "loop",
    "misread_screen",
    "hallucinated_answer",
    "side_effect",
    "gave_up",
    "infra",
    "other",
]
Rule = Literal[
    "fault",
    "no_picture",
    "blocked",
    "contract_only",
    "contract_partial",
    "contract_failed",
    "contract_disputed",
    "quorum",
    "no_quorum",
    "no_votes",
    "human",
    "weighted",
    "single",
]
Consequence = Literal[
    "pay",
    "transfer",
    "trade",
    "order",
    "subscribe",
    "uninstall",
    "delete",
    "cancel",
    "overwrite",
    "push",
    "publish",
    "send",
    "share",
    "upload",
    "submit",
    "consent",
    "grant",
    "credential",
    "signup",
    "login",
    "personal",
    "block",
    "run",
    "system",
    "meeting",
]
"""What an action may bring about, gravest first."""
Reversible = Literal["yes", "partly", "no"]
Ruling = Literal["allow", "ask", "refuse"]

Mistake = Literal["wrong_target", "useless", "premature", "wrong_value"]
"""Kinds of mistake the planner makes on purpose."""
