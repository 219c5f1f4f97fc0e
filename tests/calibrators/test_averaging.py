import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import ttest_1samp

from calibrant.calibrators._averaging import CANDIDATE_PSEUDO_COUNT, average_weights, gain_shrinkage


def make_problem(n=60, n_candidates=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.beta(2, 2, size=(n, n_candidates)), rng.uniform(0.2, 2.0, size=n)


def objective(weights, true_proba, n_rows):
    return -n_rows @ np.log(true_proba @ weights) - CANDIDATE_PSEUDO_COUNT * np.log(weights).sum()


def expectation_maximization(true_proba, n_rows, rounds=5000):
    """The textbook fixed point: the expected rows of each candidate, pseudo-counts included."""
    n_candidates = true_proba.shape[1]
    weights = np.full(n_candidates, 1 / n_candidates)
    for _ in range(rounds):
        responsibility = weights * true_proba / (true_proba @ weights)[:, None]
        weights = n_rows @ responsibility + CANDIDATE_PSEUDO_COUNT
        weights /= weights.sum()
    return weights


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_those_of_expectation_maximization(seed):
    problem = make_problem(seed=seed)
    weights, expected = average_weights(*problem), expectation_maximization(*problem)
    assert weights.sum() == pytest.approx(1.0)
    assert objective(weights, *problem) <= objective(expected, *problem) + 1e-6
    np.testing.assert_allclose(weights, expected, rtol=0, atol=5e-4)


@pytest.mark.parametrize("seed", range(3))
def test_no_generic_optimizer_finds_a_better_average(seed):
    problem = make_problem(n_candidates=3, seed=seed)
    found = minimize(
        objective,
        np.full(3, 1 / 3),
        args=problem,
        method="SLSQP",
        bounds=[(1e-9, 1)] * 3,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
    )
    assert objective(average_weights(*problem), *problem) <= found.fun + 1e-6


def test_the_better_candidate_gets_nearly_all_the_weight():
    true_proba = np.column_stack([np.full(500, 0.2), np.full(500, 0.6), np.full(500, 0.3)])
    weights = average_weights(true_proba, np.ones(500))
    assert weights[1] > 0.99
    assert (weights > 0).all()


def test_candidates_that_agree_have_equal_weights():
    weights = average_weights(np.full((50, 3), 0.4), np.ones(50))
    np.testing.assert_allclose(weights, 1 / 3)


def test_without_points_all_weights_are_equal():
    np.testing.assert_allclose(average_weights(np.ones((0, 4)), np.ones(0)), 0.25)


def test_weights_are_numbers_of_rows():
    true_proba, _ = make_problem()
    weight = np.random.default_rng(1).integers(0, 4, size=len(true_proba)).astype(float)
    repeated = np.repeat(true_proba, weight.astype(int), axis=0)
    np.testing.assert_allclose(
        average_weights(true_proba, weight),
        average_weights(repeated, np.ones(len(repeated))),
        rtol=0,
        atol=1e-6,
    )


def test_shrinkage_is_one_minus_the_p_value():
    gain = np.array([0.1, 0.3, -0.1, 0.5, 0.2])
    assert gain_shrinkage(gain) == pytest.approx(1 - ttest_1samp(gain, 0).pvalue)


@pytest.mark.parametrize(
    ("gain", "shrinkage"),
    [
        ([], 0.0),
        ([0.7], 0.0),
        ([0.0, 0.0, 0.0], 0.0),
        ([-0.1, -0.2], 0.0),
        ([-0.3, 0.3], 0.0),
        ([0.2, 0.2, 0.2], 1.0),
    ],
    ids=["no rows", "one row", "no gain", "loss", "as much loss as gain", "the same for all"],
)
def test_shrinkage_at_its_limits(gain, shrinkage):
    assert gain_shrinkage(np.array(gain)) == pytest.approx(shrinkage)


def test_shrinkage_weakens_with_the_number_of_rows():
    gain = np.array([0.5, -0.4, 0.4, -0.3])
    factors = [gain_shrinkage(np.tile(gain, repeats)) for repeats in (1, 10, 100)]
    assert factors[0] < 0.3
    assert factors[0] < factors[1] < factors[2]
    assert factors[2] > 0.9
