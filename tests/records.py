"""Small records and tasks, written by hand: looks (screens), steps, reads, and the record they make together."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from pipeline.actions import (
    Action,
    Answer,
    CallUser,
    Click,
    Finished,
    Pixel,
    Point,
    canonical_point,
    device_pixel,
    points_of,
)
from pipeline.records import Attempt, Frame, ObservationRow, ProbeRead, Record, Step, Trajectory, Tree, tree_of
from pipeline.structs import Box, EnvironmentInfo, Fault, Image, Node, Param, TargetUnderPoint, Usage
from pipeline.tasks import Check, Segment, Start, TaskSpec, VerifierName, identified
from pipeline.words import Claim, Termination

WIDTH, HEIGHT = 1280, 720
NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
ATTEMPT = "a" * 24
HOME = "http://127.0.0.1:8000/"


class Look(NamedTuple):
    """One screen: its nodes (null: no tree), its address, and whether a picture was taken."""

    nodes: list[Node] | None
    location: str = HOME
    picture: bytes | None = b"picture"


def node(
    role: str,
    name: str = "",
    value: str = "",
    box: tuple[int, int, int, int] | None = None,
    states: Sequence[str] = (),
) -> Node:
    """A node; without a box it gets a row of its own when it is put on a look."""
    made = Box(left=box[0], top=box[1], right=box[2], bottom=box[3]) if box else None
    return Node(role=role, name=name, value=value, box=made, states=list(states))


def look(*nodes: Node, path: str = "/", picture: bytes | None = b"picture") -> Look:
    """A screen of a local application; nodes without a box are laid out in rows."""
    placed = [one if one.box else one.model_copy(update={"box": row_box(row)}) for row, one in enumerate(nodes)]
    return Look(placed, HOME.rstrip("/") + path, picture)


def row_box(row: int) -> Box:
    """The box of the n-th row."""
    return Box(left=20, top=20 + 30 * row, right=320, bottom=44 + 30 * row)


def at(screen: Look, name: str, role: str | None = None) -> Point:
    """The canonical point in the middle of the node with this name."""
    return canonical_point(box_of(screen, name, role).centre, WIDTH, HEIGHT)


def box_of(screen: Look, name: str, role: str | None = None) -> Box:
    """The box of the node with this name."""
    found = [one for one in screen.nodes or [] if one.name == name and role in (None, one.role)]
    assert found and found[0].box, f"no {role or 'node'} named {name!r}"
    return found[0].box


def click(screen: Look, name: str, thought: str | None = None, role: str | None = None) -> Step:
    """A click in the middle of a named node, with the target read before acting."""
    said = f"I click {name!r}." if thought is None else thought
    return step(Click(point=at(screen, name, role)), said, screen)


def step(action: Action | None, thought: str = "", screen: Look | None = None, **changes: Any) -> Step:
    """A step; the target is what the screen shows under its point."""
    points = points_of(action) if action else []
    pixel = device_pixel(points[0], WIDTH, HEIGHT) if points else None
    fields: dict[str, Any] = {
        "attempt_id": ATTEMPT,
        "step_index": 0,
        "reply_id": "r",
        "thought": thought,
        "action": action,
        "target": _under(screen, pixel) if screen and pixel else None,
        "reply": action.model_dump_json() if action else "",
        "dialect": "canonical",
        "coordinate_space": "canonical",
        "divisor": 1000,
        "device_point": pixel,
        "status": "ok",
        "seconds_decide": 0.0,
        "seconds_act": 0.1,
    }
    return Step(**{**fields, **changes})


def _under(screen: Look, pixel: Pixel) -> TargetUnderPoint | None:
    hits = [one for one in screen.nodes or [] if one.box and one.box.contains(pixel)]
    if not hits:
        return None
    return TargetUnderPoint(role=hits[-1].role, name=hits[-1].name, box=hits[-1].box, states=hits[-1].states)


def read(probe: str, rows: list[list[str]] | None, index: int, error: str | None = None) -> ProbeRead:
    """What a probe read at a look."""
    return ProbeRead(attempt_id=ATTEMPT, observation_index=index, app_id="demo", probe=probe, value=rows, error=error)


def record(
    looks: Sequence[Look],
    steps: Sequence[Step] = (),
    reads: Sequence[ProbeRead] = (),
    *,
    claim: Claim | None = None,
    termination: Termination | None = None,
    reason: str | None = None,
    fault: Fault | None = None,
) -> Record:
    """The record of one attempt; claim, answer and termination follow from the last step unless given."""
    last = steps[-1].action if steps else None
    trajectory = Trajectory(
        trajectory_id="t" * 24,
        attempt_id=ATTEMPT,
        task_id="k" * 24,
        app_id="demo",
        app_ids=["demo"],
        platform="web",
        policy="scripted",
        policy_id="p" * 24,
        seed=1,
        termination=termination or _ending(last),
        reason=reason,
        fault=fault,
        claim=claim or _claim(last),
        answer=last.content if isinstance(last, Answer | Finished) and last.content else None,
        step_count=len(steps),
        contains_secret=False,
        seconds=1.0,
        usage=Usage(),
    )
    frames, trees = _frames(looks), _trees(looks)
    return Record(
        attempt=_attempt(trajectory),
        trajectory=trajectory,
        observations=[_row(index, one, trees) for index, one in enumerate(looks)],
        steps=[
            one.model_copy(update={"step_index": index, "reply_id": f"r{index}"}) for index, one in enumerate(steps)
        ],
        frames=frames,
        trees={tree.sha256: tree for tree in trees if tree},
        probe_reads=list(reads),
    )


def _ending(last: Action | None) -> Termination:
    if isinstance(last, CallUser):
        return "call_user"
    return "finished" if isinstance(last, Answer | Finished) else "step_limit"


def _claim(last: Action | None) -> Claim:
    if not isinstance(last, Answer | Finished | CallUser):
        return "none"
    if last.content.startswith("infeasible:"):
        return "infeasible"
    return "none" if isinstance(last, CallUser) else "success"


def _attempt(trajectory: Trajectory) -> Attempt:
    return Attempt(
        attempt_id=ATTEMPT,
        trajectory_id=trajectory.trajectory_id,
        task_id=trajectory.task_id,
        policy_id=trajectory.policy_id,
        seed=trajectory.seed,
        number=1,
        final=True,
        environment=EnvironmentInfo(driver="fake", provider="fake", device="1280x720", build="1"),
        worker="w0",
        node="n0",
        started_at=NOON,
        finished_at=NOON + timedelta(seconds=1),
        termination=trajectory.termination,
        fault=trajectory.fault,
    )


def _sha(picture: bytes) -> str:
    return hashlib.sha256(picture).hexdigest()


def _frames(looks: Sequence[Look]) -> dict[str, Frame]:
    return {
        _sha(one.picture): Frame(sha256=_sha(one.picture), image=Image(bytes=one.picture), width=WIDTH, height=HEIGHT)
        for one in looks
        if one.picture is not None
    }


def _trees(looks: Sequence[Look]) -> list[Tree | None]:
    return [tree_of(one.nodes) if one.nodes is not None else None for one in looks]


def _row(index: int, one: Look, trees: Sequence[Tree | None]) -> ObservationRow:
    tree = trees[index]
    return ObservationRow(
        attempt_id=ATTEMPT,
        observation_index=index,
        frame_sha256=_sha(one.picture) if one.picture is not None else None,
        tree_sha256=tree.sha256 if tree else None,
        location=one.location,
        title="Demo",
        capture_error=None if one.picture is not None else "timeout",
        tree_error=None if tree else "unavailable",
        seconds=0.1,
    )


def check(verifier: VerifierName, probe: str, *expected: str, name: str = "check", **args: str) -> Check:
    """A check of the demo application."""
    return Check(
        name=name,
        verifier=verifier,
        probe=probe,
        args=[Param(name=key, value=value) for key, value in args.items()],
        expected=list(expected),
    )


def task(instruction: str = "Create the ticket “Lamp”.", *segments: Sequence[Check], **changes: Any) -> TaskSpec:
    """A task of the demo application, each segment a list of checks."""
    fields: dict[str, Any] = {
        "task_id": "",
        "app_ids": ["demo"],
        "platform": "web",
        "tier": "single",
        "instruction": instruction,
        "language": "en",
        "capability_ids": [],
        "start": Start(app_id="demo"),
        "contract_kind": "state",
        "segments": [Segment(name=f"part {n}", checks=list(checks)) for n, checks in enumerate(segments, 1)],
        "domain": "Web",
    }
    return identified(TaskSpec(**{**fields, **changes}))
