import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import isotonic_regression
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from calibrant._core.probability_floor import floor_frequencies, overall_frequency
from calibrant.calibrators import ENIR
from calibrant.calibrators import enir as module
from calibrant.near_isotonic import NearIsotonicPath, near_isotonic_path

pytestmark = pytest.mark.usefixtures("each_kernel")

GOLDEN = {
    case["name"]: case
    for case in json.loads(
        (Path(__file__).parents[1] / "golden" / "near_isotonic.json").read_text()
    )
}


def dense_enir(score, target, weight, penalty, likelihood):
    """ENIR from its definition, with all models in one matrix."""
    path = near_isotonic_path(target, weight)
    lambdas = path.lambdas[1:] if len(path.lambdas) > 1 else path.lambdas
    models = np.array([path.solution(lam) for lam in lambdas])
    n_groups = 1 + (np.abs(np.diff(models, axis=1)) > 1e-10).sum(axis=1)
    criterion = penalty(n_groups, weight.sum()) - 2 * likelihood(models, target, weight)
    weights = np.exp(-criterion / 2 - logsumexp(-criterion / 2))
    return weights @ models


def bernoulli(models, target, weight):
    with np.errstate(divide="ignore", invalid="ignore"):
        positive = np.where(target > 0, target * np.log(models), 0.0)
        negative = np.where(target < 1, (1 - target) * np.log(1 - models), 0.0)
    return (weight * (positive + negative)).sum(axis=1)


def authors(models, target, weight):
    """Log b for every positive target, as in the published code."""
    with np.errstate(divide="ignore"):
        return np.where(target > 0, np.log(models), np.log(1 - models)).sum(axis=1)


PENALTIES = {
    "bic": lambda groups, n: groups * np.log(n),
    "aic": lambda groups, n: 2.0 * groups,
    "aicc": lambda groups, n: 2.0 * groups + 2.0 * groups * (groups + 1) / (n - groups - 1),
}


@pytest.mark.parametrize("criterion", PENALTIES)
@pytest.mark.parametrize("seed", range(5))
def test_prediction_is_the_weighted_mean_of_all_models(criterion, seed):
    rng = np.random.default_rng(seed)
    score = np.sort(rng.normal(size=80))
    target = (rng.uniform(size=80) < 1 / (1 + np.exp(-2 * score))).astype(float)
    weight = rng.integers(1, 4, size=80).astype(float)
    enir = ENIR(criterion=criterion).fit(score, target, weight)
    expected = dense_enir(score, target, weight, PENALTIES[criterion], bernoulli)
    np.testing.assert_allclose(enir.predict(score), expected, rtol=0, atol=1e-12)
    assert enir.weights_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("floored", [False, True])
@pytest.mark.parametrize("criterion", PENALTIES)
def test_pruning_does_not_change_the_result(criterion, floored, monkeypatch):
    rng = np.random.default_rng(0)
    score = rng.uniform(size=1_500)
    target = (rng.uniform(size=1_500) < score**3).astype(float)

    def fit(pruning_size):
        monkeypatch.setattr(module, "PRUNING_SIZE", pruning_size)
        return ENIR(criterion=criterion, floored=floored).fit(score, target)

    unpruned = fit(np.inf)
    monkeypatch.setattr(module, "CHUNK_SIZE", 10)
    pruned = fit(0)
    np.testing.assert_array_equal(pruned.lambdas_, unpruned.lambdas_)
    np.testing.assert_allclose(pruned.weights_, unpruned.weights_, rtol=1e-10)
    grid = np.linspace(0, 1, 500)
    np.testing.assert_allclose(pruned.predict(grid), unpruned.predict(grid), rtol=0, atol=1e-13)


def test_pruning_scores_few_models_of_many_points(monkeypatch):
    """The groups of all models are quadratic in the number of points; few are looked at."""
    rng = np.random.default_rng(0)
    score = rng.uniform(size=20_000)
    target = rng.uniform(size=20_000) < score
    memberships, n_models = NearIsotonicPath.memberships, []

    def count(path, breakpoints):
        n_models.append(len(breakpoints))
        return memberships(path, breakpoints)

    monkeypatch.setattr(NearIsotonicPath, "memberships", count)
    ENIR().fit(score, target)
    path = near_isotonic_path(target[np.argsort(score, kind="stable")].astype(float))
    assert sum(n_models) < len(path.lambdas) / 4


@given(st.data())
def test_the_likelihood_decreases_along_the_path(data):
    """The bound that pruning relies on."""
    n = data.draw(st.integers(1, 40))
    target = data.draw(arrays(float, n, elements=st.floats(0, 1)))
    weight = data.draw(arrays(float, n, elements=st.sampled_from([0.3, 1.0, 5.0])))
    path = near_isotonic_path(target, weight)
    models = np.array([path.solution(lam) for lam in path.lambdas])
    tiny, epsneg = np.finfo(float).tiny, np.finfo(float).epsneg
    log_likelihood = bernoulli(np.clip(models, tiny, 1 - epsneg), target, weight)
    assert (np.diff(log_likelihood) <= 1e-9 * (1 + np.abs(log_likelihood[:-1]))).all()


def test_every_model_is_floored():
    rng = np.random.default_rng(4)
    score = np.sort(rng.uniform(size=60))
    target = (rng.uniform(size=60) < score).astype(float)
    floored = ENIR(floored=True).fit(score, target)
    path = near_isotonic_path(target)
    overall = overall_frequency(target, np.ones(60))
    expected = np.zeros(60)
    for lam, weight in zip(floored.lambdas_, floored.weights_, strict=True):
        groups = path.groups(lam)
        values = floor_frequencies(path.values(groups, lam), path.weight[groups], overall)
        expected += weight * np.repeat(values, path.stop[groups] - path.start[groups])
    np.testing.assert_allclose(floored.predict(score), expected, rtol=0, atol=1e-14)
    assert floored.predict(score).min() > 0


def test_memory_is_linear_in_the_number_of_points():
    peaks = []
    for n in (4_000, 16_000):
        rng = np.random.default_rng(0)
        score, target = rng.uniform(size=n), rng.integers(0, 2, size=n)
        tracemalloc.start()
        ENIR().fit(score, target)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 6 * peaks[0]


@pytest.mark.parametrize("name", ["fractional_12", "already_isotonic"])
def test_published_predictions_follow_from_the_published_likelihood(name):
    case = GOLDEN[name]
    score, target = np.array(case["x"]), np.array(case["y"])
    fitted = dense_enir(score, target, np.ones_like(target), PENALTIES["bic"], authors)
    predicted = np.interp(case["grid"], score, fitted)
    np.testing.assert_allclose(predicted, case["enir_predict"], rtol=0, atol=1e-9)


def test_map_is_linear_between_points_and_constant_outside():
    enir = ENIR().fit([1.0, 2.0, 4.0], [0.1, 0.5, 0.9])
    np.testing.assert_allclose(enir.predict([-9, 1, 1.5, 3, 4, 9]), [0.1, 0.1, 0.3, 0.7, 0.9, 0.9])


def test_tied_scores_are_pooled():
    tied = ENIR().fit([0.1, 0.1, 0.1, 0.8, 0.8], [0, 1, 0, 1, 1])
    pooled = ENIR().fit([0.1, 0.8], [1 / 3, 1.0], [3, 2])
    np.testing.assert_array_equal(tied.X_thresholds_, pooled.X_thresholds_)
    np.testing.assert_allclose(tied.y_thresholds_, pooled.y_thresholds_)


def test_integer_weights_are_equivalent_to_repeated_rows():
    rng = np.random.default_rng(0)
    score, target = rng.uniform(size=60), rng.integers(0, 2, size=60)
    weight = rng.integers(0, 4, size=60)
    weighted = ENIR().fit(score, target, weight)
    repeated = ENIR().fit(np.repeat(score, weight), np.repeat(target, weight))
    grid = np.linspace(0, 1, 101)
    np.testing.assert_allclose(weighted.predict(grid), repeated.predict(grid), rtol=0, atol=1e-12)


def test_order_of_rows_does_not_matter():
    rng = np.random.default_rng(1)
    score, target = rng.normal(size=200), rng.integers(0, 2, size=200)
    order = rng.permutation(200)
    grid = np.linspace(-3, 3, 50)
    np.testing.assert_allclose(
        ENIR().fit(score, target).predict(grid),
        ENIR().fit(score[order], target[order]).predict(grid),
        rtol=0,
        atol=1e-14,
    )


@pytest.mark.parametrize("criterion", PENALTIES)
@pytest.mark.parametrize(
    ("score", "target", "expected"),
    [
        ([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], [0, 0, 1, 1]),
        ([0.1, 0.5, 0.9], [1, 1, 1], [1, 1, 1]),
        ([0.1, 0.5, 0.9], [0, 0, 0], [0, 0, 0]),
        ([0.4, 0.4, 0.4, 0.4], [0, 1, 0, 0], [0.25] * 4),
        ([3.0], [1], [1]),
    ],
    ids=["separable", "all ones", "all zeros", "one distinct score", "one row"],
)
def test_degenerate_input_needs_no_special_case(criterion, score, target, expected):
    np.testing.assert_allclose(
        ENIR(criterion=criterion).fit(score, target).predict(score), expected
    )


def test_aicc_leaves_out_models_with_too_many_groups():
    """A model with N - 1 groups or more has an infinite AICc."""
    score = np.arange(6.0)
    target = np.array([0.3, 0.2, 0.6, 0.4, 0.9, 0.85])
    path = near_isotonic_path(target)
    assert path.n_groups.tolist() == [6, 5, 4, 3]
    enir = ENIR(criterion="aicc").fit(score, target)
    assert enir.n_groups_.tolist() == [4, 3]
    np.testing.assert_array_equal(enir.lambdas_, path.lambdas[2:])


def test_aicc_of_too_few_rows_gives_isotonic_regression():
    score, target = np.arange(4.0), np.array([0.9, 0.1, 0.8, 0.0])
    enir = ENIR(criterion="aicc").fit(score, target, np.full(4, 0.25))
    assert len(near_isotonic_path(target).lambdas) > 2
    np.testing.assert_allclose(enir.predict(score), isotonic_regression(target).x)


def test_log_likelihoods_are_finite_even_if_rounding_gives_zero_or_one():
    terms = module.log_likelihood_terms(np.array([0.0, 1.0]), np.full(2, 0.5), np.ones(2))
    assert np.isfinite(terms).all()


def test_error_falls_as_rows_grow():
    rng = np.random.default_rng(0)
    grid = np.linspace(0.05, 0.95, 50)
    errors = []
    for n in (200, 20_000):
        score = rng.uniform(size=n)
        target = rng.uniform(size=n) < score**2
        errors.append(np.abs(ENIR().fit(score, target).predict(grid) - grid**2).mean())
    assert errors[1] < errors[0] / 3


scores = st.one_of(
    st.floats(-1e300, 1e300),
    st.floats(0, 1),
    st.sampled_from([0.0, 5e-324, 1e-310, 1.0, 1.0 - 1e-16]),
)


@given(st.data())
def test_predictions_are_within_the_range_of_the_targets(data):
    n = data.draw(st.integers(1, 30))
    score = data.draw(arrays(float, n, elements=scores))
    target = data.draw(arrays(float, n, elements=st.floats(0, 1)))
    weight = data.draw(arrays(float, n, elements=st.sampled_from([0.0, 0.3, 1.0, 50.0])))
    if weight.sum() == 0:
        weight[0] = 1.0
    enir = ENIR().fit(score, target, weight)
    new = np.r_[score, data.draw(arrays(float, 10, elements=scores))]
    proba = enir.predict(new)
    assert np.isfinite(proba).all()
    assert proba.min() >= target[weight > 0].min() - 1e-12
    assert proba.max() <= target[weight > 0].max() + 1e-12


def test_a_column_of_scores_is_accepted():
    score, target = np.array([0.1, 0.4, 0.3, 0.8]), [0, 1, 0, 1]
    np.testing.assert_array_equal(
        ENIR().fit(score[:, None], target).predict(score[:, None]),
        ENIR().fit(score, target).transform(score),
    )


def test_constant_stretches_have_no_inner_points():
    enir = ENIR().fit(np.arange(100.0), np.repeat([0, 1], 50))
    np.testing.assert_array_equal(enir.X_thresholds_, [0, 49, 50, 99])


def test_clones_keep_parameters():
    assert clone(ENIR(criterion="aic")).criterion == "aic"


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (([0.1, np.nan], [0, 1]), "score must be finite"),
        (([0.1, np.inf], [0, 1]), "score must be finite"),
        (([0.1, 1e305], [0, 1]), r"within \+-1e\+300, got 1e\+305"),
        (([[0.1, 0.2], [0.3, 0.4]], [0, 1]), r"shape \(n,\) or \(n, 1\), got \(2, 2\)"),
        (([0.1, 0.2], [0, 2]), r"target must lie in \[0, 1\], got values from 0 to 2"),
        (([0.1, 0.2], [[0], [1]]), r"target must have shape \(n,\)"),
        (([0.1, 0.2], [0]), "inconsistent numbers of samples"),
        (([0.1, 0.2], [0, 1], [1, -1]), "must not be negative, got -1"),
        (([0.1, 0.2], [0, 1], [0, 0]), "positive for at least one row, got only zeros"),
        (([0.1, 0.2], [0, 1], [[1], [1]]), r"sample_weight must have shape \(n,\)"),
    ],
)
def test_invalid_input_is_refused(fit, message):
    with pytest.raises(ValueError, match=message):
        ENIR().fit(*fit)


def test_unknown_criterion_is_refused():
    with pytest.raises(ValueError, match=r"one of \['aic', 'aicc', 'bic'\], got 'hqc'"):
        ENIR(criterion="hqc").fit([0.1, 0.2], [0, 1])


def test_predict_before_fit_is_refused():
    with pytest.raises(NotFittedError):
        ENIR().predict([0.5])
