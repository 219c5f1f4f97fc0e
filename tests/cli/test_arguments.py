import numpy as np
import pytest
import typer

from calibrant._core.registries import CALIBRATORS, MODELS
from calibrant.cli import app
from calibrant.tabular import TableModel


def parameters(command):
    return {item.name: item for item in typer.main.get_command(app).commands[command].params}


@pytest.mark.parametrize(
    ("option", "commands", "names"),
    [
        ("model", ["fit", "report"], MODELS),
        ("method", ["fit", "calibrate"], CALIBRATORS),
    ],
)
def test_help_lists_every_name_of_the_registry(run, option, commands, names):
    for command in commands:
        assert all(name in parameters(command)[option].help for name in names)


@pytest.mark.parametrize(
    ("command", "option", "name"),
    [
        ("fit", "--model", "forest"),
        ("report", "--model", "forest"),
        ("fit", "--method", "platt"),
        ("calibrate", "--method", "platt"),
        ("calibrate", "--method", "none"),
    ],
)
def test_other_names_are_refused_with_those_of_the_registry(
    run, command, option, name, data, tmp_path
):
    output = tmp_path / "out.skops"
    result = run(command, data, "--target", "y", option, name, "-o", output)
    assert result.exit_code == 2
    names = MODELS if option == "--model" else CALIBRATORS
    assert f"got {name!r}" in result.stderr
    assert all(known in result.stderr for known in names)
    assert not output.exists()


def test_shared_options_are_the_same_in_every_command():
    for name in (
        "data",
        "target",
        "groups",
        "ignore",
        "categories",
        "sheet",
        "missing",
        "seed",
        "jobs",
    ):
        found = [
            (item.help, item.default, item.metavar)
            for command in ("demo", "report", "fit")
            for item in parameters(command).values()
            if item.name == name
        ]
        assert len(found) >= 2
        assert len(set(found)) == 1


def test_columns_may_be_listed_with_commas_and_values_may_be_negative(run, write_csv, tmp_path):
    rows = [[*row, -99, "uv"[n % 2]] for n, row in enumerate(np.random.RandomState(0).rand(40, 3))]
    file = write_csv("data.csv", ["a", "b", "c,d", "code", "y"], rows)
    model = tmp_path / "m.skops"
    options = ["--target", "y", "--model", "naive-bayes", "--method", "none", "-o", model]
    result = run("fit", file, *options, "--missing", "-99", "-1.5", "--ignore", "a,b")
    assert result.exit_code == 0, result.output
    assert TableModel.load(model).input_columns == ("c,d",)
    assert "No cell holds '-1.5'" in result.stderr
    result = run("fit", file, *options, "--ignore", "c,d")
    assert TableModel.load(model).input_columns == ("a", "b")


def test_a_repeatable_option_takes_several_values_and_names_with_a_dash(run, write_csv, tmp_path):
    rows = [[*row, "uv"[n % 2]] for n, row in enumerate(np.random.RandomState(0).rand(40, 5))]
    file = write_csv("data.csv", ["a", "b", "c", "-b", "--target", "y"], rows)
    model = tmp_path / "m.skops"
    options = ["--ignore=-b", "--ignore=--target", "--ignore", "b", "c", "--target", "y"]
    options += ["--model", "naive-bayes", "--method", "none"]
    result = run("fit", *options, file, "-o", model)
    assert result.exit_code == 0, result.output
    assert TableModel.load(model).input_columns == ("a",)
