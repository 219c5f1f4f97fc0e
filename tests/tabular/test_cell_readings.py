import numpy as np
import pandas as pd
import pytest

from calibrant.tabular import Column, Kind, Schema
from calibrant.tabular.cell_readings import describe_cells, find_readings
from calibrant.tabular.cells import as_cells
from calibrant.tabular.number_formats import PLAIN, NumberFormat
from calibrant.tabular.reading import set_reading

DOLLARS = NumberFormat(".", ",", "$")
EUROS = NumberFormat(",", ".", "€")
PERCENT = NumberFormat(unit="%")


def table_of(*cells, decimal_comma=False):
    table = pd.DataFrame({"x": as_cells(cells)}, dtype=object)
    set_reading(table, decimal_comma=decimal_comma)
    return table


def number(number_format, **fields):
    return Column("x", Kind.number, number_format=number_format, **fields)


def reading_of(table, column):
    """Return how a column is read, which does not depend on the parts in which it is given."""
    schema = Schema("y", ("a", "b"), (1, 1), (column,))
    found = find_readings([table], schema)
    assert find_readings([table.iloc[:1], table.iloc[1:]], schema) == found
    return found["x"]


@pytest.mark.parametrize(
    ("cells", "known", "expected"),
    [
        (["$4,179.00"], DOLLARS, DOLLARS),
        (["4,179"], DOLLARS, DOLLARS),
        (["4179"], DOLLARS, DOLLARS),
        ([4179.0], DOLLARS, DOLLARS),
        (["1,234"], EUROS, EUROS),  # one cell does not tell, but the training data do
        (["1.5"], EUROS, PLAIN),
        (["$4,179.00"], PLAIN, DOLLARS),
        (["86 MG/DL"], NumberFormat(unit="mg/dL"), NumberFormat(unit="mg/dL")),
        (["4.8 mmol/L"], NumberFormat(unit="mg/dL"), NumberFormat(unit="mg/dL")),
        (["high"], DOLLARS, DOLLARS),
        (["-", "unknown"], DOLLARS, DOLLARS),
    ],
)
def test_new_numbers_are_read_as_in_training_unless_they_are_written_otherwise(
    cells, known, expected
):
    assert reading_of(table_of(*cells), number(known)).number_format == expected


def test_decimal_commas_of_a_new_file_prevail():
    table = table_of("1,234", decimal_comma=True)
    assert reading_of(table, number(DOLLARS)).number_format.decimal == ","
    assert reading_of(table, number(PLAIN)).number_format.decimal == ","


def test_marks_depend_on_the_kind_of_column():
    table = table_of("-", "none", "99", "a")
    assert reading_of(table, number(PLAIN, missing=("99",))).marks == {"-", "none", "99"}
    category = Column("x", Kind.category, categories=("a", "none"))
    assert reading_of(table, category).marks == {"-"}
    assert reading_of(table_of("-", "a", "+"), category).marks == set()
    signs = Column("x", Kind.category, categories=("+", "-"))
    assert reading_of(table_of("-"), signs).marks == set()


def test_readings_and_marks_are_said():
    schema = Schema("y", ("a", "b"), (1, 1), (number(DOLLARS, missing=("99",)),))
    texts = [notice.text for notice in describe_cells(table_of("$5", "-", 99.0, np.nan), schema)]
    assert texts == [
        "Read as missing values: '-' (1 cell in 'x'), '99' (1 cell in 'x').",
        "Read as numbers: 'x' ('$5' as 5).",
    ]
    assert describe_cells(table_of("5", 7.0, np.nan), schema) == []


def test_numbers_without_their_percent_sign_are_noticed():
    schema = Schema("y", ("a", "b"), (1, 1), (number(PERCENT),))
    assert describe_cells(table_of("36.4%", "5"), schema)[0].text.startswith("Read as numbers")
    for cells in (["0.364"], [0.364]):
        [notice] = describe_cells(table_of(*cells), schema)
        assert "'x' is in % in the training data, but has no % here" in notice.text
