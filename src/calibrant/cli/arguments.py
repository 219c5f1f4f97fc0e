"""Arguments and options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from calibrant._core.registries import CALIBRATORS, MODELS
from calibrant.cli.completion import complete_columns

PLAIN: dict[str, Any] = {
    "no_args_is_help": True,
    "rich_markup_mode": None,  # plain text, also in errors
    "pretty_exceptions_enable": False,
}
# Processes are started only if they would save time. On a single core, they never would.
DEFAULT_JOBS = min(2, os.cpu_count() or 1)
RARE_CLASSES = ("keep", "merge", "drop")
# The name of "no calibration" among the methods of ``fit``.
NO_CALIBRATION = "none"
# The value of ``--prevalence`` that stands for no known shares.
ESTIMATE = "estimate"
# Values of ``--digits``: no rounding, the default, and the largest number.
ALL_DIGITS, DEFAULT_DIGITS, MOST_DIGITS = "all", "6", 15


def choose_from(names: Iterable[str], metavar: str = "NAME") -> dict[str, Any]:
    """Return keyword arguments that restrict an option to the names of a registry."""
    choices = list(names)

    def check(value: str | list[str] | None) -> str | list[str] | None:
        for name in value if isinstance(value, list) else [value]:
            if name is not None and name not in choices:
                raise typer.BadParameter(f"must be one of {', '.join(choices)}, got {name!r}.")
        return value

    return {"metavar": metavar, "callback": check, "autocompletion": lambda: choices}


def output_to(description: str) -> Any:
    """Return the option ``--output`` with its description."""
    return typer.Option("--output", "-o", metavar="FILE", help=description)


def _check_digits(value: str) -> str:
    if value != ALL_DIGITS and not (value.isdecimal() and 1 <= int(value) <= MOST_DIGITS):
        raise typer.BadParameter(
            f"must be from 1 to {MOST_DIGITS}, or {ALL_DIGITS}, got {value!r}."
        )
    return value


def data_file(metavar: str) -> Any:
    """Return an argument that names a data file."""
    formats = "CSV, TSV, Excel, JSON, Parquet or ARFF"
    return typer.Argument(metavar=metavar, help=f"Data file ({formats}), or - for standard input.")


DataFile = Annotated[str, data_file("DATA")]
NewData = Annotated[str, data_file("NEW")]
Target = Annotated[
    str,
    typer.Option(
        metavar="COLUMN", help="Column with the classes.", autocompletion=complete_columns
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that identifies rows that belong together, such as a patient ID.",
        autocompletion=complete_columns,
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Columns, such as sex or site, by whose values to report calibration.",
        autocompletion=complete_columns,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="Columns to ignore.", autocompletion=complete_columns),
]
Categories = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Numeric columns to treat as categories.",
        autocompletion=complete_columns,
    ),
]
Numbers = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Columns of measurements, even if they look like identifiers.",
        autocompletion=complete_columns,
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(metavar="SHEET", help="Name or number of the sheet of an Excel workbook to read."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="VALUES",
        help="Values to read as missing, in all columns or, as in age=999, in one.",
    ),
]
MergeCase = Annotated[
    bool,
    typer.Option("--merge-case", help="Merge classes whose names differ only in case or spaces."),
]
RareClasses = Annotated[
    str,
    typer.Option(
        help="What to do about classes with fewer than ten rows: keep them, merge them into a "
        "class named other, or drop their rows.",
        **choose_from(RARE_CLASSES, "keep|merge|drop"),
    ),
]
Model = Annotated[
    str, typer.Option(help=f"Classifier: {', '.join(MODELS)}.", **choose_from(MODELS))
]
Method = Annotated[
    str,
    typer.Option(help=f"Calibration method: {', '.join(CALIBRATORS)}.", **choose_from(CALIBRATORS)),
]
MethodOrNone = Annotated[
    str,
    typer.Option(
        help=f"Calibration method: {', '.join(CALIBRATORS)}; or {NO_CALIBRATION} for no "
        "calibration.",
        **choose_from([*CALIBRATORS, NO_CALIBRATION]),
    ),
]
Seed = Annotated[int, typer.Option(min=0, metavar="INTEGER", help="Random seed.")]
Jobs = Annotated[
    int,
    typer.Option(
        metavar="INTEGER",
        help="Largest number of parallel processes; -1 means one per core.",
        show_default="2, or 1 on a single core",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Columns of NEW to copy to the output.",
        autocompletion=complete_columns,
    ),
]
Costs = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Table of costs, one row per true class and one column per decision; adds the "
        "decision with the lowest expected cost.",
    ),
]
RuleCosts = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Table of costs, one row per true class and one column per decision; adds the mean "
        "costs of decision rules to the page.",
    ),
]
Prevalence = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CLASS=SHARE",
        help="Class shares to adjust the probabilities to, as in sick=0.1 well=0.9, if they differ "
        f"from those of training; {ESTIMATE} estimates them from the rows of NEW.",
        autocompletion=lambda: [ESTIMATE],
    ),
]
Intervals = Annotated[
    bool,
    typer.Option(
        "--intervals",
        help="Add the 95% interval of each probability: columns low_CLASS and high_CLASS.",
    ),
]
Sets = Annotated[
    bool,
    typer.Option(
        "--sets",
        help="Add columns possible_CLASS: 0 for classes that can be excluded, such that at most "
        "about one in ten rows of each class is excluded by mistake; 1 for the others.",
    ),
]
Digits = Annotated[
    str,
    typer.Option(
        metavar="INTEGER",
        help=f"Digits after the decimal point, from 1 to {MOST_DIGITS}, or {ALL_DIGITS}.",
        callback=_check_digits,
        autocompletion=lambda: [DEFAULT_DIGITS, ALL_DIGITS],
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Json = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Also write the result as JSON, to a file or - for standard output."
    ),
]
CsvFile = Annotated[
    str, output_to("CSV, TSV or Excel file to write, or - for CSV to standard output.")
]
