"""Small dataset folders: attempts with pictures, trees and reads, written and published as a run does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pipeline import manifest
from pipeline.actions import Finished, Type
from pipeline.closing import Content, hash_of
from pipeline.manifest import Assigned, Line, PartRef, Seal
from pipeline.records import Candidate, Event, ModelCall, PassRow, Record, Trajectory, Verdict
from pipeline.sinks import Committer, PartWriter
from pipeline.storage import Address, Storage, storage_of
from pipeline.structs import Fault
from pipeline.tasks import TaskSpec
from tests.records import NOON, click, look, node, read, record, step
from tests.records import task as one_task

RUN = "run-a"
TASK = one_task()


Folder = TypeVar("Folder", Path, Storage)


def attempt(
    trajectory_id: str, number: int = 1, *, task: TaskSpec = TASK, final: bool = True, **trajectory: Any
) -> Record:
    """An attempt of two steps: its first screen is the same for all, its second one its own."""
    home, form = look(node("link", "New")), look(node("textbox", "Summary", trajectory_id), path="/new")
    plain = record(
        [home, form._replace(picture=f"form of {trajectory_id}".encode()), form._replace(nodes=None, picture=None)],
        [click(home, "New"), step(Type(content="灯 🙂")), step(Finished())],
        [read("ticket(summary=Lamp)", [["new", ""], []], 2), read("bills", None, 2, "timeout")],
    )
    attempt_id = f"{trajectory_id}-{number}"
    extra: dict[str, Any] = {
        "candidates": [
            Candidate(attempt_id="", step_index=1, candidate_index=0, action=None, reply="?", reason="unreadable")
        ],
        "events": [Event(attempt_id="", step_index=0, kind="dialog", dialog_type="confirm", message="Delete all?")],
        "model_calls": [_call(attempt_id)],
    }
    return renamed(
        plain.model_copy(update=extra),
        attempt_id,
        {"trajectory_id": trajectory_id, "task_id": task.task_id, "app_id": task.start.app_id, **trajectory},
        {"number": number, "final": final},
    )


def assigned(made: Record, epoch: int = 1, worker: str = "w0") -> Assigned:
    """The line that announces this attempt."""
    shared = made.attempt.model_dump() | made.trajectory.model_dump()
    fields = {name: shared[name] for name in Assigned.model_fields if name in shared}
    return Assigned(**{**fields, "epoch": epoch, "worker": worker, "assigned_at": NOON})


def verdict(attempt_id: str, grade: str | None = "complete", *, pass_id: str = "pass-1", **changes: Any) -> Verdict:
    """A verdict on a trace, or on a step when `step_index` is given."""
    fields: dict[str, Any] = {
        "pass_id": pass_id,
        "target": "step" if "step_index" in changes else "trace",
        "attempt_id": attempt_id,
        "status": "graded" if grade else "undecided",
        "grade": grade,
        "share": 1.0,
        "families": 2,
        "rule": "contract_only",
        "reason": "as checked",
    }
    return Verdict(**{**fields, **changes})


def judging(pass_id: str = "pass-1", hour: int = 13) -> PassRow:
    """A verification pass at this hour."""
    return PassRow(
        pass_id=pass_id,
        kind="collect",
        judge_set=["screen"],
        rule="quorum",
        calibration_id=None,
        judged_at=NOON.replace(hour=hour),
    )


def begin(folder: Address, tasks: Iterable[TaskSpec] = (TASK,), run_id: str = RUN) -> Committer:
    """A claimed folder that knows its tasks."""
    committer = Committer.claim(folder, run_id, {"seed": 0})
    committer.record(tasks)
    return committer


def put(
    committer: Committer, folder: Address, records: Sequence[Record], worker: str = "w0", run_id: str = RUN
) -> None:
    """Collect these attempts as one worker does: assigned, written, published."""
    writer = PartWriter(folder, run_id, committer.epoch, worker)
    committer.assign([assigned(made, committer.epoch, worker) for made in records])
    for made in records:
        writer.write(made)
    batch = writer.flush()
    assert batch is None or committer.publish(batch)


def collected(folder: Folder, records: Sequence[Record], rows: Iterable[Any] = (), run_id: str = RUN) -> Folder:
    """A finished folder with these attempts and further rows."""
    committer = begin(folder, run_id=run_id)
    put(committer, folder, records, run_id=run_id)
    committer.record(rows)
    committer.finish()
    return folder


def relisted(address: Address, change: Callable[[Line], Line | None]) -> None:
    """Publish every line anew, changed or left out, as if that had been published in the first place."""
    storage = storage_of(address)
    run = manifest.read_run(storage)
    found = manifest.survey(storage)
    contents: dict[int, list[Content]] = {}
    for epoch in found.epochs:
        claim = epoch.model_copy(update={"sealed": [_resealed(seal, contents) for seal in epoch.sealed]})
        newest = claim.model_dump_json().encode()
        storage.replace(f"epochs/{epoch.epoch}.json", newest)
        contents[epoch.epoch] = []
        for name in (name for name in found.counted if name.epoch == epoch.epoch):
            lines = [line for line in map(change, found.objects[name]) if line]
            plain = "".join(f"{line.model_dump_json()}\n" for line in lines).encode()
            newest = manifest.encoded(name, lines, hash_of(newest)) if epoch.closes else plain
            storage.replace(name.path, newest)
            contents[epoch.epoch].append(Content(lines=len(lines), sha256=hash_of(newest)))
    sealed = _resealed(run.sealed, contents) if run.sealed else None
    storage.replace("run.json", run.model_copy(update={"sealed": sealed}).model_dump_json().encode())


def _resealed(seal: Seal, contents: Mapping[int, list[Content]]) -> Seal:
    return seal.model_copy(update={"objects": contents[seal.epoch]} if seal.objects else {})


def listed_as(path: str, /, **facts: Any) -> Callable[[Line], Line]:
    """What lists the part at this path with other facts."""

    def change(line: Line) -> Line:
        return line.model_copy(update=facts) if isinstance(line, PartRef) and line.path == path else line

    return change


def faulty(trajectory_id: str, number: int = 1, **changes: Any) -> Record:
    """An attempt whose environment broke."""
    fault = Fault(boundary="env", code="crashed", message="the page crashed")
    made = attempt(trajectory_id, number, termination="fault", fault=fault, **changes)
    return made.model_copy(update={"attempt": made.attempt.model_copy(update={"fault": fault})})


def _call(attempt_id: str) -> ModelCall:
    return ModelCall(
        call_id=f"{attempt_id}/0",
        attempt_id=attempt_id,
        pass_id=None,
        stage="decide",
        endpoint="http://127.0.0.1:1/v1",
        model="none",
        status="ok",
        prompt_tokens=10,
        completion_tokens=2,
        images=1,
        cost_usd=0.25,
        seconds=0.5,
        retries=0,
    )


def renamed(made: Record, attempt_id: str, trajectory: dict[str, Any], attempt: dict[str, Any]) -> Record:
    """The record under another attempt's name, with other fields in its trajectory and attempt."""
    own = {"attempt_id": attempt_id}
    row: Trajectory = made.trajectory.model_copy(update=own | trajectory)
    shared = {"trajectory_id": row.trajectory_id, "task_id": row.task_id, "termination": row.termination}
    rows = {
        name: [one.model_copy(update=own) for one in getattr(made, name)]
        for name in ("observations", "steps", "candidates", "probe_reads", "events")
    }
    return made.model_copy(
        update={"attempt": made.attempt.model_copy(update=own | shared | attempt), "trajectory": row, **rows}
    )
