"""Programs that change files: which of their words they change, and whether those belong to the work.

Knows nothing of programs that change the machine in other ways.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pipeline.safety.places import UNKNOWN, place_of
from pipeline.words import Consequence


class Call(NamedTuple):
    """A program, what it is given, and the folder it is called in."""

    name: str
    arguments: Sequence[str]
    folder: str


class Effect(NamedTuple):
    """What comes about, and whether it reaches beyond the work."""

    kind: Consequence
    reaches_machine: bool


def operands(arguments: Sequence[str], valued: str = "", names: Iterable[str] = ()) -> list[str]:
    """What is no option and no value of one; `valued` are letters, and `names` long options, with a value."""
    found: list[str] = []
    at = 0
    while at < len(arguments):
        word = arguments[at]
        at += 1
        if word == "--":
            return [*found, *arguments[at:]]
        if not word.startswith("-") or word == "-":
            found.append(word)
        elif word in names or (not word.startswith("--") and word[-1] in valued):
            at += 1
    return found


def value_of(arguments: Sequence[str], letter: str, *names: str) -> str | None:
    """The value of an option, in one word with it or in the next."""
    for at, word in enumerate(arguments):
        if word in names or re.fullmatch(rf"-\w*{letter}", word):
            return arguments[at + 1] if at + 1 < len(arguments) else UNKNOWN
        joined = next((word[len(name) + 1 :] for name in names if word.startswith(name + "=")), None)
        if joined is not None:
            return joined
        if word.startswith(f"-{letter}") and not word.startswith("--"):
            return word[2:]
    return None


def outside(call: Call, paths: Iterable[str], *, whole: bool = True) -> bool:
    """Whether a path does not belong to the work; `whole` where all of the work at once does not either."""
    places = {place_of(path, call.folder) for path in paths}
    return bool({"outside", "starting"} & places) or (whole and "whole" in places)


def written_effect(call: Call) -> Effect | None:
    """What a program does to files; nothing for a change within the work that can be put right."""
    writer = _WRITERS.get(call.name)
    return writer(call) if writer is not None else None


def is_writer(name: str) -> bool:
    """Whether it is known what a program does to files."""
    return name in _WRITERS


def _deletes(call: Call) -> Effect | None:
    paths = operands(call.arguments, "ns" if call.name == "shred" else "")
    gone = outside(call, paths) or any(place_of(path, call.folder) == "sink" for path in paths)
    return Effect("delete", gone) if paths else None


def _onto(valued: str = "") -> Callable[[Call], Effect | None]:
    """A program whose last operand, or the folder that an option names, is written to."""

    def effect(call: Call) -> Effect | None:
        folder = value_of(call.arguments, "t", "--target-directory")
        paths = operands(call.arguments, valued + "tS", ("--target-directory", "--suffix"))
        targets = [folder] if folder is not None else paths[-1:]
        return Effect("overwrite", True) if outside(call, targets, whole=False) else None

    return effect


def _moves(call: Call) -> Effect | None:
    paths = operands(call.arguments, "tS", ("--target-directory", "--suffix"))
    folder = value_of(call.arguments, "t", "--target-directory")
    moved, targets = (paths, [folder]) if folder is not None else (paths[:-1], paths[-1:])
    lost = outside(call, moved) or outside(call, targets, whole=False)
    return Effect("overwrite", True) if lost or "/dev/null" in paths else None


def _each(
    kind: Consequence = "overwrite", *, skip: int = 0, whole: bool = False, valued: str = ""
) -> Callable[[Call], Effect | None]:
    """A program that changes each of its operands, after the first few."""

    def effect(call: Call) -> Effect | None:
        paths = operands(call.arguments, valued, ("--reference", "--size", "--date"))[skip:]
        return Effect(kind, True) if outside(call, paths, whole=whole) else None

    return effect


def _second(call: Call) -> Effect | None:
    return Effect("overwrite", True) if outside(call, operands(call.arguments, "fsw")[1:], whole=False) else None


def _to_named(call: Call) -> Effect | None:
    target = value_of(call.arguments, "o", "--output")
    runs = any(word.startswith("--compress-prog") for word in call.arguments)
    return Effect("overwrite", True) if runs or (target and outside(call, [target], whole=False)) else None


_REPLACING = re.compile(r"s([^\w\s\\])(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1")


def _edits_stream(call: Call) -> Effect | None:
    """`sed`: what it edits in place, and scripts that write or run."""
    in_place = any(re.match(r"-[nErsuz]*i|--in-place", word) for word in call.arguments)
    words = operands(call.arguments, "efl", ("--expression", "--file"))
    given = any(re.match(r"-\w*[ef]$|--expression|--file", word) for word in call.arguments)
    scripts = [_REPLACING.sub("s", word) for word in call.arguments if not word.startswith("-")]
    acts = any(re.search(r"(?:^|[;{}/$\d,|#s])\s*[gpiIM\d]*[ewW](?:\s|$)", script) for script in scripts)
    if acts or (in_place and outside(call, words if given else words[1:])):
        return Effect("run" if acts else "overwrite", True)
    return None


def _awk(call: Call) -> Effect | None:
    """Scripts of `awk` that run programs, or write to files that are not named in them or lie elsewhere."""
    text = "\n".join(call.arguments)
    if re.search(r"system\s*\(|\|\s*&?\s*[\w\"(]|\"\s*\|\s*getline|@load|inplace", text.replace("||", "")):
        return Effect("run", True)
    targets = re.findall(r"print[^;}]*>\s*\"([^\"]*)\"", text)
    return Effect("overwrite", True) if outside(call, targets, whole=False) else None


def _copies_blocks(call: Call) -> Effect | None:
    targets = [word[3:] for word in call.arguments if word.startswith("of=")]
    return Effect("uninstall", True) if outside(call, targets) else None


_PACKING = re.compile(r"-?[A-Za-z]*[cruA][A-Za-z]*|--(?:create|append|update|delete|concatenate)")
_ABSOLUTE = re.compile(r"-?[a-zA-Z]*[ctxru][a-zA-Z]*P[a-zA-Z]*|-[a-zA-Z]*P[a-zA-Z]*|--absolute-names")
_RUNNING = (
    "--to-command",
    "--checkpoint-action",
    "--use-compress-program",
    "--rsh-command",
    "-I",
    "--info-script",
    "-F",
)


def _packs(call: Call) -> Effect | None:
    """`tar`: the archive it makes, or the folder it unpacks into."""
    words = call.arguments
    if any(word.startswith(_RUNNING) for word in words) or any(map(_ABSOLUTE.fullmatch, words)):
        return Effect("run", True)
    targets = [value for value in [value_of(words, "C", "--directory")] if value is not None]
    makes = any(_PACKING.fullmatch(word) for word in words[:1]) or any(
        _PACKING.fullmatch(word) for word in words if word.startswith("-")
    )
    if makes:
        bundled = bool(words) and not words[0].startswith("-") and "f" in words[0]
        archive = words[1] if bundled and len(words) > 1 else value_of(words, "f", "--file")
        targets = [archive] if archive not in (None, "-") else []
    removes = "--remove-files" in words and outside(call, operands(words, "fC"))
    return Effect("overwrite", True) if removes or outside(call, targets, whole=False) else None


def _zips(call: Call) -> Effect | None:
    runs = any(word.startswith(("-TT", "--unzip-command")) for word in call.arguments)
    moves = any(re.fullmatch(r"-\w*m\w*|--move", word) for word in call.arguments)
    paths = operands(call.arguments, "xibn")
    return Effect("overwrite", True) if runs or outside(call, paths if moves else paths[:1], whole=moves) else None


def _unzips(call: Call) -> Effect | None:
    target = value_of(call.arguments, "d")
    asks = any(re.fullmatch(r"-[lptvzZ]\w*", word) for word in call.arguments)
    away = target is not None and outside(call, [target], whole=False)
    return Effect("overwrite", True) if away or ("-:" in call.arguments and not asks) else None


def _compresses(call: Call) -> Effect | None:
    if any(re.fullmatch(r"-\w*[clt]\w*|--(?:stdout|list|test|to-stdout)", word) for word in call.arguments):
        return None
    return _each(whole=True, valued="S")(call)


def _synchronises(call: Call) -> Effect | None:
    paths = operands(call.arguments, "eBfMT", ("--exclude", "--include", "--rsh", "--files-from"))
    if any(":" in path for path in paths):
        return Effect("send", True)
    if any(re.match(r"-\w*e|--rsh|--rsync-path|--daemon", word) for word in call.arguments):
        return Effect("run", True)
    if {"-n", "--dry-run"} & set(call.arguments):
        return None
    empties = any(word.startswith(("--del", "--remove-source")) for word in call.arguments)
    gone = outside(call, paths if empties else paths[-1:], whole=empties)
    return Effect("overwrite", True) if gone else None


def _edits(call: Call) -> Effect | None:
    """An editor, whose commands are not read."""
    if any(re.match(r"-\w*[cS]$|--cmd|\+.|--eval|--load", word) for word in call.arguments):
        return Effect("run", True)
    return _each(whole=False)(call)


_EDITORS = ("code", "ed", "emacs", "ex", "gedit", "kate", "micro", "mousepad", "nano", "nvim", "pico", "vi", "vim")
_WRITERS: dict[str, Callable[[Call], Effect | None]] = {
    **dict.fromkeys(("rm", "rmdir", "shred", "srm", "unlink", "wipe", "trash", "trash-put"), _deletes),
    "cp": _onto(),
    "install": _onto("gmo"),
    "mv": _moves,
    "rename": _each(skip=1),
    "ln": _each(valued="tS"),
    **dict.fromkeys(("tee", "mkdir", "mkfifo", "mknod"), _each(valued="m")),
    "touch": _each(valued="drt"),
    "truncate": _each(valued="rs", whole=True),
    "fallocate": _each(valued="lo", whole=True),
    "split": _second,
    "csplit": _each(valued="bfn"),
    "uniq": _second,
    **dict.fromkeys(("sort", "tree", "iconv", "less"), _to_named),
    **dict.fromkeys(("xxd", "pdftotext"), _second),
    "sed": _edits_stream,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    "dd": _copies_blocks,
    **dict.fromkeys(("chmod", "chown", "chgrp", "chattr"), _each("grant", skip=1, whole=True)),
    "setfacl": _each("grant", whole=True, valued="mxM"),
    "setcap": _each("grant", whole=True),
    "tar": _packs,
    "zip": _zips,
    "unzip": _unzips,
    **dict.fromkeys(("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "compress"), _compresses),
    "rsync": _synchronises,
    "patch": _each(whole=False, valued="dipo"),
    **dict.fromkeys(_EDITORS, _edits),
}
