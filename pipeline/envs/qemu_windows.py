"""The windows of a guest, as tools of X tell them in the guest. Knows nothing of what is in them."""

from __future__ import annotations

import re

from pipeline.envs.machine import Window
from pipeline.envs.qemu_agent import SECONDS, Agent
from pipeline.errors import EnvError

_SCRIPT = r"""
told=$(xprop -root _NET_ACTIVE_WINDOW _NET_CLIENT_LIST_STACKING) || exit 1
printf '%s\n' "$told"
for window in $(printf '%s\n' "$told" | sed -n 's/^_NET_CLIENT_LIST_STACKING.*# //p' | tr -d ','); do
    echo "window $window"
    xprop -notype -id "$window" -f _NET_WM_NAME 8u -f WM_NAME 8u _NET_WM_NAME WM_NAME WM_CLASS 2>/dev/null
done
exit 0
"""
_ACTIVE = re.compile(r"^_NET_ACTIVE_WINDOW.*# (0x[0-9a-f]+)", re.MULTILINE)
_TEXT = r'"((?:[^"\\]|\\.)*)"'
_TITLES = (re.compile(rf"^_NET_WM_NAME = {_TEXT}", re.MULTILINE), re.compile(rf"^WM_NAME = {_TEXT}", re.MULTILINE))
_CLASS = re.compile(rf"^WM_CLASS = {_TEXT}(?:, {_TEXT})?", re.MULTILINE)


async def windows(agent: Agent) -> list[Window]:
    """Windows of programs, from the bottom to the top; raises EnvError."""
    ran = await agent.run(["sh", "-c", _SCRIPT], seconds=SECONDS)
    if ran.code != 0:
        raise EnvError("display_gone", f"the guest tells of no windows: {ran.err.decode(errors='replace')}")
    return windows_of(ran.out.decode(errors="replace"))


def windows_of(said: str) -> list[Window]:
    """The windows of what the script says; those that went meanwhile are left out."""
    head, *parts = re.split(r"^window ", said, flags=re.MULTILINE)
    active = _ACTIVE.search(head)
    found = []
    for part in parts:
        kind = _CLASS.search(part)
        if kind is None:
            continue
        number = part.partition("\n")[0].strip()
        title = next((match[1] for pattern in _TITLES if (match := pattern.search(part))), "")
        is_active = active is not None and int(active[1], 16) == int(number, 16)
        found.append(Window(_plain(title), _plain(kind[2] or kind[1]), is_active))
    return found


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
