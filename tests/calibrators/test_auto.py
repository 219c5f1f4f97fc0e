import dataclasses
import pickle
import warnings

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from calibrant import CalibratedClassifier
from calibrant._core.cross_fitting import N_FOLDS, fold_of_points
from calibrant._core.probability_floor import apply_probability_floor
from calibrant.calibrators import (
    DEFAULT_CANDIDATES,
    ENIR,
    AutoCalibrator,
    NoCalibration,
    StructuredMatrixScaling,
    TemperatureScaling,
)
from calibrant.calibrators._averaging import average_weights, gain_shrinkage
from calibrant.exceptions import CalibrationWarning

CANDIDATES = {"no calibration": NoCalibration(), **DEFAULT_CANDIDATES}


def deal(y, group):
    return fold_of_points(y, group, N_FOLDS, np.random.RandomState(0))


def mean_log_loss(proba, y):
    return -np.log(proba[np.arange(len(y)), y]).mean()


@pytest.fixture(scope="module")
def overconfident(simulate):
    score, y = simulate(150, 3, 3.0)
    return score, y, AutoCalibrator().fit(score, y)


def test_overconfident_scores_improve_and_the_report_says_so(overconfident, simulate):
    _, y, auto = overconfident
    new, y_new = simulate(2000, 3, 3.0, seed=1)
    # Without calibration, the probability floor still applies. The gain goes beyond that.
    raw = mean_log_loss(apply_probability_floor(new, np.bincount(y)), y_new)
    gain = raw - mean_log_loss(auto.predict_proba(new), y_new)
    report = auto.report_
    low, high = report.interval
    assert 0 < low < report.expected_gain < high
    assert low < gain < high
    assert report.weights[0] < 0.5
    assert report.n_rows == 150


def test_log_losses_are_those_of_candidates_fitted_on_other_folds(overconfident):
    score, y, auto = overconfident
    fold = deal(y, np.arange(150))
    assert set(fold) == set(range(N_FOLDS))
    for name, reported in zip(auto.report_.candidates, auto.report_.log_losses, strict=True):
        proba = np.empty_like(score)
        for held_out in range(N_FOLDS):
            test = fold == held_out
            model = clone(CANDIDATES[name]).fit(score[~test], y[~test])
            proba[test] = model.predict_proba(score[test])
        assert reported == pytest.approx(mean_log_loss(proba, y), rel=1e-12)


def test_result_is_the_weighted_mean_of_the_candidates(overconfident):
    score, y, auto = overconfident
    assert sum(auto.report_.weights) == pytest.approx(1.0)
    expected = sum(
        weight * clone(CANDIDATES[name]).fit(score, y).predict_proba(score)
        for name, weight in zip(auto.report_.candidates, auto.report_.weights, strict=True)
    )
    np.testing.assert_allclose(auto.predict_proba(score), expected, rtol=0, atol=1e-3)
    assert set(auto.calibrators_) == set(auto.weights_)
    assert min(auto.weights_.values()) > 0


def test_useless_scores_give_the_class_frequencies():
    rng = np.random.default_rng(0)
    y = rng.choice(3, size=600, p=[0.6, 0.3, 0.1])
    score = rng.dirichlet(np.full(3, 0.3), size=600)
    proba = AutoCalibrator().fit(score, y).predict_proba(score)
    frequencies = np.bincount(y) / 600
    assert np.abs(proba - frequencies).mean() < 0.03
    assert mean_log_loss(proba, y) < mean_log_loss(np.tile(frequencies, (600, 1)), y) + 0.02


def test_calibrated_scores_are_hardly_changed(simulate):
    uncalibrated, calibrated = [], []
    for seed in range(12):
        score, y = simulate(200, 3, seed=seed)
        new, y_new = simulate(2000, 3, seed=100 + seed)
        auto = AutoCalibrator().fit(score, y)
        uncalibrated.append(mean_log_loss(new, y_new))
        calibrated.append(mean_log_loss(auto.predict_proba(new), y_new))
    assert np.mean(calibrated) < 1.005 * np.mean(uncalibrated)


def test_the_same_rows_give_the_same_result(overconfident):
    score, y, auto = overconfident
    again = AutoCalibrator().fit(score, y)
    assert again.report_ == auto.report_
    np.testing.assert_array_equal(again.predict_proba(score), auto.predict_proba(score))


def test_repeats_of_a_row_do_not_leak(overconfident):
    score, y, auto = overconfident
    rows = np.repeat(np.arange(150), 5)
    weight = np.full(750, 0.2)
    again = AutoCalibrator().fit(score[rows], y[rows], weight, groups=rows)
    assert again.report_.n_rows == 150
    np.testing.assert_allclose(again.report_.log_losses, auto.report_.log_losses, rtol=1e-6)
    np.testing.assert_allclose(again.report_.weights, auto.report_.weights, rtol=0, atol=1e-3)
    assert again.report_.expected_gain == pytest.approx(auto.report_.expected_gain, abs=1e-4)
    # Without groups, copies of a row are on both sides, and flexible maps seem to gain more.
    leaking = AutoCalibrator().fit(score[rows], y[rows], weight)
    assert leaking.report_.n_rows == 750
    assert min(leaking.report_.log_losses) < min(auto.report_.log_losses)


def test_the_names_of_groups_do_not_matter(overconfident):
    score, y, auto = overconfident
    named = AutoCalibrator().fit(score, y, groups=[f"row {i:03d}" for i in range(150)])
    assert named.report_ == auto.report_


def test_points_of_weight_zero_are_ignored(overconfident):
    score, y, auto = overconfident
    more, y_more = np.r_[score, score[:9]], np.r_[y, y[:9]]
    weight = np.r_[np.ones(150), np.zeros(9)]
    for groups in (None, np.arange(159)):
        assert AutoCalibrator().fit(more, y_more, weight, groups).report_ == auto.report_


def test_groups_may_straddle_classes(simulate):
    score, y = simulate(150, 3, 3.0)
    groups = np.arange(150) // 3
    report = AutoCalibrator().fit(score, y, groups=groups).report_
    assert report.n_rows == 50
    assert report.interval[0] > 0


def test_no_group_is_split(simulate):
    _, y = simulate(150, 3)
    straddling, within = np.arange(150) // 3, 100 * y + np.arange(150) // 4
    for group in (straddling, np.unique(within, return_inverse=True)[1]):
        fold = deal(y, group)
        assert len(np.unique(fold)) == N_FOLDS
        for each in np.unique(group):
            assert len(np.unique(fold[group == each])) == 1


def test_gain_and_interval_are_those_of_independent_rows(overconfident):
    """The average and its shrinkage, from held-out probabilities of the true classes."""
    score, y, auto = overconfident
    fold = deal(y, np.arange(150))
    true_proba = np.empty((150, len(CANDIDATES)))
    for held_out in range(N_FOLDS):
        test = fold == held_out
        for column, candidate in enumerate(CANDIDATES.values()):
            proba = clone(candidate).fit(score[~test], y[~test]).predict_proba(score[test])
            true_proba[test, column] = proba[np.arange(test.sum()), y[test]]
    average = np.empty(150)
    for held_out in range(N_FOLDS):
        test = fold == held_out
        weights = average_weights(true_proba[~test], np.ones((~test).sum()))
        average[test] = true_proba[test] @ weights
    gain = np.empty(150)
    for held_out in range(N_FOLDS):
        test = fold == held_out
        shrinkage = gain_shrinkage(np.log(average / true_proba[:, 0])[~test])
        gain[test] = np.log(shrinkage * average[test] / true_proba[test, 0] + 1 - shrinkage)
    fitted = np.log(true_proba @ np.array(auto.report_.weights) / true_proba[:, 0])
    mean = (gain.mean() + fitted.mean()) / 2
    sampling = max(gain.var(ddof=1), fitted.var(ddof=1)) / 150
    error = np.sqrt(1.25 * sampling + (gain.mean() - fitted.mean()) ** 2 + (0.15 * mean) ** 2)
    half = student.ppf(0.975, 149) * error
    assert auto.report_.expected_gain == pytest.approx(mean)
    assert auto.report_.interval == pytest.approx((mean - half, mean + half))


@pytest.mark.parametrize(
    ("y", "groups"),
    [
        ([0, 1, 2, 0, 1, 2], [7] * 6),
        ([0, 0, 0, 1, 1, 1], [1, 1, 1, 2, 2, 2]),
        ([0, 1, 2], None),
        ([1], None),
    ],
    ids=["one group", "one group per class", "one row per class", "one row"],
)
def test_if_nothing_can_be_held_out_nothing_is_changed(y, groups):
    score = np.random.default_rng(0).dirichlet(np.full(3, 5.0), size=len(y))
    auto = AutoCalibrator().fit(score, y, groups=groups)
    assert auto.weights_ == {"no calibration": 1.0}
    assert (auto.report_.expected_gain, auto.report_.n_rows) == (0.0, 0)
    assert auto.report_.interval == (-np.inf, np.inf)
    assert np.isnan(auto.report_.log_losses).all()
    np.testing.assert_allclose(auto.predict_proba(score), score, rtol=0, atol=0.05)


def test_groups_of_another_length_raise_a_clear_error(simulate):
    score, y = simulate(20, 3)
    for weight in (None, np.ones(20)):
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[20, 21\]"):
            AutoCalibrator().fit(score, y, weight, groups=np.arange(21))


def test_the_report_is_frozen(overconfident):
    with pytest.raises(dataclasses.FrozenInstanceError):
        overconfident[2].report_.n_rows = 3


def make_rows(counts, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(counts)), counts)
    centers = rng.normal(scale=1.5, size=(len(counts), 4))
    return centers[y] + rng.normal(size=(len(y), 4)) * rng.uniform(0.5, 2, size=(len(y), 1)), y


def test_rare_classes_are_named_as_the_user_names_them():
    X, y = make_rows([40, 3, 40, 1])
    model = CalibratedClassifier(GaussianNB(), random_state=0)
    with pytest.warns(CalibrationWarning, match="Classes with fewer than 4 rows"):
        model.fit(X, np.array(["oak", "elm", "ash", "yew"])[y])
    assert model.calibration_report_.rare_classes == ("elm", "yew")
    assert str(model.calibration_report_).endswith(": elm, yew.")


def test_weights_divided_among_points_do_not_make_a_class_rare():
    rows = np.repeat(np.arange(60), 7)
    y = np.repeat([0, 1, 2], [4, 28, 28])
    score = np.random.default_rng(0).dirichlet(np.ones(3), size=60)
    auto = AutoCalibrator().fit(score[rows], y[rows], np.full(420, 1 / 7), groups=rows)
    assert auto.class_count_[0] < 4  # by rounding
    assert auto.report_.rare_classes == ()


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),
        # Newton's method ends at the minimum to rounding; L-BFGS stops at a loss that is right
        # to 64 eps, hence at coefficients that are right to the root of it, 1e-7.
        LogisticRegression(solver="newton-cholesky", tol=1e-10),
        # Their votes are tied all the time.
        KNeighborsClassifier(),
        RandomForestClassifier(60, max_depth=2, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_relabeled_classes_give_the_same_probabilities(estimator, grouped):
    X, y = make_rows([30, 45, 25, 38])
    groups = np.random.default_rng(1).integers(0, 50, size=len(y)) if grouped else None
    names = np.array([2, 0, 3, 1])
    plain, renamed = (
        CalibratedClassifier(estimator, random_state=0).fit(X, labels, groups=groups)
        for labels in (y, names[y])
    )
    if not grouped:
        assert plain.calibration_report_.weights[0] < 0.95  # there is something to compare
    # Matrix scaling, one of the candidates, is fitted to a gradient of the mean log loss of 1e-8.
    np.testing.assert_allclose(
        renamed.predict_proba(X)[:, names], plain.predict_proba(X), rtol=0, atol=1e-8
    )
    assert plain.calibration_report_.interval == pytest.approx(
        renamed.calibration_report_.interval, abs=1e-8
    )


def test_the_order_of_rows_changes_no_more_than_noise():
    X, y = make_rows([60, 90, 70])
    new, y_new = make_rows([300, 450, 350], seed=0)
    # Repeated features make naive Bayes overconfident, so that there is something to calibrate.
    X, new = np.tile(X, 3), np.tile(new, 3)
    order = np.random.default_rng(0).permutation(len(y))
    # Each seed draws other folds, and so does another order of the rows.
    in_order, reordered = (
        np.array(
            [
                mean_log_loss(
                    CalibratedClassifier(GaussianNB(), random_state=seed)
                    .fit(X[rows], y[rows])
                    .predict_proba(new),
                    y_new,
                )
                for seed in range(6)
            ]
        )
        for rows in (np.arange(len(y)), order)
    )
    assert in_order.mean() == pytest.approx(reordered.mean(), rel=0.02)
    noise = np.sqrt((in_order.var(ddof=1) + reordered.var(ddof=1)) / 6)
    assert abs(in_order.mean() - reordered.mean()) < 3 * noise


def test_a_frozen_estimator_stays_uncalibrated_on_a_single_group():
    X, y = make_rows([20, 20, 20])
    fitted = GaussianNB().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CalibratedClassifier(FrozenEstimator(fitted)).fit(X, y, groups=np.zeros(60))
    assert model.calibration_report_.weights[0] == 1.0


def test_a_class_without_held_out_rows_gets_half_its_score_and_half_a_row_in_n(simulate):
    score, y = simulate(60, 3, 3.0)
    # A fourth class, of which no row was held out; its scores are what the model makes of it.
    own = np.random.default_rng(0).uniform(0, 0.3, size=(60, 1))
    with_unknown = np.hstack([(1 - own) * score, own])
    auto, among = AutoCalibrator().fit(with_unknown, y), AutoCalibrator().fit(score, y)
    assert auto.weights_ == pytest.approx(among.weights_, abs=1e-6)
    half = (1 - auto.report_.weights[0]) / 2
    expected = (1 - half) * own + half / 61
    proba = auto.predict_proba(with_unknown)
    np.testing.assert_allclose(proba[:, 3:], expected, rtol=0, atol=1e-3)
    np.testing.assert_allclose(
        proba[:, :3], (1 - expected) * among.predict_proba(score), rtol=0, atol=1e-3
    )


def test_lone_rows_do_not_make_their_classes_impossible():
    """A class whose only row cannot be held out still occurs."""
    X, y = make_rows([20, 20, 20, 1])
    model = CalibratedClassifier(LogisticRegression(C=1e4, max_iter=10**4), random_state=0)
    with pytest.warns(CalibrationWarning, match="fewer than 4 rows"):
        model.fit(X, y)
    half = (1 - model.calibration_report_.weights[0]) / 2
    assert half > 0.2
    assert model.predict_proba(X)[:, 3].min() > 0.9 * half / 61


def test_custom_candidates_are_averaged_with_no_calibration(overconfident):
    score, y, _ = overconfident
    candidates = {"temperature": TemperatureScaling(), "logistic": LogisticRegression()}
    auto = AutoCalibrator(candidates).fit(score, y)
    assert auto.report_.candidates == ("no calibration", "temperature", "logistic")
    every = {"no calibration": NoCalibration(), **candidates}
    expected = sum(
        weight * clone(every[name]).fit(score, y).predict_proba(score)
        for name, weight in auto.weights_.items()
    )
    np.testing.assert_allclose(auto.predict_proba(score), expected, rtol=0, atol=1e-3)


def test_given_default_candidates_are_the_default(overconfident):
    score, y, auto = overconfident
    given = pickle.loads(pickle.dumps(clone(AutoCalibrator(DEFAULT_CANDIDATES)))).fit(score, y)
    assert given.report_ == auto.report_
    np.testing.assert_array_equal(given.predict_proba(score), auto.predict_proba(score))


def test_the_number_of_folds_and_their_seed_matter(overconfident):
    score, y, auto = overconfident
    for options in ({"cv": 3}, {"random_state": 1}):
        other = AutoCalibrator(**options).fit(score, y)
        assert other.report_.log_losses != auto.report_.log_losses
        np.testing.assert_allclose(
            other.predict_proba(score), auto.predict_proba(score), rtol=0, atol=0.1
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidates": ["temperature"]}, r"must be a mapping of names to calibrators, got \['t"),
        ({"candidates": {"enir": ENIR()}}, r"got ENIR\(\) for 'enir'\. Wrap binary calibrators"),
        (
            {"candidates": {"no calibration": TemperatureScaling()}},
            "must not be named 'no calibration'",
        ),
        ({"cv": 1}, r"cv must be an integer of at least 2, got 1"),
        ({"cv": "five"}, "got 'five'"),
    ],
)
def test_invalid_candidates_raise_a_clear_error(options, message, simulate):
    with pytest.raises(ValueError, match=message):
        AutoCalibrator(**options).fit(*simulate(20, 3))


def test_matrix_scalings_that_share_their_first_step_equal_single_fits(simulate):
    score, y = simulate(300, 3, 3.0)
    candidates = {
        "strong": StructuredMatrixScaling(intercept=10.0, diagonal=10.0, off_diagonal=10.0),
        "weak": StructuredMatrixScaling(intercept=0.1, diagonal=0.1, off_diagonal=0.1),
    }
    fitted = AutoCalibrator(candidates).fit(score, y).calibrators_
    assert fitted.keys() >= candidates.keys()
    for name, candidate in candidates.items():
        expected = candidate.fit(score, y).predict_proba(score)
        np.testing.assert_allclose(fitted[name].predict_proba(score), expected, atol=1e-12)


def test_scores_of_an_ensemble_must_match_those_of_the_model(overconfident):
    score, y, _ = overconfident
    votes = np.sqrt(score) / np.sqrt(score).sum(axis=1, keepdims=True)
    auto = AutoCalibrator().fit(score, y, X_ensemble=votes)
    assert auto.ensemble_weights_
    with pytest.raises(ValueError, match=r"X_ensemble must be given, .* got None"):
        auto.predict_proba(score)
    two_classes = np.full((len(y), 2), 0.5)
    with pytest.raises(ValueError, match="must have the 3 columns of X, got 2"):
        auto.predict_proba(score, two_classes)
    with pytest.raises(ValueError, match="must have the 3 columns of X, got 2"):
        AutoCalibrator().fit(score, y, X_ensemble=two_classes)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        AutoCalibrator().fit(score, y, X_ensemble=votes[1:])


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_the_interval_covers_the_gain_on_new_rows(factor, simulate):
    """As often as the level says, but for three standard errors of the simulation."""
    new, y_new = simulate(4000, 3, factor, seed=10**6)
    covered = []
    for seed in range(40):
        score, y = simulate(100, 3, factor, seed=seed)
        auto = AutoCalibrator().fit(score, y)
        raw = mean_log_loss(apply_probability_floor(new, np.bincount(y)), y_new)
        gain = raw - mean_log_loss(auto.predict_proba(new), y_new)
        low, high = auto.report_.interval
        covered.append(low <= gain <= high)
    level = auto.report_.gain.level
    assert np.mean(covered) >= level - 3 * np.sqrt(level * (1 - level) / len(covered))


def test_the_performance_of_the_average_is_recorded():
    rng = np.random.RandomState(0)
    score = rng.dirichlet([0.3] * 3, size=200)
    y = np.array([rng.choice(3, p=0.5 * row + 0.5 / 3) for row in score])
    report = AutoCalibrator().fit(score, y).report_
    found = report.performance
    assert (found.n_rows, found.class_count) == (200, tuple(np.bincount(y).tolist()))
    # The average was chosen by the log loss of the same held-out probabilities.
    assert found.log_loss.estimate < min(report.log_losses) + 0.01
    calibrated = AutoCalibrator({}).fit(score, y).report_
    assert calibrated.performance.log_loss.estimate == pytest.approx(calibrated.log_losses[0])


def test_the_performance_of_repeated_scores_is_that_of_their_rows():
    rng = np.random.RandomState(0)
    score = rng.dirichlet([0.5] * 3, size=100)
    y = np.array([rng.choice(3, p=row) for row in score])
    rows = np.repeat(np.arange(100), 3)
    found = AutoCalibrator().fit(score[rows], y[rows], np.full(300, 1 / 3), groups=rows).report_
    assert found.performance.n_rows == found.performance.log_loss.n_rows == 100
