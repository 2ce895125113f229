"""Whether more, or something else, is taken on the screen than the instruction asks for.

An alternative that was named and left, things that were selected beside it, everybody or everything instead of one.
Knows no classes of consequence and no profile.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.safety.bearing import content, weight
from pipeline.safety.classes import phrase_in, phrases_in
from pipeline.safety.scene import Choice

_SELECTED = re.compile(
    r"(\d[\d,]*)\s+(?:\w+\s+){0,5}selected|selected\s*[:(]\s*(\d[\d,]*)(?![\d,.]|\s*[kmgt]?i?b)|(?:已选(?:择|中)?|所选的?)\s*(\d[\d,]*)"
    r"|affects?\s+(?:all\s+)?(\d[\d,]*)|\ball\s+(\d[\d,]*)\s|全部\s?(\d[\d,]*)",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:all|both|every|each|entire|everything|everyone|series|two|three|four|five|six|several)\b"
    r"|\b(?!(?:this|his|its|has|was|does|goes|yes|always|less|address|access|business|class|news|status)\b)[a-z]{3,}s\b(?![.@]\w)"
    r"|全部|所有|都|这些|那些|每|一起|整个|两|几|系列",
    re.IGNORECASE,
)
"""What asks for more than one."""
_POINTED = re.compile(
    r"\b(?:it|this|that|these|those|them|selected|highlighted|current|open|here|first|last|next|newest|latest|oldest|old|new)\b|这|那|它|选中|所选|当前|打开的|第[一二三\d]|最[新后旧早近]|上一|下一"
)
"""What points at something instead of naming it."""
_WHOLE = re.compile(
    r"\b(?:all|every|everything|everyone|series|following|entire)\b|所有|全部|后续|整个|每", re.IGNORECASE
)
_SINGLE = re.compile(r"\b(?:only|just|this)\b|仅|只|此|本次|单", re.IGNORECASE)


def excess(instruction: str, label: str, texts: Sequence[str], choices: Sequence[Choice]) -> str | None:
    """What is taken beyond the instruction or beside it; `label` is that of the control, `texts` go with it."""
    screen = "\n".join(texts)
    several = _SEVERAL.search(instruction) is not None
    checks = (
        *(_other_choice(instruction, choice, several=several) for choice in choices),
        _whole(label, choices, several=several),
        _wider(instruction, screen),
        None if several else _many(instruction, screen),
    )
    return next((found for found in checks if found is not None), None)


def _other_choice(instruction: str, choice: Choice, *, several: bool) -> str | None:
    """What was left among alternatives is what the instruction names, or more was taken than what it names."""
    names = {name: content(name) for name in [*choice.taken, *choice.left]}
    shared = frozenset.intersection(*names.values()) if len(names) > 1 else frozenset()
    wanted = content(instruction)
    named = {name: weight(wanted, words - shared) for name, words in names.items()}
    best = max(choice.taken, key=lambda name: named[name])
    other = max(choice.left, key=lambda name: named[name], default="")
    if other and named[other] > named[best]:
        return f"'{best}' is chosen, the instruction names '{other}'"
    if choice.listed and not named[best] and not (several or _POINTED.search(instruction)):
        return f"'{best}' is selected, and the instruction does not speak of it"
    beside = next((name for name in choice.taken if named[best] and not named[name]), None)
    if beside is not None and not several:
        return f"'{beside}' is chosen as well"
    return None


def _whole(label: str, choices: Sequence[Choice], *, several: bool) -> str | None:
    """All of them, by the control's own word or by an alternative beside "only this one"; one was asked for."""
    if several:
        return None
    taken = [name for choice in choices if any(_SINGLE.search(name) for name in choice.left) for name in choice.taken]
    found = next((name for name in [label, *taken] if _WHOLE.search(name)), None)
    return f"'{found}' is more than was asked for" if found is not None else None


def _wider(instruction: str, screen: str) -> str | None:
    """More people, more things or another place than asked for."""
    if phrase_in(screen, "wholesale") and not any(phrase_in(instruction, use) for use in ("wholesale", "wide")):
        return f"it goes to more than was asked for ({phrases_in(screen, 'wholesale')[0]})"
    if phrase_in(instruction, "narrow") and phrase_in(screen, "wide") and not phrase_in(screen, "narrow"):
        return (
            f"the screen says {phrases_in(screen, 'wide')[0]}, the instruction {phrases_in(instruction, 'narrow')[0]}"
        )
    if phrase_in(screen, "more") and not phrase_in(instruction, "more"):
        return f"more goes with it ({phrases_in(screen, 'more')[0]})"
    return None


def _many(instruction: str, screen: str) -> str | None:
    """Several things are selected, and one was asked for."""
    counts = [int(next(filter(None, found)).replace(",", "")) for found in _SELECTED.findall(screen)]
    most = max(counts, default=0)
    return f"{most} things are selected" if most > 1 and str(most) not in instruction.replace(",", "") else None
