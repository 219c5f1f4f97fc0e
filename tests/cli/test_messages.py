import json
import warnings

import pytest
import typer

from calibrant import __version__
from calibrant.cli.messages import Messages, one_line_errors, print_note, warnings_as_notes


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


def test_a_warning_is_one_line_on_standard_error_unless_quiet(capsys):
    for quiet, printed in ((False, "warning: a b\n"), (True, "")):
        messages = Messages(quiet)
        messages.warn("a\nb")
        assert messages.notes == ["a\nb"]
        assert capsys.readouterr() == ("", printed)


def test_a_command_ends_with_its_closing_line(capsys):
    Messages().finish("Saved.", {}, summary=("Fitted.", None, "Calibrated."))
    assert capsys.readouterr() == ("Fitted.\nCalibrated.\nSaved.\n", "")
    Messages(has_table=True).finish("Wrote 1 row.", {}, summary=("Fitted.",))
    assert capsys.readouterr() == ("", "Wrote 1 row.\n")


def test_a_quiet_command_prints_nothing_but_collects_its_notes(capsys, tmp_path):
    file = tmp_path / "result.json"
    messages = Messages(quiet=True, json=str(file))
    with warnings_as_notes(messages.note):
        warnings.warn("Few rows.", UserWarning, stacklevel=1)
    messages.say("Fitted.")
    messages.finish("Saved.", {"n_rows": 3})
    assert capsys.readouterr() == ("", "")
    assert json.loads(file.read_text()) == {
        "calibrant": __version__,
        "n_rows": 3,
        "notes": ["Few rows."],
    }


def test_json_has_standard_output_to_itself(capsys):
    messages = Messages(json="-")
    messages.note("Few rows.")
    messages.say("Fitted.")
    messages.finish("Saved.", {"n_rows": 3}, summary=("Calibrated.",))
    printed = capsys.readouterr()
    assert json.loads(printed.out)["n_rows"] == 3
    assert printed.err == "note: Few rows.\nSaved.\n"


def test_a_json_file_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    with pytest.raises(ValueError, match=r"result\.json must exist"):
        Messages(json=str(tmp_path / "no" / "result.json")).check()
    Messages(json="-").check(inputs=["-"])
    Messages().check()


def test_a_json_file_does_not_replace_another_file_of_the_command(tmp_path):
    (tmp_path / "data.json").write_text("[]")
    (tmp_path / "link.json").symlink_to(tmp_path / "data.json")
    messages = Messages(json=str(tmp_path / "link.json"))
    with pytest.raises(ValueError, match="must not replace an input"):
        messages.check(inputs=[None, tmp_path / "data.json"])
    with pytest.raises(ValueError, match="must not replace a file of another kind"):
        messages.check(outputs=[tmp_path / "model.skops"])
    result = str(tmp_path / "result.json")
    for _ in range(2):  # its own file may be replaced
        Messages(quiet=True, json=result).check(outputs=[tmp_path / "model.skops"])
        Messages(quiet=True, json=result).finish("Saved.", {})
    with pytest.raises(ValueError, match="given for two of them"):
        Messages(json=result).check(outputs=[tmp_path / "result.json"])
