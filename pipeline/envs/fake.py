"""An environment without a browser: the to-do application in memory, with real pictures, trees, probes and events.

It speaks the same protocol as the real ones, so the whole pipeline runs on it in seconds, and it can break on command:
`Faults` says where, given to the constructor or by a task's set-up (`write` to `faults`).
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from typing import Literal, NamedTuple

import yaml
from pydantic import Field, ValidationError

from pipeline.actions import (
    AcceptDialog,
    Action,
    Click,
    DoubleClick,
    GetUrl,
    Hotkey,
    Hover,
    Launch,
    LongPress,
    Model,
    Pixel,
    PressBack,
    PressEnter,
    RightClick,
    Scroll,
    SelectOption,
    TakeNote,
    Type,
    Wait,
)
from pipeline.envs.fake_app import APP_ID, HEIGHT, PRIORITIES, SEED, WIDTH, Todo, TodoApp, Widget
from pipeline.envs.fake_picture import draw
from pipeline.errors import ActionError, EnvError, SetupError
from pipeline.protocols import ActResult, Observation
from pipeline.records import Event, Frame, ProbeRead, Tree, tree_of
from pipeline.structs import EnvironmentInfo, TargetUnderPoint
from pipeline.tasks import CHANGES, RESERVED_PROBES, Check, SetupOperation, TaskSpec

_ORIGIN = "http://localhost"
_KEPT_PICTURES = 1000
_TWO_THIRDS = HEIGHT * 2 // 3


class Faults(Model):
    """What breaks, and when. Steps and looks are counted from 0 in each episode."""

    failing_starts: int = 0
    """How many starts of each task fail in one environment; -1 for all."""
    failing_looks: list[int] = Field(default_factory=list)
    act_seconds: float = 0.0
    hang_at: int | None = None
    crash_at: int | None = None
    wall_at: int | None = None
    wall: Literal["captcha", "login"] = "captcha"
    failing_probe: bool = False
    failing_finish: bool = False


class _Kept(NamedTuple):
    """The application at some moment, and its state when that episode began."""

    app: TodoApp
    before: dict[str, str]


class FakeEnvironment:
    """The to-do application, one episode at a time."""

    def __init__(self, faults: Faults | None = None) -> None:
        self._given = faults or Faults()
        self._faults = self._given
        self._app = TodoApp()
        self._before: dict[str, str] = {}
        self._kept: dict[str, _Kept] = {}
        self._starts: Counter[str] = Counter()
        self._pictures: dict[str, Frame] = {}
        self._looks = 0
        self._acts = 0

    async def start(self, task: TaskSpec) -> EnvironmentInfo:
        """Put the application into its first state, apply the task's set-up, open its start."""
        self._faults = _faults_of(task.setup) or self._given
        self._starts[task.task_id] += 1
        if self._faults.failing_starts < 0 or self._starts[task.task_id] <= self._faults.failing_starts:
            raise SetupError("app_not_ready", f"start {self._starts[task.task_id]} fails on command")
        self._app = TodoApp(_seeded(task.setup))
        self._before = self._app.state()
        self._looks = self._acts = 0
        self._app.open(task.start.path)
        return EnvironmentInfo(driver="fake", provider="fake", device=f"{WIDTH}x{HEIGHT}", build="1")

    async def keep(self, name: str) -> None:
        """Keep the application as it is, and what its changes are counted from."""
        self._kept[name] = _Kept(deepcopy(self._app), dict(self._before))

    async def start_from(self, task: TaskSpec, name: str) -> EnvironmentInfo | None:
        """Start, then put the application into a state that was kept."""
        kept = self._kept.get(name)
        if kept is None:
            return None
        begun = await self.start(task)
        self._app, self._before = deepcopy(kept.app), dict(kept.before)
        return begun

    async def observe(self) -> Observation:
        """The picture and the tree as they are now."""
        started, look = time.monotonic(), self._looks
        self._looks += 1
        tree = tree_of(widget.node for widget in self._app.widgets())
        failed = look in self._faults.failing_looks
        return Observation(
            frame=None if failed else self._picture(tree),
            tree=tree,
            location=_ORIGIN + self._app.path,
            title=self._app.title,
            capture_error="timeout" if failed else None,
            seconds=round(time.monotonic() - started, 4),
        )

    async def target(self, pixel: Pixel) -> TargetUnderPoint | None:
        """The element under a pixel."""
        widget = self._under(pixel)
        if widget is None:
            return None
        node = widget.node
        return TargetUnderPoint(role=node.role, name=node.name, box=node.box, states=node.states)

    async def act(self, action: Action, points: Sequence[Pixel]) -> ActResult:
        """Carry out an action, or break as commanded."""
        step = self._acts
        self._acts += 1
        if self._faults.act_seconds:
            await asyncio.sleep(self._faults.act_seconds)
        if step == self._faults.hang_at:
            await asyncio.Event().wait()
        if step == self._faults.crash_at:
            raise EnvError("crashed", f"step {step} breaks on command")
        if step == self._faults.wall_at:
            self._app.events.append(Event(attempt_id="", step_index=0, kind=self._faults.wall))
        if points:
            return self._point(action, points[0])
        return self._key(action)

    async def probe(self, checks: Sequence[Check], observation_index: int) -> list[ProbeRead]:
        """What the checks ask, and what has changed since the start."""
        calls = {check.call: check for check in checks if check.probe not in RESERVED_PROBES}
        reads = [self._read(check, observation_index) for check in calls.values()]
        rows = _changes(self._before, self._app.state())
        return [*reads, self._answer(CHANGES, observation_index, rows)]

    def drain_events(self) -> list[Event]:
        """Events since the last call."""
        events, self._app.events = self._app.events, []
        return events

    async def finish(self) -> None:
        """Nothing is kept open between episodes."""
        if self._faults.failing_finish:
            raise EnvError("finish_failed", "finish fails on command")

    async def close(self) -> None:
        """Nothing is left behind."""
        self._pictures.clear()
        self._kept.clear()

    def _picture(self, tree: Tree) -> Frame:
        frame = self._pictures.get(tree.sha256)
        if frame is None:
            if len(self._pictures) >= _KEPT_PICTURES:
                self._pictures.clear()
            frame = self._pictures[tree.sha256] = draw(tree.nodes, WIDTH, HEIGHT)
        return frame

    def _under(self, pixel: Pixel) -> Widget | None:
        hits = [widget for widget in self._app.widgets() if widget.node.box and widget.node.box.contains(pixel)]
        return hits[-1] if hits else None

    def _point(self, action: Action, pixel: Pixel) -> ActResult:
        widget = self._under(pixel)
        match action:
            case Click() | DoubleClick():
                if widget is not None:
                    self._app.press(widget)
            case Scroll(direction=direction):
                self._app.scroll_by({"down": _TWO_THIRDS, "up": -_TWO_THIRDS}.get(direction, 0))
            case Hover() | LongPress() | RightClick():
                pass
            case _:
                raise ActionError("unknown_action", f"{action.type} does not exist here")
        return ActResult()

    def _key(self, action: Action) -> ActResult:
        match action:
            case Type(content=content):
                if not self._app.type(content):
                    raise ActionError("text_not_delivered", "no text field has the focus")
            case SelectOption(index=index):
                if not self._app.choose(index):
                    raise ActionError("option_not_found", f"no drop-down with the focus has an option {index}")
            case Hotkey(keys=keys):
                self._app.hotkey(keys)
            case PressEnter():
                self._app.hotkey(["Enter"])
            case AcceptDialog():
                self._app.accept_next_dialog = True
            case _:
                return self._elsewhere(action)
        return ActResult()

    def _elsewhere(self, action: Action) -> ActResult:
        match action:
            case Launch(url=url):
                path = url.removeprefix(_ORIGIN)
                if not path.startswith("/"):
                    raise ActionError("blocked_address", f"{url} is not an address of this application")
                self._app.open(path)
            case PressBack():
                self._app.back()
            case GetUrl():
                return ActResult(feedback=_ORIGIN + self._app.path)
            case TakeNote(content=content):
                return ActResult(feedback=content)
            case Wait():
                pass
            case _:
                raise ActionError("unknown_action", f"{action.type} does not exist here")
        return ActResult()

    def _read(self, check: Check, observation_index: int) -> ProbeRead:
        args = {param.name: param.value for param in check.args}
        todos = self._app.todos.values()
        if self._faults.failing_probe:
            return self._answer(check.call, observation_index, None)
        match check.probe:
            case "todo":
                found = [todo for todo in todos if todo.title == args.get("title")]
                return self._answer(check.call, observation_index, [_cells(todo) for todo in found])
            case "todos":
                return self._answer(check.call, observation_index, [[todo.title] for todo in todos])
            case "priorities":
                return self._answer(check.call, observation_index, [[priority] for priority in PRIORITIES])
            case "buttons":
                return self._answer(check.call, observation_index, [[name] for name in self._app.buttons()])
            case _:
                return self._answer(check.call, observation_index, None)

    @staticmethod
    def _answer(call: str, observation_index: int, rows: list[list[str]] | None) -> ProbeRead:
        return ProbeRead(
            attempt_id="",
            observation_index=observation_index,
            app_id=APP_ID,
            probe=call,
            value=rows,
            error=None if rows is not None else "the probe could not be read",
        )


def _cells(todo: Todo) -> list[str]:
    return [todo.priority, "done" if todo.done else "open", todo.notes]


def _changes(before: dict[str, str], after: dict[str, str]) -> list[list[str]]:
    rows = [[key, "added"] for key in after if key not in before]
    rows += [[key, "removed"] for key in before if key not in after]
    return rows + [[key, "changed"] for key in after if key in before and before[key] != after[key]]


def _seeded(setup: Sequence[SetupOperation]) -> list[Todo]:
    """The first state: the built-in entries, and those a set-up appends to `todos` as `title | priority | notes`."""
    todos = list(SEED)
    for operation in setup:
        if operation.kind == "append" and operation.target == "todos":
            title, priority, notes = (part.strip() for part in f"{operation.content}||".split("|")[:3])
            todos.append(Todo(title, priority or "normal", False, notes))
    return todos


def _faults_of(setup: Sequence[SetupOperation]) -> Faults | None:
    for operation in setup:
        if operation.kind == "write" and operation.target == "faults":
            try:
                return Faults.model_validate(yaml.safe_load(operation.content))
            except (yaml.YAMLError, ValidationError) as error:
                raise SetupError("bad_setup", f"faults: {error}") from error
    return None
