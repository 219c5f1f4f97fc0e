from dataclasses import replace

import numpy as np
import pytest

from calibrant.tabular import Column, Kind
from calibrant.tabular.cells import as_cells
from calibrant.tabular.columns import (
    check_complete,
    describe_column,
    find_column,
    find_columns,
    labeled_rows,
    numbers_rows,
    to_labels,
    to_numbers,
)
from calibrant.tabular.number_formats import NumberFormat
from calibrant.tabular.reading import set_reading

N = 60
rng = np.random.RandomState(0)
# Row numbers with gaps, as after drawing rows.
SHUFFLED = rng.permutation(2 * N)[:N].tolist()


@pytest.fixture
def column_of(make_table):
    def describe(cells, name="z", **options):
        return describe_column(make_table(**{name: cells})[name], **options)

    return describe


def test_kinds_of_columns(column_of):
    assert column_of([number * 7 % (3 * N) for number in range(N)]).kind is Kind.number
    assert column_of(["1e-3", "-2.5", ".5", "+4"] * (N // 4)).kind is Kind.number
    category = column_of(["red", "blue", None] * (N // 3))
    assert category == Column("z", Kind.category, N // 3, ("blue", "red"))


@pytest.mark.parametrize(
    ("cells", "name", "reason"),
    [
        ([None] * N, "z", "it has no values"),
        (["same"] * N, "z", "its only value is 'same'"),
        (["5", None] * (N // 2), "z", "its only value is '5'"),
        (list(range(N)), "z", "a different whole number in every row"),
        (list(range(N))[::-1], "z", "a different whole number in every row"),
        (list(range(0, 7 * N, 7)), "patient_id", "a different whole number in every row"),
        (list(range(0, 7 * N, 7)), "PatientID", "a different whole number in every row"),
        (list(range(0, 7 * N, 7)), "Sample no", "a different whole number in every row"),
        (SHUFFLED, "column 1", "a different whole number in every row"),
        (SHUFFLED, "nr", "a different whole number in every row"),
        (SHUFFLED, "Obs. no", "a different whole number in every row"),
        (sorted(SHUFFLED), "z", "in the order of the rows, like row numbers"),
        (sorted(SHUFFLED)[::-1], "z", "in the order of the rows, like row numbers"),
        ([number // 2 * 7 for number in range(N)], "patient id", "use it for groups"),
        ([f"sample {number}" for number in range(N)], "z", "different text in every row"),
        (
            [f"text {number // 2}" for number in range(N)],
            "z",
            "30 different text values",
        ),
        (["2026-01-01", "2026-02-03T10:00"] * (N // 2), "z", "dates"),
        (["1.2.2026", "31/12/99"] * (N // 2), "z", "dates"),
        (["<0.1", *map(str, range(5, N + 4))], "z", "1 of its 60 values is not a number: '<0.1'"),
        (
            ["<0.1", "low", *map(str, range(N - 2))],
            "z",
            "2 of its 60 values are not numbers: '<0.1', 'low';",
        ),
    ],
)
def test_columns_that_are_ignored_have_a_reason(column_of, cells, name, reason):
    column = column_of(cells, name)
    assert column.kind is Kind.ignored
    assert reason in column.reason


def test_measurements_that_happen_to_be_whole_numbers_are_used(column_of):
    population = (rng.permutation(10**6)[:N]).tolist()
    assert column_of(population, "population").kind is Kind.number
    assert column_of(population, "body mass index").kind is Kind.number
    assert column_of(population, "lipid").kind is Kind.number
    assert column_of([0, 1] * (N // 2), "code").kind is Kind.number
    assert column_of(sorted(population), "population").kind is Kind.number
    assert column_of(SHUFFLED, "age").kind is Kind.number
    assert column_of([*range(0, 2 * N - 2, 2), None], "age").kind is Kind.number
    assert column_of([number // 2 for number in SHUFFLED], "NO").kind is Kind.number


@pytest.mark.parametrize("cells", [[1, 2, 3.5], ["1.0", "2", "3.50"]], ids=["numbers", "text"])
def test_numbers_can_be_declared_categories(column_of, cells):
    assert column_of(cells * (N // 3)).kind is Kind.number
    column = column_of(cells * (N // 3), is_category=True)
    assert column == Column("z", Kind.category, 0, ("1", "2", "3.5"))
    assert column_of([5] * N, is_category=True) == column_of([5] * N)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("Y", "Did you mean 'y'"),
        ("diagnosys", "Did you mean 'diagnosis'"),
        ("unlike", "Choose one of 'y', 'x', 'diagnosis'"),
    ],
)
def test_a_name_that_no_column_has_gets_a_suggestion(make_table, name, remedy):
    table = make_table(diagnosis=[1] * N)
    assert find_column(table, " diagnosis ", "target") == "diagnosis"
    with pytest.raises(ValueError, match=f"target must name a column .*, got '{name}'. {remedy}"):
        find_column(table, name, "target")


def test_names_may_be_listed_with_commas_unless_a_column_has_that_name(make_table):
    table = make_table(**{"a": [1] * N, "b": [1] * N, "a,b": [1] * N})
    assert find_columns(table, ["x, a", "b"], "ignore") == ["x", "a", "b"]
    assert find_columns(table, ["a,b"], "ignore") == ["a,b"]
    with pytest.raises(ValueError, match=r"ignore must name a column .*, got 'aa'"):
        find_columns(table, ["x,aa"], "ignore")
    with pytest.raises(ValueError, match="got 'some, other'"):
        find_columns(table, ["some, other"], "ignore")


@pytest.mark.parametrize(
    ("cells", "number_format", "n_missing"),
    [
        (["$4,179.00", "$86", "$1"], NumberFormat(".", ",", "$"), 0),
        (["36.4%", "n/a", "-"], None, 0),
        (["5 mg", "unknown", "7 mg"], NumberFormat(unit="mg"), N // 3),
        (["1,5", "2,5", "."], NumberFormat(",", "."), N // 3),
    ],
)
def test_written_numbers_are_numbers_and_marks_are_missing(
    column_of, cells, number_format, n_missing
):
    column = column_of(cells * (N // 3))
    if number_format is None:
        assert column.kind is Kind.ignored  # a single value
    else:
        assert replace(column, low=None, high=None) == Column(
            "z", Kind.number, n_missing, number_format=number_format
        )


def test_a_unit_must_be_in_half_of_the_cells_even_beside_numbers(make_table):
    table = make_table().assign(z=as_cells([float(n) for n in range(N - 1)] + ["5 mg"]))
    assert describe_column(table["z"]).reason.startswith("1 of its 60 values is not a number")


def test_dashes_and_dots_are_missing_among_words_but_words_are_categories(column_of):
    column = column_of(["a", "-", "none"] * (N // 3))
    assert column == Column("z", Kind.category, N // 3, ("a", "none"))
    assert column_of(["+", "-"] * (N // 2)).categories == ("+", "-")


def test_a_few_numbers_with_a_word_are_categories(column_of):
    column = column_of([4, 6, 8] * (N // 3 - 1) + [4, 6, "rotary"])
    assert column.categories == ("4", "6", "8", "rotary")


def test_numbers_of_the_rows_are_recognized(make_table):
    assert numbers_rows(make_table(z=list(range(N)))["z"])
    assert not numbers_rows(make_table(z=[*range(N - 1), None])["z"])
    assert not numbers_rows(make_table(z=[*range(1, N), 0])["z"])


def test_rows_of_left_out_classes_and_marks_are_not_labeled(make_table):
    table = make_table(z=["a", "b", "."] * (N // 3))
    assert set(labeled_rows(table, "z")["z"]) == {"a", "b"}
    rows = labeled_rows(table, "z", {"b": None, "a": "A"})
    assert to_labels(rows["z"], {"a": "A"}).tolist() == ["A"] * (N // 3)


def test_missing_values_are_counted_and_located(make_table):
    table = make_table(g=["a"] * 5 + [None] * 2 + ["b"] * (N - 7))
    check_complete(table["y"], "target", "")
    with pytest.raises(ValueError, match=r"but 'g' is empty in 2 rows, first in line 7\. Do this"):
        check_complete(table["g"], "groups", "Do this.")
    with pytest.raises(ValueError, match=r"is empty in 1 row, first in line 8"):
        check_complete(table["g"].iloc[6:], "groups", "Do this.")


def test_numbers_are_told_from_missing_values_and_text(make_table):
    column = make_table(z=["1.5", None, "high"] * (N // 3))["z"]
    np.testing.assert_array_equal(to_numbers(column)[:3], [1.5, np.nan, np.inf])


def test_decimal_commas_of_the_file_are_read_as_such(make_table):
    column = make_table(z=["0,25", "1,234", "7"] * (N // 3))["z"]
    np.testing.assert_array_equal(to_numbers(column)[:3], [0.25, 1.234, 7])
    ambiguous = ["1,234", "2,345", None] * (N // 3)
    np.testing.assert_array_equal(
        to_numbers(make_table(z=ambiguous)["z"])[:3], [1234, 2345, np.nan]
    )
    table = make_table(z=ambiguous)
    set_reading(table, decimal_comma=True)
    np.testing.assert_array_equal(to_numbers(table["z"])[:3], [1.234, 2.345, np.nan])
    units = make_table(z=["5 mg", "6 mg", "7 mg"] * (N // 3))["z"]
    assert np.isinf(to_numbers(units)).all()
