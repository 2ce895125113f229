"""Is a dataset folder whole? Every object, part, schema and reference, each flaw named.

Reads everything and changes nothing. What a killed run left behind is told apart from what is wrong: it never counted,
so it is a leftover and no error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from pipeline import manifest
from pipeline.actions import Model
from pipeline.agreement import DisagreementKind, disagreements, wrong_contents
from pipeline.closing import hash_of
from pipeline.errors import PathproofError
from pipeline.file_names import (
    EPOCHS,
    MANIFEST,
    REPORT_FILE,
    RUN_FILE,
    VIEWS_FILE,
    claimed_epoch,
    object_name,
    part_name,
)
from pipeline.manifest import PartRef, RunFile, Survey
from pipeline.query import connect
from pipeline.s3_storage import StoreError
from pipeline.schema import LATER, TABLES
from pipeline.soundness import Flaw, FlawKind, inspected
from pipeline.storage import LOCK_NAMES, Address, Storage, store_errors
from pipeline.vanishing import looked_again, vanishing

Kind = (
    FlawKind
    | DisagreementKind
    | Literal[
        "unlisted_part",
        "replaced_part",
        "stray_file",
        "unreadable_manifest",
        "wrong_manifest",
        "missing_manifest",
        "sealed_manifest",
        "table_without_part",
        "wrong_content",
        "missing_views",
        "wrong_views",
    ]
)


class Finding(Model):
    """One thing that is wrong (`error`), or that was left behind and does not count (`leftover`)."""

    severity: Literal["error", "leftover"]
    kind: Kind
    path: str
    detail: str


_ROOT = frozenset({RUN_FILE, VIEWS_FILE, REPORT_FILE, *LOCK_NAMES})

_MENDING_VIEWS = "whatever is published next writes it anew"


def check(address: Address) -> list[Finding]:
    """Everything found in the dataset, errors first; raises ConfigError when it is none."""
    storage = manifest.storage_with_manifest(address)
    with store_errors():
        findings = looked_again(lambda: _findings(storage))
    return sorted(findings, key=lambda finding: (finding.severity, finding.path, finding.kind))


def _findings(storage: Storage) -> list[Finding]:
    inspection = inspected(storage, hashed=lambda _: True)
    found, parts, flaws = inspection
    listed = {line.path for line in found.lines if isinstance(line, PartRef)}
    findings = [
        *_manifest_findings(storage, found),
        *(_error(flaw.kind, path, flaw.detail) for path, flaws_here in flaws.items() for flaw in flaws_here),
        *_folder_findings(storage),
        *_stray_findings(storage),
        *_view_findings(storage, found),
        *_file_findings(storage, set(parts), listed, _open_epoch(storage, found)),
    ]
    findings += _odd_findings(storage, {finding.path for finding in findings})
    if found.whole:
        findings += _tables_without_part(found, parts.values())
        with vanishing({storage: inspection.sound}), connect({storage: inspection.sound}) as tables:
            found_wrong = disagreements(tables, _run_id(storage), _tables_of(flaws))
            findings += [_error(kind, table, detail) for kind, table, detail in found_wrong]
    with vanishing({storage: inspection.sound}):
        wrong = wrong_contents(storage, inspection.sound)
        findings += [_error("wrong_content", path, detail) for path, detail in wrong]
    return findings


def _open_epoch(storage: Storage, found: Survey) -> int:
    """The first epoch whose unlisted parts are no leftovers: the newest when its run is finished, else none.

    While part of the manifest cannot be read, what it lists cannot be told from what was never listed.
    """
    newest = max((epoch.epoch for epoch in found.epochs), default=0)
    if not found.whole:
        return newest + 1
    run = _run(storage)
    return newest if run and run.state == "finished" and run.epoch == newest else newest + 1


def _run(storage: Storage) -> RunFile | None:
    """`run.json`, when it can be read; when not, that is found elsewhere."""
    try:
        return manifest.read_run(storage)
    except PathproofError:
        return None


def _manifest_findings(storage: Storage, found: Survey) -> Iterator[Finding]:
    try:
        manifest.read_run(storage)
    except PathproofError as error:
        yield _error("unreadable_manifest", RUN_FILE, str(error))
    for problem in found.problems:
        kind: Kind = "wrong_manifest" if problem.altered else "unreadable_manifest"
        yield _error(kind, problem.path, f"{problem.detail}{_out_of_line(problem.path, found)}")
    for name in found.sealed_out:
        yield _leftover("sealed_manifest", name.path, "published after a newer driver had taken over")
    for missing in found.missing:
        folder, _, file_name = missing.rpartition("/")
        instead = storage.others(folder).get(file_name)
        there = f"{instead} is there" if instead else "not there"
        yield _error("missing_manifest", missing, f"{there}; {_witness(missing, found)} that it was")


def _out_of_line(path: str, found: Survey) -> str:
    """What makes it likely that a flawed object was never published: nothing stands before it."""
    name = object_name(path.rpartition("/")[2])
    if name is None or name.number == 1 or name._replace(number=name.number - 1) in found.counted:
        return ""
    return "; the one before it is not there either, so that it may be a stray file"


def _witness(missing: str, found: Survey) -> str:
    """Who says that an object was there: mostly one that was published later."""
    name = object_name(missing.rpartition("/")[2])
    later = [one for one in found.contents if name and one.epoch == name.epoch and one > name]
    return f"{min(later).path} says" if later else "others say"


def _stray_findings(storage: Storage) -> Iterator[Finding]:
    """Files outside the tables that are none of the dataset's; in the root they may be somebody's own."""
    own: Mapping[str, Callable[[str], object]] = {"": _ROOT.__contains__, MANIFEST: object_name, EPOCHS: claimed_epoch}
    for folder, known in own.items():
        for file_name in storage.sizes(folder):
            path = f"{folder}/{file_name}" if folder else file_name
            if file_name.endswith(".tmp"):
                yield _leftover("stray_file", path, "a write that was interrupted")
            elif file_name and not folder and not known(file_name):
                yield _leftover("stray_file", path, "not a file of the dataset; nothing reads it")
            elif file_name and not known(file_name):
                yield _error("stray_file", path, "not a name that is given here; nothing reads it")


def _odd_findings(storage: Storage, told: Collection[str]) -> Iterator[Finding]:
    """What is no plain file where only plain files belong, and has not been told yet; nothing opens it."""
    for folder in ("", MANIFEST, EPOCHS, *TABLES):
        for name, kind in storage.others(folder).items():
            path = f"{folder}/{name}" if folder else name
            if path not in told and (folder or kind != "a folder"):
                yield _error("stray_file", path, f"{kind}, where only plain files belong; it was not opened")


def _file_findings(storage: Storage, current: set[str], listed: set[str], open_epoch: int) -> Iterator[Finding]:
    """Files in the table folders that do not count."""
    for table in TABLES:
        for file_name in storage.sizes(table):
            relative = f"{table}/{file_name}"
            name = part_name(file_name)
            if relative in current:
                continue
            if relative in listed:
                yield _leftover("replaced_part", relative, "compacted into another part")
            elif name is None:
                yield _error("stray_file", relative, "not the name of a part")
            elif name.epoch < open_epoch:
                yield _leftover("unlisted_part", relative, f"epoch {name.epoch} never published it")
            else:
                yield _error("unlisted_part", relative, f"epoch {name.epoch} is finished and never published it")


def _folder_findings(storage: Storage) -> Iterator[Finding]:
    """Folders of parts that are no table's, which nothing reads."""
    for folder in storage.folders():
        if folder not in TABLES and any(part_name(name) for name in storage.sizes(folder)):
            yield _error("unknown_table", folder, "holds parts, and is no table of this version")


def _view_findings(storage: Storage, found: Survey) -> Iterator[Finding]:
    """`views.sql` follows each publish, so that only an unfinished run may lack it; it is never half there."""
    run = _run(storage)
    try:
        data = storage.read(VIEWS_FILE)
    except FileNotFoundError:
        if found.counted and run and run.state == "finished":
            yield _error("missing_views", VIEWS_FILE, f"not there; {_MENDING_VIEWS}")
        return
    except StoreError:
        raise
    except OSError as error:
        yield _error("wrong_views", VIEWS_FILE, f"{error}; {_MENDING_VIEWS}")
        return
    if not data or (run and run.views_sha256 and run.views_sha256 != hash_of(data)):
        yield _error("wrong_views", VIEWS_FILE, f"{len(data)} bytes, not those that were written; {_MENDING_VIEWS}")


def _tables_without_part(found: Survey, parts: Iterable[PartRef]) -> Iterator[Finding]:
    if found.counted:
        for table in sorted(set(TABLES) - LATER - {part.table for part in parts}):
            yield _error("table_without_part", table, "every table has a part, if only an empty one")


def _run_id(storage: Storage) -> str | None:
    run = _run(storage)
    return run.run_id if run else None


def _tables_of(flaws: Mapping[str, Sequence[Flaw]]) -> set[str]:
    return {path.partition("/")[0] for path, found in flaws.items() if found}


def _error(kind: Kind, path: str, detail: str) -> Finding:
    return Finding(severity="error", kind=kind, path=path, detail=detail)


def _leftover(kind: Kind, path: str, detail: str) -> Finding:
    return Finding(severity="leftover", kind=kind, path=path, detail=detail)
