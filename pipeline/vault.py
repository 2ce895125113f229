"""The secrets of a run: what their placeholders stand for, and where in a text they stand.

`<secret:NAME>` is all that policies, models, judges and rows ever see of a secret. `reveal` is for what is typed,
`hide` for everything that comes back, and `shown_in` for what was read in a picture, where letters may be misread.
This module knows nothing of environments and rows.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import TextIO

from pydantic import Field

from pipeline.actions import Model
from pipeline.config import PLACEHOLDER, SecretConfig
from pipeline.errors import ActionError, ConfigError
from pipeline.spelling import base64_of, encoded_pattern_of, pattern_of

SHORTEST = 6
"""Shorter secrets could not be told from other text."""

_LEAST_BEGUN = 4
_LEAST_LETTERS = 10
_LEAST_SEEN = 5
_ALIKE = str.maketrans("0125689|", "olzsbbql")
"""Characters that are easily read for each other."""


class Secret(Model):
    """A secret, and the applications it may be typed into; any of the run where there are none."""

    name: str
    value: str = Field(repr=False)
    apps: list[str] = Field(default_factory=list)


class Vault:
    """All secrets of a run. Its own text form tells none of them."""

    def __init__(self, secrets: Sequence[Secret] = ()) -> None:
        # A secret that holds another one is looked for first.
        self._secrets = {secret.name: secret for secret in sorted(secrets, key=lambda one: -len(one.value))}

    def __bool__(self) -> bool:
        return bool(self._secrets)

    def __repr__(self) -> str:
        return f"Vault({', '.join(self._secrets)})"

    def reveal(self, text: str, app_ids: Collection[str | None]) -> str:
        """The text with its secrets in place of their placeholders, to be typed into these applications.

        Null stands for what is no application of the run. Raises ActionError for a secret that there is none of, or
        that may not be typed there.
        """
        for name in PLACEHOLDER.findall(text):
            self._require(name, app_ids)
        return PLACEHOLDER.sub(lambda found: self._secrets[found[1]].value, text)

    def hide(self, text: str) -> str:
        """The text with placeholders in place of secrets, however these are spelled or encoded; itself without any."""
        if not self._secrets or not self._any.search(text):
            return text
        for name, pattern in self._patterns.items():
            text = pattern.sub(f"<secret:{name}>", text)
        return text

    def shown_in(self, line: str) -> bool:
        """Whether a line that was read in a picture may show a secret, or a good part of one."""
        folded = _folded(line)
        return any(piece in folded for piece in self._pieces)

    def _require(self, name: str, app_ids: Collection[str | None]) -> None:
        secret = self._secrets.get(name)
        if secret is None:
            known = ", ".join(sorted(self._secrets)) or "none"
            raise ActionError("bad_arguments", f"there is no secret '{name}'; secrets that can be typed: {known}")
        for app_id in app_ids:
            if app_id is None or (secret.apps and app_id not in secret.apps):
                where = app_id or "what is no application of this run"
                raise ActionError("bad_arguments", f"the secret '{name}' may not be typed into {where}")

    @cached_property
    def _patterns(self) -> dict[str, re.Pattern[str]]:
        return {name: re.compile(_pattern(secret.value)) for name, secret in self._secrets.items()}

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return re.compile("|".join(pattern.pattern for pattern in self._patterns.values()))

    @cached_property
    def _pieces(self) -> frozenset[str]:
        return frozenset(piece for secret in self._secrets.values() for piece in _pieces(secret.value))


class HushedStream(io.TextIOBase):
    """A text stream, written to without secrets: what a process says by mistake goes this way."""

    def __init__(self, stream: TextIO, vault: Vault) -> None:
        self._stream, self._vault = stream, vault

    def write(self, text: str) -> int:
        """Write what may be read; the length of the text as it was given."""
        self._stream.write(self._vault.hide(text))
        return len(text)

    def flush(self) -> None:
        """Pass on what was written."""
        self._stream.flush()

    def fileno(self) -> int:
        """The descriptor of the stream behind."""
        return self._stream.fileno()

    def writable(self) -> bool:
        """It is."""
        return True


@contextlib.contextmanager
def hushed(vault: Vault) -> Iterator[None]:
    """Meanwhile this process prints and logs without secrets."""
    with (
        contextlib.redirect_stdout(HushedStream(sys.stdout, vault)),
        contextlib.redirect_stderr(HushedStream(sys.stderr, vault)),
    ):
        yield


def load_vault(secrets: Sequence[SecretConfig]) -> Vault:
    """The secrets as the environment's variables hold them; raises ConfigError naming a variable that does not."""
    loaded = []
    for place, secret in enumerate(secrets):
        value = os.environ.get(secret.env, "").strip()
        if len(value) < SHORTEST:
            problem = f"holds fewer than {SHORTEST} characters" if value else "is not set"
            raise ConfigError(f"secrets.{place}.env: the environment variable {secret.env} {problem}")
        loaded.append(Secret(name=secret.name, value=value, apps=secret.apps))
    return Vault(loaded)


def forget_variables(secrets: Sequence[SecretConfig]) -> None:
    """Take the variables out of this process, so that no program it starts inherits and shows them."""
    for secret in secrets:
        os.environ.pop(secret.env, None)


def _pattern(value: str) -> str:
    """What finds a secret as a whole, in either case, and half of it or more where either end was cut or not typed."""
    patterns = [f"(?i:{pattern_of(value, broken=True)})", encoded_pattern_of(value)]
    begun, ended = _part(value, _LEAST_BEGUN), _part(value[::-1], SHORTEST)[::-1]
    if begun:
        patterns.append(f"{pattern_of(begun, broken=True)}{_signs(value)}{{0,{len(value)}}}")
    if ended:
        signs = _signs("".join(value.split()))
        # An ending is also that of other words: what stands before it is a part of the secret too, or of no word.
        border = rf"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))(?<!{signs})"
        patterns.append(f"{border}{signs}{{0,{len(value)}}}{pattern_of(ended, broken=True)}")
    return "|".join(patterns)


def _signs(value: str) -> str:
    return f"[{re.escape(''.join(sorted(set(value))))}]"


def _part(value: str, least: int) -> str:
    """The first half of a secret, or more, for a word of letters alone may stand anywhere; nothing if that is all.

    Of a secret that is nothing but letters it is as much as no word is likely to begin with.
    """
    if value.isalpha():
        least = max(least, _LEAST_LETTERS)
    for length in range(max(least, (len(value) + 1) // 2), len(value)):
        part = value[:length]
        if (value.isalpha() or not part.isalpha()) and not part[-1].isspace():
            return part
    return ""


def _pieces(value: str) -> set[str]:
    """Pieces of a secret, and of what it is encoded to, that a line is not likely to show by chance."""
    data = value.encode()
    forms = [value, *base64_of(value), data.hex(), "".join(f"%{byte:02x}" for byte in data)]
    pieces = set()
    for form in map(_folded, forms):
        length = min(max(_LEAST_SEEN, -(-len(form) // 3)), len(form))
        pieces |= {form[start : start + length] for start in range(len(form) - length + 1)}
    return pieces - {""}


def _folded(text: str) -> str:
    """The text without what is easily misread: case, spaces, marks, and characters that look alike."""
    kept = "".join(sign for sign in unicodedata.normalize("NFKC", text).casefold() if sign.isalnum() or sign == "|")
    return kept.translate(_ALIKE).replace("i", "l")
