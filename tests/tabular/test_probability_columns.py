import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax

from calibrant.tabular.cells import as_cells
from calibrant.tabular.probability_columns import ProbabilityColumns

rng = np.random.RandomState(0)
SCORES = rng.dirichlet([0.4] * 3, size=40)
ABC = ProbabilityColumns(("a", "b", "c"), ("a", "b", "c"))
SINGLE = ProbabilityColumns(("no", "yes"), (None, "score"))


def table(values, names, text="{:.17g}"):
    """Make a table of text, as read from CSV."""
    columns = {
        name: as_cells(text.format(value) for value in column)
        for name, column in zip(names, np.atleast_2d(values.T), strict=True)
    }
    return pd.DataFrame(columns, index=pd.RangeIndex(2, len(values) + 2, name="line"), dtype=object)


def test_probabilities_are_read_as_they_are():
    values, notices = ABC.read(table(SCORES, "abc"))
    np.testing.assert_array_equal(values, SCORES)
    assert notices == []


def test_columns_are_matched_to_classes():
    given = ProbabilityColumns(("a", "b", "c"), ("z", "x", "y"))
    frame = table(SCORES[:, [1, 2, 0]], ["x", "y", "z"])
    np.testing.assert_array_equal(given.read(frame).values, SCORES)


@pytest.mark.parametrize("text", ["{:.17g}", "{:.17g}%", "{:.17g} %"])
def test_percentages_are_recognized_with_a_notice(text):
    values, [notice] = ABC.read(table(100 * SCORES, "abc", text))
    np.testing.assert_allclose(values, SCORES, rtol=1e-12)
    assert notice.startswith("The probabilities are percentages")


@pytest.mark.parametrize(("scale", "decimals"), [(1, 2), (1, 1), (100, 0)])
def test_rounded_rows_are_normalized_with_a_notice_that_says_how_far_off_they_were(scale, decimals):
    rounded = (scale * SCORES).round(decimals)
    values, notices = ABC.read(table(rounded, "abc", f"{{:.{decimals}f}}"))
    np.testing.assert_allclose(values, rounded / rounded.sum(axis=1, keepdims=True))
    total = rounded.sum(axis=1) / scale
    n_off = int((np.abs(total - 1) > 1e-9).sum())
    assert notices[-1].startswith(f"The probabilities of {n_off} of 40 rows do not sum to 1")
    assert f"between {total.min():.6g} and {total.max():.6g}" in notices[-1]


def test_many_classes_may_deviate_further():
    proba = np.full((3, 30), 1 / 30)
    names = [f"c{k}" for k in range(30)]
    given = ProbabilityColumns(tuple(names), tuple(names))
    values, [notice] = given.read(table(proba, names, "{:.2f}"))  # the rows sum to 0.9
    np.testing.assert_allclose(values, proba)
    assert "between 0.9 and 0.9" in notice
    # With more digits, the same sum cannot be due to rounding.
    with pytest.raises(ValueError, match=r"line 2 sums to 0\.9\."):
        given.read(table(np.full((3, 30), 0.03), names, "{:.4f}").assign(c0="0.0300001"))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.5, 0.3, 0.1], r"sum to 1, but line 5 sums to 0\.9\. Correct or remove the row"),
        (
            [1.2, -0.3, 0.1],
            r"line 5 has -0\.3 for 'b'\. If they are logits, use calibrant calibrate --logits",
        ),
    ],
)
def test_a_row_that_is_not_probabilities_is_refused_with_its_number(row, message):
    scores = SCORES.copy()
    scores[3] = row
    with pytest.raises(ValueError, match=message):
        ABC.read(table(scores, "abc"))


def test_a_row_that_does_not_sum_to_one_hundred_is_refused_among_percentages():
    scores = 100 * SCORES
    scores[3] = SCORES[3]
    message = "sum to 100, as percentages do, but line 5 sums to 1"
    with pytest.raises(ValueError, match=message):
        ABC.read(table(scores, "abc"))


@pytest.mark.parametrize(("low", "high"), [(0, 1), (1, 0)])
def test_a_single_column_gives_both_classes(low, high):
    columns = [None, "score"] if high else ["score", None]
    given = ProbabilityColumns(("no", "yes"), tuple(columns))
    assert given.positive == ("yes" if high else "no")
    values, notices = given.read(table(SCORES[:, 0], ["score"]))
    np.testing.assert_array_equal(values[:, high], SCORES[:, 0])
    np.testing.assert_array_equal(values[:, low], 1 - SCORES[:, 0])
    assert notices == []


def test_percentages_of_a_single_column_are_divided_with_a_notice():
    given = ProbabilityColumns(("no", "yes"), (None, "score"), percentages=True)
    values, [notice] = given.read(table(100 * SCORES[:, 0], ["score"]))
    np.testing.assert_allclose(values[:, 1], SCORES[:, 0], rtol=1e-12)
    assert notice.startswith("'score' holds percentages, from ")
    values, [notice] = SINGLE.read(table(100 * SCORES[:, 0], ["score"], "{:.17g}%"))
    np.testing.assert_allclose(values[:, 1], SCORES[:, 0], rtol=1e-12)


@pytest.mark.parametrize("wrong", [1.5, -0.5])
def test_a_single_column_must_hold_probabilities(wrong):
    scores = SCORES[:, 0].copy()
    scores[3] = wrong
    with pytest.raises(ValueError, match=f"line 5 has {wrong} for 'score'.* calibrate --logits"):
        SINGLE.read(table(scores, ["score"]))


def test_logits_are_converted_by_softmax():
    logits = rng.normal(size=(40, 3))
    given = ProbabilityColumns(("a", "b", "c"), ("a", "b", "c"), logits=True)
    frame = table(logits, "abc")
    np.testing.assert_allclose(given.read(frame).values, softmax(logits, axis=1))
    single = ProbabilityColumns(("no", "yes"), (None, "score"), logits=True)
    frame = table(logits[:, 0], ["score"])
    np.testing.assert_allclose(single.read(frame).values[:, 1], expit(logits[:, 0]))


@pytest.mark.parametrize(("scale", "text"), [(1, "{:.17g}"), (1, "{:.2f}"), (100, "{:.0f}")])
def test_probabilities_given_as_logits_are_refused(scale, text):
    given = ProbabilityColumns(("a", "b", "c"), ("a", "b", "c"), logits=True)
    with pytest.raises(ValueError, match=f"each row sums to {scale}. Leave out --logits"):
        given.read(table(scale * SCORES, "abc", text))


def test_missing_columns_are_named_with_similar_ones():
    with pytest.raises(ValueError, match=r"It lacks 'b'\. Rename 'B' to 'b' if it is the same"):
        ABC.read(table(SCORES, ["a", "B", "c"]))
