"""Opens the files that desktop programs make, by well-kept readers of their formats, and gives rows of text.

Numbers are spelled without needless digits, days as ISO dates, truth as `true` and `false`. A file may come from
anybody: one that would unpack to more than it should is refused. Knows nothing of where a file lies.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time
from typing import TypeVar

import docx
import openpyxl
import pptx
import pypdf
from docx.styles.style import CharacterStyle
from docx.text.hyperlink import Hyperlink
from docx.text.paragraph import Paragraph
from docx.text.run import Run
from odf import opendocument, table, teletype, text
from odf.draw import Page
from odf.element import Element
from openpyxl.cell.cell import Cell
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet
from PIL import Image
from pptx.shapes.autoshape import Shape
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape

from pipeline.program_probe import (
    CellsProbe,
    DocumentProbe,
    ImageProbe,
    OdfProbe,
    PdfProbe,
    ProductProbe,
    SlidesProbe,
)

Table = list[list[str]]
_Part = TypeVar("_Part", str, list[str])

_MOST_BYTES = 200_000_000
_MOST_CELLS = 200_000
"""Of a table; who wants to know of a larger one asks for a part."""


_SOLID = 255


def read_file(probe: ProductProbe, content: bytes) -> Table:
    """The rows of a probe in the content of its file; raises what the readers raise when it is not sound."""
    file = io.BytesIO(content)
    if isinstance(probe, CellsProbe | DocumentProbe | SlidesProbe | OdfProbe):
        _refuse_bomb(file)
    match probe:
        case CellsProbe():
            return _workbook(probe, file)
        case DocumentProbe():
            return _document(probe, file)
        case SlidesProbe():
            return _slides(probe, file)
        case OdfProbe():
            return _odf(probe, file)
        case ImageProbe():
            return _image(probe, file)
        case PdfProbe():
            pages = pypdf.PdfReader(file).pages
            return [[str(number), " ".join(page.extract_text().split())] for number, page in enumerate(pages, 1)]


def spelled(value: object) -> str:
    """A cell's value as text."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.10g}"
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return str(value)


def _refuse_bomb(file: io.BytesIO) -> None:
    with zipfile.ZipFile(file) as packed:
        whole = sum(entry.file_size for entry in packed.infolist())
    if whole > _MOST_BYTES:
        raise ValueError(f"the file would unpack to {whole} bytes")
    file.seek(0)


def _workbook(probe: CellsProbe, file: io.BytesIO) -> Table:
    book = openpyxl.load_workbook(file, data_only=probe.what != "formulas")
    if probe.what == "sheets":
        return [[name] for name in book.sheetnames]
    if probe.what == "charts":
        return [[sheet.title, *row] for sheet in book.worksheets for row in _charts(sheet)]
    sheet = book[probe.sheet] if probe.sheet else book.worksheets[0]
    if not isinstance(sheet, Worksheet):
        raise ValueError(f"'{sheet.title}' has no cells")
    found = sheet[probe.cells or _filled(sheet)]
    rows = found if isinstance(found, tuple) else ((found,),)
    if probe.what == "fonts":
        return [_font(cell) for row in rows for cell in row]
    return _without_end([[spelled(cell.value) for cell in row] for row in rows])


def _filled(sheet: Worksheet) -> str:
    """The part of a sheet that has something in it: many have a format to the end of all rows and columns."""
    places = [place for place, cell in sheet._cells.items() if cell.value is not None]
    height, width = (max((place[way] for place in places), default=1) for way in (0, 1))
    _refuse_more(height * width)
    return f"A1:{get_column_letter(width)}{height}"


def _refuse_more(cells: int) -> None:
    if cells > _MOST_CELLS:
        raise ValueError(f"a table of {cells} cells is larger than anybody should look through")


def _charts(sheet: Worksheet) -> Iterator[list[str]]:
    for chart in sheet._charts:  # type: ignore[attr-defined]  # the reader has no other name for them
        runs = chart.title.tx.rich.p if chart.title and chart.title.tx and chart.title.tx.rich else []
        title = "".join(run.t for paragraph in runs for run in paragraph.r or [])
        yield [chart.tagname, title]


def _font(cell: Cell) -> list[str]:
    ground = cell.fill.fgColor.rgb if cell.fill.fill_type == "solid" else ""
    return [spelled(bool(cell.font.b)), spelled(bool(cell.font.i)), str(ground)[-6:].lower()]


def _without_end(rows: Table) -> Table:
    """The rows up to the last that has something, each up to the last cell that any of them has."""
    while rows and not any(rows[-1]):
        rows.pop()
    width = max((place for row in rows for place, cell in enumerate(row, 1) if cell), default=0)
    return [row[:width] for row in rows]


def _document(probe: DocumentProbe, file: io.BytesIO) -> Table:
    document = docx.Document(file)
    paragraphs = [paragraph for paragraph in document.paragraphs if paragraph.text.strip()]
    match probe.what:
        case "tables":
            return [[cell.text for cell in row.cells] for grid in document.tables for row in grid.rows]
        case "fonts":
            return [_marks(run, paragraph) for paragraph in paragraphs for run in _runs(paragraph) if run.text.strip()]
        case "layout":
            return [[one.text, one.alignment.name.lower() if one.alignment is not None else ""] for one in paragraphs]
        case "paragraphs":
            return [[one.text, (one.style.name or "") if one.style is not None else ""] for one in paragraphs]


def _runs(paragraph: Paragraph) -> Iterator[Run]:
    for part in paragraph.iter_inner_content():
        yield from part.runs if isinstance(part, Hyperlink) else [part]


def _marks(run: Run, paragraph: Paragraph) -> list[str]:
    """A run and its marks: its own, else those of its style, else those of the paragraph's."""
    styles = [*_line_of(run.style), *_line_of(paragraph.style)]
    fonts = [run.font, *(style.font for style in styles)]
    marks = ([font.bold for font in fonts], [font.italic for font in fonts], [font.underline for font in fonts])
    return [run.text, *(spelled(bool(next((one for one in told if one is not None), False))) for told in marks)]


def _line_of(style: object) -> Iterator[CharacterStyle]:
    """A style and those that it builds on."""
    seen: set[str] = set()
    while isinstance(style, CharacterStyle) and style.style_id not in seen:
        yield style
        seen.add(style.style_id)
        style = style.base_style


def _slides(probe: SlidesProbe, file: io.BytesIO) -> Table:
    slides = list(enumerate(pptx.Presentation(file).slides, 1))
    if probe.what == "notes":
        frames = [(number, slide.notes_slide.notes_text_frame) for number, slide in slides if slide.has_notes_slide]
        return [[str(number), frame.text] for number, frame in frames if frame is not None and frame.text.strip()]
    return [[str(number), words] for number, slide in slides for words in _texts(slide.shapes) if words.strip()]


def _texts(shapes: Iterable[BaseShape]) -> Iterator[str]:
    """The texts of shapes, of those that are grouped and of each cell of tables as well."""
    for shape in shapes:
        if isinstance(shape, GroupShape):
            yield from _texts(shape.shapes)
        elif isinstance(shape, GraphicFrame) and shape.has_table:
            yield from (cell.text for cell in shape.table.iter_cells() if not cell.is_spanned)
        elif isinstance(shape, Shape):
            yield shape.text_frame.text


def _odf(probe: OdfProbe, file: io.BytesIO) -> Table:
    document = opendocument.load(file)
    match probe.what:
        case "pages":
            return [[page.getAttribute("name") or ""] for page in document.getElementsByType(Page)]
        case "paragraphs":
            found = _below(document.body, {text.P(check_grammar=False).qname, text.H(outlinelevel=1).qname})
            return [[words] for one in found if (words := teletype.extractText(one)).strip()]
        case "cells":
            sheets = document.getElementsByType(table.Table)
            wanted = [sheet for sheet in sheets if probe.sheet in ("", sheet.getAttribute("name"))]
            if not wanted:
                raise ValueError(f"there is no sheet '{probe.sheet}'")
            return _sheet(wanted[0])


def _sheet(sheet: Element) -> Table:
    """The rows of a sheet. What is empty at the end is stored as one that is repeated a million times."""
    rows: list[tuple[list[str], int]] = []
    for row in sheet.getElementsByType(table.TableRow):
        cells = [part for part in map(_cell, row.childNodes) if part is not None]
        rows.append((_repeated(cells, ""), int(row.getAttribute("numberrowsrepeated") or 1)))
    width = max((len(cells) for cells, _ in rows), default=0)
    return _repeated([(cells + [""] * (width - len(cells)), times) for cells, times in rows], [""] * width)


def _repeated(parts: Sequence[tuple[_Part, int]], empty: _Part) -> list[_Part]:
    """Each part as often as it is repeated, up to the last that is not empty."""
    last = max((number for number, (part, _) in enumerate(parts, 1) if part != empty), default=0)
    _refuse_more(sum(times * max(1, len(part) if isinstance(part, list) else 1) for part, times in parts[:last]))
    return [part for part, times in parts[:last] for _ in range(times)]


def _cell(node: Element) -> tuple[str, int] | None:
    """What a cell shows and how often it is repeated; nothing for what is no cell. One that another covers is empty."""
    kinds = {table.TableCell(check_grammar=False).qname: True, table.CoveredTableCell(check_grammar=False).qname: False}
    shows = kinds.get(getattr(node, "qname", None))
    if shows is None:
        return None
    return (teletype.extractText(node) if shows else ""), int(node.getAttribute("numbercolumnsrepeated") or 1)


def _below(element: Element, names: set[object]) -> Iterator[Element]:
    for child in element.childNodes:
        if getattr(child, "qname", None) in names:
            yield child
        else:
            yield from _below(child, names)


def _image(probe: ImageProbe, file: io.BytesIO) -> Table:
    with Image.open(file) as picture:
        picture.load()
        if not probe.x:
            return [[picture.format or "", str(picture.width), str(picture.height), picture.mode]]
        x, y = int(probe.x), int(probe.y)
        if not (0 <= x < picture.width and 0 <= y < picture.height):
            raise ValueError(f"({x}, {y}) lies outside a picture of {picture.width} by {picture.height}")
        red, green, blue, solid = picture.convert("RGBA").crop((x, y, x + 1, y + 1)).tobytes()
    if solid == 0:
        return [["transparent"]]
    return [[f"#{red:02x}{green:02x}{blue:02x}" + (f"{solid:02x}" if solid < _SOLID else "")]]
