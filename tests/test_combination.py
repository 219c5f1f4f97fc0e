import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calibrant import combination
from calibrant.combination import COUPLINGS, couple, couple_pairs, decode, normalize
from calibrant.strategies import AllPairs, OneVsRest, OutputCode


def random_pairwise(n_samples, n_classes):
    """Contradictory pairwise probabilities R, with R[:, j, i] = 1 - R[:, i, j]."""
    shape = (n_samples, n_classes, n_classes)
    upper = np.triu(np.random.default_rng(0).uniform(0.05, 0.95, size=shape), 1)
    return upper + np.tril(1 - upper.transpose(0, 2, 1), -1)


def assert_probabilities(proba):
    assert np.isfinite(proba).all()
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-12)


def test_coupling_does_not_modify_its_input():
    R = random_pairwise(2, 3)
    before = R.copy()
    for method in COUPLINGS:
        couple(R, method)
    np.testing.assert_array_equal(R, before)


@pytest.mark.parametrize("method", COUPLINGS)
def test_coupling_does_not_depend_on_the_chunk_size(method, monkeypatch):
    R = random_pairwise(25, 4)
    whole = couple(R=R, method=method)
    monkeypatch.setattr(combination, "CHUNK_SIZE", 4 * 16)
    np.testing.assert_allclose(couple(R, method), whole, rtol=0, atol=1e-9)
    monkeypatch.setattr(combination, "CHUNK_SIZE", 1)
    np.testing.assert_allclose(couple(R, method), whole, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", COUPLINGS)
def test_couple_pairs_agrees_with_couple(method):
    R, (i, j) = random_pairwise(25, 4), np.triu_indices(4, 1)
    count = np.array([1.0, 0.0, 0.0, 20.0])
    weight = np.maximum(count[:, None] + count, 1.0)
    np.testing.assert_array_equal(
        couple_pairs(R[:, i, j], count, method), couple(R, method, pair_weight=weight)
    )


def test_coupling_uses_little_memory_compared_with_its_input():
    R = random_pairwise(20_000, 10)
    tracemalloc.start()
    couple(R)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < R.nbytes / 3


def test_no_rows_give_no_rows():
    for method in COUPLINGS:
        assert couple(np.zeros((0, 3, 3)), method).shape == (0, 3)
    assert decode(np.zeros((0, 4)), CODES["one-vs-rest"]).shape == (0, 4)
    assert normalize(np.zeros((0, 3))).shape == (0, 3)


def test_a_single_class_is_certain():
    np.testing.assert_array_equal(couple(np.zeros((3, 1, 1))), np.ones((3, 1)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((2, 0, 0)),), r"R must have shape .* got \(2, 0, 0\)"),
        ((np.zeros((2, 3)),), r"R must have shape .* got \(2, 3\)"),
        ((np.zeros((1, 2, 3)),), r"R must have shape .* got \(1, 2, 3\)"),
        ((np.full((1, 2, 2), 1.5),), r"R must lie in \[0, 1\], got values from 1.5 to 1.5"),
        (([[[0.0, 1.5], [-0.5, 0.0]]],), r"R must lie in \[0, 1\], got values from 1.5 to 1.5"),
        (([[[0.0, np.nan], [0.5, 0.0]]],), r"R must lie in \[0, 1\]"),
        (([[[0.0, 0.5], [np.nan, 0.0]]],), r"must be 1, got a sum that differs from 1 by nan"),
        ((np.full((1, 3, 3), 0.7),), r"must be 1, got a sum that differs from 1 by 0\.4"),
        ((np.full((1, 2, 2), 0.5), "ridge"), "method must be one of .* got 'ridge'"),
    ],
)
def test_invalid_pairs_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        couple(*arguments)


@pytest.mark.parametrize(
    "weight",
    [
        np.ones((2, 2)),
        np.ones((2, 3)),
        np.arange(9.0).reshape(3, 3),
        -np.ones((3, 3)),
        [[0, -1, 1], [-1, 0, 1], [1, 1, 0]],
        np.ones(3),
    ],
)
def test_invalid_pair_weights_are_refused(weight):
    with pytest.raises(ValueError, match=r"pair_weight must be a symmetric \(3, 3\) matrix"):
        couple(np.full((1, 3, 3), 0.5), "hastie-tibshirani", pair_weight=weight)


def test_normalize_divides_rows_by_their_sums():
    np.testing.assert_allclose(normalize([[0.2, 0.6], [1.0, 1.0]]), [[0.25, 0.75], [0.5, 0.5]])


def test_rows_of_zeros_get_the_fallback_or_become_uniform():
    proba, fallback = np.zeros((2, 2)), [[0.1, 0.3], [0.0, 0.0]]
    np.testing.assert_allclose(normalize(proba, fallback), [[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_allclose(normalize(proba), [[0.5, 0.5], [0.5, 0.5]])


def test_values_that_are_no_probabilities_are_refused():
    with pytest.raises(ValueError, match=r"proba must lie in \[0, 1\], got values from 0.2 to 1.5"):
        normalize([[0.2, 1.5]])


@pytest.mark.parametrize(
    ("fallback", "message"),
    [
        ([[np.nan, 0.5]], r"fallback must lie in \[0, 1\]"),
        ([[0.2, 0.3, 0.4]], r"the same shape as proba, \(1, 2\), got \(1, 3\)"),
    ],
)
def test_invalid_fallbacks_are_refused(fallback, message):
    with pytest.raises(ValueError, match=message):
        normalize([[0.0, 0.0]], fallback)


@given(arrays(float, (4, 3), elements=st.floats(0, 1)))
def test_normalized_rows_are_probabilities(proba):
    assert_probabilities(normalize(proba))


CODES = {
    "one-vs-rest": 2 * np.eye(4) - 1,
    "exhaustive": np.array([[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, -1, -1, -1, -1],
                            [1, -1, -1, 1, 1, -1, -1], [-1, 1, -1, 1, -1, 1, -1]]),
    "sparse": np.array([[1, 1, 0, 0, -1, 1], [-1, 0, 1, 0, 1, 1], [0, -1, -1, 1, 0, -1],
                        [0, 0, 0, -1, 1, -1]]),
}  # fmt: skip


def problems_from(proba, code):
    positive, negative = proba @ (code == 1), proba @ (code == -1)
    return positive / (positive + negative)


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_decoding_consistent_problems_gives_the_class_probabilities(code):
    proba = np.random.default_rng(0).dirichlet(np.ones(4), size=50)
    np.testing.assert_allclose(decode(problems_from(proba, code), code), proba, rtol=0, atol=1e-9)


@pytest.mark.parametrize("concentration", [0.2, 1.0])
@pytest.mark.parametrize(
    ("strategy", "n_classes"),
    [
        (OneVsRest(), 12),
        (AllPairs(), 8),
        (OutputCode(), 8),
        (OutputCode("random-dense"), 12),
        (OutputCode("random-sparse"), 8),
    ],
    ids=repr,
)
def test_decoding_consistent_problems_of_many_classes(strategy, n_classes, concentration):
    rng = np.random.default_rng(0)
    proba = np.maximum(rng.dirichlet(np.full(n_classes, concentration), size=40), 1e-6)
    proba /= proba.sum(axis=1, keepdims=True)
    code = strategy.code(n_classes, np.random.RandomState(0))
    np.testing.assert_allclose(decode(problems_from(proba, code), code), proba, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    "code",
    [
        [[1], [-1], [0]],
        [[1, 1], [-1, 1], [-1, 1]],
        [[1, -1], [-1, -1]],
        [[2], [-1]],
        [[0.5], [-1]],
    ],
)
def test_codes_that_leave_classes_undetermined_are_refused(code):
    with pytest.raises(ValueError, match="both sides in each column and each class in"):
        decode(np.full((1, len(code[0])), 0.5), code)


def test_decoding_all_pairs_is_hastie_tibshirani():
    R, (i, j) = random_pairwise(1, 4), np.triu_indices(4, 1)
    code = np.zeros((4, 6))
    code[i, np.arange(6)], code[j, np.arange(6)] = 1, -1
    np.testing.assert_allclose(
        decode(R[:, i, j], code), couple(R, "hastie-tibshirani"), rtol=0, atol=1e-9
    )


@given(st.data())
def test_decoding_arbitrary_problems_gives_probabilities(data):
    code = CODES[data.draw(st.sampled_from(sorted(CODES)))]
    proba = data.draw(arrays(float, (2, code.shape[1]), elements=st.floats(0, 1)))
    assert_probabilities(decode(proba, code))


def test_decoding_requires_one_column_per_problem():
    with pytest.raises(ValueError, match=r"each of the 2 problems, got shape \(4, 4\)"):
        decode([[0.5, 0.5]], CODES["one-vs-rest"])
