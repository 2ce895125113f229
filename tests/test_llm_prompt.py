"""Pictures on their way into a request."""

from __future__ import annotations

import base64
import hashlib
import io

import pytest
from PIL import Image as Pictures
from pydantic import ValidationError

from pipeline.frames import frame_of
from pipeline.llm import Client, Endpoint, PictureEncoder, picture_of
from tests.endpoints import QUICK, endpoint_of, limiter_of, picture, says, serving, user


def decoded(url: str) -> bytes:
    head, _, data = url.partition(",")
    assert head == "data:image/png;base64"
    return base64.b64decode(data, validate=True)


def test_a_picture_in_its_own_size_is_sent_byte_for_byte() -> None:
    shown = picture()

    assert decoded(PictureEncoder().data_url(shown)) == shown.png


def test_a_picture_in_another_size_is_resized() -> None:
    shown = picture("blue", (40, 30))._replace(width=28, height=56)

    with Pictures.open(io.BytesIO(decoded(PictureEncoder().data_url(shown)))) as found:
        assert found.size == (28, 56)
        assert found.convert("RGB").getpixel((14, 28)) == (0, 0, 255)


def test_a_frame_is_shown_in_its_size_unless_another_is_wanted() -> None:
    frame = frame_of(picture("red", (40, 30)).png)

    assert (picture_of(frame).width, picture_of(frame).height) == (40, 30)
    assert (picture_of(frame, 20, 10).width, picture_of(frame, 20, 10).height) == (20, 10)
    assert picture_of(frame).sha256 == frame.sha256


def test_a_picture_is_encoded_once_per_size() -> None:
    encoder = PictureEncoder()
    shown = picture()

    urls = {encoder.data_url(shown) for _ in range(5)} | {encoder.data_url(shown._replace(width=8)) for _ in range(5)}

    assert len(urls) == 2
    assert encoder.encoded == 2


def test_what_was_not_used_for_longest_is_forgotten_first() -> None:
    one, two, three = picture("red"), picture("green"), picture("blue")
    size = len(PictureEncoder().data_url(one))
    encoder = PictureEncoder(most_characters=2 * size + size // 2)
    for shown in (one, two, one, three):
        encoder.data_url(shown)

    encoder.data_url(one)
    assert encoder.encoded == 3
    encoder.data_url(two)
    assert encoder.encoded == 4


def test_a_picture_larger_than_all_that_may_be_kept_is_still_encoded() -> None:
    encoder = PictureEncoder(most_characters=10)

    assert decoded(encoder.data_url(picture())) == picture().png


async def test_the_pictures_of_a_history_are_encoded_once_over_many_calls() -> None:
    encoder = PictureEncoder()
    shown = [picture(colour) for colour in ("red", "green", "blue")]
    with serving(says(times=None)) as server:
        endpoint = endpoint_of(server)
        async with Client(endpoint, limiter_of(endpoint), encoder=encoder, rules=QUICK) as client:
            for last in range(1, 4):
                await client.ask(user(*shown[:last]), stage="act", ledger=[])

    assert encoder.encoded == 3
    url = f"data:image/png;base64,{base64.b64encode(shown[2].png).decode()}"
    sent = server.requests[2].body["messages"][0]["content"][2]["image_url"]["url"]
    assert sent == f"sha256:{hashlib.sha256(url.encode()).hexdigest()}"


@pytest.mark.parametrize(
    "address",
    ["ftp://host/v1", "http:///v1", "host:8000/v1", "https://user:secret@host/v1", "https://host/v1?key=secret"],
)
def test_an_address_that_is_none_or_holds_a_secret_is_refused(address: str) -> None:
    with pytest.raises(ValidationError):
        Endpoint(base_url=address, model="m")


def test_cost_is_by_the_million_and_unknown_prices_are_zero() -> None:
    priced = Endpoint(base_url="http://h/v1", model="m", usd_per_million_prompt=3.0, usd_per_million_completion=15.0)
    free = Endpoint(base_url="http://h/v1/", model="m")

    assert priced.usage(1_000_000, 200_000, 1).cost_usd == pytest.approx(6.0)
    assert free.usage(1_000_000, 200_000, 1).cost_usd == 0.0
    assert free.base_url == "http://h/v1"
