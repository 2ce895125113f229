"""Locked dependencies are audited; what cannot be asked is said to be unchecked."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from pipeline.apps import app_names, load_app
from tests import audit
from tests.audit import (
    Exemption,
    Package,
    UncheckedError,
    Vulnerability,
    exemptions,
    locked,
    locks,
    open_ones,
    vulnerabilities,
)
from tests.webserver import Reply, Request, WebServer, page

TODAY = datetime.date(2026, 11, 30)
ROOT = Path(__file__).resolve().parents[1]
JINJA, RAY = Package("PyPI", "jinja2", "3.1.6"), Package("PyPI", "ray", "2.60.0")


def knows(request: Request) -> Reply:
    """A database that knows one vulnerability of jinja2."""
    asked = json.loads(request.body)["queries"]
    known = {"vulns": [{"id": "GHSA-1", "modified": "2026-01-01T00:00:00Z"}]}
    results = [known if query["package"] == {"name": "jinja2", "ecosystem": "PyPI"} else {} for query in asked]
    return page(json.dumps({"results": results}))


def exempt(until: datetime.date, package: str = "jinja2") -> Exemption:
    return Exemption(id="GHSA-1", package=package, reason="only of templates by strangers", until=until)


def test_every_lock_of_the_checkout_is_read() -> None:
    apps = [entry for entry in map(load_app, app_names()) if entry.install.kind != "own"]

    assert set(locks(ROOT)) == {ROOT / "requirements.lock", *(entry.lock for entry in apps)}


def test_every_package_of_the_lock_is_asked_about() -> None:
    packages = locked(ROOT / "requirements.lock")

    assert {"ray", "playwright", "moto"} <= {one.name for one in packages}
    assert len(packages) > 100


def test_packages_inside_of_others_are_asked_about_too(tmp_path: Path) -> None:
    places = {"": "1.0.0", "node_modules/@a/b": "2.0.0", "node_modules/c/node_modules/d": "3.0.0"}
    installed = {place: {"version": version} for place, version in places.items()}
    installed["node_modules/alias"] = {"name": "e", "version": "4.0.0"}
    lock = tmp_path / "package-lock.json"
    lock.write_text(json.dumps({"packages": installed}))

    assert locked(lock) == {Package("npm", *one) for one in [("@a/b", "2.0.0"), ("d", "3.0.0"), ("e", "4.0.0")]}
    assert len(locked(ROOT / "catalogs" / "apps" / "node-red" / "package-lock.json")) > 100


def test_a_long_list_is_asked_about_in_parts() -> None:
    with WebServer() as server:
        server.answers["/"] = knows

        many = [Package("PyPI", "jinja2", str(number)) for number in range(1200)]
        assert len(vulnerabilities(many, f"{server.url}/")) == 1200
        assert max(len(json.loads(asked.body)["queries"]) for asked in server.requests) < 1000


def test_what_is_known_of_a_version_is_told() -> None:
    with WebServer() as server:
        server.answers["/"] = knows

        assert vulnerabilities([JINJA, RAY, JINJA._replace(ecosystem="npm")], f"{server.url}/") == [
            Vulnerability("jinja2", "3.1.6", "GHSA-1")
        ]


@pytest.mark.parametrize("said", ["no", "[]", '{"results": []}', '{"results": [{"vulns": 3}]}', '{"results": [5]}'])
def test_an_answer_that_is_none_checks_nothing(said: str) -> None:
    with WebServer() as server:
        server.answers["/"] = page(said)

        with pytest.raises(UncheckedError):
            vulnerabilities([RAY], f"{server.url}/")


@pytest.mark.parametrize(
    ("exemption", "left"),
    [
        (exempt(TODAY), 0),
        (exempt(TODAY - datetime.timedelta(days=1)), 1),
        (exempt(TODAY, "ray"), 1),
    ],
    ids=["holds", "has run out", "is of another package"],
)
def test_an_exception_holds_for_its_package_until_its_day(exemption: Exemption, left: int) -> None:
    assert len(open_ones([Vulnerability("jinja2", "3.1.6", "GHSA-1")], [exemption], TODAY)) == left


def test_the_exceptions_of_this_project_are_of_packages_that_it_locks() -> None:
    packages = {one.name for lock in locks(ROOT) for one in locked(lock)}

    assert {one.package for one in exemptions(ROOT / ".ci" / "audit.yaml")} <= packages


def test_an_exception_without_a_reason_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "audit.yaml"
    path.write_text("- {id: GHSA-1, package: jinja2, reason: '', until: 2027-01-01}")

    with pytest.raises(ValidationError):
        exemptions(path)


def test_a_vulnerability_fails_and_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with WebServer() as server:
        server.answers["/"] = knows

        assert audit.main(f"{server.url}/") == 1

    assert "vulnerable: jinja2" in capsys.readouterr().out


def test_a_database_out_of_reach_fails_nothing_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with WebServer() as server:
        gone = server.url

    assert audit.main(f"{gone}/") == 0
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith("audit: not checked, none of ")
    assert line.endswith(" packages; this fails nothing: 127.0.0.1: ConnectError")
