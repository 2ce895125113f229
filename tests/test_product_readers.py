"""Files of programs become rows of text: made here by the libraries that also read them, or damaged."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml import OxmlElement
from odf import draw, opendocument, style, table, text
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Font, PatternFill
from PIL import Image
from pptx.util import Inches
from pydantic import TypeAdapter

from pipeline.envs import product_readers
from pipeline.envs.fake_machine import FakeMachine
from pipeline.envs.product_probes import read_product
from pipeline.envs.product_readers import read_file, spelled
from pipeline.program_probe import ProductProbe, ProgramProbe

PROBE: TypeAdapter[Any] = TypeAdapter(ProgramProbe)


def probe(kind: str, **said: str) -> ProductProbe:
    found: ProductProbe = PROBE.validate_python({"kind": kind, "path": "a", **said})
    return found


def saved(save: Callable[[io.BytesIO], object]) -> bytes:
    file = io.BytesIO()
    save(file)
    return file.getvalue()


def workbook() -> bytes:
    book = openpyxl.Workbook()
    first = book.worksheets[0]
    first.title = "Sales"
    for row in (["Month", "Sum"], ["May", 12.5], [None, 3], ["=B2*2", date(2027, 1, 31)]):
        first.append(row)
    first["A1"].font = Font(bold=True)
    first["A1"].fill = PatternFill("solid", fgColor="FFFFFF00")
    chart = BarChart()
    chart.title = "By month"
    chart.add_data(Reference(first, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    first.add_chart(chart, "D2")
    book.create_sheet("Empty")
    return saved(book.save)


def document() -> bytes:
    made = docx.Document()
    made.add_heading("Report", 1)
    made.add_paragraph("")
    line = made.add_paragraph("All is ")
    line.add_run("well").bold = True
    line.alignment = WD_ALIGN_PARAGRAPH.CENTER
    grid = made.add_table(rows=1, cols=2)
    grid.cell(0, 0).text, grid.cell(0, 1).text = "Name", "Age"
    return saved(made.save)


def presentation() -> bytes:
    made = pptx.Presentation()
    for title in ("Plan", ""):
        slide = made.slides.add_slide(made.slide_layouts[0])
        slide.shapes[0].text_frame.text = title
    notes = made.slides[1].notes_slide.notes_text_frame
    assert notes is not None
    notes.text = "Speak slowly"
    return saved(made.save)


def letter() -> bytes:
    made = opendocument.OpenDocumentText()
    made.text.addElement(text.H(outlinelevel=1, text="Letter"))
    made.text.addElement(text.P(text="Dear Mia,"))
    made.text.addElement(text.P())
    return saved(made.write)


def sheet() -> bytes:
    made = opendocument.OpenDocumentSpreadsheet()
    for name, words in (("One", "x"), ("Two", "y")):
        grid, row = table.Table(name=name), table.TableRow()
        for said in (words, ""):
            cell = table.TableCell(numbercolumnsrepeated=2)
            cell.addElement(text.P(text=said))
            row.addElement(cell)
        grid.addElement(row)
        grid.addElement(table.TableRow(numberrowsrepeated=1_048_000))
        made.spreadsheet.addElement(grid)
    return saved(made.write)


def slides() -> bytes:
    made = opendocument.OpenDocumentPresentation()
    layout = style.PageLayout(name="L")
    made.automaticstyles.addElement(layout)
    master = style.MasterPage(name="M", pagelayoutname=layout)
    made.masterstyles.addElement(master)
    made.presentation.addElement(draw.Page(name="page1", masterpagename=master))
    return saved(made.write)


def picture(kind: str = "png") -> bytes:
    made = Image.new("RGB", (4, 3), "#102030")
    made.putpixel((2, 1), (255, 128, 0))
    return saved(lambda file: made.save(file, kind))


@pytest.mark.parametrize(
    ("asked", "make", "rows"),
    [
        ({"cells": "A1:B9"}, workbook, [["Month", "Sum"], ["May", "12.5"], ["", "3"], ["", "2027-01-31"]]),
        ({"cells": "B2"}, workbook, [["12.5"]]),
        ({"sheet": "Empty"}, workbook, []),
        ({"cells": "A4", "what": "formulas"}, workbook, [["=B2*2"]]),
        ({"what": "sheets"}, workbook, [["Sales"], ["Empty"]]),
        ({"what": "charts"}, workbook, [["Sales", "barChart", "By month"]]),
        ({"cells": "A1:B1", "what": "fonts"}, workbook, [["true", "false", "ffff00"], ["false", "false", ""]]),
    ],
)
def test_workbooks(asked: dict[str, str], make: Callable[[], bytes], rows: list[list[str]]) -> None:
    assert read_file(probe("cells", **asked), make()) == rows


@pytest.mark.parametrize(
    ("kind", "what", "make", "rows"),
    [
        ("document", "paragraphs", document, [["Report", "Heading 1"], ["All is well", "Normal"]]),
        ("document", "layout", document, [["Report", ""], ["All is well", "center"]]),
        ("document", "tables", document, [["Name", "Age"]]),
        ("slides", "texts", presentation, [["1", "Plan"]]),
        ("slides", "notes", presentation, [["2", "Speak slowly"]]),
        ("odf", "paragraphs", letter, [["Letter"], ["Dear Mia,"]]),
        ("odf", "cells", sheet, [["x", "x"]]),
        ("odf", "pages", slides, [["page1"]]),
    ],
)
def test_documents(kind: str, what: str, make: Callable[[], bytes], rows: list[list[str]]) -> None:
    assert read_file(probe(kind, what=what), make()) == rows


def test_fonts_of_a_text() -> None:
    rows = read_file(probe("document", what="fonts"), document())

    assert ["well", "true", "false", "false"] in rows and ["All is ", "false", "false", "false"] in rows


def test_a_sheet_is_found_by_its_name() -> None:
    assert read_file(probe("odf", what="cells", sheet="Two"), sheet()) == [["y", "y"]]
    with pytest.raises(ValueError, match="no sheet 'Three'"):
        read_file(probe("odf", what="cells", sheet="Three"), sheet())


def test_pictures_by_size_and_by_pixel() -> None:
    assert read_file(probe("image"), picture()) == [["PNG", "4", "3", "RGB"]]
    assert read_file(probe("image", x="2", y="1"), picture("bmp")) == [["#ff8000"]]


@pytest.mark.parametrize(
    ("colour", "told"),
    [((1, 2, 3, 255), "#010203"), ((1, 2, 3, 128), "#01020380"), ((255, 0, 0, 0), "transparent")],
)
def test_what_a_pixel_lets_through_is_told(colour: tuple[int, int, int, int], told: str) -> None:
    made = saved(lambda file: Image.new("RGBA", (2, 2), colour).save(file, "png"))

    assert read_file(probe("image", x="1", y="1"), made) == [[told]]


@pytest.mark.parametrize(("x", "y"), [("4", "0"), ("0", "3"), ("-1", "0"), ("0", "")])
def test_there_is_no_pixel_outside(x: str, y: str) -> None:
    with pytest.raises(ValueError, match=r"outside|invalid literal"):
        read_file(probe("image", x=x, y=y), picture())


def test_a_sheet_is_read_to_its_last_cell_whatever_is_only_formatted() -> None:
    book = openpyxl.Workbook()
    first = book.worksheets[0]
    first["AD1"], first["A250"] = "far", "late"
    first["XFD1048576"].font = Font(bold=True)

    rows = read_file(probe("cells"), saved(book.save))

    assert (len(rows), rows[0][29], rows[249][0]) == (250, "far", "late")


def test_a_sheet_that_is_too_large_is_refused_rather_than_cut() -> None:
    book = openpyxl.Workbook()
    book.worksheets[0]["XFD1048576"] = "x"

    with pytest.raises(ValueError, match="larger than"):
        read_file(probe("cells"), saved(book.save))


def covered_sheet(times: int = 300) -> bytes:
    """A cell over two columns, and below empty cells before one that is filled."""
    made = opendocument.OpenDocumentSpreadsheet()
    grid, first, second = table.Table(name="One"), table.TableRow(), table.TableRow()
    wide, last, far = table.TableCell(numbercolumnsspanned=2), table.TableCell(), table.TableCell()
    for cell, words in ((wide, "wide"), (last, "C"), (far, "far")):
        cell.addElement(text.P(text=words))
    for part in (wide, table.CoveredTableCell(), last):
        first.addElement(part)
    for part in (table.TableCell(numbercolumnsrepeated=times), far):
        second.addElement(part)
    for row in (first, table.TableRow(numberrowsrepeated=2), second):
        grid.addElement(row)
    made.spreadsheet.addElement(grid)
    return saved(made.write)


def test_covered_and_repeated_cells_keep_their_columns() -> None:
    rows = read_file(probe("odf", what="cells"), covered_sheet())

    assert (rows[0][:3], len(rows), rows[3].index("far")) == (["wide", "", "C"], 4, 300)
    with pytest.raises(ValueError, match="larger than"):
        read_file(probe("odf", what="cells"), covered_sheet(1_000_000))


def test_marks_come_from_styles_too_and_links_have_them() -> None:
    made = docx.Document()
    made.add_heading("Title", 1)
    line = made.add_paragraph()
    line.add_run("strong", style="Strong")
    line.add_run("plain", style="Strong").bold = False
    line.add_run("slanted", style="Emphasis")
    link = OxmlElement("w:hyperlink")
    link.append(line.add_run("link")._r)
    line._p.append(link)

    marks = {row[0]: row[1:3] for row in read_file(probe("document", what="fonts"), saved(made.save))}

    assert marks == {
        "Title": ["true", "false"],
        "strong": ["true", "false"],
        "plain": ["false", "false"],
        "slanted": ["false", "true"],
        "link": ["false", "false"],
    }


def test_texts_in_groups_and_tables_of_slides_are_texts() -> None:
    made = pptx.Presentation()
    shapes = made.slides.add_slide(made.slide_layouts[6]).shapes
    size = Inches(1)
    shapes.add_group_shape().shapes.add_textbox(size, size, size, size).text_frame.text = "grouped"
    shapes.add_table(1, 2, size, size, size, size).table.cell(0, 1).text = "in a cell"

    assert read_file(probe("slides"), saved(made.save)) == [["1", "grouped"], ["1", "in a cell"]]


def test_pages_of_a_pdf() -> None:
    pages = [Image.new("RGB", (40, 30), colour) for colour in ("white", "black")]
    content = saved(lambda file: pages[0].save(file, "pdf", save_all=True, append_images=pages[1:]))

    assert read_file(probe("pdf"), content) == [["1", ""], ["2", ""]]


@pytest.mark.parametrize("kind", ["cells", "document", "slides", "odf", "image", "pdf"])
def test_what_is_not_sound_is_not_read(kind: str) -> None:
    with pytest.raises(Exception, match=r"."):
        read_file(probe(kind), b"PK\x03\x04 no such file")


def test_a_file_that_would_unpack_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product_readers, "_MOST_BYTES", 100)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("content.xml", "x" * 101)

    with pytest.raises(ValueError, match="unpack to 101 bytes"):
        read_file(probe("odf"), packed.getvalue())


@pytest.mark.parametrize(
    ("value", "told"),
    [(None, ""), (True, "true"), (3.0, "3"), (0.1 + 0.2, "0.3"), (datetime(2027, 1, 31, 9, 5), "2027-01-31T09:05:00")],  # noqa: DTZ001
)
def test_values_are_spelled_shortly(value: object, told: str) -> None:
    assert spelled(value) == told


async def test_a_product_is_read_where_the_arguments_say() -> None:
    machine = FakeMachine()
    await machine.boot()
    await machine.revert()
    await machine.write("Documents/a.xlsx", workbook())
    asked = PROBE.validate_python({"kind": "cells", "path": "Documents/{file}", "cells": "{cell}"})

    assert await read_product(asked, {"file": "a.xlsx", "cell": "A2"}, machine) == [["May"]]
    assert await read_product(asked, {"file": "b.xlsx", "cell": "A2"}, machine) == []
