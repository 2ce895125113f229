"""Opens the files that desktop programs make, by well-kept readers of their formats, and gives rows of text.

Numbers are spelled without needless digits, days as ISO dates, truth as `true` and `false`. A file may come from
anybody: one that would unpack to more than it should is refused. Knows nothing of where a file lies.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time

import docx
import openpyxl
import pptx
import pypdf
from odf import opendocument, table, teletype, text
from odf.draw import Page
from odf.element import Element
from openpyxl.cell.cell import Cell
from openpyxl.worksheet.worksheet import Worksheet
from PIL import Image

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

_MOST_BYTES = 200_000_000
_MOST_REPEATED = 200
"""Empty cells and rows at the end of a sheet are stored as one that is repeated a million times."""


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
    found = sheet[probe.cells]
    rows = found if isinstance(found, tuple) else ((found,),)
    if probe.what == "fonts":
        return [_font(cell) for row in rows for cell in row]
    return _without_end([[spelled(cell.value) for cell in row] for row in rows])


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
            runs = [run for paragraph in paragraphs for run in paragraph.runs if run.text.strip()]
            return [
                [one.text, *(spelled(bool(mark)) for mark in (one.bold, one.italic, one.underline))] for one in runs
            ]
        case "layout":
            return [[one.text, one.alignment.name.lower() if one.alignment is not None else ""] for one in paragraphs]
        case "paragraphs":
            return [[one.text, (one.style.name or "") if one.style is not None else ""] for one in paragraphs]


def _slides(probe: SlidesProbe, file: io.BytesIO) -> Table:
    slides = list(enumerate(pptx.Presentation(file).slides, 1))
    if probe.what == "notes":
        frames = [(number, slide.notes_slide.notes_text_frame) for number, slide in slides if slide.has_notes_slide]
        return [[str(number), frame.text] for number, frame in frames if frame is not None and frame.text.strip()]
    shapes = [(number, shape) for number, slide in slides for shape in slide.shapes if shape.has_text_frame]
    texts = [(number, shape.text_frame.text) for number, shape in shapes]
    return [[str(number), words] for number, words in texts if words.strip()]


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
            return _without_end([cells for row in wanted[0].getElementsByType(table.TableRow) for cells in _row(row)])


def _row(row: Element) -> Iterator[list[str]]:
    """A row of a sheet, as often as it is repeated."""
    cells = [
        teletype.extractText(cell)
        for cell in row.getElementsByType(table.TableCell)
        for _ in range(min(int(cell.getAttribute("numbercolumnsrepeated") or 1), _MOST_REPEATED))
    ]
    for _ in range(min(int(row.getAttribute("numberrowsrepeated") or 1), _MOST_REPEATED)):
        yield cells


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
        red, green, blue = picture.convert("RGB").crop((x := int(probe.x), y := int(probe.y), x + 1, y + 1)).tobytes()
    return [[f"#{red:02x}{green:02x}{blue:02x}"]]
