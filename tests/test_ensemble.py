"""The parameter ``ensemble`` of CalibratedClassifier: refitted models that vote."""

import dataclasses

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from calibrant import CalibratedClassifier, load, save
from calibrant._core.probability_floor import apply_probability_floor
from calibrant.calibrators import AutoCalibrator, TemperatureScaling
from calibrant.datasets import make_waveform
from calibrant.exceptions import CalibrationWarning
from calibrant.generation import MonteCarloCV, RepeatedFolds
from calibrant.metrics import log_loss


@pytest.fixture(scope="module")
def waveform():
    return *make_waveform(90, random_state=0), *make_waveform(2000, random_state=1)


def shuffled_folds(n_rows, n_folds, n_repeats, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n_repeats):
        fold = rng.permutation(n_rows) % n_folds
        for number in range(n_folds):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)


def test_the_procedure_with_voters_only_step_by_step(waveform):
    """Fit and predict_proba with ensemble=True, written out with plain parts."""
    X, y, X_new, _ = waveform
    splits = list(shuffled_folds(len(y), 3, 4))
    voters, total, times = [], np.zeros((len(y), 3)), np.zeros(len(y))
    for train, test in splits:
        voters.append(KNeighborsClassifier().fit(X[train], y[train]))
        total[test] += voters[-1].predict_proba(X[test])
        times[test] += 1
    calibrator = TemperatureScaling().fit(total / times[:, None], y)
    votes = np.mean([voter.predict_proba(X_new) for voter in voters], axis=0)
    expected = apply_probability_floor(calibrator.predict_proba(votes), np.bincount(y))

    model = CalibratedClassifier(
        KNeighborsClassifier(), method="temperature", cv=splits, ensemble=True
    )
    model.fit(X, y)
    assert len(model.estimators_[0]) == 12
    np.testing.assert_allclose(model.predict_proba(X_new), expected, rtol=0, atol=1e-10)


def test_the_procedure_with_model_and_voters_step_by_step(waveform):
    """Fit and predict_proba with ensemble="auto", written out with plain parts."""
    X, y, X_new, _ = waveform
    splits = list(shuffled_folds(len(y), 3, 4))
    score, rows, votes = [], [], np.zeros((len(y), 3))
    voters = []
    for train, test in splits:
        voters.append(KNeighborsClassifier().fit(X[train], y[train]))
        score.append(voters[-1].predict_proba(X[test]))
        rows.append(test)
        votes[test] += score[-1] / 4
    score, rows = np.concatenate(score), np.concatenate(rows)
    auto = AutoCalibrator().fit(score, y[rows], np.full(len(rows), 1 / 4), rows, votes[rows])
    assert auto.ensemble_weights_
    single = KNeighborsClassifier().fit(X, y).predict_proba(X_new)
    together = np.mean([voter.predict_proba(X_new) for voter in voters], axis=0)
    expected = apply_probability_floor(auto.predict_proba(single, together), np.bincount(y))

    model = CalibratedClassifier(KNeighborsClassifier(), method=AutoCalibrator(), cv=splits)
    model.fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X_new), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.predict_uncalibrated_proba(X_new), single, atol=1e-15)
    (problem,) = model.predict_problem_proba(X_new)
    np.testing.assert_allclose(problem, auto.predict_proba(single, together), rtol=0, atol=1e-9)


class Memory(KNeighborsClassifier):
    """Knows the rows that it was fitted on, and nothing else."""

    def predict_proba(self, X):
        distance, index = self.kneighbors(X, 1)
        is_known = distance[:, 0] == 0
        label = self._y[index[:, 0]]
        uniform = np.full((len(X), len(self.classes_)), 1 / len(self.classes_))
        return np.where(is_known[:, None], np.eye(len(self.classes_))[label], uniform)


@pytest.mark.parametrize("grouped", [False, True])
def test_no_voter_scores_a_row_or_a_group_that_it_was_fitted_on(grouped, waveform):
    X, y, _, _ = waveform
    groups = None
    if grouped:
        groups = np.arange(len(y)) // 3
        # Rows of a group are the same, so a voter that saw one of them would know the others.
        X, y = np.repeat(X[::3], 3, axis=0), np.repeat(y[::3], 3)
    model = CalibratedClassifier(Memory(), ensemble=True, random_state=0)
    report = model.fit(X, y, groups=groups).calibration_report_
    assert report.log_losses[0] == pytest.approx(np.log(3))


def test_custom_splitters_and_groups(waveform):
    X, y, X_new, _ = waveform
    groups = np.arange(len(y)) % 9
    model = CalibratedClassifier(GaussianNB(), cv=GroupKFold(3), ensemble=True, method="matrix")
    model.fit(X, y, groups=groups)
    assert len(model.estimators_[0]) == 3
    np.testing.assert_allclose(model.predict_proba(X_new).sum(axis=1), 1.0)


@pytest.mark.parametrize("strategy", ["one-vs-rest", "all-pairs", "output-code"])
def test_binary_strategies_have_one_ensemble_per_problem(strategy, waveform):
    X, y, X_new, y_new = waveform
    model = CalibratedClassifier(
        LinearSVC(random_state=0), strategy=strategy, ensemble=7, random_state=0
    )
    model.fit(X, y)
    assert [len(ensemble) for ensemble in model.estimators_] == [7] * model.code_.shape[1]
    proba = model.predict_proba(X_new)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert log_loss(y_new, proba) < 0.7


def test_decision_values_vote_as_probabilities_in_a_multiclass_problem(waveform):
    X, y, X_new, _ = waveform
    machine = LinearSVC(C=100.0, random_state=0, max_iter=100_000)
    model = CalibratedClassifier(machine, method="temperature", ensemble=5, random_state=0)
    model.fit(X, y)
    voters = model.estimators_[0].estimators_
    votes = np.mean([softmax(voter.decision_function(X_new), axis=1) for voter in voters], axis=0)
    np.testing.assert_allclose(model.predict_uncalibrated_proba(X_new), votes, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"strategy": "one-vs-rest"}, "the published method"),
        ({"method": "temperature"}, "a single method"),
        ({"method": None}, "no calibration"),
        ({"cv": 5}, "each row is scored by one voter only"),
        ({"estimator": RandomForestClassifier(50, random_state=0)}, "a forest"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_auto_means_a_single_model_where_it_cannot_choose(options, kind, waveform):
    X, y, X_new, _ = waveform
    options = {"estimator": KNeighborsClassifier(), "random_state": 0, **options}
    auto = CalibratedClassifier(**options).fit(X, y)
    single = CalibratedClassifier(**options, ensemble=False).fit(X, y)
    assert auto.ensembles_ is None, kind
    np.testing.assert_array_equal(auto.predict_proba(X_new), single.predict_proba(X_new))


def test_models_that_cannot_vote_are_replaced_by_closed_forms(waveform, monkeypatch):
    X, y, _, _ = waveform
    fit, fitted = GaussianNB.fit, []

    def counted_fit(self, *args, **params):
        fitted.append(self)
        return fit(self, *args, **params)

    monkeypatch.setattr(GaussianNB, "fit", counted_fit)
    for ensemble, n_fits in (("auto", 3), (False, 3), (True, 5)):
        fitted.clear()
        CalibratedClassifier(GaussianNB(), cv=5, ensemble=ensemble).fit(X, y)
        # Without voters: the model fitted on all rows, and the refits that check the closed form of
        # the folds and that of the split which shows how far models differ.
        assert len(fitted) == n_fits


def test_a_frozen_model_stays_alone(waveform):
    X, y, _, _ = waveform
    frozen = FrozenEstimator(GaussianNB().fit(X[:40], y[:40]))
    model = CalibratedClassifier(frozen).fit(X[40:], y[40:])
    assert model.ensembles_ is None
    assert model.estimators_ == [frozen]


def test_voters_lower_the_log_loss_of_nearest_neighbors(waveform):
    X, y, X_new, y_new = waveform
    loss = {
        ensemble: log_loss(
            y_new,
            CalibratedClassifier(KNeighborsClassifier(), ensemble=ensemble, random_state=0)
            .fit(X, y)
            .predict_proba(X_new),
        )
        for ensemble in (False, "auto")
    }
    assert loss["auto"] < 0.98 * loss[False]


def test_voters_that_cannot_learn_are_left_out():
    # With 20 rows per leaf, models fitted on 36 of 45 rows cannot split. A model of all rows can,
    # and so can voters that are fitted on twice as many resampled rows.
    X, y = make_waveform(45, random_state=2)
    X_new, y_new = make_waveform(1000, random_state=3)
    boosting = HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=20, random_state=0)
    models = [
        CalibratedClassifier(boosting, cv=cv, random_state=0).fit(X, y)
        for cv in (RepeatedFolds(), "auto")
    ]
    assert [model.ensembles_ is None for model in models] == [True, False]
    frequencies = np.tile(np.bincount(y) / len(y), (len(y_new), 1))
    for model in models:
        assert log_loss(y_new, model.predict_proba(X_new)) < 0.8 * log_loss(y_new, frequencies)


def test_more_voters_need_more_repeats(waveform):
    X, y, _, _ = waveform
    for ensemble, n_voters in ((True, 20), (8, 8), (np.int64(2), 2), (500, 20)):
        model = CalibratedClassifier(GaussianNB(), ensemble=ensemble, random_state=0).fit(X, y)
        assert len(model.estimators_[0]) == n_voters
    model = CalibratedClassifier(
        GaussianNB(), cv=MonteCarloCV(300), ensemble=500, random_state=0
    ).fit(X, y)
    assert len(model.estimators_[0]) == 12


@pytest.mark.usefixtures("always_start_workers")
@pytest.mark.parametrize(
    "estimator", [GaussianNB(), LogisticRegression(max_iter=1000)], ids=["closed", "refit"]
)
def test_result_does_not_depend_on_the_number_of_jobs(estimator, waveform):
    X, y, X_new, _ = waveform
    serial, parallel = (
        CalibratedClassifier(estimator, n_jobs=n_jobs, random_state=0)
        .fit(X, y)
        .predict_proba(X_new)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(serial, parallel)


@pytest.mark.parametrize("ensemble", [True, "auto"])
def test_rows_of_weight_zero_are_ignored(ensemble, waveform):
    X, y, X_new, _ = waveform
    kept = np.arange(len(y)) % 4 > 0
    weighted, removed = (
        CalibratedClassifier(GaussianNB(), ensemble=ensemble, random_state=0).fit(*data)
        for data in ((X, y, kept.astype(float)), (X[kept], y[kept]))
    )
    np.testing.assert_allclose(
        weighted.predict_proba(X_new), removed.predict_proba(X_new), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("ensemble", [True, "auto"])
def test_rare_classes(ensemble):
    X, y = make_waveform(60, random_state=0)
    y = np.where(np.arange(60) == 5, 7, np.where(np.arange(60) < 2, 8, y))
    model = CalibratedClassifier(KNeighborsClassifier(), ensemble=ensemble, random_state=0)
    with pytest.warns(UserWarning, match="fewer than"):
        proba = model.fit(X, y).predict_proba(X)
    assert (proba > 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize("ensemble", [True, "auto"])
def test_too_few_rows_to_hold_out_any(ensemble):
    model = CalibratedClassifier(GaussianNB(), ensemble=ensemble)
    with pytest.warns(UserWarning, match="fewer than"):
        model.fit([[0.0], [0.2], [1.0]], [0, 0, 1])
    np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]]).sum(axis=1), 1.0)


@pytest.mark.parametrize("ensemble", [True, "auto"])
@pytest.mark.parametrize("estimator", [KNeighborsClassifier(), DecisionTreeClassifier(max_depth=3)])
def test_saved_models_predict_the_same(estimator, ensemble, waveform, tmp_path):
    pytest.importorskip("skops")
    X, y, X_new, _ = waveform
    model = CalibratedClassifier(estimator, ensemble=ensemble, random_state=0)
    save(model.fit(X, y), tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict_proba(X_new), model.predict_proba(X_new))
    assert clone(loaded).ensemble == ensemble


def test_the_report_tells_what_was_chosen(waveform):
    X, y, _, _ = waveform
    report = CalibratedClassifier(KNeighborsClassifier(), random_state=0).fit(X, y)
    report = report.calibration_report_
    assert 0 < report.ensemble_weight <= 1
    names = [name for name in report.candidates if name.endswith("of the ensemble")]
    assert len(names) == report.n_ensemble == 5
    assert "of the ensemble" in str(report)
    assert report.ensemble_gain > 0
    assert f"has a weight of {report.ensemble_weight:.0%}; it lowers" in str(report)
    harmful = dataclasses.replace(report, ensemble_gain=-0.0125)
    assert str(harmful).endswith("it raises the held-out log loss by 0.013.")
    unused = dataclasses.replace(report, weights=(1.0, *[0.0] * (len(report.weights) - 1)))
    assert str(unused).endswith("has no weight and is not used.")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ensemble": "yes"}, "ensemble must be 'auto', True, False or a number"),
        ({"ensemble": 1}, "at least 2, got 1"),
        ({"ensemble": 2.5}, "got 2.5"),
        ({"ensemble": True, "method": None}, "ensemble=True requires models that are refitted"),
        (
            {
                "ensemble": 5,
                "cv": "oob",
                "estimator": RandomForestClassifier(50),
            },
            "ensemble=5 requires models that are refitted",
        ),
        (
            {"ensemble": True, "estimator": FrozenEstimator(GaussianNB())},
            "requires models that are refitted",
        ),
    ],
)
def test_invalid_ensembles_are_rejected(options, message, waveform):
    X, y, _, _ = waveform
    with pytest.raises(ValueError, match=message):
        CalibratedClassifier(**{"estimator": GaussianNB(), **options}).fit(X, y)


def test_forests_vote_if_told_to(waveform):
    X, y, X_new, _ = waveform
    forest = RandomForestClassifier(50, random_state=0)
    model = CalibratedClassifier(forest, cv=RepeatedFolds(3, 1), ensemble=True).fit(X, y)
    assert len(model.estimators_[0]) == 3
    assert len(CalibratedClassifier(forest, ensemble=2).fit(X, y).estimators_[0]) == 2
    np.testing.assert_allclose(model.predict_proba(X_new).sum(axis=1), 1.0)


def test_where_no_row_can_be_held_out_the_model_of_all_rows_votes_alone(waveform):
    X, y, X_new, _ = waveform
    y = np.r_[8, 9, y[2:]]
    model = CalibratedClassifier(GaussianNB(), strategy="all-pairs", ensemble=7, random_state=0)
    with pytest.warns(CalibrationWarning, match="fewer than 4 rows: 8"):
        model.fit(X, y)
    has_two_rows = (np.abs(model.code_) * [[0], [0], [0], [1], [1]]).sum(axis=0) == 2
    n_voters = [len(ensemble) for ensemble in model.estimators_]
    assert n_voters == np.where(has_two_rows, 1, 7).tolist()
    np.testing.assert_allclose(model.predict_proba(X_new).sum(axis=1), 1.0)
