"""Settings, properties, content providers and input methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pipeline.handset.commands.call import Call, Commands, one_of, options
from pipeline.handset.content import SETTINGS, ContentError, Table, table_at
from pipeline.handset.database import Value
from pipeline.handset.state import FAULT, LATIN_IME, LOCALE, NAMESPACES

_READERS: Mapping[str, Callable[[str], Value]] = {
    "i": int,
    "l": int,
    "f": float,
    "d": float,
    "b": lambda text: int(text == "true"),
    "s": str,
}


async def _settings(call: Call) -> int:
    words = [word for at, word in enumerate(call.words) if word != "--user" and call.word(at - 1) != "--user"]
    verb, space, *rest = [*words, "", ""][: max(len(words), 2)]
    if space not in NAMESPACES:
        await call.complain(f"Invalid namespace '{space}'")
        return 255
    phone = call.phone
    match verb, rest:
        case "list", []:
            for name, value in phone.settings.all(space):
                await call.say(f"{name}={value}")
        case "get", [name]:
            held = phone.settings.get(space, name)
            await call.say("null" if held is None else held)
        case "put", [name, value, *_]:
            return await _put(call, space, name, value)
        case "delete", [name]:
            await call.say(f"Deleted {int(phone.settings.delete(space, name))} rows")
            await phone.changed(name)
        case _:
            return await call.usage()
    return 0


async def _put(call: Call, space: str, name: str, value: str) -> int:
    before = call.phone.settings.get(space, name)
    call.phone.settings.put(space, name, value)
    try:
        await call.phone.changed(name)
    except ValueError as error:
        # Only faults are read when they are set; one that cannot be read leaves everything as it was.
        call.phone.settings.put(space, name, before or "")
        await call.complain(f"{FAULT}: {error}")
        return 1
    return 0


async def _getprop(call: Call) -> int:
    if call.words:
        await call.say(call.phone.properties.get(call.word(0)) or call.word(1))
        return 0
    for name, value in call.phone.properties.all():
        await call.say(f"[{name}]: [{value}]")
    return 0


async def _setprop(call: Call) -> int:
    if len(call.words) != 2:
        return await call.usage()
    name, value = call.words
    if not call.phone.properties.put(name, value):
        await call.complain(f"Failed to set property '{name}' to '{value}'.")
        return 1
    if name == LOCALE:
        call.phone.settings.put("system", "system_locales", value)
        await call.phone.changed("system_locales")
    return 0


async def _content(call: Call) -> int:
    valued = {name: 1 for name in ("--uri", "--projection", "--where", "--sort", "--bind", "--user")}
    given = options(call.words, valued)
    verb = given.rest[0] if given.rest else ""
    try:
        table = table_at(call.phone, given.value("--uri"))
        values = dict(map(_bound, given.values.get("--bind", [])))
        match verb:
            case "query":
                columns = [column for column in given.value("--projection").split(":") if column]
                await _told(call, table, columns, given.value("--where"), given.value("--sort"))
            case "insert" if table.authority == SETTINGS:
                return await _put(call, table.name, str(values.get("name", "")), str(values.get("value", "")))
            case "insert":
                table.insert(values)
            case "update":
                table.update(values, given.value("--where"))
            case "delete":
                table.delete(given.value("--where"))
            case _:
                return await call.usage()
    except ContentError as error:
        await call.complain(f"Error while accessing provider:{given.value('--uri')}\n{error}")
        return 1
    return 0


async def _told(call: Call, table: Table, columns: list[str], where: str, order: str) -> None:
    rows = table.rows(columns, where, order)
    if not rows:
        await call.say("No result found.")
    for number, row in enumerate(rows):
        cells = ", ".join(f"{name}={'NULL' if value is None else value}" for name, value in row.items())
        await call.say(f"Row: {number} {cells}")


def _bound(text: str) -> tuple[str, Value]:
    """A `name:type:value`; raises ContentError."""
    name, kind, value = [*text.split(":", 2), "", ""][:3]
    if kind == "n":
        return name, None
    try:
        return name, _READERS[kind](value)
    except (KeyError, ValueError) as error:
        raise ContentError(f"Unsupported binding: {text}") from error


async def _ime_list(call: Call) -> int:
    names = call.phone.packages.input_methods()
    if "-a" not in call.words:
        names = [name for name in names if name in _enabled(call)]
    for name in names:
        await call.say(name if "-s" in call.words else f"{name}:\n  mId={name} mSettingsActivityName=null")
    return 0


async def _ime_enable(call: Call) -> int:
    name = call.word(0)
    if name not in call.phone.packages.input_methods():
        await call.complain(f"Unknown input method {name} cannot be enabled for user #0")
        return 255
    call.phone.settings.put("secure", "enabled_input_methods", ":".join(dict.fromkeys([*_enabled(call), name])))
    await call.say(f"Input method {name}: now enabled for user #0")
    return 0


async def _ime_disable(call: Call) -> int:
    name = call.word(0)
    left = [one for one in _enabled(call) if one != name]
    call.phone.settings.put("secure", "enabled_input_methods", ":".join(left))
    if call.phone.settings.get("secure", "default_input_method") == name:
        call.phone.settings.put("secure", "default_input_method", left[0] if left else LATIN_IME)
    await call.say(f"Input method {name}: now disabled for user #0")
    return 0


async def _ime_set(call: Call) -> int:
    name = call.word(0)
    if name not in _enabled(call):
        await call.complain(f"Unknown input method {name} cannot be selected for user #0")
        return 255
    call.phone.settings.put("secure", "default_input_method", name)
    await call.say(f"Input method {name} selected for user #0")
    return 0


async def _ime_reset(call: Call) -> int:
    for name in ("enabled_input_methods", "default_input_method"):
        call.phone.settings.put("secure", name, LATIN_IME)
    await call.say("Reset current and enabled IMEs for user #0")
    return 0


def _enabled(call: Call) -> list[str]:
    return [name for name in (call.phone.settings.get("secure", "enabled_input_methods") or "").split(":") if name]


_IME: Commands = {
    "disable": _ime_disable,
    "enable": _ime_enable,
    "list": _ime_list,
    "reset": _ime_reset,
    "set": _ime_set,
}


async def _ime(call: Call) -> int:
    return await one_of(call, _IME)


SETTING_COMMANDS: Commands = {
    "content": _content,
    "getprop": _getprop,
    "ime": _ime,
    "setprop": _setprop,
    "settings": _settings,
}
