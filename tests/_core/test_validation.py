import numpy as np
import pandas as pd
import pytest

from calibrant._core.validation import (
    as_row_counts,
    check_classes,
    check_groups,
    check_labels,
    check_weight,
    class_index,
    find_missing,
)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (np.array([1.0, np.nan]), [False, True]),
        (np.array(["a", None], dtype=object), [False, True]),
        (np.array(["a", pd.NA], dtype=object), [False, True]),
        (np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"), [False, True]),
        (np.array([1, 2]), [False, False]),
        (np.array(["nan", "b"]), [False, False]),
    ],
    ids=repr,
)
def test_missing_labels_are_found_in_every_type(labels, expected):
    np.testing.assert_array_equal(find_missing(labels), expected)


@pytest.mark.parametrize("labels", [["b", "a"], [2, 1], [True, False]], ids=repr)
def test_valid_labels_are_returned_unchanged(labels):
    np.testing.assert_array_equal(check_labels(labels), labels)


def test_numbers_stored_as_objects_become_numbers():
    assert check_labels(np.array([1, 2], dtype=object)).dtype.kind == "i"


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "requires y to be passed"),
        ([], "at least one label, got none"),
        ([0, np.nan], "NaN or None in 1 of 2 rows"),
        ([0, np.inf], "infinity in 1 of 2 rows"),
        (np.array(["a", 1], dtype=object), "labels of one type, got int and str"),
    ],
)
def test_invalid_labels_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        check_labels(labels)


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
