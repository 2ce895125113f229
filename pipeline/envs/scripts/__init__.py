"""Page scripts of the web environment: plain JavaScript, joined into one expression that runs apart from the page."""

from __future__ import annotations

from functools import cache
from importlib import resources

_FILES = ("watch.js", "roles.js", "names.js", "tree.js", "hit.js", "fill.js")
_PUBLIC = (
    "look",
    "hit",
    "quiet",
    "fontsCome",
    "stamp",
    "scroller",
    "entered",
    "expectText",
    "textOutcome",
    "choose",
    "choiceOutcome",
)


@cache
def page_script() -> str:
    """An expression that makes the functions of the scripts available as `pathproof.<name>`, once per document."""
    folder = resources.files(__name__)
    source = "\n".join((folder / name).read_text(encoding="utf-8") for name in _FILES)
    return (
        f"(() => {{ if (globalThis.pathproof) return;\n{source}\nglobalThis.pathproof = {{{', '.join(_PUBLIC)}}}; }})()"
    )
