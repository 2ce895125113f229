"""Reading beside a compaction, which removes the parts that it has replaced: what is there now is looked at again.

Knows nothing of what is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TypeVar

import duckdb

from pipeline.errors import RunError
from pipeline.manifest import PartRef
from pipeline.storage import Storage, store_errors

_LOOKS = 3

Found = TypeVar("Found")


class VanishedError(RunError):
    """A part that was there is gone: a compaction that runs beside us removes what it has replaced."""


def looked_again(read: Callable[[], Found]) -> Found:
    """What is read, of what is there now whenever parts vanish meanwhile; raises VanishedError when that has no end."""
    for _ in range(_LOOKS - 1):
        with suppress(VanishedError, FileNotFoundError):
            return read()
    return read()


@contextmanager
def vanishing(parts: Mapping[Storage, Iterable[PartRef]]) -> Iterator[None]:
    """Tell a part that vanishes while it is read from what else may be wrong: DuckDB calls it forbidden, for one."""
    try:
        yield
    except (OSError, duckdb.Error) as error:
        for gone in (url for storage, listed in parts.items() for url in _gone(storage, listed)):
            said = f"{gone} has vanished while it was read: is a compaction at work? Try again when it has ended"
            raise VanishedError(said) from error
        raise


def _gone(storage: Storage, parts: Iterable[PartRef]) -> Iterator[str]:
    paths = [part.path for part in parts]
    with store_errors():
        folders = {path.partition("/")[0] for path in paths}
        there = {f"{folder}/{name}" for folder in folders for name in storage.sizes(folder)}
    yield from (storage.url(path) for path in paths if path not in there)
