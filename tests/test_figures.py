"""The figures the benchmarks print and the documents quote."""

from __future__ import annotations

import pytest

from bench.__main__ import BENCHMARKS, ROOT, figures_of


def test_a_last_line_is_read_as_figures() -> None:
    assert figures_of("raw_ratio=1.13 wall_s=112") == {"raw_ratio": 1.13, "wall_s": 112.0}


@pytest.mark.parametrize("line", ["", "done", "ratio=1 and more", "ratio=fast"])
def test_anything_else_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        figures_of(line)


def test_every_benchmark_is_run() -> None:
    scripts = {path.stem for path in (ROOT / "bench").glob("[a-z]*.py") if "def main(" in path.read_text("utf-8")}

    assert set(BENCHMARKS) == scripts
