"""The coupling methods, called through `calibrant.combination.couple`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from scipy.special import softmax

from calibrant.combination import COUPLINGS, couple


def pairwise_from(proba):
    return proba[:, :, None] / (proba[:, :, None] + proba[:, None, :])


def pairwise_from_upper(upper):
    """R from the entries above the diagonal, of shape (n_samples, n_pairs)."""
    n_classes = int((1 + np.sqrt(1 + 8 * upper.shape[1])) / 2)
    i, j = np.triu_indices(n_classes, 1)
    R = np.zeros((len(upper), n_classes, n_classes))
    R[:, i, j], R[:, j, i] = upper, 1 - upper
    return R


def contradictory_pairs(n_classes):
    rng = np.random.default_rng(n_classes)
    return pairwise_from_upper(rng.uniform(0.05, 0.95, size=(1, n_classes * (n_classes - 1) // 2)))


def assert_probabilities(proba):
    assert np.isfinite(proba).all()
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-12)


def minimize_on_simplex(objective, n_classes):
    """Minimize over class probabilities by a generic optimizer on their logits."""
    start = np.zeros(n_classes)
    found = minimize(lambda logit: objective(softmax(logit)), start, options={"gtol": 1e-9})
    return softmax(found.x)


@pytest.mark.parametrize("method", COUPLINGS)
@pytest.mark.parametrize("n_classes", [2, 3, 5, 10, 26])
@pytest.mark.parametrize("concentration", [0.2, 1.0, 20.0])
def test_consistent_pairs_give_the_class_probabilities(method, n_classes, concentration):
    rng = np.random.default_rng(n_classes)
    proba = rng.dirichlet(np.full(n_classes, concentration), size=30)
    # The pairwise probability of two classes of probability 0 is undefined.
    proba = np.maximum(proba, np.finfo(float).tiny)
    np.testing.assert_allclose(couple(pairwise_from(proba), method), proba, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n_classes", [3, 4, 6])
def test_wu_lin_weng_minimizes_its_objective(n_classes):
    R = contradictory_pairs(n_classes)

    def objective(proba):
        return np.sum((R[0].T * proba[:, None] - R[0] * proba[None, :]) ** 2)

    expected = minimize_on_simplex(objective, n_classes)
    np.testing.assert_allclose(couple(R)[0], expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("n_classes", [3, 4, 6])
def test_wu_lin_weng_1_solves_its_equations(n_classes):
    R = contradictory_pairs(n_classes)
    proba = couple(R, "wu-lin-weng-1")[0]
    terms = (proba[:, None] + proba[None, :]) * R[0] / (n_classes - 1)
    np.fill_diagonal(terms, 0.0)
    np.testing.assert_allclose(terms.sum(axis=1), proba, rtol=0, atol=1e-12)


def test_wu_lin_weng_1_ranks_classes_that_never_win():
    # With e instead of 0, the flows balance if 2 e p_0 = p_1 + p_2 and 2 p_2 = e (p_0 + p_1).
    proba = couple(pairwise_from_upper(np.ones((1, 3))), "wu-lin-weng-1")[0]
    np.testing.assert_allclose(proba, [1.0, 1.5e-12, 0.5e-12], rtol=1e-6)


@pytest.mark.parametrize("n_classes", [3, 4, 6])
def test_hastie_tibshirani_minimizes_its_weighted_divergence(n_classes):
    R = contradictory_pairs(n_classes)
    weight = np.random.default_rng(1).integers(5, 100, size=(n_classes, n_classes))
    weight = weight + weight.T
    i, j = np.triu_indices(n_classes, 1)

    def objective(proba):
        mu = proba[i] / (proba[i] + proba[j])
        r, w = R[0, i, j], weight[i, j] / 100
        return -np.sum(w * (r * np.log(mu) + (1 - r) * np.log1p(-mu)))

    expected = minimize_on_simplex(objective, n_classes)
    proba = couple(R, "hastie-tibshirani", pair_weight=weight)[0]
    np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-5)
    assert np.abs(proba - couple(R, "hastie-tibshirani")[0]).max() > 1e-4


def test_the_diagonal_of_the_pair_weights_is_ignored():
    R = contradictory_pairs(4)
    weight = np.full((4, 4), 2.0)
    np.fill_diagonal(weight, [0.0, -1.0, 1e300, 7.0])
    proba = couple(R, "hastie-tibshirani", pair_weight=weight)
    np.testing.assert_allclose(proba, couple(R, "hastie-tibshirani"), rtol=1e-12)


@pytest.mark.parametrize("n_classes", [3, 4, 6])
def test_pkpd_normalizes_its_formula(n_classes):
    R = contradictory_pairs(n_classes)
    proba = [
        1 / (sum(1 / R[0, i, j] for j in range(n_classes) if j != i) - (n_classes - 2))
        for i in range(n_classes)
    ]
    np.testing.assert_allclose(couple(R, "pkpd")[0], proba / np.sum(proba), rtol=1e-12)


@pytest.mark.parametrize("method", COUPLINGS)
@pytest.mark.parametrize("n_classes", [2, 3, 4, 7, 26])
def test_pairs_of_zeros_and_ones_give_probabilities(method, n_classes):
    rng = np.random.default_rng(0)
    upper = rng.choice([0.0, 1.0], size=(200, n_classes * (n_classes - 1) // 2))
    assert_probabilities(couple(pairwise_from_upper(upper), method))


@given(st.data())
def test_arbitrary_pairs_give_probabilities(data):
    method = data.draw(st.sampled_from(sorted(COUPLINGS)))
    n_classes = data.draw(st.integers(2, 8))
    shape = (3, n_classes * (n_classes - 1) // 2)
    upper = data.draw(arrays(float, shape, elements=st.floats(0, 1)))
    assert_probabilities(couple(pairwise_from_upper(upper), method))


@pytest.mark.parametrize("method", COUPLINGS)
def test_permuting_the_classes_permutes_the_result(method):
    R = pairwise_from_upper(np.random.default_rng(0).uniform(size=(20, 10)))
    order = np.array([3, 1, 4, 0, 2])
    permuted = R[:, order][:, :, order]
    np.testing.assert_allclose(
        couple(permuted, method), couple(R, method)[:, order], rtol=0, atol=1e-12
    )
