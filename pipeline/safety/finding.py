"""What an action would bring about, as it was read on a screen, and what goes with it. Knows nothing of permission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from pipeline.safety.classes import Kind, Match, phrase_in
from pipeline.safety.scene import Choice, Entry, Scene
from pipeline.structs import TargetUnderPoint

Place = Literal["control", "dialog", "form", "field", "command", "extra", "address", "bin", "unnamed"]
"""Where a consequence was read; `unnamed` is a control that changes something, and nobody can say what."""


class Finding(NamedTuple):
    """What an action would bring about, and what on the screen says so."""

    kind: Kind
    words: str
    place: Place
    texts: Sequence[str]
    """What is said around it: what it is done to, amounts and recipients stand in these."""
    reaches_machine: bool = False
    """Whether it reaches beyond the application's own state."""
    final: bool = False
    """Whether the screen says that it cannot be undone."""
    choices: Sequence[Choice] = ()
    """What was taken among alternatives, and what was not."""
    asks: Sequence[str] = ()
    """What the dialog around it says, where there is one."""
    label: str = ""
    """The name of the control."""
    entered: Sequence[str] = ()
    """What stands in the fields of the screen."""
    taken: Sequence[str] = ()
    """What is chosen and ticked there."""
    fields: Sequence[Entry] = ()
    """What stands in which field."""
    location: str = ""
    """The address of the page, or the program."""


def found_at(scene: Scene, match: Match, place: Place, target: TargetUnderPoint | None) -> Finding:
    """A finding with everything on the screen that goes with it."""
    box = target.box if target is not None else None
    texts = [text for text in (target.name if target is not None else "", match.rest, *scene.bound(box)) if text]
    return Finding(
        match.kind,
        match.words,
        place,
        texts,
        reaches_machine=match.kind.name == "uninstall"
        or (match.kind.name == "system" and phrase_in(match.words, "power")),
        final=any(phrase_in(text, "final") for text in scene.told(box)),
        choices=scene.choices(target),
        asks=scene.told(box) if scene.dialog(box) is not None else (),
        label=target.name if target is not None else "",
        entered=scene.entered(),
        taken=scene.taken(),
        fields=scene.fields(),
        location=scene.location,
    )
