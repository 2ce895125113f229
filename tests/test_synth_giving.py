"""What trainers read of labelled places says the same as the rows, picture by picture."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from pathlib import Path
from xml.dom.minidom import parseString

import pyarrow.parquet as pq
import pytest
from datasets import load_dataset
from markupsafe import escape

from pipeline.cli import app_for
from pipeline.commands.shell import run
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError
from pipeline.grounding import Grounding
from pipeline.synth.balance import balance, draw_balance
from pipeline.synth.giving import NOTHING, give, reply_of
from pipeline.synth.making import Order, make
from pipeline.synth.showing import gallery

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("giving") / "data"
    asyncio.run(make(str(path), Order(rows=24, seed=4), lambda _: None))
    return path


@pytest.fixture(scope="module")
def rows(folder: Path) -> list[Grounding]:
    return Dataset(str(folder)).rows(Grounding)


def lines(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for file in sorted(out.glob("*.jsonl")) for line in file.read_text().splitlines()]


def test_plain_rows_answer_with_a_point_or_with_nothing(folder: Path, rows: list[Grounding], tmp_path: Path) -> None:
    give(str(folder), tmp_path / "out", "hf")
    answers = [made["messages"][1]["content"] for made in lines(tmp_path / "out")]  # type: ignore[index]

    assert sorted(answers) == sorted(map(reply_of, rows))
    assert answers.count(NOTHING) == sum(row.refusal for row in rows) > 0


def test_pictures_lie_beside_the_rows(folder: Path, tmp_path: Path) -> None:
    give(str(folder), tmp_path / "out", "hf")

    named = {path for made in lines(tmp_path / "out") for path in made["images"]}  # type: ignore[attr-defined]
    assert named
    assert {(tmp_path / "out" / path).read_bytes()[:4] for path in named} == {b"\x89PNG"}


def test_ms_swift_gets_boxes_in_pixels(folder: Path, rows: list[Grounding], tmp_path: Path) -> None:
    give(str(folder), tmp_path / "out", "ms-swift")
    boxes = [box for made in lines(tmp_path / "out") for box in made["objects"]["bbox"]]  # type: ignore[index]

    held = [row.target.box for row in rows if row.target]
    assert len(lines(tmp_path / "out")) == len(rows)
    assert sorted(boxes) == sorted([box.left, box.top, box.right, box.bottom] for box in held)


@pytest.mark.parametrize("trainer", ["hf", "ms-swift", "ui-venus-2"])
def test_lines_load_as_one_table(trainer: str, folder: Path, rows: list[Grounding], tmp_path: Path) -> None:
    give(str(folder), tmp_path / "out", trainer)
    files = sorted(map(str, (tmp_path / "out").glob("*.jsonl")))

    table = load_dataset("json", data_files=files, split="train", cache_dir=str(tmp_path / "cache"))

    assert len(table) == len(rows)
    assert ("objects" in table.column_names) == (trainer == "ms-swift")


def test_verl_rows_hold_their_picture_and_what_is_right(folder: Path, rows: list[Grounding], tmp_path: Path) -> None:
    counts = give(str(folder), tmp_path / "out", "verl")
    made = [row for file in sorted((tmp_path / "out").glob("*.parquet")) for row in pq.read_table(file).to_pylist()]

    assert counts.total() == len(made) == len(rows)
    truths = {row["extra_info"]["row_id"]: row["reward_model"]["ground_truth"] for row in made}
    assert {row.row_id: row.refusal for row in rows} == {name: truth["refusal"] for name, truth in truths.items()}
    assert all(row["prompt"][0]["content"].count("<image>") == len(row["images"]) == 1 for row in made)


def test_other_trainers_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not trl"):
        give(str(folder), tmp_path / "out", "trl")


def test_the_gallery_shows_every_label_of_its_screens(folder: Path, rows: list[Grounding]) -> None:
    page = gallery(str(folder), screens=9)

    assert page.count("data:image/jpeg;base64,") == len({row.frame_sha256 for row in rows})
    assert page.count('class="box"') == sum(not row.refusal for row in rows)
    assert all(str(escape(row.instruction)) in page for row in rows)


def test_the_gallery_counts_rows_by_kind(rows: list[Grounding]) -> None:
    kinds = next(group for group in balance(rows) if group.name == "kind")

    assert {bar.name: bar.rows for bar in kinds.bars} == Counter(row.kind for row in rows)
    assert max(bar.share for bar in kinds.bars) == 100


def test_the_picture_of_the_balance_is_well_formed_and_has_every_bar(folder: Path, rows: list[Grounding]) -> None:
    svg = draw_balance(str(folder))

    parseString(svg)
    assert all(f">{one.name}<" in svg for one in balance(rows))
    assert len(re.findall("<rect", svg)) == 1 + sum(len(one.bars) for one in balance(rows))


def test_there_is_no_picture_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        draw_balance(str(tmp_path))


@pytest.mark.parametrize("command", ["balance", "gallery"])
def test_a_page_that_cannot_be_written_costs_one_line_that_says_what_to_do(
    command: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "nodir" / "page"

    code = run(app_for(), ["synth", command, str(folder), "--out", str(out)])

    assert code == 2
    assert capsys.readouterr().err == (
        f"error: out: {out} cannot be written (No such file or directory): give a file in a folder that is there\n"
    )
