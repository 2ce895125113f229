"""CASE-1: seven byte streams of one picture through the real adb server."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pipeline.actions import Wait
from pipeline.handset.wire import Output
from tests.androids import AndroidPhone, damaged, environment_of, noise, phone_task
from tests.episodes import play
from tests.phones import Plugged, plugged

ORIGINAL = noise(200, 400)
STREAMS = damaged(ORIGINAL)


class Camera(AndroidPhone):
    """Serves one stream of bytes when its picture is asked for; `fine` pictures come first."""

    def __init__(self, stream: bytes) -> None:
        super().__init__()
        self.fine, self.stream, self.pictures = 1, stream, 0
        self.on("screencap", self._serve)

    async def _serve(self, command: str, output: Output) -> int:
        del command
        self.pictures += 1
        await output.out(ORIGINAL if self.pictures <= self.fine else self.stream)
        return 0


@pytest.fixture
async def there(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Plugged]:
    async with plugged(tmp_path, Camera(STREAMS[request.param])) as found:
        yield found


@pytest.mark.parametrize("there", ["intact", "warned", "crlf", "trailing"], indirect=True)
async def test_what_lost_nothing_is_stored_as_the_original(there: Plugged) -> None:
    environment = environment_of(there.device)
    await environment.start(phone_task())

    seen = await environment.observe()

    assert seen.frame is not None and seen.capture_error is None
    assert seen.frame.image.bytes == ORIGINAL
    assert seen.frame.sha256 == hashlib.sha256(ORIGINAL).hexdigest()
    await environment.close()


@pytest.mark.parametrize(
    "there, code", [("half", "truncated"), ("endless", "truncated"), ("nothing", "empty")], indirect=["there"]
)
async def test_what_is_lost_is_said_after_one_retry_and_ends_as_a_fault(there: Plugged, code: str) -> None:
    camera = there.phone
    assert isinstance(camera, Camera)
    environment = environment_of(there.device)

    record = await play([Wait()] * 5, phone_task(), environment)

    rows = record.observations
    assert [(row.capture_error, row.frame_sha256) for row in rows] == [(code, None)] * 3
    assert camera.pictures == camera.fine + 2 * len(rows)
    assert record.frames == {}
    assert record.trajectory.termination == "fault"
    assert record.trajectory.fault is not None and record.trajectory.fault.boundary == "env"
    await environment.close()


@pytest.mark.parametrize("there", ["half"], indirect=True)
async def test_a_retry_that_succeeds_is_a_picture(there: Plugged) -> None:
    camera = there.phone
    assert isinstance(camera, Camera)
    environment = environment_of(there.device)
    await environment.start(phone_task())

    async def once(command: str, output: Output) -> int:
        camera.pictures += 1
        await output.out(ORIGINAL if camera.pictures > 2 else camera.stream)
        return 0

    camera.on("screencap", once)
    seen = await environment.observe()

    assert camera.pictures == 3
    assert seen.frame is not None and seen.frame.image.bytes == ORIGINAL
    await environment.close()
