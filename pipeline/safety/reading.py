"""What an action would bring about here: its class of consequence, and what it would be done to.

The words of the control say it where they command; before a neutral one ("OK", "Continue") its dialog or page does.
The enter key presses what the form would send, a line typed into a terminal is read as a command, a drop on the bin
deletes. What the instruction says plays no part. Knows nothing of what is permitted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from pipeline.actions import AcceptDialog, Action, Drag, Hotkey, Launch, PressEnter, SelectOption, Type, points_of
from pipeline.protocols import Observation
from pipeline.safety.classes import (
    Kind,
    Match,
    commanded,
    entered,
    kind_of,
    kinds,
    names_thing,
    phrase_in,
    plain,
    said,
    told,
)
from pipeline.safety.commands import command_in
from pipeline.safety.scene import COMMANDS, TOGGLES, Choice, Scene, is_field, scene_of
from pipeline.structs import Box, Node, TargetUnderPoint
from pipeline.words import Consequence, Platform

Place = Literal["control", "dialog", "form", "field", "command", "extra", "address", "bin"]
"""Where a consequence was read."""


class Finding(NamedTuple):
    """What an action would bring about, and what on the screen says so."""

    kind: Kind
    words: str
    place: Place
    texts: Sequence[str]
    """What is said around it: what it is done to, amounts and recipients stand in these."""
    reaches_machine: bool = False
    """Whether it reaches beyond the application's own state."""
    final: bool = False
    """Whether the screen says that it cannot be undone."""
    choices: Sequence[Choice] = ()
    """What was taken among alternatives, and what was not."""
    asks: Sequence[str] = ()
    """What the dialog around it says, where there is one."""
    label: str = ""
    """The name of the control."""
    entered: Sequence[str] = ()
    """What stands in the fields of the screen."""
    taken: Sequence[str] = ()
    """What is chosen and ticked there."""


_TICKED = frozenset({"checkbox", "check box"})
"""What goes along when a form is sent; a switch has taken effect before."""
_MENUS = frozenset({"menuitem", "menuitemcheckbox", "menuitemradio", "menu item"})
"""What sends no form."""
_PRESSES = frozenset({"Click", "DoubleClick", "LongPress"})
_ORDINARY = frozenset({"consent", "grant", "personal", "submit"})
"""What may stand ticked in any form, unless it is named by a field of its own."""
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
    "buy": "order",
    "checkout": "order",
    "join": "subscribe",
    "subscribe": "subscribe",
    "transfer": "transfer",
}
"""Parts of addresses that change something when they are only visited."""
_QUESTION = re.compile(r"[\[(](y|yes)\s?/\s?(?:n|no)[\])]\W*$", re.IGNORECASE)
_READ_LINES = 20
_CONFIRMING = frozenset({"accept", "agree", "approve", "confirm", "confirmed", "consent", "yes"})


def read(
    observation: Observation, action: Action, target: TargetUnderPoint | None, platform: Platform
) -> list[Finding]:
    """Everything an action would bring about; nothing for an action without consequence."""
    found = _read(scene_of(observation), observation, action, target)
    if platform != "web":
        return found
    # Pages change what is theirs; only a terminal in one reaches further.
    return [one if one.place == "command" else one._replace(reaches_machine=False) for one in found]


def can_act(action: Action) -> bool:
    """Whether an action can bring anything about; to look, wait, point or scroll cannot."""
    return action.type in _PRESSES or type(action) in _READERS


def _read(scene: Scene, observation: Observation, action: Action, target: TargetUnderPoint | None) -> list[Finding]:
    slides = action.type == "Drag" and target is not None and target.role in COMMANDS
    if action.type in _PRESSES or slides:
        return _pressed(scene, target, opens=action.type == "DoubleClick") if target is not None else []
    reader = _READERS.get(type(action))
    return reader(scene, action, observation) if reader is not None else []


def _pressed(scene: Scene, target: TargetUnderPoint, *, opens: bool = False) -> list[Finding]:
    """A control that is clicked or tapped; `opens` where an entry of a list is chosen and confirmed at once."""
    label, command = target.name, target.role in COMMANDS
    if (is_field(target) and target.role not in TOGGLES) or target.role == "tab":
        return []
    if said(label, "withdrawing"):
        return _cancelled(scene, target)
    if (
        (said(label, "viewing") or names_thing(label))
        and not said(label, "neutral")
        and scene.dialog(target.box) is None
    ):
        return []
    match = commanded(label, command=command)
    if target.role in TOGGLES:
        return _toggled(scene, match or entered(label), target)
    if match is not None and said(label, "neutral"):
        match = _told_of(scene, target) or match
    if match is not None:
        return [_found(scene, match, "control", target), *_extras(scene, target.box)]
    if command or said(label, "neutral") or (opens and scene.dialog(target.box) is not None):
        return _confirmed(scene, target)
    return []


def _toggled(scene: Scene, match: Match | None, target: TargetUnderPoint) -> list[Finding]:
    """Ticking brings something about; unticking only what protects."""
    if match is None or ("checked" in target.states and match.kind.name not in ("system", "credential")):
        return []
    return [_found(scene, match, "control", target)]


def _confirmed(scene: Scene, target: TargetUnderPoint) -> list[Finding]:
    """A control that does not say what it does: its dialog says so, or the form that it confirms."""
    says = scene.dialog(target.box) is not None or said(target.name, "neutral") or _leads_on(target.name)
    match = _told_of(scene, target) if says else None
    if match is None and scene.asks_password:
        match = Match(kind_of("login"), target.name, "")
    if match is not None:
        return [_found(scene, match, "dialog", target), *_extras(scene, target.box)]
    if scene.is_form(target.box) and target.role not in _MENUS:
        return [_found(scene, Match(kind_of("submit"), target.name, ""), "form", target), *_extras(scene, target.box)]
    return []


def _told_of(scene: Scene, target: TargetUnderPoint) -> Match | None:
    """What the dialog around a control says will happen, or the page."""
    texts = scene.told(target.box)
    return told(texts if scene.dialog(target.box) is not None else [scene.title, *texts])


def _leads_on(label: str) -> bool:
    """Whether a label begins with a neutral word: what it goes on to is said elsewhere."""
    words = re.findall(r"\w+", plain(label))
    return bool(words) and (said(words[0], "neutral") or said(words[0][:2], "neutral"))


def _cancelled(scene: Scene, target: TargetUnderPoint) -> list[Finding]:
    """To cancel is to withdraw, except where the question is whether to cancel something."""
    around = [node.name for node in scene.around(target.box) if node.name != target.name]
    match = told(around)
    if match is None or match.kind.name != "cancel" or said(target.name, "keeping"):
        return []
    return [_found(scene, match, "dialog", target)] if any(said(name, "keeping") for name in around) else []


def _extras(scene: Scene, box: Box | None) -> list[Finding]:
    """What is ticked beside a button goes with it."""
    dialog = scene.dialog(box)
    nodes = scene.within(dialog) if dialog is not None else scene.nodes
    found: list[Finding] = []
    for node in nodes:
        if node.role not in _TICKED or "checked" not in node.states or "disabled" in node.states:
            continue
        match = _ticked(node.name)
        if match is not None and (match.kind.name not in _ORDINARY or match.words in match.kind.fields):
            found.append(Finding(match.kind, match.words, "extra", [node.name]))
    return found


def _ticked(label: str) -> Match | None:
    """The gravest of what a tick brings about; to have read the terms is a part of every form."""
    if phrase_in(label, "terms") and not phrase_in(label, "marketing"):
        return None
    found = [match for match in (told([label]), entered(label), commanded(label, command=True)) if match is not None]
    order = [kind.name for kind in kinds()]
    return min(found, key=lambda match: order.index(match.kind.name), default=None)


def _keys(scene: Scene, action: PressEnter | Hotkey, observation: Observation) -> list[Finding]:
    del observation
    keys = ["enter"] if isinstance(action, PressEnter) else [key.lower() for key in action.keys]
    held, last = set(keys[:-1]), keys[-1]
    if last in _ENTERING:
        return _sent(scene, "+".join(keys)) if held & _MODIFIERS else _entered(scene)
    if last == "s" and held and held <= _MODIFIERS:
        return [Finding(kind_of("overwrite"), "+".join(keys), "form", ["+".join(keys)])]
    if last in _DELETING and {"control", "alt"} <= held:
        return [Finding(kind_of("system"), "+".join(keys), "command", ["+".join(keys)], reaches_machine=True)]
    focused = scene.focused()
    if last in _DELETING and (focused is None or not is_field(focused)):
        found = _found(scene, Match(kind_of("delete"), "+".join(keys), ""), "control", None)
        return [found._replace(final="shift" in held)]
    return []


def _entered(scene: Scene) -> list[Finding]:
    """The enter key: sends the form whose field has the focus, or presses the control that has it."""
    focused = scene.focused()
    if focused is None:
        return _accepted(scene) if scene.dialog(None) is not None else []
    if _in_terminal(scene, focused):
        return _answered(scene, focused.value, "") or _command(_last_line(focused.value))
    if not is_field(focused):
        return _pressed(scene, _under(focused))
    if focused.role == "searchbox" or phrase_in(focused.name, "searching"):
        return []
    if phrase_in(focused.name, "messages"):
        return _sent(scene, focused.name)
    button = scene.button_after(focused)
    return _pressed(scene, _under(button)) if button is not None else []


def _sent(scene: Scene, words: str) -> list[Finding]:
    return [_found(scene, Match(kind_of("send"), words, ""), "control", None)]


def _typed(scene: Scene, action: Type, observation: Observation) -> list[Finding]:
    del observation
    focused = scene.focused()
    if _in_terminal(scene, focused):
        answered = _answered(scene, focused.value, action.content) if focused is not None else []
        return answered or _command(action.content)
    if focused is None:
        return []
    match = entered(focused.name)
    if match is None and "protected" in focused.states:
        match = Match(kind_of("login"), focused.name, "")
    if match is None or match.kind.name not in ("personal", "credential", "login"):
        return []
    return [Finding(match.kind, match.words, "field", [action.content])]


def _answered(scene: Scene, shown: str, answer: str) -> list[Finding]:
    """A question of a program in a terminal that is answered with yes, which its capital letter says for nothing."""
    lines = [line for line in shown.splitlines() if line.strip()]
    question = _QUESTION.search(lines[-1]) if lines else None
    if question is None:
        return []
    given = answer.strip() or question[1]
    if given.casefold() not in ("y", "yes") or not (answer.strip() or given == given.upper()):
        return []
    told_there = lines[-_READ_LINES:]
    match = told(told_there) or Match(kind_of("run"), lines[-1], "")
    return [_found(scene, match, "dialog", None)._replace(texts=told_there, asks=told_there, reaches_machine=False)]


def _command(line: str) -> list[Finding]:
    command = command_in(line)
    if command is None:
        return []
    kind = kind_of(command.kind)
    return [Finding(kind, command.words, "command", [line], reaches_machine=command.reaches_machine)]


def _dropped(scene: Scene, action: Drag, observation: Observation) -> list[Finding]:
    if observation.frame is None:
        return []
    end = points_of(action)[-1]
    x, y = (end.x + 0.5) * observation.frame.width / 1000, (end.y + 0.5) * observation.frame.height / 1000
    node = scene.at(x, y)
    if node is None or not said(node.name, "bins"):
        return []
    return [_found(scene, Match(kind_of("delete"), node.name, ""), "bin", None)]


def _selected(scene: Scene, action: SelectOption, observation: Observation) -> list[Finding]:
    """An option of a drop-down takes effect at once where the page says so; what it is stands among the options."""
    del observation
    options = [node.name for node in scene.nodes if node.role == "option"]
    focused = scene.focused()
    name = options[action.index] if action.index < len(options) else ""
    match = entered(name) or told([name]) or (entered(focused.name) if focused is not None else None)
    if match is None or match.kind.name == "personal":
        return []
    return [Finding(match.kind, match.words, "control", [name or scene.title])]


def _launched(scene: Scene, action: Launch, observation: Observation) -> list[Finding]:
    del scene, observation
    address = urlsplit(action.url)
    parts = unquote(address.path).lower().strip("/").split("/")
    confirmed = {name.lower() for name, value in parse_qsl(address.query) if value.lower() in ("1", "true", "yes")}
    kinds = [_ADDRESSES[part] for part in parts if part in _ADDRESSES]
    if not kinds and confirmed & _CONFIRMING:
        kinds = ["submit"]
    return [Finding(kind_of(kinds[-1]), action.url, "address", [action.url])] if kinds else []


def _accepted(scene: Scene, action: Action | None = None, observation: Observation | None = None) -> list[Finding]:
    """A dialog that is accepted without pressing anything in it."""
    del action, observation
    found = _confirmed(scene, TargetUnderPoint(role="button", name="ok"))
    return found if scene.is_form(None) else [one for one in found if one.place != "form"]


_READERS: dict[type, Callable[[Scene, Any, Observation], list[Finding]]] = {
    AcceptDialog: _accepted,
    Drag: _dropped,
    Hotkey: _keys,
    Launch: _launched,
    PressEnter: _keys,
    SelectOption: _selected,
    Type: _typed,
}


def _found(scene: Scene, match: Match, place: Place, target: TargetUnderPoint | None) -> Finding:
    """A finding with everything on the screen that goes with it."""
    box = target.box if target is not None else None
    texts = [text for text in (target.name if target is not None else "", match.rest, *scene.bound(box)) if text]
    return Finding(
        match.kind,
        match.words,
        place,
        texts,
        reaches_machine=match.kind.name == "uninstall"
        or (match.kind.name == "system" and phrase_in(match.words, "power")),
        final=any(phrase_in(text, "final") for text in scene.told(box)),
        choices=scene.choices(target),
        asks=scene.told(box) if scene.dialog(box) is not None else (),
        label=target.name if target is not None else "",
        entered=scene.entered(),
        taken=scene.taken(),
    )


def _under(node: Node) -> TargetUnderPoint:
    return TargetUnderPoint(role=node.role, name=node.name, box=node.box, states=node.states)


def _in_terminal(scene: Scene, focused: Node | None) -> bool:
    return (focused is not None and focused.role == "terminal") or phrase_in(
        f"{scene.title} {scene.location}", "terminals"
    )


def _last_line(text: str) -> str:
    """What stands after the prompt in the last line of a terminal."""
    line = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    return re.sub(r"^.*?[$#%>]\s+", "", line)
