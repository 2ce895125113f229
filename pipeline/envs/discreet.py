"""An environment that keeps its run's secrets, and says where a look shows personal data.

Placeholders are revealed in what is typed, and nowhere else; in whatever the other environment tells, texts and errors
included, secrets give way to their placeholders. Where a picture shows one it is painted over before anybody sees the
picture: by the tree's boxes, and, once a secret has been typed or where there is no tree, by reading the picture. Every
such look is flagged. Personal data stays as it is, in regions that say of which kind it is. Knows nothing of platforms.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from pipeline.actions import Action, Hotkey, KeyDown, KeyUp, Launch, LaunchApp, Model, Pixel, Type
from pipeline.config import PLACEHOLDER
from pipeline.envs.sensitive import innermost, personal_lines, personal_regions
from pipeline.errors import (
    ActionError,
    CaptureError,
    EnvError,
    EpisodeError,
    PathproofError,
    ProbeError,
    SetupError,
    TreeError,
    boundary,
)
from pipeline.masking import masked_frame, rewritten
from pipeline.ocr import Line, PictureReader
from pipeline.protocols import (
    MOST_PATIENCE,
    ActResult,
    Environment,
    Keeping,
    Locating,
    Observation,
    leading_in,
    patience_of,
)
from pipeline.records import Event, Frame, ProbeRead, Tree, tree_of
from pipeline.structs import Box, EnvironmentInfo, LeadingTarget, Sensitive, TargetUnderPoint
from pipeline.tasks import Check, TaskSpec
from pipeline.vault import Vault
from pipeline.words import ObservationFlag

SECRET = "secret"
"""The class of regions that have been painted over."""

_MOST_READ = 64
"""So many pictures are remembered with what was found in them."""
_READING_PATIENCE = 4.0
"""How many times as long calls may take where pictures are read: a busy processor needs half a minute for one."""

Row = TypeVar("Row", bound=Model)


class DiscreetEnvironment(Environment):
    """Another environment, with secrets put in on the way in and taken out on the way out."""

    def __init__(self, environment: Environment, vault: Vault, reader: PictureReader | None = None) -> None:
        self._environment = environment
        self._vault = vault
        self._reader = reader or PictureReader()
        self._apps: list[str] = []
        self._typed = False
        """Whether a secret was ever typed here: applications may keep it longer than an episode lasts."""
        self._read: dict[str, asyncio.Future[list[Line]]] = {}

    @property
    def patience(self) -> float:
        """The other's, and more from the first time that a picture has to be read."""
        others = patience_of(self._environment)
        return min(MOST_PATIENCE, others * _READING_PATIENCE) if self._typed or self._read else others

    async def start(self, task: TaskSpec) -> EnvironmentInfo:
        """As the other; raises SetupError as well for a secret that would have to be there from the start."""
        self._apps = task.app_ids
        _require_typed(task)
        with self._discreetly(SetupError, "start_failed"):
            return self._hidden(await self._environment.start(task))

    async def observe(self) -> Observation:
        """As the other, without secrets, and with the regions of personal data."""
        with self._discreetly(EnvError, "observe_failed"):
            seen = await self._environment.observe()
            return await self._attended(await self._clean(seen) if self._vault else seen)

    async def target(self, pixel: Pixel) -> TargetUnderPoint | None:
        """As the other, without secrets."""
        with self._discreetly(EnvError, "target_failed"):
            found = await self._environment.target(pixel)
            return self._hidden(found) if found is not None else None

    async def leading(self) -> LeadingTarget | None:
        """As the other, without secrets."""
        with self._discreetly(EnvError, "target_failed"):
            found = await leading_in(self._environment)
            return self._hidden(found) if found is not None else None

    async def act(self, action: Action, points: Sequence[Pixel]) -> ActResult:
        """As the other; what is typed is revealed. Raises ActionError for a secret that may not be typed there."""
        with self._discreetly(EnvError, "act_failed"):
            return self._hidden(await self._environment.act(await self._revealed(action), points))

    async def probe(self, checks: Sequence[Check], observation_index: int) -> list[ProbeRead]:
        """As the other, without secrets."""
        with self._discreetly(ProbeError, "probe_failed"):
            return [self._hidden(read) for read in await self._environment.probe(checks, observation_index)]

    def drain_events(self) -> list[Event]:
        """As the other, without secrets."""
        return [self._hidden(event) for event in self._environment.drain_events()]

    async def finish(self) -> None:
        """As the other."""
        with self._discreetly(EnvError, "finish_failed"):
            await self._environment.finish()

    async def close(self) -> None:
        """As the other."""
        with self._discreetly(EnvError, "close_failed"):
            await self._environment.close()

    async def _revealed(self, action: Action) -> Action:
        """The action as the other environment is to carry it out."""
        match action:
            case Type() if PLACEHOLDER.search(action.content):
                inner = self._environment
                here = [await inner.app_here()] if isinstance(inner, Locating) else self._apps
                revealed = self._vault.reveal(action.content, here)
                self._typed = True
                return action.model_copy(update={"content": revealed})
            case Launch() | LaunchApp() | Hotkey() | KeyDown() | KeyUp() if PLACEHOLDER.search(str(action)):
                raise ActionError("bad_arguments", f"a secret can only be typed, not be a part of {action.type}")
            case _:
                return action

    def _hidden(self, row: Row) -> Row:
        return rewritten(row, self._vault.hide) if self._vault else row

    async def _clean(self, seen: Observation) -> Observation:
        """The look without secrets in its words and its picture, flagged when it had any."""
        words, tree, boxes = await asyncio.to_thread(self._reworded, seen)
        if seen.frame is not None and (self._typed or seen.tree is None):
            lines = await self._lines_in(seen.frame)
            boxes = [*boxes, *(line.box for line in lines if self._vault.shown_in(line.text))]
        regions = [Sensitive(class_=SECRET, box=box) for box in dict.fromkeys(boxes)]
        if tree is seen.tree and not regions and words == {"location": seen.location, "title": seen.title}:
            return seen
        frame = masked_frame(seen.frame, regions) if seen.frame is not None else None
        return _with_regions(
            seen.model_copy(update={**words, "frame": frame, "tree": tree}), regions, "contains_secret"
        )

    async def _attended(self, seen: Observation) -> Observation:
        """The look with the regions of personal data, flagged when it has any."""
        if seen.tree is not None:
            regions = await asyncio.to_thread(personal_regions, seen.tree.nodes)
        else:
            regions = personal_lines(await self._lines_in(seen.frame)) if seen.frame is not None else []
        return _with_regions(seen, regions, "contains_pii") if regions else seen

    def _reworded(self, seen: Observation) -> tuple[dict[str, str], Tree | None, list[Box]]:
        """Address, title and tree without secrets, and where the tree showed some; a look can be long."""
        words = {"location": self._vault.hide(seen.location), "title": self._vault.hide(seen.title)}
        return words, *self._without(seen.tree)

    def _without(self, tree: Tree | None) -> tuple[Tree | None, list[Box]]:
        """The tree with placeholders, and the boxes of what showed secrets; the same tree when nothing did."""
        if tree is None:
            return None, []
        nodes = [self._hidden(node) for node in tree.nodes]
        changed = [new.box for old, new in zip(tree.nodes, nodes, strict=True) if new is not old]
        if not changed:
            return tree, []
        return tree_of(nodes), innermost(box for box in changed if box is not None)

    async def _lines_in(self, frame: Frame) -> list[Line]:
        """What can be read in a picture; each is read once, though a look may have given up waiting for it."""
        if frame.sha256 not in self._read:
            if len(self._read) >= _MOST_READ:
                self._read.clear()
            reading = asyncio.ensure_future(asyncio.to_thread(self._reader.lines, frame))
            reading.add_done_callback(lambda done: self._forget_failed(frame.sha256, done))
            self._read[frame.sha256] = reading
        try:
            return await asyncio.shield(self._read[frame.sha256])
        except CaptureError as error:
            raise EnvError("picture_unread", str(error)) from error

    def _forget_failed(self, sha256: str, reading: asyncio.Future[list[Line]]) -> None:
        """A picture that could not be read may be tried again."""
        if reading.cancelled() or reading.exception() is not None:
            self._read.pop(sha256, None)

    @contextlib.contextmanager
    def _discreetly(self, error: type[EpisodeError], code: str) -> Iterator[None]:
        """What escapes tells no secret, nor does what it came from."""
        try:
            with boundary(error, code):
                yield
        except PathproofError as escaped:
            if not self._vault:
                raise
            raise _retold(escaped, self._vault.hide) from None  # nothing of the first error is told


class _KeepingDiscreetEnvironment(DiscreetEnvironment):
    """One whose other environment keeps states."""

    def __init__(self, environment: Environment, keeping: Keeping, vault: Vault) -> None:
        super().__init__(environment, vault)
        self._keeping = keeping

    async def keep(self, name: str) -> None:
        """As the other."""
        with self._discreetly(EnvError, "keep_failed"):
            await self._keeping.keep(name)

    async def start_from(self, task: TaskSpec, name: str) -> EnvironmentInfo | None:
        """As the other; raises SetupError as well for a secret that would have to be there from the start."""
        self._apps = task.app_ids
        _require_typed(task)
        with self._discreetly(SetupError, "start_failed"):
            begun = await self._keeping.start_from(task, name)
            return self._hidden(begun) if begun is not None else None


def discreet_environment(environment: Environment, vault: Vault) -> Environment:
    """The environment, made discreet; it offers no less than the other."""
    if isinstance(environment, Keeping):
        return _KeepingDiscreetEnvironment(environment, environment, vault)
    return DiscreetEnvironment(environment, vault)


def _require_typed(task: TaskSpec) -> None:
    """Raise SetupError for a placeholder in what is written or opened before anything is typed: it would stay one."""
    for part in (task.start, *task.setup):
        found = PLACEHOLDER.search(part.model_dump_json())
        if found is not None:
            raise SetupError("setup_failed", f"the task begins with {found[0]}; a secret can only be typed")


def _with_regions(seen: Observation, regions: list[Sensitive], flag: ObservationFlag) -> Observation:
    """The look with further regions on its picture and its tree, and a flag."""
    update: dict[str, Any] = {"flags": list(dict.fromkeys([*seen.flags, flag]))}
    new = frozenset(regions)
    for name, shown in (("frame", seen.frame), ("tree", seen.tree)):
        if shown is not None:
            had = [region for region in shown.sensitive if region not in new]
            update[name] = shown.model_copy(update={"sensitive": [*had, *regions]})
    return seen.model_copy(update=update)


def _retold(error: PathproofError, hide: Callable[[str], str]) -> PathproofError:
    """The same error in other words."""
    match error:
        case EpisodeError():
            return type(error)(error.code, hide(error.message))
        case ActionError() | CaptureError() | TreeError():
            return type(error)(error.code, hide(str(error)))  # type: ignore[arg-type]  # each with a code of its kind
        case _:
            return type(error)(hide(str(error)))
