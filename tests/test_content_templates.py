"""Templates of the applications with a seeded database or ledger: drawn values exist, and nothing holds yet.

Read from the data templates, without running anything: probes that ask a server or a page are left to the self-tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import pytest

from pipeline.app_entry import load_app
from pipeline.app_install import install, place_of
from pipeline.app_probes import Table, read_file, read_sqlite
from pipeline.entry_state import FileProbe, SqliteProbe
from pipeline.errors import ProbeError
from pipeline.protocols import Facts
from pipeline.tasks import ANSWER, Check, TaskSpec
from pipeline.words import CheckState
from taskspecs.gate import gate
from taskspecs.generate import Ask, Drafts, generate
from taskspecs.store import load_tasks
from taskspecs.surroundings import around_tasks
from taskspecs.templates import Template, load_templates
from verifiers.contract import state_of

APPS = ("trac", "fava", "ihatemoney", "sqlite-web", "wagtail", "lektor", "jupyterlab")
DAY = date(2026, 9, 1)
DRAFTS = 12
FEWEST = 6


class SeededFacts(Facts):
    """What the data template of an application holds."""

    async def read(self, app_id: str, probe: str, args: Mapping[str, str]) -> Table:
        entry = load_app(app_id)
        install(entry)
        match entry.probes[probe]:
            case SqliteProbe() as asked:
                return read_sqlite(asked, args, place_of(entry).template)
            case FileProbe() as asked:
                return read_file(asked, args, place_of(entry).template)
            case other:
                raise ProbeError("unreadable", f"nobody answers a probe of the kind '{other.kind}' here")


def is_seeded(app_id: str, probe: str | None) -> bool:
    return probe is None or isinstance(load_app(app_id).probes[probe], SqliteProbe | FileProbe)


def is_drawn_from_seed(template: Template) -> bool:
    return all(is_seeded(template.app_id, slot.probe) for slot in template.slots)


TEMPLATES = [template for app_id in APPS for template in load_templates(app_id) if is_drawn_from_seed(template)]

pytestmark = pytest.mark.slow

each_template = pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: str(template.template_id))


async def drafts_of(template: Template) -> Drafts:
    ask = Ask(
        app_ids=[template.app_id],
        today=DAY,
        count=DRAFTS,
        infeasible_rate=0.0 if template.feasible else 1.0,
        template_share=1.0,
    )
    return await generate(ask, SeededFacts(), [template])


async def untouched(task: TaskSpec, check: Check) -> CheckState | None:
    """What a check says of the seeded state; nothing where only a running application can tell."""
    if check.probe == ANSWER:
        return state_of(check, [])
    if not is_seeded(task.start.app_id, check.probe):
        return None
    args = {param.name: param.value for param in check.args}
    return state_of(check, await SeededFacts().read(task.start.app_id, check.probe, args))


@each_template
async def test_a_template_gives_different_tasks_that_the_gate_admits(template: Template) -> None:
    candidates = (await drafts_of(template)).candidates
    tasks = [candidate.task for candidate in candidates]

    gated = gate(candidates, around_tasks(tasks, DAY), accepted=load_tasks("quickstart"), template_share=1.0)

    assert gated.rejections == []
    assert len({task.instruction for task in tasks}) >= FEWEST
    assert {task.language for task in tasks} == {"en", "zh"}


@each_template
async def test_what_is_asked_for_does_not_hold_yet(template: Template) -> None:
    for task in [candidate.task for candidate in (await drafts_of(template)).candidates]:
        for segment in task.segments:
            states = [await untouched(task, check) for check in segment.checks]
            assert "failed" in states or set(states) == {None}, task.instruction
        for check in (*task.preflight, *task.absence_checks):
            assert await untouched(task, check) in ("passed", None), task.instruction


@pytest.mark.parametrize("app_id", APPS)
def test_every_application_has_templates_of_every_tier_and_two_that_cannot_be_done(app_id: str) -> None:
    feasible = [template for template in load_templates(app_id) if template.feasible]

    assert len(feasible) >= 8
    assert {template.tier for template in feasible} == {"single", "multi", "workflow"}
    assert len(load_templates(app_id)) - len(feasible) == 2
