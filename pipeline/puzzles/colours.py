"""Colours that a page may ask for: nobody takes one for another, and each has a plain name in both languages."""

from __future__ import annotations

from typing import NamedTuple


class Named(NamedTuple):
    """A colour and what it is called."""

    paint: str
    en: str
    zh: str


COLOURS: tuple[Named, ...] = (
    Named("#d81f26", "red", "红色"),
    Named("#1d4ed8", "blue", "蓝色"),
    Named("#148a3b", "green", "绿色"),
    Named("#f28a00", "orange", "橙色"),
    Named("#8b2fc9", "purple", "紫色"),
    Named("#16181d", "black", "黑色"),
)
