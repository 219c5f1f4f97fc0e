"""What the commands share: arguments, options with several values, errors of one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

PLAIN: dict[str, Any] = {
    "no_args_is_help": True,
    "rich_markup_mode": None,  # errors as one plain line
    "pretty_exceptions_enable": False,
}

DataFile = Annotated[
    str, typer.Argument(metavar="DATA", help="A CSV, TSV, Parquet or ARFF file; - is stdin.")
]
Target = Annotated[str, typer.Option(metavar="COLUMN", help="The column that holds the classes.")]
Groups = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column that says which rows belong together."),
]
Ignore = Annotated[list[str] | None, typer.Option(metavar="COLUMNS", help="Columns not to use.")]
Categories = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="Columns of numbers that stand for categories."),
]
Seed = Annotated[int, typer.Option(min=0, help="Another seed, other draws.")]
Jobs = Annotated[int, typer.Option(help="Parallel processes; -1 is one for each core.")]
DEFAULT_JOBS = 2


class SeveralValues(TyperCommand):
    """Let an option that may be repeated take several values: ``--classifiers nb rf``.

    One that begins with a dash is told from an option by the equals sign: ``--ignore=-b``.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before each of its values."""
        repeatable = {
            name
            for parameter in self.params
            if getattr(parameter, "multiple", False)
            for name in parameter.opts
        }
        spelled_out: list[str] = []
        option = None
        for argument in args:
            if argument in repeatable:
                option = argument
                continue
            if argument.startswith("-"):
                option = None
            spelled_out += [argument] if option is None else [option, argument]
        return super().parse_args(ctx, spelled_out)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn what a user can mend into one line and exit code 2."""
    import sqlite3

    try:
        yield
    except (ValueError, OSError, sqlite3.DatabaseError) as error:
        say(str(error), kind="calibrant")
        raise typer.Exit(2) from None


@contextmanager
def noted_warnings() -> Iterator[None]:
    """Print warnings as lines, each once."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        say(text)


def say(text: str, *, kind: str = "note") -> None:
    """Print a line to standard error."""
    print(f"{kind}: {' '.join(text.splitlines())}", file=sys.stderr)
