import hashlib
import io
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from pipeline.errors import CaptureError
from pipeline.frames import SIGNATURE, frame_of


def noise(width: int = 200, height: int = 400) -> bytes:
    pixels = np.random.default_rng(7).integers(0, 256, (height, width, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


PICTURE = noise()
WARNING = b"[Warning] Multiple displays were found, but no display id was specified! " * 4 + b"\n"


def code_of(data: bytes) -> str:
    with pytest.raises(CaptureError) as caught:
        frame_of(data)
    return caught.value.code


def test_an_intact_picture_is_kept_byte_for_byte() -> None:
    frame = frame_of(PICTURE)
    assert frame.image.bytes == PICTURE
    assert frame.sha256 == hashlib.sha256(PICTURE).hexdigest()
    assert (frame.width, frame.height) == (200, 400)


@pytest.mark.parametrize(
    "data",
    [
        WARNING + PICTURE,
        PICTURE.replace(b"\n", b"\r\n"),
        PICTURE.replace(b"\n", b"\r\r\n"),
        WARNING.replace(b"\n", b"\r\n") + PICTURE.replace(b"\n", b"\r\n"),
        PICTURE + b"tail",
        PICTURE + b"\r\n",
    ],
    ids=["warning", "crlf", "crcrlf", "warning and crlf", "tail", "line end"],
)
def test_damage_that_loses_nothing_is_undone(data: bytes) -> None:
    assert frame_of(data).image.bytes == PICTURE


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b" \r\n", "empty"),
        (PICTURE[: len(PICTURE) // 2], "truncated"),
        (PICTURE[:-12], "truncated"),
        (PICTURE[:-1], "truncated"),
        (SIGNATURE, "truncated"),
        (SIGNATURE[:5], "truncated"),
        (b"error: no display", "undecodable"),
        (PICTURE.replace(b"\n", b"\r\n")[:-40], "truncated"),
        (PICTURE.replace(b"\n", b""), "undecodable"),
        (PICTURE[:5000] + bytes([PICTURE[5000] ^ 1]) + PICTURE[5001:], "undecodable"),
    ],
    ids=["nothing", "blank", "half", "no end", "one short", "head", "part of head", "text", "crlf", "no lf", "bit"],
)
def test_what_is_no_whole_picture_is_none(data: bytes, code: str) -> None:
    assert code_of(data) == code


def chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


def test_a_picture_whose_pixels_stop_early_is_undecodable() -> None:
    header = (4).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    data = SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 13)) + chunk(b"IEND", b"")
    assert code_of(data) == "undecodable"


def header_of(depth: int = 8, colours: int = 2, filters: int = 0) -> bytes:
    return (4).to_bytes(4, "big") * 2 + bytes([depth, colours, 0, filters, 0])


def picture_of(header: bytes, *parts: tuple[bytes, bytes]) -> bytes:
    return SIGNATURE + b"".join(chunk(kind, data) for kind, data in ((b"IHDR", header), *parts, (b"IEND", b"")))


ROWS = [bytes([number]) + b"\1" * 12 for number in (0, 1, 2, 3)]
PACKED = zlib.compress(b"".join(ROWS))


def test_a_picture_made_by_hand_is_kept_when_its_rows_are_as_they_should_be() -> None:
    data = picture_of(header_of(), (b"IDAT", PACKED[:9]), (b"IDAT", PACKED[9:]), (b"tEXt", b"a\0b"))
    assert frame_of(data).image.bytes == data
    Image.open(io.BytesIO(data)).load()


@pytest.mark.parametrize(
    "data",
    [
        picture_of(header_of(), (b"IDAT", zlib.compress(b"".join(ROWS[:3]) + b"\5" + b"\1" * 12))),
        picture_of(header_of(), (b"IDAT", PACKED[:9]), (b"tEXt", b"a\0b"), (b"IDAT", PACKED[9:])),
        picture_of(header_of(depth=3), (b"IDAT", zlib.compress(b"\0" * 6 * 4))),
        picture_of(header_of(filters=1), (b"IDAT", PACKED)),
        picture_of(header_of(), (b"IDAT", PACKED), (b"pHYs", b"\1")),
        picture_of(header_of(), (b"IDAT", PACKED), (b"iCCP", b"\1")),
    ],
    ids=["a filter", "pixels apart", "a depth", "a way of filtering", "a short chunk", "a chunk of nothing"],
)
def test_what_decoders_refuse_is_undecodable(data: bytes) -> None:
    with pytest.raises((IndexError, OSError, SyntaxError, ValueError)):
        Image.open(io.BytesIO(data)).load()

    assert code_of(data) == "undecodable"


def test_a_picture_without_pixels_is_undecodable() -> None:
    assert code_of(SIGNATURE + chunk(b"IEND", b"")) == "undecodable"


@pytest.mark.parametrize("mode", ["P", "L", "LA", "RGBA", "1", "I;16"])
def test_pictures_of_every_kind_are_kept(mode: str) -> None:
    out = io.BytesIO()
    Image.new(mode, (30, 20)).save(out, "PNG")
    frame = frame_of(out.getvalue())
    assert (frame.width, frame.height) == (30, 20)


def test_a_picture_too_large_to_decode_is_refused_by_its_header() -> None:
    header = (100_000).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    assert code_of(SIGNATURE + chunk(b"IHDR", header) + chunk(b"IEND", b"")) == "undecodable"


@given(st.integers(0, len(PICTURE) - 1))
def test_no_prefix_of_a_picture_is_a_picture(length: int) -> None:
    with pytest.raises(CaptureError):
        frame_of(PICTURE[:length])


@given(st.binary(max_size=300).filter(lambda noise: SIGNATURE[:4] not in noise))
def test_noise_in_front_of_a_picture_changes_nothing(before: bytes) -> None:
    assert frame_of(before + PICTURE).image.bytes == PICTURE
