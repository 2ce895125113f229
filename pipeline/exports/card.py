"""The dataset card beside an export: a README whose YAML header the Hugging Face hub and `datasets` read.

Counts come from the export itself; grades, calibration and provenance from the dataset's own tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined

from pipeline.exports.rows import Shape
from pipeline.exports.trainers import Trainer
from pipeline.query import connect, sound_parts
from pipeline.storage import Address

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGER = "n>1M"

_CALIBRATION = """
    SELECT g.calibration.calibration_id AS calibration_id, g.calibration.fpr AS fpr, g.calibration.fnr AS fnr,
        g.calibration.n AS n, count(*) AS verdicts
    FROM (FROM trace_grades UNION ALL BY NAME FROM step_grades) AS g
    WHERE g.status = 'graded' GROUP BY ALL ORDER BY ALL
"""
_PROVENANCE = """
    SELECT run_id, commit, started_at,
        array_to_string(list_transform(versions, lambda v: v.name || ' ' || v.value), ', ') AS versions,
        array_to_string(list_transform(config, lambda c: c.name || '=' || c.value), ', ') AS config
    FROM runs ORDER BY run_id
"""
_PASSES = "SELECT pass_id, kind, array_to_string(judge_set, ', ') AS judges, rule, judged_at FROM passes ORDER BY ALL"
_POLICIES = "SELECT policy, policy_id, count(*) AS trajectories FROM trajectories GROUP BY ALL ORDER BY ALL"
_APPS = """
    SELECT t.app_id, count(*) AS trajectories, count(*) FILTER (g.grade = 'complete') AS complete,
        count(*) FILTER (g.grade = 'partial') AS partial, count(*) FILTER (g.grade = 'infeasible') AS infeasible,
        count(*) FILTER (g.grade = 'fail') AS fail
    FROM trajectories AS t LEFT JOIN trace_grades AS g USING (run_id, attempt_id)
    GROUP BY ALL ORDER BY ALL
"""
_LANGUAGES = "SELECT DISTINCT language FROM tasks ORDER BY language"


class Account(NamedTuple):
    """What became of everything that an export looked at."""

    rows: Counter[str]
    """Rows by split; also of splits that got none, which have no file."""
    grades: Counter[str]
    """Rows by the grade they go by."""
    rejected: Counter[str]
    """Rejected rows by reason; a row may have several."""
    rejected_rows: int
    removed: Counter[str]
    """Steps removed by reason."""
    left_out: Counter[str]
    """Trajectories left out by reason."""
    masked: Counter[str]
    """Pictures, steps and instructions in which personal data was masked."""


class Terms(NamedTuple):
    """What the card says of the export as such."""

    shape: Shape
    trainer: Trainer
    licence: str
    options: Mapping[str, str]


def card(folder: Address, terms: Terms, account: Account, paths: Mapping[str, str]) -> str:
    """The card's text."""
    with connect({folder: sound_parts(folder)}) as views:

        def rows(sql: str) -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = views.sql(sql).to_arrow_table().to_pylist()
            return found

        header = _header(terms, account, paths, [row["language"] for row in rows(_LANGUAGES)])
        environment = Environment(
            loader=PackageLoader("pipeline"),
            autoescape=False,
            undefined=StrictUndefined,
            keep_trailing_newline=True,
            trim_blocks=True,
        )
        return environment.get_template("card.md.j2").render(
            header=yaml.safe_dump(header, sort_keys=False, allow_unicode=True).rstrip(),
            terms=terms,
            account=account,
            calibration=rows(_CALIBRATION),
            runs=rows(_PROVENANCE),
            passes=rows(_PASSES),
            policies=rows(_POLICIES),
            apps=rows(_APPS),
        )


def _header(terms: Terms, account: Account, paths: Mapping[str, str], languages: list[str]) -> dict[str, Any]:
    total = sum(account.rows.values())
    return {
        "license": terms.licence,
        "language": languages,
        "task_categories": ["image-text-to-text"],
        "tags": ["gui-agent", "pathproof", terms.shape, terms.trainer],
        "size_categories": [next((name for limit, name in _SIZES if total < limit), _LARGER)],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": split, "path": path} for split, path in sorted(paths.items())],
            }
        ],
    }
