"""Rows for what an exploration found: the way to it as a procedure, and words taken from the controls on that way.

What happened decides what a capability is; names on screens only end up, cut short, in its words. Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from catalogs.meaning import consequence_of, consequence_shown
from catalogs.naming import label, slug
from catalogs.screens import pattern_of
from catalogs.subject import Subject
from pipeline.tasks import Capability, ProcedureStep, Slot

_MOST_EXAMPLES = 6
_MOST_LABELS = 3
_FOUND = "found"
_FINAL = ("delete", "send", "pay")
"""What cannot be taken back within the application; the words of a control stand for it whatever the state shows."""


class Place(NamedTuple):
    """Somewhere in the application: the steps from home, their slots, the names pressed, the addresses on the way."""

    steps: tuple[ProcedureStep, ...] = ()
    slots: tuple[Slot, ...] = ()
    labels: tuple[str, ...] = ()
    screens: tuple[str, ...] = ()

    def further(self, name: str, steps: Sequence[ProcedureStep], slots: Sequence[Slot] = ()) -> Place:
        """The place after some more steps, the last of which presses what has this name."""
        return self._replace(
            steps=(*self.steps, *steps), slots=(*self.slots, *slots), labels=(*self.labels, label(name))
        )

    def at(self, location: str) -> Place:
        """The place, now that its address is known."""
        screen = _screen(location)
        return self._replace(screens=(*self.screens, *([screen] if screen not in self.screens[-1:] else [])))

    def of_any(self, names: Sequence[str], before: str = "") -> Place:
        """The same place for any of these names instead of the one that was pressed last.

        `before` is what all of them begin with: `Done:` in `Done: Pay the rent`.
        """
        first = self.steps[-1].name if self.steps else None
        if first is None or first not in names:
            return self
        number = sum(slot.name.startswith("record") for slot in self.slots)
        slot = "record" if not number else f"record_{number + 1}"
        values = [name.removeprefix(before).strip() for name in (first, *names)]
        spelled = f"{before} {{{slot}}}".strip()
        step = self.steps[-1].model_copy(update={"name": spelled, "nth": 0})
        labels = (*self.labels[:-1], label(before) or "a record")
        slots = (*self.slots, Slot(name=slot, values=list(dict.fromkeys(values))[:_MOST_EXAMPLES]))
        return self._replace(steps=(*self.steps[:-1], step), slots=slots, labels=labels)


def acting(subject: Subject, place: Place, changes: Sequence[list[str]], ended_at: str) -> Capability:
    """What changes the state; without changes the candidate for it, to be tried."""
    name = place.labels[-1]
    announced, shown = consequence_of(name), consequence_shown(changes)
    kinds = [announced] if announced in _FINAL else [shown, announced, "edit"]
    consequence = next(kind for kind in kinds if kind != "none")
    return _capability(subject, place.at(ended_at), name.casefold(), _context(place), _effect(changes), consequence)


def reading(subject: Subject, place: Place, ended_at: str) -> Capability:
    """What looks for something by a form and changes nothing."""
    name = place.labels[-1].casefold()
    return _capability(subject, place.at(ended_at), name, _context(place), "Nothing changes.", "none")


def opening(subject: Subject, place: Place) -> Capability:
    """What only shows a screen."""
    what = place.labels[-1]
    return _capability(subject, place, "open", what, f"Nothing changes; the screen after “{what}” is shown.", "none")


def _capability(subject: Subject, place: Place, verb: str, what: str, effect: str, consequence: str) -> Capability:
    name = "-".join(slug(word, _FOUND) for word in place.labels[-_MOST_LABELS:])
    return Capability(
        capability_id=f"{subject.app_id}.{_FOUND}.{'open-' if verb == 'open' else ''}{name}",
        app_id=subject.app_id,
        platform=subject.platform,
        language=subject.language,
        path=[_FOUND, *place.labels],
        verb=verb,
        object=what,
        slots=list(place.slots),
        effect=effect,
        screens=list(place.screens),
        procedure=list(place.steps),
        consequence=consequence,
        reversible=consequence not in _FINAL,
    )


def _context(place: Place) -> str:
    """What it is done to: where the way leads before the last press."""
    return place.labels[-2] if len(place.labels) > 1 else "the first screen"


def _effect(changes: Sequence[list[str]]) -> str:
    """The kinds of keys that differ, without what numbers them."""
    kinds = dict.fromkeys(f"{row[1]} {row[0].partition('/')[0].partition('|')[0]}" for row in changes)
    return f"In the application's state: {', '.join(list(kinds)[:6])}." if kinds else "Something changes."


def _screen(location: str) -> str:
    return pattern_of(location).replace("{}", "{id}")
