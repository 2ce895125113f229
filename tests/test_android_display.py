"""What the window manager's words mean, and how pictures, trees and touches lie on the display."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pipeline.actions import Pixel
from pipeline.envs.android_display import Display, View, is_secure, read_display
from pipeline.errors import EnvError
from pipeline.structs import Box
from tests.androids import AndroidPhone
from tests.phones import Plugged, plugged

SAMPLES = {
    "words": "init=1080x2400 420dpi cur=2400x1080 app=2266x1080 rng=1080x1017-2337x2274\n"
    "  DisplayRotation\n    mUserRotation=ROTATION_0\n    mRotation=ROTATION_90 mDeferred=0\n"
    "  mCurrentFocus=Window{5a1 u0 com.a/com.a.Main}",
    "numbers": "    init=1080x1920 480dpi cur=1920x1080 app=1920x1008\n  mRotation=1 mAltOrientation=false\n"
    "  mCurrentFocus=Window{5a1 u10 com.a/com.a.Main}",
    "current": "cur=800x600\n mCurrentRotation=ROTATION_270\n"
    "  mCurrentFocus=null\n  mCurrentFocus=Window{5a1 com.a/.B}",
}


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[Plugged]:
    async with plugged(tmp_path, AndroidPhone()) as found:
        yield found


@pytest.mark.parametrize(
    "sample, display",
    [
        ("words", Display(2400, 1080, 1, "com.a/com.a.Main")),
        ("numbers", Display(1920, 1080, 1, "com.a/com.a.Main")),
        ("current", Display(800, 600, 3, "com.a/.B")),
    ],
)
async def test_versions_of_android_say_it_in_their_ways(there: Plugged, sample: str, display: Display) -> None:
    there.phone.on("dumpsys window displays", SAMPLES[sample])

    assert await read_display(there.device) == display


async def test_what_older_versions_say_elsewhere_is_found(there: Plugged) -> None:
    assert isinstance(there.phone, AndroidPhone)
    there.phone.version, there.phone.rotation, there.phone.size = 9, 3, (400, 200)

    display = await read_display(there.device)

    assert (display.package, display.rotation) == ("org.example.notes", 3)


async def test_of_several_displays_the_default_one_is_read(there: Plugged) -> None:
    there.phone.on(
        "dumpsys window displays",
        "  Display: mDisplayId=2\n    cur=400x300\n    mRotation=ROTATION_0\n  mCurrentFocus=Window{1 u0 com.b/.C}\n"
        "  Display: mDisplayId=0 (organized)\n    cur=2400x1080\n    mRotation=ROTATION_90\n"
        "  mCurrentFocus=Window{2 u0 com.a/.B}\n"
        "  Display: mDisplayId=7\n    cur=30x20\n    mRotation=ROTATION_180\n  mCurrentFocus=null\n",
    )

    assert await read_display(there.device) == Display(2400, 1080, 1, "com.a/.B", alone=False)


async def test_what_is_not_said_is_not_guessed(there: Plugged) -> None:
    there.phone.on("dumpsys window displays", "cur=200x400\n")
    there.phone.on("dumpsys display", 1)

    with pytest.raises(EnvError) as caught:
        await read_display(there.device)

    assert caught.value.code == "display_unknown"


async def test_an_application_that_does_not_respond_is_named(there: Plugged) -> None:
    assert isinstance(there.phone, AndroidPhone)
    there.phone.focus = "Application Not Responding: com.a"

    display = await read_display(there.device)

    assert (display.not_responding, display.package) == ("com.a", "")


@pytest.mark.parametrize(
    "flags, secure",
    [
        ("LAYOUT_IN_SCREEN SECURE SPLIT_TOUCH", True),
        ("LAYOUT_IN_SCREEN SPLIT_TOUCH", False),
        ("FLAG_SECURE", True),
        ("#81812100", True),
        ("#81810100", False),
    ],
)
@pytest.mark.parametrize("version", [9, 10])
async def test_only_the_focused_window_s_own_flags_forbid_pictures(
    there: Plugged, version: int, flags: str, secure: bool
) -> None:
    assert isinstance(there.phone, AndroidPhone)
    there.phone.version, there.phone.flags = version, flags

    assert await is_secure(there.device) is secure


@pytest.mark.parametrize("dialog, activity", [("DIM_BEHIND", "SECURE"), ("SECURE", "SPLIT_TOUCH")])
async def test_windows_of_one_title_are_told_apart(there: Plugged, dialog: str, activity: str) -> None:
    assert isinstance(there.phone, AndroidPhone)
    there.phone.dialog_flags, there.phone.flags = dialog, activity

    assert await is_secure(there.device) is (activity == "SECURE")


def test_a_picture_of_the_display_s_size_is_touched_where_it_is_seen() -> None:
    view = View.of(1080, 2400, Display(1080, 2400, 0, ""))

    assert view is not None
    assert view.to_display(Pixel(x=17, y=2399)) == Pixel(x=17, y=2399)
    assert view.to_picture(_box(1, 2, 3, 4)) == _box(1, 2, 3, 4)


def test_a_smaller_display_is_touched_in_its_own_pixels() -> None:
    view = View.of(1080, 2400, Display(540, 1200, 2, ""))

    assert view is not None
    assert view.to_display(Pixel(x=1079, y=100)) == Pixel(x=539, y=50)
    assert view.to_picture(_box(0, 50, 540, 1200)) == _box(0, 100, 1080, 2400)


def test_a_lying_picture_of_a_lying_display_is_upright() -> None:
    view = View.of(2400, 1080, Display(2400, 1080, 1, ""))

    assert view is not None and not view.turned
    assert view.to_display(Pixel(x=2000, y=30)) == Pixel(x=2000, y=30)


@pytest.mark.parametrize(
    "rotation, corner",
    # The screen as it was built is 4 wide and 6 high. Turned by one quarter, what is seen at its top left was built
    # as the top right corner; turned by three, as the bottom left one.
    [(1, Pixel(x=3, y=0)), (3, Pixel(x=0, y=5))],
)
def test_a_picture_of_the_screen_as_built_is_turned_for_the_finger_and_back(rotation: int, corner: Pixel) -> None:
    view = View.of(4, 6, Display(6, 4, rotation, ""))

    assert view is not None and view.turned
    assert view.to_display(corner) == Pixel(x=0, y=0)
    for pixel in (Pixel(x=x, y=y) for x in range(4) for y in range(6)):
        there = view.to_display(pixel)
        assert view.to_picture(_box(there.x, there.y, there.x + 1, there.y + 1)) == _box(
            pixel.x, pixel.y, pixel.x + 1, pixel.y + 1
        )


@pytest.mark.parametrize("rotation", [1, 3])
def test_a_picture_as_built_may_be_larger_than_its_display(rotation: int) -> None:
    view = View.of(400, 600, Display(60, 40, rotation, ""))

    assert view is not None
    for pixel in (Pixel(x=5, y=5), Pixel(x=395, y=305), Pixel(x=105, y=595)):
        there = view.to_display(pixel)
        back = view.to_picture(_box(there.x, there.y, there.x + 1, there.y + 1))
        assert back.contains(pixel)


def test_a_picture_of_another_moment_has_no_view() -> None:
    assert View.of(2400, 1080, Display(1080, 2400, 0, "")) is None


def _box(left: int, top: int, right: int, bottom: int) -> Box:
    return Box(left=left, top=top, right=right, bottom=bottom)
