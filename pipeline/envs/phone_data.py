"""What applications of a phone have stored, read over adb: rows of content providers, and settings.

Reads are Android's own commands, so that they are the same on every device; a probe's rows and an application's state
(keys and fingerprints, as of applications that run on this machine) are made of them. Knows nothing of screens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pipeline.app_entry import ContentProbe, ContentState, PhoneProbe, PhoneState, SettingProbe, SettingState, filled
from pipeline.envs.adb_device import AdbDevice
from pipeline.errors import ProbeError
from pipeline.records import digest

_ROW = re.compile(r"^Row: (\d+) ", re.MULTILINE)
_NOTHING = "No result found."
_NULL = "NULL"
_UNSET = "null"
_ORDER = "_id"
_UNEQUAL = "its columns do not have the same rows: it changed meanwhile, or a text holds what looks like the next row"


async def read_phone(device: AdbDevice, probe: PhoneProbe, args: Mapping[str, str]) -> list[list[str]]:
    """The rows of a probe; raises ProbeError when the phone refuses, EnvError when it does not answer."""
    match probe:
        case SettingProbe():
            value = await _setting(device, probe.namespace, filled(probe.name, dict(args)))
            return [] if value is None else [[value]]
        case ContentProbe():
            where = {column: filled(text, dict(args)) for column, text in probe.where.items()}
            columns = [await _column(device, probe.uri, column, where) for column in probe.select]
            if len({len(cells) for cells in columns}) > 1:
                raise ProbeError("unreadable", f"{probe.uri}: {_UNEQUAL}")
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
    keys = [await _column(device, source.uri, column, {}) for column in source.key]
    rows = await _queried(device, source.uri)
    if any(len(column) != len(rows) for column in keys):
        raise ProbeError("unreadable", f"{source.uri}: {_UNEQUAL}")
    place = source.uri.removeprefix("content://")
    return {"/".join([place, *parts]): digest("row", row) for *parts, row in zip(*keys, rows, strict=True)}


async def _column(device: AdbDevice, uri: str, column: str, where: Mapping[str, str]) -> list[str]:
    cells = [row.removeprefix(f"{column}=") for row in await _queried(device, uri, column, where)]
    return ["" if cell == _NULL else cell for cell in cells]


async def _queried(
    device: AdbDevice, uri: str, column: str | None = None, where: Mapping[str, str] | None = None
) -> list[str]:
    words = ["content", "query", "--uri", uri, "--sort", _ORDER]
    if column is not None:
        words += ["--projection", column]
    if where:
        words += ["--where", " AND ".join(f"{name}={_literal(value)}" for name, value in where.items())]
    ran = await device.run(*words)
    if ran.code != 0 or ran.err:
        raise ProbeError("unreadable", f"content query {uri}: {ran.complaint}")
    return rows_of(ran.text)


def _literal(value: str) -> str:
    """The value as SQL spells a text."""
    return "'" + value.replace("'", "''") + "'"


async def _setting(device: AdbDevice, namespace: str, name: str) -> str | None:
    ran = await device.run("settings", "get", namespace, name)
    if ran.code != 0:
        raise ProbeError("unreadable", f"settings get {namespace} {name}: {ran.complaint}")
    value = ran.text.removesuffix("\n")
    return None if value == _UNSET else value
