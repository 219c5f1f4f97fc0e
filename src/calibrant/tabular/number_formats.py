"""Numbers as people write them: $4,179.00, 42.000,00, 86 mg/dL, 36.4%.

All cells of a column are read in one notation, so that "1,234" cannot mean two things in it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from calibrant._core.records import Record
from calibrant.tabular.cells import as_number, is_number
from calibrant.tabular.phrases import shorten

SPACES = re.compile(r"[\s\u00a0\u2009\u202f]+")
CURRENCY = (
    r"(?:US|A|C|R|S|HK|NZ)?\$|[€£¥₹₩₽₺₪฿₫₴₦]"
    r"|USD|EUR|GBP|CHF|JPY|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|INR|CNY|BRL|ZAR|kr\.?|Rs\.?"
)
UNIT = (
    r"(?:[^\W\d_]|[%‰°\u00d7/$€£¥])[\w%‰°\u00d7/$€£¥^*²³·.()-]*(?: [\w%‰°\u00d7/^*²³·.()-]+){0,2}"
)
WRITTEN_NUMBER = re.compile(
    rf"(?P<sign>[+-]?) ?(?P<prefix>{CURRENCY})? ?(?P<inner_sign>[+-]?)"
    rf"(?P<digits>[.,]?\d(?:[\d.,' ]*\d)?) ?(?P<unit>{UNIT})?"
)
LONGEST_UNIT = 20
# A notice names this many columns.
MOST_READINGS = 8
# Units that change the size of a number must be in every cell, and other units in half of them.
SCALES = frozenset({"%", "‰"})
# Pairs of decimal mark and grouping mark. With "1,234" alone, the comma groups digits.
NOTATIONS = ((".", ""), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))


@dataclass(frozen=True)
class NumberFormat(Record):
    """The notation of the numbers of a column.

    Attributes
    ----------
    decimal : str
        The character before the decimals.
    grouping : str
        The character between groups of three digits; empty if digits are not grouped.
    unit : str
        The currency before or the unit after the number; empty if there is none. Up to half of
        the cells may lack it, unless it is a percent or per mille sign.
    """

    decimal: str = "."
    grouping: str = ""
    unit: str = ""


PLAIN = NumberFormat()


class _Parts(NamedTuple):
    """A written number: its sign, digits with marks, and unit."""

    sign: str
    digits: str
    unit: str


def infer_format(
    texts: Iterable[str] | Mapping[str, int], *, decimal_comma: bool = False, n_numbers: int = 0
) -> NumberFormat | None:
    """Find the notation in which all of some texts are numbers.

    Parameters
    ----------
    texts : iterable of str, or mapping of str to int
        Cells of a column, none of them missing, or the number of cells by text.
    decimal_comma : bool, default=False
        Whether the file has decimal commas elsewhere, so that "1,234" is less than 2.
    n_numbers : int, default=0
        Number of other cells of the column, which are numbers rather than text.

    Returns
    -------
    NumberFormat or None
        The first notation that fits all texts; ``None`` if there is none.

    Examples
    --------
    >>> infer_format(["$4,179.00", "$86"])
    NumberFormat(decimal='.', grouping=',', unit='$')
    >>> infer_format(["86 mg/dL", "4.8 mmol/L"]) is None
    True
    """
    n_cells = Counter(texts)
    if all(map(is_number, n_cells)):
        grouped = _digits_pattern(",", ".")
        pointed = [text.lstrip("+-") for text in n_cells if "." in text]
        if not (decimal_comma and pointed and all(map(grouped.fullmatch, pointed))):
            return PLAIN
    split = {text: _split(text) for text in sorted(n_cells)}
    parts = [part for part in split.values() if part is not None]
    units = {normalize_unit(part.unit): part.unit for part in reversed(parts)}
    known = [unit for key, unit in units.items() if key]
    if len(parts) < len(split) or len(known) > 1:
        return None
    unit = known[0] if known else ""
    n_bare = n_numbers + sum(
        n_cells[text] for text, part in split.items() if part and not part.unit
    )
    if unit and n_bare > (0 if unit in SCALES else (n_cells.total() + n_numbers) / 2):
        return None
    for decimal, grouping in sorted(NOTATIONS, key=lambda pair: decimal_comma and pair[0] != ","):
        pattern = _digits_pattern(decimal, grouping)
        if all(pattern.fullmatch(part.digits) for part in parts):
            marks = set("".join(part.digits for part in parts))
            return (
                NumberFormat(decimal, grouping, unit)
                if marks & set(",.' ")
                else (NumberFormat(unit=unit))
            )
    return None


def parse_number(text: str, number_format: NumberFormat) -> float:
    """Return the number that a text stands for, or infinity if it is not a finite number.

    Parameters
    ----------
    text : str
        A cell that is not missing.
    number_format : NumberFormat
        The notation of its column.

    Examples
    --------
    >>> parse_number("-42.000,50 €", NumberFormat(",", ".", "€"))
    -42000.5
    """
    if number_format.decimal == "." and math.isfinite(number := as_number(text)):
        return number
    parts = _split(text)
    unit = normalize_unit(number_format.unit)
    if parts is None or normalize_unit(parts.unit) not in {"", unit}:
        return math.inf
    decimal, grouping = number_format.decimal, number_format.grouping
    if not _digits_pattern(decimal, grouping).fullmatch(parts.digits):
        return math.inf
    digits = parts.digits.replace(grouping, "") if grouping else parts.digits
    return float(parts.sign + digits.replace(decimal, "."))


def find_example(texts: Iterable[str], number_format: NumberFormat) -> str | None:
    """Return the text that looks least like a plain number, the first of several, if any does.

    Parameters
    ----------
    texts : iterable of str
        Numbers of a column.
    number_format : NumberFormat
        Their notation.
    """
    if number_format == PLAIN:
        return None
    written = [text for text in texts if not is_number(text) or number_format.decimal == ","]
    return max(written, key=lambda text: sum(not mark.isdigit() for mark in text), default=None)


def describe_readings(examples: Mapping[str, tuple[str, NumberFormat]]) -> list[str]:
    """Say how numbers are read that are not written as plain numbers.

    Parameters
    ----------
    examples : mapping of str to tuple
        A number and the notation by column.

    Returns
    -------
    list of str
        One sentence, with the example of each column; none if there are no examples.
    """
    if not examples:
        return []
    readings = [
        f"{name!r} ({shorten(example)} as {parse_number(example, number_format):.10g})"
        for name, (example, number_format) in examples.items()
    ]
    more = len(readings) - MOST_READINGS
    tail = f" and {more} more" if more > 0 else ""
    return [f"Read as numbers: {', '.join(readings[:MOST_READINGS])}{tail}."]


def is_written_number(text: str) -> bool:
    """Whether a text is a number in some notation, with or without a unit."""
    return is_number(text) or _split(text) is not None


def _split(text: str) -> _Parts | None:
    plain = SPACES.sub(" ", text.replace("\u2212", "-").replace("\u2019", "'")).strip()
    found = WRITTEN_NUMBER.fullmatch(plain)
    if found is None or (found["sign"] and found["inner_sign"]):
        return None
    unit = " ".join(filter(None, (found["prefix"], found["unit"])))
    if len(unit) > LONGEST_UNIT:
        return None
    return _Parts(found["sign"] or found["inner_sign"], found["digits"], unit)


def normalize_unit(unit: str) -> str:
    """Return a unit without regard to case and to the two micro signs."""
    return unit.casefold().replace("\u00b5", "\u03bc")


def _digits_pattern(decimal: str, grouping: str) -> re.Pattern[str]:
    mark = re.escape(decimal)
    groups = rf"|[1-9]\d{{0,2}}(?:{re.escape(grouping)}\d{{3}})+" if grouping else ""
    return re.compile(rf"(?:\d+{groups})(?:{mark}\d*)?|{mark}\d+")
