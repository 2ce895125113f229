"""Files that a person has written: text, lines, YAML and JSON lines, or one line that says where they cannot be read.

Knows nothing of what the files are for. What this program writes itself is read where it is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import yaml

from pipeline.errors import ConfigError

_HALF = re.compile(r"\\+u[dD][89a-fA-F][0-9a-fA-F]{2}|\\+U0000[dD][89a-fA-F][0-9a-fA-F]{2}")


class Readable(Protocol):
    """A path, or a resource of a package."""

    def read_bytes(self) -> bytes:
        """All of it."""
        ...


class Line(NamedTuple):
    """A line that is not blank, and its place: `file:number`."""

    place: str
    text: str


def text_of(path: Readable, key: str | None = None) -> str:
    """The text of a file; raises ConfigError naming the key that named it, the file and the line."""
    place = f"{key}: {path}" if key else str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{place}: cannot be read: {error.strerror or error}") from error
    return decoded(data, place)


def decoded(data: bytes, place: str) -> str:
    """The text that bytes hold, in UTF-8 with or without its mark; raises ConfigError naming the line."""
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        byte = data[error.start]
        raise ConfigError(f"{place}:{line}: byte 0x{byte:02x} is not UTF-8; save the file as UTF-8") from error


def lines_of(text: str, place: str) -> Iterator[Line]:
    """The lines that are not blank. Only a line feed ends one: JSON may hold the other ends of lines as they are."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield Line(f"{place}:{number}", line.strip())


def rows_of(text: str, place: str) -> Iterator[tuple[Line, object]]:
    """The values of JSON lines; raises ConfigError naming the line."""
    for line in lines_of(text, place):
        yield line, json_of(line.text, line.place)


def json_of(text: str, place: str) -> object:
    """The value that a JSON text holds; raises ConfigError."""
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{place}: not readable JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{place}: not readable JSON: {error}") from error
    _refuse_halves(value, text, place)
    return value


def yaml_of(text: str, place: str) -> object:
    """The value that a YAML text holds; raises ConfigError naming the line where there is one."""
    try:
        value: object = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{place}: not readable YAML: {' '.join(str(error).split())}") from error
    except (ValueError, RecursionError) as error:
        # Dates and numbers that do not exist, and lists in lists without end.
        raise ConfigError(f"{place}: not readable YAML: {error}") from error
    _refuse_halves(value, text, place)
    return value


def _refuse_halves(value: object, text: str, place: str) -> None:
    """Refuse half of a surrogate pair, escaped: it is no character, and no file can hold it."""
    escape = _HALF.search(text)
    if escape is None:
        return
    try:
        json.dumps(value, ensure_ascii=False, skipkeys=True, default=str).encode()
    except UnicodeEncodeError as error:
        halves = [found for found in _HALF.finditer(text) if error.object[error.start] == chr(int(found[0][-4:], 16))]
        found = halves[0] if halves else escape
        line = 1 + text.count("\n", 0, found.start())
        where = f"{place}:{line}" if "\n" in text else place
        raise ConfigError(f"{where}: {found[0]} is half of a character, which no text can hold") from error
    except ValueError as error:
        raise ConfigError(f"{place}: not readable: {error}") from error
