"""Builds the pools from listed facts: `python -m catalogs.build_pools --from DIR`.

The files written are a function of the facts and of `catalogs/pools/rules.yaml` alone: cleaned, without duplicates,
sorted, byte for byte the same each time. What was left out is written down as well, with the reason. It looks at
names only: it opens no site and installs no app.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import Field, ValidationError

from catalogs.pools import SEPARATOR, DesktopEntry, Entry, MobileEntry, WebEntry
from pipeline.actions import Model
from pipeline.errors import ConfigError, PathproofError, first_problem

POOLS = Path(__file__).parent / "pools"
Facts = Iterable[Mapping[str, str]]

_XVFB = {"yes": "yes", "no": "no", "not tested": "untested", "n/a": "impossible"}
_REMARKS = ("hand label", "in ")
"""How evidence begins that is a remark, and not the heading under which a source has the site."""


class Refused(Model):
    """One kind of what has no place in the pools, by name."""

    stems: list[str]
    words: list[str]
    domains: list[str]
    labels: list[str]


class Rules(Model):
    """`rules.yaml`."""

    refuse: dict[str, Refused]
    keep: dict[str, str]
    rename: dict[str, list[str]]

    def refusal(self, name: str, label: str = "") -> str | None:
        """Why a name has no place in the pools; None when it has one."""
        if name in self.keep:
            return None
        heading = label.lower()
        return next((kind for kind, refused in self.refuse.items() if _refuses(refused, name.lower(), heading)), None)


class Dropped(Model):
    """A listed fact that is in no pool, and why."""

    pool: str
    name: str = Field(min_length=1)
    reason: str


class Built(NamedTuple):
    """The three pools, and what was left out of them."""

    web: list[WebEntry]
    mobile: list[MobileEntry]
    desktop: list[DesktopEntry]
    dropped: list[Dropped]

    def files(self) -> dict[str, str]:
        """The text of each file, by its name."""
        return {
            "web.csv": table(WebEntry, self.web),
            "mobile.csv": table(MobileEntry, self.mobile),
            "desktop.csv": table(DesktopEntry, self.desktop),
            "dropped.csv": table(Dropped, self.dropped),
        }


def load_rules() -> Rules:
    """The rules that ship with the pools."""
    text = (resources.files("catalogs") / "pools" / "rules.yaml").read_text(encoding="utf-8")
    return Rules.model_validate(yaml.safe_load(text))


def build(web: Facts, mobile: Facts, desktop: Facts, rules: Rules) -> Built:
    """The pools from the facts, whatever the order these come in."""
    dropped: list[Dropped] = []
    sites = _kept(WebEntry, "web", map(_site, web), rules, dropped)
    apps = _kept(MobileEntry, "mobile", map(_app, mobile), rules, dropped)
    renamed = (_program(fact, name) for fact in desktop for name in rules.rename.get(fact["app"], [fact["app"]]))
    programs = _kept(DesktopEntry, "desktop", renamed, rules, dropped)
    return Built(
        web=sorted(sites, key=lambda entry: (entry.rank is None, entry.rank or 0, entry.domain)),
        mobile=sorted(apps, key=lambda entry: (entry.language, entry.package)),
        desktop=sorted(programs, key=lambda entry: (entry.system, entry.program.lower())),
        dropped=sorted(dropped, key=lambda entry: (entry.pool, entry.name, entry.reason)),
    )


def table(row: type[Model], entries: Sequence[Model]) -> str:
    """Entries as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(row.model_fields), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in entry} for entry in entries)
    return text.getvalue()


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the facts, write the pools; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", type=Path, required=True, help="folder of the listed facts")
    parser.add_argument("--to", type=Path, default=POOLS, help="where the pools are written")
    given = parser.parse_args(arguments)
    try:
        web, mobile, desktop = (
            read_facts(given.source / f"{name}.csv") for name in ("web_domains", "mobile_apps", "desktop_apps")
        )
        built = build(web, mobile, desktop, load_rules())
    except PathproofError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    for name, text in built.files().items():
        (given.to / name).write_text(text, encoding="utf-8")
    counts = f"{len(built.web)} sites, {len(built.mobile)} apps, {len(built.desktop)} programs"
    sys.stderr.write(f"{counts}; {len(built.dropped)} left out\n")
    return 0


def read_facts(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file; raises ConfigError when there is none."""
    if not path.is_file():
        raise ConfigError(f"--from: there is no {path}")
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


class _Named(NamedTuple):
    """A fact on its way into a pool: what it is called, under which heading it stands, and the fields of its entry."""

    name: str
    label: str
    fields: Mapping[str, object]


def _kept(row: type[Entry], pool: str, facts: Iterable[_Named], rules: Rules, dropped: list[Dropped]) -> list[Entry]:
    """The entries that may stay, one per name: of equals the first by its text, so that their order is no matter."""
    kept: dict[str, Entry] = {}
    for fact in sorted(facts, key=lambda fact: (fact.name, repr(fact.fields))):
        reason = rules.refusal(fact.name, fact.label) or ("duplicate" if fact.name in kept else None)
        if reason is None:
            try:
                kept[fact.name] = row.model_validate(fact.fields)
            except ValidationError as error:
                reason = f"malformed {first_problem(error)}"
        if reason is not None:
            dropped.append(Dropped(pool=pool, name=fact.name, reason=reason))
    return list(kept.values())


def _site(fact: Mapping[str, str]) -> _Named:
    domain = fact["domain"].strip().lower().rstrip(".").removeprefix("www.")
    evidence = fact["evidence"]
    label = "" if evidence.startswith(_REMARKS) else re.sub(r":\d+", "", evidence)
    fields = {
        "domain": domain,
        "category": fact["category"],
        "rank": fact["rank"],
        "core": fact["core"],
        "sources": _sorted(fact["source"].split("+")),
        "label": label,
        "benchmarks": _sorted(fact["benchmarks"].split("|")),
    }
    return _Named(domain, label, fields)


def _app(fact: Mapping[str, str]) -> _Named:
    package = fact["package_name"].strip()
    fields = {
        "package": package,
        "name": fact["app_name"].strip(),
        "language": fact["language"],
        "category": fact["category"],
        "kind": fact["kind"],
        "sources": _sorted(source.partition("(")[0] for source in fact["source"].split("|")),
    }
    return _Named(package, fact["category"], fields)


def _program(fact: Mapping[str, str], name: str) -> _Named:
    named = (re.match(r"[A-Za-z][\w-]*", benchmark) for benchmark in fact["benchmarks"].split("|"))
    sources = _sorted([*(found[0] for found in named if found), "Debian" if fact["debian_package"] else ""])
    fields = {
        "program": name,
        "system": fact["platform"],
        "category": fact["task_domain"],
        "debian_package": fact["debian_package"],
        "under_xvfb": _XVFB.get(fact["runs_under_xvfb"], ""),
        "sources": sources,
    }
    return _Named(name, fact["task_domain"], fields)


def _refuses(refused: Refused, name: str, heading: str) -> bool:
    pieces = re.split(r"[.-]", name)
    return (
        any(stem in name for stem in refused.stems)
        or any(word in pieces for word in refused.words)
        or any(name == domain or name.endswith(f".{domain}") for domain in refused.domains)
        or any(re.search(rf"\b{re.escape(label)}\b", heading) for label in refused.labels)
    )


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name}))


def _cell(value: object) -> object:
    match value:
        case tuple():
            return SEPARATOR.join(value)
        case bool():
            return int(value)
        case _:
            return value


if __name__ == "__main__":
    sys.exit(main())
