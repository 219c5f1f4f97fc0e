"""Prediction sets."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant._core.conformal import MOST_PER_CLASS, predict_sets, sort_by_class

RNG = np.random.RandomState(0)


def test_sets_of_exchangeable_rows_have_the_coverage_of_each_class() -> None:
    # With nine rows of a class, exactly one of ten new rows is below all of them.
    covered = []
    for _ in range(4000):
        proba = RNG.uniform(size=(11, 2)) * [0.4, 1.0]  # the second class is the most probable
        by_class = sort_by_class(proba[:9, 0], np.zeros(9, dtype=int), 2)
        row = np.array([[proba[9, 0], 0.5]])
        covered.append(predict_sets(row, by_class, 0.9)[0, 0])
    assert np.mean(covered) == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("n_rows", [0, 1, 8])
def test_a_class_with_too_few_rows_cannot_be_excluded(n_rows: int) -> None:
    by_class = [np.full(n_rows, 0.9), np.full(20, 0.5)]
    assert predict_sets(np.array([[0.0, 1.0]]), by_class, 0.9)[0, 0]


def test_nine_rows_suffice_to_exclude_a_class_with_a_coverage_of_ninety_percent() -> None:
    by_class = [np.full(9, 0.9), np.full(20, 0.5)]
    assert not predict_sets(np.array([[0.1, 0.9]]), by_class, 0.9)[0, 0]
    assert predict_sets(np.array([[0.1, 0.9]]), by_class, 0.95)[0, 0]


def test_the_most_probable_class_is_always_possible() -> None:
    by_class = [np.full(50, 0.9), np.full(50, 0.9)]
    np.testing.assert_array_equal(
        predict_sets(np.array([[0.4, 0.6]]), by_class, 0.5), [[False, True]]
    )


def test_many_rows_are_thinned_without_changing_sets() -> None:
    proba = RNG.uniform(size=20_000)
    (thinned,) = sort_by_class(proba, np.zeros(20_000, dtype=int), 1)
    assert len(thinned) == MOST_PER_CLASS
    level = np.quantile(proba, 0.1)
    for value, kept in ((level - 0.01, False), (level + 0.01, True)):
        row = np.array([[value, 1.0]])
        assert predict_sets(row, [thinned, thinned], 0.9)[0, 0] == kept
