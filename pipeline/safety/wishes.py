"""What an instruction wants done, what it only wants to know, and what it forbids; English and Chinese.

A question asks for nothing to be changed, whatever words are in it; only the other clauses do. Knows nothing of
screens.
"""

from __future__ import annotations

import re

from pipeline.safety.bearing import content
from pipeline.safety.classes import Kind, asked, kinds, phrase_in, phrases_in, plain

_CLAUSES = re.compile(r"[,;.!?，；。！？、]\s*|\s+(?:and|then|but)\s+|然后|接着|之后再|并且|再(?=[^次来])")
_QUESTION = re.compile(
    r"^(?:please |can you |could you |i(?:'d| would) like to |i want to |i just want to |just )?"
    r"(?:check (?:whether|if|how|what|when|which|who)|see (?:if|whether|what|how|who|which|when)|find out|tell me"
    r"|what|when|where|who|whose|which|how|is|are|does|did|has|have|was|were"
    r"|show me|look (?:at|up|into|whether|for)|find|search|summari[sz]e|suggest|recommend|explain|count|list|read|know"
    r"|compare)\b"
    r"|^(?:put|add|place|save)\b.{0,60}\b(?:cart|basket|bag|wish ?list|watch ?list|favou?rites|drafts?)$"
    r"|^(?:请|帮我|帮忙|麻烦|给我|先|我想|想)*(?:看看|看一?下|查看|查一?下|查查|查询|数一?数|告诉我|问问|了解|对比|比较|瞧|找|搜|推荐|总结|挑)"
    r"|(?:加|放)(?:入|到|进)?(?:我的)?(?:购物车|收藏夹?|草稿箱?)里?$"
    r"|(?:吗|多少|什么|哪[个家天里些]|[有是]几[点个天号]\w{0,4}|没有|怎么[样写]?)[??]?$"
)
_FORBIDDEN = re.compile(
    r"\b(?:no|without(?: any)?|don't|do not|not|never)\s+"
    r"([a-z][\w' -]{2,30}?)(?=$|[,;.!?]|\s+(?:this|and|but|so|for)\b)"
    r"|\bkeep (?:the |my |all )?([a-z][\w' -]{2,30}?)(?=$|[,;.!?]|\s+(?:and|but|so|for)\b)"
    r"|(?:不要|不用|别|请勿|不必|无需)([^,，。;；!！]{2,8})"
    r"|([^,，。;；!！]{2,8}?)(?:都|也|先)?(?:不要|别)[开订勾选加买装]"
)
_KIN: tuple[frozenset[str], ...] = (
    frozenset({"pay", "transfer", "trade", "order", "subscribe"}),
    frozenset({"grant", "send", "share"}),
    frozenset({"publish", "submit"}),
    frozenset({"block", "delete"}),
    frozenset({"meeting", "signup"}),
)
"""Classes that are asked for in each other's words: to sell shares is to place an order."""


def wants(instruction: str, kind: Kind) -> bool:
    """Whether an instruction asks for a class of consequence in a clause that is no question."""
    names = frozenset({kind.name}).union(*(kin for kin in _KIN if kind.name in kin))
    acting = acting_part(instruction)
    return any(asked(acting, one) for one in kinds() if one.name in names)


def acting_part(instruction: str) -> str:
    """The clauses that want something done; commas between them."""
    clauses = [clause for clause in _CLAUSES.split(plain(instruction)) if clause and clause.strip()]
    return ", ".join(clause for clause in clauses if not _QUESTION.search(clause.strip()))


def hands_off(instruction: str) -> str | None:
    """The words by which an instruction wants nothing changed, if it does; to leave the rest alone is another thing."""
    if phrase_in(instruction, "rest"):
        return None
    return next(iter(phrases_in(instruction, "hands_off")), None)


def only_prepares(instruction: str) -> str | None:
    """The words by which an instruction keeps the last step to whoever gave it, if it does."""
    return next(iter(phrases_in(instruction, "only_prepared")), None)


def forbidden(instruction: str) -> frozenset[str]:
    """The words that bear on what an instruction does not want, or wants kept."""
    found = (piece for match in _FORBIDDEN.findall(plain(instruction)) for piece in match if piece)
    return frozenset().union(*map(content, found))
