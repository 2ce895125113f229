"""Instructions that nothing on the screen fits, proved by solving them over the whole page.

What is asked for is near to what there is: another icon, another entry, an entry too many, a control that the entries
do not have. Knows nothing of files and quotas.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.synth.asking import Question, Scene, called
from pipeline.synth.elements import Shown
from pipeline.synth.icons import icons
from pipeline.synth.meaning import hinted
from pipeline.synth.relating import kind_words
from pipeline.synth.solving import Wanted, counted, drawn, solve
from pipeline.synth.wording import LANGUAGES, known, ordinal, ordinals, pairs, word


def refusal(scene: Scene) -> Iterator[Question]:
    """By what is not there; the ways take turns."""
    ways = [_no_label(scene), _no_control(scene), _too_far(scene), _no_hue(scene)]
    if scene.shown.told:  # what an icon that nobody has explained is for may be the very thing
        ways += [_no_icon(scene), _no_purpose(scene)]
    scene.rng.shuffle(ways)
    while ways:
        for way in list(ways):
            question = next(way, None)
            if question is None:
                ways.remove(way)
            else:
                yield question


def _refused(scene: Scene, wanted: Wanted, text: str, label: str) -> Question:
    return Question("refusal", text, scene.language, None, wanted, label)


def _no_label(scene: Scene) -> Iterator[Question]:
    for pair in scene.rng.sample(list(pairs("strangers")), len(pairs("strangers"))):
        name = pair[LANGUAGES.index(scene.language)]
        if _nowhere(scene, pair):
            text = scene.say("literal", x=name, role=word("roles", "button", scene.language))
            yield _refused(scene, Wanted(label=name), text, f"label {pair[0]}")


def _no_icon(scene: Scene) -> Iterator[Question]:
    for name in scene.rng.sample(sorted(icons()), len(icons())):
        if _absent(scene, name):
            text = scene.say("icon", x=icons()[name].purpose(scene.language))
            yield _refused(scene, Wanted(purpose=name), text, f"icon {name}")


def _no_purpose(scene: Scene) -> Iterator[Question]:
    plain = sorted(set(known("intents")) - set(known("vague")))
    for act in scene.rng.sample(plain, len(plain)):
        if _absent(scene, act):
            text = scene.say("functional", x=word("intents", act, scene.language))
            yield _refused(scene, Wanted(purpose=act), text, f"intent {act}")


def _absent(scene: Scene, purpose: str) -> bool:
    """Whether nothing is for this, nor says a word, seen or not, that people know it by."""
    there = solve(Wanted(purpose=purpose), scene.shown) or drawn(purpose, scene.shown)
    return not there and not hinted(purpose, _said(scene.shown))


def _said(shown: Shown) -> str:
    """All the words of a page, a line each."""
    return "\n".join([shown.title, *shown.said, *(text for one in shown.elements for text in (one.name, one.text))])


def _nowhere(scene: Scene, pair: Sequence[str]) -> bool:
    """Whether no language's words for a thing are on the page."""
    said = _said(scene.shown).casefold()
    return not any(spelled.casefold() in said for spelled in pair)


def _no_control(scene: Scene) -> Iterator[Question]:
    """A control that a record does not have, named together with that record's title."""
    for number in scene.rng.sample(range(len(scene.shown.records)), len(scene.shown.records)):
        entry = scene.shown.records[number]
        pair = scene.rng.choice(pairs("strangers"))
        name = pair[LANGUAGES.index(scene.language)]
        titles = [element for element in scene.usable if element.record == number and called(element) == entry.title]
        if titles and not titles[0].cut and _nowhere(scene, pair):
            words = {"title": entry.title, **kind_words(scene, entry)}
            text = scene.say("of", x=name, role=word("roles", "button", scene.language), **words)
            yield _refused(scene, Wanted(label=name, record=number), text, f"control {pair[0]} {entry.title}")


def _too_far(scene: Scene) -> Iterator[Question]:
    """The entry after the last one of a list that ends on the screen."""
    for number in range(len(scene.shown.records)):
        place = counted(scene.shown, number)
        entry = scene.shown.records[number]
        if place is None or place >= ordinals() or place != len(scene.shown.members(entry.group)):
            continue
        beyond = scene.rng.randint(place + 1, ordinals())
        words = {"nth": ordinal(beyond, scene.language), "n": beyond, **kind_words(scene, entry)}
        wanted = Wanted(label=entry.title, record=len(scene.shown.records))
        yield _refused(scene, wanted, scene.say("nthtitle", **words), f"place {beyond} {entry.en}")


def _no_hue(scene: Scene) -> Iterator[Question]:
    """A colour that is not among those offered."""
    if not any(element.colour for element in scene.shown.elements):
        return
    for pair in scene.rng.sample(list(pairs("hues")), len(pairs("hues"))):
        name = pair[LANGUAGES.index(scene.language)]
        if _nowhere(scene, pair):
            yield _refused(scene, Wanted(colour=name), scene.say("colour", x=name), f"hue {pair[0]}")
