"""The reader of UI trees: what its child says becomes nodes or a reason; one that hangs is ended."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable

import pytest

from pipeline.actions import Pixel
from pipeline.envs.atspi import TreeReader, answer_of, node_of, seen_of
from pipeline.errors import TreeError
from pipeline.structs import Box, Node

ROW = ["button", "OK", "", [1, 2, 30, 40], ["focused"]]


def child(script: str) -> TreeReader:
    """A reader whose child runs a script in place of the real one."""

    async def spawn() -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            sys.executable, "-c", f"import json, sys, time\n{script}", stdin=pipe, stdout=pipe, stderr=pipe
        )

    return TreeReader(spawn)


def saying(answer: object) -> TreeReader:
    return child(f"for line in sys.stdin: print({json.dumps(answer)!r}, flush=True)")


async def test_nodes_have_role_name_box_and_states() -> None:
    reader = saying({"nodes": [ROW, ["label", "x", "y", None, []]], "partial": True})

    seen = await reader.tree()
    await reader.close()

    assert seen.partial
    assert seen.nodes == [
        Node(role="button", name="OK", box=Box(left=1, top=2, right=30, bottom=40), states=["focused"]),
        Node(role="label", name="x", value="y"),
    ]


async def test_what_lies_at_a_point_may_be_nothing() -> None:
    nothing, something = saying({"node": None}), saying({"node": ROW})

    assert await nothing.node_at(Pixel(x=1, y=1)) is None
    found = await something.node_at(Pixel(x=1, y=1))
    await nothing.close()
    await something.close()

    assert found is not None
    assert found.name == "OK"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"nodes": [], "partial": False}, "unavailable"),
        ({"nodes": [], "partial": True}, "timeout"),
        ({"error": "Error: no bus"}, "unavailable"),
        ({"nodes": [["button"]], "partial": False}, "unavailable"),
        ({"nodes": [["button", 7, "", None, []]], "partial": False}, "unavailable"),
        ({"partial": False}, "unavailable"),
        ([], "unavailable"),
    ],
    ids=["empty", "cut to nothing", "error", "short row", "wrong type", "no nodes", "no object"],
)
async def test_what_is_no_tree_has_a_reason(answer: object, code: str) -> None:
    reader = saying(answer)

    with pytest.raises(TreeError) as caught:
        await reader.tree()
    await reader.close()

    assert caught.value.code == code


async def test_a_child_that_hangs_is_ended_and_another_one_asked() -> None:
    script = "sys.stdin.readline(); time.sleep(600)"
    reader = child(script)
    started: list[asyncio.subprocess.Process] = []
    first = reader._spawn

    async def noted() -> asyncio.subprocess.Process:
        started.append(await first())
        return started[-1]

    reader._spawn = noted

    for _ in range(2):
        with pytest.raises(TreeError) as caught:
            await reader.tree(seconds=-2.8)
        assert caught.value.code == "timeout"
    assert [process.returncode for process in started] == [-9, -9]


async def test_a_child_that_ends_at_once_names_the_packages() -> None:
    reader = child("sys.exit(1)")

    with pytest.raises(TreeError, match=r"python3-gi and gir1\.2-atspi-2\.0"):
        await reader.tree()


async def test_a_cancelled_question_leaves_no_answer_for_the_next_one() -> None:
    reader = child(
        "for n, line in enumerate(sys.stdin):\n"
        " time.sleep(0.3)\n"
        ' print(json.dumps({"node": ["button", line.strip()[-5:], "", None, []]}), flush=True)'
    )
    asked = asyncio.create_task(reader.node_at(Pixel(x=1, y=11)))
    await asyncio.sleep(0.15)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked

    found = await reader.node_at(Pixel(x=1, y=22))
    await reader.close()

    assert found is not None
    assert found.name.endswith("22}")


@pytest.mark.parametrize(
    "wrong",
    [lambda: answer_of(b"nonsense"), lambda: seen_of({"nodes": 7, "partial": False}), lambda: node_of("x")],
    ids=["line", "nodes", "node"],
)
def test_nonsense_is_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(TreeError):
        wrong()
