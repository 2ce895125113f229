"""What an action would bring about here: its class of consequence, and what it would be done to.

The words of the control say it where they command; before a neutral one ("OK", "Continue") its dialog or page does.
The enter key presses what the form would send, a line typed into a terminal is read as a command, a drop on the bin
deletes. What the instruction says plays no part. Knows nothing of what is permitted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from pipeline.actions import AcceptDialog, Action, Drag, Hotkey, Launch, PressEnter, SelectOption, Type, points_of
from pipeline.protocols import Observation
from pipeline.safety.classes import Kind, Match, commanded, entered, kind_of, phrase_in, plain, said, told
from pipeline.safety.commands import command_in
from pipeline.safety.scene import COMMANDS, TOGGLES, Scene, is_control, is_field, scene_of
from pipeline.structs import Box, Node, TargetUnderPoint
from pipeline.words import Consequence, Platform


class Finding(NamedTuple):
    """What an action would bring about, and what on the screen says so."""

    kind: Kind
    words: str
    place: str
    """`control`, `dialog`, `field`, `command`, `extra`, `address` or `bin`."""
    texts: Sequence[str]
    """What is said around it: what it is done to, amounts and recipients stand in these."""
    reaches_machine: bool = False
    """Whether it reaches beyond the application's own state."""
    final: bool = False
    """Whether the screen says that it cannot be undone."""


_PRESSES = frozenset({"Click", "DoubleClick", "LongPress"})
_DELETING = frozenset({"delete", "del"})
_ENTERING = frozenset({"enter", "return"})
_MODIFIERS = frozenset({"control", "ctrl", "meta", "cmd", "command"})
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
}
"""Parts of addresses that change something when they are only visited."""


def read(
    observation: Observation, action: Action, target: TargetUnderPoint | None, platform: Platform
) -> list[Finding]:
    """Everything an action would bring about; nothing for an action without consequence."""
    found = _read(scene_of(observation), observation, action, target)
    if platform != "web":
        return found
    # Pages change what is theirs; only a terminal in one reaches further.
    return [one if one.place == "command" else one._replace(reaches_machine=False) for one in found]


def _read(scene: Scene, observation: Observation, action: Action, target: TargetUnderPoint | None) -> list[Finding]:
    if action.type in _PRESSES:
        return _pressed(scene, target) if target is not None else []
    reader = _READERS.get(type(action))
    return reader(scene, action, observation) if reader is not None else []


def _pressed(scene: Scene, target: TargetUnderPoint) -> list[Finding]:
    """A control that is clicked or tapped."""
    if is_field(target) and target.role not in TOGGLES:
        return []
    label, command = target.name, target.role in COMMANDS
    around = [node.name for node in scene.around(target.box) if node.name and node.name != label]
    if said(label, "withdrawing"):
        return _cancelled(label, around)
    match = commanded(label, command=command)
    if target.role in TOGGLES:
        return _toggled(match or entered(label), target, around)
    own = [_found(match, "control", [label, *around])] if match is not None else []
    if said(label, "neutral") or (match is None and command and _leads_on(label)):
        return [*_neutral(scene, target.box), *own]
    return [*own, *_extras(scene, target.box)] if own else []


def _toggled(match: Match | None, target: TargetUnderPoint, around: list[str]) -> list[Finding]:
    """Ticking brings something about; unticking only what protects."""
    if match is None or ("checked" in target.states and match.kind.name not in ("system", "credential")):
        return []
    return [_found(match, "control", [target.name, *around])]


def _leads_on(label: str) -> bool:
    """Whether a label begins with a neutral word: what it goes on to is said elsewhere."""
    words = re.findall(r"\w+", plain(label))
    return bool(words) and (said(words[0], "neutral") or said(words[0][:2], "neutral"))


def _neutral(scene: Scene, box: Box | None) -> list[Finding]:
    """A neutral control: its dialog or page says what goes on; so do the extras that are ticked there."""
    texts = [node.name for node in scene.around(box) if node.name and not is_control(node)]
    match = told(texts if scene.dialog(box) is not None else [scene.title, *texts])
    found = [_found(match, "dialog", texts)] if match is not None else []
    return [*found, *_extras(scene, box)]


def _cancelled(label: str, around: list[str]) -> list[Finding]:
    """To cancel is to withdraw, except where the question is whether to cancel something."""
    match = told(around)
    if match is None or match.kind.name != "cancel" or said(label, "keeping"):
        return []
    return [_found(match, "dialog", around)] if any(said(name, "keeping") for name in around) else []


def _extras(scene: Scene, box: Box | None) -> list[Finding]:
    """What is ticked beside a button goes with it."""
    dialog = scene.dialog(box)
    nodes = scene.within(dialog) if dialog is not None else scene.nodes
    found: list[Finding] = []
    for node in nodes:
        if node.role not in ("checkbox", "switch") or "checked" not in node.states:
            continue
        match = entered(node.name) or told([node.name])
        if match is not None and match.kind.outward and match.kind.name not in ("consent", "submit"):
            found.append(_found(match, "extra", [node.name]))
    return found


def _keys(scene: Scene, action: PressEnter | Hotkey, observation: Observation) -> list[Finding]:
    del observation
    keys = ["enter"] if isinstance(action, PressEnter) else [key.lower() for key in action.keys]
    held, last = set(keys[:-1]), keys[-1]
    if last in _ENTERING:
        return _sent(scene, "+".join(keys)) if held & _MODIFIERS else _entered(scene)
    if last in _DELETING and {"control", "alt"} <= held:
        return [_found(Match(kind_of("system"), "+".join(keys), ""), "command", [])]
    focused = scene.focused()
    if last in _DELETING and (focused is None or not is_field(focused)):
        found = _found(Match(kind_of("delete"), "+".join(keys), ""), "control", scene.selected())
        return [found._replace(final="shift" in held)]
    return []


def _entered(scene: Scene) -> list[Finding]:
    """The enter key: sends the form whose field has the focus, or presses the control that has it."""
    focused = scene.focused()
    if focused is None:
        return _neutral(scene, None) if scene.dialog(None) is not None else []
    if _in_terminal(scene, focused):
        return _command(_last_line(focused.value))
    if not is_field(focused):
        return _pressed(scene, _under(focused))
    if focused.role == "searchbox" or phrase_in(focused.name, "searching"):
        return []
    if phrase_in(focused.name, "messages"):
        return _sent(scene, focused.name)
    button = scene.button_after(focused)
    return _pressed(scene, _under(button)) if button is not None else []


def _sent(scene: Scene, words: str) -> list[Finding]:
    texts = [scene.title, *(node.value for node in scene.nodes if node.value)]
    return [_found(Match(kind_of("send"), words, ""), "control", texts)]


def _typed(scene: Scene, action: Type, observation: Observation) -> list[Finding]:
    del observation
    focused = scene.focused()
    if _in_terminal(scene, focused):
        return _command(action.content)
    if focused is None:
        return []
    match = entered(focused.name)
    if match is None and "protected" in focused.states:
        match = Match(kind_of("login"), focused.name, "")
    if match is None or match.kind.name not in ("personal", "credential", "login"):
        return []
    return [_found(match, "field", [action.content])]


def _command(line: str) -> list[Finding]:
    command = command_in(line)
    if command is None:
        return []
    found = _found(Match(kind_of(command.kind), command.words, ""), "command", [line])
    return [found._replace(reaches_machine=command.reaches_machine)]


def _dropped(scene: Scene, action: Drag, observation: Observation) -> list[Finding]:
    if observation.frame is None:
        return []
    end = points_of(action)[-1]
    x, y = (end.x + 0.5) * observation.frame.width / 1000, (end.y + 0.5) * observation.frame.height / 1000
    node = scene.at(x, y)
    if node is None or not said(node.name, "bins"):
        return []
    return [_found(Match(kind_of("delete"), node.name, ""), "bin", scene.selected())]


def _chosen(scene: Scene, action: SelectOption, observation: Observation) -> list[Finding]:
    del action, observation
    focused = scene.focused()
    match = entered(focused.name) if focused is not None else None
    return [_found(match, "control", [scene.title])] if match is not None and match.kind.name != "personal" else []


def _launched(scene: Scene, action: Launch, observation: Observation) -> list[Finding]:
    del scene, observation
    parts = unquote(urlsplit(action.url).path).lower().split("/")
    kinds = [_ADDRESSES[part] for part in parts if part in _ADDRESSES]
    return [_found(Match(kind_of(kinds[-1]), action.url, ""), "address", [action.url])] if kinds else []


def _accepted(scene: Scene, action: AcceptDialog, observation: Observation) -> list[Finding]:
    del action, observation
    return _neutral(scene, None)


_READERS: dict[type, Callable[[Scene, Any, Observation], list[Finding]]] = {
    AcceptDialog: _accepted,
    Drag: _dropped,
    Hotkey: _keys,
    Launch: _launched,
    PressEnter: _keys,
    SelectOption: _chosen,
    Type: _typed,
}


def _found(match: Match, place: str, texts: Iterable[str]) -> Finding:
    around = [text for text in texts if text]
    final = any(phrase_in(text, "final") for text in around)
    reaches = match.kind.name == "uninstall" or (match.kind.name == "system" and phrase_in(match.words, "power"))
    return Finding(match.kind, match.words, place, around, reaches, final)


def _under(node: Node) -> TargetUnderPoint:
    return TargetUnderPoint(role=node.role, name=node.name, box=node.box, states=node.states)


def _in_terminal(scene: Scene, focused: Node | None) -> bool:
    return (focused is not None and focused.role == "terminal") or phrase_in(scene.title, "terminals")


def _last_line(text: str) -> str:
    """What stands after the prompt in the last line of a terminal."""
    line = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    return re.sub(r"^.*?[$#%>]\s+", "", line)
