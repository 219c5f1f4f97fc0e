from itertools import combinations, product

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from calibrant.metrics import (
    auc,
    bootstrap_interval,
    m_index,
    measure_discrimination,
    polytomous_discrimination_index,
)

Z = 1.959963985


def wilson(estimate, variance, smallest, n_averaged=1):
    """The limits that solve (estimate - p)^2 = z^2 p (1 - p) / n, by the quadratic formula."""
    largest = estimate * (1 - estimate)
    n_rows = largest / (variance + largest / smallest**2 / n_averaged)
    a, b, c = 1 + Z**2 / n_rows, -(2 * estimate + Z**2 / n_rows), estimate**2
    return np.sort(np.roots([a, b, c]))


@pytest.fixture(params=[2, 3, 4])
def tied_rows(request):
    """Few rows, with many ties within and between the classes."""
    rng = np.random.RandomState(request.param)
    proba = np.round(rng.dirichlet(np.ones(request.param), size=24) * 4) + 0.5
    proba /= proba.sum(axis=1, keepdims=True)
    return np.arange(24) % request.param, proba


def brute_force_pdi(y, proba):
    """Look at every set of one row per class."""
    classes = range(proba.shape[1])
    wins = []
    for rows in product(*(np.flatnonzero(y == k) for k in classes)):
        shares = []
        for k in classes:
            column = proba[list(rows), k]
            is_highest = np.isclose(column, column.max(), rtol=0, atol=1e-12)
            shares.append(is_highest[k] / is_highest.sum())
        wins.append(np.mean(shares))
    return np.mean(wins)


def test_discrimination_index_is_that_of_all_sets_of_rows(tied_rows):
    y, proba = tied_rows
    found = polytomous_discrimination_index(y, proba)
    assert found == pytest.approx(brute_force_pdi(y, proba), abs=1e-12)


def test_auc_is_that_of_scikit_learn(predictions):
    y, proba, weight = predictions
    found = measure_discrimination(y, proba, sample_weight=weight)
    for k, label in enumerate("abcd"):
        expected = roc_auc_score(y == label, proba[:, k], sample_weight=weight)
        assert auc(y, proba, of=label, sample_weight=weight) == pytest.approx(expected)
        assert found.by_class[k].estimate == pytest.approx(expected)
    for pair, (i, j) in zip(found.by_pair, combinations(range(4), 2), strict=True):
        rows = np.isin(y, [pair.first, pair.second])
        share = proba[rows, i] / (proba[rows, i] + proba[rows, j])
        expected = roc_auc_score(y[rows] == pair.first, share, sample_weight=weight[rows])
        assert pair.conditional_auc.estimate == pytest.approx(expected)


def test_m_index_is_that_of_scikit_learn_and_of_r(predictions, golden_rows, golden_values):
    y, proba, _ = predictions
    expected = roc_auc_score(y, proba, multi_class="ovo", average="macro")
    assert m_index(y, proba) == pytest.approx(expected)
    found = measure_discrimination(y, proba)
    assert found.m_index.estimate == pytest.approx(expected)
    assert np.mean([pair.auc.estimate for pair in found.by_pair]) == pytest.approx(expected)
    proba = np.column_stack([golden_rows[f"p3_{k}"] for k in range(3)])
    assert m_index(golden_rows["y3"], proba) == pytest.approx(golden_values["m_index"])


def test_variance_is_that_of_delong_in_r(golden_rows, golden_values):
    y, predicted = golden_rows["y2"], golden_rows["p2"]
    found = measure_discrimination(y, predicted).by_class[1]
    assert found.estimate == pytest.approx(golden_values["auc"])
    smallest = min(np.bincount(y.astype(int)))
    limits = wilson(found.estimate, golden_values["auc_variance"], smallest)
    np.testing.assert_allclose(list(found), limits, rtol=1e-6)


def test_all_measures_of_two_classes_are_the_auc(golden_rows):
    y, predicted = golden_rows["y2"], golden_rows["p2"]
    found = measure_discrimination(y, predicted)
    (pair,) = found.by_pair
    others = (found.m_index, found.polytomous_discrimination_index, pair.auc, pair.conditional_auc)
    for other in others:
        assert other.estimate == pytest.approx(found.by_class[1].estimate)
        np.testing.assert_allclose(list(other), list(found.by_class[1]))


def test_variance_of_the_indices_is_that_of_the_jackknife(tied_rows):
    y, proba = tied_rows
    n_classes = proba.shape[1]
    found = measure_discrimination(y, proba)
    n_pairs = n_classes * (n_classes - 1) // 2
    for metric, interval, n_averaged in (
        (m_index, found.m_index, n_pairs),
        (
            polytomous_discrimination_index,
            found.polytomous_discrimination_index,
            n_classes - 1,
        ),
    ):
        # The jackknife within each class: for averages over all sets of rows, it is exact.
        variance = 0.0
        for k in range(n_classes):
            rows = np.flatnonzero(y == k)
            left_out = [metric(np.delete(y, i), np.delete(proba, i, axis=0)) for i in rows]
            variance += (len(rows) - 1) / len(rows) * np.sum((left_out - np.mean(left_out)) ** 2)
        limits = wilson(interval.estimate, variance, 24 // n_classes, n_averaged)
        np.testing.assert_allclose(list(interval), limits, rtol=1e-6)


def test_integer_weights_are_repeated_rows(predictions):
    y, proba, _ = predictions
    weight = 1 + np.arange(len(y)) % 3
    one = measure_discrimination(y, proba, sample_weight=weight)
    two = measure_discrimination(np.repeat(y, weight), np.repeat(proba, weight, axis=0))
    for name in ("m_index", "polytomous_discrimination_index"):
        np.testing.assert_allclose(list(getattr(one, name)), list(getattr(two, name)))


def test_perfect_separation_has_an_uncertain_limit():
    found = measure_discrimination([0] * 10 + [1] * 10, np.repeat([0.2, 0.9], 10)).by_class[1]
    assert (found.estimate, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(10 / (10 + Z**2))


def test_classes_without_rows_have_no_measure():
    found = measure_discrimination([0, 1] * 5, np.full((10, 3), 1 / 3), labels=[0, 1, 2])
    assert found.by_class[0].estimate == 0.5
    assert np.isnan(found.by_class[2].estimate)
    assert np.isnan(found.m_index.estimate)
    assert [np.isnan(pair.auc.estimate) for pair in found.by_pair] == [False, True, True]


def test_the_auc_works_in_a_bootstrap(golden_rows):
    y, predicted = golden_rows["y2"], golden_rows["p2"]
    found = bootstrap_interval(auc, y, predicted, n_resamples=200, random_state=0)
    direct = measure_discrimination(y, predicted).by_class[1]
    assert found.low == pytest.approx(direct.low, abs=0.03)
    assert found.high == pytest.approx(direct.high, abs=0.03)
