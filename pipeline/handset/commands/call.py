"""What a command of the phone is given, and how it answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import NamedTuple

from pipeline.handset.phone import Phone
from pipeline.handset.wire_services import Output

NOT_FOUND = 127
USAGE = 255


class Call(NamedTuple):
    """One command: its name, the words after it, what is sent to it and where it writes."""

    phone: Phone
    name: str
    words: list[str]
    stdin: AsyncIterator[bytes]
    output: Output

    async def say(self, text: str) -> None:
        """A line to standard output."""
        await self.output.out(f"{text}\n".encode())

    async def complain(self, text: str) -> None:
        """A line to standard error."""
        await self.output.err(f"{text}\n".encode())

    async def usage(self) -> int:
        """What is asked for is not known; the exit code."""
        await self.complain(f"{self.name}: unknown or incomplete: {' '.join(self.words)}")
        return USAGE

    def inner(self) -> Call:
        """The same without the first word."""
        return self._replace(words=self.words[1:])

    def word(self, at: int) -> str:
        """A word; empty where there is none."""
        return self.words[at] if at < len(self.words) else ""


Command = Callable[[Call], Awaitable[int]]
Commands = Mapping[str, Command]


class Options(NamedTuple):
    """Words of a command: options with their values, switches, and the rest in order."""

    values: Mapping[str, list[str]]
    switches: frozenset[str]
    rest: list[str]

    def value(self, name: str, otherwise: str = "") -> str:
        """The last value of an option."""
        return self.values[name][-1] if name in self.values else otherwise


def options(words: list[str], valued: Mapping[str, int]) -> Options:
    """Read options; `valued` says how many words belong to each that has values, the last of which counts."""
    values: dict[str, list[str]] = {}
    switches, rest = set(), []
    at = 0
    while at < len(words):
        word = words[at]
        count = valued.get(word, 0)
        if count:
            values.setdefault(word, []).extend(words[at + 1 : at + 1 + count])
        elif word.startswith("-") and len(word) > 1:
            switches.add(word)
        else:
            rest.append(word)
        at += 1 + count
    return Options(values, frozenset(switches), rest)


async def one_of(call: Call, commands: Commands) -> int:
    """Carry out the command that the first word names."""
    command = commands.get(call.word(0))
    if command is None:
        return await call.usage()
    return await command(call.inner()._replace(name=f"{call.name} {call.word(0)}"))
