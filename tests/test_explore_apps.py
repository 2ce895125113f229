"""Exploring the real applications: what their catalogs say holds, within the time that one application may take."""

from __future__ import annotations

import pytest

from catalogs.explore import Budget, Explored, explore
from catalogs.store import load_catalog
from pipeline import envs
from pipeline.config import RunConfig
from pipeline.exploring import subject_of
from pipeline.reaper import Scratch

BUDGET = Budget(seconds=150, states=20, edges=40)
CONFIG = RunConfig()
SOME = 6

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


async def explored(app_id: str) -> Explored:
    """Some of the catalog, a few from everywhere in it, and a look around."""
    known = load_catalog(app_id)
    with Scratch("test-explore") as scratch:
        environment = envs.build(CONFIG, scratch)
        try:
            chosen = known[:: max(len(known) // SOME, 1)][:SOME]
            return await explore(subject_of(app_id, CONFIG), [environment], chosen, BUDGET)
        finally:
            await environment.close()


@pytest.mark.parametrize("app_id", ["fava", "ihatemoney", "lektor", "sqlite-web", "trac", "wagtail"])
async def test_the_catalog_of_a_real_application_holds(app_id: str) -> None:
    result = await explored(app_id)

    known = [line for line in result.report.lines if not line.found]
    assert {line.status for line in known if not line.reason.startswith("not tried")} == {"confirmed"}
    assert any(line.writes for line in result.report.confirmed)
    frames = {frame.sha256 for frame in result.frames}
    assert result.transitions and {row.frame_after for row in result.transitions} <= frames
    assert all(row.procedure for row in result.capabilities)
