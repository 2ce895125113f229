"""Whether the instruction gives leave for what an action would bring about: this very thing, object and amount.

Leave is explicit when the instruction asks for the class in its words and nothing on the screen goes beyond it: no
other object than it names, no other amount or recipient, nothing wholesale it did not ask for. Knows no profile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pipeline.safety.classes import asked, plain
from pipeline.safety.reading import Finding

_QUOTED = re.compile(r"[\"“「『《']([^\"”」』》']{2,80})[\"”」』》']")
_AMOUNT = re.compile(
    r"(?:[$€£¥￥]\s?(\d[\d,]*(?:\.\d+)?))|(?:(\d[\d,]*(?:\.\d+)?)\s?(?:usd|eur|cny|rmb|dollars?|euros?|yuan|元|块|美元|欧元))"
)
_COUNT = re.compile(
    r"\b(\d+)\s+(?:items?|files?|messages?|photos?|contacts?|people|recipients|members|pages|records|rows|emails?)\b|(\d+)\s*(?:个|条|张|封|位|人|项)"
)
_ALL = re.compile(
    r"\b(?:all|everything|every|everyone|entire|whole|anyone|public|factory)\b|全部|所有|一切|整个|每个|任何人|群发|公开"
)
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+|\+?\d[\d -]{7,}\d")
_MONEY = frozenset({"pay", "transfer", "trade", "order", "subscribe"})
_TYPED = frozenset({"personal", "credential", "login"})


def refusal_of(instruction: str, finding: Finding) -> str | None:
    """Why the instruction does not give leave; nothing when it does."""
    text = plain(instruction)
    if finding.place == "field" and finding.kind.name in _TYPED:
        value = plain(" ".join(finding.texts))
        return None if value and value in text else "what is entered was not given by the user"
    if finding.place == "command":
        return (
            None
            if plain(finding.words) in text or plain(" ".join(finding.texts)) in text
            else "the command was not asked for"
        )
    if not asked(instruction, finding.kind):
        return f"the instruction does not ask for it ({finding.words})"
    said = plain(" \n ".join(finding.texts))
    return _beyond(text, said, finding)


def _beyond(text: str, said: str, finding: Finding) -> str | None:
    """What the screen names and the instruction does not."""
    named = [plain(found) for found in _QUOTED.findall(" ".join(finding.texts))]
    if named and not any(name in text for name in named):
        return f"the instruction does not name '{named[0]}'"
    amounts = _amounts(said)
    if finding.kind.name in _MONEY and amounts:
        allowed = _amounts(text) | _numbers(text)
        if not amounts & allowed:
            return f"the amount {max(amounts):g} was not named"
    if _ALL.search(said) and not _ALL.search(text) and not _covers(finding, named):
        return "it would be done to everything"
    counts = {int(a or b) for a, b in _COUNT.findall(said)}
    if (
        counts
        and max(counts) > 1
        and not counts & {int(n) for n in _numbers(text) if n == int(n)}
        and not _ALL.search(text)
    ):
        return f"it would be done to {max(counts)} things"
    strangers = [found for found in _ADDRESS.findall(said) if found not in text]
    if strangers and finding.kind.name in ("send", "share", "transfer", "grant", "push"):
        return f"the instruction does not name {strangers[0]}"
    return None


def _covers(finding: Finding, named: list[str]) -> bool:
    """Whether a wholesale word on the screen is only a part of how one thing is spoken of."""
    return bool(named) and finding.kind.name not in ("share", "uninstall")


def _amounts(text: str) -> set[float]:
    return {_number(a or b) for a, b in _AMOUNT.findall(text)}


def _numbers(text: str) -> set[float]:
    return {_number(found) for found in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def joined(texts: Iterable[str]) -> str:
    """Texts as one, for a reason that a person reads."""
    return "; ".join(text for text in texts if text)[:200]
