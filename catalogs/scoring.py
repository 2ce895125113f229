"""What one page says about a site as an environment: six scores from 0 to 1, by stated formulas.

A score says what the front page shows a visitor without an account; it is a rough order for choosing sites, not a
verdict. Counts are squeezed by `1 - exp(-n / scale)`, so that the first link counts more than the hundredth. Knows
nothing of how the page was fetched.
"""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image, UnidentifiedImageError
from pydantic import AwareDatetime

from pipeline.actions import Model

Outcome = Literal["scored", "robots", "moved", "unreachable"]
"""`robots`: the site asks not to be read; `moved`: it leads to another site; `unreachable`: no answer in time."""

_HIDDEN = frozenset({"script", "style", "noscript", "template"})
_CONTROLS = frozenset({"button", "select", "textarea", "input", "summary"})
_ROLES = frozenset({"button", "checkbox", "combobox", "menuitem", "searchbox", "slider", "switch", "tab", "textbox"})
_MOVING = frozenset({"time", "video", "audio", "canvas"})
_PICTURES = frozenset({"img", "picture", "svg", "video"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_WALL = re.compile(
    r"captcha|verify (?:that )?you are (?:a )?human|checking your browser|unusual traffic|access denied"
    r"|人机验证|安全验证|访问过于频繁",
    re.IGNORECASE,
)
_PARKED = re.compile(r"domain (?:name )?is (?:parked|for sale)|buy this domain|域名出售|此域名", re.IGNORECASE)
_MARKUP = re.compile(
    r"(?P<comment><!--)|<[!?][^<>]*>?|<(?P<closing>/?)(?P<name>[a-zA-Z][a-zA-Z0-9-]*)(?P<rest>[^<>]*)>?"
)
_ATTRIBUTE = re.compile(r"""([a-zA-Z][\w-]*)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"']+))?""")
_MOST_CHARACTERS = 500_000
_FEW_WORDS = 120
_REFUSALS = frozenset({401, 403, 429, 451})


class PageFacts(NamedTuple):
    """What was counted on a page."""

    words: int
    links: int
    controls: int
    passwords: int
    pictures: int
    headings: int
    scripts: int
    moving: int
    walled: bool
    parked: bool


class _Tag(NamedTuple):
    name: str
    attributes: dict[str, str]


class Scores(Model):
    """Each from 0 to 1; `visual` is null where nobody looked at the picture."""

    liveness: float
    accessibility: float
    dynamism: float
    interactivity: float
    richness: float
    visual: float | None

    @property
    def overall(self) -> float:
        """The mean of those that are known, and nothing for a site that cannot be used."""
        known = [value for _, value in self if value is not None]
        return round(sum(known) / len(known), 3) if self.liveness and self.accessibility else 0.0


class SiteScore(Model):
    """What came of one site; `scores` is null unless its page was read."""

    domain: str
    checked_at: AwareDatetime
    outcome: Outcome
    status: int | None = None
    seconds: float = 0.0
    scores: Scores | None = None
    detail: str = ""


def facts_of(html: str) -> PageFacts:
    """What the beginning of a page holds; any text is a page."""
    found: Counter[str] = Counter()
    shown = []
    for part in _parts(html[:_MOST_CHARACTERS]):
        if isinstance(part, str):
            shown.append(part)
        else:
            _count(part, found)
    text = unescape(" ".join(shown))
    words = len(re.findall(r"[⺀-鿿]|[^\W⺀-鿿]+", text))
    few = words < _FEW_WORDS
    return PageFacts(
        words=words,
        links=found["links"],
        controls=found["controls"],
        passwords=found["passwords"],
        pictures=found["pictures"],
        headings=found["headings"],
        scripts=found["scripts"],
        moving=found["moving"],
        walled=few and bool(_WALL.search(text)),
        parked=few and bool(_PARKED.search(text)),
    )


def scores_of(status: int, facts: PageFacts, visual: float | None = None) -> Scores:
    """The scores of a page that came with this status."""
    answered = 200 <= status < 300 and not facts.parked
    return Scores(
        liveness=1.0 if answered else 0.5 if status in _REFUSALS else 0.0,
        accessibility=_accessibility(facts) if answered else 0.0,
        dynamism=_mean((0.6, _filled(facts.scripts, 15)), (0.4, _filled(facts.moving, 5))),
        interactivity=_mean((0.7, _filled(facts.controls, 10)), (0.3, _filled(facts.links, 60))),
        richness=_mean(
            (0.4, _filled(facts.words, 400)),
            (0.3, _filled(facts.pictures, 15)),
            (0.15, _filled(facts.headings, 10)),
            (0.15, _filled(facts.links, 60)),
        ),
        visual=visual,
    )


def visual_of(picture: bytes) -> float | None:
    """How much a picture shows: its colours, its edges, and how much of it is not one flat colour; null if unreadable.

    Colours are measured as in Hasler and Süsstrunk, "Measuring colourfulness in natural images" (2003).
    """
    try:
        with Image.open(io.BytesIO(picture)) as opened:
            pixels = np.asarray(opened.convert("RGB").resize((320, 200)), dtype=np.float64)
    except (UnidentifiedImageError, OSError):
        return None
    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    opposed = (red - green, (red + green) / 2 - blue)
    spread, offset = (math.hypot(*(measure(side) for side in opposed)) for measure in (np.std, np.mean))
    grey = pixels.mean(axis=2)
    edges = (np.abs(np.diff(grey, axis=0)) > 24).mean() + (np.abs(np.diff(grey, axis=1)) > 24).mean()
    levels = (pixels // 16).astype(np.int64)
    flat = np.bincount((levels[..., 0] * 256 + levels[..., 1] * 16 + levels[..., 2]).ravel()).max() / grey.size
    colourful = min(1.0, (spread + 0.3 * offset) / 60)
    return _mean((0.3, colourful), (0.4, min(1.0, float(edges) / 0.2)), (0.3, 1 - float(flat)))


def _parts(html: str) -> Iterator[str | _Tag]:
    """Text that shows and opening tags, in one pass.

    The standard library's parser takes minutes for a hostile page of this size, and gives up on some others.
    """
    lowered, place = html.lower(), 0
    while found := _MARKUP.search(html, place):
        yield html[place : found.start()]
        name = (found["name"] or "").lower()
        place = found.end()
        if found["comment"]:
            place = _after(html, "-->", place)
        elif name and not found["closing"]:
            yield _Tag(name, _attributes(found["rest"]))
            if name in _HIDDEN:
                place = _after(lowered, f"</{name}", place)
    yield html[place:]


def _after(text: str, mark: str, place: int) -> int:
    """The place after a mark, or the end of the text."""
    found = text.find(mark, place)
    return len(text) if found < 0 else found + len(mark)


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): value.strip("\"'") for name, value in _ATTRIBUTE.findall(text)}


def _count(tag: _Tag, found: Counter[str]) -> None:
    given = tag.attributes
    found["scripts"] += tag.name == "script"
    found["links"] += tag.name == "a" and bool(given.get("href"))
    found["pictures"] += tag.name in _PICTURES
    found["headings"] += tag.name in _HEADINGS
    found["moving"] += tag.name in _MOVING or "aria-live" in given
    found["passwords"] += given.get("type") == "password"
    control = tag.name in _CONTROLS and given.get("type") != "hidden"
    found["controls"] += control or given.get("role") in _ROLES


def _accessibility(facts: PageFacts) -> float:
    if facts.walled:
        return 0.0
    return 0.25 if facts.passwords and facts.words < _FEW_WORDS else 1.0


def _filled(count: int, scale: float) -> float:
    return 1 - math.exp(-count / scale)


def _mean(*weighted: tuple[float, float]) -> float:
    return round(sum(weight * value for weight, value in weighted), 3)
