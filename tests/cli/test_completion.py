import os
import subprocess
import sys

import pytest

from calibrant._core.registries import CALIBRATORS, MODELS

COLUMNS = ["age", "body fat", "body mass", "diagnosis"]


@pytest.fixture
def complete(tmp_path):
    """Return a function that completes the last word of a line, as the script for bash does."""

    def complete(*words, shell="bash"):
        line = "\n".join(["calibrant", *words])
        environment = {
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words)),
            "_CALIBRANT_COMPLETE": f"complete_{shell}",
            "_TYPER_COMPLETE_ARGS": " ".join(["calibrant", *words]),
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        }
        code = "import sys; sys.argv[0] = 'calibrant'; from calibrant.cli import app; app()"
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            encoding="utf-8",
        )
        assert done.stderr == ""
        return done.stdout.splitlines() if done.stdout.strip() else []

    (tmp_path / "data.csv").write_text(f"{','.join(COLUMNS)}\n1,2,3,a\n")
    (tmp_path / "tabs.txt").write_text("\ufeffage\tbody fat\n1\t2\n", encoding="utf-8")
    return complete


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["fit", "data.csv", "--model", ""], [*MODELS]),
        (["report", "data.csv", "--model", "svm", "n"], ["naive-bayes", "neighbors"]),
        (["fit", "data.csv", "--method", ""], [*CALIBRATORS, "none"]),
        (["calibrate", "data.csv", "--method", "ve"], ["venn-abers", "vector"]),
    ],
)
def test_names_of_registries_are_completed(complete, words, names):
    assert complete(*words) == names


@pytest.mark.parametrize("option", ["--target", "--groups", "--ignore", "--categories"])
def test_columns_are_read_from_the_file_given_earlier(complete, option):
    assert complete("fit", "data.csv", option, "") == [
        "age",
        r"body\ fat",
        r"body\ mass",
        "diagnosis",
    ]
    assert complete("fit", "data.csv", option, "di") == ["diagnosis"]
    assert complete("report", "tabs.txt", option, "a") == ["age"]
    assert complete("fit", "missing.csv", option, "") == []
    assert complete("fit", option, "") == []


def test_further_values_of_an_option_are_completed(complete):
    assert complete("fit", "data.csv", "--ignore", "age", "di") == ["diagnosis"]
    assert complete("fit", "--ignore", "age", "data.csv", "--target", "di") == ["diagnosis"]
    assert complete("predict", "m.skops", "data.csv", "--keep", "age", "di") == ["diagnosis"]


def test_columns_to_assign_end_in_an_equals_sign(complete):
    assert complete("calibrate", "data.csv", "--columns", "a") == ["age="]


def test_names_are_escaped_for_bash_only(complete):
    assert complete("fit", "data.csv", "--target", "body", shell="fish") == [
        "body fat",
        "body mass",
    ]


def test_columns_of_other_formats_are_read_like_tables(complete, tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"size": [1.0], "kind": ["a"]}).to_parquet(tmp_path / "data.parquet")
    assert complete("fit", "data.parquet", "--target", "") == ["size", "kind"]
    for encoding in ("utf-16", "latin-1"):
        (tmp_path / "data.csv").write_bytes("größe,kind\n1.5,a\n2.5,b\n".encode(encoding))
        assert complete("fit", "data.csv", "--target", "gr") == ["größe"]
    (tmp_path / "broken.parquet").write_bytes(b"nothing")
    assert complete("fit", "broken.parquet", "--target", "") == []
