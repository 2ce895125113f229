"""From mentions to capabilities: one of each kind, over all sources and languages, with the places that say so.

What two languages say at the same anchor is one capability with two rows. Capabilities that a catalog has already gain
evidence instead of a double. Mentions in any order give the same capabilities.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from catalogs.extract import Mention, name_words
from catalogs.library import tokens
from catalogs.phrases import alike, effect_of, known_verb, slug_of, verb_named
from catalogs.poison import quote_sha256
from catalogs.sources import Source
from pipeline.tasks import Capability, Evidence, Slot

MOST_EVIDENCE = 12
"""So many places are kept of one capability."""
_MOST_SLOTS = 8
_LONGEST_HEAD = 6
_COMMON = frozenset({"a", "an", "the", "of", "and", "or", "in", "to", "for", "new", "with", "its"})


class Key(NamedTuple):
    """What a capability is known by in every language: its path."""

    area: str
    verb: str
    name: str


def merged(mentions: Iterable[Mention], sources: Sequence[Source]) -> list[Capability]:
    """The capabilities of the mentions, sorted by identity and language."""
    ordered = sorted(set(mentions))
    by_name = {source.name: source for source in sources}
    shared = {mention.anchor: _key(mention, by_name) for mention in reversed(ordered) if _leads(mention)}
    groups: defaultdict[tuple[str, str, Key], list[Mention]] = defaultdict(list)
    for mention in ordered:
        key = shared.get(mention.anchor) or _key(mention, by_name)
        groups[(mention.app_id, mention.language, key)].append(mention)
    found = [_capability(key, group, by_name) for (_, _, key), group in groups.items()]
    return sorted(found, key=lambda capability: (capability.capability_id, capability.language))


def with_known(found: Sequence[Capability], known: Sequence[Capability]) -> list[Capability]:
    """The catalog with what was found: equal capabilities once, with the evidence of both; the known ones first."""
    extra: defaultdict[int, list[Capability]] = defaultdict(list)
    new: list[Capability] = []
    for capability in found:
        at = next((at for at, entry in enumerate(known) if _same(entry, capability)), None)
        (new if at is None else extra[at]).append(capability)
    kept = [with_evidence(entry, [e for one in extra[at] for e in one.evidence]) for at, entry in enumerate(known)]
    return [*kept, *new]


def with_evidence(capability: Capability, evidence: Iterable[Evidence]) -> Capability:
    """The capability with more places that say so, each once, the earlier ones first."""
    places = dict.fromkeys((one.source, one.quote_sha256, one.licence) for one in (*capability.evidence, *evidence))
    kept = [Evidence(source=place[0], quote_sha256=place[1], licence=place[2]) for place in places]
    return capability.model_copy(update={"evidence": kept[:MOST_EVIDENCE]})


def object_words(text: str) -> frozenset[str]:
    """The words of an object that tell it from others."""
    return frozenset(word for word in tokens(text) if word not in _COMMON)


def _leads(mention: Mention) -> bool:
    """Whether a mention names the capability for other languages."""
    return bool(mention.anchor) and mention.language == "en"


def _same(known: Capability, found: Capability) -> bool:
    if known.app_id != found.app_id or known.language != found.language:
        return False
    if known.capability_id == found.capability_id:
        return True
    verb, other = (known_verb(entry.verb.split()[0]) or entry.verb for entry in (known, found))
    return other in alike(verb) and object_words(known.object) == object_words(found.object)


def _key(mention: Mention, sources: Mapping[str, Source]) -> Key:
    verb, thing = mention.intent
    name = f"{verb}_{slug_of(thing)}"
    return Key(_area(mention, sources[mention.source.partition("/")[0]]), verb, name)


def _area(mention: Mention, source: Source) -> str:
    """The first level: as the source names it, or the document's name; where that is empty, the object's last word."""
    for begins in sorted(source.areas, key=len, reverse=True):
        if not begins or mention.document == begins or mention.document.startswith(f"{begins}/"):
            return source.areas[begins] or _head(mention.intent.object)
    words = [word for word in name_words(mention.document.rpartition("/")[2]) if word != source.app_id]
    return "_".join(words) or source.app_id


def _head(thing: str) -> str:
    """The word that says what kind of thing it is: the last one, in Chinese what follows the last 的."""
    head = slug_of(thing).rpartition("_")[2].rpartition("的")[2]
    return head if head.isascii() or len(head) <= _LONGEST_HEAD else "其他"


def _capability(key: Key, group: Sequence[Mention], sources: Mapping[str, Source]) -> Capability:
    first = group[0]
    verb = verb_named(key.verb)
    intent = first.intent._replace(verb=key.verb, object=_object(group))
    slots = list(dict.fromkeys(slot for mention in group for slot in mention.slots))
    presses = next((mention.presses for mention in group if mention.presses), ())
    bare = Capability(
        capability_id=f"{first.app_id}.{key.area}.{key.name}",
        app_id=first.app_id,
        platform=sources[first.source.partition("/")[0]].platform,
        language=first.language,
        path=[key.area, key.verb, key.name],
        verb=(verb.in_chinese or key.verb) if first.language.startswith("zh") else key.verb,
        object=intent.object,
        slots=[Slot(name=slot) for slot in slots[:_MOST_SLOTS]],
        effect=effect_of(intent, first.language),
        procedure=[press.step for press in presses],
        consequence=verb.consequence,
        reversible=verb.reversible,
        status="documented",
    )
    return with_evidence(
        bare,
        (
            Evidence(source=mention.source, quote_sha256=quote_sha256(mention.quote), licence=mention.licence)
            for mention in group
        ),
    )


def _object(group: Sequence[Mention]) -> str:
    """The object as it is named most often; of equals the shortest."""
    counts = Counter(mention.intent.object for mention in group)
    return min(counts, key=lambda text: (-counts[text], len(text), text))
