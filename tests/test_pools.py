"""The pools that ship, and the builder that makes them from facts."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from catalogs.build_pools import POOLS, build, load_rules, main, read_facts
from catalogs.pools import WebCategory, WebEntry, desktop_pool, mobile_pool, web_pool
from pipeline.cli import app_for
from pipeline.commands.shell import run

FACTS = Path(os.environ.get("PATHPROOF_POOL_FACTS") or Path(__file__).parents[2] / "shared" / "data" / "pools")
LISTED = pytest.mark.skipif(not (FACTS / "web_domains.csv").is_file(), reason="the facts of the pools are not here")


def site(domain: str, **more: str) -> dict[str, str]:
    fields = {
        "category": "games",
        "rank": "5",
        "source": "ranked+manual",
        "core": "1",
        "benchmarks": "",
        "evidence": "",
    }
    return {"domain": domain, **fields, **more}


def phone_app(package: str, **more: str) -> dict[str, str]:
    fields = {"app_name": "Notes", "language": "en", "category": "notes", "source": "AndroidLab", "kind": "commercial"}
    return {"package_name": package, **fields, **more}


def program(name: str, **more: str) -> dict[str, str]:
    fields = {
        "platform": "linux",
        "task_domain": "clock",
        "benchmarks": "",
        "debian_package": "x",
        "runs_under_xvfb": "yes",
    }
    return {"app": name, **fields, **more}


def test_the_web_pool_covers_every_category() -> None:
    entries = web_pool()

    assert len(entries) >= 4000
    assert {entry.category for entry in entries} == set(get_args(WebCategory))
    assert max(Counter(entry.category for entry in entries if entry.core).values()) <= 300


def test_the_mobile_pool_has_both_languages() -> None:
    languages = Counter(entry.language for entry in mobile_pool())

    assert languages["zh"] >= 100
    assert languages["en"] >= 70


def test_the_desktop_pool_knows_its_packages() -> None:
    packages = {entry.program: entry.debian_package for entry in desktop_pool()}

    assert packages["LibreOffice Calc"] == "libreoffice-calc"
    assert packages["Nautilus"] == "nautilus"


def test_names_occur_once_and_in_order() -> None:
    domains = [entry.domain for entry in web_pool()]
    ranks = [entry.rank for entry in web_pool() if entry.rank is not None]

    assert len(set(domains)) == len(domains)
    assert ranks == sorted(ranks)
    assert len({entry.package for entry in mobile_pool()}) == len(mobile_pool())


def test_what_ships_meets_the_rules() -> None:
    rules = load_rules()

    assert [entry.domain for entry in web_pool() if rules.refusal(entry.domain, entry.label)] == []


@LISTED
def test_the_shipped_files_are_built_again_byte_for_byte(tmp_path: Path) -> None:
    code = main(["--from", str(FACTS), "--to", str(tmp_path)])

    assert code == 0
    names = ["web.csv", "mobile.csv", "desktop.csv", "dropped.csv"]
    assert {name: (tmp_path / name).read_bytes() for name in names} == {
        name: (POOLS / name).read_bytes() for name in names
    }


@LISTED
def test_the_order_of_the_facts_is_no_matter() -> None:
    web, mobile, desktop = (
        read_facts(FACTS / f"{name}.csv") for name in ("web_domains", "mobile_apps", "desktop_apps")
    )
    expected = build(web, mobile, desktop, load_rules()).files()
    for rows in (web, mobile, desktop):
        random.Random(3).shuffle(rows)

    assert build(web, mobile, desktop, load_rules()).files() == expected


def test_spellings_of_one_site_are_one_entry() -> None:
    built = build([site("WWW.Chess.example"), site("chess.example"), site("chess.example.")], [], [], load_rules())

    assert [entry.domain for entry in built.web] == ["chess.example"]
    assert [(entry.name, entry.reason) for entry in built.dropped] == [("chess.example", "duplicate")] * 2


@pytest.mark.parametrize(
    ("domain", "reason"),
    [
        ("freeporn.example", "adult"),
        ("my-bets.example", "gambling"),
        ("casino-royal.example", "gambling"),
        ("best.vpn.example", "evasion"),
        ("someone.github.io", "no_place"),
    ],
)
def test_what_is_not_safe_for_work_stays_out(domain: str, reason: str) -> None:
    built = build([site(domain)], [], [], load_rules())

    assert built.web == []
    assert [entry.reason for entry in built.dropped] == [reason]


@pytest.mark.parametrize(
    "domain", ["sussex.ac.uk", "alphabet.example", "gamblingcommission.gov.uk", "stakeholder.example"]
)
def test_a_name_that_only_looks_like_it_stays_in(domain: str) -> None:
    assert [entry.domain for entry in build([site(domain)], [], [], load_rules()).web] == [domain]


def test_the_heading_of_a_source_keeps_a_site_out() -> None:
    built = build([site("blue.example", evidence="category-porn:3")], [], [], load_rules())

    assert [entry.reason for entry in built.dropped] == ["adult"]


@pytest.mark.parametrize(
    "fact",
    [site("no dots"), site("a.example", rank="0"), site("a.example", category="odd"), site("a.example", source="")],
)
def test_a_malformed_site_is_left_out_with_what_is_wrong(fact: dict[str, str]) -> None:
    built = build([fact], [], [], load_rules())

    assert built.web == []
    assert built.dropped[0].reason.startswith("malformed")


def test_where_a_fact_comes_from_goes_with_it() -> None:
    web = [site("a.example", source="kagi_bangs+ranked", evidence="Shopping/Online:2", benchmarks="WebVoyager")]
    mobile = [phone_app("a.b", source="AndroidLab|AndroidLab(setup)")]
    desktop = [program("Clock", benchmarks="OSWorld:24(os)|(stand-in for Watch)")]

    built = build(web, mobile, desktop, load_rules())

    entry = WebEntry(
        domain="a.example",
        category="games",
        rank=5,
        core=True,
        sources=("kagi_bangs", "ranked"),
        label="Shopping/Online",
        benchmarks=("WebVoyager",),
    )
    assert built.web == [entry]
    assert built.mobile[0].sources == ("AndroidLab",)
    assert built.desktop[0].sources == ("Debian", "OSWorld")


def test_several_programs_in_one_row_are_taken_apart() -> None:
    built = build([], [], [program("Microsoft Excel / Word / PowerPoint", benchmarks="OSWorld")], load_rules())

    assert [entry.program for entry in built.desktop] == ["Microsoft Excel", "Microsoft PowerPoint", "Microsoft Word"]


def test_the_builder_says_which_file_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--from", str(tmp_path), "--to", str(tmp_path)])

    assert code == 2
    assert "web_domains.csv" in capsys.readouterr().err


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[list[str]]:
    assert run(app_for(), ["catalog", "show", *arguments]) == 0
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


def test_show_has_help_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app_for(), ["catalog", "show", "--help"]) == 0
    assert "  pathproof catalog show" in capsys.readouterr().out.split("Examples:")[1]


def test_show_counts_the_pools(capsys: pytest.CaptureFixture[str]) -> None:
    assert [row[:2] for row in shown(capsys)] == [
        ["web", str(len(web_pool()))],
        ["mobile", str(len(mobile_pool()))],
        ["desktop", str(len(desktop_pool()))],
    ]


def test_show_counts_the_categories_of_a_pool(capsys: pytest.CaptureFixture[str]) -> None:
    rows = shown(capsys, "web")

    assert len(rows) == 19
    assert sum(int(count) for _, count in rows) == len(web_pool())


def test_show_lists_what_the_filters_leave(capsys: pytest.CaptureFixture[str]) -> None:
    rows = shown(capsys, "mobile", "--language", "zh", "--category", "shopping", "--limit", "3")

    assert len(rows) == 3
    assert {(row[2], row[3]) for row in rows} == {("zh", "shopping")}


def test_show_lists_the_capabilities_of_an_application(capsys: pytest.CaptureFixture[str]) -> None:
    rows = shown(capsys, "trac")

    assert any(row[0].strip() == "create_ticket" and row[-1] == "trac.tickets.create" for row in rows)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(["web", "--category", "x"], "--category"), (["web", "--language", "zh"], "--language"), (["nowhere"], "nowhere")],
)
def test_show_refuses_what_does_not_exist(capsys: pytest.CaptureFixture[str], arguments: list[str], named: str) -> None:
    assert run(app_for(), ["catalog", "show", *arguments]) == 2
    assert named in capsys.readouterr().err
