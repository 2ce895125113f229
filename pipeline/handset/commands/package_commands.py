"""The package manager: what is installed, what can be opened, installing and clearing; and `monkey`, which opens."""

from __future__ import annotations

import json

from pipeline.handset.commands.call import Call, Commands, one_of, options
from pipeline.handset.packages import Package

_MAIN, _LAUNCHER = "android.intent.action.MAIN", "android.intent.category.LAUNCHER"
_NO_ACTIVITY = 252
_MATCH = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true"


def package_file(package: Package) -> bytes:
    """What stands for a package's file: enough to install it again."""
    return json.dumps({"handset_package": package.name}).encode()


def _named(call: Call) -> Package | None:
    """The installed package that the last word names."""
    rest = options(call.words, {"--user": 1}).rest
    return call.phone.packages.get(rest[-1]) if rest else None


async def _list(call: Call) -> int:
    given = options(call.inner().words, {"--user": 1})
    if call.word(0) != "packages":
        return await call.usage()
    packages = call.phone.packages.installed()
    if "-3" in given.switches:
        packages = [package for package in packages if package.kind == "web"]
    if "-s" in given.switches:
        packages = [package for package in packages if package.kind != "web"]
    for package in packages:
        if not given.rest or given.rest[0] in package.name:
            await call.say(
                f"package:{package.path}={package.name}" if "-f" in given.switches else f"package:{package.name}"
            )
    return 0


async def _path(call: Call) -> int:
    package = _named(call)
    if package is None:
        return 1
    await call.say(f"package:{package.path}")
    return 0


async def _clear(call: Call) -> int:
    package = _named(call)
    if package is None or package.kind == "system":
        await call.say("Failed")
        return 1
    await call.phone.clear(package)
    await call.say("Success")
    return 0


async def _install(call: Call) -> int:
    given = options(call.words, {"-S": 1, "--user": 1, "-i": 1})
    try:
        data = (
            await _sent(call, int(given.value("-S"))) if "-S" in given.values else call.phone.files.read(given.rest[-1])
        )
        name = json.loads(data)["handset_package"]
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        await call.say("Failure [INSTALL_PARSE_FAILED_NOT_APK: this handset installs only what it came with]")
        return 1
    package = call.phone.packages.known(str(name))
    if package is None:
        await call.say(f"Failure [INSTALL_FAILED_INVALID_APK: unknown package {name}]")
        return 1
    call.phone.packages.install(package.name)
    await call.say("Success")
    return 0


async def _sent(call: Call, size: int) -> bytes:
    data = b""
    async for part in call.stdin:
        data += part
        if len(data) >= size:
            break
    return data


async def _uninstall(call: Call) -> int:
    package = _named(call)
    if package is None or not call.phone.packages.uninstall(package.name):
        await call.say("Failure [DELETE_FAILED_INTERNAL_ERROR]")
        return 1
    await call.phone.clear(package)
    await call.say("Success")
    return 0


async def _query(call: Call) -> int:
    given = options(call.words, {"-a": 1, "-c": 1, "-p": 1, "--user": 1})
    found = call.phone.packages.launchable()
    if given.value("-a", _MAIN) != _MAIN or given.value("-c", _LAUNCHER) != _LAUNCHER:
        found = []
    if "-p" in given.values:
        found = [package for package in found if package.name == given.value("-p")]
    if not found:
        await call.say("No activities found")
        return 0
    if "--components" in given.switches:
        for package in found:
            await call.say(package.component)
        return 0
    await call.say(f"{len(found)} activities found:")
    for number, package in enumerate(found):
        await call.say(f"  Activity #{number}:\n    {_MATCH}")
        if "--brief" in given.switches:
            await call.say(f"    {package.component}")
        else:
            await _described(call, package)
    return 0


async def _described(call: Call, package: Package) -> None:
    await call.say(
        f"    ActivityInfo:\n      name={package.name}{package.activity}\n      packageName={package.name}\n"
        f"      labelRes=0x0 nonLocalizedLabel={call.phone.label(package)} icon=0x0 banner=0x0"
    )


async def _resolve(call: Call) -> int:
    given = options(call.words, {"-a": 1, "-c": 1, "--user": 1})
    package = call.phone.packages.get(given.rest[-1]) if given.rest else None
    if package is None or not package.launchable:
        await call.say("No activity found")
        return 0
    await call.say(f"{_MATCH}\n{package.component}")
    return 0


_PACKAGE: Commands = {
    "clear": _clear,
    "install": _install,
    "list": _list,
    "path": _path,
    "query-activities": _query,
    "resolve-activity": _resolve,
    "uninstall": _uninstall,
}


async def _pm(call: Call) -> int:
    return await one_of(call, _PACKAGE)


async def _cmd(call: Call) -> int:
    if call.word(0) != "package":
        await call.complain(f"cmd: Can't find service: {call.word(0)}")
        return 20
    return await one_of(call.inner(), _PACKAGE)


async def _monkey(call: Call) -> int:
    given = options(call.words, {"-p": 1, "-c": 1, "--pct-syskeys": 1})
    package = call.phone.packages.get(given.value("-p"))
    if package is None or not package.launchable:
        await call.say("** No activities found to run, monkey aborted.")
        return _NO_ACTIVITY
    await call.phone.start(package)
    await call.say("Events injected: 1")
    return 0


PACKAGE_COMMANDS: Commands = {"cmd": _cmd, "monkey": _monkey, "pm": _pm}
