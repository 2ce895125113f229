"""What an application's entry says of its state: where it is kept, and which questions (probes) can be asked of it.

Knows nothing of how it is read.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pipeline.actions import Model
from pipeline.program_probe import ProgramProbe


class SqliteState(Model):
    """Rows of a database: keys `table/rowid`, and `schema/name` for its tables and indexes."""

    kind: Literal["sqlite"] = "sqlite"
    path: str
    ignore_tables: list[str] = Field(default_factory=list)


class LinesState(Model):
    """Lines of a text file: keys `path|line`; blank lines are no state."""

    kind: Literal["lines"] = "lines"
    path: str


class FilesState(Model):
    """A file, or all files of a folder: keys are paths in the data folder; those that fit `ignore` are no state.

    With `folders`, the folders below it count as well, with keys that end in `/`.
    """

    kind: Literal["files"] = "files"
    path: str
    folders: bool = False
    ignore: list[str] = Field(default_factory=list)


class JsonState(Model):
    """Objects of a JSON list in a file: keys `path/a/b`, made of the fields that `key` names; `ignore` is no state."""

    kind: Literal["json"] = "json"
    path: str
    key: list[str] = Field(min_length=1)
    ignore: list[str] = Field(default_factory=list)


StateSource = Annotated[SqliteState | LinesState | FilesState | JsonState, Field(discriminator="kind")]


class SqliteProbe(Model):
    """Rows of a query; `:name` is the check's argument."""

    kind: Literal["sqlite"] = "sqlite"
    path: str
    query: str


class HttpJsonProbe(Model):
    """Rows of a JSON answer: `rows` is the dotted path to a list (empty: the answer itself), `select` the dotted paths
    of the cells in each item, `where` keeps the items whose value is equal. A path that ends in `?` may lead nowhere,
    to an empty text. `{name}` is the check's argument."""

    kind: Literal["http_json"] = "http_json"
    path: str
    rows: str = ""
    select: list[str] = Field(min_length=1)
    where: dict[str, str] = Field(default_factory=dict)


class FileProbe(Model):
    """Matches of a regular expression in a text file, one row each, its groups as cells. `{name}` in the pattern is the
    check's argument, matched literally. `*` in the path stands for any name: all files that fit are read."""

    kind: Literal["file"] = "file"
    path: str
    pattern: str


class PageProbe(Model):
    """What a script returns in the open page; `{name}` is the check's argument as a JavaScript literal."""

    kind: Literal["page"] = "page"
    script: str


class ContentProbe(Model):
    """Rows of a content provider of the phone, the columns of `select` as cells, in the order of its `_id`; `where`
    keeps the rows whose columns are equal. `{name}` in a value is the check's argument."""

    kind: Literal["content"]
    uri: str = Field(pattern="^content://")
    select: list[str] = Field(min_length=1)
    where: dict[str, str] = Field(default_factory=dict)


class SettingProbe(Model):
    """One row with the value of one of the phone's settings; none when it is not set."""

    kind: Literal["setting"]
    namespace: Literal["system", "secure", "global"]
    name: str


Probe = Annotated[SqliteProbe | HttpJsonProbe | FileProbe | PageProbe, Field(discriminator="kind")]
PhoneProbe = Annotated[ContentProbe | SettingProbe, Field(discriminator="kind")]
AnyProbe = SqliteProbe | HttpJsonProbe | FileProbe | PageProbe | ContentProbe | SettingProbe | ProgramProbe


class ContentState(Model):
    """Rows of a content provider of the phone: keys `authority/path/a/b`, made of the columns that `key` names."""

    kind: Literal["content"]
    uri: str = Field(pattern="^content://")
    key: list[str] = Field(min_length=1)


class SettingState(Model):
    """Some of the phone's settings: keys `namespace/name`."""

    kind: Literal["setting"]
    namespace: Literal["system", "secure", "global"]
    names: list[str] = Field(min_length=1)


PhoneState = Annotated[ContentState | SettingState, Field(discriminator="kind")]
