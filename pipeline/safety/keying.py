"""What keys and typed text would bring about: they press the control or send the form that has the focus, or are a
command in a terminal.

Every key of a chord counts, and a line break that is typed is the enter key. What is typed into a terminal is read
together with what stands on its prompt. Knows nothing of what is permitted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.actions import Action, Hotkey, KeyDown, PressEnter, Type
from pipeline.safety.classes import Match, entered, kind_of, phrase_in, told
from pipeline.safety.commands import command_in
from pipeline.safety.finding import Finding, found_at
from pipeline.safety.places import SOMEWHERE
from pipeline.safety.pressing import accepted, pressed
from pipeline.safety.scene import Scene, is_field
from pipeline.structs import Node, TargetUnderPoint

_DELETING = frozenset({"backspace", "del", "delete"})
_ENTERING = frozenset({"enter", "kp_enter", "numpadenter", "return"})
_PRESSING = frozenset({"space", "spacebar"})
_LINE_KEYS = frozenset({"j", "m", "o"})
"""With control they end a line in a terminal."""
_MODIFIERS = frozenset({"cmd", "command", "control", "controlorcommand", "ctrl", "meta"})
_AT = re.compile(r"^[\w.-]+@[\w.-]+:(~?/?[^\s$#>]*)[$#](?:\s|$)", re.MULTILINE)
_QUESTION = re.compile(r"[\[(](y|yes)\s?/\s?(?:n|no)[\])]\W*$", re.IGNORECASE)
_UNFINISHED = re.compile(r"(?:[<>|&]|&&|\|\||>>)[ \t]*$")
"""What a line that goes on cannot be judged by yet: it is read again when it is ended."""
_READ_LINES = 20


def presses_enter(action: Action) -> bool:
    """Whether an action presses the enter key, or the space bar, which presses buttons."""
    match action:
        case PressEnter():
            return True
        case Hotkey() | KeyDown():
            return bool({name.strip().lower() for name in action.keys} & (_ENTERING | _PRESSING))
        case Type():
            return bool({"\n", "\r"} & set(action.content)) or not action.content.strip(" ")
        case _:
            return False


def keys_pressed(scene: Scene, names: Sequence[str]) -> list[Finding]:
    """Keys that go down together, in any order."""
    keys = [name.strip().lower() for name in names]
    held, chord = set(keys), "+".join(keys)
    focused = scene.focused()
    if held & _ENTERING:
        return _sent(scene, chord) if held & _MODIFIERS and not _in_terminal(scene, focused) else entered_at(scene)
    if held & _MODIFIERS and held & _LINE_KEYS and _in_terminal(scene, focused):
        return entered_at(scene)
    if "s" in held and held & _MODIFIERS and "shift" not in held:  # with shift a name is asked for
        return [Finding(kind_of("overwrite"), chord, "form", [chord])]
    if held & _DELETING and {"control", "alt"} <= held:
        return [Finding(kind_of("system"), chord, "command", [chord], reaches_machine=True)]
    if held & _DELETING and not (focused is not None and is_field(focused)):
        return [found_at(scene, Match(kind_of("delete"), chord, ""), "control", None)._replace(final="shift" in held)]
    return _space(scene) if held & _PRESSING else []


def typed(scene: Scene, content: str) -> list[Finding]:
    """Text that is typed, line breaks among it."""
    focused = scene.focused()
    if _in_terminal(scene, focused):
        shown = focused.value if focused is not None else ""
        return _answered(scene, shown, content) or _line(
            _last_line(shown) + _UNFINISHED.sub("", content), _folder(shown)
        )
    found = _data(focused, content)
    if "\n" in content or "\r" in content:
        return [*found, *entered_at(scene)]
    return found or (_space(scene) if content.strip(" ") == "" and content else [])


def entered_at(scene: Scene) -> list[Finding]:
    """The enter key: sends the form whose field has the focus, or presses the control that has it."""
    focused = scene.focused()
    if _in_terminal(scene, focused):
        return _ended_line(scene, focused)
    if focused is None:
        return accepted(scene) if scene.dialog(None) is not None else []
    if not is_field(focused):
        return pressed(scene, _under(focused))
    if focused.role == "searchbox" or phrase_in(focused.name, "searching"):
        return []
    if phrase_in(focused.name, "messages"):
        return _sent(scene, focused.name)
    button = scene.button_after(focused)
    return pressed(scene, _under(button)) if button is not None else []


def _space(scene: Scene) -> list[Finding]:
    """The space bar presses the control that has the focus."""
    focused = scene.focused()
    return pressed(scene, _under(focused)) if focused is not None and not is_field(focused) else []


def _data(focused: Node | None, content: str) -> list[Finding]:
    """Personal data and passwords that are entered into a field of their kind."""
    if focused is None:
        return []
    match = entered(focused.name)
    if match is None and "protected" in focused.states:
        match = Match(kind_of("login"), focused.name, "")
    if match is None or match.kind.name not in ("personal", "credential", "login"):
        return []
    return [Finding(match.kind, match.words, "field", [content])]


def _ended_line(scene: Scene, focused: Node | None) -> list[Finding]:
    """The line at a prompt that is carried out; one that cannot be seen may be anything."""
    if focused is None or focused.role != "terminal":
        if scene.nodes and focused is not None:
            return _line(_last_line(focused.value), _folder(focused.value))
        return [Finding(kind_of("run"), "a line that cannot be seen", "command", ["enter"], reaches_machine=True)]
    return _answered(scene, focused.value, "") or _line(_last_line(focused.value), _folder(focused.value))


def _sent(scene: Scene, words: str) -> list[Finding]:
    return [found_at(scene, Match(kind_of("send"), words, ""), "control", None)]


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
    return [found_at(scene, match, "dialog", None)._replace(texts=told_there, asks=told_there, reaches_machine=False)]


def _line(line: str, folder: str) -> list[Finding]:
    command = command_in(line, folder)
    if command is None:
        return []
    kind = kind_of(command.kind)
    return [Finding(kind, command.words, "command", [line], reaches_machine=command.reaches_machine)]


def _under(node: Node) -> TargetUnderPoint:
    return TargetUnderPoint(role=node.role, name=node.name, box=node.box, states=node.states)


def _in_terminal(scene: Scene, focused: Node | None) -> bool:
    return (focused is not None and focused.role == "terminal") or phrase_in(
        f"{scene.title} {scene.location}", "terminals"
    )


def _last_line(text: str) -> str:
    """What stands after the last prompt of a terminal, lines that go on in the next one joined."""
    lines = [line for line in text.splitlines() if line.strip()]
    begin = len(lines) - 1
    while begin > 0 and lines[begin - 1].rstrip().endswith("\\"):
        begin -= 1
    joined = " ".join(re.sub(r"^>\s", "", line).rstrip("\\ ") for line in lines[max(begin, 0) :])
    if text.endswith(" ") and joined:
        joined += " "
    return re.sub(r"^.*?(?:[$#%>➜❯]\s+(?:~\s+)?|\$)", "", joined)


def _folder(text: str) -> str:
    """Where the last prompt of a terminal says that its shell stands."""
    prompts = _AT.findall(text)
    return prompts[-1] if prompts else SOMEWHERE
