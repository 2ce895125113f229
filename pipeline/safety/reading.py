"""What an action would bring about here: its class of consequence, and what it would be done to.

The words of the control say it where they command; before a neutral one its dialog or page does. The enter key presses
what the form would send, a line typed into a terminal is read as a command, a drop on the bin deletes. What the
instruction says plays no part. Every action is either read or can bring nothing about. Knows nothing of permission.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import parse_qsl, unquote

from pipeline.actions import (
    AcceptDialog,
    Action,
    Drag,
    Hotkey,
    KeyDown,
    Launch,
    PressEnter,
    SelectOption,
    Type,
    points_of,
)
from pipeline.addresses import parts_of
from pipeline.protocols import Observation
from pipeline.safety.classes import Match, entered, kind_of, said, told
from pipeline.safety.finding import Finding, found_at
from pipeline.safety.keying import entered_at, keys_pressed, presses_enter, typed
from pipeline.safety.pressing import accepted, pressed, unclassified
from pipeline.safety.scene import COMMANDS, Scene, scene_of
from pipeline.structs import LeadingTarget, TargetUnderPoint
from pipeline.words import Consequence, Platform

PRESSES = frozenset({"Click", "DoubleClick", "LongPress", "MiddleClick", "TripleClick"})
HARMLESS = frozenset(
    {"Answer", "CallUser", "Finished", "GetScreenshot", "GetUrl", "Hover", "KeyUp", "LaunchApp", "PressBack"}
    | {"PressHome", "PressRecent", "RightClick", "Scroll", "Swipe", "TakeNote", "Wait"}
)
"""Actions that bring nothing about: they look, wait, point, move about, or end the episode."""
_ADDRESSES: dict[str, Consequence] = {
    "confirm": "submit",
    "delete": "delete",
    "destroy": "delete",
    "logout": "login",
    "pay": "pay",
    "purge": "delete",
    "remove": "delete",
    "reset": "uninstall",
    "unsubscribe": "cancel",
    "buy": "order",
    "checkout": "order",
    "join": "subscribe",
    "subscribe": "subscribe",
    "transfer": "transfer",
}
"""Parts of addresses that change something when they are only visited."""
_VISITED = frozenset({"delete", "destroy", "logout", "purge", "remove", "unsubscribe"})
"""Those of them that links ask for as well: the others are pages with a form of their own."""
_CONFIRMING = frozenset({"accept", "agree", "approve", "confirm", "confirmed", "consent", "yes"})
_ASKING = frozenset({"action", "cmd", "do", "method", "op", "operation"})
"""Parameters of addresses that say what is to be done."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def read(
    observation: Observation, action: Action, target: TargetUnderPoint | None, platform: Platform
) -> list[Finding]:
    """Everything an action would bring about; nothing for an action without consequence."""
    found = _read(scene_of(observation), observation, action, target)
    if platform != "web":
        return found
    # Pages change what is theirs; only a terminal in one reaches further.
    return [one if one.place == "command" else one._replace(reaches_machine=False) for one in found]


def unread(observation: Observation, action: Action, target: TargetUnderPoint | None) -> str | None:
    """Why what an action would bring about cannot be told, where `read` has found nothing; nothing when it can."""
    if action.type in PRESSES:
        return unclassified(target)
    if observation.tree is None and can_act(action) and not isinstance(action, Type | Launch):
        return "there is no tree to read"
    return None


def can_act(action: Action) -> bool:
    """Whether an action can bring anything about; to look, wait, point or scroll cannot."""
    return action.type not in HARMLESS


def _read(scene: Scene, observation: Observation, action: Action, target: TargetUnderPoint | None) -> list[Finding]:
    slides = action.type in ("Drag", "Swipe") and target is not None and _slides(target)
    if action.type in PRESSES or slides:
        return _pressed(scene, target, opens=action.type == "DoubleClick") if target is not None else []
    found = _carried_out(scene, observation, action)
    return _led(found, target) if presses_enter(action) else found


def _slides(target: TargetUnderPoint) -> bool:
    """Whether something is worked by dragging it: a button, or what says that it is."""
    return target.role in COMMANDS or said(target.name, "sliding")


def _pressed(scene: Scene, target: TargetUnderPoint, *, opens: bool) -> list[Finding]:
    """What a control says of itself; where it says nothing, what the address says that it leads to."""
    return _led(pressed(scene, target, opens=opens), target)


def _led(found: list[Finding], target: TargetUnderPoint | None) -> list[Finding]:
    """What was found, and what the address says, where no more than a form was."""
    if not isinstance(target, LeadingTarget) or any(one.place != "form" for one in found):
        return found
    method, _, address = target.leads_to.partition(" ")
    return [*_addressed(address, _ADDRESSES if method == "POST" else _VISITED), *found]


def _carried_out(scene: Scene, observation: Observation, action: Action) -> list[Finding]:
    """What an action that presses nothing would bring about."""
    match action:
        case Hotkey() | KeyDown():
            return keys_pressed(scene, action.keys)
        case PressEnter():
            return entered_at(scene)
        case Type():
            return typed(scene, action.content)
        case Drag():
            return _dropped(scene, action, observation)
        case SelectOption():
            return _selected(scene, action)
        case Launch():
            return _addressed(action.url, _ADDRESSES)
        case AcceptDialog():
            return accepted(scene)
        case _:
            return []


def _dropped(scene: Scene, action: Drag, observation: Observation) -> list[Finding]:
    if observation.frame is None:
        return []
    end = points_of(action)[-1]
    x, y = (end.x + 0.5) * observation.frame.width / 1000, (end.y + 0.5) * observation.frame.height / 1000
    node = scene.at(x, y)
    if node is None or not said(node.name, "bins"):
        return []
    return [found_at(scene, Match(kind_of("delete"), node.name, ""), "bin", None)]


def _selected(scene: Scene, action: SelectOption) -> list[Finding]:
    """An option of a drop-down takes effect at once where the page says so; what it is stands among the options."""
    options = [node.name for node in scene.nodes if node.role == "option"]
    focused = scene.focused()
    name = options[action.index] if action.index < len(options) else ""
    match = entered(name) or told([name]) or (entered(focused.name) if focused is not None else None)
    if match is None or match.kind.name == "personal":
        return []
    return [Finding(match.kind, match.words, "control", [name or scene.title])]


def _addressed(url: str, verbs: Collection[str]) -> list[Finding]:
    """An address that changes something when it is asked for: by the first or last word of one of its parts."""
    address = parts_of(url)
    named = [_WORDS.findall(part) for part in unquote(address.path).strip("/").split("/")]
    asked = parse_qsl(address.query)
    named += [_WORDS.findall(value) for name, value in asked if name.lower() in _ASKING]
    said = [words[at].lower() for words in named if words for at in ((0,) if len(words) > 2 else (0, -1))]
    found = [_ADDRESSES[verb] for verb in said if verb in verbs]
    confirmed = {name.lower() for name, value in asked if value.lower() in ("1", "true", "yes")}
    if not found and confirmed & _CONFIRMING:
        found = ["submit"]
    return [Finding(kind_of(found[-1]), url, "address", [url])] if found else []
