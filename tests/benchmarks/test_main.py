import sys
from importlib import import_module

import pytest
from sklearn.naive_bayes import GaussianNB

from benchmarks.__main__ import describe_machine, main, print_table
from benchmarks.generation import make_generation
from benchmarks.timing import Row

MODULES = (
    "combination",
    "default",
    "enir",
    "generation",
    "out_of_bag",
    "prediction",
    "startup",
)


def test_help_names_the_modules(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--help"])
    with pytest.raises(SystemExit, match="0"):
        main()
    assert ", ".join(MODULES) in " ".join(capsys.readouterr().out.split())


def test_an_unknown_module_is_an_error(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "startup", "nothing"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "MODULE must be one of combination" in capsys.readouterr().err


@pytest.mark.parametrize("module", MODULES)
def test_each_module_contributes_rows(module):
    assert callable(import_module(f"benchmarks.{module}").rows)


def test_the_generation_benchmark_runs():
    make_generation(GaussianNB(), 60)()


def test_markdown_has_one_line_per_row(capsys):
    rows = [
        Row("fit [a] / peer", 0.0123, 1.5, 0.0082, 1.5),
        Row("growth with n: fit", 2.0, None, 1.3, 1.2),
    ]
    print_table(rows, markdown=True)
    lines = [line.split("|") for line in capsys.readouterr().out.splitlines() if "|" in line]
    cells = [[cell.strip() for cell in line[1:-1]] for line in lines]
    assert cells[0] == ["benchmark", "calibrant", "peer", "ratio", "limit", "holds"]
    assert cells[2] == ["fit [a] / peer", "12.3 ms", "1.5 s", "0.0082", "at most 1.5", "yes"]
    assert cells[3] == ["growth with n: fit", "2 s", "-", "1.3", "at most 1.2", "NO"]


def test_table_ends_with_the_machine(capsys):
    print_table([Row("fit", 0.1, 0.1, 1.0, 1.0)], markdown=False)
    assert capsys.readouterr().out.rstrip().endswith(describe_machine())
