"""Walls before sites of others: puzzles that tell people from programs, and logins that nobody gave us an account for.

Neither is ever solved or tried: the environment says which it is, and the episode ends `blocked`. Told by the frames of
the known providers, and by the words and fields of pages that hold nothing else. Knows nothing of episodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from pipeline.structs import Node

WallKind = Literal["captcha", "login"]


SOURCES = "[...document.querySelectorAll('iframe[src], script[src]')].map(element => element.src)"
"""A script: where a page's frames and scripts come from, whether they were let in or not."""


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
_PUZZLE = re.compile(
    r"\bcaptcha\b|i(?:'|’)?m not a robot|i am (?:a )?human|(?:verify|confirm|prove)(?: that)? you(?:'|’)?(?:re| are)"
    r" (?:a )?(?:human|not a robot)|checking (?:if|your browser)|unusual traffic|are you a robot|just a moment\.{3}"
    r"|press (?:and|&) hold to confirm|请完成(?:安全)?验证|安全验证|人机验证|拖动(?:下方)?滑块|向右滑动|点击图中"
    r"|访问过于频繁|请输入(?:图中|图片)?验证码|我不是机器人",
    re.IGNORECASE,
)
_LOGIN = re.compile(r"log ?in|sign ?in|登录|登陆|账号登录|session", re.IGNORECASE)
_LOGIN_PATH = re.compile(r"/(?:log-?in|sign-?in|signin|auth|passport|sso|accounts?/login)\b", re.IGNORECASE)
_FEW = 60
"""A page with more texts holds more than the wall."""


def wall_of(nodes: Sequence[Node], title: str, location: str, asked: Iterable[str]) -> Wall | None:
    """The wall that a page is, if it is one; `asked` are the addresses that its frames and scripts came from."""
    provider = next((address for address in asked if _is_puzzle(address)), None)
    if provider is not None:
        return Wall("captcha", provider[:200])
    texts = [title, *(node.name for node in nodes if node.name)]
    if len(texts) > _FEW:
        return None
    puzzle = next((text for text in texts if _PUZZLE.search(text)), None)
    if puzzle is not None:
        return Wall("captcha", puzzle[:200])
    password = next((node for node in nodes if "protected" in node.states), None)
    called = _LOGIN_PATH.search(urlsplit(location).path) or any(_LOGIN.search(text) for text in texts)
    return Wall("login", password.name or title) if password is not None and called else None


def _is_puzzle(address: str) -> bool:
    host = (urlsplit(address).hostname or "").lower()
    listed = any(host == provider or host.endswith(f".{provider}") for provider in _PROVIDERS)
    return listed or _RECAPTCHA.match(address) is not None
