import numpy as np
import pytest

from calibrant._core.labels import class_index
from calibrant._core.validation import (
    as_row_counts,
    check_classes,
    check_groups,
    check_row_weight,
    check_weight,
)


def test_classes_are_sorted_and_indexed():
    labels = np.array(["b", "a", "c", "a"])
    classes = check_classes(labels)
    np.testing.assert_array_equal(classes, ["a", "b", "c"])
    np.testing.assert_array_equal(classes[class_index(labels, classes)], labels)


def test_classes_of_a_fitted_model_are_kept():
    np.testing.assert_array_equal(check_classes(np.array([0, 2, 2, 0]), np.arange(3)), [0, 1, 2])


@pytest.mark.parametrize(
    ("labels", "known", "message"),
    [
        ([1, 1], None, r"at least two classes, got one class: \[1\]"),
        ([0, 1, 2], None, "more rows than classes.* got 3 rows and 3 classes"),
        ([0, 1, 1], [1, 0], r"must be sorted, got \[1, 0\]"),
        ([0, 5, 5], [0, 1], r"only classes of the frozen estimator, \[0, 1\], got \[5\]"),
    ],
)
def test_invalid_classes_are_refused(labels, known, message):
    with pytest.raises(ValueError, match=message):
        check_classes(np.array(labels), None if known is None else np.array(known))


def test_groups_must_not_be_missing():
    np.testing.assert_array_equal(check_groups(["a", "b"]), ["a", "b"])
    with pytest.raises(ValueError, match="NaN or None in 1 of 2 rows"):
        check_groups([1.0, np.nan])


def test_weights_default_to_one():
    np.testing.assert_array_equal(check_weight(None, np.zeros(3)), [1, 1, 1])
    np.testing.assert_array_equal(check_weight([0, 2, 0.5], np.zeros(3)), [0, 2, 0.5])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([[1], [1]], r"must have shape \(n,\)"),
        ([1, -1], "must not be negative, got -1"),
        ([0, 0], "positive for at least one row, got only zeros"),
        ([1, 1e200], "got values from 1 to 1e"),
        ([1, np.nan], "NaN"),
        ([1], "inconsistent numbers of samples"),
    ],
)
def test_invalid_weights_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        check_weight(weight, np.zeros(2))


@pytest.mark.parametrize("total", [1e-20, 1e16])
def test_weights_must_be_possible_numbers_of_rows(total):
    with pytest.raises(
        ValueError, match=rf"numbers of rows.* got a sum of {total:g}".replace("+", r"\+")
    ):
        check_row_weight([total / 2, total / 2], np.zeros(2))


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (None, [1, 1, 1, 1]),
        ([1.0, 2.0, 0.0, 3.0], [1, 2, 0, 3]),
        ([0.25, 0.25, 0.0, 0.5], [0.75, 0.75, 0, 1.5]),
    ],
)
def test_weights_that_sum_to_less_than_the_rows_are_scaled_up(weight, expected):
    counts = as_row_counts(None if weight is None else np.array(weight), 4)
    np.testing.assert_allclose(counts, expected)
