"""Our client of an X server, on a real one: pictures, input, keyboards, rest; one session for the whole file."""

from __future__ import annotations

import asyncio
import io
import subprocess
import time
from collections.abc import Iterator

import psutil
import pytest
from PIL import Image as Pictures

from pipeline.actions import Pixel
from pipeline.envs import locales
from pipeline.envs.keysyms import keysym_of, keysym_of_character
from pipeline.envs.screen_png import png_of
from pipeline.envs.x11_display import (
    BUTTON_PRESS,
    BUTTON_RELEASE,
    KEY_PRESS,
    MOTION,
    Cursor,
    Display,
)
from pipeline.envs.x11_rest import settle
from pipeline.envs.x11_typing import Keyboard
from pipeline.envs.x11_wire import RefusedError, Wire
from pipeline.envs.xvfb_session import HEIGHT, WIDTH, Session
from pipeline.errors import ActionError, EnvError
from tests.programs import TEXT, needs_desktop

pytestmark = needs_desktop


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    made = Session(locales.folder())
    try:
        asyncio.run(made.start())
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def pad(session: Session) -> Session:
    """The session with mousepad in front."""
    session.spawn("mousepad", ["mousepad"])
    until = time.monotonic() + 20
    while not any(window.kind == "Mousepad" and window.active for window in session.display.windows()):
        assert time.monotonic() < until, session.said("mousepad")
        time.sleep(0.02)
    assert settle(session.display, 10)
    return session


def number(session: Session) -> int:
    return int(session.environment["DISPLAY"].removeprefix(":"))


def test_a_wrong_cookie_is_refused(session: Session) -> None:
    with pytest.raises(EnvError, match=f"no X server answers at :{number(session)}"):
        Wire(number(session), b"x" * 16)


def test_where_nobody_serves_there_is_no_display() -> None:
    with pytest.raises(EnvError, match="no X server answers at :4711"):
        Wire(4711, b"")


def test_a_picture_is_the_whole_screen(session: Session) -> None:
    pixels = session.display.image()

    assert len(pixels) == 4 * WIDTH * HEIGHT
    assert pixels[:3] == bytes([0x7B, 0x6B, 0x5A])


def test_the_pointer_is_on_the_picture_where_it_was_moved(session: Session) -> None:
    display = session.display
    plain = _decoded(display, Cursor(0, 0, 0, 0, b""))
    display.fake(MOTION, 0, Pixel(x=1200, y=700))
    display.sync()
    cursor = display.cursor()

    drawn = _decoded(display, cursor)

    assert cursor.left <= 1200 < cursor.left + cursor.width
    assert cursor.top <= 700 < cursor.top + cursor.height
    changed = [(x, y) for x in range(1150, 1250) for y in range(650, 750) if drawn[x, y] != plain[x, y]]
    assert changed
    assert all(
        cursor.left <= x < cursor.left + cursor.width and cursor.top <= y < cursor.top + cursor.height
        for x, y in changed
    )


def _decoded(display: Display, cursor: Cursor) -> dict[tuple[int, int], tuple[int, ...]]:
    with Pictures.open(io.BytesIO(png_of(display.image(), WIDTH, HEIGHT, cursor))) as picture:
        rows = picture.crop((1150, 650, 1250, 750)).convert("RGB").tobytes()
    return {(1150 + at % 100, 650 + at // 100): tuple(rows[3 * at : 3 * at + 3]) for at in range(100 * 100)}


def test_a_refused_request_is_an_error_of_its_own(session: Session) -> None:
    wire = session.display._wire

    with pytest.raises(RefusedError) as caught:
        wire.ask(15, 0, (0x7FFF_FFF0).to_bytes(4, "little"))  # QueryTree of no window

    assert caught.value.code == 3
    session.display.sync()


def test_what_is_held_is_seen_and_let_go(session: Session) -> None:
    display, keyboard = session.display, Keyboard(session.display)
    keyboard.press("Shift_L", down=True)
    keyboard.press("q", down=True)
    display.fake(BUTTON_PRESS, 1)
    display.sync()
    held = display.held()
    assert (len(held.keycodes), held.buttons) == (2, [1])

    keyboard.release_all()

    assert display.held() == ([], [], False)


def test_caps_lock_does_not_stay(session: Session) -> None:
    keyboard = Keyboard(session.display)
    keyboard.press("Caps_Lock", down=True)
    keyboard.press("Caps_Lock", down=False)
    assert session.display.held().caps

    keyboard.release_all()

    assert not session.display.held().caps


def test_a_key_that_is_none_is_refused(session: Session) -> None:
    with pytest.raises(ActionError) as caught:
        Keyboard(session.display).press("nokey", down=True)

    assert caught.value.code == "bad_arguments"


def test_more_characters_than_spare_keys_are_entered_in_turns(session: Session) -> None:
    keyboard = Keyboard(session.display)
    text = "".join(chr(code) for code in range(0x4E00, 0x4E00 + 300))
    keysyms = [keysym for character in text if (keysym := keysym_of_character(character)) is not None]

    runs = list(keyboard._runs(keysyms))

    assert [keysym for run in runs for keysym in run] == keysyms
    assert len(runs) > 2
    assert all(len(set(run)) <= len(keyboard._spare) for run in runs)


def test_a_screen_where_nothing_happens_is_at_rest_soon(pad: Session) -> None:
    began = time.monotonic()

    assert settle(pad.display, 5.0)
    assert time.monotonic() - began < 2.0


def test_a_program_that_hangs_is_not_at_rest(pad: Session) -> None:
    program = _process_of(pad)
    subprocess.run(["kill", "-STOP", str(program)], check=True)
    try:
        assert not settle(pad.display, 0.4)
    finally:
        subprocess.run(["kill", "-CONT", str(program)], check=True)
    assert settle(pad.display, 5.0)


def test_a_dialog_that_goes_is_not_waited_for(pad: Session) -> None:
    keyboard = Keyboard(pad.display)
    for names in (("Control_L", "o"), ("Escape",)):
        began = time.monotonic()
        for name in names:
            keyboard.press(name, down=True)
        for name in names:
            keyboard.press(name, down=False)
        assert settle(pad.display, 5.0)

    assert time.monotonic() - began < 4.0
    assert len(pad.display.windows()) == 1


def _process_of(session: Session) -> int:
    home = str(session.home)
    found = (one.info for one in psutil.process_iter(["pid", "name", "cwd"]))  # of ended ones it tells nothing
    return next(int(one["pid"]) for one in found if (one["name"], one["cwd"]) == ("mousepad", home))


def test_windows_are_listed_with_the_one_in_front(pad: Session) -> None:
    assert [(window.kind, window.active) for window in pad.display.windows()] == [("Mousepad", True)]


def test_what_was_typed_was_typed_exactly(pad: Session) -> None:
    keyboard = Keyboard(pad.display)
    keyboard.press("Caps_Lock", down=True)
    keyboard.press("Caps_Lock", down=False)

    keyboard.type(f"{TEXT}\n\t{TEXT}")
    for name, down in (("Control_L", True), ("s", True), ("s", False), ("Control_L", False)):
        keyboard.press(name, down=down)
    settle(pad.display, 5.0)
    # A save dialog: its field takes the name, wherever the focus was before.
    keyboard.type("typed.txt\n")

    saved, until = pad.home / "typed.txt", time.monotonic() + 10
    while not (saved.exists() and saved.stat().st_size):
        assert time.monotonic() < until
        time.sleep(0.02)
    assert saved.read_text(encoding="utf-8") == f"{TEXT}\n\t{TEXT}"


def test_a_display_that_ends_is_gone() -> None:
    ended = Session(locales.folder())
    asyncio.run(ended.start())
    display = ended.display
    ended.close()

    with pytest.raises(EnvError):
        ended.display  # noqa: B018
    with pytest.raises((EnvError, OSError)):
        display.sync()
    assert not ended.home.exists()


@pytest.mark.parametrize(
    ("name", "keysym"),
    [("Return", 0xFF0D), ("F12", 0xFFC9), ("a", 0x61), ("é", 0xE9), ("你", 0x0100_4F60), ("🙂", 0x0101_F642)],
)
def test_keysyms(name: str, keysym: int) -> None:
    assert keysym_of(name) == keysym


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x7f", "\x85", "\ud83d", "\ufffe", "\ufdd0"])
def test_characters_without_a_keysym(character: str) -> None:
    assert keysym_of_character(character) is None


def test_events_of_others_do_not_confuse_an_answer(session: Session) -> None:
    display = session.display
    for _ in range(50):
        display.fake(MOTION, 0, Pixel(x=3, y=3))
        display.fake(BUTTON_PRESS, 3)
        display.fake(BUTTON_RELEASE, 3)
        display.fake(KEY_PRESS, 9)
        display.fake(KEY_PRESS + 1, 9)
    assert display.keymap().columns > 0
    display.take(0.05)
    assert display.held().keycodes == []
