"""The activity manager: opening, stopping, broadcasts. Text is typed by a broadcast to the ADB keyboard."""

from __future__ import annotations

import asyncio
import base64
import binascii
import time

from pipeline.handset.commands.call import Call, Commands, Options, one_of, options
from pipeline.handset.packages import ADB_IME, LAUNCHER, Package
from pipeline.handset.phone import BROWSER

_ONE = ["-a", "-c", "-d", "-n", "-p", "-t", "--user", "--display", "--es_", "-f"]
_EXTRAS = ["--es", "--ei", "--ez", "--el", "--ef", "--eu", "--esn"]
_HOME = "android.intent.category.HOME"
_VIEW = "android.intent.action.VIEW"
_RESULT_FAILED = 1


async def _start(call: Call) -> int:
    given = _intent(call.words)
    if given.value("-c") == _HOME:
        await call.phone.home()
        await call.say("Starting: Intent { act=android.intent.action.MAIN cat=[android.intent.category.HOME] }")
        return 0
    named = _component(given)
    package = call.phone.packages.get(named.partition("/")[0])
    await call.say(f"Starting: Intent {{ {_described(given)} }}")
    if package is None or not package.launchable or not _is_activity(package, named):
        return await _not_started(call, given, named)
    url = given.value("-d") or None
    if url is not None and package.kind != "web" and package.name != BROWSER:
        return await _not_started(call, given, named)
    began = time.monotonic()
    in_front = call.phone.resumed is not None and call.phone.resumed.package.name == package.name
    running = await call.phone.start(package, url)
    if in_front and url is None:
        await call.complain("Warning: Activity not started, its current task has been brought to the front")
    if "-W" in given.switches:
        took = round((time.monotonic() - began) * 1000)
        state = "HOT" if running else "COLD"
        await call.say(
            f"Status: ok\nLaunchState: {state}\nActivity: {package.component}\n"
            f"TotalTime: {took}\nWaitTime: {took + 3}\nComplete"
        )
    return 0


async def _not_started(call: Call, given: Options, named: str) -> int:
    if "/" in named and not given.value("-d"):
        await call.complain(f"Error type 3\nError: Activity class {{{named}}} does not exist.")
    else:
        await call.complain(f"Error: Activity not started, unable to resolve Intent {{ {_described(given)} }}")
    return 1


async def _force_stop(call: Call) -> int:
    await call.phone.stop(call.words[-1] if call.words else "")
    return 0


async def _broadcast(call: Call) -> int:
    given = _intent(call.words)
    await call.say(
        f"Broadcasting: Intent {{ {_described(given)} flg=0x400000{' (has extras)' if _extras(given) else ''} }}"
    )
    code = 0
    if call.phone.faults.take("broadcast_failed"):
        code = _RESULT_FAILED
    elif not call.phone.faults.take("broadcast_lost"):
        await _received(call, given)
    await call.say(f"Broadcast completed: result={code}")
    return 0


async def _received(call: Call, given: Options) -> None:
    """The ADB keyboard hears of it while it is the chosen one and a field has the focus; nobody else does."""
    if call.phone.settings.get("secure", "default_input_method") != ADB_IME:
        return
    view = call.phone.front.view
    if not await view.call("takesText()"):
        return
    extras = _extras(given)
    match given.value("-a"):
        case "ADB_INPUT_TEXT":
            await view.type(extras.get("msg", ""))
        case "ADB_INPUT_B64":
            try:
                await view.type(base64.b64decode(extras.get("msg", ""), validate=True).decode())
            except (binascii.Error, UnicodeDecodeError):
                return
        case "ADB_CLEAR_TEXT":
            if await view.call("emptyField()"):
                await view.press("Delete")
        case _:
            return


async def _stack(call: Call) -> int:
    for task in call.phone.tasks:
        await call.say(f"taskId={task.number}: {task.package.full_component} visible={task is call.phone.resumed}")
    return 0


async def _current_user(call: Call) -> int:
    await call.say("0")
    return 0


def _intent(words: list[str]) -> Options:
    return options(words, {**{name: 1 for name in _ONE}, **{name: 2 for name in _EXTRAS}})


def _extras(given: Options) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for name in _EXTRAS:
        words = given.values.get(name, [])
        pairs.update(zip(words[::2], words[1::2], strict=False))
    return pairs


def _component(given: Options) -> str:
    """The activity that is meant, or the package; the browser where only an address is given."""
    if given.value("-n"):
        return given.value("-n")
    named = given.value("-p") or (given.rest[-1] if given.rest else "")
    return named or (BROWSER if given.value("-a", _VIEW) == _VIEW and given.value("-d") else "")


def _is_activity(package: Package, named: str) -> bool:
    activity = named.partition("/")[2]
    return activity in ("", package.activity, package.name + package.activity)


def _described(given: Options) -> str:
    parts = [("act", given.value("-a")), ("dat", given.value("-d")), ("cmp", given.value("-n"))]
    if not any(value for _, value in parts):
        parts.append(("pkg", given.rest[-1] if given.rest else LAUNCHER))
    return " ".join(f"{name}={value}" for name, value in parts if value)


_ACTIVITY: Commands = {
    "broadcast": _broadcast,
    "force-stop": _force_stop,
    "get-current-user": _current_user,
    "kill": _force_stop,
    "stack": _stack,
    "start": _start,
    "start-activity": _start,
}


async def _am(call: Call) -> int:
    return await one_of(call, _ACTIVITY)


async def _reboot(call: Call) -> int:
    call.phone.reboot_asked.set()
    await asyncio.sleep(0)
    return 0


ACTIVITY_COMMANDS: Commands = {"am": _am, "reboot": _reboot}
