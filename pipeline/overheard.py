"""What on a screen spoke to a model instead of its reader, written down as an event; nothing of it is carried out.

Looked for in everything that reaches an episode with a look: the tree, the window's title, dialogs, names of files.
What a picture alone shows is not read, nor what a look says beyond a number of characters: a screen may say anything,
and reading it takes a moment at worst. Knows no policy and no gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.injection import orders_in
from pipeline.protocols import Observation
from pipeline.records import Event

MOST_SHOWN = 500
"""Characters of a text that are kept in an event."""
MOST_READ = 200_000
"""Characters of a look that are read: many times what ordinary ones say."""


def overheard(observation: Observation, happened: Sequence[Event], before: Sequence[Event]) -> list[Event]:
    """An event of kind `injection` for each text of a look that speaks to a model and is in no event `before`.

    `attempt_id` and `step_index` are filled in by whoever keeps it.
    """
    known = {event.message for event in before if event.kind == "injection"}
    heard = dict.fromkeys(text[:MOST_SHOWN] for text in orders_in(_read(observation, happened)))
    return [_event(text, observation.location) for text in heard if text not in known]


def _read(observation: Observation, happened: Sequence[Event]) -> Iterator[str]:
    left = MOST_READ
    for text in filter(None, _said(observation, happened)):
        yield text[:left]
        left -= len(text)
        if left <= 0:
            return


def _said(observation: Observation, happened: Sequence[Event]) -> Iterator[str]:
    yield observation.title
    for event in happened:
        yield from (event.message or "", event.detail or "")
    for node in observation.tree.nodes if observation.tree is not None else []:
        yield from (node.name, node.value)


def _event(text: str, address: str) -> Event:
    return Event(attempt_id="", step_index=0, kind="injection", message=text, address=address, decided_by="rule")
