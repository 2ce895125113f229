"""The Android environment: a device behind adb, one episode at a time.

It looks (tree, picture and display of the same moment), tells what lies under a point of the last picture, acts, reads
what a typed text became, answers probes and tells what happened beside. A device that breaks is given back as broken,
and the next episode takes whichever one works. Which devices there are is the `Fleet`'s affair.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from pipeline.actions import Action, Pixel, TakeNote, Type
from pipeline.envs.adb_device import AdbDevice
from pipeline.envs.android_actions import Hands
from pipeline.envs.android_anr import AnrLog
from pipeline.envs.android_apps import HostError, PhoneApps, Provide
from pipeline.envs.android_capture import capture
from pipeline.envs.android_display import Display, View, read_display
from pipeline.envs.android_launch import Launcher, dismiss_stale, go_home
from pipeline.envs.android_ready import boot_id
from pipeline.envs.android_settings import KeptSettings, Settings
from pipeline.envs.android_tree import IDLE_SECONDS, Dumped, TreeReader
from pipeline.envs.android_typing import UNVERIFIED, check_arrived
from pipeline.errors import ActionError, CaptureError, EnvError, SetupError, TreeError
from pipeline.protocols import ActResult, Environment, Observation
from pipeline.records import Event, Frame, ProbeRead, Tree, tree_of
from pipeline.structs import Box, EnvironmentInfo, Node, TargetUnderPoint
from pipeline.tasks import Check, TaskSpec
from pipeline.words import CaptureErrorCode, ObservationFlag, TreeErrorCode

_SETTLE_SECONDS = 0.4
"""What a touch is given to show where no tree can be waited for."""
_PATIENCE_SECONDS = 15.0
"""Whatever a device was still doing after so long, when somebody would not wait any longer, it did too slowly."""
_LEAVE_SECONDS = 3.0
"""What a device that did not work is given to be left as it was found."""


class Phone(NamedTuple):
    """A device that is ready, and whose it is for the moment."""

    device: AdbDevice
    name: str
    provider: str
    build: str


class Fleet(Protocol):
    """Where devices come from."""

    async def take(self) -> Phone:
        """A device that is ready, ours until it is given back; raises SetupError."""
        ...

    async def give_back(self, phone: Phone, *, worked: bool) -> None:
        """Let others have it; one that did not work is remembered for it."""
        ...

    async def close(self) -> None:
        """End what was started for devices."""
        ...


class _Shot(NamedTuple):
    """One try at an observation."""

    frame: Frame | None
    capture_error: CaptureErrorCode | None
    dumped: Dumped | None
    tree_error: TreeErrorCode | None
    display: Display
    before: Display
    """The screen before its picture was taken; `display` is the screen after it."""
    not_responding: str
    """The application that the system says does not respond; empty when it says so of none."""

    @property
    def torn(self) -> bool:
        """Whether the screen turned while it was looked at."""
        turned = self.dumped is not None and self.dumped.rotation != self.display.rotation
        return turned or (self.frame is not None and self.view is None)

    @property
    def view(self) -> View | None:
        """How the picture lies on the display; nothing where the two cannot be of the same moment."""
        if self.frame is None or self.before[:3] != self.display[:3]:
            return None
        return View.of(self.frame.width, self.frame.height, self.display)

    @property
    def doubtful(self) -> bool:
        """Whether a second look may show something else: most sideways pictures are of a screen that was turning."""
        return self.torn or (self.view is not None and self.view.turned)


class _Held(NamedTuple):
    """What belongs to the device of the moment."""

    phone: Phone
    apps: PhoneApps
    trees: TreeReader
    anrs: AnrLog
    boot_id: str
    """Of the boot that the episode began in."""


class AndroidEnvironment(Environment):
    """Implements `protocols.Environment`."""

    def __init__(
        self,
        fleet: Fleet,
        provide: Provide,
        *,
        names: Mapping[str, str] | None = None,
        settings: Settings | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        """`provide` makes a device's application; `names` are packages by what people call them.

        `settings` are those that no episode leaves changed, by the package that has them as state.
        """
        self._fleet = fleet
        self._provide = provide
        self._names = dict(names or {})
        self._settings = settings or {}
        self._idle_seconds = idle_seconds
        self._held: _Held | None = None
        self._apps: PhoneApps | None = None
        self._hands: Hands | None = None
        self._shot: _Shot | None = None
        self._nodes: list[Node] = []
        self._fields: Sequence[Node] | None = None
        """The tree that nothing has been done since; nothing where none is known."""
        self._events: list[Event] = []
        self._worked = True
        self._acted_at = 0.0

    async def start(self, task: TaskSpec) -> EnvironmentInfo:
        """Take a device, reset, set up and open the task's start; raises SetupError."""
        await self.finish()
        phone = await self._fleet.take()
        apps = await self._apps_on(phone.device)
        self._held = _Held(phone, apps, TreeReader(phone.device, self._idle_seconds), AnrLog(phone.device), "")
        self._worked, self._shot, self._nodes, self._fields, self._events = True, None, [], None, []
        try:
            with self._noting_trouble():
                self._held = self._held._replace(boot_id=await boot_id(phone.device))
                await go_home(phone.device)
                await dismiss_stale(phone.device)
                await self._held.anrs.begin()
                await apps.prepare(task)
                await apps.open(task.start.app_id, task.start.path)
                await apps.mark()
        except EnvError as error:
            raise SetupError(error.code, error.message) from error
        self._hands = Hands(phone.device, Launcher(phone.device, self._names_with(apps)))
        return EnvironmentInfo(driver="android", provider=phone.provider, device=phone.name, build=phone.build)

    async def observe(self) -> Observation:
        """Look; once more when the screen turned meanwhile. Raises EnvError when the device is gone."""
        began, held = time.monotonic(), self._holding()
        with self._noting_trouble():
            shot = await self._taken(held)
            if shot.doubtful:
                shot = await self._taken(held)
            await _check_same_boot(held)
        before, self._shot = self._shot, shot
        self._nodes = _in_picture(shot)
        self._fields = shot.dumped.nodes if shot.dumped is not None else None
        return Observation(
            frame=shot.frame,
            tree=self._tree(),
            location=shot.display.focus,
            title=self._title(held, shot.display),
            capture_error=shot.capture_error,
            tree_error=shot.tree_error,
            flags=self._flags(shot, before),
            seconds=round(time.monotonic() - began, 4),
        )

    async def target(self, pixel: Pixel) -> TargetUnderPoint | None:
        """The smallest thing of the last tree under a pixel; nothing where there was no tree."""
        under = [node for node in self._nodes if node.box is not None and node.box.contains(pixel)]
        if not under:
            return None
        node = min(under, key=_area)
        return TargetUnderPoint(role=node.role, name=node.name, box=node.box, states=node.states)

    async def act(self, action: Action, points: Sequence[Pixel]) -> ActResult:
        """Carry out an action; raises ActionError or EnvError. The next look waits until the screen is at rest."""
        held, hands = self._holding(), self._hands
        if hands is None:
            raise EnvError("not_started", "no episode has been started")
        before, self._fields = self._fields, None
        with self._noting_trouble():
            await hands.act(action, [self._spot(point) for point in points])
            self._acted_at = time.monotonic()
            flags = await self._arrived(held, action.content, before) if isinstance(action, Type) else []
        return ActResult(feedback=action.content if isinstance(action, TakeNote) else None, flags=flags)

    async def probe(self, checks: Sequence[Check], observation_index: int) -> list[ProbeRead]:
        """Read what the checks ask, and the changes since `start`; raises EnvError when device or page is gone."""
        held = self._holding()
        held.apps.check()
        with self._noting_trouble():
            await self._see_to_silence(held)
            found = await held.apps.read(checks, observation_index)
            await _check_same_boot(held)
            return found

    def drain_events(self) -> list[Event]:
        """Events since the last call, in order."""
        events, self._events = self._events, []
        return events

    async def finish(self) -> None:
        """Give the device back as it was found; what serves its pages is kept for the next episode.

        One that did not work may be well again, and keeps what the episode has changed: that is tried, and no more.
        """
        held, self._held = self._held, None
        self._hands = None
        if held is None:
            return
        try:
            if self._worked:
                with self._noting_trouble():
                    await _left(held)
            else:
                with contextlib.suppress(EnvError, TimeoutError):
                    async with asyncio.timeout(_LEAVE_SECONDS):
                        await _left(held)
        finally:
            await self._fleet.give_back(held.phone, worked=self._worked)

    async def close(self) -> None:
        """End the episode, and what was started for devices."""
        await self.finish()
        if self._apps is not None:
            await self._apps.close()
        await self._fleet.close()

    async def _apps_on(self, device: AdbDevice) -> PhoneApps:
        """The applications of a device: those of the last episode, unless it ran on another one."""
        if self._apps is None or self._apps.device is not device:
            if self._apps is not None:
                await self._apps.close()
            self._apps = PhoneApps(self._provide, device, KeptSettings(device, self._settings))
        return self._apps

    async def _taken(self, held: _Held) -> _Shot:
        """Tree first: the tool that makes it waits until the screen is at rest; then the picture."""
        device = held.phone.device
        before = await read_display(device)
        dumped, tree_error, hung = None, None, ""
        quiet = held.trees.is_quiet(before.focus)
        if quiet:
            await asyncio.sleep(max(0.0, self._acted_at + _SETTLE_SECONDS - time.monotonic()))
        try:
            dumped = await held.trees.read(before.focus)
        except TreeError as error:
            tree_error = error.code
            hung = held.anrs.latest if quiet else await held.anrs.read()
        if dumped is None or dumped.rotation != before.rotation:
            # What turned while the screen came to rest has not turned under the picture.
            before = await read_display(device)
        frame, capture_error = await _pictured(device, alone=before.alone)
        display = await read_display(device)
        app = display.not_responding or (hung if hung == display.package else "")
        return _Shot(frame, capture_error, dumped, tree_error, display, before, app)

    async def _see_to_silence(self, held: _Held) -> None:
        """Before anything is judged: a tool that gave no tree may be hung, which is not the agent's doing."""
        shot = self._shot
        if shot is None or shot.not_responding or not held.trees.unanswered:
            return
        if await self._is_still(held, shot):
            await held.trees.prove(shot.display.focus)

    async def _is_still(self, held: _Held, shot: _Shot) -> bool:
        """Whether the screen looks as it did; one that draws has a tree tool that waits."""
        frame, _ = await _pictured(held.phone.device, alone=shot.display.alone)
        return frame == shot.frame

    async def _arrived(self, held: _Held, text: str, before: Sequence[Node] | None) -> list[str]:
        """Read a typed text back where the tree allows it; raises ActionError when the field does not show it."""
        focus = (await read_display(held.phone.device)).focus
        try:
            self._fields = (await held.trees.read(focus)).nodes
        except TreeError:
            return [UNVERIFIED]
        return check_arrived(text, before, self._fields)

    def _flags(self, shot: _Shot, before: _Shot | None) -> list[ObservationFlag]:
        flags: list[ObservationFlag] = []
        if shot.torn:
            flags.append("torn")
        if before is not None and before.display.rotation != shot.display.rotation:
            flags.append("rotated")
        if app := shot.not_responding:
            flags.append("app_not_responding")
            if before is None or before.not_responding != app:
                self._events.append(
                    Event(attempt_id="", step_index=0, kind="app_not_responding", message=app, decided_by="system")
                )
        return flags

    def _tree(self) -> Tree | None:
        return tree_of(self._nodes) if self._shot is not None and self._shot.dumped is not None else None

    def _title(self, held: _Held, display: Display) -> str:
        """What people call the application in front, as far as that is known."""
        names = reversed(self._names_with(held.apps).items())
        return next((name for name, package in names if package == display.package), display.package)

    def _names_with(self, apps: PhoneApps) -> dict[str, str]:
        """Packages by name; of several names the last one is the episode's own."""
        titles = apps.titles
        return {name: package for name, package in self._names.items() if name not in titles} | titles

    def _spot(self, pixel: Pixel) -> Pixel:
        """Where a pixel of the last picture is touched; where there was none, pixels are the display's own."""
        shot = self._shot
        if shot is None or shot.frame is None:
            return pixel
        if shot.view is None:
            raise ActionError(None, "the screen turned while it was looked at; look again")
        return shot.view.to_display(pixel)

    def _holding(self) -> _Held:
        if self._held is None:
            raise EnvError("not_started", "no episode has been started")
        return self._held

    @contextlib.contextmanager
    def _noting_trouble(self) -> Iterator[None]:
        """A device that does not do what devices do is given back as one that did not work.

        One that cannot take an application is none for this episode either; what this machine lacks is not its fault.
        """
        began = time.monotonic()
        try:
            yield
        except (EnvError, SetupError) as error:
            self._worked = self._worked and isinstance(error, HostError)
            raise
        except asyncio.CancelledError:
            self._worked = self._worked and time.monotonic() - began < _PATIENCE_SECONDS
            raise


async def _check_same_boot(held: _Held) -> None:
    """Raise EnvError when the device has booted since the episode began: what was there before may be gone."""
    if await boot_id(held.phone.device) != held.boot_id:
        raise EnvError("rebooted", f"{held.phone.name} has booted again since the episode began")


async def _left(held: _Held) -> None:
    """Undo what the next owner of the device would notice; raises EnvError."""
    await held.apps.leave()
    await held.phone.device.unreverse()


async def _pictured(device: AdbDevice, *, alone: bool) -> tuple[Frame | None, CaptureErrorCode | None]:
    try:
        return await capture(device, alone=alone), None
    except CaptureError as error:
        return None, error.code


def _in_picture(shot: _Shot) -> list[Node]:
    """The tree's nodes with their boxes in pixels of the picture; as they are where there is no picture."""
    nodes = shot.dumped.nodes if shot.dumped is not None else []
    view = shot.view
    if view is None:
        return nodes
    return [node.model_copy(update={"box": view.to_picture(node.box)}) if node.box else node for node in nodes]


def _area(node: Node) -> int:
    box: Box | None = node.box
    return (box.right - box.left) * (box.bottom - box.top) if box is not None else 0
