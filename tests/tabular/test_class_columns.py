import numpy as np
import pandas as pd
import pytest

from calibrant.tabular.class_columns import find_probability_columns, split_assignments

rng = np.random.RandomState(0)
P = rng.rand(20)
LABELS = np.array(["no", "yes"] * 10)


def find(frame, labels=LABELS, **options):
    return find_probability_columns(frame.assign(truth=labels), "truth", labels, **options)


def frame(**columns):
    return pd.DataFrame(columns, index=pd.RangeIndex(1, 21, name="row"))


def test_columns_are_named_after_their_classes():
    given = find(frame(yes=P, no=1 - P, age=30 + np.arange(20)))
    assert given.classes == given.columns == ("no", "yes")


@pytest.mark.parametrize("scale", [1, 100])
def test_columns_whose_rows_sum_to_one_include_classes_without_a_row(scale):
    scores = scale * rng.dirichlet([1] * 3, size=20)
    given = find(frame(yes=scores[:, 0], no=scores[:, 1], maybe=scores[:, 2]))
    assert given.classes == ("maybe", "no", "yes")


def test_columns_of_the_predictions_of_calibrant_are_not_classes():
    scores = rng.dirichlet([1] * 3, size=20)
    columns = {"yes": scores[:, 0], "no": scores[:, 1], "maybe": scores[:, 2]}
    given = find(frame(probability=scores.max(axis=1), expected_cost=P, **columns))
    assert given.classes == ("maybe", "no", "yes")


def test_columns_may_have_any_names():
    given = find(frame(a=P, b=1 - P), columns={"a": "yes", "b": "no"})
    assert dict(zip(given.classes, given.columns, strict=True)) == {"no": "b", "yes": "a"}
    given = find(frame(a=P, no=1 - P), columns={"a": "yes"})
    assert dict(zip(given.classes, given.columns, strict=True)) == {"no": "no", "yes": "a"}
    given = find(frame(a=P, b=P, c=P), columns={"a": "yes", "b": "no", "c": "never seen"})
    assert given.classes == ("never seen", "no", "yes")


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ({"yes": P}, {"positive": "yes"}),
        ({"score": P}, {"positive": "yes"}),
        ({"score": P, "age": 30 + np.arange(20), "sex": np.arange(20) % 2}, {"positive": "yes"}),
        ({"score": P, "other": P}, {"columns": {"score": "yes"}}),
        ({"score": P, "other": P}, {"columns": {"score": "yes"}, "positive": "yes"}),
    ],
)
def test_one_column_is_enough_for_two_classes(columns, options):
    given = find(frame(**columns), **options)
    assert given.classes == ("no", "yes")
    assert given.columns == (None, next(iter(columns)))
    assert not given.percentages


def test_a_single_column_of_percentages_is_recognized():
    assert find(frame(score=100 * P), positive="yes").percentages
    texts = pd.Series([f"{value:.1f}%" for value in P], index=range(1, 21))
    assert find(frame(score=texts), positive="yes").percentages
    assert not find(frame(score=8 * P), positive="yes").percentages


def test_both_columns_are_used_if_they_are_there():
    assert find(frame(yes=P, no=1 - P), positive="yes").columns == ("no", "yes")


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            {"score": P},
            {"positive": "Yes"},
            r"must be a class of 'truth', got 'Yes'\. Did you mean",
        ),
        ({"a": P, "b": P}, {"positive": "yes"}, "may hold them are 'a', 'b'. Say which one"),
        ({"a": ["x"] * 20}, {"positive": "yes"}, "may hold them are none"),
        ({"a": P, "b": P}, {"columns": {"c": "yes"}}, "columns must name a column.* got 'c'"),
        ({"a": P, "b": P}, {"columns": {"a": "no", "b": "no"}}, "'no' for 'a' and 'b'"),
        ({"a": P, "b": P}, {"columns": {"truth": "no"}}, "must not name the target"),
        ({"a": P}, {"columns": {"a": "no"}, "positive": "yes"}, "class of a column in columns"),
        ({"a": P, "b": P}, {}, r"It lacks 'no', 'yes'\. Add them, or say which column"),
        ({"score": P}, {"positive": "yes", "logits": True}, "between 0 and 1 in every row"),
    ],
)
def test_what_cannot_be_matched_is_refused_with_the_remedy(columns, options, message):
    with pytest.raises(ValueError, match=message):
        find(frame(**columns), **options)


def test_positive_requires_two_classes():
    labels = np.array(["a", "b", "c", "d"] * 5)
    with pytest.raises(ValueError, match="requires two classes, but 'truth' has 4"):
        find(frame(score=P), labels, positive="a")


def test_every_class_needs_a_column():
    labels = np.array(["a", "b", "c", "d"] * 5)
    with pytest.raises(ValueError, match=r"It lacks 'c', 'd'\."):
        find(frame(p=P, q=P), labels, columns={"p": "a", "q": "b"})


def test_assignments_are_split_at_the_equals_sign_after_a_column():
    assert split_assignments(["a=benign", "b=x=y"], ["a", "b"]) == {"a": "benign", "b": "x=y"}
    assert split_assignments(["b=c=y"], ["a", "b=c"]) == {"b=c": "y"}
    assert split_assignments(["unknown=y"], ["a"]) == {"unknown": "y"}


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (["benign"], "column=class, got 'benign'"),
        (["a="], "column=class, got 'a='"),
        (["a=x", "a=y"], "got 'a' twice"),
    ],
)
def test_items_that_assign_nothing_are_refused(items, message):
    with pytest.raises(ValueError, match=message):
        split_assignments(items, ["a"])
