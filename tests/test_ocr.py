from __future__ import annotations

import io

import pytest
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from pipeline.actions import Finished
from pipeline.errors import CaptureError
from pipeline.ocr import PictureReader
from pipeline.protocols import view_of
from pipeline.records import Frame
from pipeline.structs import Image
from tests.records import Look, record, step, task
from verifiers.screen import ScreenJudge


def frame(*lines: str) -> Frame:
    picture = Picture.new("RGB", (640, 240), "white")
    draw = ImageDraw.Draw(picture)
    for row, line in enumerate(lines):
        draw.text((20, 20 + 50 * row), line, fill="black", font=ImageFont.load_default(size=24))
    data = io.BytesIO()
    picture.save(data, "PNG")
    return Frame(sha256="f", image=Image(bytes=data.getvalue()), width=640, height=240)


@pytest.fixture(scope="module")
def reader() -> PictureReader:
    return PictureReader()


def test_lines_are_read_from_top_to_bottom(reader: PictureReader) -> None:
    assert reader.read(frame("Broken lamp 42", "Owner: ann")) == ["Broken lamp 42", "Owner: ann"]


def test_a_picture_serves_as_evidence_for_the_screen_judge(reader: PictureReader) -> None:
    picture = frame("Owned by: ann", "Ticket Lamp").image.bytes
    of = record([Look(None, picture=picture)] * 2, [step(Finished(content="ann"))])

    votes = ScreenJudge(reader).judge(view_of(task("Who owns “Lamp”?")), of, "pass").votes

    assert [vote.grade for vote in votes] == ["complete"]


def test_an_empty_picture_has_no_text(reader: PictureReader) -> None:
    assert reader.read(frame()) == []


@pytest.mark.parametrize("data", [b"", b"no picture", b"\x89PNG\r\n\x1a\n cut"])
def test_bytes_that_are_no_picture_are_refused(reader: PictureReader, data: bytes) -> None:
    broken = frame().model_copy(update={"image": Image(bytes=data)})

    with pytest.raises(CaptureError) as caught:
        reader.read(broken)

    assert caught.value.code == "undecodable"
