import tracemalloc

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from calibrant._core import bradley_terry as module
from calibrant._core.bradley_terry import bradley_terry

SPARSE_CODE = np.array(
    [[1, 1, 0, 0, -1, 1], [-1, 0, 1, 0, 1, 1], [0, -1, -1, 1, 0, -1], [0, 0, 0, -1, 1, -1]]
)


def negative_log_likelihood(p, proba, code, weight):
    positive, negative = p @ (code == 1), p @ (code == -1)
    mu = positive / (positive + negative)
    return -np.sum(weight * (proba * np.log(mu) + (1 - proba) * np.log1p(-mu)))


@pytest.mark.parametrize("seed", range(5))
def test_result_maximizes_the_weighted_likelihood(seed):
    rng = np.random.default_rng(seed)
    proba, weight = rng.uniform(0.1, 0.9, size=6), rng.uniform(0.5, 20.0, size=6)

    def objective(logit):
        return negative_log_likelihood(softmax(logit), proba, SPARSE_CODE, weight)

    expected = minimize(objective, np.zeros(4), options={"gtol": 1e-9})
    fitted = bradley_terry(proba[None], SPARSE_CODE, weight)[0]
    np.testing.assert_allclose(fitted, softmax(expected.x), rtol=0, atol=1e-5)
    found = negative_log_likelihood(fitted, proba, SPARSE_CODE, weight)
    assert found <= expected.fun * (1 + 1e-12)


def test_consistent_probabilities_give_the_class_probabilities_for_any_weight():
    rng = np.random.default_rng(0)
    expected = rng.dirichlet(np.ones(4), size=50)
    positive, negative = expected @ (SPARSE_CODE == 1), expected @ (SPARSE_CODE == -1)
    proba = positive / (positive + negative)
    fitted = bradley_terry(proba, SPARSE_CODE, rng.uniform(0.5, 20.0, size=6))
    np.testing.assert_allclose(fitted, expected, rtol=0, atol=1e-8)


def test_contradictory_zeros_and_ones_give_probabilities():
    proba = np.random.default_rng(0).choice([0.0, 1.0], size=(64, 6))
    fitted = bradley_terry(proba, SPARSE_CODE, np.ones(6))
    assert (fitted >= 0).all()
    np.testing.assert_allclose(fitted.sum(axis=1), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("chunk_size", [1, 50])
def test_result_does_not_depend_on_the_chunk_size(chunk_size, monkeypatch):
    proba = np.random.default_rng(0).uniform(size=(25, 6))
    expected = bradley_terry(proba, SPARSE_CODE, np.ones(6))
    monkeypatch.setattr(module, "CHUNK_SIZE", chunk_size)
    chunked = bradley_terry(proba, SPARSE_CODE, np.ones(6))
    np.testing.assert_allclose(chunked, expected, rtol=0, atol=1e-9)


def test_chunks_bound_the_memory(monkeypatch):
    proba = np.random.default_rng(0).uniform(0.4, 0.6, size=(500, 6))
    peaks = []
    for chunk_size in (SPARSE_CODE.size * len(proba), SPARSE_CODE.size * 25):
        monkeypatch.setattr(module, "CHUNK_SIZE", chunk_size)
        tracemalloc.start()
        bradley_terry(proba, SPARSE_CODE, np.ones(6))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] / 3
