"""Instructions for one element each: by what it says, shows, is for, or is; and none that means two.

Every description is solved over the whole page before it is put into words. Knows nothing of files and quotas.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence, Set
from typing import NamedTuple

from pipeline.synth.elements import Element, Shown
from pipeline.synth.icons import icons
from pipeline.synth.meaning import fits, serves
from pipeline.synth.solving import HOLDERS, Wanted, drawn, mentions, solve
from pipeline.synth.wording import colour, known, measure, sentences, word
from pipeline.words import GroundingKind

LONGEST = 60
"""Longer texts are not quoted."""

_ONE_STOP = re.compile(r"([.?!。？！][\"”])[.。]$")
"""A quotation at the end that has its own mark needs no other after it."""

_CURRENT = 0.2
"""The part of screens that are asked for their current page, which nearly every one has."""

_FIELDS = {"textbox": "typed", "searchbox": "typed", "combobox": "opened"}
_TICKED = frozenset({"checkbox", "radio", "switch"})
_EXTREMES = {
    "button": ("wide", "large"),
    "checkbox": ("top", "bottom"),
    "radio": ("top", "bottom"),
    "switch": ("top", "bottom"),
    "tab": ("left", "right"),
    "textbox": ("top", "bottom", "wide"),
    "combobox": ("top", "bottom"),
    "link": ("top", "bottom"),
    "menuitem": ("top", "bottom", "left", "right"),
}
"""What is worth asking of a role: comparing all buttons by place tells little."""


class Scene(NamedTuple):
    """A page, what of it can be pointed at, and where chance comes from."""

    shown: Shown
    usable: Sequence[Element]
    language: str
    rng: random.Random

    def say(self, way: str, **words: object) -> str:
        """One of the sentences for this way of asking."""
        said = self.rng.choice(sentences(way, self.language)).format(**words)
        return _ONE_STOP.sub(r"\1", said)

    def role(self, element: Element) -> str:
        """What one calls such an element."""
        return word("roles", element.role, self.language)

    def drawn(self, elements: Sequence[Element]) -> list[Element]:
        """These in a random order."""
        return self.rng.sample(list(elements), len(elements))

    def drawn_words(self, words: Set[str]) -> list[str]:
        """These in a random order, which is the same on every machine."""
        return self.rng.sample(sorted(words), len(words))


class Question(NamedTuple):
    """An instruction and what it means: one element, or none."""

    kind: GroundingKind
    instruction: str
    language: str
    target: Element | None
    wanted: Wanted
    label: str
    """What is asked for, apart from the words."""


Asker = Callable[[Scene], Iterator[Question]]


def called(element: Element) -> str:
    """What an element is called on the screen."""
    return element.text if element.kind == "text" or not element.name else element.name


def worded(element: Element) -> bool:
    """Whether what an element is called can be read on it; a number may follow."""
    return element.text.startswith(called(element))


def asked(scene: Scene, kind: GroundingKind, target: Element, wanted: Wanted, text: str) -> Question:
    """A question about this element."""
    return Question(kind, text, scene.language, target, wanted, f"{target.role} {called(target)}")


def literal(scene: Scene) -> Iterator[Question]:
    """By its words, which stand nowhere else; fields and boxes by their labels."""
    for element in scene.drawn(scene.usable):
        name = called(element)
        if not _quotable(element, name):
            continue
        role = scene.role(element)
        if element.role in {*_FIELDS, *_TICKED}:
            if not _told(element, name, scene.shown):
                continue
            wanted = Wanted(label=name, role=element.role)
            way = _FIELDS.get(element.role, "ticked")
        elif worded(element) and mentions(name, scene.shown) == [element]:
            wanted, way = Wanted(label=name), "text" if element.kind == "text" else "literal"
        else:
            continue
        if solve(wanted, scene.shown) == [element]:
            yield asked(scene, "literal", element, wanted, scene.say(way, x=name, role=role))


def _told(element: Element, name: str, shown: Shown) -> bool:
    """Whether one can see what a field or box is called: in it, or on a text of its own."""
    texts = (other for other in shown.elements if other.kind == "text" and other.whole and not other.cut)
    return worded(element) or any(other.text == name for other in texts)


def _quotable(element: Element, name: str) -> bool:
    holds_others = element.role in HOLDERS and element.record >= 0
    plain = not element.cut and element.lines <= 2 and not element.labels and not holds_others
    return plain and 1 < len(name) <= LONGEST


def icon(scene: Scene) -> Iterator[Question]:
    """By what its picture stands for; only where no word stands beside it."""
    for element in scene.drawn(scene.usable):
        if not element.icon or element.text or drawn(element.icon, scene.shown) > 1:
            continue
        if element.act not in ("", element.icon) or not fits(element.icon, element.name):
            continue  # it is for something else than its shape
        wanted = Wanted(purpose=element.icon)
        if solve(wanted, scene.shown) == [element]:
            purpose = icons()[element.icon].purpose(scene.language)
            yield asked(scene, "icon", element, wanted, scene.say("icon", x=purpose))


def functional(scene: Scene) -> Iterator[Question]:
    """By what a person wants to reach with it."""
    for element in scene.drawn(scene.usable):
        if element.act not in known("intents") or not element.enabled or not fits(element.act, element.name):
            continue
        wanted = Wanted(purpose=element.act)
        if solve(wanted, scene.shown) == [element] and not _rivalled(element, scene.shown):
            intent = word("intents", element.act, scene.language)
            yield asked(scene, "functional", element, wanted, scene.say("functional", x=intent))


def _rivalled(element: Element, shown: Shown) -> bool:
    """Whether the words of another control, which need not have an icon, say that it would serve as well."""
    others = (one for one in shown.elements if one.kind == "control" and one.role not in HOLDERS and one is not element)
    return any(serves(element.act, said, other.act) for other in others for said in (other.name, other.text))


def state(scene: Scene) -> Iterator[Question]:
    """By the state that it alone of its role, or of its picture, is in; each kind of state as likely as any other."""
    kinds = scene.drawn_words({name for element in scene.usable for name in element.states})
    seldom = scene.rng.random() < _CURRENT
    for name in sorted(kinds, key=lambda one: one == "current"):
        if name not in known("states") or (name == "current" and not seldom):
            continue
        for element in scene.drawn([one for one in scene.usable if name in one.states]):
            yield from _in_state(scene, element, name)


def _in_state(scene: Scene, element: Element, name: str) -> Iterator[Question]:
    if name == "pressed" and element.icon in known("toggles"):
        wanted = Wanted(purpose=element.icon, state=name)
        text = scene.say("toggled", x=word("toggles", element.icon, scene.language))
    elif element.role in known("roles"):
        wanted, role = Wanted(role=element.role, state=name), scene.role(element)
        text = scene.say("state", role=role, unit=measure(role), x=_state_words(scene, element, name))
    else:
        return
    if solve(wanted, scene.shown) == [element]:
        yield asked(scene, "state", element, wanted, text)


def _state_words(scene: Scene, element: Element, state: str) -> str:
    """A state as one says it of such an element."""
    own = f"{state} {element.role}"
    return word("states", own if own in known("states") else state, scene.language)


def attribute(scene: Scene) -> Iterator[Question]:
    """By colour, size or place on the screen."""
    for element in scene.drawn(scene.usable):
        if element.colour:
            wanted = Wanted(colour=element.colour)
            if solve(wanted, scene.shown) == [element]:
                yield asked(
                    scene, "attribute", element, wanted, scene.say("colour", x=colour(element.colour, scene.language))
                )
        for extreme in _EXTREMES.get(element.role, ()):
            wanted = Wanted(role=element.role, extreme=extreme)
            if solve(wanted, scene.shown) == [element]:
                role, x = scene.role(element), word("extremes", extreme, scene.language)
                words = {"role": role, "roles": _plural(role), "x": x}
                yield asked(scene, "attribute", element, wanted, scene.say("extreme", **words))


def _plural(role: str) -> str:
    """Several of them, in English; Chinese needs none, and its sentences take the role itself."""
    if role.endswith("y"):
        return f"{role[:-1]}ies"
    return f"{role}es" if role.endswith(("x", "ch")) else f"{role}s"
