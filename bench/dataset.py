"""What the dataset costs and how fast it answers, each beside the plain way of doing the same, in one run.

    python bench/dataset.py [--steps 2000] [--rows 1000000] [--frames 10000] [--repeats 7]

Writing: steps with 1280x720 screenshots, at the share of repeated screens that the quickstart shows, collected as a
run does it, with every attempt announced and every batch published. Beside it stands what one would do without us,
the distinct pictures as one plain file each (`time_ratio`), and the least the disk allows, the very bytes of the
dataset's files in as many plain files (`same_files_ratio`). Every side makes each file durable; medians.

Querying: every shipped view over synthetic rows, against the same view over tables whose rows are JSON texts. The
question is how many values each column of the view has, so no column and no row can be left out, and nothing is
handed to Python; opening the parts and defining the views is not in it. Medians of up to three, both sides in turn.
All attempts were judged by one pass, as in a run that nobody judged again.

Memory: of a process that writes frames of 100 kB. The last line is `key=value` pairs, all of them numbers.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import duckdb
import numpy as np
from PIL import Image as Picture

if not __package__:  # started by path: import from the repository root
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from bench.dataset_rows import write_rows
from pipeline.actions import Click, Point
from pipeline.manifest import Assigned
from pipeline.query import VIEWS, connect, empty_sql, view_sql
from pipeline.records import Attempt, Frame, ObservationRow, Record, Step, Trajectory, now
from pipeline.schema import TABLES
from pipeline.sinks import Committer, PartWriter
from pipeline.structs import Image, Usage

DUPLICATE_SHARE = 0.46
"""Of the looks of a quickstart run, those whose picture had been seen before."""

STEPS_PER_ATTEMPT = 10
WIDTH, HEIGHT = 1280, 720

FRAMES = """
import hashlib, os, re, sys
from pathlib import Path
from pipeline.records import Frame
from pipeline.structs import Image
from pipeline.sinks import PartWriter

def peak_mb():
    # Not getrusage: its peak begins with that of the process that started this one.
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

writer = PartWriter(sys.argv[1], "run", 1, "bench")
for number in range(int(sys.argv[2])):
    if number == 50:
        before = peak_mb()
    data = os.urandom(100_000)
    writer.add([Frame(sha256=hashlib.sha256(data).hexdigest(), image=Image(bytes=data), width=1, height=1)])
writer.flush()
print(peak_mb() - before)
"""


class Written(NamedTuple):
    """What writing took, on all sides."""

    seconds: float
    plain_seconds: float
    same_files_seconds: float
    bytes: int
    plain_bytes: int


class Answered(NamedTuple):
    """How long a view took over typed columns and over JSON texts."""

    view: str
    seconds: float
    json_seconds: float


def screenshots(count: int) -> list[bytes]:
    """Pictures like those of applications, in size and in how well they compress."""
    random = np.random.default_rng(0)
    found = []
    for _ in range(count):
        pixels = np.full((HEIGHT, WIDTH, 3), 245, np.uint8)
        for _ in range(40):
            top, left = random.integers(0, HEIGHT - 40), random.integers(0, WIDTH - 200)
            pixels[top : top + 24, left : left + 180] = random.integers(0, 255, 3)
        pixels[100:220, 100:400] = random.integers(0, 255, (120, 300, 3))
        buffer = io.BytesIO()
        Picture.fromarray(pixels).save(buffer, "PNG", compress_level=1)
        found.append(buffer.getvalue())
    return found


def episodes(pictures: Sequence[bytes], steps: int) -> list[Record]:
    """Attempts whose looks show these pictures, some of them again."""
    frames = [
        Frame(sha256=hashlib.sha256(data).hexdigest(), image=Image(bytes=data), width=WIDTH, height=HEIGHT)
        for data in pictures
    ]
    return [
        episode(number, frames[number * len(frames) // count : (number + 1) * len(frames) // count])
        for count in [steps // STEPS_PER_ATTEMPT]
        for number in range(count)
    ]


def episode(number: int, frames: Sequence[Frame]) -> Record:
    """One attempt of ten steps and eleven looks at these frames."""
    attempt_id = hashlib.sha256(str(number).encode()).hexdigest()
    ids = {"attempt_id": attempt_id, "trajectory_id": f"t{number}", "task_id": "task", "policy_id": "policy"}
    shown = [frames[min(index, len(frames) - 1)].sha256 for index in range(STEPS_PER_ATTEMPT + 1)]
    return Record(
        attempt=Attempt(
            **ids, seed=0, number=1, final=True, environment=None, worker="w", node="n",
            started_at=now(), finished_at=now(), termination="finished",
        ),
        trajectory=Trajectory(
            **ids, app_id="app", app_ids=["app"], platform="web", policy="planner", seed=0, termination="finished",
            reason=None, fault=None, claim="success", answer=None, step_count=STEPS_PER_ATTEMPT,
            contains_secret=False, seconds=1.0, usage=Usage(),
        ),
        observations=[
            ObservationRow(
                attempt_id=attempt_id, observation_index=index, frame_sha256=sha256, tree_sha256=None,
                location=f"http://127.0.0.1/{index}", title="Page", seconds=0.2,
            )
            for index, sha256 in enumerate(shown)
        ],
        steps=[step(attempt_id, index) for index in range(STEPS_PER_ATTEMPT)],
        frames={frame.sha256: frame for frame in frames},
    )  # fmt: skip


def step(attempt_id: str, index: int) -> Step:
    """One click."""
    return Step(
        attempt_id=attempt_id, step_index=index, reply_id=f"{attempt_id}/{index}",
        thought=f"Click the link number {index} to carry on with the task.",
        action=Click(point=Point(x=index, y=500)), reply=f"click({index}, 500)", dialect="planner",
        coordinate_space="pixel", divisor=None, status="ok", seconds_decide=0.01, seconds_act=0.2,
    )  # fmt: skip


def write_dataset(folder: Path, records: Sequence[Record]) -> None:
    """Collect the records as a run does."""
    committer = Committer.claim(folder, "run", {})
    writer = PartWriter(folder, "run", committer.epoch, "bench")
    for record in records:
        committer.assign([assigned(record)])
        writer.write(record)
        batch = writer.take()
        if batch:
            committer.publish(batch)
    batch = writer.flush()
    if batch:
        committer.publish(batch)
    committer.finish()


def assigned(record: Record) -> Assigned:
    """The line that announces an attempt."""
    facts = record.attempt.model_dump() | record.trajectory.model_dump()
    shared = {name: facts[name] for name in Assigned.model_fields if name in facts}
    return Assigned(**{**shared, "epoch": 1, "assigned_at": now()})


def write_plain(folder: Path, contents: Sequence[bytes]) -> None:
    """Write each of them as a file, durable like a part."""
    folder.mkdir()
    for number, data in enumerate(contents):
        with (folder / str(number)).open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def measure_writing(steps: int, repeats: int) -> Written:
    """All ways in turn, several times; medians."""
    pictures = screenshots(round((steps // STEPS_PER_ATTEMPT) * (STEPS_PER_ATTEMPT + 1) * (1 - DUPLICATE_SHARE)))
    records = episodes(pictures, steps)
    ours, plain, same = [], [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(prefix="pathproof-bench-") as name:
            folder = Path(name)
            ours.append(seconds_of(lambda: write_dataset(folder / "data", records)))  # noqa: B023
            plain.append(seconds_of(lambda: write_plain(folder / "plain", pictures)))  # noqa: B023
            files = [path.read_bytes() for path in (folder / "data").rglob("*") if path.is_file()]
            same.append(seconds_of(lambda: write_plain(folder / "same", files)))  # noqa: B023
            size = sum(path.stat().st_size for path in (folder / "data").rglob("*.parquet"))
    return Written(median(ours), median(plain), median(same), size, sum(map(len, pictures)))


def measure_views(rows: int, repeats: int) -> list[Answered]:
    """Every view, over typed columns and over JSON texts."""
    with tempfile.TemporaryDirectory(prefix="pathproof-bench-") as name:
        folder = Path(name)
        parts = write_rows(folder, rows)
        with connect({folder / "parts": parts}) as typed, duckdb.connect() as texts:
            define_texts(texts, folder / "texts")
            return [measured(view, typed, texts, repeats) for view in VIEWS]


def measured(view: str, typed: duckdb.DuckDBPyConnection, texts: duckdb.DuckDBPyConnection, repeats: int) -> Answered:
    """One view over both, in turn, several times; medians."""
    times = [(seconds_of(lambda: answer(typed, view)), seconds_of(lambda: answer(texts, view))) for _ in range(repeats)]
    found = Answered(view, *(median(column) for column in zip(*times, strict=True)))
    print(f"{view:18} {found.seconds:8.3f} s {found.json_seconds:8.3f} s as JSON", flush=True)
    return found


def answer(connection: duckdb.DuckDBPyConnection, view: str) -> None:
    """Read a whole view, every column of every row, and keep only how many values each has."""
    connection.execute(f"SELECT count(*), count(COLUMNS(*)) FROM {view}").fetchall()


def define_texts(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """The same tables and views over JSON texts; columns that a question does not need are never parsed."""
    for table in TABLES:
        columns = connection.execute(f"DESCRIBE {empty_sql(table)}").fetchall()
        parsed = ", ".join(
            f"""text->>'$."{name}"' AS "{name}" """
            if kind == "VARCHAR"
            else f"""(text->'$."{name}"')::{kind} AS "{name}" """
            for name, kind, *_ in columns
        )
        connection.execute(f"CREATE VIEW {table} AS SELECT {parsed} FROM '{folder}/{table}/*.parquet'")
    for view in VIEWS:
        connection.execute(view_sql(view))


def measure_memory(frames: int) -> float:
    """Megabytes that a writing process gains, once it is warm."""
    root = str(Path(__file__).resolve().parents[1])
    with tempfile.TemporaryDirectory(prefix="pathproof-bench-") as folder:
        done = subprocess.run(
            [sys.executable, "-c", FRAMES, folder, str(frames)],
            cwd=root,
            env={**os.environ, "PYTHONPATH": root},
            capture_output=True,
            text=True,
            timeout=1800,
            check=True,
        )
    return float(done.stdout)


def seconds_of(work: Callable[[], None]) -> float:
    """How long it takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("steps", 2000), ("rows", 1_000_000), ("frames", 10_000), ("repeats", 7)):
        parser.add_argument(f"--{name}", type=int, default=value)
    wanted = parser.parse_args()
    written = measure_writing(wanted.steps, wanted.repeats)
    answered = measure_views(wanted.rows, min(wanted.repeats, 3))
    allowed = 1.02 * written.plain_bytes + 300 * wanted.steps
    slowest = max(answered, key=lambda one: one.seconds)
    closest = min(answered, key=lambda one: one.json_seconds / one.seconds)
    print(f"slowest view: {slowest.view}; closest to JSON: {closest.view}")
    print(
        f"steps={wanted.steps} duplicate_share={DUPLICATE_SHARE} bytes={written.bytes} "
        f"bytes_to_allowed={written.bytes / allowed:.4f} seconds={written.seconds:.2f} "
        f"plain_seconds={written.plain_seconds:.2f} time_ratio={written.seconds / written.plain_seconds:.2f} "
        f"same_files_ratio={written.seconds / written.same_files_seconds:.2f} "
        f"rows={wanted.rows} slowest_seconds={slowest.seconds:.2f} "
        f"times_faster={closest.json_seconds / closest.seconds:.1f} "
        f"frames={wanted.frames} writer_growth_mb={measure_memory(wanted.frames):.0f}"
    )


if __name__ == "__main__":
    main()
