import warnings

import pytest
import typer

from calibrant.cli.messages import one_line_errors, print_note, warnings_as_notes


@pytest.mark.parametrize("error", [ValueError, OSError, ImportError])
def test_errors_that_users_can_resolve_become_one_line(error, capsys):
    with pytest.raises(typer.Exit) as raised, one_line_errors():
        raise error("Two\nlines.")
    assert raised.value.exit_code == 2
    assert capsys.readouterr() == ("", "calibrant: Two lines.\n")


def test_other_errors_are_not_hidden():
    with pytest.raises(KeyError), one_line_errors():
        raise KeyError("a bug")
    with pytest.raises(typer.Exit), one_line_errors(KeyError):
        raise KeyError("expected here")


def test_warnings_for_users_become_notes_once_each(capsys):
    with warnings_as_notes():
        for _ in range(3):
            warnings.warn("Few rows.", UserWarning, stacklevel=1)
        warnings.warn("for developers", DeprecationWarning, stacklevel=1)
    assert capsys.readouterr() == ("", "note: Few rows.\n")


def test_a_note_is_one_line_on_standard_error(capsys):
    print_note("a\nb")
    assert capsys.readouterr() == ("", "note: a b\n")
