"""Text typed into an office suite's documents and sheets stands in their files as it was typed, whatever its script."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pipeline.actions import Action, Hotkey, PressEnter, Type
from pipeline.app_entry import load_program
from pipeline.debian_install import DESKTOP, missing
from pipeline.envs.desktop import DesktopEnvironment
from pipeline.envs.machines import Machines
from pipeline.envs.xvfb import XvfbMachine
from pipeline.structs import Param
from pipeline.tasks import Check, Start
from tests.programs import TEXT, desktop_task

LINES = (
    TEXT,
    "林青在五月修缮屋顶：“好，谢谢！”",
    "Żółć, Ångström, ñandú, Ελλάδα, Привет, こんにちは",
    "🙂👍 2 × 3 ≠ 7 — €5 𝄞",
)
"""Characters of layouts, of other scripts, and some that take two units of UTF-16."""
WRITER, CALC = "desktop-writer", "desktop-calc"
PACKAGES = [*DESKTOP, *(name for app_id in (WRITER, CALC) for name in load_program(app_id).install.packages)]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.skipif(bool(missing(PACKAGES)), reason="the office suite is not on this machine"),
]


@pytest.fixture
async def desktop() -> AsyncIterator[DesktopEnvironment]:
    environment = DesktopEnvironment(Machines(lambda number: XvfbMachine(f"texts-{number}")))
    yield environment
    await environment.close()


async def typed(desktop: DesktopEnvironment, app_id: str, path: str, moves: list[Action]) -> None:
    """Open a file in a program, type, and save it in the format it came in."""
    await desktop.start(desktop_task(load_program(app_id), start=Start(app_id=app_id, path=path)))
    for move in [*moves, Hotkey(keys=["Control", "s"])]:
        await desktop.act(move, [])


async def product(desktop: DesktopEnvironment, app_id: str, probe: str, **args: str) -> list[list[str]] | None:
    """What a probe reads of the file."""
    asked = [Param(name=name, value=value) for name, value in args.items()]
    check = Check(name="product", verifier="equals", probe=probe, args=asked, app_id=app_id)
    return (await desktop.probe([check], 0))[0].value


async def test_a_document_has_what_was_typed(desktop: DesktopEnvironment) -> None:
    moves: list[Action] = [Hotkey(keys=["Control", "a"]), Hotkey(keys=["Delete"])]
    for line in LINES:
        moves += [Type(content=line), PressEnter()]

    await typed(desktop, WRITER, "/Documents/minutes.docx", moves)

    written = await product(desktop, WRITER, "paragraphs", file="minutes.docx")
    assert written is not None
    assert [row[0] for row in written if row[0]] == list(LINES)


async def test_a_sheet_has_what_was_typed(desktop: DesktopEnvironment) -> None:
    moves: list[Action] = []
    for line in LINES:
        moves += [Type(content=line), PressEnter()]

    await typed(desktop, CALC, "/Documents/budget.xlsx", moves)

    written = await product(desktop, CALC, "cells", file="budget.xlsx", cells=f"A1:A{len(LINES)}")
    assert written is not None
    assert [row[-1] for row in written] == list(LINES)
