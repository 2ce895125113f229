"""Text entry on a device: an input method that takes text by broadcast, base64 of UTF-8 on the way, the result checked.

The input method that was chosen before is chosen again after every text, also when the text was not delivered. What
arrived is looked for in the field afterwards, where the tree shows it.
"""

from __future__ import annotations

import asyncio
import base64
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from pipeline.envs.adb_device import AdbDevice, is_well_formed
from pipeline.errors import ActionError, EnvError
from pipeline.structs import Node

UNVERIFIED = "text_unverified"
"""The step flag of a text that nobody has seen arrive."""
KEYBOARD = "com.android.adbkeyboard/.AdbIME"

_ACTION = "ADB_INPUT_B64"
_COMPLETED = re.compile(r"Broadcast completed: result=(-?\d+)")
_DELIVERED = "0"
_MOST_BYTES = 24_000
"""Of one broadcast: a command line has a limit, and base64 adds a third."""
_CHOOSE_SECONDS = 4.0
_POLL_SECONDS = 0.1
_FOCUS_SECONDS = 1.0
_COMMON = 0xFFFF
"""Characters beyond are made of two in the systems' own strings."""
_SPACE = "%s"
"""What the plain tool takes for a space, so that these two characters cannot be typed by it."""


class Keyboard:
    """Types on one device."""

    def __init__(self, device: AdbDevice) -> None:
        self._device = device

    async def type(self, text: str) -> None:
        """Enter a text where the focus is; raises ActionError `text_not_delivered`, or EnvError."""
        if not is_well_formed(text):
            raise ActionError("text_not_delivered", "half of a surrogate pair is no character")
        before, enabled = await self._chosen()
        if enabled and KEYBOARD not in enabled and not await self._enabled():
            await self._type_plainly(text)
            return
        if before == KEYBOARD:
            await self._broadcast(text)
            return
        try:
            await self._choose(KEYBOARD)
            await self._broadcast(text)
        finally:
            if before:
                await self._restore(before)

    async def _chosen(self) -> tuple[str, list[str]]:
        """The chosen input method, empty when there is none, and those that are enabled, nothing where none is told.

        Settings are read, for some systems do not let us list input methods.
        """
        ran = await self._device.run_all(
            ["settings", "get", "secure", "default_input_method"],
            ["settings", "get", "secure", "enabled_input_methods"],
        )
        lines = ["" if line.strip() == "null" else line.strip() for line in ran.text.splitlines()]
        chosen, enabled = [*lines, "", ""][:2]
        return chosen, [name.partition(";")[0] for name in enabled.split(":") if name]

    async def _enabled(self) -> bool:
        """Enable the input method, if it is installed: a new one is not known at once."""
        until = time.monotonic() + _CHOOSE_SECONDS
        while (await self._device.run("pm", "path", KEYBOARD.partition("/")[0])).code == 0:
            await self._device.run("ime", "enable", KEYBOARD)
            if KEYBOARD in (await self._chosen())[1]:
                return True
            if time.monotonic() > until:
                break
            await asyncio.sleep(_POLL_SECONDS)
        return False

    async def _choose(self, method: str) -> None:
        """Make an input method the chosen one; raises ActionError when the system does not."""
        until = time.monotonic() + _CHOOSE_SECONDS
        while True:
            ran = await self._device.run_all(
                ["ime", "set", method], ["settings", "get", "secure", "default_input_method"]
            )
            said = ran.text.strip().splitlines()
            if said and said[-1].strip() == method:
                return
            if time.monotonic() > until:
                raise ActionError("text_not_delivered", f"the input method {method} cannot be chosen: {ran.complaint}")
            await asyncio.sleep(_POLL_SECONDS)

    async def _restore(self, method: str) -> None:
        try:
            await self._choose(method)
        except ActionError as error:
            raise EnvError("input_method", f"the input method {method} is not chosen again: {error.detail}") from error

    async def _broadcast(self, text: str) -> None:
        await self._focused()
        for part in parts_of(text):
            said = await self._device.run(
                "am", "broadcast", "-a", _ACTION, "--es", "msg", base64.b64encode(part).decode()
            )
            result = _COMPLETED.search(said.text)
            if said.code != 0 or result is None or result[1] != _DELIVERED:
                raise ActionError("text_not_delivered", f"the input method did not take the text: {said.complaint}")

    async def _focused(self) -> None:
        """Wait until a field is served by the input method: what comes earlier is lost without a word."""
        until = time.monotonic() + _FOCUS_SECONDS
        while True:
            said = await self._device.run("dumpsys", "input_method")
            if said.code != 0 or "mInputShown=true" in said.text:
                return
            if time.monotonic() > until:
                break
            await asyncio.sleep(_POLL_SECONDS)
        if "mServedView=null" in said.text:
            raise ActionError("text_not_delivered", "no text field has the focus")

    async def _type_plainly(self, text: str) -> None:
        """The system's own tool, which knows one line of ASCII; anything else is refused rather than changed."""
        if not (text.isascii() and text.isprintable()) or _SPACE in text:
            raise ActionError(
                "text_not_delivered", f"this text needs the input method {KEYBOARD}, which is not installed"
            )
        said = await self._device.run("input", "text", text.replace(" ", _SPACE))
        if said.code != 0:
            raise ActionError("text_not_delivered", f"the text was not taken: {said.complaint}")


def parts_of(text: str) -> Iterator[bytes]:
    """The text as UTF-8 in parts that fit a broadcast each; no character is split."""
    part = bytearray()
    for character in text:
        encoded = character.encode()
        if len(part) + len(encoded) > _MOST_BYTES:
            yield bytes(part)
            part.clear()
        part += encoded
    if part:
        yield bytes(part)


def check_arrived(text: str, before: Sequence[Node] | None, after: Sequence[Node]) -> list[str]:
    """Flags of a typed text by what the fields show before and after it; raises ActionError when it did not arrive.

    `before` is nothing where nobody knows. Only the text as it is in a field that has changed has been seen to
    arrive; one that a field may have put in a form of its own, or sent off at a line break, is left to whoever looks at
    the picture.
    """
    field = next((node for node in after if node.role == "textbox" and "focused" in node.states), None)
    if field is None or "protected" in field.states:
        return [UNVERIFIED]
    changed = list((Counter(_values(after)) - Counter(_values(before))).elements()) if before is not None else []
    if before is not None and not changed:
        again = _essence(text) == _essence(field.value)  # it may have been given what it held
        if again or not any(map(_is_surely_shown, text)) or ("\n" in text and not field.value):
            return [UNVERIFIED]
        raise ActionError("text_not_delivered", f"the field holds what it held before: '{field.value[:200]}'")
    if any(text.replace("\r\n", "\n") in value for value in changed):
        return []
    essence, sent = _essence(text), "\n" in text and "\n" not in field.value
    if sent or any(essence in _essence(value) for value in changed or [field.value]):
        return [UNVERIFIED]
    raise ActionError("text_not_delivered", f"the field now holds '{field.value[:200]}'")


def _values(nodes: Sequence[Node]) -> list[str]:
    return [node.value for node in nodes if node.role == "textbox"]


def _is_surely_shown(character: str) -> bool:
    """Whether a tree shows a character for certain: some leave out rare ones, and those that have no shape."""
    return ord(character) <= _COMMON and not character.isspace() and unicodedata.category(character)[0] != "C"


def _essence(text: str) -> str:
    """Letters and digits: fields put separators of their own between them, and trees leave out rare characters."""
    return "".join(character for character in text if character.isalnum()).casefold()
