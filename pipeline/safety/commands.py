"""What a line typed into a terminal would do to the machine, to files outside the work, or to others.

A rough reading on purpose: the words of each simple command, through pipes, lists, `sudo`, `sh -c` and `xargs`. A line
that cannot be split into words is taken for one that runs something. Knows nothing of screens.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from pipeline.words import Consequence

_WRAPPERS = frozenset({"command", "doas", "env", "exec", "nice", "nohup", "pkexec", "setsid", "sudo", "time", "xargs"})
_SHELLS = frozenset({"bash", "dash", "fish", "ksh", "sh", "zsh"})
_POWER = frozenset({"halt", "poweroff", "reboot", "shutdown", "init", "telinit", "kexec"})
_INSTALLERS = frozenset(
    {"apt", "apt-get", "dnf", "dpkg", "flatpak", "gem", "npm", "pacman", "pip", "pip3", "rpm", "snap", "yum"}
)
_DISKS = frozenset({"blkdiscard", "dd", "fdisk", "mkfs", "mkswap", "parted", "sfdisk", "shred", "wipefs"})
_OUTWARD = frozenset(
    {"ftp", "mail", "mutt", "nc", "ncat", "netcat", "rclone", "rsync", "scp", "sendmail", "sftp", "ssh", "telnet"}
)
_ACCOUNTS = frozenset({"adduser", "chpasswd", "deluser", "passwd", "useradd", "userdel", "usermod", "visudo"})
_NETWORK = frozenset({"ifconfig", "ip", "iptables", "nft", "nmcli", "rfkill", "setenforce", "ufw"})
_INTERPRETERS = frozenset({"node", "perl", "php", "python", "python3", "ruby", "source", "."})
_GONE = frozenset({"autoremove", "erase", "purge", "remove", "uninstall", "-R", "-r", "-e"})
_COME = frozenset({"-i", "-S", "-U", "add", "dist-upgrade", "full-upgrade", "install", "upgrade"})
_ASKING = frozenset({"-L", "-l", "--list", "a", "addr", "get", "is-active", "link", "list", "route", "show", "status"})
_SENDING = ("-d", "-F", "-T", "--data", "--form", "--post-data", "--post-file", "--upload-file")
_DATABASE_LOSS = re.compile(
    r"\b(?:drop\s+(?:database|schema|table)|truncate\s+table|delete\s+from\s+\S+\s*(?:;|$))", re.IGNORECASE
)
_TRYING = frozenset({"--dry-run", "--simulate", "--just-print", "--help", "--version"})
"""What makes a program say what it would do."""
_FORK_BOMB = re.compile(r":\s*\(\s*\)\s*\{.*:\s*\|")
_SYSTEM_FOLDERS = (
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/opt",
    "/proc",
    "/root",
    "/sbin",
    "/sys",
    "/system",
    "/usr",
    "/var",
)
_DEVICE = re.compile(r"^(?:/dev/(?:sd|hd|vd|nvme|mmcblk|disk|mapper)|/dev/block)")


class Command(NamedTuple):
    """What a line does: the name of a class of consequence, and the words that show it."""

    kind: Consequence
    words: str
    reaches_machine: bool
    """Whether it reaches beyond the files that the work is about."""


def command_in(line: str) -> Command | None:
    """The gravest thing a line does, if it does anything of consequence."""
    found = list(_read(line, depth=0))
    return max(found, key=lambda command: (command.reaches_machine, command.kind != "run"), default=None)


def _read(line: str, depth: int) -> Iterator[Command]:
    if _FORK_BOMB.search(line):
        yield Command("system", line, True)
    if _DATABASE_LOSS.search(line):
        yield Command("delete", line, True)
    try:
        words = list(shlex.shlex(line, posix=True, punctuation_chars="();<>|&\n"))
    except ValueError:
        yield Command("run", line, True)
        return
    for simple, piped in _simple(words):
        if not _TRYING & set(simple):
            yield from _of(simple, piped, depth)


def _simple(words: Sequence[str]) -> Iterator[tuple[list[str], bool]]:
    """Each simple command, and whether it reads from the one before."""
    current: list[str] = []
    piped = False
    for word in [*words, ";"]:
        if set(word) <= set(";|&()\n{}"):
            if current:
                yield current, piped
            current, piped = [], word == "|"
        else:
            current.append(word)


def _of(words: list[str], piped: bool, depth: int) -> Iterator[Command]:
    while words and (words[0] in _WRAPPERS or re.match(r"^\w+=", words[0]) or words[0].startswith("-")):
        words = words[1:]
    if not words:
        return
    name, arguments = PurePosixPath(words[0]).name, words[1:]
    said = " ".join(words)
    if name in _SHELLS and "-c" in arguments and depth < 3:
        yield from _read(" ".join(arguments[arguments.index("-c") + 1 :]), depth + 1)
        return
    if name in _SHELLS and piped:
        yield Command("run", said, True)
    if words[0].startswith(("./", "../", "~/", "/tmp/", "/home/")):
        yield Command("run", said, False)
        return
    yield from _ruled(name, arguments, said)


def _ruled(name: str, arguments: Sequence[str], said: str) -> Iterator[Command]:
    program = "mkfs" if name.startswith("mkfs") else name
    for rule in _RULES:
        if program in rule.names and rule.when(arguments):
            yield Command(rule.kind, said, rule.reaches_machine)
            break
    target = next((arguments[at + 1] for at, word in enumerate(arguments[:-1]) if word in (">", ">>")), "")
    if target and (_DEVICE.match(target) or _of_system(target)):
        yield Command("overwrite", said, True)


def _of_system(path: str) -> bool:
    """Whether a path is a folder of the system, or everything in one."""
    if path in ("~", "$HOME", "~/", "~/*", "$HOME/", "$HOME/*", "*", ".", "..", "./*"):
        return True
    whole = path.rstrip("*").rstrip("/") or "/"
    if whole == "/home":
        return True
    return whole in _SYSTEM_FOLDERS or any(
        whole.startswith(folder + "/") for folder in _SYSTEM_FOLDERS if folder != "/"
    )


class _Rule(NamedTuple):
    """A class of consequence, whether it reaches the machine, and the programs that bring it about."""

    kind: Consequence
    reaches_machine: bool
    names: frozenset[str]
    when: Callable[[Sequence[str]], bool] = bool


def _always(arguments: Sequence[str]) -> bool:
    del arguments
    return True


def _with(*words: str) -> Callable[[Sequence[str]], bool]:
    return lambda arguments: bool(set(words) & set(arguments))


def _without(*words: str) -> Callable[[Sequence[str]], bool]:
    return lambda arguments: not set(words) & set(arguments)


def _changes(arguments: Sequence[str]) -> bool:
    """Whether a program is told to do something, not only asked how things are."""
    verbs = [word for word in arguments if not word.startswith("-") or word in _ASKING]
    return bool(verbs) and verbs[0] not in _ASKING and verbs[-1] not in _ASKING


def _sends(arguments: Sequence[str]) -> bool:
    return any(word.startswith(_SENDING) for word in arguments)


def _on_system(arguments: Sequence[str]) -> bool:
    return any(map(_of_system, arguments))


def _onto_system(arguments: Sequence[str]) -> bool:
    return any(map(_of_system, arguments[-1:]))


def _given(arguments: Sequence[str]) -> bool:
    return any(not word.startswith("-") for word in arguments)


_RULES = (
    _Rule("delete", True, frozenset({"rm", "rmdir", "unlink"}), _on_system),
    _Rule("delete", False, frozenset({"rm", "rmdir", "unlink"})),
    _Rule("delete", False, frozenset({"find"}), _with("-delete")),
    _Rule("system", True, _POWER, _always),
    _Rule("system", True, frozenset({"gsettings", "service", "setprop", "settings", "svc", "systemctl"}), _changes),
    _Rule("uninstall", True, _DISKS),
    _Rule("uninstall", True, _INSTALLERS, _with(*_GONE)),
    _Rule("run", True, _INSTALLERS, _with(*_COME)),
    _Rule("uninstall", True, frozenset({"adb", "cmd", "pm"}), _with("uninstall", "clear")),
    _Rule("credential", True, _ACCOUNTS, _always),
    _Rule("system", True, _NETWORK, _changes),
    _Rule("system", True, frozenset({"kill", "killall", "pkill"}), _with("-1", "1", "init")),
    _Rule("grant", True, frozenset({"chattr", "chmod", "chown"}), _on_system),
    _Rule("system", True, frozenset({"crontab"}), _without("-l")),
    _Rule("push", True, frozenset({"git"}), _with("push")),
    _Rule("overwrite", True, frozenset({"cp", "ln", "mv", "tee", "truncate"}), _onto_system),
    _Rule("send", True, _OUTWARD),
    _Rule("upload", True, frozenset({"curl", "wget"}), _sends),
    _Rule("run", False, _INTERPRETERS | _SHELLS, _given),
)
