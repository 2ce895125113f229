"""How a screen looks: shell, size, light, colours, letters and density, drawn from a seed.

Knows nothing of what stands on the screen.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from pipeline.actions import Model

Shell = Literal["slate", "pane", "quartz", "web", "phone", "handy"]
"""Three desktops, the web, and two phones."""

Platform = Literal["desktop", "web", "phone"]

SHELLS: Mapping[Platform, tuple[Shell, ...]] = {
    "desktop": ("slate", "pane", "quartz"),
    "web": ("web",),
    "phone": ("phone", "handy"),
}
"""The shells of each platform."""

MOST_PIXELS = 8_300_000
"""No picture is larger."""

_ACCENTS = (
    "#1a73e8",
    "#0b7285",
    "#2f9e44",
    "#c2255c",
    "#6741d9",
    "#e8590c",
    "#3b5bdb",
    "#087f5b",
    "#a61e4d",
)
_FONTS = (
    "'Liberation Sans', 'Noto Sans CJK SC', 'Droid Sans Fallback', sans-serif",
    "'DejaVu Sans', 'Noto Sans CJK SC', 'Droid Sans Fallback', sans-serif",
    "'Liberation Sans Narrow', 'Noto Sans CJK SC', 'Droid Sans Fallback', sans-serif",
    "'DejaVu Sans Condensed', 'Noto Sans CJK SC', 'Droid Sans Fallback', sans-serif",
)
_SIZES: Mapping[Platform, tuple[tuple[int, int, float, int], ...]] = {
    # Width, height, picture pixels per CSS pixel, and how often.
    "desktop": (
        (1280, 720, 1.0, 3),
        (1366, 768, 1.0, 4),
        (1440, 900, 1.0, 3),
        (1536, 864, 1.25, 2),
        (1920, 1080, 1.0, 5),
        (1280, 800, 2.0, 1),
        (2560, 1440, 1.0, 2),
        (3440, 1440, 1.0, 1),
        (2560, 1440, 1.5, 1),
        (3840, 2160, 1.0, 1),
    ),
    "web": (
        (1024, 768, 1.0, 2),
        (1280, 720, 1.0, 4),
        (1440, 900, 1.0, 3),
        (1536, 864, 1.25, 2),
        (1920, 1080, 1.0, 4),
        (1440, 900, 2.0, 1),
        (2560, 1440, 1.0, 1),
        (820, 1180, 1.5, 1),
        (1920, 1080, 2.0, 1),
    ),
    "phone": (
        (360, 740, 3.0, 3),
        (375, 812, 2.0, 2),
        (390, 844, 3.0, 3),
        (393, 852, 2.5, 2),
        (412, 915, 2.0, 3),
        (430, 932, 3.0, 2),
    ),
}


_EVEN: Mapping[Platform, float] = {"desktop": 2.2, "web": 1.0, "phone": 1.8}
"""How much rather a platform is taken where there are several: most kinds of software are on the web as well."""


class Look(Model):
    """One appearance."""

    shell: Shell
    platform: Platform
    width: int
    height: int
    ratio: float
    dark: bool
    accent: str
    font: str
    text_size: int
    density: int
    radius: int
    windowed: bool

    @property
    def theme(self) -> str:
        """A name for looks that share light and accent."""
        return f"{'dark' if self.dark else 'light'}-{self.accent[1:]}"

    @property
    def wide(self) -> bool:
        """Whether there is room for a third column."""
        return self.width >= 1180


class _Letters(NamedTuple):
    """Letters and room that go together."""

    size: int
    density: int


_LETTERS = (_Letters(12, 3), _Letters(13, 4), _Letters(13, 6), _Letters(14, 5), _Letters(15, 8), _Letters(16, 7))


def draw_look(rng: random.Random, platforms: Sequence[Platform]) -> Look:
    """A look for one of these platforms."""
    platform = rng.choices(platforms, weights=[_EVEN[platform] for platform in platforms])[0]
    sizes = _SIZES[platform]
    width, height, ratio, _ = rng.choices(sizes, weights=[size[3] for size in sizes])[0]
    letters = rng.choice(_LETTERS[:4] if platform == "desktop" else _LETTERS[2:])
    larger = max(0, width - 1920) // 320  # nobody reads small letters on a large screen
    return Look(
        shell=rng.choice(SHELLS[platform]),
        platform=platform,
        width=width,
        height=height,
        ratio=ratio,
        dark=rng.random() < 0.35,
        accent=rng.choice(_ACCENTS),
        font=rng.choice(_FONTS),
        text_size=letters.size + larger,
        density=letters.density + larger // 2,
        radius=rng.choice((0, 3, 4, 6, 8, 12)),
        windowed=platform == "desktop" and rng.random() < 0.4,
    )
