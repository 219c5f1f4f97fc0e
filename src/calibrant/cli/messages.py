"""What commands print to standard error: notes, warnings and errors, one line each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer


@contextmanager
def one_line_errors(*more: type[Exception]) -> Iterator[None]:
    """Turn errors that a user can resolve into one line and exit code 2.

    Parameters
    ----------
    *more : type
        Exceptions besides ValueError, OSError and ImportError.
    """
    resolvable: tuple[type[Exception], ...] = (ValueError, OSError, ImportError, *more)
    try:
        yield
    except resolvable as error:
        _print("calibrant", str(error))
        raise typer.Exit(2) from None


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings for users as notes, each of them once."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        print_note(text)


def print_note(text: str) -> None:
    """Print a note to standard error."""
    _print("note", text)


def _print(kind: str, text: str) -> None:
    print(f"{kind}: {' '.join(text.splitlines())}", file=sys.stderr)
