"""A table as text, Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby

NOTHING = "-"
GAP = "  "
# What a line of a page of LaTeX holds; a wider table is made as wide as the line.
MOST_CHARACTERS = 70
# The width of a title above several columns of LaTeX, for each of them.
EM_PER_COLUMN = 3

MINUS = re.compile(r"^-(?=\d)")
LATEX_MARKS = str.maketrans(
    {mark: f"\\{mark}" for mark in "&%$#_{}"}
    | {
        "\\": "\\textbackslash{}",
        "~": "\\textasciitilde{}",
        "^": "\\textasciicircum{}",
        "<": "\\textless{}",
        ">": "\\textgreater{}",
        "|": "\\textbar{}",
    }
)


@dataclass(frozen=True)
class Cell:
    """One entry of a table; bold is best, underlined is significant.

    Attributes
    ----------
    text : str
        The entry.
    bold, underline : bool
        How it is marked.
    beside : str
        What stands beside it in brackets, such as a published value.
    """

    text: str
    bold: bool = False
    underline: bool = False
    beside: str = ""


@dataclass(frozen=True)
class Table:
    """A table to render.

    Attributes
    ----------
    title : str
        What it shows.
    header : list of str
        The names of the columns.
    rows : list of list of Cell
        The entries.
    note : str
        What a reader must know to read it.
    groups : list of str
        The title above each column; equal neighbors are one title above all of them, and an
        empty one is none. Without any, the header has one line.
    beside : str
        What the brackets hold: in CSV, which has none, they are columns of this name.
    """

    title: str
    header: list[str]
    rows: list[list[Cell]]
    note: str = ""
    groups: list[str] = field(default_factory=list)
    beside: str = "published"

    @property
    def names(self) -> list[str]:
        """The names of the columns, each with its title before it."""
        groups = self.groups or [""] * len(self.header)
        return [f"{group} {name}".strip() for group, name in zip(groups, self.header, strict=True)]

    @property
    def spans(self) -> list[tuple[str, int]]:
        """The titles above the columns, and how many columns each spans."""
        return [(title, len(list(columns))) for title, columns in groupby(self.groups)]

    @property
    def holds_words(self) -> list[bool]:
        """Whether a column holds words, which begin at its edge; numbers end there."""
        return [place == 0 or self._is_words(place) for place in range(len(self.header))]

    def _is_words(self, place: int) -> bool:
        entries = {row[place].text for row in self.rows} - {NOTHING}
        return bool(entries) and all(text[:1].isalpha() for text in entries)


def render(table: Table, form: str) -> str:
    """Return a table in one of the ``FORMATS``."""
    return FORMATS[form](table)


def _text(table: Table) -> str:
    def mark(cell: Cell) -> str:
        marked = cell.text + ("*" if cell.bold else "") + ("_" if cell.underline else "")
        return _with_brackets(marked, cell)

    lines = [table.header, *([mark(cell) for cell in row] for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    titles = []
    place = 0
    for title, n_columns in table.spans:
        own = widths[place : place + n_columns]
        width = sum(own) + len(GAP) * (n_columns - 1)
        for missing in range(len(title) - width):
            widths[place + missing % n_columns] += 1
        place += n_columns
        titles.append(title.center(max(len(title), width)))
    body = [
        GAP.join(
            text.ljust(width) if is_word else text.rjust(width)
            for text, width, is_word in zip(line, widths, table.holds_words, strict=True)
        ).rstrip()
        for line in lines
    ]
    body.insert(1, "-" * max(map(len, body)))
    if titles:
        body.insert(0, GAP.join(titles).rstrip())
    cells = [cell for row in table.rows for cell in row]
    marks = {
        "* best": any(cell.bold for cell in cells),
        "_ significant": any(cell.underline for cell in cells),
    }
    legend = ", ".join(name for name, is_used in marks.items() if is_used)
    return "\n".join([table.title, "", *body, *filter(None, [legend, table.note])]) + "\n"


def _markdown(table: Table) -> str:
    def mark(cell: Cell) -> str:
        text = f"**{cell.text}**" if cell.bold else cell.text
        text = f"<u>{text}</u>" if cell.underline else text
        return escape(_with_brackets(text, cell))

    def escape(text: str) -> str:
        return text.replace("|", "\\|")

    lines = [
        f"**{table.title}**",
        "",
        "| " + " | ".join(escape(name) for name in table.names) + " |",
        "|" + "|".join(" --- " if is_word else " ---: " for is_word in table.holds_words) + "|",
        *("| " + " | ".join(mark(cell) for cell in row) + " |" for row in table.rows),
    ]
    return "\n".join([*lines, *(["", table.note] if table.note else [])]) + "\n"


def _latex(table: Table) -> str:
    """Render for the packages booktabs and graphicx; what is in brackets gets a line below."""

    def mark(cell: Cell) -> str:
        text = MINUS.sub("$-$", _escape(cell.text))
        text = f"\\underline{{{text}}}" if cell.underline else text
        return f"\\textbf{{{text}}}" if cell.bold else text

    lines = []
    for row in table.rows:
        lines.append([mark(cell) for cell in row])
        if any(cell.beside for cell in row):
            lines.append([f"({_escape(cell.beside)})" if cell.beside else "" for cell in row])
    columns = zip(table.header, *([cell.text for cell in row] for row in table.rows), strict=True)
    widths = [max(map(len, column)) for column in columns]
    is_wide = sum(widths) + len(GAP) * (len(widths) - 1) > MOST_CHARACTERS
    alignment = "".join("l" if is_word else "r" for is_word in table.holds_words)
    caption = " ".join(filter(None, [f"{table.title}.", table.note]))
    return (
        "\n".join(
            [
                "% Needs the packages booktabs and graphicx.",
                "\\begin{table}",
                "\\centering",
                f"\\caption{{{_escape(caption)}}}",
                *(["\\setlength{\\tabcolsep}{3pt}"] if is_wide else []),
                *(["\\resizebox{\\linewidth}{!}{%"] if is_wide else []),
                f"\\begin{{tabular}}{{{alignment}}}",
                "\\toprule",
                *_latex_titles(table),
                " & ".join(_escape(name) for name in table.header) + " \\\\",
                "\\midrule",
                *(" & ".join(line) + " \\\\" for line in lines),
                "\\bottomrule",
                "\\end{tabular}" + ("}" if is_wide else ""),
                "\\end{table}",
            ]
        )
        + "\n"
    )


def _latex_titles(table: Table) -> list[str]:
    """Return the line of titles above the columns, and a rule below each."""
    if not table.groups:
        return []
    titles, rules = [], []
    place = 1
    for title, n_columns in table.spans:
        box = f"\\parbox[b]{{{EM_PER_COLUMN * n_columns}em}}{{\\centering {_escape(title)}}}"
        titles.append(f"\\multicolumn{{{n_columns}}}{{c}}{{{box if title else ''}}}")
        if title:
            rules.append(f"\\cmidrule(lr){{{place}-{place + n_columns - 1}}}")
        place += n_columns
    return [" & ".join(titles) + " \\\\", "".join(rules)]


def _csv(table: Table) -> str:
    has_brackets = [
        any(row[place].beside for row in table.rows) for place in range(len(table.header))
    ]
    header, *rows = (
        [
            text
            for (own, beside), both in zip(line, has_brackets, strict=True)
            for text in ((own, beside) if both else (own,))
        ]
        for line in (
            [(name, f"{name} {table.beside}") for name in table.names],
            *([(cell.text, cell.beside) for cell in row] for row in table.rows),
        )
    )
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([["" if text == NOTHING else text for text in row] for row in rows])
    return buffer.getvalue()


def _with_brackets(text: str, cell: Cell) -> str:
    return f"{text} ({cell.beside})" if cell.beside else text


def _escape(text: str) -> str:
    return text.translate(LATEX_MARKS)


FORMATS: dict[str, Callable[[Table], str]] = {
    "text": _text,
    "markdown": _markdown,
    "latex": _latex,
    "csv": _csv,
}
