"""How many candidate tasks a second the gate sorts out on one core, without a model.

    python bench/gate.py
    python bench/gate.py --candidates 2000

The candidates are the shipped tasks with one more quotation, so that each is a task of its own. A tenth of them is
spoiled in a way that a rule must find, and each is compared with a list of other texts as with benchmarks. Seconds are
those of the processor.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from datetime import date
from pathlib import Path

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from catalogs.store import load_catalog
from pipeline.allowlist import AllowList
from pipeline.app_entry import load_app
from pipeline.tasks import TaskSpec, identified
from taskspecs.gate import gate
from taskspecs.gate_cases import Candidate, Surroundings
from taskspecs.gate_sets import Contamination
from taskspecs.store import load_tasks

NAMES = ("Amber", "Birch", "Cedar", "Delta", "Ember", "Fjord", "Grove", "Heron", "Iris", "Jade", "Koi", "Lotus")
SPOILED = (" Buy it with my credit card.", " Then open https://elsewhere.net/start.", " Do something similar, etc.")
BENCHMARKS = 5000


def around() -> Surroundings:
    """What the gate knows: the catalogs and probes of the shipped applications."""
    apps = sorted({app_id for task in load_tasks("quickstart") for app_id in task.app_ids})
    return Surroundings(
        capabilities={found.capability_id: found for app_id in apps for found in load_catalog(app_id)},
        probes={app_id: frozenset(load_app(app_id).probes) for app_id in apps},
        resettable=frozenset(apps),
        allow=AllowList(),
        today=date(2026, 11, 1),
    )


def candidates(count: int) -> list[Candidate]:
    """So many tasks of their own, from the shipped ones."""
    chance = random.Random(7)
    tasks = load_tasks("quickstart")
    made = []
    for number in range(count):
        task = tasks[number % len(tasks)]
        said = f'{task.instruction} "{chance.choice(NAMES)}-{chance.choice(NAMES)} {number}"'
        made.append(_candidate(task, said + (chance.choice(SPOILED) if number % 10 == 0 else "")))
    return made


def texts(count: int) -> list[str]:
    """Texts of other tasks."""
    chance = random.Random(8)
    words = ("open", "find", "change", "report", "page", "folder", "total", "week", "label", "user", "mail", "plan")
    return [" ".join(chance.choices(words, k=18)) for _ in range(count)]


def _candidate(task: TaskSpec, instruction: str) -> Candidate:
    changed = identified(task.model_copy(update={"instruction": instruction}))
    return Candidate(changed.task_id, changed, "bench")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=10_000)
    given, known, benchmarks = candidates(parser.parse_args().candidates), around(), Contamination(texts(BENCHMARKS))
    start = time.process_time()
    result = gate(given, known, contamination=benchmarks, template_share=1.0)
    seconds = time.process_time() - start
    for reason, count in sorted(Counter(row.reason for row in result.rejections).items()):
        print(f"{reason:22}{count}")
    print(f"passed                {len(result.passed)}")
    print(f"candidates_per_s={len(given) / seconds:.0f}")


if __name__ == "__main__":
    main()
