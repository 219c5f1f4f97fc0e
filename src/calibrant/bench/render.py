"""A table as text, Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """One entry of a table; bold is best, underlined is significant."""

    text: str
    bold: bool = False
    underline: bool = False


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
    """

    title: str
    header: list[str]
    rows: list[list[Cell]]
    note: str = ""


def render(table: Table, form: str) -> str:
    """Return a table in one of the ``FORMATS``."""
    return FORMATS[form](table)


def _text(table: Table) -> str:
    def mark(cell: Cell) -> str:
        return cell.text + ("*" if cell.bold else "") + ("_" if cell.underline else "")

    lines = [table.header, *([mark(cell) for cell in row] for row in table.rows)]
    columns = list(zip(*lines, strict=True))
    widths = [max(map(len, column)) for column in columns]
    # Words begin, numbers end at the edge of their column.
    words = [all(text[:1].isalpha() for text in column[1:]) for column in columns]
    body = [
        "  ".join(
            text.ljust(width) if is_word else text.rjust(width)
            for text, width, is_word in zip(line, widths, words, strict=True)
        ).rstrip()
        for line in lines
    ]
    body.insert(1, "-" * max(map(len, body)))
    marks = any(cell.bold or cell.underline for row in table.rows for cell in row)
    legend = "* best, _ significantly different from multi-class raw." if marks else ""
    return "\n".join([table.title, "", *body, *filter(None, [legend, table.note])]) + "\n"


def _markdown(table: Table) -> str:
    def mark(cell: Cell) -> str:
        text = cell.text.replace("|", "\\|")
        text = f"**{text}**" if cell.bold else text
        return f"<u>{text}</u>" if cell.underline else text

    lines = [
        f"**{table.title}**",
        "",
        "| " + " | ".join(table.header) + " |",
        "|" + "|".join([" --- "] + [" ---: "] * (len(table.header) - 1)) + "|",
        *("| " + " | ".join(mark(cell) for cell in row) + " |" for row in table.rows),
    ]
    return "\n".join([*lines, *(["", table.note] if table.note else [])]) + "\n"


def _latex(table: Table) -> str:
    def escape(text: str) -> str:
        for mark in "\\&%$#_{}":
            text = text.replace(mark, "\\textbackslash{}" if mark == "\\" else "\\" + mark)
        return text

    def mark(cell: Cell) -> str:
        text = f"\\underline{{{escape(cell.text)}}}" if cell.underline else escape(cell.text)
        return f"\\textbf{{{text}}}" if cell.bold else text

    lines = [
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{escape(table.title)}. {escape(table.note)}}}",
        f"\\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
        "\\toprule",
        " & ".join(escape(name) for name in table.header) + " \\\\",
        "\\midrule",
        *(" & ".join(mark(cell) for cell in row) + " \\\\" for row in table.rows),
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _csv(table: Table) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.header)
    writer.writerows([cell.text for cell in row] for row in table.rows)
    return buffer.getvalue()


FORMATS: dict[str, Callable[[Table], str]] = {
    "text": _text,
    "markdown": _markdown,
    "latex": _latex,
    "csv": _csv,
}
