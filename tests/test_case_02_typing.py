"""CASE-2: text entry. The device hands each command line to a real `sh`, in which only stubs can be reached."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pipeline.actions import Finished, Type
from pipeline.errors import ActionError
from pipeline.handset.wire import Output
from tests.androids import ADB_KEYBOARD, OTHER_KEYBOARD, AndroidPhone, environment_of, node, phone_task, tree
from tests.episodes import play
from tests.phones import Plugged, plugged

TEXT = '你好 "it\'s" $(touch pwned); 🙂 %s\n<b>&'

_TOUCH = "echo ran >> touched"
_REBOOT = "echo ran >> rebooted"
_AM = """case "$1 $2 $3 $4 $5" in
    "broadcast -a ADB_INPUT_B64 --es msg")
        result=$(cat result)
        if [ ! -e lost ] && [ "$result" = 0 ] && [ "$(cat settings.default_input_method)" = "%s" ]; then
            printf %%s "$6" | base64 -d >> received
        fi
        echo "Broadcasting: Intent { act=$3 }"
        echo "Broadcast completed: result=$result" ;;
esac"""
_SETTINGS = '[ "$1" = get ] && cat "settings.$3" && echo'
_IME = """case $1 in
    set) printf %s "$2" > settings.default_input_method ;;
    enable) printf :%s "$2" >> settings.enabled_input_methods ;;
esac"""


class ShellPhone(AndroidPhone):
    """Runs what concerns text in a real shell; the rest is scripted."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.lines = self._in_shell
        stubs = {"touch": _TOUCH, "reboot": _REBOOT, "am": _AM % ADB_KEYBOARD, "settings": _SETTINGS, "ime": _IME}
        for name, script in stubs.items():
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        for name in ("cat", "base64", "sh"):
            (folder / name).symlink_to(shutil.which(name) or name)
        self.put("settings.default_input_method", OTHER_KEYBOARD)
        self.put("settings.enabled_input_methods", f"{OTHER_KEYBOARD}:{ADB_KEYBOARD}")
        self.put("result", "0")

    def put(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def got(self, name: str) -> str | None:
        path = self.folder / name
        return path.read_text() if path.exists() else None

    def show_field(self, held: str, shown: str) -> None:
        """Show a field that has the focus, by what it holds before a text has arrived and after."""

        async def said(command: str, output: Output) -> int:
            del command
            text = held if self.got("received") is None else shown
            await output.out(tree(node("android.widget.EditText", text=text, focused="true")))
            return 0

        self.on("uiautomator dump", said)

    async def _in_shell(self, line: str, output: Output) -> int:
        if not any(word in line for word in ("settings get", "ime set", "ime enable", "broadcast")):
            code = 0
            for command in line.split("; "):
                code = await self._answer(command, output)
            return code
        process = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", line),
            cwd=self.folder,
            env={"PATH": str(self.folder)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        await output.out(out)
        await output.err(err)
        return process.returncode or 0


@pytest.fixture
def phone(tmp_path: Path) -> ShellPhone:
    folder = tmp_path / "stubs"
    folder.mkdir()
    return ShellPhone(folder)


@pytest.fixture
async def there(tmp_path: Path, phone: ShellPhone) -> AsyncIterator[Plugged]:
    async with plugged(tmp_path, phone) as found:
        yield found


async def test_the_text_arrives_byte_for_byte_and_nothing_else_happens(there: Plugged, phone: ShellPhone) -> None:
    environment = environment_of(there.device)

    record = await play([Type(content=TEXT), Finished()], phone_task(), environment)

    assert record.steps[0].status == "ok", record.steps[0]
    assert phone.got("received") == TEXT
    assert phone.got("touched") is None and phone.got("rebooted") is None
    assert not (phone.folder / "pwned").exists()
    assert phone.got("settings.default_input_method") == OTHER_KEYBOARD
    await environment.close()


async def test_a_refused_broadcast_is_a_failed_step_and_the_keyboard_is_restored(
    there: Plugged, phone: ShellPhone
) -> None:
    phone.put("result", "1")
    environment = environment_of(there.device)

    record = await play([Type(content=TEXT), Finished()], phone_task(), environment)

    assert (record.steps[0].status, record.steps[0].action_error) == ("failed", "text_not_delivered")
    assert phone.got("received") is None
    assert phone.got("settings.default_input_method") == OTHER_KEYBOARD
    await environment.close()


async def test_a_text_that_the_field_does_not_show_is_a_failed_step(there: Plugged, phone: ShellPhone) -> None:
    phone.tree = tree(node("android.widget.EditText", text="something else", focused="true"))
    environment = environment_of(there.device)

    record = await play([Type(content="hello"), Finished()], phone_task(), environment)

    assert phone.got("received") == "hello"
    assert (record.steps[0].status, record.steps[0].action_error) == ("failed", "text_not_delivered")
    await environment.close()


@pytest.mark.parametrize(
    "field",
    [
        node("android.widget.EditText", text="•••••", focused="true", password="true"),
        node("android.widget.EditText", text="another field"),
    ],
    ids=["protected", "without the focus"],
)
async def test_a_text_in_a_field_that_does_not_show_it_is_not_verified(
    there: Plugged, phone: ShellPhone, field: str
) -> None:
    phone.tree = tree(field)
    environment = environment_of(there.device)
    await environment.start(phone_task())
    await environment.observe()

    result = await environment.act(Type(content="Hello 1234"), [])

    assert result.flags == ["text_unverified"]
    await environment.close()


@pytest.mark.parametrize(
    ("text", "held", "shown", "flags"),
    [
        ("Hello 1234", "say ", "say Hello 1234", []),
        ("Hello", "Hello", "HelloHello", []),
        ("Hello", "Hello you", "Hello", []),
        ("Hello 1234", "", "HELLO 12-34!", ["text_unverified"]),
        ("-5.0 €", "", "50", ["text_unverified"]),
        ("🙂", "so", "so🙂", []),
        ("🙂", "so", "so", ["text_unverified"]),
        ("one\ntwo", "", "one&#10;two", []),
        ("sent\n", "", "", ["text_unverified"]),
        ("sent\n", "draft", "", ["text_unverified"]),
    ],
)
async def test_a_text_is_verified_when_the_field_has_changed_and_shows_it(
    there: Plugged, phone: ShellPhone, text: str, held: str, shown: str, flags: list[str]
) -> None:
    phone.show_field(held, shown)
    environment = environment_of(there.device)
    await environment.start(phone_task())
    await environment.observe()

    result = await environment.act(Type(content=text), [])

    assert (phone.got("received"), result.flags) == (text, flags)
    await environment.close()


async def test_a_field_that_is_given_what_it_held_may_have_got_it(there: Plugged, phone: ShellPhone) -> None:
    phone.put("lost", "")
    phone.show_field("0", "0")
    environment = environment_of(there.device)
    await environment.start(phone_task())
    await environment.observe()

    result = await environment.act(Type(content="0"), [])

    assert result.flags == ["text_unverified"]
    await environment.close()


@pytest.mark.parametrize("text", ["Hello", "e", "!!", "hello", "new", "new\n"])
async def test_a_text_that_nobody_gets_is_a_failed_step_whatever_the_field_held(
    there: Plugged, phone: ShellPhone, text: str
) -> None:
    phone.put("lost", "")
    phone.show_field("Hello there!!", "Hello there!!")
    environment = environment_of(there.device)
    await environment.start(phone_task())
    await environment.observe()

    with pytest.raises(ActionError, match="what it held before") as caught:
        await environment.act(Type(content=text), [])

    assert caught.value.code == "text_not_delivered" and phone.got("received") is None
    await environment.close()


async def test_what_a_field_held_before_is_known_from_the_look_or_the_text_before(
    there: Plugged, phone: ShellPhone
) -> None:
    phone.show_field("", "ab")
    environment = environment_of(there.device)
    await environment.start(phone_task())

    unseen = await environment.act(Type(content="a"), [])
    phone.show_field("", "abb")
    seen = await environment.act(Type(content="b"), [])

    assert (unseen.flags, seen.flags) == (["text_unverified"], [])
    await environment.close()


async def test_half_a_character_is_refused_and_nothing_is_typed(there: Plugged, phone: ShellPhone) -> None:
    environment = environment_of(there.device)
    await environment.start(phone_task())

    with pytest.raises(ActionError) as caught:
        await environment.act(Type(content="a\ud83d"), [])

    assert caught.value.code == "text_not_delivered" and phone.got("received") is None
    await environment.close()


async def test_a_keyboard_that_is_installed_but_not_enabled_is_enabled(there: Plugged, phone: ShellPhone) -> None:
    phone.put("settings.enabled_input_methods", OTHER_KEYBOARD)
    phone.on("pm path com.android.adbkeyboard", "package:/data/app/keyboard.apk\n")
    environment = environment_of(there.device)
    await environment.start(phone_task())

    await environment.act(Type(content="hello"), [])

    assert phone.got("received") == "hello"
    await environment.close()


async def test_without_the_keyboard_plain_ascii_is_typed_and_the_rest_refused(
    there: Plugged, phone: ShellPhone
) -> None:
    phone.put("settings.enabled_input_methods", OTHER_KEYBOARD)
    environment = environment_of(there.device)
    await environment.start(phone_task())

    await environment.act(Type(content="it's; $(touch pwned)"), [])

    assert any(line == "input text 'it'\"'\"'s;%s$(touch%spwned)'" for _, line in phone.asked)
    for text in ("你好", "100%s", "two\nlines"):
        with pytest.raises(ActionError, match="needs the input method") as caught:
            await environment.act(Type(content=text), [])
        assert caught.value.code == "text_not_delivered"
    await environment.close()


async def test_a_long_text_arrives_in_parts(there: Plugged, phone: ShellPhone) -> None:
    text = "长文本🙂 " * 4000
    environment = environment_of(there.device)
    await environment.start(phone_task())

    await environment.act(Type(content=text), [])

    assert phone.got("received") == text
    assert sum("broadcast" in line for _, line in phone.asked) == -(-len(text.encode()) // 24_000)
    await environment.close()


async def test_a_field_that_has_no_focus_is_said(there: Plugged, phone: ShellPhone) -> None:
    phone.on("dumpsys input_method", "  mInputShown=false\n  mServedView=null\n")
    environment = environment_of(there.device)
    await environment.start(phone_task())

    with pytest.raises(ActionError, match="no text field has the focus"):
        await environment.act(Type(content="hello"), [])

    assert phone.got("settings.default_input_method") == OTHER_KEYBOARD
    await environment.close()
