"""What is secret in a dataset, by its flags and regions: where it stands in pictures and trees, and in which words.

Secret are the texts of flagged regions, what stands in the fields of a look that is flagged as a whole, and what was
typed at a flagged look or step, unless the tree shows that it went elsewhere. A look is proved when its tree says in
words what each of its regions hides: then masking those words finds them everywhere. This module masks nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from pipeline.actions import Action, Model, Type
from pipeline.dataset import Dataset
from pipeline.masking import Texts, says_more, secrets_of, told_apart, typed_elsewhere
from pipeline.records import Candidate, ObservationRow, Step, Trajectory, Tree
from pipeline.structs import Box, Sensitive

FLAGS = frozenset({"contains_secret", "contains_pii"})
WHOLE = Sensitive(class_="flagged", box=None)
"""The region of what is flagged without saying where."""

Place = tuple[str, int]
"""An attempt, and the index of a look or step in it."""

Regions = dict[str, list[Sensitive]]
"""By the hash of a picture or tree."""


class Secrecy(NamedTuple):
    """What is to be masked, and what stays marked, for nobody can say that all of it was found."""

    frames: Regions
    trees: Regions
    texts: Texts
    typed: dict[Place, Texts]
    """What each step typed in secret, single characters too: they are sought in its own row and nowhere else."""
    whole: frozenset[Place]
    """Looks of which nothing may be seen."""
    marked_hashes: frozenset[str]
    """Pictures and trees that keep their regions."""
    marked_looks: frozenset[Place]
    marked_steps: frozenset[Place]


class _Hidden(NamedTuple):
    """What a tree says of its regions."""

    texts: list[str]
    proved: bool
    typed_elsewhere: bool


_NO_TREE = _Hidden([], proved=False, typed_elsewhere=False)


def find_secrets(dataset: Dataset) -> Secrecy:
    """Everything that a dataset's flags and regions make secret."""
    looks, steps = dataset.rows(ObservationRow), dataset.rows(Step)
    frames, trees = _regions(dataset, looks, steps)
    hidden = _hidden_trees(dataset, trees)
    concealing = [look for look in looks if FLAGS & set(look.flags) or _boxes(look, frames, trees)]
    unproved = [look for look in concealing if not _tree(look, hidden).proved]
    whole = frozenset(_place(look) for look in unproved if WHOLE.box in _boxes(look, frames, trees))
    flagged = [step for step in steps if FLAGS & set(step.flags)]
    typed = _typed([*steps, *dataset.rows(Candidate)], _suspect(concealing, flagged, hidden))
    found = [text for tree in hidden.values() for text in tree.texts]
    found += [text for texts in typed.values() for text in texts]
    texts = Texts(text for text in found if len(text.strip()) > 1)
    blind = [look for look in looks if _blind(look, typed, frames)]
    frames |= {look.frame_sha256: [WHOLE] for look in blind if look.frame_sha256}
    marked = _marked_hashes(looks, [*unproved, *blind], [*frames, *trees])
    _add_shown(dataset, looks, texts, frames, trees)
    return Secrecy(
        frames,
        trees,
        texts,
        {place: Texts(found) for place, found in typed.items()},
        whole,
        marked,
        frozenset(map(_place, [*unproved, *blind])),
        frozenset(_step_place(step) for step in flagged if not _entered(step.action)),
    )


def rows_of(dataset: Dataset, table: str, among: set[str] | None = None) -> Iterator[Model]:
    """The rows of a table, part by part; of pictures and trees only those with these hashes, when given."""
    for part in dataset.parts(table):
        if among is None or among:
            yield from dataset.part_rows(part, among)


def _regions(dataset: Dataset, looks: Sequence[ObservationRow], steps: Sequence[Step]) -> tuple[Regions, Regions]:
    """Regions by frame and by tree: each has its own, and those of what was seen at the same moment."""
    frames, own = _flagged(dataset, "frames"), _flagged(dataset, "trees")
    trees = dict(own)
    nowhere = _secret_nowhere(dataset, looks, steps, {*frames, *trees})
    for look in looks:
        regions = [*frames.get(look.frame_sha256 or "", []), *own.get(look.tree_sha256 or "", [])]
        if (FLAGS & set(look.flags) or look.attempt_id in nowhere) and not regions:
            regions = [WHOLE]
        _add(frames, look.frame_sha256, regions)
        _add(trees, look.tree_sha256, regions)
    for look in looks:  # the same picture in another look hides the same
        _add(trees, look.tree_sha256, frames.get(look.frame_sha256 or "", []))
    return frames, trees


def _secret_nowhere(
    dataset: Dataset, looks: Sequence[ObservationRow], steps: Sequence[Step], regions: set[str]
) -> set[str]:
    """Attempts in which something is secret, and nothing says where."""
    told = {look.attempt_id for look in looks if "contains_secret" in look.flags}
    told |= {look.attempt_id for look in looks if {look.frame_sha256, look.tree_sha256} & regions}
    told |= {step.attempt_id for step in steps if "contains_secret" in step.flags}
    return {row.attempt_id for row in dataset.rows(Trajectory) if row.contains_secret} - told


def _flagged(dataset: Dataset, table: str) -> Regions:
    found: Regions = {}
    for row in dataset.table(table, ["sha256", "sensitive"]).to_pylist():
        _add(found, row["sha256"], [Sensitive.model_validate(region) for region in row["sensitive"]])
    return found


def _add(regions: Regions, name: str | None, more: Iterable[Sensitive]) -> None:
    """Add regions to those of a frame or tree; one place is hidden once."""
    places: dict[Box | None, Sensitive] = {}
    for region in [*regions.get(name or "", []), *more]:
        places.setdefault(region.box, region)
    if name is not None and places:
        regions[name] = list(places.values())


def _boxes(look: ObservationRow, frames: Regions, trees: Regions) -> set[Box | None]:
    regions = [*frames.get(look.frame_sha256 or "", []), *trees.get(look.tree_sha256 or "", [])]
    return {region.box for region in regions}


def _tree(look: ObservationRow, hidden: dict[str, _Hidden]) -> _Hidden:
    return hidden.get(look.tree_sha256 or "", _NO_TREE)


def _hidden_trees(dataset: Dataset, trees: Regions) -> dict[str, _Hidden]:
    found = {}
    for row in rows_of(dataset, "trees", among=set(trees)):
        if isinstance(row, Tree):
            regions = trees[row.sha256]
            texts = list(secrets_of(row, regions))
            found[row.sha256] = _Hidden(texts, told_apart(row, regions), typed_elsewhere(row, regions))
    return found


def _suspect(concealing: Iterable[ObservationRow], flagged: Iterable[Step], hidden: dict[str, _Hidden]) -> set[Place]:
    """Steps that may have typed a secret: at a look that hides something, or into it."""
    at = {_place(look) for look in concealing if not _tree(look, hidden).typed_elsewhere}
    return at | {(attempt, index - 1) for attempt, index in at} | set(map(_step_place, flagged))


def _typed(rows: Iterable[Step | Candidate], suspect: set[Place]) -> dict[Place, list[str]]:
    """What steps typed in secret, and what was proposed to be typed there."""
    typed: dict[Place, list[str]] = {}
    for row in rows:
        pieces = _entered(row.action)
        if pieces and _step_place(row) in suspect:
            typed.setdefault(_step_place(row), []).extend(pieces)
    return typed


def _entered(action: Action | None) -> list[str]:
    """What an action types, field by field."""
    if not isinstance(action, Type):
        return []
    return [piece for piece in re.split(r"[\t\r\n]+", action.content) if says_more(piece)]


def _blind(look: ObservationRow, typed: Collection[Place], frames: Regions) -> bool:
    """Whether a picture was taken after a secret was typed, and nothing says where in it the secret stands."""
    before = (look.attempt_id, look.observation_index - 1)
    return before in typed and look.tree_sha256 is None and (look.frame_sha256 or "") not in frames


def _marked_hashes(
    looks: Iterable[ObservationRow], doubtful: Iterable[ObservationRow], hashes: Iterable[str]
) -> frozenset[str]:
    """Of pictures and trees with regions, those that a doubtful look shows, and those that no look shows at all."""
    shown = {name for look in looks for name in (look.frame_sha256, look.tree_sha256)}
    unsure = {name for look in doubtful for name in (look.frame_sha256, look.tree_sha256)}
    return frozenset(name for name in hashes if name in unsure or name not in shown)


def _add_shown(
    dataset: Dataset, looks: Sequence[ObservationRow], texts: Texts, frames: Regions, trees: Regions
) -> None:
    """Hide secrets also where a tree shows them without having been flagged."""
    pictures: dict[str, set[str]] = {}
    for look in looks:
        if look.tree_sha256 and look.frame_sha256:
            pictures.setdefault(look.tree_sha256, set()).add(look.frame_sha256)
    for row in rows_of(dataset, "trees"):
        if not isinstance(row, Tree):
            continue
        showing = [node for node in row.nodes if texts.within(node.name) or texts.within(node.value)]
        regions = [Sensitive(class_="shown", box=node.box) for node in showing if node.box]
        _add(trees, row.sha256, regions)
        for picture in pictures.get(row.sha256, ()):
            _add(frames, picture, regions)


def _place(look: ObservationRow) -> Place:
    return look.attempt_id, look.observation_index


def _step_place(row: Step | Candidate) -> Place:
    return row.attempt_id, row.step_index
