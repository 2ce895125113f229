"""The desktop environment: programs on a machine, one episode at a time.

It looks (picture with the pointer, UI tree, windows), tells what lies under a point, acts and waits until the screen is
at rest, reads what a typed text became, and answers probes from files. What kind of machine it is, is the machine's
affair.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.actions import Action, Pixel, TakeNote, Type
from pipeline.app_entry import load_program
from pipeline.envs.desktop_actions import Hands
from pipeline.envs.desktop_programs import KeptHome, LoadProgram, Programs
from pipeline.envs.desktop_typing import UNVERIFIED, check_arrived
from pipeline.envs.machine import Machine, Seen, Window
from pipeline.envs.machines import Machines
from pipeline.errors import ActionError, CaptureError, EnvError, SetupError, TreeError
from pipeline.frames import frame_of
from pipeline.protocols import ActResult, Environment, Observation
from pipeline.records import Event, Frame, ProbeRead, tree_of
from pipeline.structs import EnvironmentInfo, Node, TargetUnderPoint
from pipeline.tasks import Check, TaskSpec
from pipeline.words import CaptureErrorCode, TreeErrorCode

SETTLE_SECONDS = 3.0
"""How long the screen may need to come to rest after an action."""
_POLL_SECONDS = 0.2


class _Held(NamedTuple):
    """The machine of the episode and what runs on it."""

    machine: Machine
    programs: Programs
    hands: Hands


class _Kept(NamedTuple):
    """A state that was kept, and what showed then."""

    home: KeptHome
    shown: list[tuple[str, str, str]]


class _Look(NamedTuple):
    """What was seen at once."""

    frame: Frame | None
    capture_error: CaptureErrorCode | None
    nodes: list[Node]
    tree_error: TreeErrorCode | None


class DesktopEnvironment(Environment):
    """Programs on one machine at a time."""

    def __init__(self, machines: Machines, load: LoadProgram = load_program) -> None:
        """`load` reads the entry of a program."""
        self._machines = machines
        self._load = load
        self._held: _Held | None = None
        self._nodes: list[Node] = []
        self._shown: list[Node] | None = None
        """What fields hold; nothing where that is not known for certain."""
        self._windows: list[Window] = []
        self._kept: dict[str, _Kept] = {}
        self._elsewhere: set[str] = set()
        """States that were kept in vain: what was begun from them was another one."""
        self._worked = True
        self._acted = False

    @property
    def patience(self) -> float:
        """As the machine's."""
        return self._machines.patience

    async def start(self, task: TaskSpec) -> EnvironmentInfo:
        """Restore the machine, lay out what the programs find, start the first of them; raises SetupError."""
        return await self._begin(task, None)

    async def keep(self, name: str) -> None:
        """Keep the home folder, where the windows are those of the beginning: else files are not all that matters.

        Nothing is kept with programs that hold what nobody can see.
        """
        held = self._holding()
        if name in self._elsewhere or held.programs.hide:
            return
        with self._noting_trouble():
            shown = await _shown(held.machine)
            if shown is None or await held.machine.windows() != self._windows:
                return
            home = await held.programs.kept()
            if home is not None:
                self._kept[name] = _Kept(home, shown)

    async def start_from(self, task: TaskSpec, name: str) -> EnvironmentInfo | None:
        """Start, with the home folder as it was kept before any program runs.

        A state of which programs now show something else, as what was not saved, is none that was kept.
        """
        kept = self._kept.get(name)
        if kept is None:
            return None
        begun = await self._begin(task, kept.home)
        try:
            with self._noting_trouble():
                if await self._is_as(kept):
                    return begun
        except EnvError as error:
            raise SetupError(error.code, error.message) from error
        del self._kept[name]
        self._elsewhere.add(name)
        await self.finish()
        return None

    async def _is_as(self, kept: _Kept) -> bool:
        """Whether files and screen are what they were; programs have a while to show it."""
        held = self._holding()
        until = held.machine.clock() + SETTLE_SECONDS * self.patience
        while await _shown(held.machine) != kept.shown:
            if held.machine.clock() > until:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return await held.programs.shapes() == kept.home.shapes

    async def _begin(self, task: TaskSpec, kept: KeptHome | None) -> EnvironmentInfo:
        await self.finish()
        machine = await self._machines.take()
        programs = Programs(machine, self._load)
        self._held = _Held(machine, programs, Hands(machine, programs))
        self._worked, self._acted, self._nodes, self._shown = True, False, [], None
        try:
            with self._noting_trouble():
                await programs.prepare(task)
                if kept is not None:
                    await programs.put(kept)
                await programs.start(task.start.path)
                await programs.mark(kept)
                self._windows = await machine.windows()
        except EnvError as error:
            raise SetupError(error.code, error.message) from error
        return EnvironmentInfo(driver="desktop", provider=machine.provider, device=machine.name, build=machine.build)

    async def observe(self) -> Observation:
        """Look; raises EnvError when the machine is gone."""
        began, machine = time.monotonic(), self._holding().machine
        with self._noting_trouble():
            look, windows = await asyncio.gather(_looked(machine), machine.windows())
        self._nodes, self._shown = look.nodes, None if look.tree_error else look.nodes
        front = next((window for window in windows if window.active), Window("", "", active=False))
        return Observation(
            frame=look.frame,
            tree=tree_of(look.nodes) if look.nodes else None,
            location=front.kind,
            title=front.title,
            capture_error=look.capture_error,
            tree_error=look.tree_error,
            seconds=round(time.monotonic() - began, 4),
        )

    async def target(self, pixel: Pixel) -> TargetUnderPoint | None:
        """What the program in front says lies there, else the smallest thing of the last tree; nothing without one."""
        with self._noting_trouble():
            node = await self._holding().machine.node_at(pixel)
        smallest = min(
            (other for other in self._nodes if other.box is not None and other.box.contains(pixel)),
            key=_area,
            default=None,
        )
        if node is None or (smallest is not None and _area(smallest) < _area(node)):
            node = smallest
        if node is None:
            return None
        return TargetUnderPoint(role=node.role, name=node.name, box=node.box, states=node.states)

    async def act(self, action: Action, points: Sequence[Pixel]) -> ActResult:
        """Carry out an action and wait until the screen is at rest; raises ActionError or EnvError."""
        held = self._holding()
        self._acted = True
        before, self._shown = self._shown, None
        with self._noting_trouble():
            await held.hands.act(action, points)
            rested = await held.machine.settle(SETTLE_SECONDS)
            flags = await self._arrived(action.content, before, rested=rested) if isinstance(action, Type) else []
        return ActResult(feedback=action.content if isinstance(action, TakeNote) else None, flags=flags)

    async def probe(self, checks: Sequence[Check], observation_index: int) -> list[ProbeRead]:
        """Read what the checks ask, and the changes since `start`; raises EnvError."""
        with self._noting_trouble():
            if self._acted:
                await self._holding().programs.written()
            self._acted = False
            return await self._holding().programs.read(checks, observation_index)

    def drain_events(self) -> list[Event]:
        """Nothing happens beside the actions that a desktop tells of."""
        return []

    async def finish(self) -> None:
        """End the programs; a machine that did not work, or does not let go of them, is replaced."""
        held, self._held = self._held, None
        self._nodes = []
        if held is not None:
            await self._machines.give_back(worked=self._worked)

    async def close(self) -> None:
        """End the episode and the machine."""
        self._kept.clear()
        self._elsewhere.clear()
        await self.finish()
        await self._machines.close()

    async def _arrived(self, text: str, before: list[Node] | None, *, rested: bool) -> list[str]:
        """Flags of a typed text; raises ActionError when it did not arrive, which a screen at work does not show."""
        try:
            seen = await self._holding().machine.tree()
        except TreeError:
            return [UNVERIFIED]
        self._shown = None if seen.partial else seen.nodes
        try:
            return check_arrived(text, before, seen.nodes)
        except ActionError:
            if rested:
                raise
            return [UNVERIFIED]

    def _holding(self) -> _Held:
        if self._held is None:
            raise EnvError("not_started", "no episode has been started")
        return self._held

    @contextlib.contextmanager
    def _noting_trouble(self) -> Iterator[None]:
        """A machine that fails is not used again."""
        try:
            yield
        except EnvError:
            self._worked = False
            raise


async def _shown(machine: Machine) -> list[tuple[str, str, str]] | None:
    """What all of a screen says, wherever it stands and its home folder lies; nothing where it is not told whole."""
    try:
        seen = await machine.tree()
    except TreeError:
        return None
    if seen.partial:
        return None
    home = machine.home
    return [(node.role, node.name.replace(home, "~"), node.value.replace(home, "~")) for node in seen.nodes]


async def _looked(machine: Machine) -> _Look:
    (frame, capture_error), (seen, tree_error) = await asyncio.gather(_pictured(machine), _read(machine))
    return _Look(frame, capture_error, seen.nodes, tree_error)


async def _pictured(machine: Machine) -> tuple[Frame | None, CaptureErrorCode | None]:
    try:
        return await asyncio.to_thread(frame_of, await machine.capture()), None
    except CaptureError as error:
        return None, error.code


async def _read(machine: Machine) -> tuple[Seen, TreeErrorCode | None]:
    """The tree, or the reason why there is none; a part of one comes with the reason why it is not whole."""
    try:
        seen = await machine.tree()
    except TreeError as error:
        return Seen([], partial=False), error.code
    return seen, "timeout" if seen.partial else None


def _area(node: Node) -> int:
    box = node.box
    return (box.right - box.left) * (box.bottom - box.top) if box is not None else 1 << 40
