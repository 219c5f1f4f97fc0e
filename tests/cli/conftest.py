import csv

import numpy as np
import pytest
from typer.testing import CliRunner

from calibrant.cli import app
from calibrant.datasets import make_waveform

# Texts that may be a header, a cell or a class, and must stay text.
ODD = ("<script>alert(1)</script>", 'say "hi", you', "🌲", "שלום", "=cmd()")


@pytest.fixture
def run():
    """Return a function that runs a command."""

    def invoke(*arguments, **options):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)

    return invoke


@pytest.fixture
def is_refused():
    """Return a check that a command printed one line of error, and nothing else."""

    def check(result, message):
        assert result.exit_code == 2, result.output
        assert result.stderr.startswith("calibrant: ")
        assert result.stderr.count("\n") == 1
        assert message in result.stderr
        assert result.stdout == ""
        return True

    return check


@pytest.fixture
def odd():
    return ODD


@pytest.fixture
def write_csv(tmp_path):
    """Return a function that writes a header and rows to a CSV file."""

    def write(name, header, rows):
        path = tmp_path / name
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])
        return path

    return write


@pytest.fixture
def read_csv():
    """Return a function that splits the text of a CSV file into header and rows."""

    def read(content):
        header, *rows = csv.reader(content.splitlines())
        return header, rows

    return read


@pytest.fixture
def data(write_csv):
    """A file with numbers, categories, missing values and odd names; its target is the last."""
    X, y = make_waveform(100, random_state=0)
    rows = [
        [row[5], row[10] if number % 7 else "", ODD[number % 3], row[15], ODD[label + 1]]
        for number, (row, label) in enumerate(zip(X.round(2).tolist(), y, strict=True))
    ]
    return write_csv("data.csv", ODD, rows)


@pytest.fixture
def probabilities(write_csv):
    """A file with overconfident probabilities of odd classes, and the true classes."""
    rng = np.random.RandomState(0)
    scores = rng.dirichlet([0.3] * 3, size=90)
    truth = [ODD[2 + rng.choice(3, p=0.5 * row + 0.5 / 3)] for row in scores]
    rows = [[label, *map(repr, row)] for label, row in zip(truth, scores.tolist(), strict=True)]
    return write_csv("proba.csv", ["truth", *ODD[2:]], rows)


@pytest.fixture
def model(run, data, tmp_path):
    """A model file that was fitted to ``data``."""
    path = tmp_path / "model.skops"
    options = ["--target", ODD[4], "--model", "naive-bayes", "--method", "temperature", "-o", path]
    result = run("fit", data, *options, "--jobs", 1)
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def calibrator(run, probabilities, tmp_path):
    """A calibrator file that was fitted to ``probabilities``."""
    path = tmp_path / "calibrator.skops"
    options = ["--target", "truth", "--method", "temperature", "-o", path]
    result = run("calibrate", probabilities, *options)
    assert result.exit_code == 0, result.output
    return path
