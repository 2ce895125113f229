"""Finds what in a document speaks to a model instead of a reader, and takes it out.

Documents are data: nothing in them is ever carried out. What tries to be an instruction is reported and neither
searched, nor shown to a model, nor made a capability. Knows wordings only: a new one can pass, and is still data.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from catalogs.markup import Block
from catalogs.messages import squashed

_MOST_SHOWN = 160
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])")
_WHAT = r"(?:instructions?|prompts?|rules|guidelines|directions)"
_WORK = r"(?:tasks?|orders)"
_DROP = r"\b(?:ignore|disregard|forget|override|bypass)\b"
_GIVEN = r"\b(?:previous|prior|above|earlier|all|any|your|system|these|those)\b"
_MODEL = r"(?:ai|llm|language model|assistant|chatbot|agent)s?"
_MUST = r"\b(?:must|should|shall|has to|have to|please)\b"
_WORDINGS = [
    rf"{_DROP}[^.!?]{{0,40}}{_GIVEN}[^.!?]{{0,30}}\b{_WHAT}",
    rf"{_DROP}\s+(?:the\s+)?(?:\w+\s+)?(?:instructions?|prompts?)\b",
    # "Ignore all tasks that are done" speaks to a reader: only what came before, or is yours, is a model's.
    rf"{_DROP}[^.!?]{{0,40}}\b(?:previous|prior|above|earlier|your|system)\b[^.!?]{{0,30}}\b{_WORK}",
    rf"\b(?:you are|act as|behave as|pretend to be)\b[^.!?]{{0,20}}\b(?:an? )?{_MODEL}\b",
    rf"\b{_MODEL}\b[^.!?]{{0,20}}\b(?:reading|processing|summari[sz]ing|parsing)\b[^.!?]{{0,30}}{_MUST}",
    rf"\b(?:notes?|message|instructions?|important)\b[^.!?]{{0,12}}\b(?:to|for)\s+(?:(?:the|any|all) )?{_MODEL}\b",
    r"\b(?:system|developer)\s+(?:prompt|message)\b",
    r"\b(?:new|real|actual|hidden)\s+(?:system\s+)?instructions?\s*:",
    r"<\|?(?:im_start|im_end|system|assistant|endoftext)\b|\[/?INST\]|<<SYS>>",
    r"\bdo not (?:tell|inform|mention this to|reveal this to)\b[^.!?]{0,20}\b(?:the )?user\b",
    r"(?:忽略|无视|忘记|忘掉|不要理会|跳过)[^。！？]{0,12}(?:之前|以上|前面|上述|所有|全部|先前|系统)"
    r"[^。！？]{0,12}(?:指令|指示|提示|命令|规则|要求|内容)",
    r"(?:你|您)(?:现在)?(?:是|将扮演|要扮演|作为)[^。！？]{0,10}(?:人工智能|AI|助手|语言模型|大模型|智能体)",
    r"(?:系统提示词|系统提示：|系统指令|开发者消息)",
    r"(?:致|给|告诉|请)(?:所有)?(?:AI|人工智能|大模型|语言模型|智能体|模型)[^。！？]{0,20}(?:请|必须|应当|务必|输出|执行)",
    r"(?:不要|勿|切勿)(?:告诉|告知|让)(?:用户|使用者)",
]
_INSTRUCTION = re.compile("|".join(f"(?:{wording})" for wording in _WORDINGS), re.IGNORECASE)


class Finding(NamedTuple):
    """Something to report of a document: `kind` is `injection` or `unproved`; `text` is the beginning of it."""

    kind: str
    source: str
    text: str
    quote_sha256: str


class Cleaned(NamedTuple):
    """Blocks without what was found in them."""

    blocks: tuple[Block, ...]
    findings: tuple[Finding, ...]


def quote_sha256(text: str) -> str:
    """The hash by which a quotation is known, whatever its white space."""
    return hashlib.sha256(squashed(text).encode("utf-8")).hexdigest()


def visible_part(text: str) -> str:
    """The text without the marks that nobody sees, which can hide a word from whoever looks for it."""
    return _INVISIBLE.sub("", text)


def words_for_model(text: str) -> str | None:
    """The first words that speak to a model, in a text without invisible marks; None without any."""
    found = _INSTRUCTION.search(text)
    return found[0] if found else None


def cleaned(blocks: tuple[Block, ...], source: str) -> Cleaned:
    """The blocks without sentences that speak to a model, and a finding for each."""
    kept: list[Block] = []
    findings: list[Finding] = []
    for block in blocks:
        seen = block._replace(text=squashed(visible_part(block.text)))
        if not words_for_model(seen.text):
            kept.append(seen)
            continue
        findings.append(Finding("injection", source, seen.text[:_MOST_SHOWN], quote_sha256(seen.text)))
        rest = squashed(" ".join(part for part in _SENTENCE.split(seen.text) if not words_for_model(part)))
        # What speaks to a model across sentences is not understood by halves.
        if rest and block.kind in ("paragraph", "item", "step", "cell") and not words_for_model(rest):
            marked = tuple(words for words in block.marked if words in rest)
            kept.append(block._replace(text=rest, marked=marked))
    return Cleaned(tuple(kept), tuple(findings))
