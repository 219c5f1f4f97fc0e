import numpy as np
import pandas as pd
import pytest

from calibrant._core.labels import check_labels, find_missing, read_labels


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


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (pd.Series([2, 1], dtype="Int64"), "i"),
        (pd.Series([True, False], dtype="boolean"), "b"),
        (pd.Series([0.5, 1.5], dtype="Float64"), "f"),
        (pd.Series(["b", "a"], dtype="string"), "O"),
        (pd.Series(["b", "a"], dtype="category"), "O"),
    ],
    ids=lambda value: str(getattr(value, "dtype", value)),
)
def test_nullable_columns_keep_their_type(labels, kind):
    found = read_labels(labels)
    assert found.dtype.kind == kind
    assert found.tolist() == labels.tolist()


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float64", "string", "category"])
def test_missing_labels_of_nullable_columns_are_refused(dtype):
    with pytest.raises(ValueError, match="NaN or None in 1 of 3 rows"):
        read_labels(pd.Series([1, 0, None]).map({1: 1, 0: 0}).astype("object").astype(dtype))


@pytest.mark.parametrize("kind", [list, lambda labels: np.array(labels, dtype=object)])
@pytest.mark.parametrize("labels", [[2**63, 1], [2**64 - 1, 2**64 - 2], [-(2**63), 2**63 - 1]])
def test_huge_integers_are_not_rounded(labels, kind):
    found = read_labels(kind(labels))
    assert found.dtype.kind in "iu"
    assert found.tolist() == labels


@pytest.mark.parametrize("labels", [[-1, 2**63 + 1], [1, 2**64], [2**53 + 1, 0.5]], ids=repr)
def test_integers_that_no_type_can_hold_are_refused(labels):
    with pytest.raises(ValueError, match=r"64-bit type, got integers.* Convert all labels to str"):
        read_labels(labels)
