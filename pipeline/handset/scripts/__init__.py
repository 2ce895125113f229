"""The page script that reads what an accessibility service would see of a page: plain JavaScript, run in the page."""

from __future__ import annotations

from functools import cache
from importlib import resources

from pipeline.envs import scripts as web_scripts

_SHARED = ("watch.js", "roles.js", "names.js", "tree.js")


@cache
def page_call(call: str) -> str:
    """An expression that calls one of the script's functions and leaves nothing behind in the page."""
    shared = resources.files(web_scripts)
    parts = [(shared / name).read_text(encoding="utf-8") for name in _SHARED]
    parts.append((resources.files(__name__) / "phone_tree.js").read_text(encoding="utf-8"))
    return "(() => {\n" + "\n".join(parts) + f"\nreturn {call};\n}})()"
