"""One trajectory as a page shows it: screens with the action's point, thoughts, step grades, keypoints, verdict.

Turns records and verdict rows into plain text and embedded pictures; knows nothing of HTML.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
from PIL import Image

from pipeline.actions import Action, Pixel
from pipeline.dataset import Dataset
from pipeline.records import Frame, ObservationRow, Record, Step
from pipeline.structs import TargetUnderPoint
from pipeline.tasks import TaskSpec

PICTURE_WIDTH = 960
PICTURE_QUALITY = 72
UNREADABLE = "unreadable reply"
"""What stands in place of an action where there is none."""

_STATE_CSS = {
    "passed": "complete",
    "met": "complete",
    "failed": "fail",
    "unmet": "fail",
    "unreadable": "none",
    "unclear": "none",
}


class Ring(NamedTuple):
    """Where an action was carried out, in percent of the picture's size."""

    left: float
    top: float
    end: bool


class Picture(NamedTuple):
    """A shrunk picture as a data address, with the size it is shown at."""

    src: str
    width: int
    height: int


class StepPage(NamedTuple):
    """One step."""

    number: int
    replayed: bool
    image: str | None
    width: int
    height: int
    capture_error: str | None
    rings: list[Ring]
    action: str
    detail: str
    thought: str | None
    target: str
    status: str
    error: str | None
    grade: str | None
    css: str
    reason: str


class CheckLine(NamedTuple):
    """One contract check."""

    segment: str
    name: str
    state: str
    css: str
    expected: str
    observed: str


class KeypointLine(NamedTuple):
    """One keypoint of one judge."""

    text: str
    state: str
    css: str
    reason: str
    looks: str


class TrajectoryPage(NamedTuple):
    """One trajectory."""

    trajectory_id: str
    instruction: str
    language: str
    tier: str
    app_id: str
    step_count: int
    termination: str
    claim: str
    answer: str | None
    grade: str
    css: str
    rule: str
    share: str
    reason: str
    calibration: str
    failure_category: str | None
    side_effects: str
    segments: str
    checks: list[CheckLine]
    keypoints: list[KeypointLine]
    steps: list[StepPage]
    last_image: Picture | None


def rows(views: duckdb.DuckDBPyConnection, sql: str, *values: object) -> list[dict[str, Any]]:
    """The result of a statement with `?` parameters, a dictionary per row."""
    result: pa.Table = views.sql(sql, params=list(values)).to_arrow_table()
    found: list[dict[str, Any]] = result.to_pylist()
    return found


def trajectory_page(
    dataset: Dataset,
    views: duckdb.DuckDBPyConnection,
    attempt_id: str,
    held: Mapping[str, Any] | None = None,
) -> TrajectoryPage:
    """Everything a page shows of a final attempt; raises RunError when there is none of that id.

    `held` is the row of another verdict than the one in force.
    """
    record = dataset.record(attempt_id)
    task = dataset.task(record.trajectory.task_id)
    verdict = held or _verdict(views, attempt_id)
    trajectory = record.trajectory
    reason = f" ({trajectory.reason})" if trajectory.reason else ""
    return TrajectoryPage(
        trajectory_id=trajectory.trajectory_id,
        instruction=task.instruction,
        language=task.language,
        tier=task.tier,
        app_id=trajectory.app_id,
        step_count=trajectory.step_count,
        termination=f"{trajectory.termination}{reason}",
        claim=trajectory.claim,
        answer=trajectory.answer or None,
        grade=verdict["grade"] or verdict["status"],
        css=verdict["grade"] or "none",
        rule=verdict["rule"],
        share="" if verdict["share"] is None else f"{verdict['share']:.2f}",
        reason=verdict["reason"],
        calibration=_calibration(verdict["calibration"]),
        failure_category=verdict["failure_category"],
        side_effects=", ".join(verdict["side_effects"] or []),
        segments=_segments(task, record, verdict["segments_passed"]),
        checks=_checks(views, attempt_id, verdict["pass_id"]),
        keypoints=_keypoints(views, record, verdict["pass_id"]),
        steps=_steps(views, record),
        last_image=_last_image(record),
    )


_UNJUDGED: dict[str, Any] = {
    "grade": None,
    "status": "not judged yet",
    "rule": "–",
    "share": None,
    "reason": "No verification pass has judged this trajectory yet.",
    "calibration": None,
    "failure_category": None,
    "side_effects": [],
    "segments_passed": None,
    "pass_id": "",
}


def _verdict(views: duckdb.DuckDBPyConnection, attempt_id: str) -> dict[str, Any]:
    found = rows(views, "SELECT * FROM trace_grades WHERE attempt_id = ?", attempt_id)
    return found[0] if found else _UNJUDGED


def _segments(task: TaskSpec, record: Record, passed: int | None) -> str:
    """How many segments of several hold, and from which one on the policy acted."""
    count, first = len(task.segments), record.attempt.start_segment
    held = f"{passed} of {count}" if passed is not None and count > 1 else ""
    begun = f"begun at “{task.segments[first].name}” with the steps of an earlier attempt" if first else ""
    return ", ".join(filter(None, [held, begun]))


def _calibration(known: dict[str, Any] | None) -> str:
    if known is None:
        return "uncalibrated"
    return f"false positives {known['fpr']:.2f}, false negatives {known['fnr']:.2f} (n = {known['n']})"


def _checks(views: duckdb.DuckDBPyConnection, attempt_id: str, pass_id: str) -> list[CheckLine]:
    found = rows(views, "SELECT * FROM checks WHERE attempt_id = ? AND pass_id = ?", attempt_id, pass_id)
    return [
        CheckLine(
            segment=row["segment"],
            name=row["name"],
            state=row["state"],
            css=_STATE_CSS[row["state"]],
            expected=_short(" | ".join(row["expected"])),
            observed=_short(" | ".join(row["observed"])),
        )
        for row in found
    ]


def _keypoints(views: duckdb.DuckDBPyConnection, record: Record, pass_id: str) -> list[KeypointLine]:
    found = rows(
        views,
        "SELECT * FROM keypoints WHERE attempt_id = ? AND pass_id = ? ORDER BY judge, keypoint_index",
        record.attempt.attempt_id,
        pass_id,
    )
    looks = {look.frame_sha256: str(look.observation_index) for look in reversed(record.observations)}
    return [
        KeypointLine(
            text=row["text"],
            state=row["state"],
            css=_STATE_CSS[row["state"]],
            reason=_short(row["reason"]),
            looks=", ".join(looks[sha256] for sha256 in row["frame_sha256s"] if sha256 in looks),
        )
        for row in found
    ]


def _steps(views: duckdb.DuckDBPyConnection, record: Record) -> list[StepPage]:
    found = rows(
        views,
        "SELECT step_index, status, grade, reason FROM step_grades WHERE attempt_id = ?",
        record.attempt.attempt_id,
    )
    grades = {row["step_index"]: row for row in found}
    looks = {look.observation_index: look for look in record.observations}
    return [_step(record, step, looks.get(step.step_index), grades.get(step.step_index, {})) for step in record.steps]


def _step(record: Record, step: Step, look: ObservationRow | None, grade: dict[str, Any]) -> StepPage:
    frame = record.frames.get(look.frame_sha256 or "") if look else None
    picture = _picture(frame) if frame else None
    return StepPage(
        number=step.step_index,
        replayed=step.replayed,
        image=picture.src if picture else None,
        width=picture.width if picture else 0,
        height=picture.height if picture else 0,
        capture_error=(look.capture_error if look else None) or "not kept",
        rings=_rings(step, frame) if frame else [],
        action=step.action.type if step.action else UNREADABLE,
        detail=_detail(step.action) if step.action else _short(step.reply),
        thought=step.thought,
        target=_target(step.target),
        status=step.status,
        error=step.error_detail or step.action_error,
        grade=grade.get("grade") or grade.get("status"),
        css=grade.get("grade") or "none",
        reason=_short(grade.get("reason") or ""),
    )


def _detail(action: Action) -> str:
    """The action's arguments that a ring does not show."""
    plain = action.model_dump(exclude={"type", "point", "start", "end"})
    return _short(", ".join(f"{name}: {value}" for name, value in plain.items()))


def _target(target: TargetUnderPoint | None) -> str:
    if target is None:
        return ""
    covered = f", covered by {target.covered_by}" if target.covered_by else ""
    return _short(f"{target.role} “{target.name}”{covered}")


def _rings(step: Step, frame: Frame) -> list[Ring]:
    points = [(step.device_point, False), (step.device_point_end, True)]
    return [_ring(pixel, frame, end) for pixel, end in points if pixel is not None]


def _ring(pixel: Pixel, frame: Frame, end: bool) -> Ring:
    left, top = (pixel.x + 0.5) / frame.width, (pixel.y + 0.5) / frame.height
    return Ring(round(100 * left, 2), round(100 * top, 2), end)


def _last_image(record: Record) -> Picture | None:
    last = record.observations[-1] if record.observations else None
    frame = record.frames.get(last.frame_sha256 or "") if last else None
    return _picture(frame) if frame else None


def _picture(frame: Frame) -> Picture:
    """The frame at most PICTURE_WIDTH wide, as WebP in a data address."""
    with Image.open(io.BytesIO(frame.image.bytes)) as opened:
        shrunk = opened.convert("RGB")
    if shrunk.width > PICTURE_WIDTH:
        shrunk = shrunk.resize((PICTURE_WIDTH, round(shrunk.height * PICTURE_WIDTH / shrunk.width)))
    buffer = io.BytesIO()
    shrunk.save(buffer, "WEBP", quality=PICTURE_QUALITY, method=2)
    encoded = base64.b64encode(buffer.getvalue()).decode()
    return Picture(f"data:image/webp;base64,{encoded}", shrunk.width, shrunk.height)


def _short(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
