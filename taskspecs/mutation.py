"""Near misses of what a contract asks for: a check that does not notice them proves nothing.

A check that holds for the rows its probe read is asked again about rows that are slightly wrong, and again with an
expectation that is slightly wrong. Pure functions over checks and rows; nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, assert_never

from pipeline.tasks import Check
from verifiers.contract import Rows, state_of

_ELSE = "something else"
_WORD = re.compile(r"[^\W_]+")
_SYMBOLIC = re.compile(r"\\[A-Za-z]|(?<!\\)\[(?:\\.|[^\]\\])*\]|\(\?[a-zA-Z]+[:)]|\(\?P<\w+>|\{\d*,?\d*\}")
"""Parts of a regular expression that stand for other marks than they show."""
_ESCAPED = re.compile(r"\\(\W)")
_HAN_FIRST, _HAN_LAST = "\u4e00", "\u9fff"


class Mutant(NamedTuple):
    """A check and rows for which it must not hold, and what is wrong with them."""

    check: Check
    rows: Rows
    what: str


def near_miss(text: str) -> str:
    """A text that differs by its last letter or digit, so that it is as long and means something else."""
    for place in range(len(text) - 1, -1, -1):
        other = _other(text[place])
        if other is not None:
            return text[:place] + other + text[place + 1 :]
    return f"{text}x"


def mutants(check: Check, rows: Rows) -> Iterator[Mutant]:
    """Every near miss of a check that holds for these rows."""
    for changed, what in _wrong_rows(check, rows):
        yield Mutant(check, changed, what)
    if check.verifier in ("equals", "contains", "count"):
        shown = {cell for row in rows for cell in row} if check.verifier == "contains" else set()
        for place, cell in enumerate(check.expected):
            wrong = near_miss(cell)
            if wrong not in shown:
                yield Mutant(_expecting(check, place, wrong), rows, f"{wrong!r} is expected in place of {cell!r}")


def survives(mutant: Mutant) -> bool:
    """Whether the check takes what is wrong for right."""
    return state_of(mutant.check, mutant.rows) == "passed"


def _wrong_rows(check: Check, rows: Rows) -> Iterable[tuple[Rows, str]]:
    match check.verifier:
        case "equals":
            return _altered_table(rows)
        case "contains":
            return _altered_matches(check.expected, rows)
        case "absent":
            return [([*rows, list(check.expected)], "what must be absent is there")]
        case "count":
            return [([*rows, ["one more"]], "one row too many"), *([(rows[1:], "one row too few")] if rows else [])]
        case "matches":
            return _altered_text(check.expected, rows)
        case "text" | "number" | "date" | "unit":
            return _wrong_answers(check)
        case _:
            assert_never(check.verifier)


def _altered_table(rows: Rows) -> Iterator[tuple[Rows, str]]:
    """Every cell altered, every row dropped, the first two different cells of a row swapped."""
    for place, row in enumerate(rows):
        yield [*rows[:place], *rows[place + 1 :]], f"row {place + 1} is missing"
        for column, cell in enumerate(row):
            yield _with_cell(rows, place, column, near_miss(cell)), f"{near_miss(cell)!r} stands in place of {cell!r}"
        swapped = _swapped(row)
        if swapped is not None:
            yield [*rows[:place], swapped, *rows[place + 1 :]], f"two cells of row {place + 1} are swapped"
    yield [*rows, ["one more"]], "one row too many"


def _altered_matches(expected: Sequence[str], rows: Rows) -> Iterator[tuple[Rows, str]]:
    """Each expected cell altered wherever it stands, and the rows that have them all dropped."""
    yield [row for row in rows if not all(cell in row for cell in expected)], "no row has what is expected"
    yield [[_ELSE]], "the only row is another one"
    for wanted in dict.fromkeys(expected):
        wrong = near_miss(wanted)
        yield (
            [[wrong if cell == wanted else cell for cell in row] for row in rows],
            f"{wrong!r} stands in place of {wanted!r}",
        )


def _altered_text(expected: Sequence[str], rows: Rows) -> Iterator[tuple[Rows, str]]:
    """No text, other ones, one of the same shape, and the text with each word altered that the pattern spells."""
    text = rows[0][0] if rows and rows[0] else ""
    yield [], "there is nothing"
    yield [[""]], "the text is empty"
    yield [[_ELSE]], "the text is another one"
    yield [["".join(_other(mark) or mark for mark in text)]], "the text is another one of the same shape"
    for word in dict.fromkeys(word for pattern in expected for word in _spelled(pattern)):
        if word in text:
            yield [[text.replace(word, near_miss(word))]], f"{near_miss(word)!r} stands in place of {word!r}"


def _spelled(pattern: str) -> list[str]:
    """The words that a regular expression spells out."""
    return _WORD.findall(_ESCAPED.sub(r"\1", _SYMBOLIC.sub(" ", pattern)))


def _wrong_answers(check: Check) -> Iterator[tuple[Rows, str]]:
    """No answer, every expected one altered, and both at once for choice."""
    yield [], "nothing is answered"
    yield [[""]], "the answer is empty"
    for place, answer in enumerate(check.expected):
        for wrong in dict.fromkeys((near_miss(answer), _other_amount(answer))):
            yield [[wrong]], f"the answer is {wrong!r}"
            if state_of(_expecting(check, place, wrong), [[wrong]]) == "passed":
                yield [[f"{answer} / {wrong}"]], f"the answer is {answer!r} or {wrong!r}"


def _other_amount(text: str) -> str:
    """The text with another last digit, which a unit may follow; without a digit any near miss of it."""
    digits = [place for place, mark in enumerate(text) if mark.isascii() and mark.isdigit()]
    if not digits:
        return near_miss(text)
    return near_miss(text[: digits[-1] + 1]) + text[digits[-1] + 1 :]


def _expecting(check: Check, place: int, cell: str) -> Check:
    return check.model_copy(update={"expected": [*check.expected[:place], cell, *check.expected[place + 1 :]]})


def _with_cell(rows: Rows, place: int, column: int, cell: str) -> Rows:
    row = rows[place]
    return [*rows[:place], [*row[:column], cell, *row[column + 1 :]], *rows[place + 1 :]]


def _swapped(row: Sequence[str]) -> list[str] | None:
    for place in range(1, len(row)):
        if row[place] != row[place - 1]:
            return [*row[: place - 1], row[place], row[place - 1], *row[place + 1 :]]
    return None


def _other(mark: str) -> str | None:
    """Another mark of the same kind; nothing for what is neither letter nor digit."""
    if mark.isascii() and mark.isdigit():
        return str((int(mark) + 1) % 10)
    if mark.isascii() and mark.isalpha():
        return chr(ord(mark) + 1) if mark not in "zZ" else chr(ord(mark) - 1)
    return (chr(ord(mark) + 1) if mark < _HAN_LAST else _HAN_FIRST) if _HAN_FIRST <= mark <= _HAN_LAST else None
