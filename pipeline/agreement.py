"""What rows say about each other: references, places, keys, and what is told twice; and pictures about their names.

Each rule is a statement over the tables that finds the rows which break it. Knows tables and parts, nothing of the
manifest and its epochs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection

from pipeline.manifest import PartRef
from pipeline.records import tree_of
from pipeline.schema import RUN_ID, TABLES
from pipeline.storage import Address, storage_of
from pipeline.structs import Node

DisagreementKind = Literal["dangling_id", "duplicate_id", "foreign_run", "contradiction"]

_EXAMPLES = 3


class Disagreement(NamedTuple):
    """Rows of a table that do not fit the others."""

    kind: DisagreementKind
    table: str
    detail: str


class Reference(NamedTuple):
    """A column whose values must name rows of another table."""

    table: str
    column: str
    home: str
    key: str
    where: str = "true"
    """Which rows are meant; a late report may come before its attempt is written down."""


_CATALOGUED = "EXISTS (FROM capabilities)"
"""A folder of tasks that somebody brought along may have no catalog."""

_OWN_PREFIXES = "NOT EXISTS (SELECT 1 FROM runs WHERE list_contains([p.name FOR p IN config], 'prefix_from'))"
"""The prefixes of a run may be another's, which its configuration then names."""

REFERENCES = (
    Reference("attempts", "prefix_attempt_id", "attempts", "attempt_id", _OWN_PREFIXES),
    Reference("attempts", "task_id", "tasks", "task_id"),
    Reference("candidates", "attempt_id", "attempts", "attempt_id"),
    Reference("checks", "attempt_id", "attempts", "attempt_id"),
    Reference("checks", "pass_id", "passes", "pass_id"),
    Reference("events", "attempt_id", "attempts", "attempt_id", "kind <> 'late_commit'"),
    Reference("grounding", "frame_sha256", "frames", "sha256"),
    Reference("keypoints", "attempt_id", "attempts", "attempt_id"),
    Reference("keypoints", "pass_id", "passes", "pass_id"),
    Reference("keypoints", "unnest(frame_sha256s)", "frames", "sha256"),
    Reference("model_calls", "attempt_id", "attempts", "attempt_id"),
    Reference("model_calls", "pass_id", "passes", "pass_id"),
    Reference("observations", "attempt_id", "attempts", "attempt_id"),
    Reference("observations", "frame_sha256", "frames", "sha256"),
    Reference("observations", "tree_sha256", "trees", "sha256"),
    Reference("probe_reads", "attempt_id", "attempts", "attempt_id"),
    Reference("puzzles", "frame_sha256", "frames", "sha256"),
    Reference("runs", "unnest(prompt_sha256s)", "prompts", "prompt_sha256"),
    Reference("steps", "attempt_id", "attempts", "attempt_id"),
    Reference("tasks", "unnest(capability_ids)", "capabilities", "capability_id", _CATALOGUED),
    Reference("trajectories", "attempt_id", "attempts", "attempt_id"),
    Reference("trajectories", "task_id", "tasks", "task_id"),
    Reference("transitions", "capability_id", "capabilities", "capability_id"),
    Reference("transitions", "frame_after", "frames", "sha256"),
    Reference("transitions", "frame_before", "frames", "sha256"),
    Reference("validations", "task_id", "tasks", "task_id"),
    Reference("verdicts", "attempt_id", "attempts", "attempt_id"),
    Reference("verdicts", "pass_id", "passes", "pass_id"),
    Reference("votes", "attempt_id", "attempts", "attempt_id"),
    Reference("votes", "pass_id", "passes", "pass_id"),
    Reference("votes", "prompt_sha256", "prompts", "prompt_sha256"),
    Reference("votes", "unnest(frame_sha256s)", "frames", "sha256"),
)
"""Every reference between tables, sorted."""

_TARGET = ("pass_id", "target", "attempt_id", "step_index", "candidate_index")

KEYS: Mapping[str, tuple[str, ...]] = {
    "attempts": ("attempt_id",),
    "candidates": ("attempt_id", "step_index", "candidate_index"),
    "capabilities": ("capability_id", "language", "round"),
    "checks": ("pass_id", "attempt_id", "segment", "name"),
    "grounding": ("row_id",),
    "keypoints": ("pass_id", "attempt_id", "judge", "check_name", "keypoint_index"),
    "model_calls": ("call_id",),
    "observations": ("attempt_id", "observation_index"),
    "passes": ("pass_id",),
    "probe_reads": ("attempt_id", "observation_index", "app_id", "probe"),
    "prompts": ("prompt_sha256",),
    "puzzles": ("row_id",),
    "rejections": ("candidate_id",),
    "runs": ("run_id",),
    "steps": ("attempt_id", "step_index"),
    "tasks": ("task_id",),
    "trajectories": ("trajectory_id",),
    "validations": ("task_id", "validated_at"),
    "verdicts": _TARGET,
    "votes": (*_TARGET, "judge"),
}
"""What each row of a table has to itself. Frames and trees may repeat; events and transitions have nothing."""


class Place(NamedTuple):
    """Rows that name a look or a step, or something of one, by its number within the attempt."""

    table: str
    where: str
    what: str
    there: str
    """What must hold of the row `r`, in SQL."""


_IN_STEPS = "(r.attempt_id, r.step_index) IN (SELECT (attempt_id, step_index) FROM steps)"
_ASKED = (
    "r.step_index BETWEEN 0 AND (SELECT count(DISTINCT step_index) FROM steps AS s WHERE s.attempt_id = r.attempt_id)"
)
"""A model may be asked for a step that is never begun, because the episode ends there."""
_IN_LOOKS = "(r.attempt_id, {}) IN (SELECT (attempt_id, observation_index) FROM observations)"
_BEFORE_LOOKING = "(r.observation_index = 0 AND r.attempt_id NOT IN (SELECT attempt_id FROM observations))"
"""What is read before the first look stands beside that; an attempt may be ended before it comes."""
_YIELDED = (
    "r.step_index = (SELECT max(step_index) FROM steps AS s WHERE s.attempt_id = r.attempt_id) OR "
    + _IN_LOOKS.format("r.step_index + 1")
)
"""A step acts on the look of its number and yields the next one; what the world broke may have no look after it."""
_IN_CANDIDATES = (
    "(r.attempt_id, r.step_index, r.candidate_index) IN "
    "(SELECT (attempt_id, step_index, candidate_index) FROM candidates)"
)

PLACES = (
    Place("candidates", "true", "step_index", _ASKED),
    Place("events", "kind <> 'late_commit'", "step_index", f"r.step_index = -1 OR {_IN_STEPS}"),
    Place(
        "probe_reads", "true", "observation_index", f"{_IN_LOOKS.format('r.observation_index')} OR {_BEFORE_LOOKING}"
    ),
    Place("steps", "true", "step_index", f"{_IN_LOOKS.format('r.step_index')} AND ({_YIELDED})"),
    Place("verdicts", "target = 'step' AND candidate_index IS NULL", "step_index", _IN_STEPS),
    Place("verdicts", "target = 'step' AND candidate_index IS NOT NULL", "candidate_index", _IN_CANDIDATES),
    Place("votes", "target = 'step' AND candidate_index IS NULL", "step_index", _ASKED),
    Place("votes", "target = 'step' AND candidate_index IS NOT NULL", "candidate_index", _IN_CANDIDATES),
)
"""Every place within an attempt that rows name, by table."""


class Contradiction(NamedTuple):
    """Something that is told twice; `rows` finds the ids for which it is told differently."""

    table: str
    others: tuple[str, ...]
    what: str
    rows: str


def _outside(point: str, box: str) -> str:
    """SQL: whether a move `m` has a box and its canonical point is a pixel outside of it."""
    inside = (
        f"floor((m.{point}.x + 0.5) * width / 1000) BETWEEN m.{box}.left AND m.{box}.right - 1 AND "
        f"floor((m.{point}.y + 0.5) * height / 1000) BETWEEN m.{box}.top AND m.{box}.bottom - 1"
    )
    return f"(m.{box} IS NOT NULL AND NOT ({inside}))"


_SHARED = ("trajectory_id", "task_id", "policy_id", "seed", "termination", "fault")

CONTRADICTIONS = (
    Contradiction(
        "attempts",
        ("tasks",),
        "attempts that begin at a segment without a prefix, at none with one, or at one that their task has not",
        "SELECT attempt_id FROM attempts AS a LEFT JOIN tasks AS k USING (task_id) WHERE "
        "(a.start_segment > 0) <> (a.prefix_attempt_id IS NOT NULL) OR "
        "(a.start_segment > 0 AND a.start_segment >= len(k.segments))",
    ),
    Contradiction(
        "attempts",
        ("trajectories",),
        "final attempts without their trajectory",
        "SELECT attempt_id FROM attempts WHERE final AND attempt_id NOT IN (SELECT attempt_id FROM trajectories)",
    ),
    Contradiction(
        "grounding",
        (),
        "labelled places that are refusals with a target, or have none, or whose point lies outside it",
        "SELECT row_id FROM grounding WHERE refusal <> (target IS NULL) OR refusal <> (point IS NULL) OR "
        "refusal <> (kind = 'refusal') OR (NOT refusal AND NOT ("
        "floor((point.x + 0.5) * width / 1000) BETWEEN target.box.left AND target.box.right - 1 AND "
        "floor((point.y + 0.5) * height / 1000) BETWEEN target.box.top AND target.box.bottom - 1))",
    ),
    Contradiction(
        "observations",
        (),
        "attempts whose looks are not numbered from 0 without a gap",
        "SELECT attempt_id FROM observations GROUP BY attempt_id "
        "HAVING min(observation_index) <> 0 OR max(observation_index) <> count(DISTINCT observation_index) - 1",
    ),
    Contradiction(
        "puzzles",
        (),
        "puzzles of a level, a language or a split that there is not, that ask for nothing, whose answer or state "
        "is no JSON, or whose number another one has",
        "SELECT row_id FROM puzzles WHERE level NOT BETWEEN 1 AND 3 OR language NOT IN ('en', 'zh') OR "
        "split NOT IN ('train', 'test') OR trim(instruction) = '' OR NOT json_valid(answer) OR "
        "NOT json_valid(state) OR number < 0 OR "
        "number IN (SELECT number FROM puzzles GROUP BY number HAVING count(*) > 1)",
    ),
    Contradiction(
        "puzzles",
        (),
        "puzzles without moves, never tried with a wrong answer, with a move that points nowhere, or outside of its "
        "target, or whose first place has no target",
        "SELECT row_id FROM puzzles WHERE len(moves) = 0 OR refused < 1 OR "
        f"len([m FOR m IN moves IF {_outside('point', 'target')} OR {_outside('end', 'end_target')}]) > 0 OR "
        "len([m FOR m IN moves IF (m.point IS NULL) <> (m.type IN ('Type', 'Wait')) OR "
        "(m.end IS NULL) <> (m.type <> 'Drag') OR (m.content IS NULL) <> (m.type <> 'Type')]) > 0 OR "
        "[m FOR m IN moves IF m.point IS NOT NULL][1].target IS NULL",
    ),
    Contradiction(
        "puzzles",
        ("frames",),
        "puzzles of another size than their picture",
        "SELECT row_id FROM puzzles AS p JOIN frames AS f ON f.sha256 = p.frame_sha256 "
        "WHERE p.width <> f.width OR p.height <> f.height",
    ),
    Contradiction(
        "steps",
        (),
        "attempts whose steps are not numbered from 0 without a gap",
        "SELECT attempt_id FROM steps GROUP BY attempt_id "
        "HAVING min(step_index) <> 0 OR max(step_index) <> count(DISTINCT step_index) - 1",
    ),
    Contradiction(
        "steps",
        ("attempts",),
        "attempts with steps of an earlier one, that begin with none or do something else before",
        "SELECT attempt_id FROM steps AS s JOIN attempts AS a USING (attempt_id) WHERE s.replayed AND "
        "(a.start_segment = 0 OR EXISTS (SELECT 1 FROM steps AS o WHERE o.attempt_id = s.attempt_id "
        "AND NOT o.replayed AND o.step_index < s.step_index))",
    ),
    Contradiction(
        "trajectories",
        ("attempts",),
        "trajectories that are not as their attempt says",
        "SELECT t.trajectory_id FROM trajectories AS t JOIN attempts AS a USING (attempt_id) WHERE NOT a.final OR "
        + " OR ".join(f"t.{column} IS DISTINCT FROM a.{column}" for column in _SHARED),
    ),
    Contradiction(
        "trajectories",
        ("steps",),
        "trajectories whose step_count is not the number of their own steps",
        "SELECT trajectory_id FROM trajectories AS t WHERE step_count <> "
        "(SELECT count(DISTINCT step_index) FROM steps AS s WHERE s.attempt_id = t.attempt_id AND NOT s.replayed)",
    ),
)
"""Everything that is told twice, by table."""


def disagreements(tables: DuckDBPyConnection, run_id: str | None, flawed: Collection[str]) -> Iterator[Disagreement]:
    """Where rows disagree; tables with a flawed part are not judged, for rows of theirs are missing anyway."""
    yield from _dangling(tables, flawed)
    yield from _misplaced(tables, flawed)
    yield from _contradicting(tables, flawed)
    yield from _duplicates(tables)
    if run_id is not None:
        yield from _foreign(tables, run_id)


def wrong_contents(address: Address, parts: Iterable[PartRef]) -> Iterator[tuple[str, str]]:
    """Parts with pictures or trees whose hash is another than their name, and how many there are."""
    for part in (part for part in parts if part.table in _NAMED_BY_CONTENT):
        column, name_of = _NAMED_BY_CONTENT[part.table]
        with pq.ParquetFile(part.path, filesystem=storage_of(address).files) as file:
            groups = (file.read_row_group(index, ["sha256", column]) for index in range(file.num_row_groups))
            rows = (row for group in groups for row in group.to_pylist())
            wrong = [row["sha256"] for row in rows if name_of(row[column]) != row["sha256"]]
        if wrong:
            yield part.path, f"{column}: {len(wrong)} have another hash than their sha256: {_some(wrong)}"


def _dangling(tables: DuckDBPyConnection, flawed: Collection[str]) -> Iterator[Disagreement]:
    """Values that name no row."""
    for reference in REFERENCES:
        if {reference.table, reference.home}.isdisjoint(flawed):
            values = f"SELECT DISTINCT {reference.column} AS id FROM {reference.table} WHERE {reference.where}"
            homes = f"SELECT {reference.key} FROM {reference.home} WHERE {reference.key} IS NOT NULL"
            rows = _found(tables, f"SELECT id FROM ({values}) WHERE id IS NOT NULL AND id NOT IN ({homes})")
            if rows:
                detail = f"{reference.column}: {len(rows)} name no row of {reference.home}: {_some(rows)}"
                yield Disagreement("dangling_id", reference.table, detail)


def _misplaced(tables: DuckDBPyConnection, flawed: Collection[str]) -> Iterator[Disagreement]:
    """Rows that name a look, step or candidate that is not their attempt's; an unknown attempt is found elsewhere."""
    if not {"attempts", "candidates", "observations", "steps"}.isdisjoint(flawed):
        return
    for place in PLACES:
        if place.table not in flawed:
            named = "step_index, r.candidate_index" if place.what == "candidate_index" else place.what
            shown = f"concat_ws('/', r.attempt_id, r.{named})"
            rows = _found(
                tables,
                f"SELECT DISTINCT {shown} FROM (SELECT * FROM {place.table} WHERE {place.where}) AS r "
                f"WHERE r.attempt_id IN (SELECT attempt_id FROM attempts) AND ({place.there}) IS NOT TRUE",
            )
            if rows:
                detail = f"{place.what}: {len(rows)} name none of their attempt: {_some(rows)}"
                yield Disagreement("dangling_id", place.table, detail)


def _contradicting(tables: DuckDBPyConnection, flawed: Collection[str]) -> Iterator[Disagreement]:
    for contradiction in CONTRADICTIONS:
        if {contradiction.table, *contradiction.others}.isdisjoint(flawed):
            rows = _found(tables, f"SELECT DISTINCT * FROM ({contradiction.rows})")
            if rows:
                yield Disagreement(
                    "contradiction", contradiction.table, f"{contradiction.what}: {len(rows)}: {_some(rows)}"
                )


def _duplicates(tables: DuckDBPyConnection) -> Iterator[Disagreement]:
    """Keys that several rows of a table share."""
    for table, key in KEYS.items():
        shown = f"concat_ws('/', {', '.join(key)})"
        rows = _found(tables, f"SELECT {shown} FROM {table} GROUP BY {', '.join(key)} HAVING count(*) > 1")
        if rows:
            detail = f"{', '.join(key)}: {len(rows)} stand in more than one row: {_some(rows)}"
            yield Disagreement("duplicate_id", table, detail)


def _foreign(tables: DuckDBPyConnection, run_id: str) -> Iterator[Disagreement]:
    """Rows of another run than the folder's."""
    for table in TABLES:
        sql = f"SELECT DISTINCT {RUN_ID} FROM {table} WHERE {RUN_ID} IS DISTINCT FROM $1"
        rows = sorted(str(row[0]) for row in tables.execute(sql, [run_id]).fetchall())
        if rows:
            yield Disagreement("foreign_run", table, f"rows of {len(rows)} other runs: {_some(rows)}")


def _found(tables: DuckDBPyConnection, sql: str) -> list[str]:
    return sorted(str(row[0]) for row in tables.execute(sql).fetchall())


def _some(names: list[str]) -> str:
    return ", ".join(names[:_EXAMPLES])


def _name_of_picture(image: Mapping[str, bytes] | None) -> str:
    return hashlib.sha256(image["bytes"] or b"" if image else b"").hexdigest()


def _name_of_tree(nodes: list[Mapping[str, object]]) -> str:
    return tree_of(map(Node.model_validate, nodes)).sha256


_NAMED_BY_CONTENT: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "frames": ("image", _name_of_picture),
    "trees": ("nodes", _name_of_tree),
}
