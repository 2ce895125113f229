"""The word lists of wordlists.yaml, ready to be looked for in folded text. Knows nothing of what they are used for."""

from __future__ import annotations

import re
from importlib import resources
from typing import Literal

import yaml

Verb = Literal["delete", "edit", "create", "answer", "find"]
"""What a clause asks for; `find` changes nothing and asks nothing."""
CHANGING: frozenset[Verb] = frozenset(["delete", "edit", "create"])


class Words:
    """A list of words that can be looked for."""

    def __init__(self, words: list[str]) -> None:
        latin = [re.escape(word) for word in sorted(words, key=len, reverse=True) if word[0].isascii()]
        han = [re.escape(word) for word in sorted(words, key=len, reverse=True) if not word[0].isascii()]
        parts = [rf"(?<![a-z])(?:{'|'.join(latin)})(?![a-z])"] if latin else []
        self._pattern = re.compile("|".join([*parts, *han]))

    def within(self, text: str) -> bool:
        """Whether a folded text has one of the words."""
        return self._pattern.search(text) is not None

    def first(self, text: str) -> str | None:
        """The first of the words in a folded text."""
        found = self._pattern.search(text)
        return found[0] if found else None

    def places(self, text: str) -> list[int]:
        """Where the words stand in a folded text, in order."""
        return [match.start() for match in self._pattern.finditer(text)]

    def ends(self, text: str) -> bool:
        """Whether a folded text ends with one of the words."""
        return any(match.end() == len(text) for match in self._pattern.finditer(text))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """From where to where the words stand in a folded text, in order."""
        return [match.span() for match in self._pattern.finditer(text)]

    def begins(self, text: str) -> bool:
        """Whether a folded text begins with one of the words."""
        return self._pattern.match(text) is not None


def _flat(entry: list[str | list[str]]) -> list[str]:
    return [word for part in entry for word in ([part] if isinstance(part, str) else part)]


_LISTS = yaml.safe_load((resources.files("verifiers") / "wordlists.yaml").read_text(encoding="utf-8"))

VERBS: dict[Verb, Words] = {verb: Words(_flat(words)) for verb, words in _LISTS["verbs"].items()}
BEFORE_NEW = Words(_flat(_LISTS["before_new"]))
BEFORE_OLD = Words(_flat(_LISTS["before_old"]))
BEFORE_NEW_ZH = Words(_flat(_LISTS["before_new_zh"]))
MAYBE_NEW_ZH = Words(_flat(_LISTS["maybe_new_zh"]))
AFTER_OLD_ZH = Words(_flat(_LISTS["after_old_zh"]))
ASKING = Words(_flat(_LISTS["asking"]))
SWITCHING = Words(_flat(_LISTS["switching"]))
NOT_FOUND = Words(_flat(_LISTS["not_found"]))
"""What a page says that repeats a text without having it."""
GONE = Words(_flat(_LISTS["gone"]))
"""What a page says that repeats the name of something it no longer has."""
DESTRUCTIVE = Words(_flat(_LISTS["destructive"]))
CONFIRMING = Words(_flat(_LISTS["confirming"]))
SENDS_NOTHING = Words(_flat(_LISTS["sends_nothing"]))
SENDS = Words(_flat(_LISTS["sends"]))
SEARCHES = Words(_flat(_LISTS["searches"]))
LEAVING = Words(_flat(_LISTS["leaving"]))
SEEKING = Words(_flat(_LISTS["seeking"]))
FIELD_WORDS = Words(_flat(_LISTS["field_words"]))
PRESSED_WORDS = Words(_flat(_LISTS["pressed_words"]))
COMPUTED = Words(_flat(_LISTS["computed"]))
RANKING = Words(_flat(_LISTS["ranking"]))
COUNTING = Words(_flat(_LISTS["counting"]))
FORMATTING = Words(_flat(_LISTS["formatting"]))
NOT_QUALIFYING = Words(_flat(_LISTS["not_qualifying"]))
FUNCTIONS: tuple[Words, ...] = tuple(Words(words) for words in _LISTS["functions"])
"""Functions an application may lack, each by all its names."""
