"""Programs that run a script, fetch or send something, or keep versions, and what that means for the work.

Code that stands on the line is not read, except where it only computes: it reaches the machine. A script that lies in
the work stays within it. Knows no grammar of shells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.safety.places import place_of
from pipeline.safety.writing import Call, Effect, operands, outside, value_of

_CODE = {
    "python": r"-[A-Za-z]*c.*",
    "perl": r"-\w*[eE].*",
    "ruby": r"-\w*e.*",
    "node": r"-[ep]+|--eval.*|--print.*",
    "deno": r"eval",
    "php": r"-[rRBE].*",
    "lua": r"-e.*",
    "luajit": r"-e.*",
    "Rscript": r"-e.*",
    "tclsh": r"-c",
    "osascript": r"-e.*",
    "pwsh": r"-\w*[cC].*",
    "java": r"-XX:On.*",
}
_ALLOWED = (
    "abs bool date datetime divmod float for from if else import in int join json len list lower math max min not "
    "now pi pow print range replace reversed round set sorted split sqrt str strftime strip sum today upper and or"
)
_COMPUTING = frozenset(_ALLOWED.split())
"""What code that only computes is made of."""
_SERVING = frozenset({"http.server", "pydoc", "smtpd", "jupyter", "notebook", "xmlrpc"})
_METHODS = frozenset({"get", "head", "options"})


def interpreter_of(name: str) -> str | None:
    """The language of an interpreter, whatever its version."""
    plain = re.sub(r"[\d.]+$", "", name)
    return {"pypy": "python", "nodejs": "node"}.get(plain, plain if plain in _CODE else None)


def script_effect(call: Call, *, fed: bool) -> Effect | None:
    """What an interpreter is made to run; nothing where it waits for what is typed."""
    language = interpreter_of(call.name) or ""
    for at, word in enumerate(call.arguments):
        if re.fullmatch(_CODE[language], word):
            code = "".join(call.arguments[at + 1 : at + 2])
            return None if language == "python" and word == "-c" and _computes(code) else Effect("run", True)
        if language == "python" and re.fullmatch(r"-[A-Za-z]*m", word):
            module = "".join(call.arguments[at + 1 : at + 2])
            return Effect("share", True) if module in _SERVING else Effect("run", False)
        if not word.startswith("-"):
            break
    return run_effect(
        call, operands(call.arguments, {"python": "WX", "node": "r", "perl": "IM"}.get(language, "")), fed=fed
    )


def run_effect(call: Call, paths: Sequence[str], *, fed: bool) -> Effect | None:
    """A script by its path, or what is fed in."""
    if paths and paths[0] != "-":
        return Effect("run", place_of(paths[0], call.folder) not in ("inside", "starting"))
    if fed:
        return Effect("run", True)
    return None


def _computes(code: str) -> bool:
    """Whether code only computes and prints."""
    bare = re.sub(r"'[^'\\]*'|\"[^\"\\]*\"", " ", code)
    return "\\" not in code and set(re.findall(r"[^\W\d]\w*", bare)) - _local(bare) <= _COMPUTING


def _local(code: str) -> set[str]:
    """Variables of one letter."""
    return set(re.findall(r"\b[a-z]\b", code))


_CURL_VALUED = "AbCcDdEeFHhKmoPQrTtUuwXxYyz"


def curl_effect(call: Call) -> Effect | None:
    """What `curl` sends, or where it puts what it fetches."""
    options = list(_curl_options(call.arguments))
    for option, value in options:
        if re.fullmatch(r"[dFT]|data.*|form.*|upload-file|json|mail-.*|url-query", option):
            return Effect("upload", True)
        if option in ("X", "request") and value.casefold() not in _METHODS:
            return Effect("upload", True)
        if option in ("K", "config", "Q", "quote"):
            return Effect("run", True)
    targets = [
        value
        for option, value in options
        if option
        in ("o", "output", "output-dir", "D", "dump-header", "c", "cookie-jar", "trace", "trace-ascii", "stderr")
    ]
    return Effect("overwrite", True) if outside(call, [one for one in targets if one != "-"], whole=False) else None


def _curl_options(arguments: Sequence[str]) -> list[tuple[str, str]]:
    """Options and their values, of bundled letters too."""
    found: list[tuple[str, str]] = []
    for at, word in enumerate(arguments):
        after = "".join(arguments[at + 1 : at + 2])
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
            found.append((name, value or after))
        elif word.startswith("-"):
            for place, letter in enumerate(word[1:], start=1):
                found.append((letter, word[place + 1 :] or after))
                if letter in _CURL_VALUED:
                    break
    return found


def wget_effect(call: Call) -> Effect | None:
    """What `wget` sends, or where it puts what it fetches."""
    method = value_of(call.arguments, "\b", "--method")
    if any(word.startswith(("--post", "--body")) for word in call.arguments) or (
        method is not None and method.casefold() not in _METHODS
    ):
        return Effect("upload", True)
    if any(word.startswith(("-e", "--execute", "--use-askpass", "--config")) for word in call.arguments):
        return Effect("run", True)
    targets = [
        value_of(call.arguments, letter, name)
        for letter, name in (("O", "--output-document"), ("P", "--directory-prefix"), ("o", "--output-file"))
    ]
    away = outside(call, [one for one in targets if one not in (None, "-")], whole=False)
    return Effect("overwrite", True) if away else None


_RUNS_IN_GIT = re.compile(
    r"(?:alias|core\.(?:pager|editor|hookspath|fsmonitor|sshcommand|askpass)|pager|.*\.(?:driver|textconv|clean|smudge"
    r"|process|helper|cmd|program|command))(?:\.|$)",
    re.IGNORECASE,
)


def git_effect(call: Call) -> Effect | None:
    """What `git` sends to others, takes from the work, or writes elsewhere."""
    words, folder = list(call.arguments), call.folder
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option.startswith(("-c", "--exec-path", "--config-env")):
            return Effect("run", True)
        if option in ("-C", "--git-dir", "--work-tree", "--namespace") and words:
            folder = words.pop(0)
    verb, told = (words[0], words[1:]) if words else ("", [])
    if verb in ("push", "send-email", "svn", "p4") and not {"-n", "--dry-run"} & set(told):
        return Effect("push", True)
    if _runs(verb, told):
        return Effect("run", True)
    here = place_of(".", folder) != "outside" and folder == call.folder
    if _loses(verb, told):
        return Effect("delete", not here and place_of(folder, call.folder) == "outside")
    return _put(call, verb, told)


def _runs(verb: str, told: Sequence[str]) -> bool:
    """Whether a verb runs programs that it is told, or is to run them later."""
    if verb == "config":
        return "--system" in told or any(_RUNS_IN_GIT.match(word) or word.startswith("!") for word in told)
    if verb in ("bisect", "submodule"):
        return bool({"run", "foreach"} & set(told[:2]))
    runs = any(re.match(r"-x|--exec|--extcmd|-O|--open-files|--upload-pack|--receive-pack", word) for word in told)
    return verb == "filter-branch" or (runs and verb in ("rebase", "difftool", "grep", "clone", "fetch", "pull"))


def _loses(verb: str, told: Sequence[str]) -> bool:
    """Whether a verb takes away what was not kept."""
    given = set(told)
    return (
        (verb == "clean" and not {"-n", "--dry-run"} & given and any(word.startswith("-") for word in told))
        or (verb == "reset" and "--hard" in given)
        or (verb == "rm" and "--cached" not in given)
        or (verb in ("checkout", "switch") and bool({"-f", "--force", "--", ".", "--discard-changes"} & given))
        or (verb == "restore" and "--staged" not in given)
        or (verb == "branch" and bool({"-D", "-d", "--delete"} & given))
        or (verb == "stash" and bool({"drop", "clear"} & set(told[:1])))
    )


def _put(call: Call, verb: str, told: Sequence[str]) -> Effect | None:
    """Folders that a verb makes."""
    paths = operands(told, "bo")
    targets = {"clone": paths[1:2], "init": paths[:1], "worktree": paths[1:2], "mv": paths}.get(verb, [])
    named = (
        value_of(told, "o", "--output", "--output-directory") if verb in ("archive", "format-patch", "diff") else None
    )
    away = outside(call, [*targets, *([named] if named else [])], whole=False)
    return Effect("overwrite", True) if away else None
