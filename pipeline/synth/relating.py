"""Instructions that go by way of something else: a neighbour, a place in a list, a fact to be compared.

Knows nothing of files and quotas.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.synth.asking import LONGEST, Question, Scene, asked, called, worded
from pipeline.synth.elements import Element, Entry
from pipeline.synth.solving import HOLDERS, Wanted, counted, mentions, ranked, solve
from pipeline.synth.wording import known, measure, ordinal, ordinals, word

_SIDES = ("right", "left")


def spatial(scene: Scene) -> Iterator[Question]:
    """By what it stands beside, or which entry of a list it is in."""
    found = [_beside(scene), _counted(scene), _titled(scene)]
    scene.rng.shuffle(found)
    while found:
        for source in list(found):
            question = next(source, None)
            if question is None:
                found.remove(source)
            else:
                yield question


def reasoning(scene: Scene) -> Iterator[Question]:
    """By a comparison of what the entries of a list say, or by who wrote it."""
    for noun in sorted({entry.en for entry in scene.shown.records}):
        yield from _compared(scene, noun)
    yield from _written(scene)


def _beside(scene: Scene) -> Iterator[Question]:
    controls = [element for element in scene.usable if element.kind == "control" and not element.cut]
    for anchor in scene.drawn(controls):
        name = called(anchor)
        if not 1 < len(name) <= LONGEST or not worded(anchor):
            continue  # what a control without words is called cannot be seen
        side = scene.rng.choice(_SIDES)
        wanted = Wanted(beside=name, side=side)
        found = solve(wanted, scene.shown)
        if len(found) == 1 and found[0] in scene.usable and found[0] != anchor:
            place, towards = _side_words(scene.language, side)
            text = scene.say("beside", x=name, side=place, towards=towards)
            yield asked(scene, "spatial", found[0], wanted, text)


def _side_words(language: str, side: str) -> tuple[str, str]:
    return word("sides", side, language), word("sides", side, language, at=1)


def _counted(scene: Scene) -> Iterator[Question]:
    for target, number in _within(scene):
        entry, place = scene.shown.records[number], counted(scene.shown, number)
        if place is None or place > ordinals():
            continue
        nth = ordinal(place, scene.language)
        wanted = Wanted(label=called(target), role=target.role, record=number)
        if called(target) == entry.title:
            yield asked(
                scene, "spatial", target, wanted, scene.say("nthtitle", nth=nth, n=place, **kind_words(scene, entry))
            )
        elif target.kind == "control" and _shared(scene, target):
            words = {"nth": nth, "n": place, "role": scene.role(target), "x": called(target)}
            text = scene.say("nth", **words, **kind_words(scene, entry))
            yield asked(scene, "spatial", target, wanted, text)


def _titled(scene: Scene) -> Iterator[Question]:
    for target, number in _within(scene):
        entry = scene.shown.records[number]
        if target.kind != "control" or called(target) == entry.title or not _legible(scene, number):
            continue
        words = {"title": entry.title, "role": scene.role(target), **kind_words(scene, entry)}
        wanted = Wanted(label=called(target), role=target.role, record=number)
        yield asked(scene, "spatial", target, wanted, scene.say("of", x=called(target), **words))


def _compared(scene: Scene, noun: str) -> Iterator[Question]:
    facts = sorted({fact for entry in scene.shown.records if entry.en == noun for fact in entry.facts})
    for fact in scene.rng.sample(facts, len(facts)):
        if fact not in known("facts"):
            continue
        for most in scene.rng.sample((False, True), 2):
            number = ranked(scene.shown, noun, fact, most=most)
            if number is not None:
                yield from _about(scene, number, word("facts", fact, scene.language, at=int(most)))


def _about(scene: Scene, number: int, fact: str) -> Iterator[Question]:
    entry = scene.shown.records[number]
    words = {"fact": fact, **kind_words(scene, entry)}
    for target in _own(scene, number):
        wanted = Wanted(label=called(target), role=target.role, record=number)
        if called(target) == entry.title:
            yield asked(scene, "reasoning", target, wanted, scene.say("reasoningtitle", **words))
        elif target.kind == "control" and _shared(scene, target):
            text = scene.say("reasoning", x=called(target), role=scene.role(target), **words)
            yield asked(scene, "reasoning", target, wanted, text)


def _written(scene: Scene) -> Iterator[Question]:
    for target, number in _within(scene):
        entry = scene.shown.records[number]
        if target.kind != "control" or not entry.by or not _shared(scene, target):
            continue
        seen = [element for element in scene.shown.within(number) if element.text == entry.by and element.whole]
        if len(seen) == 1 and not seen[0].cut and sum(other.by == entry.by for other in scene.shown.records) == 1:
            wanted = Wanted(label=called(target), role=target.role, record=number)
            words = {"by": entry.by, "x": called(target), "role": scene.role(target), **kind_words(scene, entry)}
            yield asked(scene, "reasoning", target, wanted, scene.say("sender", **words))


def _shared(scene: Scene, target: Element) -> bool:
    """Whether other records have a control of that name: one that is called after its record gives the answer away."""
    return any(
        other.record not in (target.record, -1) and called(other) == called(target) for other in scene.shown.elements
    )


def kind_words(scene: Scene, entry: Entry) -> dict[str, str]:
    """What one calls such a record, counts it by, and calls what stands at its head."""
    noun = entry.noun(scene.language)
    heading = word("headings", entry.en if entry.en in known("headings") else "name", scene.language)
    return {"noun": noun, "unit": measure(noun), "heading": heading}


def _within(scene: Scene) -> Iterator[tuple[Element, int]]:
    """What can be pointed at within records, each with its record, in a random order."""
    for number in scene.rng.sample(range(len(scene.shown.records)), len(scene.shown.records)):
        for target in _own(scene, number):
            yield target, number


def _own(scene: Scene, number: int) -> Sequence[Element]:
    """What of a record can be pointed at and is the only one of its name there; the title comes among them."""
    own = [
        element
        for element in scene.usable
        if element.record == number and element.role not in HOLDERS and 1 < len(called(element)) <= LONGEST
    ]
    kept = [
        element
        for element in own
        if solve(Wanted(label=called(element), role=element.role, record=number), scene.shown) == [element]
        and worded(element)  # what stands nowhere on the picture is not quoted
        and not element.cut
        and not element.labels
    ]
    return scene.drawn(kept)


def _legible(scene: Scene, number: int) -> bool:
    """Whether a record's title can be read on the screen, and stands there only once."""
    title = scene.shown.records[number].title
    said = mentions(title, scene.shown)
    # A control of the record may be called after it: that names the same record.
    texts = [element for element in said if element.record != number or element.text == title]
    return len(texts) == 1 and texts[0].whole and not texts[0].cut and texts[0].record == number
