"""Personal data on its way to a trainer: painted over and masked, kept only when somebody says so."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image as Pictures

from pipeline.actions import Click, Finished, Point, Type
from pipeline.cli import app_for
from pipeline.commands.shell import run
from pipeline.dataset import Dataset
from pipeline.envs.discreet import DiscreetEnvironment
from pipeline.envs.fake import FakeEnvironment
from pipeline.envs.fake_picture import draw
from pipeline.envs.sensitive import personal_regions
from pipeline.export import ExportOptions, Outcome, export
from pipeline.exports.privacy import cleared
from pipeline.masking import MASK
from pipeline.ocr import Line, PictureReader
from pipeline.policies.canned import Given
from pipeline.records import Frame, Record
from pipeline.redact import redact
from pipeline.structs import Sensitive
from pipeline.tasks import TaskSpec
from pipeline.vault import Secret, Vault
from tests.datasets import begin, judging, put, renamed, verdict
from tests.episodes import fake_task, on_screen, play
from tests.gradings import graded, with_candidates
from tests.records import look, node, record, step, task

MAIL = "ann.berg@posteo.de"
CALL = "+86 138 0013 8000"
TASK: TaskSpec = task(f"Write to {MAIL} that we meet.")
BOX = (10, 40, 310, 60)


def written(attempt: str = "a-1") -> Record:
    """An attempt that writes a mail: one of its screens shows the address, as an environment marks it."""
    screens = [
        [node("heading", "Mail", box=(10, 10, 210, 30))],
        [node("heading", "Mail", box=(10, 10, 210, 30)), node("StaticText", f"To {MAIL} now", box=BOX)],
        [node("heading", "Sent", box=(10, 10, 210, 30))],
    ]
    looks = [look(*nodes)._replace(picture=draw(nodes, 320, 200).image.bytes) for nodes in screens]
    steps = [
        step(Type(content=MAIL), f"I write to {MAIL}, or call {CALL}."),
        step(Click(point=Point(x=500, y=500)), "I send it."),
    ]
    made = record(looks, [*steps[:1], step(Finished(content="sent"))])
    return renamed(marked(made), attempt, {"task_id": TASK.task_id, "trajectory_id": attempt}, {})


def marked(made: Record) -> Record:
    """The record with what an environment says of personal data."""
    regions = {name: personal_regions(tree.nodes) for name, tree in made.trees.items()}
    frames, looks = dict(made.frames), []
    for seen in made.observations:
        found = regions[seen.tree_sha256 or ""]
        name = seen.frame_sha256 or ""
        frames[name] = frames[name].model_copy(update={"sensitive": found})
        looks.append(seen.model_copy(update={"flags": ["contains_pii"] if found else []}))
    trees = {name: tree.model_copy(update={"sensitive": regions[name]}) for name, tree in made.trees.items()}
    return made.model_copy(update={"frames": frames, "trees": trees, "observations": looks})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    committer = begin(tmp_path / "run", [TASK])
    put(committer, tmp_path / "run", [written()])
    committer.record([judging(), verdict("a-1")])
    committer.finish()
    return tmp_path / "run"


def cells(value: Any) -> Iterator[str]:
    """Every text of a value, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for inner in value.values() for text in cells(inner))
    elif isinstance(value, list):
        yield from (text for inner in value for text in cells(inner))


def texts(outcome: Outcome) -> list[str]:
    """Everything that an export says, its card too."""
    tables = [pq.read_table(path).to_pylist() for path in outcome.out.rglob("*.parquet")]
    return [*cells(tables), (outcome.out / "README.md").read_text()]


def colours(data: bytes) -> int:
    """How many colours there are where the address stands."""
    left, top, right, bottom = BOX
    pixels = np.asarray(Pictures.open(io.BytesIO(data)).convert("RGB"))[top:bottom, left:right]
    return len(np.unique(pixels.reshape(-1, 3), axis=0))


def exported(folder: Path, **more: Any) -> Outcome:
    return export(folder, folder.parent / "set", ExportOptions(shape="sft", test_share=0.0, **more))


def test_an_export_has_no_personal_data_and_all_rows(folder: Path) -> None:
    outcome = exported(folder)

    assert (outcome.account.rows.total(), outcome.account.rejected_rows) == (1, 0)
    assert outcome.account.masked == {"pictures": 1, "steps": 1, "instructions": 1}
    said = texts(outcome)
    assert not any(MAIL in text or CALL in text for text in said)
    assert any(f"I write to {MASK}, or call {MASK}." in text for text in said)
    assert "| pictures | 1 |" in said[-1]
    (row,) = pq.read_table(next(outcome.out.rglob("train*.parquet"))).to_pylist()
    assert [colours(image["bytes"]) for image in row["images"]] == [1, 1]


def test_it_stays_when_that_is_wanted(folder: Path) -> None:
    outcome = exported(folder, keep_personal_data=True)

    assert (outcome.account.rows.total(), outcome.account.rejected_rows) == (1, 0)
    assert outcome.account.masked == {}
    assert any(f"I write to {MAIL}" in text for text in texts(outcome))
    (row,) = pq.read_table(next(outcome.out.rglob("train*.parquet"))).to_pylist()
    assert [colours(image["bytes"]) > 1 for image in row["images"]] == [False, True]


def test_the_command_says_what_it_masked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(app_for(), ["export", str(folder), "--to", "rl-step", "--out", str(folder.parent / "set")])

    assert code == 0
    assert "personal data masked in: instructions 1, pictures 1, steps 1\n" in capsys.readouterr().err


def test_what_else_is_secret_is_refused_as_before(folder: Path) -> None:
    made = written()
    name = made.observations[1].frame_sha256 or ""
    both = [*made.frames[name].sensitive, Sensitive(class_="secret", box=None)]
    frames = made.frames | {name: made.frames[name].model_copy(update={"sensitive": both})}

    record = cleared(graded(made.model_copy(update={"frames": frames}), task=TASK)).graded.record

    kept = record.frames[record.observations[1].frame_sha256 or ""]
    assert [region.class_ for region in kept.sensitive] == ["secret"]
    assert colours(kept.image.bytes) == 1


def test_a_flag_that_nothing_explains_stays() -> None:
    made = written()
    looks = [seen.model_copy(update={"flags": ["contains_pii"]}) for seen in made.observations]

    record = cleared(graded(made.model_copy(update={"observations": looks}), task=TASK)).graded.record

    assert [seen.flags for seen in record.observations] == [["contains_pii"], [], ["contains_pii"]]


def test_proposals_are_masked_in_every_spelling() -> None:
    made = with_candidates(written(), (0, Type(content="ann.berg%40posteo.de"), "rejected"))

    done = cleared(graded(made, task=TASK))

    assert [row.action for row in done.graded.record.candidates] == [Type(content=MASK)]
    assert done.masked["steps"] == 2


def test_a_trajectory_without_personal_data_is_as_it_was() -> None:
    before = graded()

    done = cleared(before)

    assert done.graded.record == before.record
    assert done.masked == {}


def test_a_redacted_copy_has_none_either(folder: Path) -> None:
    redact(folder, folder.parent / "out")

    after = Dataset(folder.parent / "out").record("a-1")

    assert MAIL not in after.model_dump_json(exclude={"frames": {"__all__": {"image"}}})
    assert after.steps[0].thought == f"I write to {MASK}, or call {CALL}."  # nobody has marked the number
    assert not any(seen.flags for seen in after.observations)


# --- secrets that were placeholders from the beginning --------------------------------------------------------------


async def test_a_run_with_a_typed_secret_is_given_away_after_redaction(tmp_path: Path) -> None:
    vault = Vault([Secret(name="PIN", value="Kestrel-7f3a-91bc")])
    at = await on_screen("New to-do", "textbox"), await on_screen("Add", "button")
    given: list[Given] = [Click(point=at[0]), Type(content="<secret:PIN>"), Click(point=at[1]), Finished()]
    asked = fake_task(instruction="Add a to-do <secret:PIN>")
    made = await play(given, asked, DiscreetEnvironment(FakeEnvironment(), vault, Blind()))
    made = renamed(made, "a-1", {"trajectory_id": "a-1"}, {})
    committer = begin(tmp_path / "run", [asked])
    put(committer, tmp_path / "run", [made])
    committer.record([judging(), verdict("a-1")])
    committer.finish()

    before = exported(tmp_path / "run")
    redact(tmp_path / "run", tmp_path / "copy" / "run")
    after = exported(tmp_path / "copy" / "run")

    assert before.account.rejected == {"secret_in_view": 1, "not_usable": 1}
    assert after.account.rows.total() == 1
    assert any('"content":"<secret:PIN>"' in text for text in texts(after))
    assert any("Add a to-do <secret:PIN>" in text for text in texts(after))


class Blind(PictureReader):
    """Sees no text in any picture."""

    def lines(self, frame: Frame) -> list[Line]:
        del frame
        return []
