"""Draws a screen: a number becomes a look, a story and the HTML of one page that stands by itself.

The same seed and number give the same page. Knows nothing of browsers and labels.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple, cast

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined, Template, select_autoescape

from pipeline.records import digest
from pipeline.synth.content import LOCALES, Content
from pipeline.synth.goods import goods
from pipeline.synth.icons import icons
from pipeline.synth.looks import Look, Platform, draw_look

Colours = Mapping[str, Any]

_LIGHT = (
    {"bg": "#f6f7f9", "face": "#ffffff", "sunk": "#eef0f3", "text": "#1c2430", "muted": "#667081", "rule": "#d7dce3"},
    {"bg": "#ffffff", "face": "#ffffff", "sunk": "#f5f5f4", "text": "#202124", "muted": "#6b6b6b", "rule": "#e1e1de"},
    {"bg": "#f4f1ea", "face": "#fffdf8", "sunk": "#ebe6db", "text": "#2b2620", "muted": "#776d5f", "rule": "#dbd3c4"},
)
_DARK = (
    {"bg": "#16181c", "face": "#1f2227", "sunk": "#191b1f", "text": "#e7e9ec", "muted": "#98a1ad", "rule": "#333840"},
    {"bg": "#0e1117", "face": "#161b22", "sunk": "#11161d", "text": "#dfe6ee", "muted": "#8b96a4", "rule": "#2b323b"},
    {"bg": "#23211f", "face": "#2c2927", "sunk": "#1e1c1a", "text": "#efe9e1", "muted": "#a89f94", "rule": "#44403b"},
)
_WALLS = (
    ("#1d3557", "#457b9d", "#a8dadc"),
    ("#2b2d42", "#8d5a97", "#ef9a9a"),
    ("#14342b", "#3b7a57", "#c9d8b6"),
    ("#3a2e39", "#c97b63", "#f4d8cd"),
)


class Screen(NamedTuple):
    """One page, and what it was drawn from."""

    screen_id: str
    number: int
    family: str
    language: str
    look: Look
    html: str
    told: bool = True
    """Whether its own notes on icons, acts, colours and records are to be believed."""


@cache
def families() -> Mapping[str, tuple[Platform, ...]]:
    """Every family, and the platforms it is found on."""
    text = (resources.files("pipeline.synth") / "families.yaml").read_text(encoding="utf-8")
    return {name: tuple(platforms) for name, platforms in yaml.safe_load(text).items()}


def draw(seed: int, index: int) -> Screen:
    """The screen of this number; each family comes once before any comes again."""
    names = sorted(families())
    round_, place = divmod(index, len(names))
    random.Random(f"order {seed} {round_}").shuffle(names)
    return draw_family(names[place], seed, index)


def draw_family(family: str, seed: int, index: int) -> Screen:
    """A screen of this family."""
    screen_id = digest("screen", str(seed), str(index), family)
    rng = random.Random(screen_id)
    look = draw_look(rng, cast("Sequence[Platform]", families()[family]))
    language = rng.choice(sorted(LOCALES))
    content = Content(language, rng.getrandbits(48))
    html = _template(family).render(**_context(rng, look, content))
    return Screen(screen_id, index, family, language, look, html)


def _context(rng: random.Random, look: Look, s: Content) -> dict[str, Any]:
    """What every template may use; families say the rest."""
    return {
        "s": s,
        "look": look,
        "c": _colours(rng, look),
        "icons": icons(),
        "snug": look.width < 1300,
        "ph": look.platform == "phone",
        "minutes": rng.randrange(6 * 60, 23 * 60),
        "here": rng.choice((0, 0, 0, 1, 2)),
        "scroll": rng.choice((0, 0, 0, 0.3, 1)),
        "over": rng.choices(("", "dialog", "toast", "menu"), weights=(76, 5, 9, 10))[0],
        "worded": rng.random() < 0.3,
        "primary": None,
        "subtitle": "",
        "sided": False,
        "palette": False,
        "guest": False,
        "seek": False,
        "status": [],
        "menus": _menus(s),
        "asked": _asked(rng, s),
        "popped": _popped(s),
        "docked": _docked(s),
    }


def _colours(rng: random.Random, look: Look) -> Colours:
    chosen = rng.choice(_DARK if look.dark else _LIGHT)
    over = "#ffffff14" if look.dark else "#0000000d"
    return {**chosen, "tint": f"{look.accent}{'55' if look.dark else '22'}", "over": over, "wall": rng.choice(_WALLS)}


def _menus(s: Content) -> list[str]:
    pairs = (
        ("File", "文件"),
        ("Edit", "编辑"),
        ("View", "视图"),
        ("Insert", "插入"),
        ("Tools", "工具"),
        ("Window", "窗口"),
        ("Help", "帮助"),
    )
    return [s.t(*pair) for pair in pairs]


def _asked(rng: random.Random, s: Content) -> Sequence[str]:
    """What a dialog asks: its head, what it says and what its button says; and what a notice says."""
    chosen = rng.choice(
        (
            (
                ("Discard your changes?", "放弃更改？"),
                ("What you have not saved will be lost.", "未保存的内容将丢失。"),
                ("Discard", "放弃"),
                ("Changes saved", "更改已保存"),
            ),
            (
                ("Move to the bin?", "移到回收站？"),
                ("You can restore it within 30 days.", "30天内可以恢复。"),
                ("Move", "移动"),
                ("1 item moved", "已移动1个项目"),
            ),
            (
                ("Sign out?", "退出登录？"),
                ("Other devices stay signed in.", "其他设备仍保持登录。"),
                ("Sign out", "退出"),
                ("Link copied", "链接已复制"),
            ),
            (
                ("Update available", "有可用更新"),
                ("The update takes about four minutes.", "更新约需四分钟。"),
                ("Install now", "立即安装"),
                ("Entry archived", "条目已归档"),
            ),
        )
    )
    return [s.t(*pair) for pair in chosen]


def _popped(s: Content) -> list[tuple[str, str, str]]:
    """The entries of an open menu: icon, words, keys."""
    return [
        ("file", s.t("Open", "打开"), "Ctrl+O"),
        ("edit", s.t("Rename…", "重命名…"), "F2"),
        ("copy", s.t("Duplicate", "创建副本"), "Ctrl+D"),
        ("share", s.t("Share with…", "共享给…"), ""),
        ("print", s.t("Print preview", "打印预览"), "Ctrl+P"),
        ("info", s.t("Properties", "属性"), "Alt+Enter"),
        ("delete", s.t("Delete for good", "永久删除"), "Shift+Del"),
    ]


def _docked(s: Content) -> list[str]:
    pairs = (
        ("Files", "文件管理器"),
        ("Browser", "浏览器"),
        ("Mail", "邮件应用"),
        ("Console", "控制台"),
        ("Diary", "日历应用"),
        ("Gallery", "图库应用"),
        ("Control centre", "控制中心"),
    )
    return [s.t(*pair) for pair in pairs]


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("pipeline.synth", "screens"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["hash"] = _number
    made.filters["goods"] = goods
    made.filters["random_of"] = lambda values, look: values[_number(look.model_dump_json()) % len(values)]
    return made


def _template(family: str) -> Template:
    return _environment().get_template(f"families/{family}.html.j2")


def _number(text: object) -> int:
    """A number that stands for a text, the same on every machine."""
    return zlib.crc32(str(text).encode())
