import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import isotonic_regression, minimize
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from calibrant.calibrators import (
    ENIR,
    BetaCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    SigmoidCalibrator,
    VennAbersCalibrator,
)

FLOORED = [
    SigmoidCalibrator(),
    BetaCalibrator(),
    IsotonicCalibrator(),
    IsotonicCalibrator(centered=True),
    HistogramCalibrator(n_bins=4),
    VennAbersCalibrator(),
    ENIR(floored=True),
]
ALL = [*FLOORED, ENIR()]
GRID = np.linspace(0.0, 1.0, 51)


def make_points(n=150, seed=0, decimals=12):
    rng = np.random.default_rng(seed)
    score = rng.uniform(0.02, 0.98, size=n).round(decimals)
    return score, (rng.uniform(size=n) < expit(5 * score - 3)).astype(float)


def cross_entropy(margin, target, weight):
    """Mean log loss of a logistic model."""
    return np.sum(weight * (np.logaddexp(0.0, margin) - target * margin)) / weight.sum()


def minimum(objective, size, **options):
    """The better of two runs of a generic optimizer with numerical gradients."""
    runs = [minimize(objective, np.full(size, start), tol=1e-12, **options) for start in (0.1, 1.0)]
    return min(runs, key=lambda run: run.fun)


@pytest.mark.parametrize("on_log_odds", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_sigmoid_minimizes_platts_objective(on_log_odds, seed):
    score, target = make_points(seed=seed)
    score = score if on_log_odds else 7.0 * score - 20.0
    weight = np.random.default_rng(seed).uniform(0.5, 3.0, size=len(score))
    positive, negative = weight @ target, weight @ (1 - target)
    smoothed = np.where(target == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))
    x = logit(score) if on_log_odds else score
    center = x.mean()

    def objective(parameters):
        return cross_entropy(parameters[0] * (x - center) + parameters[1], smoothed, weight)

    found = minimum(objective, 2)
    sigmoid = SigmoidCalibrator().fit(score, target, weight)
    assert sigmoid.on_log_odds_ is on_log_odds
    fitted = [sigmoid.slope_, sigmoid.intercept_ + sigmoid.slope_ * center]
    assert objective(fitted) <= found.fun + 1e-12
    np.testing.assert_allclose(fitted, found.x, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "curve",
    [lambda s: expit(6 * s - 3), lambda s: 0.6 * s**3, lambda s: 0.5 + 0.5 * s**4, lambda s: 1 - s],
    ids=["both", "left only", "right only", "neither"],
)
def test_beta_minimizes_the_log_loss_over_increasing_maps(curve):
    rng = np.random.default_rng(1)
    score = rng.uniform(0.02, 0.98, size=300)
    target = (rng.uniform(size=300) < curve(score)).astype(float)
    weight = rng.uniform(0.5, 2.0, size=300)
    x = np.column_stack([np.log(score), -np.log(1 - score), np.ones(300)])

    def objective(parameters):
        return cross_entropy(x @ parameters, target, weight)

    bounds = [(0, None), (0, None), (None, None)]
    found = minimum(objective, 3, method="SLSQP", bounds=bounds)
    beta = BetaCalibrator().fit(score, target, weight)
    fitted = [*beta.coef_, beta.intercept_]
    assert (beta.coef_ >= 0).all()
    assert objective(fitted) <= found.fun + 1e-10
    np.testing.assert_allclose(fitted, found.x, rtol=0, atol=5e-3)


@pytest.mark.parametrize("name", ["S-shaped", "skewed", "one-sided"])
def test_beta_agrees_with_betacal(name, peers):
    """betacal stops at a gradient of 1e-4, up to 8e-4 from the optimum, with a higher log loss."""
    case = peers["beta"][name]
    score, y = np.array(case["score"]), np.array(case["y"])
    beta = BetaCalibrator().fit(score, y)
    np.testing.assert_allclose(beta.predict(case["grid"]), case["proba"], rtol=0, atol=1e-3)
    x = np.column_stack([np.log(score), -np.log(1 - score)])
    loss = cross_entropy(x @ beta.coef_ + beta.intercept_, y, np.ones(len(y)))
    assert case["log_loss"] - 1e-5 < loss <= case["log_loss"] + 1e-12


@pytest.mark.parametrize("decimals", [12, 1], ids=["distinct", "tied"])
@pytest.mark.parametrize("seed", range(3))
def test_isotonic_is_isotonic_regression_with_floored_levels(decimals, seed):
    score, target = make_points(seed=seed, decimals=decimals)
    order = np.argsort(score)
    distinct, first = np.unique(score[order], return_index=True)
    weight = np.diff(np.r_[first, len(score)]).astype(float)
    mean = np.add.reduceat(target[order], first) / weight
    found = isotonic_regression(mean, weights=weight)
    n_rows = np.repeat(np.add.reduceat(weight, found.blocks[:-1]), np.diff(found.blocks))
    overall = (target.sum() + 0.5) / (len(target) + 1)
    uncertainty = 0.5 / (n_rows + 0.5)
    floored = np.clip(found.x, uncertainty * overall, 1 - uncertainty * (1 - overall))
    expected = isotonic_regression(floored, weights=weight).x
    np.testing.assert_allclose(
        IsotonicCalibrator().fit(score, target).predict(distinct), expected, rtol=0, atol=1e-12
    )


def test_the_floor_of_one_row_does_not_raise_the_rows_next_to_it():
    # The lowest score is a level with a single negative row, whose floor is high.
    score = np.arange(401.0)
    target = np.r_[0, 1, np.zeros(199), np.ones(200)]
    fitted = IsotonicCalibrator().fit(score, target).predict(score)
    assert fitted[:201].max() < 0.01
    assert fitted[0] == fitted[1]


@given(st.data())
def test_centered_isotonic_keeps_distinct_scores_distinct(data):
    n = data.draw(st.integers(2, 25))
    score = np.array(data.draw(st.lists(st.integers(0, 60), min_size=n, max_size=n))) / 60
    target = data.draw(arrays(float, n, elements=st.sampled_from([0.0, 1.0])))
    centered = IsotonicCalibrator(centered=True).fit(score, target)
    assert (np.diff(centered.X_thresholds_) > 0).all()
    assert (np.diff(centered.y_thresholds_) > 0).all()
    inside = np.linspace(centered.X_thresholds_[0], centered.X_thresholds_[-1], 9)
    if len(centered.X_thresholds_) > 1:
        assert (np.diff(centered.predict(inside)) > 0).all()


def test_centered_isotonic_has_each_level_at_its_mean_score():
    score, target = make_points(400)
    plain = IsotonicCalibrator().fit(score, target)
    centered = IsotonicCalibrator(centered=True).fit(score, target)
    fitted = plain.predict(score)
    for x, level in zip(centered.X_thresholds_, centered.y_thresholds_, strict=True):
        assert score[np.isclose(fitted, level, rtol=0, atol=1e-12)].mean() == pytest.approx(x)


def test_histogram_is_the_frequency_of_positives_in_equal_bins():
    score, target = make_points(200)
    histogram = HistogramCalibrator(n_bins=5).fit(score, target)
    order = np.argsort(score).reshape(5, 40)
    np.testing.assert_allclose(
        histogram.predict(score)[order], np.repeat(target[order].mean(axis=1)[:, None], 40, axis=1)
    )


def test_histogram_agrees_with_netcal(peers):
    case = peers["histogram"]["ten bins"]
    proba = HistogramCalibrator().fit(case["score"], case["y"]).predict(case["score"])
    np.testing.assert_allclose(proba, case["proba"], rtol=0, atol=1e-12)


def test_histogram_keeps_ties_in_one_bin():
    score = np.repeat([0.1, 0.2, 0.3], [90, 5, 5])
    histogram = HistogramCalibrator(n_bins=10).fit(score, np.arange(100) % 2)
    assert len(histogram.shares_) == 2
    np.testing.assert_allclose(histogram.predict([0.1]), 0.5)


@pytest.mark.parametrize("calibrator", ALL, ids=repr)
def test_integer_weights_are_equivalent_to_repeated_rows(calibrator):
    score, target = make_points(80, decimals=2)
    weight = np.random.default_rng(0).integers(0, 4, size=80)
    weighted = calibrator.fit(score, target, weight).predict(GRID)
    repeated = calibrator.fit(np.repeat(score, weight), np.repeat(target, weight)).predict(GRID)
    np.testing.assert_allclose(weighted, repeated, rtol=0, atol=1e-7)


@pytest.mark.parametrize("calibrator", ALL, ids=repr)
def test_dividing_the_weight_of_a_row_among_repeats_has_no_effect(calibrator):
    score, target = make_points(80)
    once = calibrator.fit(score, target).predict(GRID)
    again = calibrator.fit(np.tile(score, 5), np.tile(target, 5), np.full(400, 0.2)).predict(GRID)
    np.testing.assert_allclose(once, again, rtol=0, atol=1e-7)


@pytest.mark.parametrize("calibrator", ALL, ids=repr)
def test_frequencies_are_equivalent_to_rows_of_each_side(calibrator):
    score = np.array([0.1, 0.4, 0.5, 0.9])
    n_positive = np.array([1, 5, 4, 8])
    by_frequency = calibrator.fit(score, n_positive / 10, np.full(4, 10.0)).predict(GRID)
    target = np.concatenate([np.arange(10) < n for n in n_positive])
    by_row = calibrator.fit(np.repeat(score, 10), target).predict(GRID)
    np.testing.assert_allclose(by_frequency, by_row, rtol=0, atol=1e-7)


@pytest.mark.parametrize("calibrator", ALL, ids=repr)
def test_swapping_the_sides_swaps_the_probabilities(calibrator):
    score, target = make_points(96, seed=2)  # four equal bins, from either end
    one = calibrator.fit(score, target).predict(score)
    other = calibrator.fit(1 - score, 1 - target).predict(1 - score)
    np.testing.assert_allclose(one, 1 - other, rtol=0, atol=1e-6)


@pytest.mark.parametrize("calibrator", FLOORED, ids=repr)
@pytest.mark.parametrize("target", [[0, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]], ids=repr)
def test_a_few_rows_give_no_probability_near_zero_or_one(calibrator, target):
    proba = calibrator.fit([0.1, 0.2, 0.8, 0.9], target).predict([0.0, 0.15, 0.5, 0.85, 1.0])
    assert (proba > 0.01).all()
    assert (proba < 0.99).all()


@pytest.mark.parametrize("score", [0.1, -0.7, 1e300])
def test_sigmoid_of_equal_scores_is_constant(score):
    # In floating point, the mean of three equal numbers may differ from them.
    sigmoid = SigmoidCalibrator().fit([score] * 3, [0, 1, 1])
    np.testing.assert_allclose(sigmoid.predict([0.0, score, 1.0]), (1 / 3 + 2 * 0.75) / 3)


def test_extreme_decision_values_are_floored():
    sigmoid = SigmoidCalibrator().fit([-2, -1, 1, 2], [0, 0, 1, 1])
    np.testing.assert_allclose(sigmoid.predict([-1e200, 1e200]), [0.25 / 4.5, 1 - 0.25 / 4.5])


scores = st.one_of(
    st.floats(0, 1),
    st.sampled_from([0.0, 5e-324, 1e-12, 1.0, 1.0 - 1e-16]),
)
decisions = st.one_of(st.floats(-10, 10), st.sampled_from([-1e300, -1e160, 0.0, 1e160, 1e300]))


@pytest.mark.parametrize("calibrator", FLOORED, ids=repr)
@settings(max_examples=40)
@given(data=st.data())
def test_predictions_are_probabilities_other_than_zero_and_one(calibrator, data):
    n = data.draw(st.integers(1, 20))
    any_scale = not isinstance(calibrator, BetaCalibrator)
    elements = data.draw(st.sampled_from([scores, decisions])) if any_scale else scores
    score = data.draw(arrays(float, n, elements=elements))
    target = data.draw(arrays(float, n, elements=st.sampled_from([0.0, 0.3, 1.0])))
    weight = data.draw(arrays(float, n, elements=st.sampled_from([0.0, 0.3, 1.0, 50.0])))
    weight[0] = 1.0
    new = np.r_[score, data.draw(arrays(float, 5, elements=elements))]
    proba = calibrator.fit(score, target, weight).predict(new)
    assert np.isfinite(proba).all()
    assert (proba > 0).all()
    assert (proba < 1).all()


@pytest.mark.parametrize(
    ("calibrator", "score", "message"),
    [
        (
            BetaCalibrator(),
            [-1.0, 2.0],
            r"in \[0, 1\] for beta calibration, got values from -1 to",
        ),
        (HistogramCalibrator(n_bins=0), [0.1, 0.2], "n_bins must be an integer .* got 0"),
        (HistogramCalibrator(n_bins=2.5), [0.1, 0.2], "n_bins must be an integer .* got 2.5"),
        (SigmoidCalibrator(), [0.1, np.nan], "score must be finite"),
    ],
)
def test_invalid_input_is_refused(calibrator, score, message):
    with pytest.raises(ValueError, match=message):
        calibrator.fit(score, [0, 1])


def test_bins_of_a_histogram_meet_halfway_between_their_scores():
    histogram = HistogramCalibrator(n_bins=2).fit([1.0, 2.0, 4.0, 8.0], [0, 0, 1, 1])
    np.testing.assert_array_equal(histogram.edges_, [3.0])
    low, high = histogram.predict([2.9, 3.1])
    assert low < 0.5 < high


def test_a_histogram_of_one_bin_gives_the_overall_frequency():
    histogram = HistogramCalibrator(n_bins=1).fit([1.0, 2.0, 4.0, 8.0], [0, 1, 1, 1])
    np.testing.assert_allclose(histogram.predict([-9.0, 9.0]), 0.75)


@pytest.mark.parametrize("score", [-0.5, 1.5])
def test_beta_refuses_new_scores_outside_the_unit_interval(score):
    with pytest.raises(ValueError, match="For decision values, use SigmoidCalibrator"):
        BetaCalibrator().fit([0.1, 0.9], [0, 1]).predict([0.5, score])


@pytest.mark.parametrize(
    ("score", "target"),
    [
        ([0.1, 0.5, 0.9], [1, 1, 1]),
        ([0.1, 0.5, 0.9], [0, 0, 0]),
        ([0.3, np.nextafter(0.3, 1), 0.3], [0, 1, 1]),
    ],
    ids=["all positive", "all negative", "equal up to rounding"],
)
def test_scores_that_show_no_effect_have_none_in_beta_calibration(score, target):
    beta = BetaCalibrator().fit(score, target)
    np.testing.assert_array_equal(beta.coef_, 0.0)


@pytest.mark.parametrize("calibrator", ALL, ids=repr)
def test_predict_before_fit_is_refused(calibrator):
    with pytest.raises(NotFittedError):
        type(calibrator)().predict([0.5])


@pytest.mark.parametrize("score", [0.3, 0.5, 3.0, -1e200])
def test_scores_that_differ_by_rounding_are_equal_for_a_sigmoid(score):
    scores = np.array([score] * 10 + [np.nextafter(score, np.inf)] * 10)
    sigmoid = SigmoidCalibrator().fit(scores, [0] * 10 + [1] * 10)
    np.testing.assert_allclose(sigmoid.predict([score, 1.2 * score]), 0.5, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e200])
def test_a_sigmoid_does_not_depend_on_the_scale_of_decision_values(scale):
    scores = np.array([-3.0, -1.0, -0.5, 0.5, 1.0, 4.0])
    target = np.array([0, 0, 1, 0, 1, 1])
    expected = SigmoidCalibrator().fit(scores, target).predict(scores)
    scaled = SigmoidCalibrator().fit(scale * scores, target).predict(scale * scores)
    np.testing.assert_allclose(scaled, expected, rtol=1e-9)


@pytest.mark.parametrize("calibrator", [BetaCalibrator(), SigmoidCalibrator()], ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_weights_are_repetitions_even_without_a_finite_solution(calibrator, seed):
    rng = np.random.default_rng(seed)
    target = np.repeat([0.0, 1.0], 15)
    score = np.clip(0.5 * target + rng.uniform(size=30) ** 40 / 2, 0.0, 1.0)  # separable
    times = rng.integers(1, 9, size=30)
    weighted = clone(calibrator).fit(score, target, times.astype(float))
    repeated = clone(calibrator).fit(np.repeat(score, times), np.repeat(target, times))
    np.testing.assert_allclose(weighted.predict(score), repeated.predict(score), rtol=1e-9)
