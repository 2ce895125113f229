"""What a line typed into a terminal would do to the machine, to files outside the work, or to others.

Judges every simple command of the line, also those inside substitutions, loops, other shells and programs that run one.
What belongs to the work are paths below the session's home; everything else that is changed, everything unknown that is
run with more rights, and whatever cannot be read reaches the machine. Knows nothing of screens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pipeline.safety.places import SOMEWHERE, UNKNOWN, place_of
from pipeline.safety.programs import is_known, machine_effect, only_looks
from pipeline.safety.running import curl_effect, git_effect, interpreter_of, run_effect, script_effect, wget_effect
from pipeline.safety.shell import Redirection, Simple, simples
from pipeline.safety.shell_words import Unreadable
from pipeline.safety.wrapping import Unwrapped, unwrapped
from pipeline.safety.writing import Call, Effect, is_writer, operands, outside, value_of, written_effect
from pipeline.words import Consequence

_PROMPT = re.compile(r"\s*(?:[^\s@'\"`$]+@[\w.-]+:[^\s'\"`$;&|()]*[$#%]|(?:ba|da|z)?sh-[\d.]+[$#%]|[#%]|\$(?=\s))\s*")
"""A shell's own words before what is typed, which a screen may show without the gap; a remark is read as well."""
_SHELLS = frozenset({"ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "sh", "tcsh", "zsh"})
_OPAQUE = frozenset({"entr", "expect", "fc", "gdb", "hyperfine", "parallel", "screen", "tmux"})
"""Run what they are told, in ways that are not read."""
_PROGRAMS = re.compile(r"/(?:usr/|system/|snap/)?(?:local/)?(?:s?bin|games|xbin)/[^/]+")
_DATABASE_LOSS = re.compile(
    r"\b(?:drop\s+(?:database|schema|table)|truncate\s+table|delete\s+from\s+\S+\s*(?:[;'\"]|$))", re.IGNORECASE
)
_FORK_BOMB = re.compile(r":\s*\(\s*\)\s*\{.*:\s*\|")
_FILTERS = frozenset(
    {"-empty", "-iname", "-ipath", "-iregex", "-mmin", "-mtime", "-name", "-newer", "-path", "-regex", "-size"}
)
_OTHERWISE = frozenset({"!", "-not", "-o", "-or", ","})
"""With these `find` may mean everything after all."""
_PASSING = frozenset({"grep", "head", "sort", "tail", "uniq"})
_LISTING = frozenset({"echo", "fd", "grep", "ls", "printf", "rg"})


class Command(NamedTuple):
    """What a line does: the name of a class of consequence, and the words that show it."""

    kind: Consequence
    words: str
    reaches_machine: bool
    """Whether it reaches beyond the files that the work is about."""


def command_in(line: str, folder: str = SOMEWHERE) -> Command | None:
    """The gravest thing a line does, if it does anything of consequence.

    `folder` is where the shell stands, as its prompt says it: `~/Documents`, `/etc`.
    """
    prompt = _PROMPT.match(line)
    found = list(_read(line[prompt.end() :] if prompt is not None else line, folder, 0))
    return max(found, key=lambda command: (command.reaches_machine, command.kind != "run"), default=None)


def _read(line: str, folder: str, depth: int) -> Iterator[Command]:
    if _FORK_BOMB.search(line):
        yield Command("system", line, True)
    if _DATABASE_LOSS.search(line):
        yield Command("delete", line, True)
    try:
        for simple in simples(line, folder, depth):
            yield from _of(simple, depth)
    except Unreadable:
        yield Command("run", line, True)


def _of(simple: Simple, depth: int) -> Iterator[Command]:
    said = " ".join(simple.words).replace(UNKNOWN, "...")
    for redirection in simple.redirections:
        yield from _redirected(redirection, simple.folder, said)
    inner = unwrapped(simple.words)
    if not inner.words:
        if inner.privileged:
            raise Unreadable("rights for whatever comes")
        return
    if inner.items:
        inner = _with_items(inner, simple)
    if UNKNOWN in inner.words[0]:
        raise Unreadable("a program that is not known")
    said = " ".join(inner.words).replace(UNKNOWN, "...")
    yield from _called(simple._replace(words=inner.words), inner.privileged, said, depth)


def _redirected(redirection: Redirection, folder: str, said: str) -> Iterator[Command]:
    operator, target = redirection
    if ">" not in operator:
        return
    if re.match(r"/dev/(?:tcp|udp)/", target):
        yield Command("send", f"{said} {operator} {target}", True)
    elif place_of(target, folder) in ("outside", "starting"):
        yield Command("overwrite", f"{said} {operator} {target}".replace(UNKNOWN, "..."), True)


def _called(simple: Simple, privileged: bool, said: str, depth: int) -> Iterator[Command]:
    """What a program does that is called without anything around it."""
    first, arguments = simple.words[0], simple.words[1:]
    if "/" in first and not _PROGRAMS.fullmatch(_straight(first)):
        yield Command("run", said, privileged or place_of(first, simple.folder) not in ("inside", "starting"))
        return
    call = Call(first.rsplit("/", 1)[-1], arguments, simple.folder)
    if arguments in (("--help",), ("--version",)):
        return
    line = _LINES.get(call.name)
    if line is not None or call.name in _SHELLS:
        text = line(arguments) if line is not None else _shell_line(arguments)
        if text is not None:
            yield from _read(text, simple.folder, depth + 1)
            return
    if call.name in ("find", "adb"):
        yield from (_found if call.name == "find" else _on_phone)(simple, said, depth)
        return
    effect = _effect(call, simple, privileged=privileged)
    if effect is not None:
        yield Command(effect.kind, said, effect.reaches_machine or (privileged and effect.kind == "run"))


def _straight(path: str) -> str:
    """An absolute path of a program without detours."""
    while re.search(r"/[^/]+/\.\./|/\./|//", path):
        path = re.sub(r"/(?!\.\./)[^/]+/\.\./|/\./|//", "/", path, count=1)
    return path


def _effect(call: Call, simple: Simple, *, privileged: bool) -> Effect | None:
    fed = simple.piped or any("<" in one.operator for one in simple.redirections)
    if call.name in _SHELLS:
        here = next((one.target for one in simple.redirections if one.operator.startswith("<")), "")
        return run_effect(call, operands(call.arguments, "oO"), fed=fed or bool(here))
    if call.name in ("source", "."):
        return run_effect(call, call.arguments, fed=True)
    if interpreter_of(call.name):
        return _interpreted(call, fed=fed)
    reader = _READING.get(call.name)
    if reader is not None:
        return reader(call)
    if is_writer(call.name):
        return written_effect(call)
    effect = machine_effect(call)
    if effect is not None or only_looks(call.name) or is_known(call.name):
        return effect
    return _unknown(call, privileged=privileged)


def _interpreted(call: Call, *, fed: bool) -> Effect | None:
    """An interpreter; `python -m pip` is the installer."""
    module = value_of(call.arguments, "m") if interpreter_of(call.name) == "python" else None
    if module in ("pip", "pipx", "uv", "conda"):
        at = list(call.arguments).index(module) if module in call.arguments else 0
        return machine_effect(call._replace(name=module, arguments=call.arguments[at + 1 :]))
    return script_effect(call, fed=fed)


def _unknown(call: Call, *, privileged: bool) -> Effect | None:
    """A program that is not known: harmless as long as it has no more rights and no path outside the work."""
    if call.name in _OPAQUE or call.name.startswith(("ld-linux", "ld.so")):
        return Effect("run", True) if call.arguments else None
    paths = [word.partition("=")[2] if word.startswith("-") else word for word in call.arguments]
    rooted = [path for path in paths if path.startswith(("/", "~")) or ".." in path.split("/")]
    return Effect("run", True) if privileged or outside(call, rooted) else None


_READING: dict[str, Callable[[Call], Effect | None]] = {"curl": curl_effect, "git": git_effect, "wget": wget_effect}


def _shell_line(arguments: Sequence[str]) -> str | None:
    """What stands after `-c` of a shell."""
    valued = False
    for at, word in enumerate(arguments):
        if valued:
            valued = False
            continue
        valued = word in ("-o", "+o", "-O", "+O", "--init-file", "--rcfile")
        if re.fullmatch(r"-\w*c\w*", word):
            rest = [one for one in arguments[at + 1 :] if not one.startswith("-")]
            return rest[0] if rest else UNKNOWN
        if not word.startswith(("-", "+")):
            return None
    return None


def _command_option(arguments: Sequence[str]) -> str | None:
    return value_of(arguments, "c", "--command")


def _watched(arguments: Sequence[str]) -> str:
    return " ".join(operands(arguments, "n", ("--interval",)))


def _trapped(arguments: Sequence[str]) -> str:
    return "".join(operands(arguments)[:1])


def _aliased(arguments: Sequence[str]) -> str:
    return "\n".join(word.partition("=")[2] for word in arguments)


_LINES: dict[str, Callable[[Sequence[str]], str | None]] = {
    "alias": _aliased,
    "eval": " ".join,
    "runuser": _command_option,
    "script": _command_option,
    "su": _command_option,
    "trap": _trapped,
    "watch": _watched,
}
"""Programs that read a line of a shell, and where it stands among their words."""


def _found(simple: Simple, said: str, depth: int) -> Iterator[Command]:
    """What `find` does with what it finds."""
    words, call = simple.words[1:], Call("find", simple.words[1:], simple.folder)
    things = _findings(words)
    if "-delete" in words:
        yield Command("delete", said, outside(call, things))
    for at, word in enumerate(words):
        if word in ("-fprint", "-fprint0", "-fls", "-fprintf") and outside(call, words[at + 1 : at + 2], whole=False):
            yield Command("overwrite", said, True)
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            yield from _of(simple._replace(words=_filled(words[at + 1 :], things), redirections=()), depth)


def _findings(words: Sequence[str]) -> list[str]:
    """Paths that stand for what `find` finds: where it starts, or something below when it looks for something."""
    starts: list[str] = []
    for word in words:
        if word.startswith(("-", "(", "!")) and word not in ("-L", "-H", "-P"):
            break
        starts += [] if word.startswith("-") else [word]
    below = "/found" if _FILTERS & set(words) and not _OTHERWISE & set(words) else ""
    return [start + below for start in starts or ["."]]


def _filled(words: Sequence[str], things: Sequence[str]) -> tuple[str, ...]:
    """The words of `-exec`, with what was found in its place."""
    end = next((at for at, word in enumerate(words) if word in (";", "+")), len(words))
    filled = [word.replace("{}", thing) for word in words[:end] for thing in (things if "{}" in word else [""])]
    return tuple(filled)


def _with_items(inner: Unwrapped, simple: Simple) -> Unwrapped:
    """The words of `xargs`, with what it reads."""
    items = _items(simple.fed)
    words = [word.replace("{}", item) for word in inner.words for item in (items if "{}" in word else [""])]
    return inner._replace(words=tuple([*words, *items]))


def _items(fed: Sequence[Sequence[str]]) -> list[str]:
    """Paths that stand for the lines that a pipe gives."""
    for words in reversed(fed):
        told = operands(words[1:], "n")
        if not words or (words[0] in _PASSING and len(told) <= (words[0] == "grep")):
            continue
        if words[0] == "find":
            return _findings(words[1:])
        if words[0] in _LISTING:
            return [one if words[0] in ("echo", "printf") else f"{one}/found" for one in told] or ["*"]
        break
    return [UNKNOWN]


def _on_phone(simple: Simple, said: str, depth: int) -> Iterator[Command]:
    """What `adb` does, and what it gives to the phone's shell: nothing there belongs to the work."""
    words = list(simple.words[1:])
    verbs = operands(words, "sHPLt")
    if verbs[:1] not in (["shell"], ["exec-out"]):
        effect = machine_effect(Call("adb", words, simple.folder))
        if effect is not None:
            yield Command(effect.kind, said, True)
        return
    at = words.index(verbs[0])
    if not words[at + 1 :]:
        yield Command("run", said, True)
    for command in _read(" ".join(words[at + 1 :]), simple.folder, depth + 1):
        yield command._replace(words=said, reaches_machine=True)
