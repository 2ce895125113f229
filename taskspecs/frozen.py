"""An environment that stands still: the first screen of an episode, and what its probes read.

Runs that do nothing are made on it, from what one real episode has left, instead of another start of the applications.
Knows nothing of what is concluded from such a run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pipeline.actions import Action, Pixel
from pipeline.protocols import ActResult, Observation
from pipeline.records import Event, ProbeRead, Record
from pipeline.structs import EnvironmentInfo, TargetUnderPoint
from pipeline.tasks import CHANGES, Check, TaskSpec

UNHEARD_OF = "selftest/unheard-of"
"""A key of the state that no application has."""


class Stills(NamedTuple):
    """What an episode showed at its start, and what was read at its start and its end."""

    screen: Observation
    at_start: list[ProbeRead]
    at_end: list[ProbeRead]


class FrozenEnvironment:
    """Shows the first screen, whatever is done; `written` lets the state be that of the episode's end all the same."""

    def __init__(self, stills: Stills, *, written: bool = False) -> None:
        self._stills, self._written = stills, written
        self._looked = False

    async def start(self, task: TaskSpec) -> EnvironmentInfo:
        """Begin again at the first screen."""
        del task
        self._looked = False
        return EnvironmentInfo(driver="frozen", provider="frozen", device="", build="")

    async def observe(self) -> Observation:
        """The first screen."""
        self._looked = True
        return self._stills.screen

    async def target(self, pixel: Pixel) -> TargetUnderPoint | None:
        """Nothing is said of what lies there."""
        del pixel
        return None

    async def act(self, action: Action, points: Sequence[Pixel]) -> ActResult:
        """Nothing happens."""
        del action, points
        return ActResult()

    async def probe(self, checks: Sequence[Check], observation_index: int) -> list[ProbeRead]:
        """What was read then, of everything that was asked then."""
        del checks
        reads = self._stills.at_end if self._written and self._looked else self._stills.at_start
        return [read.model_copy(update={"observation_index": observation_index}) for read in reads]

    def drain_events(self) -> list[Event]:
        """Nothing happens."""
        return []

    async def finish(self) -> None:
        """There is nothing to end."""

    async def close(self) -> None:
        """There is nothing to leave behind."""


def stills_of(record: Record) -> Stills | None:
    """What an episode left of its start and end; nothing when it never got to see a screen."""
    if not record.observations:
        return None
    first, end = record.observations[0], record.observations[-1].observation_index
    screen = Observation(
        frame=record.frames.get(first.frame_sha256 or ""),
        tree=record.trees.get(first.tree_sha256 or ""),
        **first.model_dump(exclude={"attempt_id", "observation_index", "frame_sha256", "tree_sha256"}),
    )
    return Stills(screen, _reads(record, 0), _reads(record, end) if end else [])


def undone(record: Record, stills: Stills, checks: Sequence[Check]) -> Record:
    """The same record with what these checks read at the end put back to what they read at the start."""
    asked = {check.call for check in checks}
    before = {(read.app_id, read.probe): read for read in stills.at_start if read.probe in asked}
    return _reread(record, lambda read: before.get((read.app_id, read.probe), read))


def disturbed(record: Record, more: Sequence[Sequence[str]] = ((UNHEARD_OF, "added"),)) -> Record:
    """The same record with further changes; by default one of a key that no application has."""

    def spoil(read: ProbeRead) -> ProbeRead:
        rows = [*(read.value or []), *map(list, more)]
        return read.model_copy(update={"value": rows}) if read.probe == CHANGES else read

    return _reread(record, spoil)


def _reread(record: Record, change: Callable[[ProbeRead], ProbeRead]) -> Record:
    end = record.observations[-1].observation_index
    reads = [
        change(read).model_copy(update={"observation_index": end}) if read.observation_index == end else read
        for read in record.probe_reads
    ]
    return record.model_copy(update={"probe_reads": reads})


def _reads(record: Record, index: int) -> list[ProbeRead]:
    return [read for read in record.probe_reads if read.observation_index == index]
