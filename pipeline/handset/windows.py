"""Windows that the phone puts over an application: what a page asks, and an application that does not respond.

A window is shown as a page of its own; its buttons answer it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from playwright.async_api import Dialog

Answer = Callable[[str, str], Awaitable[None]]
"""Told the key of the button that was pressed, and the text of the window's field."""

_WORDS = {
    "ok": {"en": "OK", "zh": "确定"},
    "cancel": {"en": "Cancel", "zh": "取消"},
    "close": {"en": "Close app", "zh": "关闭应用"},
    "wait": {"en": "Wait", "zh": "等待"},
}
_NOT_RESPONDING = {"en": "{name} isn't responding", "zh": "“{name}”无响应"}


class Window(NamedTuple):
    """One window."""

    title: str
    """What the window manager calls it."""
    text: str
    buttons: tuple[tuple[str, str], ...]
    """Key and label."""
    answer: Answer
    dismissal: str
    """The key that stands for pressing Back."""
    about: str = ""
    """The package that does not respond, where the window says so."""
    field: str | None = None
    """What its text field holds at first, where it has one."""


def not_responding(package: str, label: str, language: str, answer: Answer) -> Window:
    """The window over an application that does not respond."""
    text = _NOT_RESPONDING[language].format(name=label)
    return Window(
        f"Application Not Responding: {package}", text, _buttons(language, "close", "wait"), answer, "wait", package
    )


def question(dialog: Dialog, title: str, language: str, answered: Callable[[], None]) -> Window:
    """The window for what a page asks or says; `answered` is called when the page goes on."""

    async def answer(key: str, text: str) -> None:
        answered()
        if key == "ok":
            await dialog.accept(text)
        else:
            await dialog.dismiss()

    keys = ("ok",) if dialog.type == "alert" else ("cancel", "ok")
    field = dialog.default_value if dialog.type == "prompt" else None
    return Window(title, dialog.message, _buttons(language, *keys), answer, keys[0], field=field)


def _buttons(language: str, *keys: str) -> tuple[tuple[str, str], ...]:
    return tuple((key, _WORDS[key][language]) for key in keys)
