"""Files of a guest, as its user may read them: links are followed within the home folder only, nothing is waited for.

What cannot be hashed has another value, as in `found_files`. Knows nothing of what files are for.
"""

from __future__ import annotations

import errno

from pipeline.envs.qemu_agent import SECONDS, Agent
from pipeline.errors import EnvError
from pipeline.found_files import FOLDER, MOST_BYTES, SPECIAL, UNREADABLE

_PIECE = 1 << 20
"""An emulated guest takes seconds to hand this over."""
_NO_FILE, _OUTSIDE, _UNREADABLE, _LARGE = 64, 65, 66, 67
_READ = f"""
home=$(realpath -e -- "$2") && there=$(realpath -e -- "$1" 2>/dev/null) || exit {_NO_FILE}
case $there in "$home"/*) ;; *) exit {_OUTSIDE} ;; esac
[ -f "$there" ] || exit {_NO_FILE}
[ -r "$there" ] || exit {_UNREADABLE}
[ "$(stat -c %s -- "$there")" -le {MOST_BYTES} ] || exit {_LARGE}
exec dd if="$there" bs={_PIECE} skip="$3" count=1 iflag=fullblock,nonblock status=none
"""
_LIST = f"""
[ -d "$1" ] || exit 0
LC_ALL=C exec find "$1" -mindepth 1 \\
    -type d -readable -executable -printf '{FOLDER}  %p/\\0' -o -type d -printf '{UNREADABLE}  %p/\\0' -o -type l -o \\
    ! -type f -printf '{SPECIAL}  %p\\0' -o ! -readable -printf '{UNREADABLE}  %p\\0' -o \\
    -size +{MOST_BYTES}c -printf 'large %s %T@  %p\\0' -o -exec sha256sum -z -- '{{}}' +
"""
_USUAL = ("No such file or directory", "Permission denied")
"""What is complained of when something goes while it is looked at, or when a folder, told as such, lets nobody in."""


async def read(agent: Agent, path: str) -> bytes:
    """The content of a file, by its whole path; raises FileNotFoundError, also for what is no file, ValueError when a
    link leads out of the home folder, OSError for a file that cannot be read or is too large, or EnvError."""
    content = bytearray()
    while True:
        argv = ["sh", "-c", _READ, "sh", path, agent.environment["HOME"], str(len(content) // _PIECE)]
        ran = await agent.run(argv, seconds=SECONDS)
        match ran.code:
            case 0:
                content += ran.out
            case code if code == _NO_FILE:
                raise FileNotFoundError(errno.ENOENT, "there is no file", path)
            case code if code == _OUTSIDE:
                raise ValueError(f"'{path}' leads out of the home folder")
            case code if code == _UNREADABLE:
                raise PermissionError(errno.EACCES, "nobody may read it", path)
            case code if code == _LARGE:
                raise OSError(errno.EFBIG, f"there are more than {MOST_BYTES} bytes", path)
            case _:
                raise OSError(ran.err.decode(errors="replace").strip())
        if len(ran.out) < _PIECE:
            return bytes(content)


async def listed(agent: Agent, top: str) -> dict[str, str]:
    """Fingerprints of what lies below a folder, by whole paths, sorted; raises EnvError when it is not told whole."""
    ran = await agent.run(["sh", "-c", _LIST, "sh", top], seconds=SECONDS)
    complaints = [line for line in ran.err.decode(errors="replace").splitlines() if not line.endswith(_USUAL)]
    if complaints or (ran.code != 0 and not ran.err):
        raise EnvError("files_untold", f"the guest's files cannot be listed: {[*complaints, ran.code][0]}")
    rows = [row.split("  ", 1) for row in ran.out.decode(errors="surrogateescape").split("\0") if "  " in row]
    return {path: value for value, path in sorted(rows, key=lambda row: row[1])}
