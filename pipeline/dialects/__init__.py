"""Dialects: how models spell actions. One module per family of grammars; this one lists them by name."""

from __future__ import annotations

from pipeline.dialects import canonical, fara, open_autoglm, tool_use, ui_tars, ui_venus
from pipeline.dialects.base import AT_CENTRE, EDGE, Dialect, Move, Picture, Reading, Said
from pipeline.errors import ConfigError

__all__ = ["AT_CENTRE", "EDGE", "Dialect", "Move", "Picture", "Reading", "Said", "dialect_names", "load_dialect"]

_DIALECTS: tuple[Dialect, ...] = (
    canonical.CANONICAL_DIALECT,
    canonical.IN_PIXELS,
    canonical.IN_FRACTIONS,
    canonical.Y_FIRST,
    fara.VERSION_1,
    fara.VERSION_1_5,
    tool_use.GUI_OWL,
    tool_use.MAI_UI,
    open_autoglm.OPEN_AUTOGLM,
    tool_use.QWEN3_VL,
    ui_tars.VERSION_1,
    ui_tars.VERSION_1_5,
    ui_venus.VERSION_1_5,
    ui_venus.BROWSER,
    ui_venus.DESKTOP,
    ui_venus.GROUNDING,
    ui_venus.MOBILE,
    ui_venus.PUZZLE,
)
"""Sorted by name."""


def dialect_names() -> list[str]:
    """The names of all dialects, sorted."""
    return [dialect.name for dialect in _DIALECTS]


def load_dialect(name: str) -> Dialect:
    """The dialect of this name; raises ConfigError."""
    for dialect in _DIALECTS:
        if dialect.name == name:
            return dialect
    raise ConfigError(f"model.dialect: no dialect '{name}'; dialects: {', '.join(dialect_names())}")
