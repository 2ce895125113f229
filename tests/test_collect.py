"""The main job's script: it imports the project however it is started, and defines nothing that Ray must pickle."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import catalogs
import pipeline
import taskspecs
import verifiers

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "pipeline" / "collect.py"


def started(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "RAY_"))}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=kept | variables,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_all_four_packages_come_from_one_folder() -> None:
    homes = {Path(str(package.__file__)).resolve().parents[1] for package in (catalogs, pipeline, taskspecs, verifiers)}

    assert homes == {ROOT}


def test_no_module_of_ours_is_named_like_one_of_the_standard_library() -> None:
    names = {path.stem for path in (ROOT / "pipeline").glob("*.py")}

    assert not names & sys.stdlib_module_names


@pytest.mark.parametrize("how", [[str(SCRIPT)], ["-m", "pipeline.collect"]])
def test_it_starts_by_path_and_as_a_module(how: list[str]) -> None:
    done = started(*how, "speed=3", cwd=ROOT)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: speed: unknown key")


def test_it_starts_from_another_folder_with_a_shadowing_module_beside_it(tmp_path: Path) -> None:
    (tmp_path / "queue.py").write_text("raise ImportError('the wrong queue')\n")

    done = started(str(SCRIPT), "speed=3", cwd=tmp_path)

    assert done.returncode == 2, done.stderr


def test_the_scripts_folder_is_not_on_the_path_afterwards() -> None:
    probe = (
        f"import runpy, sys; sys.path.insert(0, {str(SCRIPT.parent)!r}); "
        f"runpy.run_path({str(SCRIPT)!r}); print({str(SCRIPT.parent)!r} in sys.path, {str(ROOT)!r} in sys.path)"
    )

    done = started("-c", probe, cwd=ROOT)

    assert done.stdout.split() == ["False", "True"], done.stderr


def test_it_defines_no_classes_and_nothing_remote() -> None:
    tree = ast.parse(SCRIPT.read_text(encoding="utf-8"))

    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    assert "remote" not in SCRIPT.read_text(encoding="utf-8")


def test_help_shows_examples() -> None:
    done = started(str(SCRIPT), "--help", cwd=ROOT)

    assert done.returncode == 0
    assert "ray job submit --working-dir . -- python pipeline/collect.py" in done.stdout
