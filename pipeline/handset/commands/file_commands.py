"""Small commands of every shell: files, checksums, the clock."""

from __future__ import annotations

import asyncio
import hashlib
import posixpath
import stat
from collections.abc import Callable

from pipeline.handset.commands.call import Call, Commands, options


async def _echo(call: Call) -> int:
    words, end = call.words, "\n"
    if words[:1] == ["-n"]:
        words, end = words[1:], ""
    await call.output.out((" ".join(words) + end).encode())
    return 0


async def _cat(call: Call) -> int:
    return await _of_each(call, lambda _, data: data)


async def _of_each(call: Call, told: Callable[[str, bytes], bytes]) -> int:
    """Tell something of every file that is named; the others are complained of."""
    code = 0
    for path in call.words:
        try:
            await call.output.out(told(path, call.phone.files.read(path)))
        except OSError as error:
            await call.complain(f"{call.name}: {path}: {error.strerror}")
            code = 1
    return code


async def _ls(call: Call) -> int:
    given = options(call.words, {})
    code = 0
    for path in given.rest or ["/"]:
        known = call.phone.files.stat(path)
        if known is None:
            await call.complain(f"ls: {path}: No such file or directory")
            code = 1
        elif stat.S_ISDIR(known.mode) and "-d" not in given.switches:
            for entry in call.phone.files.list(path):
                await call.say(entry.name)
        else:
            await call.say(path)
    return code


async def _rm(call: Call) -> int:
    given = options(call.words, {})
    letters = "".join(given.switches)
    code = 0
    for path in given.rest:
        try:
            call.phone.files.remove(path, tree="r" in letters or "R" in letters)
        except OSError as error:
            if "f" not in letters:
                await call.complain(f"rm: {path}: {error.strerror}")
                code = 1
    return code


async def _mkdir(call: Call) -> int:
    given = options(call.words, {})
    for path in given.rest:
        try:
            call.phone.files.place(path).mkdir(parents="-p" in given.switches, exist_ok="-p" in given.switches)
        except OSError as error:
            await call.complain(f"mkdir: '{path}': {error.strerror}")
            return 1
    return 0


async def _sha256sum(call: Call) -> int:
    return await _of_each(call, lambda path, data: f"{hashlib.sha256(data).hexdigest()}  {path}\n".encode())


async def _date(call: Call) -> int:
    shape = call.word(0)
    moment = call.phone.clock.moment
    await call.say(moment.strftime(shape[1:] if shape.startswith("+") else "%a %b %e %H:%M:%S UTC %Y"))
    return 0


async def _sleep(call: Call) -> int:
    try:
        await asyncio.sleep(float(call.word(0)))
    except ValueError:
        await call.complain(f"sleep: bad number '{call.word(0)}'")
        return 1
    return 0


async def _id(call: Call) -> int:
    await call.say("uid=0(root) gid=0(root) groups=0(root)")
    return 0


async def _true(call: Call) -> int:
    del call
    return 0


async def _false(call: Call) -> int:
    del call
    return 1


async def _basename(call: Call) -> int:
    await call.say(posixpath.basename(call.word(0)))
    return 0


FILE_COMMANDS: Commands = {
    "basename": _basename,
    "cat": _cat,
    "date": _date,
    "echo": _echo,
    "false": _false,
    "id": _id,
    "ls": _ls,
    "mkdir": _mkdir,
    "rm": _rm,
    "sha256sum": _sha256sum,
    "sleep": _sleep,
    "true": _true,
}
