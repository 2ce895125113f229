"""The command line of the handset without adb and without a screen: what its commands answer, and what they change."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.envs.browser import Browser
from pipeline.handset.__main__ import packages
from pipeline.handset.commands import SERVICES
from pipeline.handset.device import Handset
from pipeline.handset.phone import Build, Phone
from pipeline.handset.state import Clock
from pipeline.handset.wire import Output
from pipeline.reaper import Scratch

NOTES = "org.pathproof.notes"
FAVA = "org.pathproof.web.fava"
IME = "com.android.adbkeyboard"
TABLE = f"content://{NOTES}/folders"
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


class Answer(NamedTuple):
    """What a line came to."""

    code: int
    out: str
    err: str


class Written(Output):
    """Keeps what a command writes."""

    def __init__(self) -> None:
        self.outputs = {"out": b"", "err": b""}

    async def out(self, data: bytes) -> None:
        self.outputs["out"] += data

    async def err(self, data: bytes) -> None:
        self.outputs["err"] += data


class Shell:
    """A phone that has booted as far as its services are concerned; nothing of it shows."""

    def __init__(self, folder: Path, scratch: Scratch) -> None:
        self.phone = Phone(Build(folder, packages([("fava", "Fava")]), Clock()), Browser(scratch))
        self.phone.booted = True
        self._handset = Handset(self.phone)

    async def run(self, line: str, sent: bytes = b"") -> Answer:
        """What a line answers, where so much is sent to it."""

        async def stdin() -> AsyncIterator[bytes]:
            for at in range(0, len(sent), 7):
                yield sent[at : at + 7]

        written = Written()
        code = await self._handset.shell(line, stdin(), written)
        return Answer(code, *(data.decode() for data in written.outputs.values()))

    def __call__(self, line: str, sent: bytes = b"") -> Answer:
        """The same, waited for."""
        return asyncio.run(self.run(line, sent))

    def lines(self, line: str) -> list[str]:
        """What a line that must succeed says."""
        answer = self(line)
        assert (answer.code, answer.err) == (0, ""), line
        return answer.out.splitlines()


@pytest.fixture(scope="module")
def scratch() -> Iterator[Scratch]:
    with Scratch("shell-test") as made:
        yield made


@pytest.fixture
def shell(tmp_path: Path, scratch: Scratch) -> Shell:
    return Shell(tmp_path, scratch)


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("true && echo yes || echo no", 0, "yes"),
        ("false; echo $?", 0, "1"),
        ("false", 1, ""),
        ("nonsense", 127, "/system/bin/sh: nonsense: inaccessible or not found"),
        ("cat /nothing", 1, "cat: /nothing: No such file or directory"),
        ("am start -n a.b/.C", 1, "Error: Activity class {a.b/.C} does not exist."),
        ("settings get nowhere x", 255, "Invalid namespace 'nowhere'"),
        ("settings get global no_such_key", 0, "null"),
        ("monkey -p a.b 1", 252, "** No activities found to run, monkey aborted."),
        ("pm path a.b", 1, ""),
        ("dumpsys nonsense", 1, "Can't find service: nonsense"),
        ("cmd package resolve-activity --brief org.pathproof.notes", 0, "org.pathproof.notes/.MainActivity"),
        ("cmd package query-activities -a MAIN -c X", 0, "No activities found"),
        ("cmd nonsense", 20, "cmd: Can't find service: nonsense"),
        ("pm list packages -3", 0, "package:org.pathproof.web.fava"),
        ("pm list packages -f notes", 0, "package:/system/app/org.pathproof.notes/"),
        ("pm clear android", 1, "Failed"),
        ("pm uninstall a.b", 1, "Failure [DELETE_FAILED_INTERNAL_ERROR]"),
        ("echo x; pm install /proc/uptime", 1, "Failure [INSTALL_PARSE_FAILED_NOT_APK"),
        ("am start -n org.pathproof.notes/.Other", 1, "Error type 3"),
        ("am start -a android.intent.action.SEND", 1, "unable to resolve Intent"),
        ("am nonsense", 255, "unknown or incomplete"),
        ("am broadcast -a SOMETHING.ELSE", 0, "Broadcast completed: result=0"),
        ("ime enable a.b/.C", 255, "Unknown input method a.b/.C cannot be enabled for user #0"),
        ("ime disable com.android.adbkeyboard/.AdbIME; ime list -s", 0, "com.android.inputmethod.latin/.LatinIME"),
        ("ime reset; ime set com.android.adbkeyboard/.AdbIME", 255, "cannot be selected for user #0"),
        (
            "content insert --uri content://org.pathproof.notes/folders --bind name:q:x",
            1,
            "Unsupported binding: name:q:x",
        ),
        ("content query --uri content://org.pathproof.notes/nothing", 1, "Unknown URI"),
        ("content query --uri notes", 1, "Unsupported argument: notes"),
        ("setprop ro.product.model x", 1, "Failed to set property 'ro.product.model' to 'x'."),
        ("settings list system", 0, "user_rotation=0"),
        ("settings put global x 1; settings delete global x", 0, "Deleted 1 rows"),
        ("wm user-rotation", 0, "lock 0"),
        ("dumpsys power", 0, "mWakefulness=Awake"),
        ("dumpsys package org.pathproof.notes", 0, "versionName=1.0"),
        ("dumpsys activity lastanr", 0, "<no ANR has occurred since boot>"),
        ("input tap 1", 255, "unknown or incomplete"),
        ("date +%Y-%m-%d", 0, "2026-06-15"),
        ("mkdir /sdcard/a/b", 1, "No such file or directory"),
        ("mkdir -p /sdcard/a/b; ls /sdcard/a; rm -r /sdcard/a", 0, "b"),
        ("rm /sdcard/none", 1, "rm: /sdcard/none: No such file or directory"),
        ("rm -f /sdcard/none", 0, ""),
        ("sleep x", 1, "bad number"),
        ("/system/bin/echo -n a", 0, "a"),
    ],
)
def test_commands_answer_as_android_does(shell: Shell, line: str, code: int, said: str) -> None:
    answer = shell(line)

    assert answer.code == code
    assert said in answer.out + answer.err


# --- lines --------------------------------------------------------------------------------------------------------


@given(words=st.lists(texts, min_size=1).filter(lambda words: words[0] != "-n"))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_whatever_is_quoted_reaches_its_command(shell: Shell, words: list[str]) -> None:
    assert shell("echo " + shlex.join(words)).out == " ".join(words) + "\n"


def test_what_follows_is_carried_out_when_it_should_be(shell: Shell) -> None:
    assert shell("false && echo a || echo b; echo $?; nonsense; echo $?").out == "b\n0\n127\n"
    assert shell('true && false; echo "code $?"').out == "code 1\n"


def test_nothing_of_a_line_that_cannot_be_read_is_carried_out(shell: Shell) -> None:
    answer = shell("mkdir /sdcard/made; echo `id`")

    assert (answer.code, answer.out) == (2, "")
    assert shell("ls /sdcard/made").code == 1


def test_lines_that_are_sent_are_carried_out_in_turn_however_they_arrive(shell: Shell) -> None:
    answer = shell("", "echo 你好 there\r\n\necho again\nfalse".encode())

    assert answer == (1, "你好 there\nagain\n", "")


def test_services_answer_only_once_the_phone_has_booted_and_files_always(shell: Shell) -> None:
    shell.phone.booted = False

    refused = {name: shell(name) for name in SERVICES}

    assert {answer.code for answer in refused.values()} == {20}
    assert refused["pm"].err == "cmd: Can't find service: pm\n"
    assert shell("cat /proc/sys/kernel/random/boot_id").code == 0


async def test_a_command_that_is_to_hang_does_and_only_so_often(shell: Shell) -> None:
    await shell.run("settings put global pathproof_fault hang:getprop*1")

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await shell.run("getprop")

    assert (await shell.run("id")).code == 0
    assert (await shell.run("getprop sys.boot_completed")).code == 0


# --- packages -----------------------------------------------------------------------------------------------------


def test_packages_are_listed_by_what_they_are(shell: Shell) -> None:
    everything, third, system = (shell.lines(f"pm list packages {switch}") for switch in ("", "-3", "-s"))

    assert sorted([*third, *system]) == sorted(everything)
    assert f"package:{FAVA}" in third and f"package:{FAVA}" not in system and f"package:{NOTES}" in system
    assert shell.lines("pm list packages pathproof.no") == [f"package:{NOTES}"]
    assert shell.lines("cmd package list packages -3") == third


def test_an_application_that_is_removed_is_nowhere_and_one_that_is_installed_is_new(shell: Shell) -> None:
    launchable = (
        "cmd package query-activities --brief -a android.intent.action.MAIN -c android.intent.category.LAUNCHER"
    )
    file = shell.lines(f"pm path {NOTES}")[0].removeprefix("package:")
    data = shell(f"cat {file}").out
    shell(f"content insert --uri {TABLE} --bind name:s:Mine")

    removed = shell(f"pm uninstall {NOTES}")
    gone = (
        shell(f"pm path {NOTES}"),
        shell.lines(launchable),
        shell(f"pm clear {NOTES}"),
        shell(f"pm uninstall {NOTES}"),
    )
    came = shell(f"pm install -r -g -S {len(data)}", data.encode())

    assert (removed.out, came.out) == ("Success\n", "Success\n")
    assert gone[0].code == 1 and f"    {NOTES}/.MainActivity" not in gone[1]
    assert (gone[2].out, gone[3].out) == ("Failed\n", "Failure [DELETE_FAILED_INTERNAL_ERROR]\n")
    assert f"    {NOTES}/.MainActivity" in shell.lines(launchable)
    assert not any("Mine" in line for line in shell.lines(f"content query --uri {TABLE}"))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x03\x04", "INSTALL_PARSE_FAILED_NOT_APK"),
        (b"[1]", "INSTALL_PARSE_FAILED_NOT_APK"),
        (json.dumps({"handset_package": "org.example.chess"}).encode(), "INSTALL_FAILED_INVALID_APK"),
    ],
)
def test_what_it_did_not_come_with_is_not_installed(shell: Shell, data: bytes, reason: str) -> None:
    answer = shell(f"pm install -S {len(data)}", data)

    assert answer.code == 1 and answer.out.startswith(f"Failure [{reason}")


def test_an_input_method_that_is_removed_cannot_be_chosen(shell: Shell) -> None:
    shell(f"pm uninstall {IME}")

    assert shell(f"ime enable {IME}/.AdbIME").code == 255
    assert f"{IME}/.AdbIME" not in shell.lines("ime list -a -s")


def test_an_input_method_is_chosen_only_once_it_is_enabled(shell: Shell) -> None:
    name = f"{IME}/.AdbIME"
    chosen = "settings get secure default_input_method"
    before = shell.lines(chosen)
    refused = shell(f"ime set {name}")
    shell(f"ime enable {name}; ime set {name}")
    between = shell.lines(chosen)
    shell(f"ime disable {name}")

    assert refused.code == 255
    assert (between, shell.lines(chosen)) == ([name], before)


def test_one_activity_is_resolved_and_a_part_of_the_system_is_not_opened(shell: Shell) -> None:
    assert shell.lines(f"cmd package resolve-activity --brief {FAVA}")[-1] == f"{FAVA}/.MainActivity"
    assert shell.lines("cmd package resolve-activity --brief android") == ["No activity found"]
    assert shell.lines(f"cmd package query-activities --components -p {FAVA}") == [f"{FAVA}/.MainActivity"]


# --- data ---------------------------------------------------------------------------------------------------------


@given(value=texts.filter(str.strip))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_a_setting_is_what_was_put(shell: Shell, value: str) -> None:
    shell(shlex.join(["settings", "put", "global", "any", value]))

    assert shell("settings get global any").out == f"{value}\n"
    assert shell("settings delete global any").out == "Deleted 1 rows\n"
    assert shell("settings get global any").out == "null\n"


def test_rows_are_asked_by_column_condition_and_order(shell: Shell) -> None:
    for name in ("it's", "Zebra", "Apple"):
        shell(shlex.join(["content", "insert", "--uri", TABLE, "--bind", f"name:s:{name}"]))

    quoted = shell.lines(f"content query --uri {TABLE} --projection name --where \"name='it''s'\"")
    ordered = shell.lines(f"content query --uri {TABLE} --projection name:_id --where '_id > 3' --sort name")

    assert quoted == ["Row: 0 name=it's"]
    assert [line.split()[2] for line in ordered] == ["name=Apple,", "name=Zebra,", "name=it's,"]
    assert shell.lines(f"content query --uri {TABLE} --where _id=999") == ["No result found."]


def test_rows_are_changed_and_removed_where_the_condition_says(shell: Shell) -> None:
    shell(f"content update --uri {TABLE} --bind name:s:Other --where _id=2")
    shell(f"content delete --uri {TABLE} --where _id=3")

    rows = shell.lines(f"content query --uri {TABLE} --projection _id:name")

    assert rows[1] == "Row: 1 _id=2, name=Other" and len(rows) == 2


@pytest.mark.parametrize("where", ["nothing = 1", "1; DROP TABLE notes", "_id ="])
def test_a_condition_that_is_none_is_refused_and_changes_nothing(shell: Shell, where: str) -> None:
    before = shell.lines(f"content query --uri {TABLE}")

    answers = [shell(shlex.join(["content", verb, "--uri", TABLE, "--where", where])) for verb in ("query", "delete")]

    assert [answer.code for answer in answers] == [1, 1]
    assert shell.lines(f"content query --uri {TABLE}") == before


def test_settings_are_also_a_provider(shell: Shell) -> None:
    shell("content insert --uri content://settings/secure --bind name:s:any --bind value:s:1")

    assert shell.lines("settings get secure any") == ["1"]
    assert shell.lines("content query --uri content://settings/secure --projection value --where \"name='any'\"") == [
        "Row: 0 value=1"
    ]


def test_an_order_of_faults_that_cannot_be_read_leaves_the_one_before(shell: Shell) -> None:
    shell("settings put global pathproof_fault torn")

    answer = shell("settings put global pathproof_fault burnt")

    assert answer.code == 1 and "burnt" in answer.err
    assert shell.lines("settings get global pathproof_fault") == ["torn"]


def test_properties_of_the_build_cannot_be_set_and_others_can(shell: Shell) -> None:
    shell("setprop debug.any 'a b'")

    assert shell.lines("getprop debug.any") == ["a b"]
    assert shell.lines("getprop no.such.one otherwise") == ["otherwise"]
    assert "[ro.product.model]: [handset: emulated, not Android]" in shell.lines("getprop")
