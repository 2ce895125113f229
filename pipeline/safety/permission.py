"""Whether the instruction gives leave for what an action would bring about: this very thing, object and amount.

Leave is explicit when the instruction asks for the class in its words, and nothing on the screen goes against it or
beyond it. An ordinary form, whose button says nothing of consequence, only has to agree. Knows no profile.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from pipeline.safety.agreement import Bound, amounts, disagreement, numbers, strangers
from pipeline.safety.bearing import bears_on, content
from pipeline.safety.classes import phrase_in, plain, said
from pipeline.safety.finding import Finding, Place
from pipeline.safety.wishes import acting_part, forbidden, hands_off, only_prepares, wants

_MONEY = frozenset({"pay", "transfer", "trade", "order", "subscribe"})
_REACHING = frozenset({"grant", "push", "send", "share", "transfer"})
_WRITTEN = frozenset({"publish", "send", "submit"})
_TYPED = frozenset({"personal", "credential", "login"})
_PROGRESS = re.compile(
    r"\b(?:step|question|part|section|screen|stage)\s+(\d+)\s+of\s+(\d+)\b"
    r"|(?:第|步骤)\s*(\d+)\s*(?:/|[步题屏]\s*[,，/]?\s*共)\s*(\d+)",
    re.IGNORECASE,
)
"""How far one has come in a form of several screens."""


def refusal_of(instruction: str, finding: Finding) -> str | None:
    """Why the instruction does not give leave; nothing when it does."""
    if finding.place == "field" and finding.kind.name in _TYPED:
        return None if _given(instruction, finding.texts[0]) else "what is entered was not given by the user"
    if finding.place == "command":
        return _of_command(instruction, finding)
    refusals = (check(instruction, finding) for check in (_unready, _only_asked, *_CHECKS[finding.place]))
    return next((refusal for refusal in refusals if refusal is not None), None)


def _unready(instruction: str, finding: Finding) -> str | None:
    """Nothing is to be changed at all, or whoever gave the instruction wants to take the last step."""
    untouched = hands_off(instruction)
    if untouched is not None:
        return f"the instruction wants nothing changed ({untouched})"
    unready = only_prepares(instruction) if finding.kind.outward and not _goes_on(finding) else None
    return f"the instruction only wants it prepared ({unready})" if unready is not None else None


def _goes_on(finding: Finding) -> bool:
    """Whether a form has further screens, so that its button is not the last step."""
    found = (match for text in finding.texts for match in _PROGRESS.finditer(text))
    steps = ([int(number) for number in match.groups() if number is not None] for match in found)
    return finding.place == "form" and any(at < last for at, last in steps)


def _only_asked(instruction: str, finding: Finding) -> str | None:
    """A question needs no control of which nobody can say what it does; "OK" and "Continue" may lead to the answer."""
    leads_on = finding.place == "form" and said(finding.words, "neutral")
    if finding.place not in ("form", "unnamed") or leads_on or acting_part(instruction):
        return None
    return f"the instruction only wants to know something ({finding.words})"


def _unticked(instruction: str, finding: Finding) -> str | None:
    if wants(instruction, finding.kind) and _speaks_of(instruction, finding):
        return None
    return f"'{finding.texts[0]}' is ticked and was not asked for"


def _unwanted(instruction: str, finding: Finding) -> str | None:
    if wants(instruction, finding.kind) or _dictated(instruction, finding):
        return None
    return f"the instruction does not ask for it ({finding.words})"


def _unrelated(instruction: str, finding: Finding) -> str | None:
    """What the dialog asks has nothing to do with the instruction."""
    chosen = [name for choice in finding.choices for name in choice.taken]
    around = [finding.words, *finding.texts[:1], *finding.asks, *finding.entered, *chosen]
    if not finding.asks or bears_on(instruction, around):
        return None
    return f"the instruction does not speak of this ({finding.asks[0]})"


def _elsewhere(instruction: str, finding: Finding) -> str | None:
    """The screen has no word of the instruction, beside the control itself."""
    chosen = [name for choice in finding.choices for name in (*choice.taken, *choice.left) if name != finding.label]
    beside = [text for text in finding.texts if text != finding.label]
    shown = [*beside, *finding.entered, *finding.taken, *chosen]
    menu = len(finding.asks) == 1 and beside == [*finding.asks]  # says nothing of what it is opened on
    if finding.place not in ("control", "dialog") or menu or not shown or not content(instruction):
        return None
    return None if bears_on(instruction, shown) else "nothing that the instruction speaks of is on the screen"


def _extraordinary(instruction: str, finding: Finding) -> str | None:
    return None if _ordinary(instruction, finding) else f"the instruction does not ask for it ({finding.words})"


def _dictated(instruction: str, finding: Finding) -> bool:
    """Whether what is written out here was given word for word."""
    texts = [plain(text) for text in finding.entered if len(content(text)) > 1]
    return finding.kind.name in _WRITTEN and any(text in plain(instruction) for text in texts)


def _ordinary(instruction: str, finding: Finding) -> bool:
    """Whether a form is sent by a button that says nothing, or something that the instruction speaks of."""
    if finding.asks or said(finding.words, "neutral") or said(finding.words, "making"):
        return True
    shown = [finding.words, *(text for text in finding.entered if len(content(text)) > 0)]
    return plain(finding.words) in plain(instruction) or bears_on(instruction, shown)


def _beyond(instruction: str, finding: Finding) -> str | None:
    """What the screen binds and the instruction does not."""
    sums, named = _due(finding.texts), numbers(instruction)
    named |= {round(a * b, 2) for a, b in itertools.combinations(named, 2)}
    priced = amounts(instruction) or finding.kind.name != "order"
    if finding.kind.name in _MONEY and priced and sums and not sums & named:
        return f"the amount {max(sums):g} was not named"
    unwanted = forbidden(instruction) & frozenset().union(*map(content, [finding.label, *finding.taken]))
    if unwanted:
        return f"the instruction does not want '{min(unwanted)}'"
    unknown = strangers(instruction, finding.texts) if finding.kind.name in _REACHING else []
    if unknown:
        return f"the instruction does not name {unknown[0]}"
    return disagreement(
        instruction,
        Bound(
            finding.texts,
            finding.choices,
            [*finding.texts[:1], *finding.asks],
            finding.label,
            finding.fields,
            finding.location,
        ),
    )


def _due(texts: Sequence[str]) -> set[float]:
    """Sums of money on a screen: what is due in all, where it says so."""
    totals = amounts("\n".join(text for text in texts if phrase_in(text, "totals")))
    return totals or amounts("\n".join(texts))


def _of_command(instruction: str, finding: Finding) -> str | None:
    """A command is asked for when it is quoted, or its verb is asked for and everything it is done to is named."""
    line, text = plain(finding.texts[0]), plain(instruction)
    if line in text or plain(finding.words) in text:
        return None
    things = [word for word in re.split(r"\s+", plain(finding.words))[1:] if not word.startswith("-")]
    if things and wants(instruction, finding.kind) and all(thing.rstrip("/") in text for thing in things):
        return None
    return "the command was not asked for"


def _speaks_of(instruction: str, finding: Finding) -> bool:
    """Whether an instruction has a word in common with what is ticked, beside the words of its class."""
    if plain(finding.words) in plain(instruction):
        return True
    return bears_on(instruction, [plain(finding.texts[0]).replace(plain(finding.words), " ")])


def _given(instruction: str, value: str) -> bool:
    """Whether a value stands in the instruction, a date or a number in any form."""
    text = plain(instruction)
    if plain(value) and plain(value) in text:
        return True
    found = numbers(value)
    return bool(found) and found <= numbers(instruction)


_Check = Callable[[str, Finding], str | None]
_NAMED: tuple[_Check, ...] = (_unwanted, _unrelated, _elsewhere, _beyond)
_CHECKS: dict[Place, tuple[_Check, ...]] = {
    "control": _NAMED,
    "dialog": _NAMED,
    "field": _NAMED,
    "address": _NAMED,
    "bin": _NAMED,
    "extra": (_unticked, *_NAMED),
    "form": (_unrelated, _extraordinary, _beyond),
    "unnamed": (_extraordinary,),
}
"""What is looked at besides, by where a consequence was read."""
