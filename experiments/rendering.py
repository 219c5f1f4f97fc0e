"""Rendering of tables as text, Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby

MISSING = "-"
GAP = "  "
# A LaTeX table with longer lines is shrunk to the width of the page.
MAX_LATEX_CHARACTERS = 70
# Width of a LaTeX group title, per column below it.
EM_PER_COLUMN = 3

MINUS = re.compile(r"^-(?=\d)")
LATEX_ESCAPES = str.maketrans(
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
    """One entry of a table.

    Attributes
    ----------
    text : str
        The entry.
    bold : bool
        Whether it is the best.
    underline : bool
        Whether it is statistically significant.
    reference : str
        A value to compare with, such as the published one, shown in parentheses.
    """

    text: str
    bold: bool = False
    underline: bool = False
    reference: str = ""


@dataclass(frozen=True)
class Table:
    """A table to render.

    Attributes
    ----------
    title : str
        What the table shows.
    header : list of str
        Names of the columns.
    rows : list of list of Cell
        The entries.
    note : str
        What a reader needs to know to read the table.
    groups : list of str
        Title above each column. Adjacent columns with the same title share it; an empty title is
        not shown. An empty list means a one-line header.
    reference_name : str
        What the values in parentheses are. In CSV files, they become columns with this name.
    """

    title: str
    header: list[str]
    rows: list[list[Cell]]
    note: str = ""
    groups: list[str] = field(default_factory=list)
    reference_name: str = "published"

    @property
    def names(self) -> list[str]:
        """Full names of the columns, with their group titles."""
        groups = self.groups or [""] * len(self.header)
        return [f"{group} {name}".strip() for group, name in zip(groups, self.header, strict=True)]

    @property
    def spans(self) -> list[tuple[str, int]]:
        """Group titles and the number of columns that each spans."""
        return [(title, len(list(columns))) for title, columns in groupby(self.groups)]

    @property
    def is_text(self) -> list[bool]:
        """Whether each column contains text, which is left-aligned, rather than numbers."""
        return [index == 0 or self._is_text(index) for index in range(len(self.header))]

    def _is_text(self, index: int) -> bool:
        entries = {row[index].text for row in self.rows} - {MISSING}
        return bool(entries) and all(text[:1].isalpha() for text in entries)


def plain_rows(rows: Iterable[Iterable[object]]) -> list[list[Cell]]:
    """Return rows of cells without marks."""
    return [[Cell(str(value)) for value in row] for row in rows]


def render(table: Table, form: str) -> str:
    """Return a table as a string.

    Parameters
    ----------
    table : Table
        The table.
    form : {"text", "markdown", "latex", "csv"}
        The format.

    Returns
    -------
    str
        The rendered table, which ends with a newline.
    """
    return FORMATS[form](table)


def _render_text(table: Table) -> str:
    def mark(cell: Cell) -> str:
        marked = cell.text + ("*" if cell.bold else "") + ("_" if cell.underline else "")
        return _add_reference(marked, cell)

    lines = [table.header, *([mark(cell) for cell in row] for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    titles = []
    start = 0
    for title, n_columns in table.spans:
        width = sum(widths[start : start + n_columns]) + len(GAP) * (n_columns - 1)
        for missing in range(len(title) - width):
            widths[start + missing % n_columns] += 1
        start += n_columns
        titles.append(title.center(max(len(title), width)))
    body = [
        GAP.join(
            text.ljust(width) if is_text else text.rjust(width)
            for text, width, is_text in zip(line, widths, table.is_text, strict=True)
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


def _render_markdown(table: Table) -> str:
    def mark(cell: Cell) -> str:
        text = f"**{cell.text}**" if cell.bold else cell.text
        text = f"<u>{text}</u>" if cell.underline else text
        return escape(_add_reference(text, cell))

    def escape(text: str) -> str:
        return text.replace("|", "\\|")

    lines = [
        f"**{table.title}**",
        "",
        "| " + " | ".join(escape(name) for name in table.names) + " |",
        "|" + "|".join(" --- " if is_text else " ---: " for is_text in table.is_text) + "|",
        *("| " + " | ".join(mark(cell) for cell in row) + " |" for row in table.rows),
    ]
    return "\n".join([*lines, *(["", table.note] if table.note else [])]) + "\n"


def _render_latex(table: Table) -> str:
    """Render for the packages booktabs and graphicx, with references on separate lines."""

    def mark(cell: Cell) -> str:
        text = MINUS.sub("$-$", _escape_latex(cell.text))
        text = f"\\underline{{{text}}}" if cell.underline else text
        return f"\\textbf{{{text}}}" if cell.bold else text

    lines = []
    for row in table.rows:
        lines.append([mark(cell) for cell in row])
        if any(cell.reference for cell in row):
            lines.append(
                [f"({_escape_latex(cell.reference)})" if cell.reference else "" for cell in row]
            )
    columns = zip(table.header, *([cell.text for cell in row] for row in table.rows), strict=True)
    widths = [max(map(len, column)) for column in columns]
    is_wide = sum(widths) + len(GAP) * (len(widths) - 1) > MAX_LATEX_CHARACTERS
    alignment = "".join("l" if is_text else "r" for is_text in table.is_text)
    caption = " ".join(filter(None, [f"{table.title}.", table.note]))
    return (
        "\n".join(
            [
                "% Needs the packages booktabs and graphicx.",
                "\\begin{table}",
                "\\centering",
                f"\\caption{{{_escape_latex(caption)}}}",
                *(["\\setlength{\\tabcolsep}{3pt}"] if is_wide else []),
                *(["\\resizebox{\\linewidth}{!}{%"] if is_wide else []),
                f"\\begin{{tabular}}{{{alignment}}}",
                "\\toprule",
                *_latex_group_titles(table),
                " & ".join(_escape_latex(name) for name in table.header) + " \\\\",
                "\\midrule",
                *(" & ".join(line) + " \\\\" for line in lines),
                "\\bottomrule",
                "\\end{tabular}" + ("}" if is_wide else ""),
                "\\end{table}",
            ]
        )
        + "\n"
    )


def _latex_group_titles(table: Table) -> list[str]:
    """Return the line of group titles and the line of rules below them."""
    if not table.groups:
        return []
    titles, rules = [], []
    start = 1
    for title, n_columns in table.spans:
        box = f"\\parbox[b]{{{EM_PER_COLUMN * n_columns}em}}{{\\centering {_escape_latex(title)}}}"
        titles.append(f"\\multicolumn{{{n_columns}}}{{c}}{{{box if title else ''}}}")
        if title:
            rules.append(f"\\cmidrule(lr){{{start}-{start + n_columns - 1}}}")
        start += n_columns
    return [" & ".join(titles) + " \\\\", "".join(rules)]


def _render_csv(table: Table) -> str:
    has_reference = [
        any(row[index].reference for row in table.rows) for index in range(len(table.header))
    ]
    lines = [
        [(name, f"{name} {table.reference_name}") for name in table.names],
        *([(cell.text, cell.reference) for cell in row] for row in table.rows),
    ]
    header, *rows = (
        [
            text
            for pair, has_both in zip(line, has_reference, strict=True)
            for text in (pair if has_both else pair[:1])
        ]
        for line in lines
    )
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([["" if text == MISSING else text for text in row] for row in rows])
    return buffer.getvalue()


def _add_reference(text: str, cell: Cell) -> str:
    return f"{text} ({cell.reference})" if cell.reference else text


def _escape_latex(text: str) -> str:
    return text.translate(LATEX_ESCAPES)


FORMATS: dict[str, Callable[[Table], str]] = {
    "text": _render_text,
    "markdown": _render_markdown,
    "latex": _render_latex,
    "csv": _render_csv,
}
