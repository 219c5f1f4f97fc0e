from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calibrant.decisions import CostTable
from calibrant.tabular.predictions import round_rows, tabulate_predictions

PROBA = np.array([[0.25, 0.5, 0.25], [1 / 3, 1 / 3, 1 / 3], [1e-9, 0.0, 1 - 1e-9]])
POSITIVE = arrays(float, st.tuples(st.integers(1, 5), st.integers(2, 40)), elements=st.floats(0, 1))


@given(POSITIVE, st.integers(1, 15))
def test_rounded_rows_sum_to_one_as_decimals_and_keep_the_order_of_classes(values, digits):
    proba = (values + 1e-3) / (values + 1e-3).sum(axis=1, keepdims=True)
    rounded = round_rows(proba, digits)
    for row, before in zip(rounded.tolist(), proba, strict=True):
        written = [Decimal(f"{value:.{digits}f}") for value in row]
        assert [float(value) for value in written] == row
        assert sum(written) == 1
        assert (np.diff(np.array(row)[np.argsort(before, kind="stable")]) >= 0).all() or (
            # Equal probabilities may differ by a unit of the last digit.
            len(set(before.tolist())) < len(before)
        )
    assert np.abs(rounded - proba).max() < 10.0**-digits * (1 + 1e-3)


@pytest.mark.parametrize("digits", [0, 16])
def test_other_numbers_of_digits_are_refused(digits):
    with pytest.raises(ValueError, match=f"between 1 and 15, got {digits}"):
        round_rows(PROBA, digits)


def test_predictions_come_before_the_classes():
    columns = tabulate_predictions(PROBA, ["a", "b", "c"], kept={"id": [7, 8, 9]}, digits=2)
    assert columns == {
        "id": [7, 8, 9],
        "predicted_class": ["b", "a", "c"],
        "probability": [0.5, 0.34, 1.0],
        "a": [0.25, 0.34, 0.0],
        "b": [0.5, 0.33, 0.0],
        "c": [0.25, 0.33, 1.0],
    }


def test_all_digits_are_the_probabilities_themselves():
    columns = tabulate_predictions(PROBA, ["a", "b", "c"], digits=None)
    np.testing.assert_array_equal(np.column_stack([columns[name] for name in "abc"]), PROBA)


def test_decisions_need_not_be_classes():
    costs = CostTable(("a", "b", "c"), ("ask", "send"), np.array([[1, 0], [1, 3], [1, 0]]))
    columns = tabulate_predictions(PROBA, ["a", "b", "c"], costs=costs)
    assert columns["decision"] == ["ask", "ask", "send"]
    assert columns["expected_cost"] == [1.0, 1.0, 0.0]


def test_a_class_may_have_the_name_of_a_column():
    columns = tabulate_predictions(PROBA, ["probability", "probability_", "c"])
    assert list(columns) == [
        "predicted_class",
        "probability__",
        "probability",
        "probability_",
        "c",
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [("b", "also a class, got 'b'"), ("probability", "also a column of the predictions")],
)
def test_a_kept_column_must_not_have_the_name_of_another_column(name, message):
    with pytest.raises(ValueError, match=message):
        tabulate_predictions(PROBA, ["a", "b", "c"], kept={name: ["1", "2", "3"]})


def test_intervals_and_possible_classes_follow_the_classes():
    proba = np.array([[0.25, 0.75]])
    interval = np.array([[[0.1234, 0.3331], [0.6669, 0.8766]]])
    columns = tabulate_predictions(
        proba, ["no", "yes"], interval=interval, possible=np.array([[False, True]]), digits=2
    )
    assert list(columns)[4:] == [
        "low_no",
        "high_no",
        "possible_no",
        "low_yes",
        "high_yes",
        "possible_yes",
    ]
    # Ends are rounded outward, so that intervals still contain the rounded probabilities.
    assert [cells[0] for cells in columns.values()][4:] == [0.12, 0.34, 0, 0.66, 0.88, 1]


def test_ends_of_intervals_do_not_replace_classes():
    proba = np.array([[0.25, 0.75]])
    interval = np.array([[[0.1, 0.3], [0.7, 0.9]]])
    columns = tabulate_predictions(proba, ["a", "low_a"], interval=interval, digits=2)
    assert columns["low_a"] == [0.75]
    assert columns["low_a_"] == [0.1]
    with pytest.raises(ValueError, match=r"keep must not name a column .* 'high_a'"):
        tabulate_predictions(proba, ["a", "b"], interval=interval, kept={"high_a": [1]})
