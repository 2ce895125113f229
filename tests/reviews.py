"""A small dataset for reviews, with real pictures: undecided trajectories, accepted ones, and a broken one."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from typing import Any

from PIL import Image as Pictures

from pipeline.actions import Model
from pipeline.records import CheckResult, Frame, Record, Vote
from pipeline.storage import Storage
from pipeline.structs import Image
from tests.datasets import attempt, begin, faulty, judging, put, verdict
from tests.records import HEIGHT, WIDTH, check, task

UNDECIDED = ("u1-1", "u2-1", "u3-1")
ACCEPTED = ("a1-1", "a2-1", "a3-1", "a4-1")
BROKEN = "f1-1"
INSTRUCTION = "创建工单“灯”. Create <script>document.title = 'hacked'</script> the ticket."
TASK = task(INSTRUCTION, [check("equals", "ticket", "new", "", name="the ticket is there", summary="Lamp")])
REASON = "judge-a saw the ticket"


def waiting(folder: Storage, rows: Sequence[Model] = ()) -> Storage:
    """A finished run whose judges agree about the accepted trajectories and about no others."""
    committer = begin(folder, [TASK])
    made = [seen(attempt(name.removesuffix("-1"), task=TASK)) for name in (*UNDECIDED, *ACCEPTED)]
    put(committer, folder, [*made, faulty(BROKEN.removesuffix("-1"), task=TASK)])
    verdicts = [verdict(name, None, rule="no_quorum", reason=REASON) for name in UNDECIDED]
    verdicts += [verdict(name) for name in ACCEPTED]
    verdicts += [verdict(BROKEN, None, status="unscored", rule="fault")]
    verdicts += [verdict(name, "wrong", step_index=1, reason="judge-a dislikes it") for name in UNDECIDED]
    votes = [vote(name, "judge-a", "complete", kind="model", reason=REASON) for name in UNDECIDED]
    committer.record([judging(), *verdicts, *votes, *(_checked(name) for name in UNDECIDED), *rows])
    committer.finish()
    return folder


def _checked(attempt_id: str) -> CheckResult:
    (segment,) = TASK.segments
    fields = {"pass_id": "pass-1", "attempt_id": attempt_id, "segment": segment.name, "state": "passed"}
    return CheckResult.model_validate({**fields, "name": segment.checks[0].name, "expected": ["new"], "observed": []})


def vote(attempt_id: str, judge: str, grade: str | None, *, kind: str = "person", **changes: Any) -> Vote:
    """What a judge or a person said of a trajectory in the first pass."""
    fields = {
        "pass_id": "pass-1",
        "target": "trace",
        "attempt_id": attempt_id,
        "judge": judge,
        "judge_kind": kind,
        "family": kind,
        "status": "graded" if grade else "abstain",
        "grade": grade,
        "reason": f"{judge} says so",
    }
    return Vote.model_validate({**fields, **changes})


def seen(made: Record) -> Record:
    """The record with pictures that a browser can show, also of the last screen."""
    hashes = [look.frame_sha256 or f"{index:064x}" for index, look in enumerate(made.observations)]
    frames = {old: _drawn(old) for old in hashes}
    looks = [
        look.model_copy(update={"frame_sha256": frames[old].sha256, "capture_error": None})
        for look, old in zip(made.observations, hashes, strict=True)
    ]
    return made.model_copy(update={"frames": {one.sha256: one for one in frames.values()}, "observations": looks})


def _drawn(name: str) -> Frame:
    """A plain picture, of another colour for every name."""
    buffer = io.BytesIO()
    Pictures.new("RGB", (WIDTH, HEIGHT), f"#{name[-6:]}").save(buffer, "PNG")
    data = buffer.getvalue()
    sha256 = hashlib.sha256(data).hexdigest()
    return Frame(sha256=sha256, image=Image(bytes=data, path=f"{sha256}.png"), width=WIDTH, height=HEIGHT)
