"""Walls before sites of others: puzzles that tell people from programs, and logins that nobody gave us an account for.

Neither is ever solved or tried: the environment says which it is, and the episode ends `blocked`. A puzzle is told by a
frame of a known provider that is in view, or by the words of a page that holds nothing else: many pages load a
provider's script that never asks anything. A login is told by its fields, with its address or what it calls itself.
English and Chinese. Knows nothing of episodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from pipeline.addresses import parts_of
from pipeline.structs import Node

WallKind = Literal["captcha", "login"]

SOURCES = """(() => {
    const shown = (element) => {
        const { left, top, right, bottom } = element.getBoundingClientRect();
        const across = Math.min(right, innerWidth) - Math.max(left, 0);
        const down = Math.min(bottom, innerHeight) - Math.max(top, 0);
        const visible = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
        return visible && across >= 40 && down >= 30;
    };
    const elements = [...document.querySelectorAll("iframe[src], script[src]")].slice(0, 1000);
    return elements.map((element) => [element.src, element.localName === "iframe" && shown(element)]);
})()"""
"""A script: where a page's frames and scripts come from, let in or not, and which of them are frames in view."""


class Source(NamedTuple):
    """Where a frame or a script of a page comes from, and whether it is a frame in view."""

    address: str
    shown: bool


class Wall(NamedTuple):
    """What stands before a site, and what showed it."""

    kind: WallKind
    shown_by: str


_PROVIDERS = (
    "arkoselabs.com",
    "captcha-delivery.com",
    "captcha.qq.com",
    "captcha.gtimg.com",
    "challenges.cloudflare.com",
    "funcaptcha.com",
    "geetest.com",
    "hcaptcha.com",
    "human.com",
    "mtcaptcha.com",
    "px-cloud.net",
    "recaptcha.net",
    "yidun.163.com",
)
"""Hosts of services that set such puzzles; google.com/recaptcha beside them."""
_RECAPTCHA = re.compile(r"^https?://(?:www\.)?(?:google\.com|gstatic\.com)/recaptcha/", re.IGNORECASE)
_BADGE = re.compile(r"[?&#]size=invisible\b", re.IGNORECASE)
"""A frame that says that the page is protected, and asks nothing."""


def _any_of(*wordings: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{wording})" for wording in wordings), re.IGNORECASE)


_PERSON = r"(?:an? )?(?:human|real person|person|not an? (?:ro)?bot)\b"
_PUZZLE = _any_of(
    r"\b(?:verify(?:ing)?|confirm|prove|make sure|check(?:ing)?)(?: that| if| whether)? you(?:'|’)?(?:re| are) "
    + _PERSON,
    r"(?:^|confirm (?:that )?)i(?:'|’)?(?:m| am) (?:not a robot|(?:a )?human)\b",
    r"^are you a (?:robot|human)\b",
    r"(?:^|[,.:!] )(?:please )?(?:enter|type|solve|complete|fill (?:in|out)|pass)\b[^.!?]{0,20}\bcaptcha\b",
    r"\b(?:enter|type) the characters you see\b",
    r"\bchecking your browser\b|\bchecking if the site connection is secure\b",
    r"\bunusual (?:traffic|activity) from your\b",
    r"^press (?:and|&) hold\b",
    r"^(?:slide|drag the (?:slider|piece)) to (?:complete|verify|solve|fit)\b",
    "^(?:百度|滑块|进行)?安全验证$|请(?:先)?完成(?:安全|下方|以下|下列|人机|滑块)?验证|人机验证|我不是机器人",
    "拖动(?:下方)?滑块|向右(?:滑动|拖动)|点击图中|访问(?:过于|太)频繁",
    "请输入(?:图中|图片|图形|上图|下图)中?的?(?:验证码|字符|文字)|输入验证码(?:以|后|才能|，).{0,4}继续",
)
_PUZZLE_TITLE = _any_of(r"just a moment(?:\.{3}|…)", "attention required!.*", "captcha", "安全验证|人机验证")
_CHECKED = _any_of(
    r"\bverifying\b|\bverification required\b|\bplease verify\b|\bsecurity (?:check|verification)\b",
    r"\benable js\b|\bad blocker\b|\baccess (?:to this page has been )?denied\b",
    "安全验证|完成验证|请验证|滑块",
)
"""What a page that holds little else and has a provider's script says when it is a puzzle."""

_IN = r"(?:log|sign)[ _-]?(?:in|on)"
_CN_IN = "登[录陆]"
_LOGIN = _any_of(
    r"(?:welcome\W+)?(?:please |member |user |account |customer )*"
    + _IN
    + r"(?: (?:page|form|here|now|required|first))?\W?",
    r"(?:please |you (?:must|need to|have to) )*(?:be )?(?:log|sign|logged)[ -]?in "
    r"(?:to|with|and|or|using|as|via|by)\b.*",
    r"(?:log|sign) into\b.*|log ?in[ /]+(?:sign ?up|register)",
    r"(?:.* )?session (?:has )?(?:expired|timed out).*",
    f"(?:用户|欢迎|账号|帐号|账户|密码|手机号?|短信|验证码|扫码|请先?|立即|会员|快捷)*{_CN_IN}(?:[/·或 ]*注册)?",
)
"""The whole of a text that calls its page, or a button, a login."""
_SIGN_UP = _any_of(
    r"sign[ -]?up\b.*|regist(?:er|ration)\b.*|(?:create|open) (?:an?|your)(?: new)? .{0,20}account.*",
    "(?:用户|账号|立即|免费)?注册",
)
_PARTS = re.compile(r"\s+[-–—|·•:]\s+|[:|·•–—]\s*")
_LOGIN_PATH = re.compile(
    rf"/(?:[\w-]*[-_])?(?:{_IN}|auth|passport|sso|sessions?/new)(?:\.\w{{1,5}})?(?=/|$)", re.IGNORECASE
)
_LOGIN_HOST = re.compile(r"(?:^|\.)(?:login|logon|signin|sso|passport|idp)\.", re.IGNORECASE)
_ACCOUNT_FIELD = _any_of(
    r"\be-?mail|\bphone|\bmobile|\buser ?(?:name|id)\b|\baccount\b|\blogin\b",
    "邮箱|手机|电话|用户名|账号|帐号",
)
_OTHER_WAY = _any_of(
    r"(?:get|send|request)(?: me)?(?: an?| the)?(?: login| sign-?in| verification| one-time| sms)? (?:code|link)\b.*",
    rf"(?:continue|{_IN}) with (?:an? )?(?:google|apple|facebook|microsoft|github|e-?mail|phone|sso|passkey)\b.*",
    r"scan\b.{0,30}\bto (?:log|sign) in\b.*",
    f"(?:获取|发送)(?:短信|手机)?(?:动态)?验证码|.{{0,8}}扫(?:码|一扫){_CN_IN}.{{0,8}}",
)
"""The whole of a text that lets one in without a password."""
_TEXT_FIELDS = ("textbox", "combobox", "spinbutton")
_LOGIN_TEXTS = 60
"""Most texts in view of a page that is a login by what stands on it somewhere."""
_LOGIN_FIELDS = 3
_PUZZLE_TEXTS, _PUZZLE_CHARACTERS = 25, 2000
"""Most of what a page says that is nothing but a puzzle."""
_READ = 500
"""Characters of a text that are looked at."""


def sources_of(answer: object) -> list[Source]:
    """What `SOURCES` answered; nothing of what a page has made of it otherwise."""
    pairs = [pair for pair in answer if isinstance(pair, list) and len(pair) == 2] if isinstance(answer, list) else []
    return [Source(address, shown is True) for address, shown in pairs if isinstance(address, str)]


def wall_of(nodes: Sequence[Node], title: str, location: str, sources: Iterable[Source]) -> Wall | None:
    """The wall that a page is, if it is one; `sources` are where its frames and scripts came from."""
    asking = [source for source in sources if _is_puzzle(source.address)]
    frame = next((source for source in asking if source.shown), None)
    if frame is not None:
        return Wall("captcha", frame.address[:200])
    title = title[:_READ]
    puzzle = _puzzle(nodes, title, checked=bool(asking))
    if puzzle is not None:
        return Wall("captcha", puzzle[:200])
    in_view = [node for node in nodes if "offscreen" not in node.states]
    login = _login(in_view, title, location)
    return Wall("login", login[:200]) if login is not None else None


def _is_puzzle(address: str) -> bool:
    host = _host(address)
    listed = any(host == provider or host.endswith(f".{provider}") for provider in _PROVIDERS)
    return (listed or _RECAPTCHA.match(address) is not None) and not _BADGE.search(address)


def _host(address: str) -> str:
    return (parts_of(address).hostname or "").lower()


def _puzzle(nodes: Sequence[Node], title: str, *, checked: bool) -> str | None:
    """The words by which a page is nothing but a puzzle; `checked` where a provider's script is in it."""
    texts = [node.name for node in nodes if node.name and node.name != title]
    fields = sum(node.role in _TEXT_FIELDS for node in nodes)
    if fields > 1 or len(texts) > _PUZZLE_TEXTS or sum(map(len, texts)) > _PUZZLE_CHARACTERS:
        return None
    if _PUZZLE_TITLE.fullmatch(title.strip()):
        return title
    said = [*(text[:_READ] for text in texts), title]
    asked = next((text for text in said if _PUZZLE.search(text)), None)
    if asked is None and checked and not fields:
        asked = next((text for text in said if _CHECKED.search(text)), None)
    return asked


def _login(nodes: Sequence[Node], title: str, location: str) -> str | None:
    """What shows that a page is a login, from what of it is in view."""
    headings = [node.name[:_READ] for node in nodes if node.role == "heading" and node.name]
    few = sum(bool(node.name) for node in nodes) <= _LOGIN_TEXTS
    # A large page may have a login beside what it is about: then only its first heading says what it is.
    names = [*_parts(title), *(headings if few else headings[:1])]
    called = any(map(_LOGIN.fullmatch, names)) or (_at_login(location) and not any(map(_SIGN_UP.fullmatch, names)))
    password = next((node for node in nodes if "protected" in node.states), None)
    if password is not None and called:
        return password.name or title
    if not few:
        return None
    signs = [node.name[:_READ].strip() for node in nodes if node.name and node.role not in ("link", "RootWebArea")]
    said = called or (not any(map(_SIGN_UP.fullmatch, names)) and any(map(_LOGIN.fullmatch, signs)))
    if password is not None:
        return password.name or title if said else None
    other_way = next(filter(_OTHER_WAY.fullmatch, signs), None)
    who = _account_field(nodes)
    if other_way is not None and (called or (said and who is not None)):
        return other_way
    return who if called else None


def _account_field(nodes: Sequence[Node]) -> str | None:
    """The field that asks who one is, on a page with hardly any other: the first of several steps."""
    fields = [node for node in nodes if node.role in _TEXT_FIELDS]
    if len(fields) > _LOGIN_FIELDS:
        return None
    return next((field.name for field in fields if _ACCOUNT_FIELD.search(field.name[:_READ])), None)


def _parts(title: str) -> Iterator[str]:
    """A title and its parts, of which one is often the name of the site."""
    yield title.strip()
    yield from (part.strip() for part in _PARTS.split(title))


def _at_login(location: str) -> bool:
    return bool(_LOGIN_PATH.search(parts_of(location).path) or _LOGIN_HOST.search(_host(location)))
