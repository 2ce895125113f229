"""The command that shows coverage: a table, a last line of figures, a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from catalogs.coverage import Covered
from pipeline.cli import app_for
from pipeline.commands.shell import run
from pipeline.coverage_page import coverage_page
from pipeline.doctor import chromium
from pipeline.records import Validation
from tests.datasets import attempt, begin, judging, put, verdict
from tests.records import NOON
from tests.rounds import capability, create_task, later

FIGURES = r"domains=(\d+) categories=(\d+) mobile_apps=(\d+) apps25=(\d+) tasks=(\d+)"


def lines_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """What the command prints on standard output."""
    assert run(app_for(), ["catalog", "coverage", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run with one capability, one accepted and one failed trajectory, and a task that no longer holds."""
    fine, gone, lapsed = create_task(), create_task(language="zh"), create_task(language="de")
    committer = begin(tmp_path / "run", [fine, gone, lapsed])
    put(committer, tmp_path / "run", [attempt("t1", task=fine), attempt("t2", task=fine)])
    validations = [
        Validation(task_id=gone.task_id, validated_at=NOON, held=True, reason=None, expires_at=None),
        Validation(task_id=gone.task_id, validated_at=later(1), held=False, reason="x", expires_at=None),
        Validation(task_id=lapsed.task_id, validated_at=NOON, held=True, reason=None, expires_at=later(1)),
        Validation(task_id=fine.task_id, validated_at=NOON, held=True, reason=None, expires_at=None),
    ]
    committer.record([capability(), judging(), verdict("t1-1"), verdict("t2-1", "fail"), *validations])
    committer.finish()
    return tmp_path / "run"


def test_without_a_folder_the_shipped_catalogs_are_all_untried(capsys: pytest.CaptureFixture[str]) -> None:
    lines = lines_of(capsys)

    cells = [line.split("\t") for line in lines[1:-1]]
    table = [row for row in cells if len(row) == 10]
    found = re.fullmatch(FIGURES, lines[-1])
    assert {row[4] for row in table} == {"untried"}
    assert {"trac", "fava"} <= {row[0] for row in table}
    assert found is not None
    domains, categories, mobile_apps, apps25, tasks = map(int, found.groups())
    assert (domains >= 4000, categories, mobile_apps >= 170, tasks >= 40) == (True, 19, True, True)
    per_app = {row[0]: int(row[2]) for row in cells if len(row) == 8 and row[0] != "app"}
    assert apps25 == sum(count >= 25 for count in per_app.values())


def test_a_run_is_shown_beside_the_shipped_catalogs(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    lines = lines_of(capsys, str(folder))

    assert "demo\tweb\tdemo.create\tdocumented\taccepted\t3\t1\t1\t0\t2026-03-05T12:00Z" in lines
    assert "demo\tweb\t1\t1\t0\t0\t0\t2026-03-05T12:00Z" in lines
    assert any(line.startswith("trac\tweb\ttrac.") for line in lines)
    assert lines[-1].endswith(" tasks=1")


def test_the_page_is_written_where_it_is_wanted(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    target = folder.parent / "coverage.html"

    lines_of(capsys, str(folder), "--html", str(target))

    assert "demo.create" in target.read_text(encoding="utf-8")


def test_wrong_arguments_are_told_in_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(app_for(), ["catalog", "coverage", str(tmp_path / "none")]) == 2
    assert run(app_for(), ["catalog", "coverage", "--html", "s3://bucket/x.html"]) == 2
    assert capsys.readouterr().err.count("\n") == 2


# --- the page -----------------------------------------------------------------------------------------------------

ROWS = [
    Covered("demo.tickets.create", "demo", "web", "confirmed", 2, accepted=3, failed=1, last_seen=NOON),
    Covered("demo.tickets.close", "demo", "web", "confirmed", 2, accepted=1, failed=9, last_seen=NOON),
    Covered("demo.wiki.edit", "demo", "web", "renamed", 1, failed=2, last_seen=NOON),
    Covered("demo.wiki.<b>read", "demo", "web", "documented", 1, other=1),
    Covered("mail.send", "mail", "mobile", "documented"),
]


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """The page as a browser without a network shows it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), chromium_sandbox=False)
        opened = browser.new_context(offline=True).new_page()
        opened.set_content(coverage_page(ROWS, "two runs"))
        yield opened
        browser.close()


def test_every_capability_has_a_square(page: Page) -> None:
    squares = page.locator(".squares .sq")

    assert squares.count() == len(ROWS)
    kinds = [(squares.nth(place).get_attribute("class") or "").split()[1] for place in range(len(ROWS))]
    assert kinds == ["accepted", "accepted", "other", "failed", "untried"]
    told = page.get_by_label("demo.tickets.create · confirmed · 3 accepted, 1 failed, 0 other · last seen 2026-03-05")
    assert told.count() == 1


def test_squares_are_drawn(page: Page) -> None:
    for place in range(len(ROWS)):
        box = page.locator(".squares .sq").nth(place).bounding_box()
        assert box is not None and (box["width"], box["height"]) == (20, 20)


def test_a_lower_yield_is_paler(page: Page) -> None:
    strengths = [
        page.get_by_label(name).evaluate("node => getComputedStyle(node, '::before').opacity")
        for name in ("demo.tickets.create", "demo.tickets.close")
    ]

    assert float(strengths[0]) > float(strengths[1]) > 0


def test_what_is_not_as_its_catalog_says_is_marked(page: Page) -> None:
    assert page.locator(".squares .sq.marked").all_inner_texts() == ["R"]


def test_figures_are_summed_up(page: Page) -> None:
    assert [text.split("\n")[0] for text in page.locator(".tile").all_inner_texts()] == ["5", "2", "2", "40%", "1"]


def test_each_application_has_its_table(page: Page) -> None:
    page.locator("details.run summary").first.click()

    rows = page.locator("details.run").first.locator("tr").all_inner_texts()
    assert rows[1].split("\t") == ["demo.tickets.close", "confirmed", "accepted", "2", "1", "9", "0", "2026-03-05"]


def test_text_of_catalogs_is_text(page: Page) -> None:
    assert page.locator("code b").count() == 0
    assert page.get_by_text("demo.wiki.<b>read").count() == 1


def test_without_capabilities_there_is_still_a_page() -> None:
    assert "–" in coverage_page([], "nothing")
