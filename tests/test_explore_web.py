"""Exploration in a real browser, of a shop whose looks change: what holds, what was renamed, gone, or not known yet."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from catalogs.explore import Budget, Explored, explore
from catalogs.subject import Subject
from pipeline.envs.browser import Browser
from pipeline.envs.web import WebEnvironment
from pipeline.tasks import Capability
from tests.shopsite import INJECTION, Looks, ShopSite, shop_capability
from tests.webworld import running_browser

SHOP = Looks()
CONFIRM_ONLY = Budget(seconds=100, states=0, edges=0)
SEARCH = Budget(seconds=100, states=20, edges=60)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with running_browser() as running:
        yield running


@asynccontextmanager
async def shop(browser: Browser, looks: Looks) -> AsyncIterator[WebEnvironment]:
    site = ShopSite(looks)
    environment = WebEnvironment(browser, lambda _: site)
    try:
        yield environment
    finally:
        await environment.finish()
        await site.close()


async def explored(
    browser: Browser,
    looks: Looks = SHOP,
    known: Sequence[Capability] = (),
    budget: Budget = SEARCH,
    resettable: bool = True,
) -> Explored:
    async with shop(browser, looks) as environment:
        return await explore(Subject("shop", resettable=resettable), [environment], known, budget)


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_what_writes_is_confirmed_by_the_difference(browser: Browser) -> None:
    result = await explored(browser, known=[shop_capability()], budget=CONFIRM_ONLY)

    row = result.capabilities[0]
    assert (row.status, row.success_count, row.failure_count) == ("confirmed", 1, 0)
    assert row.evidence[0].source.startswith("explored:") and row.updated_at is not None


async def test_a_renamed_button_is_found_and_its_new_procedure_confirmed(browser: Browser) -> None:
    result = await explored(browser, Looks(button="Create entry"), [shop_capability()], CONFIRM_ONLY)

    row, line = result.capabilities[0], result.report.lines[0]
    assert line.status == "renamed" and line.reason == "button 'Add item' is now 'Create entry'"
    assert row.status == "confirmed" and row.procedure[-1].name == "Create entry"
    again = await explored(browser, Looks(button="Create entry"), [row], CONFIRM_ONLY)
    assert again.report.lines[0].status == "confirmed"


@pytest.mark.slow
async def test_a_menu_and_a_button_may_both_be_renamed(browser: Browser) -> None:
    result = await explored(browser, Looks(button="Save", menu="Add an item"), [shop_capability()], CONFIRM_ONLY)

    assert [step.name for step in result.capabilities[0].procedure] == ["Add an item", "Name", "Save"]


@pytest.mark.slow
async def test_a_link_that_has_moved_is_reached_over_another_screen(browser: Browser) -> None:
    result = await explored(browser, Looks(menu_moved=True), [shop_capability()])

    row, line = result.capabilities[0], result.report.lines[0]
    assert line.status == "renamed" and row.status == "confirmed"
    assert [step.name for step in row.procedure] == ["About", "New item", "Name", "Add item"]


@pytest.mark.slow
async def test_a_function_that_is_nowhere_is_unsupported(browser: Browser) -> None:
    known = shop_capability(procedure=[{"action": "Click", "role": "button", "name": "Merge duplicates"}])

    result = await explored(browser, known=[known])

    assert result.capabilities[0].status == "unsupported" and result.capabilities[0].failure_count == 2


async def test_a_form_without_effect_is_outdated(browser: Browser) -> None:
    result = await explored(browser, Looks(deaf_posts=9), [shop_capability()], CONFIRM_ONLY)

    assert result.report.lines[0].status == "outdated"
    assert "the state is what it was" in result.report.lines[0].reason


async def test_one_of_two_tries_is_flaky(browser: Browser) -> None:
    result = await explored(browser, Looks(deaf_posts=1), [shop_capability()], CONFIRM_ONLY)

    row = result.capabilities[0]
    assert (row.status, row.success_count, row.failure_count) == ("flaky", 1, 1)


async def test_a_password_field_means_a_login(browser: Browser) -> None:
    result = await explored(browser, Looks(wall=True), [shop_capability()], CONFIRM_ONLY)

    assert result.capabilities[0].status == "needs_login"


async def test_an_unknown_application_is_found_out(browser: Browser) -> None:
    result = await explored(browser)

    found = {row.capability_id: row for row in result.capabilities}
    adding = found["shop.found.new-item-add-item"]
    assert adding.consequence == "create" and adding.status == "confirmed" and len(adding.slots) == 1
    deleting = found["shop.found.a-record-delete"]
    assert deleting.consequence == "delete" and not deleting.reversible
    assert [step.action for step in deleting.procedure] == ["Click", "AcceptDialog", "Click"]
    assert deleting.slots[0].values == ["lamp", "chair", "table", "shelf"]


@pytest.mark.slow
async def test_what_was_found_is_confirmed_when_it_is_known(browser: Browser) -> None:
    found = await explored(browser)

    again = await explored(browser, known=found.capabilities, budget=CONFIRM_ONLY)

    assert {line.status for line in again.report.lines} == {"confirmed"}


async def test_finds_that_a_known_capability_covers_are_merged(browser: Browser) -> None:
    result = await explored(browser, known=[shop_capability()])

    assert "shop.found.new-item-add-item" not in {row.capability_id for row in result.capabilities}
    assert "1 finds are what known capabilities do" in result.report.notes


async def test_links_out_of_the_application_are_not_followed(browser: Browser) -> None:
    result = await explored(browser)

    assert "'Our sponsor' leads out of the application and was not followed" in result.report.notes
    assert all("127.0.0.1:9" not in screen for row in result.capabilities for screen in row.screens)


async def test_what_a_page_orders_is_not_done(browser: Browser) -> None:
    result = await explored(browser, budget=SEARCH)

    assert any(INJECTION in node.name for tree in result.trees for node in tree.nodes)
    assert not any("everything" in row.model_dump_json().casefold() for row in result.capabilities)


async def test_without_a_reset_nothing_is_sent_or_deleted(browser: Browser) -> None:
    site = ShopSite()
    environment = WebEnvironment(browser, lambda _: site)
    try:
        result = await explore(Subject("shop", resettable=False), [environment], [shop_capability()], SEARCH)
        assert site.changes() == []
    finally:
        await environment.finish()
        await site.close()

    assert result.report.lines[0].reason == "what it does could not be undone here"
    assert {row.consequence for row in result.capabilities[1:]} <= {"none"}
    assert len({row.to_signature for row in result.transitions}) >= 3


async def test_every_edge_has_its_screens_before_and_after(browser: Browser) -> None:
    result = await explored(browser)

    frames = {frame.sha256 for frame in result.frames}
    assert result.transitions and result.report.edges == len(result.transitions)
    assert {row.frame_before for row in result.transitions} | {row.frame_after for row in result.transitions} == frames


@pytest.mark.slow
async def test_the_same_seed_finds_the_same(browser: Browser) -> None:
    first, second = await explored(browser), await explored(browser)

    def told(result: Explored) -> list[object]:
        kept = [row.model_dump(exclude={"updated_at", "evidence"}) for row in result.capabilities]
        return [*kept, *((row.from_signature, row.to_signature, row.action) for row in result.transitions)]

    assert told(first) == told(second)
