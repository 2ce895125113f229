"""A stored run judged again with a calibration, on Ray."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cluster import Cluster
from pipeline.progress import Board
from pipeline.run import collect, rejudge
from tests.calibrations import calibration, weighing
from tests.runs import fake_config, rows
from verifiers.ballot import PROGRAM
from verifiers.labelled import Voter

JUDGES = [Voter(name=name, kind="program", family=PROGRAM) for name in ("screen", "telemetry")]


@pytest.mark.slow
def test_judging_again_with_a_calibration_gives_telemetry_its_weights_and_the_pass_its_id(
    ray_here: Cluster, tmp_path: Path
) -> None:
    folder, file = tmp_path / "run", tmp_path / "calibration.json"
    known = calibration(JUDGES, telemetry=weighing(sign__known=1.0, sign__unfinished=-9.0))
    file.write_text(known.model_dump_json(), encoding="utf-8")
    collect(fake_config("tasks.limit=4", "policy=noop"), "fake", folder, Board())

    outcome = rejudge(
        folder,
        fake_config("judges=screen,telemetry,effect", "panel.rule=single", f"panel.calibration={file}"),
        Board(),
    )

    assert outcome.reason is None
    assert rows(folder, "SELECT calibration_id FROM passes WHERE kind = 'rejudge'") == [(known.calibration_id,)]
    assert rows(folder, "SELECT DISTINCT status FROM votes WHERE judge = 'telemetry'") == [("graded",)]
    by_checks = "SELECT count(calibration) FROM trace_grades WHERE rule LIKE 'contract%'"
    assert rows(folder, by_checks) == [(0,)]
