"""The layout of delimited text: column names, decimal commas, and whether it is a table at all.

These are decided from the whole text, which is not held in memory, so that the rows can be read
some at a time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from calibrant._core.phrases import count
from calibrant.tabular.cells import is_number
from calibrant.tabular.delimited_records import Dialect, Lines, find_dialect, read_records
from calibrant.tabular.headers import (
    TITLE_SAMPLE,
    check_column_count,
    check_distinct_names,
    check_header,
    count_title_rows,
    describe_titles,
    name_columns,
)
from calibrant.tabular.missing import is_number_mark
from calibrant.tabular.number_formats import infer_format
from calibrant.tabular.phrases import shorten
from calibrant.tabular.schema import Notice
from calibrant.tabular.spaces import describe_spaces
from calibrant.tabular.text_samples import TextSample

# Up to this many short lines at the end are taken for remarks below the table.
MOST_FOOTERS = 5
# Records that are looked at together.
BATCH = 2**14

# The apostrophe that `calibrant.tabular.csv_output` puts before text that looks like a formula.
ESCAPED = re.compile(r"^'(?='*[=+\-@\t\r])")

Record = tuple[int, list[str]]


@dataclass(frozen=True)
class Layout:
    """How a delimited text is read.

    Attributes
    ----------
    dialect : Dialect
        How cells are separated.
    n_titles : int
        Number of records above the column names.
    columns : mapping of str to int
        Position by name of column.
    decimal_comma : bool
        Whether numbers have a comma before their decimals.
    notices : tuple of Notice
        What was decided or changed.
    """

    dialect: Dialect
    n_titles: int
    columns: Mapping[str, int]
    decimal_comma: bool
    notices: tuple[Notice, ...]

    def read_body(self, lines: Lines, source: str) -> Iterator[Record]:
        """Yield the records below the column names, each with its line number."""
        return islice(read_records(lines, self.dialect, source), self.n_titles + 1, None)


def find_layout(
    lines: Lines, source: str, delimiter: str | None, expected: Collection[str] = ()
) -> Layout:
    """Find out how a delimited text is read, and check that it is a table.

    Parameters
    ----------
    lines : callable
        Opens the text, which is read several times.
    source : str
        Name of the file, for error messages.
    delimiter : str or None
        The character that separates cells. ``None`` means the one of comma, semicolon and tab
        that gives the most consistent table, or spaces if none of these does.
    expected : collection of str
        Names of columns that the table should have. A first line that has them all is taken
        for column names, even if it looks like data.

    Returns
    -------
    Layout
        The layout.
    """
    dialect = find_dialect(lines, source, delimiter)
    records = read_records(lines, dialect, source)
    head = list(islice(records, TITLE_SAMPLE))
    rows = [[clean_cell(cell) for cell in record] for _, record in head]
    is_expected = bool(expected) and bool(rows) and set(expected) <= set(rows[0])
    n_titles = 0 if is_expected else count_title_rows(rows)
    titles = rows[n_titles] if rows else []
    check_column_count(len(titles), source)
    body = head[n_titles + 1 :]
    # R's write.table writes the names of rows, but no name above them.
    has_row_names = bool(titles) and bool(body) and len(body[0][1]) == len(titles) + 1
    columns = [_ColumnTexts(title) for title in ([""] if has_row_names else []) + titles]
    if wrong := _scan(chain(body, records), columns):
        if has_row_names:  # which not all rows have, so that the first of them is wrong
            wrong = body[:1]
        is_footer = wrong[0][0] != body[0][0] and len(wrong) <= MOST_FOOTERS
        raise _wrong_width(head[n_titles], wrong, source, may_be_footer=is_footer)
    titles = [column.title for column in columns]
    if not expected or not set(expected) <= set(titles):
        check_header(titles, [[column.title] * column.recurs for column in columns], source)
    names = name_columns(titles)
    check_distinct_names(names, source)
    notices = []
    if has_row_names:
        text = (
            "Every row has one more cell than there are column names, so the first cell was taken "
            "as the name of the row."
        )
        notices.append(Notice("file", text))
    if n_titles:
        above = [cell for row in rows[:n_titles] for cell in row if cell]
        notices.append(describe_titles(above, n_titles, f"line {head[n_titles][0]}", source))
    layout = Layout(
        dialect,
        n_titles,
        {
            name: position
            for position, (name, column) in enumerate(zip(names, columns, strict=True))
            if column.title or column.has_text  # lines that end in a separator have an empty cell
        },
        any(column.has_decimal_commas(dialect.delimiter) for column in columns),
        tuple(notices),
    )
    spaced = {name: column.spaced for name, column in zip(names, columns, strict=True)}
    spaces = _find_spaces(layout.read_body(lines, source), spaced)
    return replace(layout, notices=(*notices, *spaces))


class _ColumnTexts:
    """What the texts of a column tell about the layout.

    Attributes
    ----------
    title : str
        The name of the column, empty if it has none.
    has_text : bool
        Whether it has any text.
    recurs : bool
        Whether its name is also one of its texts.
    spaced : set of str
        The texts, except numbers, that have spaces around them somewhere, without these.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.has_text = False
        self.recurs = False
        self.spaced: set[str] = set()
        self._sample = TextSample()

    def add(self, cells: Iterable[str]) -> None:
        """Add cells as they are written."""
        texts: Counter[str] = Counter()
        for cell, n_cells in Counter(cells).items():
            text = clean_cell(cell)
            texts[text] += n_cells
            if len(text) < len(cell) and (bare := cell.strip()) != cell and not is_number(bare):
                self.spaced.add(bare)
        del texts[""]
        self.has_text |= bool(texts)
        self.recurs |= self.title in texts
        self._sample.add(texts)

    def has_decimal_commas(self, delimiter: str) -> bool:
        """Whether numbers have decimal commas; between semicolons, any comma counts as one."""
        texts = {
            text: n_cells
            for text, n_cells in self._sample.counts().items()
            if not is_number_mark(text)
        }
        if not any("," in text for text in texts):
            return False
        found = infer_format(texts, decimal_comma=delimiter == ";")
        return found is not None and found.decimal == ","


def clean_cell(cell: str) -> str:
    """Return a cell without the spaces around it, and without the escape of a formula."""
    text = cell.strip()
    return ESCAPED.sub("", text) if text.startswith("'") else text


def _scan(records: Iterator[Record], columns: Sequence[_ColumnTexts]) -> list[Record]:
    """Look at all records, and return the first ones from the first with a wrong width on."""
    width = len(columns)
    while batch := list(islice(records, BATCH)):
        for position, (_, record) in enumerate(batch):
            if len(record) != width:
                wrong = list(islice(chain(batch[position:], records), MOST_FOOTERS + 1))
                for _ in records:  # a text that is not valid is a worse fault
                    pass
                return wrong
        cells = zip(*(record for _, record in batch), strict=True)
        for column, texts in zip(columns, cells, strict=True):
            column.add(texts)
    return []


def _wrong_width(
    header: Record, wrong: Sequence[Record], source: str, *, may_be_footer: bool
) -> ValueError:
    """Return the error about records with more or fewer cells than there are column names."""
    width = len(header[1])
    line, first = wrong[0]
    quoted = shorten(" ".join(map(clean_cell, first)))
    if not may_be_footer or any(len(record) >= width for _, record in wrong):
        remedy = "Put cells that contain the separator in quotation marks."
    elif len(wrong) == 1:
        remedy = f"Remove the last line, {quoted}, or add the other cells."
    else:
        remedy = f"Remove the last {len(wrong)} lines, from {quoted} on, or add the other cells."
    return ValueError(
        f"{source} must have the same number of cells in every line, but line {header[0]} has "
        f"{count(width, 'cell')} and line {line} has {len(first)}. {remedy}"
    )


def _find_spaces(records: Iterable[Record], spaced: Mapping[str, set[str]]) -> list[Notice]:
    """Find texts that differ only in spaces, which takes another look if there are spaces."""
    if not any(spaced.values()):
        return []
    spellings: dict[str, dict[str, None]] = {name: {} for name in spaced}
    for _, record in records:
        for (name, texts), cell in zip(spaced.items(), record, strict=True):
            if texts and cell.strip() in texts:
                spellings[name][cell] = None
    return describe_spaces(spellings)
