"""Variances from resampled models, and intervals from variances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binomtest

from calibrant._core.problems import ProblemSplit, ScoringProblem
from calibrant._core.spread import Replicates, binomial_variance, dirichlet_interval

RNG = np.random.RandomState(0)


def split(train: np.ndarray, n_rows: int) -> ProblemSplit:
    y = np.arange(n_rows) % 2
    problem = ScoringProblem(None, np.arange(n_rows), y, y)
    return ProblemSplit(problem, train, np.setdiff1d(np.arange(n_rows), train), 0)


def test_the_variance_factor_of_folds_is_that_of_the_jackknife() -> None:
    # With n folds of one row, the variance of a mean is (n - 1) / n times a sum of squares.
    x = RNG.randn(30)
    means = np.array([np.delete(x, i).mean() for i in range(30)])
    factor = split(np.arange(29), 30).variance_factor
    assert factor == pytest.approx(29)
    assert factor * means.var() == pytest.approx(x.var(ddof=1) / 30)
    assert split(np.arange(15), 20).variance_factor == pytest.approx(3)


def test_the_variance_factor_of_bootstrap_samples_is_one() -> None:
    factors = [split(RNG.randint(0, 500, 500), 500).variance_factor for _ in range(200)]
    assert np.mean(factors) == pytest.approx(1, abs=0.03)


def test_variance_without_calibration_is_that_of_the_models() -> None:
    proba = RNG.dirichlet([2.0, 3.0, 5.0], size=(40, 7))
    found = Replicates(proba, proba, np.full(40, 3.0)).variance()
    np.testing.assert_allclose(found, 3.0 * proba.var(axis=0).sum(axis=1))


def test_calibration_that_shrinks_leaves_the_variance_of_the_signal() -> None:
    # Signals with variance 1 and noise with variance 0.5 in the log odds of two classes.
    n_rows, noise = 4000, 0.5
    signal = RNG.randn(n_rows)
    shrinkage = 1.0 / (1.0 + noise)
    score = signal + np.sqrt(noise) * RNG.randn(200, n_rows)

    def proba(log_odds: np.ndarray) -> np.ndarray:
        positive = 1.0 / (1.0 + np.exp(-log_odds))
        return np.stack([1.0 - positive, positive], axis=-1)

    replicates = Replicates(proba(score), proba(shrinkage * score), np.ones(200))
    actual = np.sum((proba(signal) - proba(shrinkage * score[0])) ** 2, axis=1)
    assert replicates.variance().mean() == pytest.approx(actual.mean(), rel=0.1)


def test_intervals_are_those_of_a_beta_distribution() -> None:
    proba = RNG.dirichlet([2.0, 3.0, 5.0], size=50)
    interval = dirichlet_interval(proba, np.full(50, 0.1), 1e9, 0.8)
    expected = beta.ppf([[[0.1, 0.9]]], 9 * proba[:, :, None], 9 * (1 - proba[:, :, None]))
    np.testing.assert_allclose(interval, expected)


def test_intervals_of_skewed_distributions_contain_the_mean() -> None:
    proba = np.array([[0.001, 0.999], [0.0, 1.0]])
    interval = dirichlet_interval(proba, 0.9, 1e9, 0.5)
    assert np.all(interval[:, :, 0] <= proba)
    assert np.all(interval[:, :, 1] >= proba)
    np.testing.assert_allclose(interval[1], [[0, 0], [1, 1]], atol=1e-8)


def test_certain_probabilities_have_the_interval_of_a_class_without_rows() -> None:
    # The exact binomial limits of 0 out of 40.
    exact = binomtest(0, 40).proportion_ci(0.95)
    interval = dirichlet_interval(np.array([[0.0, 1.0]]), 0.01, 40, 0.95)
    np.testing.assert_allclose(interval[0], [[0, exact.high], [1 - exact.high, 1]])


def test_true_probabilities_with_a_dirichlet_distribution_are_covered() -> None:
    center = RNG.dirichlet([2.0, 3.0, 5.0], size=20_000)
    relative = 0.15
    true = np.array([RNG.dirichlet((1 / relative - 1) * row) for row in center])
    assert np.mean((true - center) ** 2) * 3 == pytest.approx(
        relative * binomial_variance(center).mean(), rel=0.03
    )
    interval = dirichlet_interval(center, relative, 1e9, 0.9)
    covered = (interval[:, :, 0] <= true) & (true <= interval[:, :, 1])
    assert covered.mean() == pytest.approx(0.9, abs=0.005)
