"""Stands in for the emulator program: a scripted phone on the adb port and a console on the other.

`python emulator_stub.py -avd NAME -port N ...`. It keeps its arguments in `$STUB_FOLDER/arguments`, asks for the token
there is in the home folder, and forgets the phone's files when a snapshot is loaded.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from pipeline.handset.wire import Output, serve
from pipeline.ports import LOOPBACK
from tests.androids import AndroidPhone


class Snapshotted(AndroidPhone):
    """A phone whose files can be listed, so that a mark is seen while it is there."""

    def __init__(self) -> None:
        super().__init__()
        self.on("ls ", self._ls)

    async def _ls(self, command: str, output: Output) -> int:
        del output
        return 0 if command.split()[1] in self.files else 1


async def main(port: int) -> None:
    """Run until killed."""
    phone = Snapshotted()

    async def console(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"Android Console: Authentication required\r\nOK\r\n")
        token = await asyncio.to_thread((Path.home() / ".emulator_console_auth_token").read_text)
        while line := (await reader.readline()).decode().strip():
            if line == f"auth {token}":
                writer.write(b"Android Console: type 'help' for a list of commands\r\nOK\r\n")
            elif line == "avd snapshot load good":
                phone.files.clear()
                writer.write(b"OK\r\n")
            else:
                writer.write(b"KO: unknown command or snapshot\r\n")
        writer.close()

    await asyncio.start_server(console, LOOPBACK, port)
    await serve(phone, port + 1)
    await asyncio.Event().wait()


if __name__ == "__main__":
    (Path(os.environ["STUB_FOLDER"]) / "arguments").write_text(" ".join(sys.argv[1:]))
    if "broken" in sys.argv:
        sys.exit("PANIC: Unknown AVD name [broken]")
    asyncio.run(main(int(sys.argv[sys.argv.index("-port") + 1])))
