"""Templates of tasks on an application that lives in memory, and facts about it, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import yaml

from pipeline.envs.fake_app import SEED
from pipeline.errors import ProbeError
from pipeline.protocols import Facts
from taskspecs.generate import Ask
from taskspecs.templates import Template, parse_templates

APP = "fake-todo"
TODAY = date(2026, 11, 30)

ADD: dict[str, Any] = {
    "id": "fake-todo.add",
    "tier": "single",
    "calls": [{"capability": "fake-todo.add", "with": {"title": "{title}", "priority": "{priority}"}}],
    "slots": {"title": {"pool": "todo_title"}, "priority": {"values": ["low", "high"]}},
    "wording": {
        "en": [
            'Add "{title}" with priority "{priority}".',
            'The list lacks "{title}" of priority "{priority}"; enter it.',
            'With priority "{priority}", put "{title}" on the list.',
        ],
    },
    "segments": [
        {
            "name": "added",
            "checks": [
                {
                    "name": "it exists",
                    "verifier": "equals",
                    "probe": "todo",
                    "args": {"title": "{title}"},
                    "expected": ["{priority}", "open", ""],
                }
            ],
        }
    ],
    "expected_changes": ["added:todo/*"],
}
DELETE: dict[str, Any] = {
    "id": "fake-todo.delete",
    "tier": "single",
    "calls": [{"capability": "fake-todo.delete", "with": {"title": "{title}"}}],
    "slots": {"title": {"probe": "todos"}},
    "wording": {
        "zh": ["删除待办“{title}”。", "待办“{title}”不需要了，请从列表中删掉。", "列表里有一条“{title}”，请去掉。"]
    },
    "segments": [
        {
            "name": "deleted",
            "checks": [{"name": "gone", "verifier": "absent", "probe": "todos", "expected": ["{title}"]}],
        }
    ],
}
NOTES: dict[str, Any] = {
    "id": "fake-todo.notes",
    "tier": "single",
    "contract_kind": "answer",
    "calls": [{"capability": "fake-todo.read-notes", "with": {"title": "{title}"}}],
    "slots": {
        "title": {"probe": "todos"},
        "notes": {"probe": "todo", "args": {"title": "{title}"}, "column": 2, "told": False},
    },
    "wording": {
        "en": [
            'What do the notes of "{title}" say?',
            'Open "{title}" and answer with its notes.',
            'I need the text of the notes of "{title}".',
        ],
    },
    "finish": "{notes}",
    "segments": [
        {
            "name": "answered",
            "checks": [{"name": "text", "verifier": "text", "probe": "answer", "expected": ["{notes}"]}],
        }
    ],
}
ABSENT: dict[str, Any] = {
    "id": "fake-todo.absent",
    "tier": "single",
    "infeasible": "absent_object",
    "infeasible_reason": 'No to-do is called "{title}".',
    "calls": [{"capability": "fake-todo.delete", "with": {"title": "{title}"}}],
    "slots": {"title": {"pool": "todo_title"}},
    "wording": {
        "en": [
            'Delete the to-do "{title}".',
            'The to-do "{title}" can go; take it off the list.',
            'Please get rid of the entry "{title}".',
        ],
    },
    "absence_checks": [
        {"name": "none", "verifier": "count", "probe": "todo", "args": {"title": "{title}"}, "expected": 0}
    ],
}


def changed(entry: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """The entry with some keys replaced; those set to None are left out."""
    return {key: value for key, value in {**entry, **changes}.items() if value is not None}


def parsed(*entries: Mapping[str, Any], app_id: str = APP) -> tuple[Template, ...]:
    text = yaml.safe_dump({"app_id": app_id, "templates": list(entries)}, allow_unicode=True, sort_keys=False)
    return parse_templates(app_id, "mine.yaml", text)


def ask(**more: Any) -> Ask:
    """An ask for the templates above, of which none is capped."""
    fields = {"app_ids": [APP], "today": TODAY, "count": 12, "template_share": 1.0, "infeasible_rate": 0.25}
    return Ask.model_validate(fields | more)


class TodoFacts(Facts):
    """What the application holds at its start, in an order of one's own; or a failure."""

    def __init__(self, *, backwards: bool = False, empty: bool = False, broken: bool = False) -> None:
        todos = [] if empty else list(SEED)
        self._todos = todos[::-1] if backwards else todos
        self._broken = broken

    async def read(self, app_id: str, probe: str, args: Mapping[str, str]) -> list[list[str]]:
        if self._broken or app_id != APP:
            raise ProbeError("unreadable", "the disk is gone")
        if probe == "todos":
            return [[todo.title] for todo in self._todos]
        found = [todo for todo in self._todos if todo.title == args.get("title")]
        return [[todo.priority, "done" if todo.done else "open", todo.notes] for todo in found]
