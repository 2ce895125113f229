"""A copy of a dataset with what was flagged as secret or personal masked, in pictures and in text.

Regions come from frames and trees of the same look; a look that is flagged without saying where is masked as a whole.
The texts those regions show, and what was typed into them, are masked wherever else they stand, also in pictures of
other looks whose tree says where. The copy keeps every row, every identity and the grouping of the original.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import NamedTuple

from pipeline import manifest
from pipeline.actions import Model, Type
from pipeline.dataset import Dataset
from pipeline.errors import ConfigError, RunError
from pipeline.manifest import Assigned, PartRef
from pipeline.masking import Texts, focused_field, hidden_nodes, masked_frame, secrets_of
from pipeline.records import Frame, ObservationRow, Step, Trajectory, Tree
from pipeline.schema import TABLES
from pipeline.sinks import Batch, Committer, PartWriter
from pipeline.soundness import require_sound
from pipeline.storage import LOCK_NAMES, Address, Storage, driver_lock, storage_of, store_errors
from pipeline.structs import Box, Sensitive

_FLAGS = frozenset({"contains_secret", "contains_pii"})
_WHOLE = Sensitive(class_="flagged", box=None)
_WRITER = "redact"
_EPOCH = 1
"""A new place has had no driver before."""


class Masked(NamedTuple):
    """How much was masked."""

    frames: int
    trees: int
    rows: int


class _Findings(NamedTuple):
    """What is hidden: regions by hash of frame and of tree, and texts."""

    frames: dict[str, list[Sensitive]]
    trees: dict[str, list[Sensitive]]
    texts: Texts


def redact(folder: Address, out: Address) -> Masked:
    """Write the masked copy of a dataset; raises ConfigError when `out` is taken or the folder is no dataset.

    Raises RunError when the folder is damaged: nothing would tell it of the copy.
    The copy becomes a dataset when all of it is there: until then it has no manifest, and what fails leaves nothing.
    """
    target = storage_of(out)
    _refuse_taken(folder, target)
    require_sound(manifest.storage_with_manifest(folder))
    dataset = Dataset(folder)
    masker = _Masker(dataset, _find(dataset))
    with driver_lock(target):
        _refuse_taken(folder, target)
        with ExitStack() as undo:
            undo.callback(_clear, target)
            parts = _written(dataset, masker, target)
            _publish(dataset, parts, target)
            undo.pop_all()
    return masker.count


def _refuse_taken(folder: Address, target: Storage) -> None:
    if target == storage_of(folder):
        raise ConfigError(f"out: {target.address} is the dataset itself; choose another name")
    with store_errors():
        taken = target.occupied(LOCK_NAMES)
    if taken:
        raise ConfigError(f"out: {target.address} is already there; choose another name")


def _written(dataset: Dataset, masker: _Masker, target: Storage) -> list[PartRef]:
    """The masked parts, which nothing lists yet."""
    writer = PartWriter(target, dataset.run.run_id, _EPOCH, _WRITER)
    written: list[PartRef] = []
    for parts in _groups(dataset):
        writer.add([masker.masked(row) for part in parts for row in dataset.part_rows(part)])
        batch = writer.flush()
        written += batch.parts if batch else []
    return written


def _publish(dataset: Dataset, parts: list[PartRef], target: Storage) -> None:
    """Make the parts a dataset, in one step after the claim."""
    committer = Committer.claim(target, dataset.run.run_id, dataset.run.config)
    assigned = [line for line in manifest.survey(dataset.storage).lines if isinstance(line, Assigned)]
    committer.assign([line.model_copy(update={"epoch": committer.epoch}) for line in assigned])
    if parts and not committer.publish(Batch(epoch=_EPOCH, worker=_WRITER, number=0, parts=parts, attempts=[])):
        raise RunError(f"{target.address} refused what was written to it")
    committer.finish()


def _clear(target: Storage) -> None:
    """Remove what a failed copy has written to a place where nothing else was; as far as the place still answers."""
    with suppress(OSError):
        for folder in (manifest.MANIFEST, manifest.EPOCHS, *TABLES, ""):
            for name in target.sizes(folder):
                if name not in LOCK_NAMES:
                    target.delete(f"{folder}/{name}" if folder else name)


class _Masker:
    """Masks one row after another; hashes of frames and trees are known beforehand, for rows refer to them."""

    def __init__(self, dataset: Dataset, found: _Findings) -> None:
        self._found = found
        self._hashes: dict[str, str] = {}
        self._rows = 0
        for row in _rows(dataset, "trees"):
            if isinstance(row, Tree):
                self._hashes[row.sha256] = self._tree(row).sha256
        for row in _rows(dataset, "frames", among=set(found.frames)):
            if isinstance(row, Frame):
                self._hashes[row.sha256] = self._frame(row).sha256
        self._frames = sum(self._hashes.get(name, name) != name for name in found.frames)
        self._trees = sum(old != new for old, new in self._hashes.items()) - self._frames

    @property
    def count(self) -> Masked:
        """How much has been masked so far."""
        return Masked(self._frames, self._trees, self._rows)

    def masked(self, row: Model) -> Model:
        """The row as it may be seen."""
        match row:
            case Frame():
                return self._frame(row)
            case Tree():
                return self._tree(row)
            case _:
                clear = self._found.texts.masked(row)
                self._rows += clear is not row
                return _unflagged(self._repointed(clear))

    def _frame(self, frame: Frame) -> Frame:
        return masked_frame(frame, self._found.frames.get(frame.sha256, []))

    def _tree(self, tree: Tree) -> Tree:
        return self._found.texts.masked_tree(tree, self._found.trees.get(tree.sha256, []))

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


def _unflagged(row: Model) -> Model:
    """The row without the marks of what is no longer in view."""
    match row:
        case ObservationRow():
            return row.model_copy(update={"flags": [flag for flag in row.flags if flag not in _FLAGS]})
        case Trajectory():
            return row.model_copy(update={"contains_secret": False})
        case _:
            return row


def _find(dataset: Dataset) -> _Findings:
    looks = dataset.rows(ObservationRow)
    frames, trees = _regions(dataset, looks)
    secrets: set[str] = set()
    typing: set[str] = set()
    for row in _rows(dataset, "trees", among=set(trees)):
        if isinstance(row, Tree):
            secrets.update(secrets_of(hidden_nodes(row, trees[row.sha256])))
            if focused_field(row, trees[row.sha256]):
                typing.add(row.sha256)
    secrets.update(_typed(dataset, looks, typing))
    texts = Texts(secrets)
    _add_shown(dataset, looks, texts, frames, trees)
    return _Findings(frames, trees, texts)


def _regions(
    dataset: Dataset, looks: list[ObservationRow]
) -> tuple[dict[str, list[Sensitive]], dict[str, list[Sensitive]]]:
    """Regions by frame and by tree: each has its own, and those of what was seen at the same moment."""
    own = {name: _flagged(dataset, name) for name in ("frames", "trees")}
    secret = {row.attempt_id for row in dataset.rows(Trajectory) if row.contains_secret}
    shown = {look.attempt_id for look in looks if _FLAGS & set(look.flags)}
    frames, trees = dict(own["frames"]), dict(own["trees"])
    for look in looks:
        regions = [*own["frames"].get(look.frame_sha256 or "", []), *own["trees"].get(look.tree_sha256 or "", [])]
        flagged = _FLAGS & set(look.flags) or look.attempt_id in secret - shown
        if flagged and not regions:
            regions = [_WHOLE]
        _add(frames, look.frame_sha256, regions)
        _add(trees, look.tree_sha256, regions)
    return frames, trees


def _flagged(dataset: Dataset, table: str) -> dict[str, list[Sensitive]]:
    found: dict[str, list[Sensitive]] = {}
    for row in dataset.table(table, ["sha256", "sensitive"]).to_pylist():
        _add(found, row["sha256"], [Sensitive.model_validate(region) for region in row["sensitive"]])
    return found


def _add(regions: dict[str, list[Sensitive]], name: str | None, more: list[Sensitive]) -> None:
    """Add regions to those of a frame or tree; one place is hidden once."""
    if name is not None and more:
        places: dict[Box | None, Sensitive] = {}
        for region in [*regions.get(name, []), *more]:
            places.setdefault(region.box, region)
        regions[name] = list(places.values())


def _typed(dataset: Dataset, looks: list[ObservationRow], typing: set[str]) -> Iterator[str]:
    """What was typed while a hidden field had the focus, before or after."""
    places = {(look.attempt_id, look.observation_index) for look in looks if look.tree_sha256 in typing}
    for step in dataset.rows(Step):
        beside = {(step.attempt_id, step.step_index), (step.attempt_id, step.step_index + 1)}
        if isinstance(step.action, Type) and beside & places:
            yield step.action.content


def _add_shown(
    dataset: Dataset,
    looks: list[ObservationRow],
    texts: Texts,
    frames: dict[str, list[Sensitive]],
    trees: dict[str, list[Sensitive]],
) -> None:
    """Hide secrets also where a tree shows them without having been flagged."""
    pictures: dict[str, set[str]] = {}
    for look in looks:
        if look.tree_sha256 and look.frame_sha256:
            pictures.setdefault(look.tree_sha256, set()).add(look.frame_sha256)
    for row in _rows(dataset, "trees"):
        if not isinstance(row, Tree):
            continue
        showing = [node for node in row.nodes if texts.within(node.name) or texts.within(node.value)]
        regions = [Sensitive(class_="shown", box=node.box) for node in showing if node.box]
        _add(trees, row.sha256, regions)
        for picture in pictures.get(row.sha256, ()):
            _add(frames, picture, regions)


def _rows(dataset: Dataset, table: str, among: set[str] | None = None) -> Iterator[Model]:
    """The rows of a table, part by part; of pictures and trees only those with these hashes, when given."""
    for part in dataset.parts(table):
        if among is None or among:
            yield from dataset.part_rows(part, among)


def _groups(dataset: Dataset) -> list[list[PartRef]]:
    """The parts that belong together: those of one flush, in the order of writing."""
    groups: dict[str, list[PartRef]] = {}
    for table in TABLES:
        for part in dataset.parts(table):
            groups.setdefault(part.stem, []).append(part)
    return list(groups.values())
