"""The HTML templates: every expression is escaped, and a name that was not given is an error.

Knows nothing of what the pages show.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template, select_autoescape


@cache
def page_template(name: str) -> Template:
    """The template of a page by its file name."""
    environment = Environment(
        loader=PackageLoader("pipeline"), autoescape=select_autoescape(default=True), undefined=StrictUndefined
    )
    return environment.get_template(name)
