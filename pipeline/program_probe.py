"""Read-only questions to a desktop program, as its entry writes them: about its files, and about what shows.

A program has no interface to ask; its products are files of the home folder, named relative to it. `{name}` in a path,
a pattern or a name is the check's argument. A product that is not there has no rows; one that is not sound cannot be
read. Knows nothing of how files are read.
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


class CellsProbe(Model):
    """A workbook (xlsx).

    `values` and `formulas`: the rows of `cells` (`A1`, `B2:D9`; all where none are named) of a sheet, the first where
    none is named, without what is empty at the end. `sheets`: one row with each sheet's name. `charts`: [sheet, kind,
    title] of each chart. `fonts`: [bold, italic, colour of the ground] of each cell.
    """

    kind: Literal["cells"]
    path: str
    sheet: str = ""
    cells: str = ""
    what: Literal["values", "formulas", "sheets", "charts", "fonts"] = "values"


class DocumentProbe(Model):
    """A text document (docx).

    `paragraphs`: [text, style] of each that has text. `fonts`: [text, bold, italic, underlined] of each run of
    characters, by its own marks or those of its styles. `layout`: [text, alignment]. `tables`: the cells of every row
    of every table.
    """

    kind: Literal["document"]
    path: str
    what: Literal["paragraphs", "fonts", "layout", "tables"] = "paragraphs"


class SlidesProbe(Model):
    """A presentation (pptx): [number of the slide, text] of every shape and cell with text, or of its notes."""

    kind: Literal["slides"]
    path: str
    what: Literal["texts", "notes"] = "texts"


class OdfProbe(Model):
    """A document of the Open Document Format, zipped.

    `paragraphs`: one row with the text of each that has some, headings and cells as well. `cells`: the rows of a sheet,
    the first where none is named. `pages`: the names of the pages of a presentation.
    """

    kind: Literal["odf"]
    path: str
    sheet: str = ""
    what: Literal["paragraphs", "cells", "pages"] = "paragraphs"


class ImageProbe(Model):
    """A picture: one row [format, width, height, mode], or the colour of the pixel at `x`, `y`: `#rrggbb`, `#rrggbbaa`
    where it lets something through, or `transparent`."""

    kind: Literal["image"]
    path: str
    x: str = ""
    y: str = ""


class PdfProbe(Model):
    """A PDF: [number, text] of each page, the text in one line."""

    kind: Literal["pdf"]
    path: str


ProductProbe = CellsProbe | DocumentProbe | SlidesProbe | OdfProbe | ImageProbe | PdfProbe
"""Questions to a product of a kind that takes a reader of its own."""

ProgramProbe = Annotated[
    FilesProbe | TextProbe | WindowsProbe | KeyFileProbe | ProductProbe, Field(discriminator="kind")
]
