"""Texts of the reading puzzles: characters, numbers in words, and a bank of questions from ocr_texts.yaml."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import yaml

from pipeline.puzzles.puzzle import LANGUAGES, Language

_MOST = 99
"""The largest number that is spelled."""


@cache
def _texts() -> Any:
    text = (resources.files("pipeline.puzzles") / "kinds" / "ocr_texts.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def hanzi() -> str:
    """Common characters of which none is taken for another."""
    return str(_texts()["hanzi"])


def spelled(number: int, language: Language) -> str:
    """A number from 0 to 99 in words."""
    words = _texts()["numbers"][language]
    tens, ones = divmod(number, 10)
    if language == "zh":
        left = ("" if tens == 1 else words[tens]) + "十" if tens else ""
        return left + words[ones] if ones or not tens else left
    if number < len(words):
        return str(words[number])
    ten = str(_texts()["tens"][tens - 2])
    return f"{ten}-{words[ones]}" if ones else ten


def word_of(sign: str, language: Language) -> str:
    """The word for a sign between two numbers."""
    return str(_texts()["signs"][language][sign])


def value_of(line: str) -> int:
    """What a spelled number counts, with the word for its sign before it. Raises KeyError for anything else."""
    return _values()[line]


@cache
def _values() -> dict[str, int]:
    values = {}
    for language in LANGUAGES:
        between = " " if language == "en" else ""
        for number in range(_MOST + 1):
            word = spelled(number, language)
            values[word] = number
            values[word_of("+", language) + between + word] = number
            values[word_of("−", language) + between + word] = -number
    return values


@cache
def bank(language: Language) -> list[tuple[str, list[str]]]:
    """Questions with everything that is accepted as the answer, the usual form first."""
    asked = [(question, answers) for question, *answers in _texts()["questions"][language]]
    for row in _texts()["rows"][language]:
        items = [[item] if isinstance(item, str) else item for item in row["items"]]
        for place, item in enumerate(items):
            asked.append((row["after"].format(item[0]), items[(place + 1) % len(items)]))
            asked.append((row["before"].format(item[0]), items[place - 1]))
    for pair in _texts()["pairs"][language]:
        asked += [(pair["ask"].format(one), [other]) for one, other in pair["items"]]
    return [(question, _forms(answers, language)) for question, answers in asked]


def _forms(answers: list[Any], language: Language) -> list[str]:
    """What is accepted: numbers in digits and in words, English words with an article, in small letters or capitals."""
    words = [str(answer) for answer in answers]
    counts = [spelled(int(word), language) for word in words if word.isdigit() and int(word) <= _MOST]
    words += [*counts, *(count.replace("-", " ") for count in counts)]
    if language == "en":
        nouns = [word for word in words if len(word) > 1 and word.isalpha() and word.islower()]
        words += [f"{article} {noun}" for noun in nouns for article in ("a", "an", "the")]
    return list(dict.fromkeys(form for word in words for form in (word, word.lower(), word.capitalize(), word.upper())))
