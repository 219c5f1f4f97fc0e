import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from calibrant import combination
from calibrant._core import bradley_terry
from calibrant.combination import COUPLINGS, couple, couple_pairs, decode, normalize
from calibrant.strategies import AllPairs, OneVsRest, OutputCode


def pairwise_from(proba):
    return proba[:, :, None] / (proba[:, :, None] + proba[:, None, :])


def pairwise_from_upper(upper):
    """R from the entries above the diagonal, one row of them a sample."""
    n_classes = int((1 + np.sqrt(1 + 8 * upper.shape[1])) / 2)
    i, j = np.triu_indices(n_classes, 1)
    R = np.zeros((len(upper), n_classes, n_classes))
    R[:, i, j], R[:, j, i] = upper, 1 - upper
    return R


def assert_probabilities(proba):
    assert np.isfinite(proba).all()
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-12)


def minimize_on_simplex(objective, n_classes):
    """Minimize over class probabilities by a general optimizer on log odds."""

    def of_log_odds(theta):
        proba = np.exp(theta - theta.max())
        return objective(proba / proba.sum())

    theta = minimize(of_log_odds, np.zeros(n_classes), method="BFGS", options={"gtol": 1e-9}).x
    proba = np.exp(theta - theta.max())
    return proba / proba.sum()


@pytest.mark.parametrize("method", COUPLINGS)
@pytest.mark.parametrize("n_classes", range(2, 27))
@pytest.mark.parametrize("concentration", [0.2, 1.0, 20.0])
def test_exact_pairs_give_back_the_classes(method, n_classes, concentration):
    rng = np.random.default_rng(n_classes)
    proba = rng.dirichlet(np.full(n_classes, concentration), size=30)
    # Two classes of probability 0 would leave their pair undefined.
    proba = np.maximum(proba, np.finfo(float).tiny)
    np.testing.assert_allclose(couple(pairwise_from(proba), method), proba, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", COUPLINGS)
@pytest.mark.parametrize("n_classes", [2, 3, 4, 7, 26])
def test_certain_pairs_give_probabilities(method, n_classes):
    rng = np.random.default_rng(0)
    n_pairs = n_classes * (n_classes - 1) // 2
    upper = rng.choice([0.0, 1.0], size=(200, n_pairs))
    assert_probabilities(couple(pairwise_from_upper(upper), method))


@given(st.data())
def test_any_pairs_give_probabilities(data):
    method = data.draw(st.sampled_from(sorted(COUPLINGS)))
    n_classes = data.draw(st.integers(2, 8))
    shape = (3, n_classes * (n_classes - 1) // 2)
    upper = data.draw(arrays(float, shape, elements=st.floats(0, 1)))
    assert_probabilities(couple(pairwise_from_upper(upper), method))


def contradictory_pairs(n_classes, seed):
    n_pairs = n_classes * (n_classes - 1) // 2
    return pairwise_from_upper(np.random.default_rng(seed).uniform(0.05, 0.95, size=(1, n_pairs)))


@pytest.mark.parametrize("n_classes", [3, 4, 6])
def test_wu_lin_weng_minimizes_its_objective(n_classes):
    R = contradictory_pairs(n_classes, seed=n_classes)

    def objective(proba):
        return np.sum((R[0].T * proba[:, None] - R[0] * proba[None, :]) ** 2)

    expected = minimize_on_simplex(objective, n_classes)
    np.testing.assert_allclose(couple(R)[0], expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("n_classes", [3, 4, 6])
def test_wu_lin_weng_1_solves_its_equations(n_classes):
    R = contradictory_pairs(n_classes, seed=n_classes)
    proba = couple(R, "wu-lin-weng-1")[0]
    share = (proba[:, None] + proba[None, :]) * R[0] / (n_classes - 1)
    np.fill_diagonal(share, 0.0)
    np.testing.assert_allclose(share.sum(axis=1), proba, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [3, 4, 6])
def test_hastie_tibshirani_minimizes_its_weighted_objective(n_classes):
    R = contradictory_pairs(n_classes, seed=n_classes)
    weight = np.random.default_rng(1).integers(5, 100, size=(n_classes, n_classes))
    weight = weight + weight.T
    i, j = np.triu_indices(n_classes, 1)

    def objective(proba):
        model = proba[i] / (proba[i] + proba[j])
        r, w = R[0, i, j], weight[i, j] / 100
        return -np.sum(w * (r * np.log(model) + (1 - r) * np.log1p(-model)))

    expected = minimize_on_simplex(objective, n_classes)
    proba = couple(R, "hastie-tibshirani", pair_weight=weight)[0]
    np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-5)
    assert np.abs(proba - couple(R, "hastie-tibshirani")[0]).max() > 1e-4


@pytest.mark.parametrize("method", COUPLINGS)
def test_renaming_the_classes_renames_the_result(method):
    R = pairwise_from_upper(np.random.default_rng(0).uniform(size=(20, 10)))
    order = np.array([3, 1, 4, 0, 2])
    renamed = R[:, order][:, :, order]
    np.testing.assert_allclose(
        couple(renamed, method), couple(R, method)[:, order], rtol=0, atol=1e-12
    )


def test_coupling_leaves_its_input_alone():
    R = pairwise_from_upper(np.random.default_rng(0).uniform(size=(2, 3)))
    before = R.copy()
    for method in COUPLINGS:
        couple(R, method)
    np.testing.assert_array_equal(R, before)


@pytest.mark.parametrize("method", COUPLINGS)
def test_chunks_of_rows_are_coupled_alike(method, monkeypatch):
    R = pairwise_from_upper(np.random.default_rng(0).uniform(size=(25, 6)))
    whole = couple(R, method)
    monkeypatch.setattr(combination, "CHUNK_SIZE", 4 * 16)
    np.testing.assert_allclose(couple(R, method), whole, rtol=0, atol=1e-9)
    monkeypatch.setattr(combination, "CHUNK_SIZE", 1)
    np.testing.assert_allclose(couple(R, method), whole, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", COUPLINGS)
def test_pairs_in_order_are_coupled_as_their_matrix_is(method):
    share = np.random.default_rng(0).uniform(size=(25, 6))
    count = np.array([3.0, 0.0, 7.0, 20.0])
    weight = np.maximum(count[:, None] + count, 1.0)
    np.testing.assert_array_equal(
        couple_pairs(share, count, method),
        couple(pairwise_from_upper(share), method, pair_weight=weight),
    )


def test_coupling_takes_little_memory_beside_its_input():
    R = pairwise_from_upper(np.random.default_rng(0).uniform(size=(20_000, 45)))
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((2, 3)),), r"R must have shape .* Got \(2, 3\)"),
        ((np.full((1, 2, 2), 1.5),), r"R must lie in \[0, 1\]\. Got values from 1.5 to 1.5"),
        ((np.full((1, 2, 2), np.nan),), r"R must lie in \[0, 1\]"),
        ((np.full((1, 3, 3), 0.7),), r"must be 1\. Got a sum that is off by 0\.4"),
        ((np.full((1, 2, 2), 0.5), "ridge"), "method must be one of .* Got 'ridge'"),
    ],
)
def test_bad_pairs_get_one_clear_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        couple(*arguments)


@pytest.mark.parametrize(
    "weight",
    [
        np.ones((2, 2)),
        np.ones((2, 3)),
        np.arange(9.0).reshape(3, 3),
        -np.ones((3, 3)),
        np.ones(3),
    ],
)
def test_bad_pair_weights_get_one_clear_error(weight):
    with pytest.raises(ValueError, match=r"pair_weight must be a symmetric \(3, 3\) matrix"):
        couple(np.full((1, 3, 3), 0.5), "hastie-tibshirani", pair_weight=weight)


def test_normalize_divides_by_the_sum():
    np.testing.assert_allclose(normalize([[0.2, 0.6], [1.0, 1.0]]), [[0.25, 0.75], [0.5, 0.5]])


def test_rows_of_zeros_fall_back_and_then_become_uniform():
    proba, fallback = np.zeros((2, 2)), [[0.1, 0.3], [0.0, 0.0]]
    np.testing.assert_allclose(normalize(proba, fallback), [[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_allclose(normalize(proba), [[0.5, 0.5], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("fallback", "message"),
    [
        ([[np.nan, 0.5]], r"fallback must lie in \[0, 1\]"),
        ([[0.2, 0.3, 0.4]], r"the shape of proba, \(1, 2\)\. Got \(1, 3\)"),
    ],
)
def test_bad_fallbacks_get_one_clear_error(fallback, message):
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
def test_decoding_exact_problems_gives_back_the_classes(code):
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
def test_decoding_exact_problems_of_many_classes(strategy, n_classes, concentration):
    rng = np.random.default_rng(0)
    proba = np.maximum(rng.dirichlet(np.full(n_classes, concentration), size=40), 1e-6)
    proba /= proba.sum(axis=1, keepdims=True)
    code = strategy.code(n_classes, np.random.RandomState(0))
    np.testing.assert_allclose(decode(problems_from(proba, code), code), proba, rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    "code", [[[1], [-1], [0]], [[1, 1], [-1, 1], [-1, 1]], [[2], [-1]], [[0.5], [-1]]]
)
def test_codes_that_leave_classes_undetermined_are_refused(code):
    with pytest.raises(ValueError, match="both sides in each column, and each class in"):
        decode(np.full((1, len(code[0])), 0.5), code)


def test_chunks_do_not_change_the_result(monkeypatch):
    proba = np.random.default_rng(0).uniform(size=(25, 4))
    whole = decode(proba, CODES["one-vs-rest"])
    monkeypatch.setattr(bradley_terry, "CHUNK_SIZE", 50)
    np.testing.assert_allclose(decode(proba, CODES["one-vs-rest"]), whole, rtol=0, atol=1e-9)


def test_decoding_all_pairs_is_hastie_tibshirani():
    R = contradictory_pairs(4, seed=0)
    i, j = np.triu_indices(4, 1)
    code = np.zeros((4, 6))
    code[i, np.arange(6)], code[j, np.arange(6)] = 1, -1
    np.testing.assert_allclose(
        decode(R[:, i, j], code), couple(R, "hastie-tibshirani"), rtol=0, atol=1e-9
    )


@given(st.data())
def test_decoding_any_problems_gives_probabilities(data):
    code = CODES[data.draw(st.sampled_from(sorted(CODES)))]
    proba = data.draw(arrays(float, (2, code.shape[1]), elements=st.floats(0, 1)))
    assert_probabilities(decode(proba, code))


def test_decoding_wants_a_column_for_each_problem():
    with pytest.raises(ValueError, match=r"each of the 2 problems\. Got shape \(4, 4\)"):
        decode([[0.5, 0.5]], CODES["one-vs-rest"])
