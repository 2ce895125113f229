"""Probes read tables of text, and treat their arguments as data."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from pipeline.app_probes import Table, read_file, read_http, read_page, read_sqlite
from pipeline.app_state import run_script
from pipeline.entry_state import FileProbe, HttpJsonProbe, PageProbe, SqliteProbe

BILLS = {
    "bills": [
        {"what": "Soup & bread", "amount": 8.0, "paid": True, "owers": [{"name": "Ana"}, {"name": "Bo"}], "note": None},
        {"what": "Tram", "amount": 2.75, "paid": False, "owers": [], "note": {"b": 1, "a": "灯"}},
    ]
}


async def ask(answer: object, probe: HttpJsonProbe, **args: str) -> tuple[Table, str]:
    """What the probe reads from a server that answers so, and the path it asked for."""
    asked = []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.raw_path.decode())
        return httpx.Response(200 if answer is not None else 500, json=answer)

    async with httpx.AsyncClient(transport=httpx.MockTransport(handle), base_url="http://127.0.0.1") as client:
        return await read_http(probe, args, client), asked[0]


def test_sqlite_rows_are_text(tmp_path: Path) -> None:
    run_script(
        tmp_path / "a.db", "CREATE TABLE t (a, b, c, d); INSERT INTO t VALUES (1, 2.0, NULL, x'ff'), ('x', 2.5, '', '')"
    )
    probe = SqliteProbe(path="a.db", query="SELECT * FROM t")
    assert read_sqlite(probe, {}, tmp_path) == [["1", "2", "", "ff"], ["x", "2.5", "", ""]]


def test_sqlite_arguments_are_bound(tmp_path: Path) -> None:
    run_script(tmp_path / "a.db", "CREATE TABLE t (a); INSERT INTO t VALUES ('x'' OR 1=1'), ('y')")
    probe = SqliteProbe(path="a.db", query="SELECT a FROM t WHERE a = :name")
    assert read_sqlite(probe, {"name": "x' OR 1=1"}, tmp_path) == [["x' OR 1=1"]]


def test_file_matches_are_rows_of_groups(tmp_path: Path) -> None:
    (tmp_path / "l.txt").write_text(
        "2025-01-02 open A.B\n2025-01-03 open AxB\n2025-02-01 close A.B\n", encoding="utf-8"
    )
    assert read_file(
        FileProbe(path="l.txt", pattern=r"(?m)^(\d{4})\S+ (\w+) {account}$"), {"account": "A.B"}, tmp_path
    ) == [
        ["2025", "open"],
        ["2025", "close"],
    ]
    assert read_file(FileProbe(path="l.txt", pattern="close"), {}, tmp_path) == [["close"]]
    assert read_file(FileProbe(path="l.txt", pattern="(open)|(shut)"), {}, tmp_path) == [["open", ""], ["open", ""]]


def test_a_star_in_the_path_reads_all_files_that_fit(tmp_path: Path) -> None:
    for name, text in (
        ("b/one.txt", "fee 3"),
        ("a/one.txt", "fee 7"),
        ("a/other.txt", "fee 9"),
        ("[x]/one.txt", "fee 4"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    assert read_file(FileProbe(path="*/one.txt", pattern=r"fee (\d)"), {}, tmp_path) == [["4"], ["7"], ["3"]]
    assert read_file(FileProbe(path="{in}/*.txt", pattern=r"fee (\d)"), {"in": "[x]"}, tmp_path) == [["4"]]
    assert read_file(FileProbe(path="c/*.txt", pattern="fee"), {}, tmp_path) == []
    with pytest.raises(FileNotFoundError):
        read_file(FileProbe(path="c/one.txt", pattern="fee"), {}, tmp_path)


def test_a_file_probe_stays_in_the_data_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="leaves the data folder"):
        read_file(FileProbe(path="{name}", pattern="."), {"name": "../../etc/passwd"}, tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "secret.txt").write_text("s")
    with pytest.raises(ValueError, match="leaves the data folder"):
        read_file(FileProbe(path="../*.txt", pattern="."), {}, tmp_path / "inner")


async def test_http_cells_are_selected_by_path() -> None:
    probe = HttpJsonProbe(path="/b", rows="bills", select=["what", "amount", "paid", "owers.name", "note"])
    table, _ = await ask(BILLS, probe)
    assert table == [
        ["Soup & bread", "8", "true", "Ana,Bo", ""],
        ["Tram", "2.75", "false", "", '{"a":"灯","b":1}'],
    ]


async def test_a_number_in_a_path_picks_the_item_of_a_list() -> None:
    table, _ = await ask({"rows": [["Ana", 3], ["Bo", 4]]}, HttpJsonProbe(path="/", rows="rows", select=["1", "0"]))
    assert table == [["3", "Ana"], ["4", "Bo"]]


async def test_http_items_are_filtered_and_arguments_quoted() -> None:
    probe = HttpJsonProbe(path="/b/{what}?q={what}", rows="bills", select=["amount"], where={"what": "{what}"})
    table, asked = await ask(BILLS, probe, what="Soup & bread")
    assert table == [["8"]]
    assert asked == "/b/Soup%20%26%20bread?q=Soup%20%26%20bread"


async def test_one_object_is_one_row() -> None:
    table, _ = await ask({"name": "Trip", "members": [1, 2]}, HttpJsonProbe(path="/", select=["name", "members"]))
    assert table == [["Trip", "[1,2]"]]


async def test_a_missing_field_is_said() -> None:
    with pytest.raises(LookupError, match="no 'price' in the answer"):
        await ask(BILLS, HttpJsonProbe(path="/", rows="bills", select=["price"]))


async def test_a_field_that_may_be_missing_is_empty_then() -> None:
    nodes = {"nodes": [{"label": "Heating"}, {"name": "Clock", "to": {"url": "x"}}]}
    probe = HttpJsonProbe(path="/", rows="nodes", select=["label?", "to.url?"], where={"name?": "Clock"})
    assert (await ask(nodes, probe))[0] == [["", "x"]]


async def test_an_error_answer_is_no_table() -> None:
    with pytest.raises(httpx.HTTPStatusError):
        await ask(None, HttpJsonProbe(path="/", select=["a"]))


@pytest.mark.parametrize(
    ("value", "table"),
    [
        ([["a", 1], ["b", None]], [["a", "1"], ["b", ""]]),
        (["a", 2.0], [["a"], ["2"]]),
        ("text", [["text"]]),
        (None, [[""]]),
        ([], []),
    ],
)
async def test_page_values_become_rows(value: object, table: Table) -> None:
    async def evaluate(_: str) -> object:
        return value

    assert await read_page(PageProbe(script="x"), {}, evaluate) == table


async def test_page_arguments_are_literals() -> None:
    name = "'); alert(\"x\"); ('\n"

    async def evaluate(script: str) -> object:
        return script

    table = await read_page(PageProbe(script="{name}"), {"name": name}, evaluate)
    assert json.loads(table[0][0]) == name


async def test_a_page_probe_needs_a_page() -> None:
    with pytest.raises(LookupError, match="open page"):
        await read_page(PageProbe(script="x"), {}, None)
