import numpy as np
import pytest

from calibrant.tabular import Column, Kind
from calibrant.tabular.columns import check_complete, describe_column, find_column, to_numbers

N = 60
rng = np.random.RandomState(0)


@pytest.fixture
def column_of(make_table):
    def describe(cells, name="z", **options):
        return describe_column(make_table(**{name: cells})[name], **options)

    return describe


def test_kinds_of_columns(column_of):
    assert column_of(list(range(0, 3 * N, 3))).kind is Kind.number
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
        (["<0.1", "low", *map(str, range(N - 2))], "z", "2 of its 60 values are not numbers, such"),
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
