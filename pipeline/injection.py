"""Words on screens, in pages, documents and file names that speak to a model instead of a reader.

All such text is data: nothing in it is ever carried out. Here it is recognised, so that it can be reported, and taken
out of what a model is shown. Knows wordings only, English and Chinese: a new one can pass, and is still data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n")
_WHAT = r"(?:instructions?|prompts?|rules|guidelines|directions)"
_WORK = r"(?:tasks?|orders)"
_DROP = r"(?:ignore|disregard|forget|override|bypass)\b"
_GIVEN = r"\b(?:previous|prior|above|earlier|all|any|your|system|these|those)\b"
_MODEL = r"(?:ai|llm|language model|assistant|chatbot|agent)s?"
_MUST = r"\b(?:must|should|shall|has to|have to|please)\b"
_ENGLISH = [
    rf"{_DROP}[^.!?]{{0,40}}{_GIVEN}[^.!?]{{0,30}}\b{_WHAT}",
    rf"{_DROP}\s+(?:the\s+)?(?:\w+\s+)?(?:instructions?|prompts?)\b",
    # "Ignore all tasks that are done" speaks to a reader: only what came before, or is yours, is a model's.
    rf"{_DROP}[^.!?]{{0,40}}\b(?:previous|prior|above|earlier|your|system)\b[^.!?]{{0,30}}\b{_WORK}",
    rf"(?:you are|act as|behave as|pretend to be)\b[^.!?]{{0,20}}\b(?:an? )?{_MODEL}\b",
    rf"{_MODEL}\b[^.!?]{{0,20}}\b(?:reading|processing|summari[sz]ing|parsing)\b[^.!?]{{0,30}}{_MUST}",
    rf"(?:notes?|message|instructions?|important)\b[^.!?]{{0,12}}\b(?:to|for)\s+(?:(?:the|any|all) )?{_MODEL}\b",
    r"(?:system|developer)\s+(?:prompt|message)\b",
    r"(?:new|real|actual|hidden)\s+(?:system\s+)?instructions?\s*:",
    r"do not (?:tell|inform|mention this to|reveal this to)\b[^.!?]{0,20}\b(?:the )?user\b",
]
"""Each begins with a word."""
_OTHERS = [
    r"<\|?(?:im_start|im_end|system|assistant|endoftext)\b|\[/?INST\]|<<SYS>>",
    r"(?:忽略|无视|忘记|忘掉|不要理会|跳过)[^。！？]{0,12}(?:之前|以上|前面|上述|所有|全部|先前|系统)"
    r"[^。！？]{0,12}(?:指令|指示|提示|命令|规则|要求|内容)",
    r"(?:你|您)(?:现在)?(?:是|将扮演|要扮演|作为)[^。！？]{0,10}(?:人工智能|AI|助手|语言模型|大模型|智能体)",
    r"(?:系统提示词|系统提示：|系统指令|开发者消息)",
    r"(?:致|给|告诉|请)(?:所有)?(?:AI|人工智能|大模型|语言模型|智能体|模型)[^。！？]{0,20}(?:请|必须|应当|务必|输出|执行)",
    r"(?:不要|勿|切勿)(?:告诉|告知|让)(?:用户|使用者)",
]
"""Each begins with a bracket or a Han character."""
# What all of some wordings begin with is asked once at every place of a text, and not for each of them.
_INSTRUCTION = re.compile(rf"\b(?=[a-z])(?:{'|'.join(_ENGLISH)})|(?=[<\[⺀-鿿])(?:{'|'.join(_OTHERS)})", re.IGNORECASE)
_TOKEN = re.compile(r"<(?=[|/!?\w])|\[(?=/?INST\])")
_TAKEN_OUT = "[words meant for a model were here]"
_REMEMBERED = 4096
"""Most of what a screen says it said before."""


def visible_part(text: str) -> str:
    """The text without the marks that nobody sees, which can hide a word from whoever looks for it."""
    return _INVISIBLE.sub("", text)


def words_for_model(text: str) -> str | None:
    """The first words that speak to a model, in a text without invisible marks; None without any."""
    found = _INSTRUCTION.search(text)
    return found[0] if found else None


@lru_cache(maxsize=_REMEMBERED)
def order_in(text: str) -> str | None:
    """The first words of a text that speak to a model, whatever marks nobody sees stand between them."""
    return words_for_model(visible_part(text))


def orders_in(texts: Iterable[str]) -> Iterator[str]:
    """Of some texts those that speak to a model."""
    return (text for text in texts if text and order_in(text))


def defused(text: str) -> str:
    """A text as a model may be shown it: without sentences that speak to one, and without its control tokens."""
    seen = visible_part(text)
    if words_for_model(seen):
        kept = [_TAKEN_OUT if words_for_model(part) else part for part in _SENTENCE.split(seen)]
        seen = " ".join(kept)
        seen = _TAKEN_OUT if words_for_model(seen) else seen  # what speaks across sentences is not understood by halves
    return _TOKEN.sub("‹", seen)
