"""What the phone shows and says of it: pictures, the UI tree, display, windows, activities, the event log."""

from __future__ import annotations

import asyncio

from pipeline.handset.commands.call import Call, Commands, one_of, options
from pipeline.handset.faults import damaged
from pipeline.handset.packages import ADB_IME
from pipeline.handset.phone import Phone
from pipeline.handset.screen import DENSITY, display_size

_IDLE_SECONDS = 10.0
_DUMP_PATH = "/sdcard/window_dump.xml"
_TERMINAL = "/dev/tty"
_NEVER_IDLE_SECONDS = 2.0
_UNKNOWN_SERVICE = 1


async def _screencap(call: Call) -> int:
    given = options(call.words, {"-d": 1})
    picture = damaged(await call.phone.picture(), call.phone.faults)
    if given.rest:
        call.phone.files.write(given.rest[0], picture)
    else:
        await call.output.out(picture)
    return 0


async def _uiautomator(call: Call) -> int:
    given = options(call.inner().words, {})
    if call.word(0) != "dump":
        return await call.usage()
    faults = call.phone.faults
    never = faults.take("tree_never")
    if never is not None:
        await asyncio.sleep(float(never.argument or _NEVER_IDLE_SECONDS))
    elif call.phone.frozen != call.phone.front.package.name and not faults.take("tree_null"):
        return await _dumped(call, given.rest[0] if given.rest else _DUMP_PATH)
    else:
        await call.complain("ERROR: null root node returned by UiTestAutomationBridge.")
        return 0
    await call.complain("ERROR: could not get idle state.")
    return 0


async def _dumped(call: Call, path: str) -> int:
    slow = call.phone.faults.take("tree_slow")
    if slow is not None:
        await asyncio.sleep(float(slow.argument or "5"))
    if not await call.phone.front.view.idle(_IDLE_SECONDS):
        await call.complain("ERROR: could not get idle state.")
        return 0
    tree = (await call.phone.tree()).encode()
    if path == _TERMINAL:
        await call.output.out(tree)
    else:
        call.phone.files.write(path, tree)
    # Android's own spelling.
    await call.say(f"UI hierchary dumped to: {path}")
    return 0


async def _wm(call: Call) -> int:
    match call.words:
        case ["size"]:
            width, height = display_size(0)
            await call.say(f"Physical size: {width}x{height}")
        case ["density"]:
            await call.say(f"Physical density: {DENSITY}")
        case ["user-rotation"]:
            await call.say(f"lock {call.phone.rotation}")
        case ["user-rotation", "lock", turn] if turn.isdecimal():
            await call.phone.turn(int(turn))
        case ["user-rotation", "free"]:
            await call.phone.turn(0)
        case _:
            return await call.usage()
    return 0


async def _display(call: Call) -> int:
    phone = call.phone
    (width, height), (wide, high), turn = phone.size, display_size(0), phone.rotation
    await call.say(
        "DISPLAY MANAGER (dumpsys display)\n"
        f"  mViewports=[DisplayViewport{{type=INTERNAL, valid=true, isActive=true, displayId=0, uniqueId='local:0', "
        f"physicalPort=0, orientation={turn}, logicalFrame=Rect(0, 0 - {width}, {height}), "
        f"physicalFrame=Rect(0, 0 - {width}, {height}), deviceWidth={width}, deviceHeight={height}}}]\n"
        "Display Devices: size=1\n"
        f'  DisplayDeviceInfo{{"Built-in Screen": uniqueId="local:0", {wide} x {high}, density {DENSITY}}}\n'
        f"    mCurrentOrientation={turn}\n"
        f"    mCurrentDisplayRect=Rect(0, 0 - {width}, {height})\n"
        "Logical Displays: size=1\n"
        f'  mBaseDisplayInfo=DisplayInfo{{"Built-in Screen", displayId 0", real {wide} x {high}, rotation 0, '
        'uniqueId "local:0"}\n'
        f'  mOverrideDisplayInfo=DisplayInfo{{"Built-in Screen", displayId 0", real {width} x {height}, '
        f"rotation {turn}, density {DENSITY}}}"
    )
    return 0


async def _window(call: Call) -> int:
    part = call.word(0) or "all"
    if part in ("displays", "d", "all"):
        await _displays(call)
    if part in ("windows", "w", "all", "visible"):
        await _windows(call)
    return 0


async def _displays(call: Call) -> None:
    width, height = call.phone.size
    wide, high = display_size(0)
    await call.say(
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n"
        "  Display: mDisplayId=0 (organized)\n"
        f"    init={wide}x{high} {DENSITY}dpi mMinSizeOfResizeableTaskDp=220 cur={width}x{height} app={width}x{height} "
        f"rng={min(wide, high)}x{min(wide, high)}-{max(wide, high)}x{max(wide, high)}\n"
        f"  DisplayRotation\n    mRotation=ROTATION_{call.phone.rotation * 90} mDeferredRotationPauseCount=0\n"
        f"    mCurrentAppOrientation=SCREEN_ORIENTATION_UNSPECIFIED"
    )
    # Since Android 10 it is told here, and no longer with the windows.
    await _focus(call)


async def _windows(call: Call) -> None:
    front = call.phone.front
    flags = "LAYOUT_IN_SCREEN LAYOUT_INSET_DECOR SPLIT_TOUCH HARDWARE_ACCELERATED"
    if await call.phone.is_secure():
        flags = flags.replace("LAYOUT_INSET_DECOR", "SECURE LAYOUT_INSET_DECOR")
    await call.say(
        "WINDOW MANAGER WINDOWS (dumpsys window windows)\n"
        f"  Window #0 {_window_name(call.phone)}:\n"
        f"    mDisplayId=0 rootTaskId=1 mSession=Session{{1 1:u0a1}} mClient=android.os.BinderProxy@1\n"
        f"    mOwnerUid=10100 showForAllUsers=false package={front.package.name} appop=NONE\n"
        "    mAttrs={(0,0)(fillxfill) sim={adjust=resize} ty=BASE_APPLICATION fmt=TRANSPARENT wanim=0x1030309\n"
        f"      fl={flags}\n"
        "      pfl=NO_MOVE_ANIMATION}\n"
        "    isOnScreen=true\n    isVisible=true\n"
        "  mHasPermanentDpad=false\n  mTopFocusedDisplayId=0"
    )


async def _focus(call: Call) -> None:
    phone = call.phone
    task = phone.resumed.number if phone.resumed else 1
    await call.say(
        f"  mCurrentFocus={_window_name(phone)}\n"
        f"  mFocusedApp=ActivityRecord{{{_hash(phone)} u0 {phone.front.package.component} t{task}}}"
    )


def _window_name(phone: Phone) -> str:
    return f"Window{{{_hash(phone)} u0 {phone.front.title}}}"


def _hash(phone: Phone) -> str:
    return f"{sum(phone.front.title.encode()):07x}"


async def _activities(call: Call) -> int:
    phone = call.phone
    if call.word(0) == "lastanr":
        said = [event for event in phone.events if event.startswith("am_anr")]
        await call.say("ACTIVITY MANAGER LAST ANR (dumpsys activity lastanr)")
        await call.say(f"  ANR: {said[-1]}" if said else "  <no ANR has occurred since boot>")
        return 0
    await call.say(
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\nDisplay #0 (activities from top to bottom):"
    )
    for task in phone.tasks:
        name = task.package.name
        await call.say(f"  * Task{{{task.number:x} #{task.number} type=standard A=10100:{name} U=0 visible=true}}")
        for number in reversed(range(len(task.views))):
            await call.say(
                f"    * Hist  #{number}: ActivityRecord{{{task.number:x} u0 {task.package.component} t{task.number}}}"
            )
    number = phone.resumed.number if phone.resumed else 1
    package = phone.resumed.package if phone.resumed else phone.front.package
    record = f"ActivityRecord{{{number:x} u0 {package.component} t{number}}}"
    await call.say(f"  topResumedActivity={record}\n  mResumedActivity: {record}\n  ResumedActivity: {record}")
    return 0


async def _input_method(call: Call) -> int:
    phone = call.phone
    shown = bool(await phone.front.view.call("takesText()"))
    method = phone.settings.get("secure", "default_input_method") or ""
    await call.say(
        "Current Input Method Manager state:\n"
        f"  mCurMethodId={method} mSelectedMethodId={method}\n"
        f"  mShowRequested={str(shown).lower()} mInputShown={str(shown).lower()}\n"
        f"  mServedView={'android.widget.EditText' if shown else 'null'}\n"
        f"  keyboard={'ADB Keyboard' if method == ADB_IME else 'none is drawn'}"
    )
    return 0


async def _power(call: Call) -> int:
    await call.say("POWER MANAGER (dumpsys power)\n  mWakefulness=Awake\n  mHoldingDisplaySuspendBlocker=true")
    return 0


async def _package(call: Call) -> int:
    package = call.phone.packages.get(call.word(0))
    if package is None:
        await call.say(f"Unable to find package: {call.word(0)}")
        return 0
    await call.say(
        f"Packages:\n  Package [{package.name}] (1):\n    versionCode=1 minSdk=34 targetSdk=34\n    versionName=1.0"
    )
    return 0


async def _logcat(call: Call) -> int:
    given = options(call.words, {"-b": 1, "-s": 1, "-t": 1, "-v": 1})
    if "-c" in given.switches:
        call.phone.events.clear()
        return 0
    stamp = call.phone.clock.moment.strftime("%m-%d %H:%M:%S.000")
    for event in call.phone.events:
        if event.startswith(given.value("-s")):
            await call.say(f"{stamp}  1000  1000 I {event}")
    return 0


_DUMPS: Commands = {
    "activity": _activities,
    "display": _display,
    "input_method": _input_method,
    "package": _package,
    "power": _power,
    "window": _window,
}


async def _dumpsys(call: Call) -> int:
    if call.word(0) not in _DUMPS:
        await call.complain(f"Can't find service: {call.word(0)}")
        return _UNKNOWN_SERVICE
    if call.words[:2] == ["activity", "activities"] or call.words[:2] == ["activity", "a"]:
        return await _activities(call._replace(words=[]))
    return await one_of(call, _DUMPS)


WINDOW_COMMANDS: Commands = {
    "dumpsys": _dumpsys,
    "logcat": _logcat,
    "screencap": _screencap,
    "uiautomator": _uiautomator,
    "wm": _wm,
}
