"""Takes personal data out of a trajectory on its way to a trainer: painted over in pictures, masked in what is said.

What the environment has marked is masked, and what can be found in the words of steps and instruction. Anything else
that is flagged stays flagged, and its rows are refused. Trees are a part of no row and stay as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from pipeline.exports.source import Graded
from pipeline.masking import MASK, Texts, masked_frame, rewritten
from pipeline.personal import KINDS, find, without_personal_data
from pipeline.records import Candidate, Frame, ObservationRow, Record, Step, Tree
from pipeline.structs import Sensitive

Said = TypeVar("Said", Step, Candidate)
Shown = TypeVar("Shown", Frame, Tree)


class Cleared(NamedTuple):
    """A trajectory without personal data, and how much of what was masked in it."""

    graded: Graded
    masked: Counter[str]


def cleared(graded: Graded) -> Cleared:
    """The trajectory as it may be given away."""
    record, masked = graded.record, Counter[str]()
    regions = _regions(record)
    frames = {name: _painted(frame, regions.get(name, [])) for name, frame in record.frames.items()}
    masked["pictures"] = sum(frame.sha256 != name for name, frame in frames.items())
    text_of = _masking(record.trees.values())
    steps, candidates = _reworded(record.steps, text_of), _reworded(record.candidates, text_of)
    masked["steps"] = _changed(record.steps, steps) + _changed(record.candidates, candidates)
    instruction = text_of(graded.task.instruction)
    masked["instructions"] = int(instruction != graded.task.instruction)
    names = {name: frame.sha256 for name, frame in frames.items()}
    clear = record.model_copy(
        update={
            "frames": {frame.sha256: frame for frame in frames.values()},
            "trees": {name: _unmarked(tree) for name, tree in record.trees.items()},
            "observations": [_unflagged(look, record, names) for look in record.observations],
            "steps": steps,
            "candidates": candidates,
        }
    )
    task = graded.task.model_copy(update={"instruction": instruction})
    return Cleared(graded._replace(record=clear, task=task), +masked)


def _regions(record: Record) -> dict[str, list[Sensitive]]:
    """By picture, the regions of personal data in it and in every tree that was seen with it."""
    regions: dict[str, list[Sensitive]] = {}
    for look in record.observations:
        if look.frame_sha256 is not None:
            regions.setdefault(look.frame_sha256, []).extend(_personal(look, record))
    return regions


def _personal(look: ObservationRow, record: Record) -> list[Sensitive]:
    shown = (record.frames.get(look.frame_sha256 or ""), record.trees.get(look.tree_sha256 or ""))
    return [region for seen in shown if seen for region in seen.sensitive if region.class_ in KINDS]


def _painted(frame: Frame, regions: Sequence[Sensitive]) -> Frame:
    """The picture without its personal data; what else is secret in it stays marked."""
    return masked_frame(frame, regions).model_copy(update={"sensitive": _unmarked(frame).sensitive})


def _unmarked(shown: Shown) -> Shown:
    return shown.model_copy(update={"sensitive": [one for one in shown.sensitive if one.class_ not in KINDS]})


def _unflagged(look: ObservationRow, record: Record, names: Mapping[str, str]) -> ObservationRow:
    """The look at its masked picture; its flag stays where nothing says what it stands for."""
    told = bool(_personal(look, record))
    flags = [flag for flag in look.flags if not (told and flag == "contains_pii")]
    name = names.get(look.frame_sha256, look.frame_sha256) if look.frame_sha256 else None
    return look.model_copy(update={"flags": flags, "frame_sha256": name})


def _masking(trees: Iterable[Tree]) -> Callable[[str], str]:
    """What takes out of a text all that the trees showed, in any spelling, and all that is found in the text itself."""
    marked = [tree for tree in trees if any(region.class_ in KINDS for region in tree.sensitive)]
    shown = [text for tree in marked for node in tree.nodes for text in (node.name, node.value)]
    texts = Texts(text[piece.start : piece.end] for text in shown for piece in find(text))
    return lambda text: without_personal_data(texts.masked_text(text), MASK)


def _reworded(rows: Iterable[Said], text_of: Callable[[str], str]) -> list[Said]:
    return [rewritten(row, text_of) for row in rows]


def _changed(before: Iterable[Said], after: Iterable[Said]) -> int:
    return sum(new is not old for old, new in zip(before, after, strict=True))
