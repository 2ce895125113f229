"""Finds what in a document speaks to a model instead of a reader, and takes it out.

Documents are data: nothing in them is ever carried out. What tries to be an instruction is reported and neither
searched, nor shown to a model, nor made a capability. What such words are, pipeline.injection knows.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from catalogs.markup import Block
from catalogs.messages import squashed
from pipeline.injection import visible_part, words_for_model

_MOST_SHOWN = 160
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])")


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
