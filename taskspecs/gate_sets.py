"""Rules about candidates beside others: benchmarks they meet, tasks they repeat, templates they come from too often."""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from unicodedata import normalize

from pipeline.errors import ConfigError
from pipeline.records import digest
from pipeline.tasks import TaskSpec
from pipeline.user_files import decoded, lines_of, rows_of
from taskspecs.gate_cases import Case, Finding
from taskspecs.likeness import Likeness, Print, print_of
from taskspecs.wording import one_spelling, plain, read_wording, skeleton, tokens, weighty

NEAR = 0.8
"""Share of common triples from which two wordings count as one."""

ALWAYS = 2
"""Tasks that a template may give in a set of any size: of a few dozen tasks no share can be kept."""

_SHOWN = 120
_SHORTEST = 12
"""Letters of plain text below which only the very same text is a match; a Han character says as much as two."""
_HAN = re.compile("[⺀-鿿豈-﫿]")


class Contamination:
    """Texts of public benchmarks that no task may meet; `{slot}` in a text stands for anything."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._exact: dict[str, str] = {}
        self._like = Likeness(NEAR)
        for text in texts:
            open_ = re.sub(r"\{[^}]*\}", " ", text)
            said = one_spelling(open_)
            bare, group = (plain(said), "text") if open_ == text else (skeleton(read_wording(said)), "template")
            exact = weighty(bare)
            if exact and exact not in self._exact:
                self._exact[exact] = text
                if len(exact) + len(_HAN.findall(exact)) >= _SHORTEST:
                    self._like.add(text, print_of(exact), group)

    def met_by(self, case: Case) -> Finding | None:
        """The finding when a task's wording is, or is nearly, one of the texts."""
        weight = weighty(case.same)
        exact = self._exact.get(weight)
        near = [exact] if exact else self._alike(weight, case.shape)
        return Finding("contaminated", f"meets the public task '{_line(near[0])}'") if near else None

    def _alike(self, weight: str, shape: Print) -> list[str]:
        if not self._exact:
            return []
        return [*self._like.like(print_of(weight), "text"), *self._like.like(shape, "template")]


def load_contamination(path: Path) -> Contamination:
    """The texts of a file: one a line, or JSON lines with `instruction` or `text`; either may be gzipped."""
    if not path.is_file():
        raise ConfigError(f"tasks.contamination: there is no file {path}")
    place = f"tasks.contamination: {path}"
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(f"{place}: cannot be read: {error}") from error
    text = decoded(data, place)
    if ".jsonl" in path.suffixes:
        texts = [_instruction(line.place, row) for line, row in rows_of(text, place)]
    else:
        texts = [line.text for line in lines_of(text, place)]
    if not texts:
        raise ConfigError(f"{place}: holds no texts; name a list of texts, or leave tasks.contamination out")
    return Contamination(texts)


def _instruction(place: str, row: object) -> str:
    text = row.get("instruction") or row.get("text") if isinstance(row, dict) else None
    if not isinstance(text, str):
        raise ConfigError(f"{place}: has no text under `instruction` or `text`")
    return text


class Admitted:
    """The tasks admitted so far, to be asked whether another one repeats them."""

    def __init__(self) -> None:
        self._exact: dict[tuple[str, str], str] = {}
        self._near = Likeness(NEAR)
        self._words: dict[str, frozenset[str]] = {}

    def add(self, task_id: str, case: Case) -> None:
        """Remember an admitted task."""
        self._exact.setdefault((_place(case.task), case.same), task_id)
        self._near.add(task_id, case.shape, _subject(case))
        self._words[task_id] = _words_of(case)

    def repeated_by(self, case: Case) -> Finding | None:
        """The finding when a task says the same as an admitted one, or nearly so about the same."""
        same = self._exact.get((_place(case.task), case.same))
        if same:
            return Finding("duplicate_of", "the same wording", same)
        # Without checks only the wording tells tasks apart: "turn on" and "turn off" share most of their triples.
        for task_id in self._near.like(case.shape, _subject(case)):
            if case.task.checks or case.task.absence_checks or self._words[task_id] == _words_of(case):
                return Finding("duplicate_of", "nearly the same wording about the same", task_id)
        return None


def template_of(case: Case) -> str:
    """The template of a task; for one that has none, its wording without what it is about."""
    return case.task.template_id or case.bones


def cap_of(counts: Counter[str], share: float) -> int:
    """The most tasks a template may give so that none exceeds its share of what then remains; never below a few."""
    for cap in range(max(counts.values(), default=0), ALWAYS, -1):
        if cap <= share * sum(min(count, cap) for count in counts.values()):
            return cap
    return ALWAYS


def _place(task: TaskSpec) -> str:
    return digest(*task.app_ids, task.start.model_dump_json(), *(step.model_dump_json() for step in task.setup))


def _subject(case: Case) -> str:
    """What a task is about: where, which values, what is checked; not how it is worded."""
    task = case.task
    checks = [*(check for segment in task.segments for check in segment.checks), *task.absence_checks]
    proved = (one_spelling(normalize("NFKC", check.model_dump_json(exclude={"name"}))) for check in checks)
    return digest(_place(task), *sorted(task.capability_ids), *sorted(case.about), *proved)


def _words_of(case: Case) -> frozenset[str]:
    return frozenset(tokens(weighty(case.same)))


def _line(text: str) -> str:
    return " ".join(text.split())[:_SHOWN]
