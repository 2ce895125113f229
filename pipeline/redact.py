"""A copy of a dataset with what was flagged as secret or personal masked, in pictures and in text.

What is secret is for secrecy.py to say. It is masked wherever it stands: in regions of pictures and trees, in every
free text in any spelling, and in pictures of other looks whose tree says where. What is proved to be masked loses its
marks, the rest keeps them. The copy keeps every row, every identity and the grouping of the original.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import Any, NamedTuple, TypeVar

from pipeline import manifest
from pipeline.actions import Model
from pipeline.copying import EPOCH, publish_copy
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError
from pipeline.file_names import EPOCHS, MANIFEST
from pipeline.manifest import Assigned, Line, PartRef
from pipeline.masking import MASK, masked_frame
from pipeline.records import Candidate, Frame, ObservationRow, Step, Trajectory, Tree
from pipeline.schema import TABLES
from pipeline.secrecy import FLAGS, Secrecy, find_secrets, rows_of
from pipeline.sinks import PartWriter
from pipeline.soundness import require_sound
from pipeline.storage import LOCK_NAMES, Address, Storage, driver_lock, storage_of, store_errors
from pipeline.structs import TargetUnderPoint

_WRITER = "redact"

Shown = TypeVar("Shown", Frame, Tree)
"""What may have regions."""


class Masked(NamedTuple):
    """How much was masked, and how many looks and steps keep their marks."""

    frames: int
    trees: int
    rows: int
    marked: int


def redact(folder: Address, out: Address) -> Masked:
    """Write the masked copy of a dataset; raises ConfigError when `out` is taken or the folder is no dataset.

    Raises RunError when the folder is damaged: nothing would tell it of the copy.
    The copy becomes a dataset when all of it is there: until then it has no manifest, and what fails leaves nothing.
    """
    target = storage_of(out)
    _refuse_taken(folder, target)
    require_sound(manifest.storage_with_manifest(folder))
    dataset = Dataset(folder)
    masker = _Masker(dataset, find_secrets(dataset))
    with driver_lock(target):
        _refuse_taken(folder, target)
        with ExitStack() as undo:
            undo.callback(_clear, target)
            lines: list[Line] = [*_begun(dataset), *_written(dataset, masker, target)]
            publish_copy(target, dataset.run, masker.masked_config(dataset.run.config), lines)
            undo.pop_all()
    return masker.count


def _refuse_taken(folder: Address, target: Storage) -> None:
    if target == storage_of(folder):
        raise ConfigError(f"out: {target.address} is the dataset itself; choose another name")
    with store_errors():
        taken = target.occupied(LOCK_NAMES)
    if taken:
        raise ConfigError(f"out: {target.address} is already there; choose another name")


def _begun(dataset: Dataset) -> list[Assigned]:
    """The attempts that were begun, as the copy's one epoch lists them."""
    lines = manifest.survey(dataset.storage).lines
    return [line.model_copy(update={"epoch": EPOCH}) for line in lines if isinstance(line, Assigned)]


def _written(dataset: Dataset, masker: _Masker, target: Storage) -> list[PartRef]:
    """The masked parts, which nothing lists yet; every table has one."""
    writer = PartWriter(target, dataset.run.run_id, EPOCH, _WRITER)
    written: list[PartRef] = []
    for parts in _groups(dataset):
        writer.add([masker.masked(row) for part in parts for row in dataset.part_rows(part)])
        batch = writer.flush()
        written += batch.parts if batch else []
    writer.add_empty(set(TABLES) - {part.table for part in written})
    batch = writer.flush()
    return [*written, *(batch.parts if batch else [])]


def _clear(target: Storage) -> None:
    """Remove what a failed copy has written to a place where nothing else was; as far as the place still answers."""
    with suppress(OSError):
        for folder in (MANIFEST, EPOCHS, *TABLES, ""):
            for name in target.sizes(folder):
                if name not in LOCK_NAMES:
                    target.delete(f"{folder}/{name}" if folder else name)
        target.drop([MANIFEST, EPOCHS, *TABLES])


class _Masker:
    """Masks one row after another; hashes of frames and trees are known beforehand, for rows refer to them."""

    def __init__(self, dataset: Dataset, found: Secrecy) -> None:
        self._found = found
        self._hashes: dict[str, str] = {}
        self._rows = 0
        places = found.marked_looks | found.marked_steps
        self._marked_attempts = {attempt_id for attempt_id, _ in places}
        for row in rows_of(dataset, "trees"):
            if isinstance(row, Tree):
                self._hashes[row.sha256] = self._tree(row).sha256
        for row in rows_of(dataset, "frames", among=set(found.frames)):
            if isinstance(row, Frame):
                self._hashes[row.sha256] = self._frame(row).sha256
        self._frames = sum(self._hashes.get(name, name) != name for name in found.frames)
        self._trees = sum(old != new for old, new in self._hashes.items()) - self._frames

    @property
    def count(self) -> Masked:
        """How much has been masked so far."""
        marked = len(self._found.marked_looks) + len(self._found.marked_steps)
        return Masked(self._frames, self._trees, self._rows, marked)

    def masked(self, row: Model) -> Model:
        """The row as it may be seen."""
        match row:
            case Frame():
                return self._frame(row)
            case Tree():
                return self._tree(row)
            case _:
                clear = self._own(self._found.texts.masked(row))
                self._rows += clear is not row
                return self._unmarked(self._repointed(clear))

    def masked_config(self, config: dict[str, Any]) -> dict[str, Any]:
        """The run's configuration without secrets."""
        masked: dict[str, Any] = self._found.texts.masked_value(config)
        return masked

    def _frame(self, frame: Frame) -> Frame:
        return self._certified(frame, masked_frame(frame, self._found.frames.get(frame.sha256, [])))

    def _tree(self, tree: Tree) -> Tree:
        return self._certified(tree, self._found.texts.masked_tree(tree, self._found.trees.get(tree.sha256, [])))

    def _certified(self, before: Shown, masked: Shown) -> Shown:
        """Regions say where a secret is in view, which is nowhere any more unless something may have been missed."""
        if before.sha256 in self._found.marked_hashes:
            return masked
        return masked.model_copy(update={"sensitive": []})

    def _own(self, row: Model) -> Model:
        """The row without what is hidden in it alone."""
        match row:
            case Step() | Candidate() if (row.attempt_id, row.step_index) in self._found.typed:
                row = self._found.typed[row.attempt_id, row.step_index].masked(row)
        match row:
            case Step(target=TargetUnderPoint() as target) if (row.attempt_id, row.step_index) in self._found.whole:
                covered_by = target.covered_by and MASK
                hidden = target.model_copy(update={"name": MASK if target.name else "", "covered_by": covered_by})
                return row.model_copy(update={"target": hidden})
            case ObservationRow() if (row.attempt_id, row.observation_index) in self._found.whole:
                shown = {"title": row.title, "location": row.location}
                return row.model_copy(update={name: MASK for name, text in shown.items() if text})
            case _:
                return row

    def _repointed(self, row: Model) -> Model:
        changes: dict[str, object] = {}
        for name in ("frame_sha256", "tree_sha256", "frame_before", "frame_after"):
            old = getattr(row, name, None)
            if old in self._hashes:
                changes[name] = self._hashes[old]
        pointed = getattr(row, "frame_sha256s", None)
        if pointed:
            changes["frame_sha256s"] = [self._hashes.get(old, old) for old in pointed]
        return row.model_copy(update=changes) if changes else row

    def _unmarked(self, row: Model) -> Model:
        """The row without the flags of what is proved to be no longer in view."""
        match row:
            case ObservationRow() if (row.attempt_id, row.observation_index) not in self._found.marked_looks:
                return row.model_copy(update={"flags": [flag for flag in row.flags if flag not in FLAGS]})
            case Step() if (row.attempt_id, row.step_index) not in self._found.marked_steps:
                return row.model_copy(update={"flags": [flag for flag in row.flags if flag not in FLAGS]})
            case Trajectory() if row.attempt_id not in self._marked_attempts:
                return row.model_copy(update={"contains_secret": False})
            case _:
                return row


def _groups(dataset: Dataset) -> list[list[PartRef]]:
    """The parts that belong together: those of one flush, in the order of writing."""
    groups: dict[str, list[PartRef]] = {}
    for table in TABLES:
        for part in dataset.parts(table):
            groups.setdefault(part.stem, []).append(part)
    return list(groups.values())
