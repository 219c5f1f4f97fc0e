"""Standard streams that are closed, full or cannot show every character."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# Of errors in the use or the environment of a command.
EXIT_CODE = 2


@contextmanager
def usable_streams() -> Iterator[None]:
    """Make standard streams usable, and say in one sentence if one of them fails.

    Closed streams are opened such that standard input is empty, standard output cannot be written
    and messages are lost. Characters that a terminal cannot show are escaped.
    """
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115
    sys.stdout = sys.stdout or open(os.open(os.devnull, os.O_RDONLY), "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            yield
        finally:
            sys.stdout.flush()  # rather than when Python ends, which cannot name the error
    except BrokenPipeError:  # the reader of the output, such as head, has seen enough
        _discard_output()
        sys.exit(1)
    except OSError as error:
        _discard_output()
        with suppress(OSError):
            print(
                f"calibrant: Standard output must be writable, got: {error.strerror}. Send it "
                "elsewhere, or free some space.",
                file=sys.stderr,
            )
        sys.exit(EXIT_CODE)
    finally:
        _drop_messages_that_cannot_be_written()


def _discard_output() -> None:
    """Send what is still to be written to standard output nowhere."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115


def _drop_messages_that_cannot_be_written() -> None:
    try:
        sys.stderr.flush()
    except OSError:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
