"""Help pages as blocks: headings, paragraphs, list items, steps, table cells, labels and buttons, in reading order.

Reads HTML, Markdown, two wiki markups, plain text and the messages of translated programs. What is a page's main text
is decided by an extractor made for it; headings, labels and buttons, which such extractors drop, are kept around it.
Knows nothing of where pages lie or of what they say.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Literal, NamedTuple

import lxml.html
import trafilatura
from lxml.etree import ParserError
from markdown_it import MarkdownIt

from catalogs.messages import messages_in, squashed

BlockKind = Literal["heading", "paragraph", "item", "step", "cell", "label", "button"]
Format = Literal["html", "markdown", "trac", "tiddlywiki", "text", "po", "json", "multids"]

_SKIPPED = frozenset(
    {"script", "style", "noscript", "template", "svg", "nav", "header", "footer", "aside", "head", "iframe", "object"}
    | {"pre", "textarea", "select"}
)
_INLINE = frozenset(
    {"a", "abbr", "b", "bdi", "bdo", "br", "cite", "code", "em", "font", "i", "img", "kbd", "mark", "q", "s", "samp"}
    | {"small", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr"}
)
_MARKING = frozenset({"b", "strong", "em", "i", "kbd"})
_MARKING_CLASSES = frozenset({"emph", "menuitem", "guimenu", "guilabel", "menuselection", "menuchoice", "widget"})
_HEADING = re.compile(r"h([1-6])$")
_KINDS: dict[str, BlockKind] = {"td": "cell", "th": "cell", "label": "label", "legend": "label", "button": "button"}
_PRESSED = frozenset({"submit", "button"})
_SECTIONS = ("heading", "label", "button")
"""What is kept around main text: the extractor takes it for furniture."""


class Block(NamedTuple):
    """A piece of a page. `marked` are the words set apart in it (bold, or as a menu); `level` is a heading's.

    `anchor` is the same in every language of the page, as far as the page says so.
    """

    kind: BlockKind
    text: str
    level: int = 0
    anchor: str = ""
    marked: tuple[str, ...] = ()


class Page(NamedTuple):
    """What was read of one file."""

    title: str
    blocks: tuple[Block, ...]


def read_page(text: str, form: Format, language: str, leave_out: Sequence[str] = ()) -> Page:
    """A page of this format; of HTML, elements with a class in `leave_out` are not read. Never fails on its input."""
    match form:
        case "html":
            return _html(text, leave_out, whole=False)
        case "markdown":
            return _html(MarkdownIt("commonmark").enable("table").render(text), leave_out, whole=True)
        case "po" | "json" | "multids":
            return Page("", tuple(Block("label", said, anchor=key) for key, said in messages_in(text, form, language)))
        case "trac" | "tiddlywiki" | "text":
            return _lines(text, _MARKUPS[form])


# --- HTML ---------------------------------------------------------------------------------------------------------


def _html(text: str, leave_out: Sequence[str], *, whole: bool) -> Page:
    try:
        tree = lxml.html.document_fromstring(
            text.replace("\0", "").encode("utf-8"), parser=lxml.html.HTMLParser(encoding="utf-8")
        )
    except (ParserError, ValueError):
        return Page("", ())
    for element in [*tree.iter()]:
        if not isinstance(element.tag, str) or set((element.get("class") or "").split()) & set(leave_out):
            element.drop_tree()
    title = squashed(tree.findtext(".//title") or "")
    blocks = tuple(_blocks(tree))
    return Page(title, blocks if whole else _main(tree, blocks))


def _main(tree: lxml.html.HtmlElement, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks of the main text, and the headings, labels and buttons within its bounds or right before it."""
    said = _main_text(tree)
    if not said:
        return blocks
    held = [block.kind not in _SECTIONS and _bare(block.text) in said for block in blocks]
    if True not in held:
        return blocks
    first, last = held.index(True), len(held) - 1 - held[::-1].index(True)
    while first and blocks[first - 1].kind in _SECTIONS:
        first -= 1
    return tuple(
        block
        for block, kept in list(zip(blocks, held, strict=True))[first : last + 1]
        if kept or block.kind in _SECTIONS
    )


def _main_text(tree: lxml.html.HtmlElement) -> str:
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # pages without a text are no news
    plain = deepcopy(tree)
    for element in plain.iter(*_INLINE):
        # The names of menus within a sentence would be taken for menus of the site.
        element.attrib.clear()
    text = trafilatura.extract(
        lxml.html.tostring(plain, encoding="unicode"), include_comments=False, include_tables=True, favor_recall=True
    )
    return _bare(re.sub(r"(?m)^\s*[-|#]+|\|", "", text or ""))


def _bare(text: str) -> str:
    return re.sub(r"[\s|]+", "", text)


def _blocks(element: lxml.html.HtmlElement) -> Iterator[Block]:
    """The blocks of an element in reading order: its own text first, then those of block elements within."""
    if element.tag in _SKIPPED:
        return
    if element.tag == "input":
        yield from _input(element)
        return
    run = _Run()
    run.add(element.text)
    for child in element:
        if child.tag in _INLINE:
            yield from _inline(child, element, run)
        else:
            yield from run.ended(element)
            yield from _blocks(child)
        run.add(child.tail)
    yield from run.ended(element)


def _inline(element: lxml.html.HtmlElement, block: lxml.html.HtmlElement, run: _Run) -> Iterator[Block]:
    """Read an inline element into the run of its block; block elements inside it are blocks of their own."""
    begins = len(run.text)
    run.add(" " if element.tag == "br" else element.text)
    for child in element:
        if child.tag in _INLINE:
            yield from _inline(child, block, run)
        elif child.tag not in _SKIPPED:
            yield from run.ended(block)
            yield from _blocks(child)
            begins = len(run.text)
        run.add(child.tail)
    if element.tag in _MARKING or set((element.get("class") or "").split()) & _MARKING_CLASSES:
        run.mark(begins)


class _Run:
    """Text of one block that is being read."""

    def __init__(self) -> None:
        self.text = ""
        self._marked: list[tuple[int, int]] = []

    def add(self, text: str | None) -> None:
        self.text += text or ""

    def mark(self, begins: int) -> None:
        """Set the text since `begins` apart; parts that touch are one."""
        if self._marked and self.text[self._marked[-1][1] : begins].strip() == "":
            begins = self._marked.pop()[0]
        if self.text[begins:].strip():
            self._marked.append((begins, len(self.text)))

    def ended(self, element: lxml.html.HtmlElement) -> Iterator[Block]:
        """The block, when there is any text; then begin anew."""
        text = squashed(self.text)
        marked = tuple(squashed(self.text[begins:ends]) for begins, ends in self._marked)
        self.text, self._marked = "", []
        if text:
            kind, level = _kind(element)
            yield Block(kind, text, level, element.get("id") or "", marked)


def _kind(element: lxml.html.HtmlElement) -> tuple[BlockKind, int]:
    for around in (element, *element.iterancestors()):
        heading = _HEADING.match(around.tag)
        if heading:
            return "heading", int(heading[1])
        if around.tag in _KINDS:
            return _KINDS[around.tag], 0
        if around.tag == "li":
            above = around.getparent()
            return ("step" if above is not None and above.tag == "ol" else "item"), 0
    return "paragraph", 0


def _input(element: lxml.html.HtmlElement) -> Iterator[Block]:
    kind = (element.get("type") or "text").casefold()
    text = squashed(element.get("value") if kind in _PRESSED else element.get("placeholder") or "")
    if text and kind != "hidden":
        yield Block("button" if kind in _PRESSED else "label", text, 0, element.get("id") or "")


# --- lines --------------------------------------------------------------------------------------------------------


class _Markup(NamedTuple):
    """How a markup of lines is written; a heading's level is the length of its first group."""

    heading: re.Pattern[str]
    step: re.Pattern[str]
    item: re.Pattern[str]
    cell: str | None
    fence: re.Pattern[str]
    bold: re.Pattern[str]
    plain: Callable[[str], str]
    head: bool = False
    """Whether fields stand before the text, up to the first empty line."""


def _trac(text: str) -> str:
    text = re.sub(
        r"\[\[(?:[^\]|\"]*\|)?([^\]]*)\]\]", r"\1", re.sub(r"\[=#[^\]]*\]|\[\[[A-Z]\w*(\(.*?\))?\]\]", "", text)
    )
    text = re.sub(r"\[[\w.:/#?=&-]+ ([^\]]+)\]", r"\1", text)
    return re.sub(r"'{2,5}|`|\{\{\{|\}\}\}|!(?=[A-Z])", "", text)


def _tiddlywiki(text: str) -> str:
    text = re.sub(r"\[\[([^\]|]*)(?:\|[^\]]*)?\]\]", r"\1", text)
    text = re.sub(r"<<[^>]*>>|\{\{[^}]*\}\}|<[^>]+>", "", text)
    return re.sub(r"''|//|__|~~|`", "", text)


_NEVER = re.compile(r"(?!)")
_MARKUPS = {
    "trac": _Markup(
        heading=re.compile(r"(=+)\s*(.+?)\s*=*\s*(?:#\S+)?$"),
        step=re.compile(r"\s+\d+\.\s+(.+)"),
        item=re.compile(r"\s*[*-]\s+(.+)"),
        cell="||",
        fence=re.compile(r"\s*(\{\{\{|\}\}\})"),
        bold=re.compile(r"'''(.+?)'''"),
        plain=_trac,
    ),
    "tiddlywiki": _Markup(
        heading=re.compile(r"(!+)\s*(.+)"),
        step=re.compile(r"#+\s*(.+)"),
        item=re.compile(r"[*:;]+\s*(.+)"),
        cell="|",
        fence=re.compile(r"(```|\$\$\$)"),
        bold=re.compile(r"''(.+?)''"),
        plain=_tiddlywiki,
        head=True,
    ),
    "text": _Markup(
        heading=_NEVER,
        step=re.compile(r"\s*\d+[.)]\s+(.+)"),
        item=re.compile(r"\s*[*•-]\s+(.+)"),
        cell=None,
        fence=_NEVER,
        bold=_NEVER,
        plain=squashed,
    ),
}


def _lines(text: str, markup: _Markup) -> Page:
    title, text = _head(text) if markup.head else ("", text)
    return Page(title, tuple(block for block in _line_blocks(text, markup) if block.text))


def _head(text: str) -> tuple[str, str]:
    fields, _, body = text.replace("\r\n", "\n").partition("\n\n")
    title = re.search(r"(?m)^title:\s*(.+)$", fields)
    return (title[1].strip() if title else ""), body


def _line_blocks(text: str, markup: _Markup) -> Iterator[Block]:
    lines: list[str] = []
    fenced = False
    for line in [*text.splitlines(), ""]:
        fence = markup.fence.match(line)
        if fence or fenced:
            fenced = fenced != bool(fence)
            continue
        single = [] if lines and line.startswith(("  ", "\t")) else list(_single(line, markup))
        if (single or not line.strip()) and lines:
            yield _inked("paragraph", " ".join(lines), markup)
            lines = []
        yield from single
        if not single and line.strip():
            lines.append(line)


def _single(line: str, markup: _Markup) -> Iterator[Block]:
    """The blocks of a line that is no paragraph."""
    if heading := markup.heading.match(line):
        yield _inked("heading", heading[2], markup)._replace(level=len(heading[1]))
    elif markup.cell and line.strip().startswith(markup.cell):
        yield from (_inked("cell", cell.strip(" =!"), markup) for cell in line.split(markup.cell) if cell.strip(" =!"))
    elif step := markup.step.match(line):
        yield _inked("step", step[1], markup)
    elif item := markup.item.match(line):
        yield _inked("item", item[1], markup)


def _inked(kind: BlockKind, text: str, markup: _Markup) -> Block:
    marked = tuple(squashed(markup.plain(found)) for found in markup.bold.findall(text))
    return Block(kind, squashed(markup.plain(text)), marked=marked)
