"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from calibrant._core.registries import CALIBRATORS, MODELS

PLAIN: dict[str, Any] = {
    "no_args_is_help": True,
    "rich_markup_mode": None,  # plain text, also in errors
    "pretty_exceptions_enable": False,
}
DEFAULT_JOBS = 2
# The name of "no calibration" among the methods of ``fit``.
NO_CALIBRATION = "none"


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


def data_file(metavar: str) -> Any:
    """Return an argument that names a data file."""
    formats = "CSV, TSV, Parquet or ARFF"
    return typer.Argument(metavar=metavar, help=f"Data file ({formats}), or - for standard input.")


DataFile = Annotated[str, data_file("DATA")]
NewData = Annotated[str, data_file("NEW")]
Target = Annotated[str, typer.Option(metavar="COLUMN", help="Column with the classes.")]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that identifies rows that belong together, such as a patient ID.",
    ),
]
Ignore = Annotated[list[str] | None, typer.Option(metavar="COLUMNS", help="Columns to ignore.")]
Categories = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="Numeric columns to treat as categories."),
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
    typer.Option(metavar="INTEGER", help="Number of parallel processes; -1 means one per core."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="Columns of NEW to copy to the output."),
]
CsvFile = Annotated[str, output_to("CSV file to write, or - for standard output.")]


class SeveralValues(TyperCommand):
    """A command whose repeatable options take several values, as in ``--ignore age sex``.

    A value that starts with a dash must follow an equals sign, as in ``--ignore=-b``.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments after repeating each such option before each of its values."""
        repeatable = {
            name
            for parameter in self.params
            if getattr(parameter, "multiple", False)
            for name in parameter.opts
        }
        expanded: list[str] = []
        option = None
        for argument in args:
            if argument in repeatable:
                option = argument
                continue
            if argument.startswith("-"):
                option = None
            expanded += [argument] if option is None else [option, argument]
        return super().parse_args(ctx, expanded)
