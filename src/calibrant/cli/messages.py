"""What commands print: notes, warnings and errors, one line each; a summary; the result as JSON."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

# Errors of writing: a full disk, a quota, a file that is too large, a closed stream.
NOT_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF)


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
    except BrokenPipeError:  # the reader of the output, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except resolvable as error:
        _print("calibrant", " ".join([_describe(error), *getattr(error, "__notes__", ())]))
        raise typer.Exit(2) from None


@contextmanager
def warnings_as_notes(note: Callable[[str], None] | None = None) -> Iterator[None]:
    """Print warnings for users as notes, each of them once.

    Parameters
    ----------
    note : callable, default=None
        Takes the text of each warning. ``None`` means `print_note`.
    """
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        (note or print_note)(text)


def print_note(text: str) -> None:
    """Print a note to standard error."""
    _print("note", text)


@dataclass
class Messages:
    """What one command prints.

    Attributes
    ----------
    quiet : bool
        Whether to print errors only.
    json : str or None
        The JSON file to write, or "-" for standard output. ``None`` means none.
    has_table : bool
        Whether standard output is for a table, so that the closing line goes to standard error.
    notes : list of str
        The notes and warnings so far.
    """

    quiet: bool = False
    json: str | None = None
    has_table: bool = False
    notes: list[str] = field(default_factory=list)

    def check(
        self, *, inputs: Iterable[str | Path | None] = (), outputs: Iterable[str | Path | None] = ()
    ) -> None:
        """Check that the JSON file can be written, before any work is done.

        Parameters
        ----------
        inputs, outputs : iterable of str, Path or None
            The other files of the command, as in `check_output`.
        """
        from calibrant.cli.outputs import OutputKind, check_output

        if self.json is not None:
            check_output(self.json, OutputKind.record, inputs=inputs, outputs=outputs)

    def note(self, text: str) -> None:
        """Print a note, and keep it for the JSON file."""
        self.notes.append(text)
        if not self.quiet:
            print_note(text)

    def warn(self, text: str) -> None:
        """Print a warning that results may be wrong, and keep it for the JSON file."""
        self.notes.append(text)
        if not self.quiet:
            _print("warning", text)

    @property
    def _is_free(self) -> bool:
        """Whether standard output is for people, not for a table or JSON."""
        return self.json != "-" and not self.has_table

    def say(self, text: str) -> None:
        """Print a part of the summary, unless standard output is for something else."""
        if self._is_free and not self.quiet:
            print(text)

    def finish(
        self, closing: str, result: Mapping[str, Any], summary: tuple[str | None, ...] = ()
    ) -> None:
        """Print the summary and the closing line of a command, and write its result.

        Parameters
        ----------
        closing : str
            What was written, and where.
        result : mapping
            The result in plain values, to which the version and the notes are added.
        summary : tuple of str or None
            Paragraphs to print before the closing line; None is left out.
        """
        import json

        from calibrant import __version__
        from calibrant._core.files import write_atomically

        if self.json is not None:
            record = {"calibrant": __version__, **result, "notes": self.notes}
            content = json.dumps(record, indent=1, ensure_ascii=False)
            if self.json == "-":
                print(content)
            else:
                with one_line_errors():
                    write_atomically(self.json, f"{content}\n".encode())
        for text in filter(None, summary):
            self.say(text)
        if not self.quiet:
            with nullcontext() if self._is_free else suppress(OSError):
                print(closing, file=sys.stdout if self._is_free else sys.stderr)


def _describe(error: Exception) -> str:
    """Return the text of an error; a sentence for a full disk and the like."""
    if not isinstance(error, OSError) or error.errno not in NOT_WRITTEN:
        return str(error)
    return (
        f"The output must fit where it is written, got: {error.strerror}. Free some space, or "
        "write it elsewhere."
    )


def _print(kind: str, text: str) -> None:
    with suppress(OSError):  # a message that cannot be written does not stop the command
        print(f"{kind}: {' '.join(text.splitlines())}", file=sys.stderr)
