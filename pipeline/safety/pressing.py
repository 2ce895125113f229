"""What a control that is pressed would bring about: by its words, or by those of the dialog or form before it.

Words that command decide; before a neutral one ("OK", "Continue") its dialog or page does. What is ticked beside it
goes along. Knows nothing of keys and of what is permitted.
"""

from __future__ import annotations

import re

from pipeline.safety.classes import (
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
from pipeline.safety.finding import Finding, found_at
from pipeline.safety.scene import COMMANDS, TOGGLES, Scene, is_field
from pipeline.structs import Box, TargetUnderPoint

_SHOWN = 80
_TICKED = frozenset({"checkbox", "check box"})
"""What goes along when a form is sent; a switch has taken effect before."""
_MENUS = frozenset({"menuitem", "menuitemcheckbox", "menuitemradio", "menu item"})
"""What sends no form."""
_ORDINARY = frozenset({"consent", "grant", "personal", "submit"})
"""What may stand ticked in any form, unless it is named by a field of its own."""


def pressed(scene: Scene, target: TargetUnderPoint, *, opens: bool = False) -> list[Finding]:
    """A control that is clicked or tapped; `opens` where an entry of a list is chosen and confirmed at once."""
    label, command = target.name, target.role in COMMANDS
    if (is_field(target) and target.role not in TOGGLES) or target.role == "tab":
        return []
    if said(label, "withdrawing"):
        return _cancelled(scene, target)
    if (shows(label) or said(label, "preparing")) and not said(label, "neutral") and scene.dialog(target.box) is None:
        return []
    match = commanded(label, command=command)
    if target.role in TOGGLES:
        return _toggled(scene, match or entered(label), target)
    if match is not None and said(label, "neutral"):
        match = _told_of(scene, target) or match
    if match is not None:
        return [found_at(scene, match, "control", target), *_extras(scene, target.box)]
    if command or said(label, "neutral") or (opens and scene.dialog(target.box) is not None):
        return _confirmed(scene, target)
    return []


def accepted(scene: Scene) -> list[Finding]:
    """A dialog that is accepted without pressing anything in it."""
    found = _confirmed(scene, TargetUnderPoint(role="button", name="ok"))
    return found if scene.is_form(None) else [one for one in found if one.place != "form"]


def _toggled(scene: Scene, match: Match | None, target: TargetUnderPoint) -> list[Finding]:
    """Ticking brings something about; unticking only what protects."""
    if match is None or ("checked" in target.states and match.kind.name not in ("system", "credential")):
        return []
    return [found_at(scene, match, "control", target)]


def _confirmed(scene: Scene, target: TargetUnderPoint) -> list[Finding]:
    """A control that does not say what it does: its dialog says so, or the form that it confirms."""
    says = scene.dialog(target.box) is not None or said(target.name, "neutral") or _leads_on(target.name)
    match = _told_of(scene, target) if says else None
    if match is None and scene.asks_password:
        match = Match(kind_of("login"), target.name, "")
    if match is not None:
        return [found_at(scene, match, "dialog", target), *_extras(scene, target.box)]
    if scene.is_form(target.box) and target.role not in _MENUS:
        return [found_at(scene, Match(kind_of("submit"), target.name, ""), "form", target), *_extras(scene, target.box)]
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
    return [found_at(scene, match, "dialog", target)] if any(said(name, "keeping") for name in around) else []


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


def unclassified(target: TargetUnderPoint | None) -> str | None:
    """Why nobody can say what a press would bring about; nothing when its control only shows or withdraws.

    To be asked where no consequence was found: nothing with a name lies there, or a control without a known word.
    """
    if target is None or not (target.name or is_field(target)):
        return "nothing with a name lies there"
    works = target.role in COMMANDS or target.role in TOGGLES
    if not works or shows(target.name) or said(target.name, "withdrawing"):
        return None
    return f"there is no word for '{target.name[:_SHOWN]}'"


def shows(label: str) -> bool:
    """Whether a control shows something, by its name."""
    return said(label, "viewing") or names_thing(label)
