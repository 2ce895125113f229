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
    said_as,
    told,
)
from pipeline.safety.finding import Finding, found_at
from pipeline.safety.scene import COMMANDS, ENTRIES, TOGGLES, Scene, is_field
from pipeline.structs import Box, TargetUnderPoint

_SHOWN = 80
_TICKED = frozenset({"checkbox", "check box"})
"""What goes along when a form is sent; a switch has taken effect before."""
_PROGRAM = re.compile(
    r"\.(?:exe|msi|bat|cmd|scr|ps1|vbs|jar|sh|run|bin|appimage|deb|rpm|apk|dmg|pkg|desktop)$", re.IGNORECASE
)
"""Files that are run when they are opened."""
_SWITCHES = frozenset({"switch", "toggle button"})
_MENUS = frozenset({"menuitem", "menuitemcheckbox", "menuitemradio", "menu item"})
"""What sends no form."""
_ORDINARY = frozenset({"consent", "grant", "personal", "submit"})
"""What may stand ticked in any form, unless it is named by a field of its own."""


def pressed(scene: Scene, target: TargetUnderPoint, *, opens: bool = False) -> list[Finding]:
    """A control that is clicked or tapped; `opens` where an entry of a list is chosen and confirmed at once."""
    label = target.name
    if (is_field(target) and target.role not in TOGGLES) or target.role == "tab" or said(label, "explaining"):
        return []
    if said(label, "withdrawing"):
        return _cancelled(scene, target)
    match = _opened(label) if opens and target.role in ENTRIES else commanded(label, command=target.role in COMMANDS)
    if scene.dialog(target.box) is None and (_only_shows(label, match) or _leads_to_help(scene, target)):
        return []
    if target.role in TOGGLES:
        return _toggled(scene, match or entered(label), target)
    if match is not None:
        match = (_told_of(scene, target) if said(label, "neutral") else None) or match
        return [found_at(scene, match, "control", target), *_extras(scene, target.box)]
    confirms = target.role in COMMANDS or said(label, "neutral") or (opens and scene.dialog(target.box) is not None)
    return _confirmed(scene, target) if confirms else []


def _opened(name: str) -> Match | None:
    """What comes of opening an entry: a program runs, whatever else its name says."""
    return Match(kind_of("run"), name, "") if _PROGRAM.search(name.strip()) else None


def _leads_to_help(scene: Scene, target: TargetUnderPoint) -> bool:
    """Whether a link stands on a page that tells how things are done."""
    return target.role == "link" and phrase_in(scene.title, "helping")


def _only_shows(label: str, match: Match | None) -> bool:
    """Whether a label is of what shows or prepares; more words of what commands outweigh it, as "check out" "check"."""
    label = label.partition(". ")[0]
    if said(label, "neutral") or not (shows(label) or said(label, "preparing")):
        return False
    quiet = said_as(label, "viewing") or said_as(label, "preparing") or label
    return match is None or not plain(label).startswith(match.words) or len(match.words) <= len(quiet)


def accepted(scene: Scene) -> list[Finding]:
    """A dialog that is accepted without pressing anything in it."""
    found = _confirmed(scene, TargetUnderPoint(role="button", name="ok"))
    return found if scene.is_form(None) else [one for one in found if one.place != "form"]


def _toggled(scene: Scene, match: Match | None, target: TargetUnderPoint) -> list[Finding]:
    """Ticking brings something about; unticking only what protects. A switch takes effect, whatever it is."""
    if match is not None and ("checked" not in target.states or match.kind.name in ("system", "credential")):
        return [found_at(scene, match, "control", target)]
    changes = Match(kind_of("system"), target.name, "")
    return [found_at(scene, changes, "unnamed", target)] if target.role in _SWITCHES else []


def _confirmed(scene: Scene, target: TargetUnderPoint) -> list[Finding]:
    """A control that does not say what it does: its dialog says so, or the form that it confirms."""
    changes = said(target.name, "changing")
    says = scene.dialog(target.box) is not None or said(target.name, "neutral") or changes or _leads_on(target.name)
    match = _told_of(scene, target) if says else None
    if match is None and scene.asks_password:
        match = Match(kind_of("login"), target.name, "")
    if match is not None:
        return [found_at(scene, match, "dialog", target), *_extras(scene, target.box)]
    if target.role in _MENUS:
        return []
    sent = Match(kind_of("submit"), target.name, "")
    if scene.is_form(target.box) and _sends(scene, target):
        return [found_at(scene, sent, "form", target), *_extras(scene, target.box)]
    return [found_at(scene, sent, "unnamed", target)] if changes else []


def _sends(scene: Scene, target: TargetUnderPoint) -> bool:
    """Whether a button may be the one that sends its form: by its word, or because no other is by its own."""
    if phrase_in(scene.title, "calculators") or shows(target.name) or said(target.name, "preparing"):
        return False
    if said(target.name, "neutral") or said(target.name, "changing"):
        return True
    dialog = scene.dialog(target.box)
    nodes = scene.within(dialog) if dialog is not None else scene.nodes
    return not any(node.role == "button" and said(node.name, "neutral") for node in nodes)


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
