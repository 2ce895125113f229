"""Read-only questions to a desktop program, as its entry writes them: about its files, and about what shows.

A program has no interface to ask; its products are files of the home folder, named relative to it. `{name}` in a path,
a pattern or a name is the check's argument. Knows nothing of how files are read.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pipeline.actions import Model


class FilesProbe(Model):
    """One row with the path of every file below `folder` that fits `fits`, sorted; folders end in `/`."""

    kind: Literal["files"]
    folder: str = ""
    fits: str = "*"


class TextProbe(Model):
    """One row for every match of a regular expression in a text file: its groups, or the whole match.

    Arguments in the pattern are matched literally.
    """

    kind: Literal["text"]
    path: str
    pattern: str


class WindowsProbe(Model):
    """One row [title, WM_CLASS] for every window, from the bottom of the screen to its top."""

    kind: Literal["windows"]


class KeyFileProbe(Model):
    """One row with a value of a key file (`[group]`, `key=value`), of which programs keep their settings; none when it
    is not set."""

    kind: Literal["setting"]
    path: str
    group: str
    key: str


ProgramProbe = Annotated[FilesProbe | TextProbe | WindowsProbe | KeyFileProbe, Field(discriminator="kind")]
