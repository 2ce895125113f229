"""The drafting worker, without Ray: from templates, by a model, and what happens before it is ready."""

from __future__ import annotations

from datetime import date

import pytest

from catalogs.store import load_catalog
from pipeline.clients import Access, place_of
from pipeline.errors import RunError
from pipeline.llm import probe
from pipeline.making import DraftWorker
from pipeline.required import needs, writes_tasks
from taskspecs.generate import Ask
from tests.endpoints import limiter_of, says, serving
from tests.runs import fake_config

ASK = Ask(app_ids=["fake-todo"], today=date(2026, 11, 30), count=4, infeasible_rate=0.5, template_share=1.0)


async def test_it_drafts_from_templates_and_reads_what_exists() -> None:
    worker = DraftWorker("d", fake_config("tasks=generate"))
    await worker.ready()

    written = await worker.draft(ASK)

    assert len(written.drafts.candidates) == 4 and not written.calls
    await worker.close()


async def test_it_drafts_by_the_procedures_that_are_known_now() -> None:
    worker = DraftWorker("d", fake_config("tasks=generate"))
    await worker.ready()
    renamed = [
        one.model_copy(update={"procedure": [step.model_copy(update={"name": "Elsewhere"}) for step in one.procedure]})
        for one in load_catalog("fake-todo")
    ]

    written = await worker.draft(ASK.model_copy(update={"infeasible_rate": 0.0}), renamed)

    names = {step.name for one in written.drafts.candidates for step in one.task.oracle[:-1]}
    assert names == {"Elsewhere"}
    await worker.close()


async def test_a_worker_that_was_not_made_ready_says_so() -> None:
    with pytest.raises(RunError, match="worker d was not made ready"):
        await DraftWorker("d", fake_config("tasks=generate")).draft(ASK)


async def test_the_acting_model_writes_what_can_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving(says("I would rather not", times=None)) as server:
        config = fake_config("tasks=generate", f"model.base_url={server.base_url}", "model.name=scripted")
        (need,) = needs(config)
        limiter = limiter_of(need.endpoint)
        abilities = await probe(need.endpoint, limiter, [], images=0)
        access = {place_of(need.endpoint): Access(abilities, limiter)}
        worker = DraftWorker("d", config, access)
        await worker.ready()

        written = await worker.draft(ASK)
        await worker.close()

    assert [one.task.generator for one in written.drafts.candidates] == ["template", "template"]
    assert [row.origin for row in written.drafts.rejections] == ["model:scripted"] * 2
    assert len(written.calls) == 2


def test_a_model_writes_tasks_only_where_they_are_made() -> None:
    named = ("model.base_url=http://127.0.0.1:1/v1", "model.name=scripted")

    assert writes_tasks(fake_config("tasks=generate", *named))
    assert not writes_tasks(fake_config(*named))
    assert not writes_tasks(fake_config("tasks=generate"))
