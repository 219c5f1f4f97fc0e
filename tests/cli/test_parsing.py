import itertools
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from calibrant.cli.parsing import SeveralValues

app = typer.Typer()
with_optional = typer.Typer()
Several = Annotated[list[str] | None, typer.Option()]


@app.command(cls=SeveralValues)
def command(
    first: str,
    second: str,
    keep: Several = None,
    drop: Several = None,
    name: Annotated[str, typer.Option("--name", "-n")] = "",
    flag: bool = False,
) -> None:
    print(first, second, keep, drop, name, flag)


@with_optional.command(cls=SeveralValues)
def command_with_optional(first: str, second: str = typer.Argument(""), keep: Several = None):
    print(first, second, keep)


def parse(*words, app=app):
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


EXPECTED = "one two ['a', 'b'] ['c', 'd'] x True"


@pytest.fixture
def _in_folder_with_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / name).touch()


@pytest.mark.usefixtures("_in_folder_with_files")
def test_options_and_arguments_may_come_in_any_order():
    words = [["--keep", "a", "b"], ["--drop", "c", "d"], ["-n", "x"], ["--flag"]]
    for order in itertools.permutations([*words, ["one", "two"]]):
        assert parse(*itertools.chain(*order)) == EXPECTED
    for order in itertools.permutations(words):
        for at in range(5):
            split = [*order[:at], ["one"], *order[at:], ["two"]]
            assert parse(*itertools.chain(*split)) == EXPECTED


def test_missing_files_are_taken_from_the_last_option_with_values_to_spare():
    assert parse("--drop", "c", "d", "--keep", "a", "b", "one", "two", "-n", "x", "--flag") == (
        EXPECTED
    )
    assert parse("one", "--keep", "a", "b", "two") == "one two ['a', 'b'] None  False"


@pytest.mark.usefixtures("_in_folder_with_files")
def test_an_optional_argument_is_taken_from_an_option_only_if_it_is_a_file():
    for line, expected in {
        "one --keep a b": "one  ['a', 'b']",
        "--keep a b one": "one  ['a', 'b']",
        "--keep a b other": "other  ['a', 'b']",
        "one --keep a two": "one two ['a']",
        "--keep a one two": "one two ['a']",
    }.items():
        assert parse(*line.split(), app=with_optional) == expected


def test_standard_input_is_not_a_value():
    assert parse("one", "--keep", "a", "-") == "one - ['a'] None  False"
    assert parse("--keep", "a", "-", "two") == "- two ['a'] None  False"


def test_values_with_a_dash_follow_an_equals_sign():
    assert parse("one", "two", "--keep=-a", "--keep", "b") == "one two ['-a', 'b'] None  False"
    assert parse("one", "two", "--keep", "-9.5", "b") == "one two ['-9.5', 'b'] None  False"


def test_what_follows_two_dashes_is_an_argument():
    assert parse("--keep", "a", "b", "--", "-one", "two") == "-one two ['a', 'b'] None  False"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["one", "two", "--keep", "--flag"], "'--keep' requires a value"),
        (["one", "two", "--keep"], "'--keep' requires a value"),
        (["one", "--keep", "a"], "Missing argument"),
        (["one", "two", "three"], "unexpected extra argument"),
    ],
)
def test_lines_that_cannot_be_parsed_are_refused(words, message):
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert message in result.stderr
