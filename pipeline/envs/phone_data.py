"""What applications of a phone have stored, read over adb: rows of content providers, and settings.

Reads are Android's own commands, so that they are the same on every device; a probe's rows and an application's state
(keys and fingerprints, as of applications that run on this machine) are made of them. Knows nothing of screens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pipeline.app_entry import filled
from pipeline.entry_state import ContentProbe, ContentState, PhoneProbe, PhoneState, SettingProbe, SettingState
from pipeline.envs.adb_device import AdbDevice
from pipeline.errors import ProbeError
from pipeline.records import digest

_ROW = re.compile(r"^Row: (\d+) ", re.MULTILINE)
_NOTHING = "No result found."
_NULL = "NULL"
_UNSET = "null"
_ORDER = "_id"
_NUMBER = re.compile(r"-?\d+")
_CHANGED = "it changed while it was read"


async def read_phone(device: AdbDevice, probe: PhoneProbe, args: Mapping[str, str]) -> list[list[str]]:
    """The rows of a probe; raises ProbeError when the phone refuses, EnvError when it does not answer."""
    match probe:
        case SettingProbe():
            value = await _setting(device, probe.namespace, filled(probe.name, dict(args)))
            return [] if value is None else [[value]]
        case ContentProbe():
            where = {column: filled(text, dict(args)) for column, text in probe.where.items()}
            table = await _table(device, probe.uri, where)
            columns = [await table.column(column) for column in probe.select]
            return [list(cells) for cells in zip(*columns, strict=True)]


async def phone_state(device: AdbDevice, sources: Sequence[PhoneState]) -> dict[str, str]:
    """The state: a fingerprint for every key of every source; raises as `read_phone` does."""
    state: dict[str, str] = {}
    for source in sources:
        match source:
            case SettingState():
                for name in source.names:
                    value = await _setting(device, source.namespace, name)
                    if value is not None:
                        state[f"{source.namespace}/{name}"] = value
            case ContentState():
                state.update(await _rows(device, source))
    return state


def rows_of(text: str) -> list[str]:
    """What stands in each row of what `content query` prints, which may go over several lines.

    Raises ProbeError when it is none.
    """
    if text.strip() == _NOTHING:
        return []
    starts: list[re.Match[str]] = []
    for found in _ROW.finditer(text):
        # A value may hold what looks like a row: rows are numbered, so that only the next number begins one.
        if int(found[1]) == len(starts):
            starts.append(found)
    if not starts or starts[0].start() != 0:
        raise ProbeError("unreadable", f"the phone answered {text.strip()[:200]!r}")
    ends = [found.start() for found in starts[1:]] + [len(text)]
    return [text[found.end() : end].removesuffix("\n") for found, end in zip(starts, ends, strict=True)]


async def _rows(device: AdbDevice, source: ContentState) -> dict[str, str]:
    """Each row under its key; the key's columns are asked for one by one, as only so values can hold anything."""
    table = await _table(device, source.uri, {})
    keys = [await table.column(column) for column in source.key]
    rows = await table.rows(None)
    place = source.uri.removeprefix("content://")
    return {"/".join([place, *parts]): digest("row", row) for *parts, row in zip(*keys, rows, strict=True)}


class _Table(NamedTuple):
    """Rows of a provider that are known by their numbers, so that no text can pass for a row of its own."""

    device: AdbDevice
    uri: str
    where: Mapping[str, str]
    ids: list[str]

    async def column(self, name: str) -> list[str]:
        """The cells of a column, in the order of the rows; a cell without a value is an empty one."""
        if name == _ORDER:
            return self.ids
        cells = [row.removeprefix(f"{name}=") for row in await self.rows(name)]
        if _NULL not in cells:
            return cells
        # A text may be this word.
        absent = set(await _numbers(self.device, self.uri, _also(_condition(self.where), f"{name} IS NULL")))
        return ["" if number in absent else cell for number, cell in zip(self.ids, cells, strict=True)]

    async def rows(self, column: str | None) -> list[str]:
        """What is printed of each row, of one column or of all; raises ProbeError."""
        said = await _said(self.device, self.uri, column, _condition(self.where))
        if len(_ROW.findall(said)) == len(self.ids):
            return rows_of(said)
        # A text holds what looks like a row: asked for by itself, a row is all that is printed.
        return [await self._row(column, number) for number in self.ids]

    async def _row(self, column: str | None, number: str) -> str:
        said = await _said(self.device, self.uri, column, _also(_condition(self.where), f"{_ORDER}={number}"))
        first = _ROW.match(said)
        if first is None or first[1] != "0":
            raise ProbeError("unreadable", f"{self.uri}: {_CHANGED}")
        return said[first.end() :].removesuffix("\n")


async def _table(device: AdbDevice, uri: str, where: Mapping[str, str]) -> _Table:
    return _Table(device, uri, where, await _numbers(device, uri, _condition(where)))


async def _numbers(device: AdbDevice, uri: str, condition: str) -> list[str]:
    """The numbers of the rows; raises ProbeError where they have none or do not tell them apart."""
    numbers = [row.removeprefix(f"{_ORDER}=") for row in rows_of(await _said(device, uri, _ORDER, condition))]
    if not all(map(_NUMBER.fullmatch, numbers)) or len(set(numbers)) < len(numbers):
        raise ProbeError("unreadable", f"{uri}: its `{_ORDER}` does not number its rows")
    return numbers


async def _said(device: AdbDevice, uri: str, column: str | None, condition: str) -> str:
    words = ["content", "query", "--uri", uri, "--sort", _ORDER]
    if column is not None:
        words += ["--projection", column]
    if condition:
        words += ["--where", condition]
    ran = await device.run(*words)
    if ran.code != 0 or ran.err:
        raise ProbeError("unreadable", f"content query {uri}: {ran.complaint}")
    return ran.text


def _condition(where: Mapping[str, str]) -> str:
    return " AND ".join(f"{name}={_literal(value)}" for name, value in where.items())


def _also(*conditions: str) -> str:
    return " AND ".join(filter(None, conditions))


def _literal(value: str) -> str:
    """The value as SQL spells a text."""
    return "'" + value.replace("'", "''") + "'"


async def _setting(device: AdbDevice, namespace: str, name: str) -> str | None:
    ran = await device.run("settings", "get", namespace, name)
    if ran.code != 0:
        raise ProbeError("unreadable", f"settings get {namespace} {name}: {ran.complaint}")
    value = ran.text.removesuffix("\n")
    return None if value == _UNSET else value
