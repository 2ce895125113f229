"""Records with real pictures, and scripted judges for them."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

from PIL import Image as Pictures
from PIL import ImageDraw

from pipeline.records import Record, Step
from pipeline.scripted_endpoint import Asked, ScriptedReply
from tests.endpoints import says
from tests.records import HEIGHT, WIDTH, Look, look, node, record

WINDOW, FINAL, STEP = "Keypoints:", "Behaviour:", "The proposed action:"
"""Parts of the last message by which a judge's requests are told apart."""


def painted(number: int) -> bytes:
    """A picture that differs from every other number's in a way one could see."""
    picture = Pictures.new("RGB", (WIDTH, HEIGHT), "white")
    draw = ImageDraw.Draw(picture)
    draw.rectangle(
        (20 * (number % 60), 20 * (number // 60), 20 * (number % 60) + 19, 20 * (number // 60) + 19), "black"
    )
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def screens(count: int) -> list[Look]:
    """So many screens, each with its own picture and a button."""
    return [look(node("button", f"Button {number}"), picture=painted(number)) for number in range(count)]


def film(steps: Sequence[Step], looks: Sequence[Look] | None = None, **changes: Any) -> Record:
    """A record whose every look has a real picture."""
    return record(looks or screens(len(steps) + 1), steps, **changes)


def keypoints(*texts: str) -> ScriptedReply:
    """What a model drafts before any trajectory is seen; also taken for the general knowledge."""
    drafts = [{"from_words": "w", "text": text} for text in texts]
    return says(json.dumps({"keypoints": drafts}), times=None)


def notes(*states: str, screen: int = 0, times: int | None = None) -> ScriptedReply:
    """What a window shows, keypoint by keypoint."""
    found = [
        {"keypoint": number, "evidence": f"evidence {number}", "screens": [screen], "state": state}
        for number, state in enumerate(states)
    ]
    return says(json.dumps({"seen": "s", "notes": found}), when=WINDOW, times=times)


def final(grade: str, times: int | None = None) -> ScriptedReply:
    """The final look."""
    return says(json.dumps({"speaks_for": "for", "speaks_against": "against", "grade": grade}), when=FINAL, times=times)


def step_grade(grade: str, times: int | None = None) -> ScriptedReply:
    """A vote on a step."""
    answer = {"target": "t", "thought_and_action": "a", "agree": True, "service_to_task": "s", "grade": grade}
    return says(json.dumps(answer), when=STEP, times=times)


def texts_of(requests: Sequence[Asked], part: str = "") -> list[str]:
    """All text of the requests whose last message holds the part."""
    said = []
    for asked in requests:
        messages = asked.body.get("messages", [])
        last = "\n".join(piece.get("text", "") for piece in _pieces(asked))
        if messages and part in last:
            said.append(f"{messages[0]['content']}\n{last}")
    return said


def pictures_of(requests: Sequence[Asked], part: str) -> list[list[str]]:
    """The pictures of the requests whose last message holds the part."""
    asked = [_pieces(one) for one in requests if any(part in piece.get("text", "") for piece in _pieces(one))]
    return [[piece["image_url"]["url"] for piece in pieces if piece["type"] == "image_url"] for pieces in asked]


def _pieces(asked: Asked) -> list[dict[str, Any]]:
    """The parts of a request's last message."""
    content = asked.body["messages"][-1]["content"] if asked.body else []
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
