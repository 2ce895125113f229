"""Looks for what an application can do beside what its catalog says: screen after screen, breadth first.

On every screen the forms are filled and sent, then what may lead on is pressed. A try that changes the state becomes a
capability only when its whole procedure, run again from a reset, changes the state again. What is found is the same for
the same seed on the same application. Names on screens decide nothing but the words of the rows.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

from catalogs.confirming import TRY_SECONDS, Confirmer, Outcome, Trial, first_examples, problem_of
from catalogs.edges import Edges, shown
from catalogs.finding import Place, acting, reading
from catalogs.forms import Form, filled, forms_in
from catalogs.leads import Group, Lead, Spot, groups_of, spot_of
from catalogs.meaning import consequence_of, senses, to_be_avoided
from catalogs.naming import label
from catalogs.screens import CONTROLS, family_of, masked, pattern_of, signature_of
from catalogs.subject import Subject
from catalogs.walking import Stride, Walker
from pipeline.protocols import Environment, Observation
from pipeline.structs import Node
from pipeline.tasks import Capability, ProcedureStep
from taskspecs.store import bind

_MOST_LEADS = 24
_MOST_LEADS_DEEPER = 12
_MOST_SIBLINGS = 3
"""Screens that differ only in a name of the address are records; so many of them are enough."""
_LIST_OF_EQUALS = 2
_LIST_OF_SIBLINGS = 3
"""So many entries in a row that lead to the same screen, or to screens of one family, make a line a list."""
_MOST_FORMS = 12
_LEAST_SECONDS = 4.0


class State(NamedTuple):
    """A screen, and how it is come to from home on the reset application."""

    place: Place
    signature: str
    location: str
    nodes: list[Node]
    inherited: frozenset[Spot]
    """What stands at the same place on the screen before, and is therefore no more this one's than that one's."""
    depth: int = 0

    @property
    def has_own_address(self) -> bool:
        """Whether it is a page of its own, not something that was unfolded on another one."""
        return len(self.place.screens) > self.depth


class Reached(NamedTuple):
    """Where an entry of a line led."""

    number: int
    signature: str
    family: str


class Limits(NamedTuple):
    """When to stop: a moment of `time.monotonic`, so many screens, so many tries."""

    until: float
    states: int
    edges: int


class Prospector:
    """One search under way."""

    def __init__(
        self,
        environment: Environment,
        subject: Subject,
        confirmer: Confirmer,
        edges: Edges,
        limits: Limits,
        *,
        seed: int,
        today: date,
        found: Callable[[Outcome], str],
    ) -> None:
        """`found` is told of each capability as it is found, and says under which name it is kept."""
        self._walker = Walker(environment, subject)
        self._subject, self._confirmer, self._edges, self._limits = subject, confirmer, edges, limits
        self._seed, self._today, self._found = seed, today, found
        self._queue: list[str] = []
        self._pressed: set[Spot] = set()
        self._families: Counter[str] = Counter()
        self._at: str | None = None
        self._dirty = True
        self.states: dict[str, State] = {}
        self.closed: set[tuple[str, str, str]] = set()
        """How known capabilities end: address pattern, role and name of what is pressed last."""
        self.tries = 0
        self.merged = 0
        self.notes: list[str] = []

    @property
    def exhausted(self) -> str | None:
        """Which limit is reached, if any."""
        if time.monotonic() + _LEAST_SECONDS > self._limits.until:
            return "seconds"
        return "edges" if self.tries >= self._limits.edges else None

    async def search(self) -> None:
        """Go on until everything was tried or a limit is reached."""
        home = await self._walker.restart()
        self._dirty = False
        self._arrived(home, Place(), None)
        expanded = 0
        while self._queue and expanded < self._limits.states and self.exhausted is None:
            state = self._next()
            expanded += 1
            await self._forms(state)
            await self._leads(state)
        await self._walker.leave()
        left = self.exhausted or ("states" if self._queue else None)
        if left is not None:
            self.notes.append(f"stopped by {left}, {len(self._queue)} screens were not gone on from")

    # --- forms ---------------------------------------------------------------------------------------------------

    async def _forms(self, state: State) -> None:
        for form in forms_in(state.nodes)[:_MOST_FORMS]:
            if self.exhausted is not None:
                return
            if spot_of(state.nodes[form.submit]) in state.inherited:
                continue
            closing = (pattern_of(state.location), "button", masked(form.name))
            if closing in self.closed:
                self.merged += 1
            elif self._may_send(form):
                self.closed.add(closing)
                await self._send(state, form)

    def _may_send(self, form: Form) -> bool:
        if to_be_avoided(form.name):
            return False
        return self._subject.resettable or senses(form.name) == {"search"}

    async def _send(self, state: State, form: Form) -> None:
        """Run the way to the form, fill and send it, from a reset: a difference of the state makes a capability."""
        seed = f"{self._seed}/{self._subject.app_id}/{state.signature}"
        filling = filled(form, state.nodes, self._subject.language, self._today, seed)
        if filling is None:
            return
        place = state.place.further(form.name, filling.steps, filling.slots)
        await self._act(place, searches="search" in senses(form.name))

    async def _act(self, place: Place, *, searches: bool = False) -> None:
        """Run the whole way to a place from a reset: what changes the state is a capability, or what searches in it."""
        candidate = acting(self._subject, place, [], "")
        self.tries += 1
        seconds = max(min(TRY_SECONDS, self._limits.until - time.monotonic()), 1.0)
        trial = await self._confirmer.attempt(candidate, seconds)
        self._dirty, self._at = True, None
        name = None
        if problem_of(candidate, trial) is None:
            name = self._keep(acting(self._subject, place, trial.changes, trial.ended_at), trial)
        elif searches and not trial.changes:
            found = reading(self._subject, place, trial.ended_at)
            name = self._keep(found, trial) if problem_of(found, trial) is None else None
        # What was walked is kept in any case, but in the name of nothing that is not there.
        self._edges.add_record(trial.record, name)

    def _keep(self, capability: Capability, trial: Trial) -> str:
        held = capability.model_copy(update={"status": "confirmed", "success_count": 1})
        return self._found(Outcome(held, "confirmed", "", [trial]))

    # --- leads ---------------------------------------------------------------------------------------------------

    async def _leads(self, state: State) -> None:
        left = _MOST_LEADS if state.depth == 0 else _MOST_LEADS_DEEPER
        for group in groups_of(state.nodes):
            if self.exhausted is not None or left <= 0:
                return
            left -= await self._group(state, group, left)

    async def _group(self, state: State, group: Group, most: int) -> int:
        """Press a lead, or the entries of a line until they turn out to be a list; how many were pressed."""
        run: list[Reached] = []
        for number, lead in enumerate(group.leads):
            if self.exhausted is not None or len(run) >= most:
                break
            if lead.spot in self._pressed or not self._may_press(lead):
                continue
            self._pressed.add(lead.spot)
            reached = await self._press(state, lead, group)
            run.append(Reached(number, *reached) if reached is not None else Reached(number, "", ""))
            first = _first_of_list(run) if group.is_line else None
            if first is not None:
                self._generalise(first.signature, group.leads[first.number :])
                break
        return len(run)

    def _may_press(self, lead: Lead) -> bool:
        return self._subject.resettable or consequence_of(lead.name) == "none"

    async def _press(self, state: State, lead: Lead, group: Group) -> tuple[str, str] | None:
        """Press it; signature and family of the screen it leads to, if any."""
        if not await self._come_to(state):
            return None
        self.tries += 1
        walked = await self._walker.follow([lead.step])
        if not walked.strides:
            return None
        stride = walked.strides[-1]
        self._at = signature_of(stride.after)
        if not self._walker.is_inside(stride.after):
            self.notes.append(f"{label(lead.name)!r} leads out of the application and was not followed")
            self._at = None
            return None
        await self._after(state, lead, group, stride, any(event.kind == "dialog" for event in walked.events))
        return signature_of(stride.after), _family(stride.after)

    async def _after(self, state: State, lead: Lead, group: Group, stride: Stride, asked: bool) -> None:
        changes = await self._walker.changes()
        if not changes and not asked:
            self._edges.add(shown(stride.before), stride.action, shown(stride.after), None)
            self._arrived(stride.after, state.place.further(lead.name, [lead.step]), state)
            return
        self._dirty = True
        closing = (pattern_of(state.location), lead.role, masked(lead.name))
        if closing in self.closed:
            self.merged += 1
            return
        self.closed.add(closing)
        accept = [ProcedureStep(action="AcceptDialog")] if asked else []
        place = state.place.further(lead.name, [*accept, lead.step])
        same = [other.name for other in group.leads if masked(other.name) == masked(lead.name)]
        await self._act(place.of_any(same, masked(lead.name)) if len(same) > 1 else place)

    async def _come_to(self, state: State) -> bool:
        """Be on a screen again, by its address or by the whole way from home; false when it is not there any more."""
        if not self._dirty and self._at == state.signature:
            return True
        if self._dirty:
            await self._walker.restart()
            self._dirty = False
        seen = await self._walker.open(state.location)
        if signature_of(seen) != state.signature:
            await self._walker.restart()
            await self._walker.follow(bind(list(state.place.steps), first_examples(state.place.slots)))
            seen = self._walker.seen
        self._at = signature_of(seen)
        return self._at == state.signature

    # --- states --------------------------------------------------------------------------------------------------

    def _arrived(self, seen: Observation, place: Place, before: State | None) -> None:
        signature = signature_of(seen)
        if signature in self.states or seen.tree is None:
            return
        family = _family(seen)
        self._families[family] += 1
        if self._families[family] > _MOST_SIBLINGS:
            return
        inherited = frozenset(map(spot_of, before.nodes)) if before is not None else frozenset[Spot]()
        depth = before.depth + 1 if before is not None else 0
        state = State(place.at(seen.location), signature, seen.location, seen.tree.nodes, inherited, depth)
        self.states[signature] = state
        self._queue.append(signature)

    def _next(self) -> State:
        """Breadth first; among equally near screens the one with the most controls of its own."""
        best = min(self._queue, key=lambda one: (self.states[one].depth, -_own_controls(self.states[one])))
        self._queue.remove(best)
        return self.states[best]

    def _generalise(self, signature: str, column: Sequence[Lead]) -> None:
        """The way to a record's screen names the record by a slot."""
        state = self.states.get(signature)
        if state is not None:
            place = state.place.of_any([lead.name for lead in column])
            self.states[signature] = state._replace(place=place)


def _own_controls(state: State) -> int:
    return sum(node.role in CONTROLS and spot_of(node) not in state.inherited for node in state.nodes)


def _family(seen: Observation) -> str:
    return family_of(seen.location, seen.tree.nodes if seen.tree is not None else [])


def _first_of_list(run: Sequence[Reached]) -> Reached | None:
    """The first of the last entries when these are of a list: equal screens, or more screens of one family."""
    for size, shared in (
        (_LIST_OF_EQUALS, {entry.signature for entry in run[-_LIST_OF_EQUALS:]}),
        (_LIST_OF_SIBLINGS, {entry.family for entry in run[-_LIST_OF_SIBLINGS:]}),
    ):
        if len(run) >= size and len(shared) == 1 and shared != {""}:
            return run[-size]
    return None
