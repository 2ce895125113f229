"""Synthetic rows of a large run, as parts of the declared schema and as one JSON text per row, for bench/dataset.py.

Knows how such rows look, nothing of what is measured.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from pipeline.manifest import PartRef
from pipeline.query import empty_sql
from pipeline.schema import SCHEMA_VERSION, TABLES

STEPS_PER_ATTEMPT = 10
TASKS = 500
APPS = 4

_ATTEMPT = "md5((i // 10)::VARCHAR)"
_TASK = f"md5('task' || (i % {TASKS}))"
_APP = f"'app-' || (i % {APPS})"
_START = "TIMESTAMPTZ '2026-01-01 00:00:00+00' + to_seconds(i)"
_GRADE = "CASE i % 5 WHEN 0 THEN 'fail' WHEN 1 THEN 'partial' ELSE 'complete' END"
_USAGE = "{'calls': 1, 'prompt_tokens': 900, 'completion_tokens': 40, 'images': 1, 'cost_usd': 0.001}"

ROWS: Mapping[str, str] = {
    "tasks": f"""
        SELECT md5('task' || i) AS task_id, [{_APP}] AS app_ids, 'web' AS platform, 'task number ' || i AS instruction,
            'en' AS language, [md5('capability' || i % 100)] AS capability_ids, 'state' AS contract_kind,
            {{'app_id': {_APP}}} AS start, 'Web' AS domain, 'train' AS split
        FROM range({TASKS}) AS t(i)""",
    "capabilities": f"""
        SELECT md5('capability' || i) AS capability_id, {_APP} AS app_id, 'web' AS platform, 0 AS round,
            'confirmed' AS status FROM range(100) AS t(i)""",
    "passes": f"""
        SELECT 'pass' AS pass_id, 'collect' AS kind, 'quorum' AS rule, {_START} AS judged_at FROM range(1) AS t(i)""",
    "attempts": f"""
        SELECT md5(i::VARCHAR) AS attempt_id, md5('t' || i) AS trajectory_id, {_TASK} AS task_id, 1 AS number,
            true AS final, 'w' || (i % 8) AS worker, 'node' AS node, {_START} AS started_at,
            {_START} + INTERVAL 40 SECOND AS finished_at, 'finished' AS termination,
            CASE WHEN i % 50 = 0 THEN {{'boundary': 'env', 'code': 'crashed', 'message': 'it broke'}} END AS fault
        FROM range(attempts()) AS t(i)""",
    "trajectories": f"""
        SELECT md5('t' || i) AS trajectory_id, md5(i::VARCHAR) AS attempt_id, {_TASK} AS task_id, {_APP} AS app_id,
            [{_APP}] AS app_ids, 'web' AS platform, 'planner' AS policy, i AS seed, 'finished' AS termination,
            CASE WHEN i % 50 = 0 THEN {{'boundary': 'env', 'code': 'crashed', 'message': 'it broke'}} END AS fault,
            'success' AS claim, 10 AS step_count, i % 97 = 0 AS contains_secret, 40.0 AS seconds, {_USAGE} AS usage
        FROM range(attempts()) AS t(i)""",
    "observations": """
        SELECT md5((i // 11)::VARCHAR) AS attempt_id, i % 11 AS observation_index, sha256(i::VARCHAR) AS frame_sha256,
            sha256('tree' || i) AS tree_sha256, 'http://127.0.0.1/page/' || (i % 11) AS location, 'Page' AS title,
            [] AS flags, 0.2 AS seconds
        FROM range(attempts() * 11) AS t(i)""",
    "steps": f"""
        SELECT {_ATTEMPT} AS attempt_id, i % 10 AS step_index, md5('reply' || i) AS reply_id, 0 AS substep,
            'Click the link number ' || i || ' to carry on with the task.' AS thought,
            {{'type': 'Click', 'point': {{'x': i % 1000, 'y': i % 777}}}} AS action,
            'Thought: click the link. Action: click(start_box=(' || i % 1000 || ',' || i % 777 || '))' AS reply,
            'ui-tars' AS dialect, 'thousand' AS coordinate_space, 1000 AS divisor, 'ok' AS status, [] AS flags,
            0.5 AS seconds_decide, 0.3 AS seconds_act, {_USAGE} AS usage
        FROM range(attempts() * 10) AS t(i)""",
    "checks": """
        SELECT 'pass' AS pass_id, md5((i // 2)::VARCHAR) AS attempt_id, 'part ' || i % 2 AS segment, 'check' AS name,
            CASE WHEN i % 7 = 0 THEN 'failed' ELSE 'passed' END AS state, ['x'] AS expected, ['x'] AS observed
        FROM range(attempts() * 2) AS t(i)""",
    "verdicts": f"""
        SELECT 'pass' AS pass_id, 'trace' AS target, md5(i::VARCHAR) AS attempt_id, 'graded' AS status,
            {_GRADE} AS grade, 1.0 AS share, 2 AS families, 'quorum' AS rule, 'as voted' AS reason, [] AS side_effects
        FROM range(attempts()) AS t(i)
        UNION ALL BY NAME
        SELECT 'pass' AS pass_id, 'step' AS target, {_ATTEMPT} AS attempt_id, i % 10 AS step_index,
            'graded' AS status, CASE i % 4 WHEN 0 THEN 'wrong' ELSE 'correct' END AS grade, 1.0 AS share, 2 AS families,
            'quorum' AS rule, 'as voted' AS reason, [] AS side_effects
        FROM range(attempts() * 10) AS t(i)""",
    "model_calls": f"""
        SELECT md5('call' || i) AS call_id, {_ATTEMPT} AS attempt_id, 'act' AS stage,
            'http://127.0.0.1:1/v1' AS endpoint, 'model' AS model, 'ok' AS status,
            900 AS prompt_tokens, 40 AS completion_tokens, 1 AS images,
            0.001 AS cost_usd, 0.5 AS seconds, 0 AS retries
        FROM range(attempts() * 10) AS t(i)""",
}
"""What the tables hold; the others are empty."""


def write_rows(folder: Path, steps: int) -> list[PartRef]:
    """Write a run of so many steps, each table as one part and, beside it, as one JSON text per row."""
    parts = []
    with duckdb.connect() as connection:
        connection.execute(f"CREATE MACRO attempts() AS {max(1, steps // STEPS_PER_ATTEMPT)}")
        for table in TABLES:
            path = f"{table}/part-1-bench-0.parquet"
            typed, texts = f"'{folder}/parts/{path}'", f"'{folder}/texts/{path}'"
            for kind in ("parts", "texts"):
                (folder / kind / table).mkdir(parents=True)
            rows = f" UNION ALL BY NAME SELECT 'run' AS run_id, * FROM ({ROWS[table]})" if table in ROWS else ""
            declared = empty_sql(table) + rows
            how = "(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 50000)"
            connection.execute(f"COPY ({declared}) TO {typed} {how}")
            connection.execute(f"COPY (SELECT to_json(row) AS text FROM {typed} AS row) TO {texts} {how}")
            parts.append(_reference(folder / "parts", table, path))
    return parts


def _reference(folder: Path, table: str, path: str) -> PartRef:
    file = folder / path
    return PartRef(
        table=table,
        path=path,
        rows=pq.read_metadata(file).num_rows,
        bytes=file.stat().st_size,
        sha256=hashlib.sha256(b"").hexdigest(),
        schema_version=SCHEMA_VERSION,
    )
