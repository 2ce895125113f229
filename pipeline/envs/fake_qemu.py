"""What stands for the program that runs virtual machines, to break on command: monitor and agent in the real protocols.

    python fake_qemu.py '{"failing_loads": 1}' -qmp unix:... -chardev socket,... ...

It takes the options that the real one is started with. The home folder of its guest is a folder beside the monitor;
of programs only a few harmless ones are run, on this machine, others have answers ready. Pressed keys are written into
a file of that folder as they come. Imports nothing of the project: it runs as a program.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

HOME = "/home/user"
PRESSED = "keys.txt"
TORN = "torn"
"""A file of the home folder; while it is there, pictures are torn."""
CUT = "cut"
"""Another; while it is there, what programs say is cut."""
RUN = {"sh", "cat", "echo", "rm", "find", "sleep", "true"}
"""Programs that are run."""
ANSWERS = {
    "xmodmap": "KeyCodes range from 8 to 255.\n     38    \t0x0061 (a)\t0x0041 (A)\t\n     36    \t0xff0d (Return)\t\n",
    "xset": "  00: Caps Lock:   off    01: Num Lock:    off\n",
    "xprop": "_NET_SUPPORTING_WM_CHECK(WINDOW): window id # 0x20000e\n",
    "date": "",
    "setxkbmap": "",
    "/usr/bin/python3": '{"nodes": [["button", "Save", "", [1, 2, 30, 20], []]], "partial": false}\n',
}
"""What others say."""
KEYS = {"a", "ret", "kp_enter", "caps_lock", "ro", "henkan", "muhenkan"}
KEYS |= {"shift", "shift_r", "ctrl", "ctrl_r", "alt", "alt_r", "meta_l", "meta_r"}
"""Keys that are taken; the real one has more, but not all that a later release has either."""
SENTINEL = b"\xff"
LINE = 64 << 20


class Guest:
    """The guest and the machine around it, with what is to break and how often."""

    def __init__(self, home: Path, faults: Mapping[str, int]) -> None:
        self.home, self.left = home, dict(faults)
        self.kept = home.with_name("kept")
        home.mkdir(exist_ok=True)
        self.jobs: dict[str, dict[str, Any]] = {}
        self.ran: dict[int, dict[str, Any]] = {}
        self.status = "running"
        self.silent = False
        self.pointer = (0, 0)

    def fails(self, fault: str) -> bool:
        """Whether it is time to break; -1 is always."""
        count = self.left.get(fault, 0)
        self.left[fault] = count - 1 if count > 0 else count
        return count != 0

    # --- what the monitor is asked

    def query_cpus_fast(self, _: Mapping[str, Any]) -> object:
        """One processor, which is this process."""
        return [{"thread-id": os.getpid()}]

    def migrate_incoming(self, _: Mapping[str, Any]) -> object:
        """Go on from a state, or end as the real one does when it cannot be used."""
        if self.fails("failing_states"):
            sys.exit("load of migration failed: Invalid argument")
        return {}

    def query_migrate(self, _: Mapping[str, Any]) -> object:
        """It is there at once."""
        return {"status": "completed"}

    def query_qmp_schema(self, _: Mapping[str, Any]) -> object:
        """Little beside the keys."""
        other = {"name": "0", "meta-type": "alternate", "members": [{"type": "str"}]}
        lists = [["left", "right"], sorted(KEYS)]
        return [other, *({"name": str(at), "meta-type": "enum", "values": one} for at, one in enumerate(lists, 1))]

    def query_blockstats(self, _: Mapping[str, Any]) -> object:
        """Nothing moves."""
        return []

    def cont(self, _: Mapping[str, Any]) -> object:
        """Run."""
        self.status = "running"
        return {}

    def stop(self, _: Mapping[str, Any]) -> object:
        """Run no more."""
        self.status = "paused"
        return {}

    def screendump(self, request: Mapping[str, Any]) -> object:
        """A picture on which only the pointer shows, or the begin of it."""
        pixels = bytearray(b"\x5a" * 3 * 1280 * 800)
        x, y = self.pointer
        at = 3 * (1280 * min(y, 799) + min(x, 1279))
        pixels[at : at + 3] = b"\0\0\0"
        whole = b"P6\n1280 800\n255\n" + pixels
        Path(request["filename"]).write_bytes(b"P6\n12" if (self.home / TORN).exists() else whole)
        return {}

    def snapshot_save(self, request: Mapping[str, Any]) -> object:
        """Keep the home folder."""
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.home, self.kept)
        self.jobs[request["job-id"]] = {"id": request["job-id"], "status": "concluded"}
        return {}

    def snapshot_load(self, request: Mapping[str, Any]) -> object:
        """Put the home folder back, or say so only, or fail and stand still as the real one does."""
        job = self.jobs[request["job-id"]] = {"id": request["job-id"], "status": "concluded"}
        if self.fails("failing_loads"):
            job["error"], self.status = "Error -22 while loading VM state", "paused"
        elif not self.fails("stale_loads"):
            shutil.rmtree(self.home)
            shutil.copytree(self.kept, self.home)
        self.silent = self.fails("silent_loads")
        return {}

    def query_jobs(self, _: Mapping[str, Any]) -> object:
        """Those that nobody has dismissed."""
        return list(self.jobs.values())

    def job_dismiss(self, request: Mapping[str, Any]) -> object:
        """Forget one."""
        del self.jobs[request["id"]]
        return {}

    def input_send_event(self, request: Mapping[str, Any]) -> object:
        """Write down keys; move the pointer. Raises LookupError for an unknown key, and then does nothing."""
        for name in (event["data"]["key"]["data"] for event in request["events"] if event["type"] == "key"):
            if name not in KEYS:
                raise LookupError(f"Parameter 'data' does not accept value '{name}'")
        for event in request["events"]:
            data = event["data"]
            if event["type"] == "key":
                with (self.home / PRESSED).open("a", encoding="ascii") as file:
                    file.write(f"{'+' if data['down'] else '-'}{data['key']['data']} ")
            elif event["type"] == "abs":
                place = data["value"] * (1280 if data["axis"] == "x" else 800) >> 15
                self.pointer = (place, self.pointer[1]) if data["axis"] == "x" else (self.pointer[0], place)
        if self.fails("deaf_tablets"):
            self.pointer = (0, 0)
        return {}

    def nothing(self, _: Mapping[str, Any]) -> object:
        """Agree."""
        return {}

    # --- what the agent is asked

    async def guest_exec(self, request: Mapping[str, Any]) -> object:
        """Run a program, or have its answer."""
        argv = [request["path"], *request["arg"]]
        if "-C" in argv:
            argv = argv[argv.index("-C") + 3 :]
        argv = [part.replace(HOME, str(self.home)) for part in argv]
        pid = len(self.ran) + 1
        status = self.ran[pid] = {"exited": argv[0] not in RUN, "exitcode": 0}
        if argv[0] in RUN:
            feed = base64.b64decode(request.get("input-data", ""))
            status["task"] = asyncio.ensure_future(self._run(argv, feed, status))
        else:
            status["out-data"] = base64.b64encode(ANSWERS[argv[0]].encode()).decode()
        return {"pid": pid}

    def guest_exec_status(self, request: Mapping[str, Any]) -> object:
        """How it stands."""
        return {name: value for name, value in self.ran[request["pid"]].items() if name != "task"}

    async def _run(self, argv: list[str], feed: bytes, status: dict[str, Any]) -> None:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*argv, cwd=self.home, stdin=pipe, stdout=pipe, stderr=pipe)
        out, err = await process.communicate(feed)
        said = {"out-data": out.replace(str(self.home).encode(), HOME.encode()), "err-data": err}
        status.update({name: base64.b64encode(data).decode() for name, data in said.items()})
        status.update({"exited": True, "exitcode": process.returncode, "out-truncated": (self.home / CUT).exists()})


async def serve(guest: Guest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, greeting: bytes) -> None:
    """Answer one client; the agent has no greeting."""
    writer.write(greeting)
    while line := await reader.readline():
        if line.startswith(SENTINEL):
            guest.silent = guest.silent and not guest.fails("waking_agents")
            writer.write(b'{"error": {"class": "GenericError", "desc": "JSON parse error"}}\n')
        request = json.loads(line.removeprefix(SENTINEL))
        if not greeting and guest.silent:
            continue
        arguments = request.get("arguments", {})
        if request["execute"] == "guest-sync-delimited":
            writer.write(SENTINEL + json.dumps({"return": arguments["id"]}).encode() + b"\n")
            continue
        answer = await answered(guest, request["execute"], arguments)
        writer.write(json.dumps(answer | {"id": request.get("id")}).encode() + b"\n")
        await writer.drain()


async def answered(guest: Guest, command: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a command."""
    if guest.fails(f"refusing {command}"):
        return {"error": {"class": "GenericError", "desc": f"the command {command} is not allowed"}}
    if guest.fails(f"hanging {command}"):
        await asyncio.Event().wait()
    method: Callable[[Mapping[str, Any]], Any] = getattr(guest, command.replace("-", "_"), guest.nothing)
    try:
        result = method(arguments)
        return {"return": await result if asyncio.iscoroutine(result) else result}
    except LookupError as error:
        return {"error": {"class": "GenericError", "desc": str(error.args[0])}}


async def listen(guest: Guest, places: Mapping[str, bytes]) -> None:
    """Listen at sockets until the end, at each with its greeting."""

    async def at(path: str, greeting: bytes) -> None:
        server = await asyncio.start_unix_server(
            lambda read, write: serve(guest, read, write, greeting), path, limit=LINE
        )
        await server.serve_forever()

    await asyncio.gather(*(at(path, greeting) for path, greeting in places.items()))


def main(faults: str, options: list[str]) -> None:
    """Listen where the options say."""
    line = " ".join(options)
    patterns = (r"-qmp unix:(\S+?),", r"id=agent,path=(\S+?),", r"-serial file:(\S+)")
    monitor, agent, console = (re.findall(pattern, line)[0] for pattern in patterns)
    guest = Guest(Path(monitor).with_name("home"), json.loads(faults))
    Path(console).write_text("started\n", encoding="ascii")
    for path in (monitor, agent):
        Path(path).unlink(missing_ok=True)
    asyncio.run(listen(guest, {agent: b"", monitor: b'{"QMP": {"version": {}, "capabilities": []}}\n'}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
