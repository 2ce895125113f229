"""An attempt that types a password, and datasets made of it: what says that it is secret is for the test to choose."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image as Pictures

from pipeline.actions import Click, Finished, Point, Type
from pipeline.envs.fake_picture import draw
from pipeline.records import Frame, Record
from pipeline.structs import Box, Node, Sensitive
from pipeline.tasks import TaskSpec
from tests.datasets import begin, judging, put, renamed, verdict
from tests.records import look, node, read, record, step, task

SECRET = "correct horse"
REGION = Box(left=10, top=40, right=210, bottom=60)
TASK: TaskSpec = task(f"Sign in with the password {SECRET}.")
HOME = [node("heading", "Sign in", box=(10, 10, 210, 30))]


def field(value: str, states: tuple[str, ...] = ("focused",)) -> Node:
    """The password's field."""
    return node("textbox", "Password", value, box=(10, 40, 210, 60), states=states)


def signed_in(attempt: str = "a-1", *, where: str = "tree", flags: tuple[str, ...] = ()) -> Record:
    """An attempt that types a password; what says so is `where`: the tree, the frame, or nothing but the flags."""
    screens = [
        [*HOME, field("")],
        [*HOME, field(SECRET)],
        [*HOME, node("StaticText", f"Your password is {SECRET}", box=(10, 80, 310, 100))],
        HOME,
    ]
    looks = [look(*nodes)._replace(picture=draw(nodes, 320, 200).image.bytes) for nodes in screens]
    steps = [
        step(Type(content=SECRET), f"I type {SECRET}."),
        step(Click(point=Point(x=500, y=500)), "I send it."),
        step(Finished(content="signed in")),
    ]
    made = record(looks, steps, [read(f"user(password={SECRET})", [[SECRET]], 3)])
    return renamed(_marked(made, where, flags), attempt, {"task_id": TASK.task_id, "trajectory_id": attempt}, {})


def _marked(made: Record, where: str, flags: tuple[str, ...]) -> Record:
    regions = [Sensitive(class_="password", box=REGION)]
    hurt = made.observations[1]
    observations = list(made.observations)
    observations[1] = hurt.model_copy(update={"flags": list(flags)})
    changes: dict[str, object] = {"observations": observations}
    if where == "tree":
        trees = {name: tree.model_copy(update={"sensitive": regions}) for name, tree in made.trees.items()}
        changes["trees"] = made.trees | {name: trees[name] for name in _first_two(made)}
    if where == "frame":
        name = hurt.frame_sha256 or ""
        changes["frames"] = made.frames | {name: made.frames[name].model_copy(update={"sensitive": regions})}
    if "contains_secret" in flags:
        changes["trajectory"] = made.trajectory.model_copy(update={"contains_secret": True})
    return made.model_copy(update=changes)


def _first_two(made: Record) -> list[str]:
    return [look.tree_sha256 for look in made.observations[:2] if look.tree_sha256]


def made_of(folder: Path, *records: Record) -> Path:
    """A finished dataset of these attempts."""
    committer = begin(folder, [TASK])
    put(committer, folder, records)
    committer.record([judging(), *(verdict(made.attempt.attempt_id) for made in records)])
    committer.finish()
    return folder


def shown(made: Record, index: int) -> Frame:
    """The picture of a look."""
    return made.frames[made.observations[index].frame_sha256 or ""]


def colours(made: Record, index: int, box: Box) -> int:
    """How many colours a part of a look's picture has."""
    return len(cut(made, index, box).getcolors(100_000) or [])


def cut(made: Record, index: int, box: Box) -> Pictures.Image:
    """A part of a look's picture."""
    """How many colours a part of a look's picture has."""
    """The picture of a look."""
    """A finished dataset of these attempts."""
    """The password's field."""
    data = shown(made, index).image.bytes
    with Pictures.open(io.BytesIO(data)) as picture:
        return picture.convert("RGB").crop((box.left, box.top, box.right, box.bottom))
