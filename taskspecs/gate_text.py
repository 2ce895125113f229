"""Rules about a candidate's wording: what must not be asked for, what leaves open what is asked, where it leads."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from ipaddress import ip_address
from typing import NamedTuple

from pipeline.addresses import parts_of
from pipeline.allowlist import DEFAULT_PORTS
from pipeline.injection import words_for_model
from pipeline.words import RejectionReason
from taskspecs.gate_cases import Case, Finding
from taskspecs.scripts import simplified
from taskspecs.wording import Finder, Grounds, words

_PAYING = frozenset({"pay", "transfer", "order", "subscribe", "trade"})
_ENTERING = frozenset({"login", "signup", "credential"})
_ADDRESS = re.compile(
    r"(?<![a-z0-9_])(?:[a-z][a-z0-9+.-]*:/[/\\]|(?:https?|ftp|file|data|javascript|blob|chrome|about|view-source):)"
    r"[^\s\"'<>，。；、）)】]+",
    re.I,
)
_SITE = re.compile(
    r"(?<![a-z0-9_@./:-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|org|net|edu|gov|io|cn|de|fr|uk|jp|ru|info|co"
    r"|app|dev|ai|me|tv|xyz|shop|site|online|store|top|cc|biz|eu|us|xn--[a-z0-9-]+)"
    r"(?![a-z0-9_.-]*@)(?!\.?[a-z0-9-])(?:/[^\s\"'<>，。；、）)】]*)?",
    re.I,
)
_HAN_SITE = re.compile(r"[\w-]+\.(?:中国|公司|网络|网址|商城)")
_RELATIVE = re.compile(r"(?<![\w:/\\.])[/\\]{2}[\w-]+\.[^\s\"'<>，。；、）)】]+")
_OTHER_DOT = re.compile(r"(?<=[a-z0-9])(?:。|\[\.\]|\(\.\))(?=[a-z0-9])", re.I)
_MACHINE = re.compile(
    r"(?<![\w.])(?<!version )\d{1,3}(?:\.\d{1,3}){3}(?![a-z0-9_])(?!\.\d)|(?<=\[)[0-9a-f:]+(?=\])", re.I
)
_MAY_LEAD = re.compile(r":\S|\[|[/\\]{2}|\.\w|。[^\W⺀-鿿豈-﫿]|\(\.\)")
"""What one of stands in every text with an address in it: most texts are spared the patterns above."""
_REMEMBERED = 256
"""Rules ask for the same text one after another."""
_LEAVES = re.compile(r"\s*[/\\]\s*[/\\]")
"""The beginning of a path that a browser takes for the name of another site."""
_RESERVED = re.compile(r"(?:^|\.)(?:example(?:\.(?:com|net|org))?|invalid|test)$")
"""Names set aside for examples (RFC 2606): nobody is there, they occur as text to be typed."""


_ENCOURAGING = re.compile(
    r"\b(?=[dncmsw])(?:do not|don['’]?t|never|cannot|can['’]?t|mustn['’]?t|shouldn['’]?t|not|without)\s+(?:[\w-]+\s+)?"
    r"(?:forget(?:ting)?|hesitat(?:e|ing|ion)|fail(?:ing)?|omit(?:ting)?|neglect(?:ing)?|only|just|merely|simply|delay)\b"
    r"(?:\s+to\b)?"
    r"|(?:不要|不用|不必|不能|不可|不该|不得|无需|请勿|切勿|别|勿|没有|没|不)再?(?:忘记|忘掉|忘|犹豫|迟疑|漏掉|遗漏|漏|错过)了?"
    r"|不(?:得|能|可|会)不|不仅|不但|不只|不光|不管|不论|不妨|不久|分别|特别|个别|类别|级别|区别|识别|性别|别的",
    re.I,
)
"""A denial of what holds back, and words that only look like a denial: what follows is asked for all the same."""
_SCRIPTS_MEET = re.compile(r"(?<=[a-z0-9])(?=[^\W\u0000-\u024f])|(?<=[^\W\u0000-\u024f])(?=[a-z])", re.I)
"""Where a Latin word touches another script, which writes no space there."""


class _Finders(NamedTuple):
    """A finder of what counts everywhere, and one of what counts where nothing can be put back."""

    always: Finder
    live: Finder

    def first(self, case: Case, text: str) -> str | None:
        return (self.live if case.live else self.always).first(_told(text))


def unsafe(case: Case) -> Finding | None:
    """Harm to others, or words meant for a model and not for a user; also where it stands in quotation marks."""
    text = case.wording.text
    found = _finders("unsafe").first(case, text) or words_for_model(_told(text))
    return Finding("unsafe", f"asks for '{found}'") if found else None


def needs_login(case: Case) -> Finding | None:
    """An account is needed that nobody has given."""
    walled = next((found for found in case.capabilities if found.status == "needs_login"), None)
    if walled:
        return Finding("needs_login", f"'{walled.capability_id}' was found behind a login")
    return _asked("needs_login", case, _ENTERING)


def needs_payment(case: Case) -> Finding | None:
    """Money would change hands."""
    return _asked("needs_payment", case, _PAYING)


def destructive(case: Case) -> Finding | None:
    """Something would be lost, or reach other people, that nobody can put back."""
    lasting = [found for found in case.capabilities if found.consequence != "none" and not found.reversible]
    if case.live and lasting:
        return Finding("destructive", f"'{lasting[0].capability_id}' cannot be undone")
    return _asked("destructive", case, frozenset())


def address_not_allowed(case: Case) -> Finding | None:
    """An address outside the allow-list: in the wording, or where the task starts or its oracle goes."""
    launched = (step.content or "" for step in case.task.oracle if step.action == "Launch")
    path = case.task.start.path
    leaving = [path] if _LEAVES.match(path) else []
    for address in (*_addresses(case.wording.text), *_addresses(path), *leaving, *launched):
        if (not address.startswith("/") or _LEAVES.match(address)) and not _may_go(address, case):
            return Finding("address_not_allowed", f"'{address}' is not on the allow-list")
    return None


def ambiguous(case: Case) -> Finding | None:
    """Words that leave open what is meant; a first sentence that points at nothing; an amount without a unit."""
    vague = _plain_finder("vague").first(_told(case.wording.bare))
    if vague:
        return Finding("ambiguous", f"'{vague}' leaves open what is meant")
    first = simplified(next(iter(case.wording.sentences), ""))
    if any(pattern.search(first) for pattern in _pointing()):
        return Finding("ambiguous", f"'{first}' points at something that was not named")
    if _lacks_unit(case):
        return Finding("ambiguous", "an amount is asked for, and not in which unit")
    return None


def date_past(case: Case) -> Finding | None:
    """A day that is over, in a task that looks ahead; on live pages in any that does not look back."""
    bare, today = _told(case.wording.bare), case.around.today
    ahead = _plain_finder("ahead").first(bare) is not None
    if not ahead and (not case.live or _plain_finder("behind").first(bare)):
        return None
    # "Yesterday" and "2024" can be asked about for ever; only what is planned for then is over.
    days = (dated for dated in case.dates if dated.day and (ahead or dated.fixed))
    past = next((dated for dated in days if dated.day and dated.day < today), None)
    return Finding("date_past", f"'{past.text}' is {past.day}, before {today}") if past else None


def _asked(reason: RejectionReason, case: Case, classes: frozenset[str]) -> Finding | None:
    consequences = {case.task.consequence, *(found.consequence for found in case.capabilities)}
    if case.live and consequences & classes:
        return Finding(reason, f"its consequence is '{min(consequences & classes)}'")
    found = _finders(reason).first(case, case.wording.bare)
    return Finding(reason, f"asks for '{found}'") if found else None


@lru_cache(maxsize=_REMEMBERED)
def _told(text: str) -> str:
    """A text as phrases are looked for in it: Chinese in simplified characters, words of two scripts apart, and only
    what denies is a denial."""
    # What is taken out leaves a comma behind, so that a denial before it does not reach over it.
    return _ENCOURAGING.sub(" , ", _SCRIPTS_MEET.sub(" ", simplified(text)))


def _addresses(text: str) -> list[str]:
    """Web addresses, bare names of sites and public machines in a text."""
    if not _MAY_LEAD.search(text):
        return []
    text = _OTHER_DOT.sub(".", text)
    rest = _ADDRESS.sub(" ", text)
    relative = [found[0].replace("\\", "/") for found in _RELATIVE.finditer(rest)]
    rest = _RELATIVE.sub(" ", rest)
    sites = [found[0] for pattern in (_SITE, _HAN_SITE) for found in pattern.finditer(rest)]
    machines = [found[0] for found in _MACHINE.finditer(rest) if _is_public(found[0])]
    bare = [*sites, *(f"[{machine}]" if ":" in machine else machine for machine in machines)]
    return [*_ADDRESS.findall(text), *(f"https:{found}" for found in relative), *(f"https://{found}" for found in bare)]


def _is_public(machine: str) -> bool:
    """Whether a number is that of a machine elsewhere; those for examples and of a house's own network are data."""
    try:
        address = ip_address(machine)
    except ValueError:
        return False
    return address.is_global or address.is_link_local


def _may_go(address: str, case: Case) -> bool:
    parts = parts_of(address.rstrip(".,;:!?"))
    host = (parts.hostname or "").rstrip(".")
    named = parts.scheme.lower() in DEFAULT_PORTS and host
    return bool(named and (_RESERVED.search(host) or case.around.allow.permits_url(parts.geturl())))


def _lacks_unit(case: Case) -> bool:
    kinds = {check.verifier for check in case.task.checks}
    measured = "unit" in kinds or (
        "number" in kinds and _plain_finder("measures").first(_told(case.wording.bare)) is not None
    )
    return measured and _plain_finder("units").first(_told(case.wording.bare)) is None


@cache
def _finders(reason: RejectionReason) -> _Finders:
    grounds: Grounds = getattr(words(), reason)
    known = words()
    always, live = (
        Finder(*lists, denials=known.denials, harmless=known.harmless)
        for lists in ([grounds.always], [grounds.always, grounds.live])
    )
    return _Finders(always, live)


@cache
def _plain_finder(name: str) -> Finder:
    return Finder(getattr(words(), name), denials=words().denials, harmless=words().harmless)


@cache
def _pointing() -> Iterable[re.Pattern[str]]:
    pointing = words().pointing
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in (pointing.en, pointing.zh))
