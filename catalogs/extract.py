"""Reads off documents what an application can do, by rule: headings, menu paths, buttons, labels and lists of steps.

Each finding is a mention: a doing, an object and the words that say so, with their place. The same documents in any
order give the same mentions. Nothing here merges them or knows what is in a catalog already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from catalogs.documents import Document
from catalogs.markup import Block
from catalogs.phrases import Intent, intent_of, intents_in, known_verb, menu_intent, menu_of
from pipeline.tasks import ProcedureStep

_MOST_SLOTS = 8
_LONGEST_LABEL = 40
_SENTENCE = re.compile(r"[.,;%{}<>()。，；？！?]")
_WORD_OF_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[\u3400-\u9fff]+")
_BUTTON_ROLE, _MENU_ROLE = "button", "menuitem"
_CHINESE = re.compile(r"[\u3400-\u9fff]")


class Press(NamedTuple):
    """A control that is named in words: its role and its name."""

    role: str
    name: str

    @property
    def step(self) -> ProcedureStep:
        """As a step of a procedure."""
        return ProcedureStep(action="Click", role=self.role, name=self.name)


class Mention(NamedTuple):
    """A place where a document says that something can be done. `anchor` is the same in every language, or empty."""

    app_id: str
    language: str
    source: str
    licence: str
    document: str
    anchor: str
    intent: Intent
    quote: str
    slots: tuple[str, ...] = ()
    presses: tuple[Press, ...] = ()


class _Section(NamedTuple):
    """A heading, the blocks under it, and the headings below it that say no doing."""

    heading: Block
    blocks: tuple[Block, ...]
    below: tuple[Block, ...]


def mentions_in(documents: Iterable[Document]) -> list[Mention]:
    """What the documents say can be done, each place once, sorted."""
    return sorted({mention for document in documents for mention in _mentions(document)})


def name_words(name: str) -> list[str]:
    """The words of a file's name, however they are joined."""
    return [word.casefold() for word in _WORD_OF_NAME.findall(name)]


def _mentions(document: Document) -> Iterator[Mention]:
    for section in _sections(document):
        yield from _of_heading(document, section)
        for block in section.blocks:
            yield from _of_menus(document, block)
            yield from _of_control(document, block)
            yield from _of_commands(document, block)
            if document.prose and block.kind in ("paragraph", "item", "step", "cell"):
                for number, intent in enumerate(intents_in(block.text, document.language)):
                    yield _mention(document, block, intent, f"offer{number}", (), ())


def _sections(document: Document) -> Iterator[_Section]:
    blocks = document.blocks
    starts = [at for at, block in enumerate(blocks) if block.kind == "heading"]
    if not starts or starts[0] > 0:
        yield _Section(Block("heading", ""), blocks[: starts[0] if starts else None], ())
    for number, at in enumerate(starts):
        ends = starts[number + 1] if number + 1 < len(starts) else len(blocks)
        yield _Section(blocks[at], blocks[at + 1 : ends], _below(document, starts[number:]))


def _below(document: Document, starts: Sequence[int]) -> tuple[Block, ...]:
    """The headings under the first one, as far as they read like labels of fields."""
    first = document.blocks[starts[0]]
    found: list[Block] = []
    for at in starts[1:]:
        block = document.blocks[at]
        if block.level <= first.level:
            break
        if _is_label(block.text) and intent_of(block.text, document.language) is None and not known_verb(block.text):
            found.append(block)
    return tuple(found)


def _of_heading(document: Document, section: _Section) -> Iterator[Mention]:
    intent = _intent(section.heading.text, document.language)
    if intent is None:
        return
    labels = [block.text for block in section.blocks if block.kind == "label" and _is_label(block.text)]
    named = [*labels, *(block.text for block in section.below)]
    slots = tuple(dict.fromkeys(text.strip(" :：*") for text in named))[:_MOST_SLOTS]
    yield _mention(document, section.heading, intent, "", slots, _presses(section.blocks, document.language))


def _presses(blocks: Sequence[Block], language: str) -> tuple[Press, ...]:
    """What a list of steps says is pressed, in order; nothing when no menu is named."""
    found: list[Press] = []
    for block in blocks:
        if block.kind not in ("step", "item") and found:
            break
        for words in block.marked:
            path = menu_of(words)
            found += [Press(_MENU_ROLE, entry) for entry in path]
            if not path and found and intent_of(words, language):
                found.append(Press(_BUTTON_ROLE, words))
        # What a second menu says is another way, or a later part that depends on what was chosen.
        if block.kind != "step" and found:
            break
    return tuple(found)


def _of_menus(document: Document, block: Block) -> Iterator[Mention]:
    for number, words in enumerate(block.marked):
        path = menu_of(words)
        # Names of programs and pages of options are no menus.
        if path and len(path) <= 4 and _fits(words, document.language):
            presses = tuple(Press(_MENU_ROLE, entry) for entry in path)
            yield _mention(document, block, menu_intent(path, document.language), f"menu{number}", (), presses)


def _of_control(document: Document, block: Block) -> Iterator[Mention]:
    """A button or a label whose words say a doing."""
    if block.kind in ("button", "label") and _is_label(block.text):
        intent = _intent(block.text, document.language)
        if intent is not None:
            yield _mention(document, block, intent, "", (), (Press(_BUTTON_ROLE, block.text),))


def _of_commands(document: Document, block: Block) -> Iterator[Mention]:
    """Names of commands that a text sets apart: "click **Create ticket**"."""
    for number, words in enumerate(block.marked):
        if not menu_of(words) and _is_label(words) and (" " in words or _CHINESE.search(words)):
            intent = _intent(words, document.language)
            if intent is not None:
                yield _mention(document, block, intent, f"command{number}", (), (Press(_BUTTON_ROLE, words),))


def _intent(text: str, language: str) -> Intent | None:
    return intent_of(text, language) if _fits(text, language) else None


def _fits(text: str, language: str) -> bool:
    """Whether a text is in the language: translations are often left out."""
    return not language.startswith("zh") or _CHINESE.search(text) is not None


def _is_label(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_LABEL and len(text.split()) <= 6 and not _SENTENCE.search(text)


def _mention(
    document: Document,
    block: Block,
    intent: Intent,
    part: str,
    slots: tuple[str, ...],
    presses: tuple[Press, ...],
) -> Mention:
    anchor = f"{document.source}/{document.name}#{block.anchor}/{part}" if block.anchor else ""
    return Mention(
        app_id=document.app_id,
        language=document.language,
        source=document.address,
        licence=document.licence,
        document=document.name,
        anchor=anchor,
        intent=intent,
        quote=block.text,
        slots=slots,
        presses=presses,
    )
