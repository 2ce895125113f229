"""Answers the read-only questions to desktop programs, from files of the home folder and from what shows.

Arguments are data: escaped in patterns, and in names of files. Knows nothing of what an answer should be.
"""

from __future__ import annotations

import asyncio
import configparser
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

from pipeline.app_entry import filled
from pipeline.envs.machine import Machine
from pipeline.envs.product_readers import Table, read_file
from pipeline.found_files import SPECIAL, spelled
from pipeline.program_probe import FilesProbe, KeyFileProbe, ProductProbe, ProgramProbe, TextProbe, WindowsProbe

_READ_SECONDS = 10.0


async def read_product(probe: ProgramProbe, args: Mapping[str, str], machine: Machine) -> Table:
    """The rows of a probe, none where its file is not there; raises what its reader does when it is not sound."""
    try:
        return await _read(probe, dict(args), machine)
    except FileNotFoundError:
        return []


def path_of(probe: ProgramProbe, args: Mapping[str, str]) -> str | None:
    """The file that a probe opens; nothing for one that opens none."""
    if isinstance(probe, FilesProbe | WindowsProbe):
        return None
    return filled(probe.path, dict(args))


async def _read(probe: ProgramProbe, values: dict[str, str], machine: Machine) -> Table:
    match probe:
        case FilesProbe():
            found = await machine.files(filled(probe.folder, values))
            names = [name for name, value in found.items() if value != SPECIAL]
            fits = filled(probe.fits, {name: re.sub(r"([*?\[])", r"[\1]", text) for name, text in values.items()})
            return [[spelled(name)] for name in sorted(names) if fnmatchcase(name, fits)]
        case TextProbe():
            text = (await machine.read(filled(probe.path, values))).decode()
            pattern = filled(probe.pattern, {name: re.escape(value) for name, value in values.items()})
            return [list(found.groups("") or (found[0],)) for found in re.finditer(pattern, text)]
        case WindowsProbe():
            return [[window.title, window.kind] for window in await machine.windows()]
        case KeyFileProbe():
            return _setting(await machine.read(probe.path), probe.group, filled(probe.key, values))
        case _:
            path = filled(probe.path, values)
            return await _opened(_asked(probe, values), path, await machine.read(path))


async def _opened(probe: ProductProbe, path: str, content: bytes) -> Table:
    """What a reader finds in a file; raises TimeoutError for one that keeps it too long."""
    try:
        async with asyncio.timeout(_READ_SECONDS):
            return await asyncio.to_thread(read_file, probe, content)
    except TimeoutError as error:
        raise TimeoutError(f"{path} cannot be read in {_READ_SECONDS:g} s") from error


def _asked(probe: ProductProbe, values: dict[str, str]) -> ProductProbe:
    """The question with its arguments filled in."""
    texts = {name: filled(text, values) for name, text in probe if isinstance(text, str)}
    return probe.model_copy(update=texts)


def _setting(content: bytes, group: str, key: str) -> Table:
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[method-assign, assignment]  # keys keep their case
    parser.read_string(content.decode())
    return [[parser.get(group, key)]] if parser.has_option(group, key) else []
