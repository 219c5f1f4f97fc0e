import logging
import pickle
import warnings
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.ensemble import IsolationForest, RandomForestClassifier, StackingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC

from calibrant import CalibratedClassifier
from calibrant._core.probability_floor import apply_probability_floor
from calibrant.calibrators import ENIR, AutoCalibrator, PairwiseCalibrator
from calibrant.datasets import make_waveform
from calibrant.exceptions import CalibrationWarning
from calibrant.generation import CrossFit, MonteCarloCV, RepeatedFolds, ResampledFolds
from calibrant.metrics import expected_calibration_error, log_loss
from calibrant.strategies import AllPairs, OneVsRest

QUICK = MonteCarloCV(n_points=1000, group_size=50)


@pytest.fixture(scope="module")
def waveform():
    return *make_waveform(200, random_state=0), *make_waveform(1000, random_state=1)


def make_blobs(counts, seed=0, spread=1.5):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(counts)), counts)
    centers = rng.normal(size=(len(counts), 4)) * spread
    return centers[y] + rng.normal(size=(len(y), 4)), y


@pytest.mark.parametrize(
    ("short", "spelled"),
    [
        ({}, {"method": AutoCalibrator(), "strategy": "direct", "cv": ResampledFolds()}),
        ({"ensemble": False}, {"ensemble": False, "cv": RepeatedFolds()}),
        ({"cv": None}, {"cv": "auto"}),
        (
            {"strategy": "one-vs-rest"},
            {"method": "enir", "strategy": OneVsRest(), "cv": "monte-carlo"},
        ),
        (
            {"method": "enir"},
            {
                "method": PairwiseCalibrator(ENIR(floored=True)),
                "strategy": "direct",
                "cv": RepeatedFolds(),
            },
        ),
    ],
    ids=[
        "auto",
        "no voters",
        "no splitter",
        "the paper's scenario",
        "a binary calibrator of one model",
    ],
)
def test_omitted_parameters_get_their_documented_defaults(short, spelled, waveform):
    X, y, X_new, _ = waveform
    default, full = (
        CalibratedClassifier(GaussianNB(), random_state=0, **options).fit(X, y)
        for options in (short, spelled)
    )
    np.testing.assert_array_equal(default.predict_proba(X_new), full.predict_proba(X_new))


def test_the_estimator_is_a_forest_unless_given():
    assert isinstance(CalibratedClassifier()._estimator(), RandomForestClassifier)


def test_the_procedure_step_by_step(waveform):
    """The whole of fit and predict_proba for one-vs-rest, written out with plain parts."""
    X, y, X_new, _ = waveform
    splits = [(np.arange(len(y)) % 4 != fold, np.arange(len(y)) % 4 == fold) for fold in range(4)]
    splits = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in splits]
    columns = []
    for label in range(3):
        score, target = [], []
        for train, test in splits:
            model = GaussianNB().fit(X[train], y[train] == label)
            score.append(model.predict_proba(X[test])[:, 1])
            target.append(y[test] == label)
        enir = ENIR().fit(np.concatenate(score), np.concatenate(target))
        final = GaussianNB().fit(X, y == label)
        columns.append(enir.predict(final.predict_proba(X_new)[:, 1]))
    proba = np.column_stack(columns)
    expected = apply_probability_floor(
        proba / proba.sum(axis=1, keepdims=True), np.bincount(y), pseudo_count=0.5
    )

    model = CalibratedClassifier(GaussianNB(), method="enir", strategy="one-vs-rest", cv=splits)
    model.fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X_new), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 7])
def test_all_pairs_of_raw_naive_bayes_is_multiclass_naive_bayes(n_classes):
    # p_i / (p_i + p_j) is the same in both models if their variances are smoothed alike.
    X, y = make_blobs([30, 50, 20, 40, 25, 35, 60][:n_classes])
    smoothing = GaussianNB(var_smoothing=0.0)
    pairs = CalibratedClassifier(smoothing, method=None, strategy="all-pairs").fit(X, y)
    expected = smoothing.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(pairs.predict_proba(X), expected, rtol=0, atol=1e-6)


def test_raw_one_vs_rest_divides_by_the_sum(waveform):
    X, y, X_new, _ = waveform
    raw = CalibratedClassifier(GaussianNB(), method=None, strategy="one-vs-rest").fit(X, y)
    columns = [GaussianNB().fit(X, y == k).predict_proba(X_new)[:, 1] for k in range(3)]
    expected = np.column_stack(columns) / np.sum(columns, axis=0)[:, None]
    np.testing.assert_allclose(raw.predict_proba(X_new), expected, rtol=0, atol=1e-12)
    assert raw.calibrators_ is None


def test_raw_direct_is_the_estimator_itself(waveform):
    X, y, X_new, _ = waveform
    direct = CalibratedClassifier(GaussianNB(), method=None, strategy="direct").fit(X, y)
    np.testing.assert_allclose(
        direct.predict_proba(X_new), GaussianNB().fit(X, y).predict_proba(X_new), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("strategy", ["one-vs-rest", "all-pairs", "output-code"])
def test_calibration_improves_naive_bayes(strategy, waveform):
    X, y, X_new, y_new = waveform
    raw = GaussianNB().fit(X, y).predict_proba(X_new)
    model = CalibratedClassifier(GaussianNB(), strategy=strategy, random_state=0).fit(X, y)
    proba = model.predict_proba(X_new)
    assert log_loss(y_new, proba) < 0.7 * log_loss(y_new, raw)
    assert expected_calibration_error(y_new, proba) < expected_calibration_error(y_new, raw)


@pytest.mark.parametrize("strategy", ["one-vs-rest", "all-pairs", "output-code"])
def test_two_classes_are_one_problem(strategy):
    X, y = make_blobs([40, 60])
    model = CalibratedClassifier(GaussianNB(), strategy=strategy, cv=QUICK, random_state=0)
    model.fit(X, y)
    assert len(model.estimators_) == len(model.calibrators_) == 1
    plain = CalibratedClassifier(GaussianNB(), strategy=OneVsRest(), cv=QUICK, random_state=0)
    plain.fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


@pytest.mark.usefixtures("always_start_workers")
def test_result_does_not_depend_on_the_number_of_jobs(waveform):
    X, y, X_new, _ = waveform
    forest = RandomForestClassifier(5)
    cv = MonteCarloCV(n_points=300, group_size=20)
    one, two = (
        CalibratedClassifier(forest, cv=cv, random_state=0, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.predict_proba(X_new), two.predict_proba(X_new))


def test_random_state_determines_the_result(waveform):
    X, y, X_new, _ = waveform
    forest = RandomForestClassifier(3)
    probas = [
        CalibratedClassifier(forest, cv=3, random_state=seed).fit(X, y).predict_proba(X_new)
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(probas[0], probas[1])
    assert np.abs(probas[0] - probas[2]).max() > 0


def test_an_estimator_keeps_its_own_seed(waveform):
    X, y, *_ = waveform
    model = CalibratedClassifier(RandomForestClassifier(3, random_state=7), cv=3).fit(X, y)
    assert {forest.random_state for forest in model.estimators_} == {7}


def test_estimators_with_only_a_decision_function_are_calibrated(waveform):
    X, y, X_new, y_new = waveform
    for strategy in ("one-vs-rest", "all-pairs", "direct"):
        model = CalibratedClassifier(LinearSVC(), strategy=strategy, cv=5, random_state=0)
        proba = model.fit(X, y).predict_proba(X_new)
        assert log_loss(y_new, proba) < 0.8 * np.log(3)


def test_decision_values_are_not_probabilities(waveform):
    X, y, *_ = waveform
    with pytest.raises(ValueError, match=r"LinearSVC has none\. Use method='auto'"):
        CalibratedClassifier(LinearSVC(), method=None).fit(X, y)


def test_any_regressor_of_scores_is_a_calibrator(waveform):
    X, y, X_new, y_new = waveform
    isotonic = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    for strategy in ("one-vs-rest", "direct"):
        model = CalibratedClassifier(
            GaussianNB(), method=isotonic, strategy=strategy, cv=QUICK, random_state=0
        )
        assert log_loss(y_new, model.fit(X, y).predict_proba(X_new)) < 0.5
        assert not hasattr(isotonic, "X_thresholds_")


def test_a_classifier_of_scores_calibrates_directly(waveform):
    X, y, X_new, y_new = waveform
    model = CalibratedClassifier(
        GaussianNB(), method=LogisticRegression(), strategy="direct", cv=5, random_state=0
    ).fit(X, y)
    assert len(model.estimators_) == len(model.calibrators_) == 1
    assert log_loss(y_new, model.predict_proba(X_new)) < 0.55


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"method": LogisticRegression(), "strategy": "one-vs-rest"},
            r"requires a binary calibrator.* Use method='enir', or strategy='direct'",
        ),
        ({"method": "temperature", "strategy": "all-pairs"}, "requires a binary calibrator"),
        ({"method": "platt"}, r"method must be one of \['auto', 'beta', .* got 'platt'"),
        ({"method": 3}, "got 3"),
        ({"strategy": "ovo"}, "strategy must be one of .* got 'ovo'"),
        ({"cv": "oops"}, "cv must be 'auto', one of .* got 'oops'"),
        ({"estimator": "svm"}, "estimator must be a classifier .* got 'svm'"),
        ({"estimator": ENIR()}, r"with predict_proba or decision_function, got ENIR"),
        ({"estimator": GaussianNB}, "Pass an instance, such as GaussianNB"),
        ({"estimator": IsolationForest()}, "estimator must be a classifier"),
        ({"estimator": SVC(kernel="precomputed")}, "SVC takes precomputed distances"),
        ({"method": ENIR}, "Pass an instance, such as ENIR"),
    ],
)
def test_invalid_parameters_raise_a_clear_error(parameters, message, waveform):
    X, y, *_ = waveform
    with pytest.raises(ValueError, match=message):
        CalibratedClassifier(**{"estimator": GaussianNB()} | parameters).fit(X, y)


@pytest.mark.parametrize("n_rows", [4, 5])
def test_a_handful_of_rows_is_enough_to_tell_classes_apart(n_rows):
    X, y = make_blobs([n_rows] * 3, spread=20.0)
    for strategy in ("one-vs-rest", "all-pairs", "direct"):
        model = CalibratedClassifier(GaussianNB(), strategy=strategy, random_state=0).fit(X, y)
        assert model.score(X, y) == 1.0


def test_a_few_groups_are_enough_to_tell_classes_apart():
    X, y = make_blobs([50, 50, 50], spread=20.0)
    sites = np.random.default_rng(0).permutation(150) % 4
    for strategy in ("one-vs-rest", "direct"):
        model = CalibratedClassifier(GaussianNB(), strategy=strategy, random_state=0)
        assert model.fit(X, y, groups=sites).score(X, y) == 1.0


def test_a_single_group_of_scores_is_calibrated(waveform):
    X, y, *_ = waveform
    model = CalibratedClassifier(
        GaussianNB(),
        strategy="one-vs-rest",
        cv=MonteCarloCV(100, group_size=100),
        random_state=0,
    ).fit(X, y)
    assert all(isinstance(calibrator, ENIR) for calibrator in model.calibrators_)


def test_estimators_that_can_score_only_after_fitting_are_accepted(waveform):
    X, y, X_new, y_new = waveform
    stack = StackingClassifier([("nb", GaussianNB())], LogisticRegression(), cv=2)
    model = CalibratedClassifier(stack, cv=2, random_state=0).fit(X, y)
    assert log_loss(y_new, model.predict_proba(X_new)) < 0.7


def test_each_warning_of_the_estimator_is_issued_once(waveform):
    X, y, *_ = waveform
    model = CalibratedClassifier(LogisticRegression(max_iter=2), cv=5, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    (warning,) = caught
    assert warning.category is ConvergenceWarning
    assert warning.filename == __file__


def test_a_calibrator_that_returns_nan_is_refused(waveform):
    X, y, *_ = waveform
    beyond = IsotonicRegression(out_of_bounds="nan")
    model = CalibratedClassifier(
        LinearSVC(), method=beyond, strategy="one-vs-rest", cv=3, random_state=0
    )
    with pytest.raises(ValueError, match="IsotonicRegression returned NaN"):
        model.fit(X, y)


def test_rows_whose_calibrated_probabilities_are_all_zero_are_logged(waveform, caplog):
    X, y, X_new, _ = waveform
    model, raw = (
        CalibratedClassifier(
            GaussianNB(), method=method, strategy="one-vs-rest", cv=3, random_state=0
        ).fit(X, y)
        for method in ("enir", None)
    )
    for calibrator in model.calibrators_:
        calibrator.y_thresholds_[:] = 0.0
    with caplog.at_level(logging.INFO, logger="calibrant"):
        proba = model.predict_proba(X_new)
    expected = apply_probability_floor(raw.predict_proba(X_new), np.bincount(y), pseudo_count=0.5)
    np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-12)
    assert "1000 of 1000 rows" in caplog.text


def test_groups_are_kept_together(waveform):
    X, y, X_new, _ = waveform
    groups = np.arange(len(y)) // 4
    splits = list(GroupKFold(5).split(X, y, groups))
    for strategy in ("one-vs-rest", "direct"):
        by_splitter, by_hand = (
            CalibratedClassifier(GaussianNB(), strategy=strategy, cv=cv).fit(X, y, groups=groups)
            for cv in (GroupKFold(5), splits)
        )
        np.testing.assert_array_equal(
            by_splitter.predict_proba(X_new), by_hand.predict_proba(X_new)
        )


@pytest.mark.parametrize("strategy", ["one-vs-rest", "direct"])
@pytest.mark.parametrize(
    "cv", [MonteCarloCV(n_points=500, group_size=None), 4, GroupKFold(4), "auto"]
)
def test_copies_of_a_row_do_not_leak_when_grouped(cv, strategy):
    # Labels are noise. A nearest neighbor knows them all if copies are on both sides.
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    y = rng.integers(0, 2, size=40)[groups]
    X = rng.normal(size=(40, 6))[groups] + 0.01 * rng.normal(size=(200, 6))
    model = CalibratedClassifier(KNeighborsClassifier(1), strategy=strategy, cv=cv, random_state=0)
    grouped = model.fit(X, y, groups=groups).predict_proba(X)
    assert grouped.max(axis=1).mean() < 0.75


def test_works_inside_scikit_learns_searches(waveform):
    X, y, *_ = waveform
    model = CalibratedClassifier(GaussianNB(), cv=QUICK, random_state=0)
    scores = cross_val_score(model, X, y, scoring="neg_log_loss", cv=3)
    assert (scores > -1).all()
    grid = {"estimator__var_smoothing": [1e-9, 1e-3], "strategy": ["one-vs-rest", AllPairs()]}
    search = GridSearchCV(model, grid, cv=2, scoring="neg_log_loss").fit(X, y)
    assert search.best_score_ > -1


def test_survives_pickling_and_cloning(waveform):
    X, y, X_new, _ = waveform
    model = CalibratedClassifier(GaussianNB(), cv=QUICK, random_state=0).fit(X, y)
    proba = model.predict_proba(X_new)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X_new), proba)
    np.testing.assert_array_equal(clone(model).fit(X, y).predict_proba(X_new), proba)


def test_predict_is_the_most_probable_class(waveform):
    X, y, X_new, _ = waveform
    model = CalibratedClassifier(GaussianNB(), cv=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        model.predict(X_new), model.classes_[model.predict_proba(X_new).argmax(axis=1)]
    )


@pytest.mark.parametrize("with_rich", [True, False])
def test_verbose_shows_progress_on_standard_error(with_rich, waveform, capsys, monkeypatch):
    X, y, *_ = waveform
    if not with_rich:
        monkeypatch.setitem(__import__("sys").modules, "rich.progress", None)
    CalibratedClassifier(GaussianNB(), cv=CrossFit(3), verbose=1).fit(X, y)
    printed = capsys.readouterr()
    assert "scoring held-out rows" in printed.err
    assert printed.out == ""
    CalibratedClassifier(GaussianNB(), cv=3).fit(X, y)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("strategy", ["direct", "one-vs-rest", "all-pairs", "output-code"])
def test_uncalibrated_probabilities_are_those_of_the_same_fit_without_a_method(strategy, waveform):
    X, y, X_new, _ = waveform
    model, raw = (
        CalibratedClassifier(
            GaussianNB(), method=method, strategy=strategy, cv=3, random_state=0
        ).fit(X, y)
        for method in ("enir", None)
    )
    uncalibrated = model.predict_uncalibrated_proba(X_new)
    np.testing.assert_array_equal(uncalibrated, raw.predict_proba(X_new))
    np.testing.assert_array_equal(uncalibrated, raw.predict_uncalibrated_proba(X_new))
    assert np.abs(uncalibrated - model.predict_proba(X_new)).max() > 0.1


def test_uncalibrated_decision_values_are_logits(waveform):
    X, y, X_new, _ = waveform
    model = CalibratedClassifier(LinearSVC(random_state=0), cv=3, random_state=0).fit(X, y)
    logits = LinearSVC(random_state=0).fit(X, y).decision_function(X_new)
    np.testing.assert_allclose(
        model.predict_uncalibrated_proba(X_new), softmax(logits, axis=1), rtol=0, atol=1e-12
    )
    binary = clone(model).set_params(strategy="one-vs-rest").fit(X, y)
    expected = np.array([expit(each.decision_function(X_new)) for each in binary.estimators_])
    problems = binary.predict_problem_proba(X_new, calibrated=False)
    np.testing.assert_allclose(problems, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        binary.predict_uncalibrated_proba(X_new), (expected / expected.sum(axis=0)).T
    )


def test_the_random_state_also_seeds_the_calibrator(waveform):
    X, y, X_new, _ = waveform
    unseeded = {"forest": RandomForestClassifier(5)}
    for method in (AutoCalibrator(random_state=None), AutoCalibrator(unseeded)):
        first, second = (
            CalibratedClassifier(GaussianNB(), method=method, cv=3, random_state=0)
            .fit(X, y)
            .predict_proba(X_new)
            for _ in range(2)
        )
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("strategy", ["direct", "one-vs-rest", "all-pairs"])
def test_problem_probabilities_combine_to_class_probabilities(strategy, waveform):
    X, y, X_new, _ = waveform
    model = CalibratedClassifier(
        GaussianNB(), method="enir", strategy=strategy, cv=3, random_state=0
    ).fit(X, y)
    for calibrated in (True, False):
        probas = model.predict_problem_proba(X_new, calibrated=calibrated)
        assert len(probas) == (1 if strategy == "direct" else 3)
        combined = model.strategy_.combine(probas, model.code_, model.class_count_, fallback=probas)
        if calibrated:
            pseudo_count = 0.1 if strategy == "direct" else 0.5
            combined = apply_probability_floor(combined, model.class_count_, pseudo_count)
            expected = model.predict_proba(X_new)
        else:
            expected = model.predict_uncalibrated_proba(X_new)
        np.testing.assert_allclose(combined, expected, rtol=0, atol=1e-12)


def test_rows_without_a_score_have_no_problem_probabilities(waveform):
    X, y, X_new, _ = waveform
    model = CalibratedClassifier(BlindNB(), strategy="one-vs-rest", cv=3, random_state=0)
    model.fit(np.abs(X), y)
    blind = X_new[:, 0] < 0
    for calibrated in (True, False):
        for proba in model.predict_problem_proba(X_new, calibrated=calibrated):
            np.testing.assert_array_equal(np.isnan(proba), blind)


class BlindNB(GaussianNB):
    """Naive Bayes that returns NaN where the first feature is negative."""

    def predict_proba(self, X):
        proba = super().predict_proba(X)
        proba[X[:, 0] < 0] = np.nan
        return proba


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, csr_array, list])
def test_many_rows_are_predicted_like_few(kind, monkeypatch):
    X, y = make_waveform(120, random_state=0)
    model = CalibratedClassifier(LogisticRegression(max_iter=1000), cv=3, random_state=0).fit(
        kind(X), y
    )
    expected = model.predict_proba(kind(X))
    monkeypatch.setattr("calibrant.classifier.MAX_ROWS", 50)
    np.testing.assert_allclose(model.predict_proba(kind(X)), expected, rtol=1e-12)


class DecisionsOf(LogisticRegression):
    """A classifier of a user: no probabilities, and decision values that may not be numbers."""

    predict_proba = predict_log_proba = property()

    def __init__(self, value=0.0, max_iter=200):
        super().__init__(max_iter=max_iter)
        self.value = value

    def decision_function(self, X):
        scores = super().decision_function(X)
        scores[X[:, 0] < -0.5] = self.value
        return scores


@pytest.mark.parametrize("strategy", ["direct", "one-vs-rest", "all-pairs", "output-code"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_decision_values_that_are_no_numbers_give_probabilities(strategy, value):
    X, y = make_waveform(90, random_state=0)
    model = CalibratedClassifier(DecisionsOf(value), strategy=strategy, cv=3, random_state=0)
    is_said = pytest.warns(CalibrationWarning, match="returned NaN for")
    with is_said if np.isnan(value) else nullcontext():
        proba = model.fit(X, y).predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)
