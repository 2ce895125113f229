"""Probes: read-only questions to an application, each answered with a table of text.

Every reader takes a probe as the entry wrote it and the check's arguments. Arguments are data: bound in SQL, quoted in
addresses, escaped in patterns, literals in scripts. Knows nothing of what an answer should be.
"""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from pipeline.app_entry import filled
from pipeline.app_state import inside, query
from pipeline.entry_state import FileProbe, HttpJsonProbe, PageProbe, SqliteProbe
from pipeline.found_files import read_text

Args = Mapping[str, str]
PageEval = Callable[[str], Awaitable[object]]
"""Evaluates a script in the open page and gives its value."""

Table = list[list[str]]


def read_sqlite(probe: SqliteProbe, args: Args, root: Path) -> Table:
    """Rows of the query."""
    return [_cells(row) for row in query(inside(root, probe.path), probe.query, args)]


def read_file(probe: FileProbe, args: Args, root: Path) -> Table:
    """One row for every match, file by file: its groups, or the whole match when the pattern has none."""
    pattern = filled(probe.pattern, {name: re.escape(value) for name, value in args.items()})
    texts = [read_text(path) for path in _fitting(probe.path, args, root)]
    return [_cells(match.groups() or (match[0],)) for text in texts for match in re.finditer(pattern, text)]


def _fitting(path: str, args: Args, root: Path) -> list[Path]:
    """The file, which must exist; of a path with `*`, the files that fit, which may be none."""
    if "*" not in path:
        return [inside(root, filled(path, dict(args)))]
    found = root.glob(filled(path, {name: glob.escape(value) for name, value in args.items()}))
    return [inside(root, str(file.relative_to(root))) for file in sorted(found)]


async def read_http(probe: HttpJsonProbe, args: Args, client: httpx.AsyncClient) -> Table:
    """The selected cells of every item that fits."""
    response = await client.get(filled(probe.path, {name: quote(value, safe="") for name, value in args.items()}))
    response.raise_for_status()
    found = _at(response.json(), probe.rows)
    items = found if isinstance(found, list) else [found]
    wanted = {path: filled(value, dict(args)) for path, value in probe.where.items()}
    return [
        [_text(_at(item, path)) for path in probe.select]
        for item in items
        if all(_text(_at(item, path)) == value for path, value in wanted.items())
    ]


async def read_page(probe: PageProbe, args: Args, page_eval: PageEval | None) -> Table:
    """What the script returned: a list of lists, a list, or one value."""
    if page_eval is None:
        raise LookupError("this probe needs an open page")
    value = await page_eval(filled(probe.script, {name: json.dumps(text) for name, text in args.items()}))
    rows = value if isinstance(value, list) else [value]
    return [_cells(row) if isinstance(row, list) else [_text(row)] for row in rows]


def _cells(row: tuple[Any, ...] | list[Any]) -> list[str]:
    return [_text(cell) for cell in row]


def _text(cell: object) -> str:
    """One spelling for a value: nothing is empty, whole numbers have no point, structures are compact JSON."""
    match cell:
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case float() if cell.is_integer():
            return str(int(cell))
        case bytes():
            return cell.hex()
        case dict() | list():
            return json.dumps(cell, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return str(cell)


def _at(value: Any, path: str) -> Any:
    """The value at a dotted path; of a list on the way, the item with that number or the values of all, with commas.

    A path that ends in `?` may lead nowhere.
    """
    if not path:
        return value
    if path.endswith("?"):
        try:
            return _at(value, path[:-1])
        except LookupError:
            return None
    key, _, rest = path.partition(".")
    if isinstance(value, list):
        return _at(value[int(key)], rest) if key.isdigit() else ",".join(_text(_at(item, path)) for item in value)
    if not isinstance(value, dict) or key not in value:
        raise LookupError(f"no '{key}' in the answer")
    return _at(value[key], rest)
