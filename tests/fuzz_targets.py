"""What is fuzzed: whatever reads what others have written. Each target takes any data and may raise typed errors.

Data comes from sound examples, changed here and there, so that it gets past the first check; and from nothing.
"""

from __future__ import annotations

import asyncio
import json
import re
import struct
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from hypothesis import strategies as st

from pipeline import egress, manifest
from pipeline.allowlist import AllowList, address_of
from pipeline.app_entry import read_entry
from pipeline.check import check
from pipeline.config import load_config, override_config
from pipeline.dialects import Picture, Said, dialect_names, load_dialect
from pipeline.entry_state import SettingState
from pipeline.envs.adb import AdbServer
from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android_anr import AnrLog
from pipeline.envs.android_capture import capture
from pipeline.envs.android_display import is_secure, panel_of, read_display
from pipeline.envs.android_ready import boot_id
from pipeline.envs.android_settings import KeptSettings
from pipeline.envs.android_tree import TreeReader, _parsed
from pipeline.envs.atspi import answer_of, node_of, seen_of
from pipeline.envs.web_tab import Look
from pipeline.envs.web_told import tree_told
from pipeline.permissions import load_profile
from pipeline.reaper import Scratch
from taskspecs.store import load_tasks
from tests.datasets import begin
from tests.dialect_moves import PICTURES
from tests.episodes import fake_task
from tests.fuzz_texts import LONG_TEXTS, TEXT_READERS

_ROOT = Path(__file__).resolve().parents[1]
_ODD = (
    "",
    "\x00",
    "\ud83d",
    "9" * 5000,
    "-1",
    "1e999",
    "NaN",
    "[" * 1200,
    "{" * 1200,
    "(" * 1200,
    "\u2028",
    "²٣",
    "\\u0000",
    "\\ud800",
    "&amp;&#0;&x;",
    "]]>",
    "<!DOCTYPE x [<!ENTITY a 'b'>]>",
    "../../etc",
    "\r\n",
    "'\"`",
    "null",
    "🙂é你",
    "!!python/object/apply:os.system [id]",
    "&a [*a]",
)
"""What has broken readers before."""


_NUMBER = re.compile(r"\d+")


class Target(NamedTuple):
    """A reader and what it is given."""

    data: st.SearchStrategy[Any]
    read: Callable[[Any], object]
    cases: int = 100
    """How many in a row; few where one takes long."""


@st.composite
def _changed(draw: st.DrawFn, samples: Sequence[str]) -> str:
    """A sample with a few pieces taken out, doubled or put in."""
    text = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(0, 4))):
        numbers = [found.span() for found in _NUMBER.finditer(text)] or [(0, 0)]
        anywhere = st.tuples(st.integers(0, len(text)), st.integers(0, 40)).map(lambda place: (place[0], sum(place)))
        start, end = draw(st.sampled_from(numbers) | anywhere)
        piece = draw(st.one_of(st.sampled_from(_ODD), st.just(text[start:end] * 2), st.text(max_size=8)))
        text = text[:start] + piece + text[end:]
    return text


def _bytes(samples: Sequence[str]) -> st.SearchStrategy[bytes]:
    return _changed(samples).map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=200)


# --- files of people ----------------------------------------------------------------------------------------------

_MOST = 1200
"""Characters of a sample."""


def _samples(folder: str, pattern: str) -> list[str]:
    """Files of the package, the long ones up to the last item that is whole."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((_ROOT / folder).glob(pattern))]
    return [text if len(text) < _MOST else text[: max(text.rfind("\n  - ", 0, _MOST), 200)] for text in texts]


_CONFIGS = _samples("pipeline/configs", "*.yaml")
_PROFILES = _samples("pipeline/profiles", "*.yaml")
_ENTRIES = _samples("catalogs/apps", "*/app.yaml")
_TASKS = _samples("taskspecs/sets", "**/*.yaml")
_LINES = (fake_task().model_dump_json(),)
_KEYS = ("seed", "apps", "tasks", "tasks.limit", "policy.name", "model.extra", "judges", "budget.usd", "serving", "x.y")
_VALUES = ("3", "[a, b]", "{base_url: http://h/v1, name: n}", "noop", "null", "[[1]]", "{}", "1.5")


def _read_file(read: Callable[[Path], object], name: str) -> Callable[[bytes], object]:
    """Read the data as a file of this name."""

    def reading(data: bytes) -> object:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(data)
            return read(path)

    return reading


def _assign(pairs: list[tuple[str, str]]) -> object:
    return override_config({}, [f"{key}={value}" for key, value in pairs])


# --- replies of models --------------------------------------------------------------------------------------------

_REPLIES = (
    '<think>I look.</think>\n<answer>do(action="Tap", element=[500,500])</answer>',
    "Thought: here\nAction: click(start_box='<|box_start|>(500,500)<|box_end|>')",
    "Action: drag(start_box='(1,2)', end_box='(3,4)')\n\nAction: type(content='a\\n')",
    '<tool_call>\n{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [5, 6]}}\n</tool_call>',
    '<tool_call>{"name": "mobile_use", "arguments": {"action": "swipe", "coordinate": [1, 2], "coordinate2": [3, 4]}}',
    '{"action": "click", "point": [500, 500]}',
    '{"thought": "t", "action": {"type": "Type", "text": "a", "point": {"x": 1, "y": 2}}}',
    "<think>t</think><action>Click(box=(100,200))</action><conclusion>c</conclusion>",
    'finish(message="done")',
    '```json\n{"action": "scroll", "direction": "down"}\n```',
    '<tool_call>\n{"name": "computer", "arguments": {"action": "key", "keys": ["Control", "a"]}}\n</tool_call>',
)


def _read_reply(case: tuple[str, str, str, Picture]) -> object:
    name, content, reasoning, picture = case
    return load_dialect(name).read(Said(content, reasoning), picture)


# --- trees --------------------------------------------------------------------------------------------------------

_DUMP = (
    "UI hierchary dumped to: /dev/tty\n<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
    '<hierarchy rotation="0"><node index="0" text="Save" resource-id="a:id/b" class="android.widget.Button"'
    ' content-desc="" checkable="false" clickable="true" enabled="true" password="false" bounds="[0,1][20,30]">'
    '<node class="android.widget.EditText" text="t" hint="h" bounds="[-1,0][5,6]" checked="true"/></node></hierarchy>'
)
_ROW = ["button", "Save", "", [0, 0, 10, 10], ["focused"]]
_ATSPI = tuple(
    json.dumps(answer)
    for answer in (
        {"nodes": [_ROW, _ROW], "partial": False},
        {"node": _ROW},
        {"error": "e"},
        {"nodes": [], "partial": 1},
    )
)
_TEXT = st.text(st.characters(codec="utf-8"), max_size=12)  # the script of pages makes halves of characters whole
_SIDES = st.none() | st.lists(st.integers(-(2**31), 2**31), min_size=4, max_size=4)
_LOOKS = st.builds(
    Look,
    address=_TEXT,
    title=_TEXT,
    stamp=_TEXT,
    fonts=st.none() | st.floats(allow_nan=False),
    nodes=st.lists(st.tuples(_TEXT, _TEXT, _TEXT, _SIDES, st.lists(st.sampled_from(["checked", "focused"]))).map(list)),
)


def _read_atspi(data: bytes) -> None:
    answer = answer_of(data)
    if answer.get("node") is not None:
        node_of(answer["node"])
    seen_of(answer)


# --- adb ----------------------------------------------------------------------------------------------------------

_DISPLAYS = (
    "Display: mDisplayId=0\n  init=1080x2400 420dpi cur=1080x2400 app=1080x2400\n  mCurrentRotation=ROTATION_90\n"
    "  mCurrentFocus=Window{1a2b u0 com.app/com.app.Main}\n mRotation=1\n",
    "mCurrentFocus=Window{7 u0 Application Not Responding: com.app}\nWindow #3 Window{7 u0 x}:\n fl=SECURE\n"
    "  flags=#81812100",
    "I am_anr  : [0,123,com.app,1,Input dispatching timed out]",
    "package:com.app\n1\n",
)


class _Wire:
    """The writing end of a connection that nobody reads."""

    def __init__(self) -> None:
        self.transport = self

    def write(self, data: bytes) -> None:
        """Take it."""
        del data

    def abort(self) -> None:
        """Nothing is under way."""

    async def drain(self) -> None:
        """At once."""


class _Told(AdbServer):
    """A server that has said, on one connection after the other, what it is told here, and then nothing."""

    def __init__(self, answers: Sequence[bytes]) -> None:
        super().__init__(cast(Scratch, SimpleNamespace(path=Path("/nonexistent"))))
        self._answers = list(answers)

    async def _opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader = asyncio.StreamReader()
        reader.feed_data(self._answers.pop(0) if self._answers else b"")
        reader.feed_eof()
        return reader, cast(asyncio.StreamWriter, _Wire())


def shell(said: bytes, code: int) -> bytes:
    """What a device says to a command, with what the server says before."""
    return b"OKAYOKAY" + struct.pack("<BI", 1, len(said)) + said + struct.pack("<BIB", 3, 1, code)


_OUTPUTS = _bytes((*_DISPLAYS, _DUMP))
_ANSWERS = st.lists(
    st.one_of(
        st.builds(shell, _OUTPUTS, st.integers(0, 255)),
        _OUTPUTS.map(lambda said: b"OKAYOKAY" + said),
        _bytes(("OKAY000cserial\tdevice", "FAIL0004gone", "OKAYOKAY\x03\x00\x00\x00\x00", "OKAYffff", "OKAYFAIL0001x")),
    ),
    max_size=4,
)
_Ask = Callable[[AdbDevice], Awaitable[object]]
_SETTING = SettingState(kind="setting", namespace="system", names=["a"])
_QUESTIONS: tuple[_Ask, ...] = (
    read_display,
    is_secure,
    panel_of,
    boot_id,
    capture,
    lambda device: TreeReader(device).read("screen"),
    lambda device: AnrLog(device).read(),
    lambda device: KeptSettings(
        device, {"com.app": [SettingState(kind="setting", namespace="system", names=["a"])]}
    ).keep(),
    lambda device: device.attach(0.0),
    lambda device: device.push(b"x", "/sdcard/x"),
    lambda device: device.done("ls"),
)


def _ask(case: tuple[_Ask, list[bytes]]) -> object:
    question, answers = case
    return asyncio.run(_answered(question, AdbDevice(_Told(answers), "127.0.0.1:5555")))


async def _answered(question: _Ask, device: AdbDevice) -> object:
    return await question(device)


# --- datasets -----------------------------------------------------------------------------------------------------


@cache
def _dataset() -> dict[str, bytes]:
    """The files of a small sound dataset."""
    with tempfile.TemporaryDirectory() as folder:
        begin(folder).finish()
        return {str(p.relative_to(folder)): p.read_bytes() for p in Path(folder).rglob("*") if p.is_file()}


def _damaged() -> st.SearchStrategy[tuple[str, bytes]]:
    names = [name for name in _dataset() if name.endswith((".json", ".jsonl"))]
    return st.sampled_from(names).flatmap(lambda name: st.tuples(st.just(name), _bytes([_dataset()[name].decode()])))


def _open(case: tuple[str, bytes]) -> None:
    """Everything that is asked of a dataset whose files may be anything."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, data in {**_dataset(), case[0]: case[1]}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        manifest.survey(name)
        check(name)
        manifest.read_run(name)


# --- the network --------------------------------------------------------------------------------------------------

_ADDRESSES = (
    "http://127.0.0.1:80/x?y#z",
    "https://user@[::1]:8443/",
    "http://a.b.example.com",
    "*.example.com:443",
    "http://127.0.0.1:1\\@127.0.0.1:2/",
)
_HEADS = (
    "GET http://127.0.0.1:1/x HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
    "CONNECT [::1]:443 HTTP/1.1\r\n\r\n",
)


def _permit(text: str) -> None:
    allowed = AllowList(["example.com", "127.0.0.1:80"])
    assert not allowed.permits_url(text) or address_of(text).host in ("example.com", "127.0.0.1")
    AllowList([text])


def _request(head: bytes) -> object:
    return egress._request_head(egress._request_of(head + b"\r\n\r\n"))


def targets() -> dict[str, Target]:
    """Everything, by name."""
    names = st.sampled_from(dialect_names())
    replies = st.tuples(names, _changed(_REPLIES), _changed(_REPLIES), st.sampled_from(PICTURES))
    pairs = st.lists(st.tuples(st.sampled_from(_KEYS) | st.text(max_size=8), _changed(_VALUES)), max_size=3)
    return {
        "configuration": Target(_bytes(_CONFIGS), _read_file(lambda path: load_config(str(path), []), "c.yaml")),
        "assignments": Target(pairs, _assign),
        "profile": Target(_bytes(_PROFILES), _read_file(lambda path: load_profile(str(path)), "p.yaml")),
        "application": Target(_bytes(_ENTRIES), _read_file(read_entry, "app.yaml")),
        "tasks": Target(_bytes(_TASKS), _read_file(lambda path: load_tasks(str(path)), "t.yaml")),
        "task lines": Target(_bytes(_LINES), _read_file(lambda path: load_tasks(str(path)), "t.jsonl")),
        "replies": Target(replies, _read_reply),
        "android tree": Target(_bytes((_DUMP,)), _parsed),
        "desktop tree": Target(_bytes(_ATSPI), _read_atspi),
        "web tree": Target(_LOOKS, tree_told),
        "adb": Target(st.tuples(st.sampled_from(_QUESTIONS), _ANSWERS), _ask),
        "dataset": Target(_damaged(), _open, 10),
        "addresses": Target(_changed(_ADDRESSES), _permit),
        "requests": Target(_bytes(_HEADS), _request),
        **{name: Target(LONG_TEXTS, read, 3) for name, read in TEXT_READERS.items()},
    }
