"""Intervals and prediction sets of calibrated classifiers."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import CalibratedClassifier, load, save
from calibrant.datasets import make_waveform
from calibrant.exceptions import CalibrationWarning

X, Y = make_waveform(120, random_state=0)
X_NEW, Y_NEW = make_waveform(60, random_state=1)
FOREST = RandomForestClassifier(50, random_state=0)


def fit(estimator: Any, **options: Any) -> CalibratedClassifier:
    return CalibratedClassifier(estimator, random_state=0, **options).fit(X, Y)


@pytest.fixture(scope="module")
def voting() -> CalibratedClassifier:
    model = fit(GaussianNB())
    assert model.ensembles_ is not None
    return model


@pytest.fixture(scope="module")
def forest() -> CalibratedClassifier:
    return fit(FOREST)


@pytest.mark.parametrize("name", ["voting", "forest"])
def test_intervals_contain_the_probabilities_and_grow_with_the_level(
    name: str, request: pytest.FixtureRequest
) -> None:
    model = request.getfixturevalue(name)
    proba = model.predict_proba(X_NEW)
    narrow, wide = (model.predict_interval(X_NEW, level=level) for level in (0.5, 0.95))
    assert narrow.shape == (len(X_NEW), 3, 2)
    for interval in (narrow, wide):
        assert np.all(interval[:, :, 0] <= proba)
        assert np.all(interval[:, :, 1] >= proba)
        assert interval.min() >= 0
        assert interval.max() <= 1
    assert np.all(wide[:, :, 0] <= narrow[:, :, 0])
    assert np.all(wide[:, :, 1] >= narrow[:, :, 1])


@pytest.mark.parametrize("estimator", [GaussianNB(), FOREST])
def test_more_rows_give_narrower_intervals(estimator: Any) -> None:
    widths = []
    for n_rows in (60, 600):
        model = CalibratedClassifier(estimator, random_state=0)
        model.fit(*make_waveform(n_rows, random_state=0))
        widths.append(np.ptp(model.predict_interval(X_NEW), axis=2).mean())
    assert widths[1] < 0.8 * widths[0]


def test_rows_on_which_the_models_differ_get_wider_intervals(voting: CalibratedClassifier) -> None:
    models = voting.predict_resampled_proba(X_NEW)
    spread = models.std(axis=0).sum(axis=1)
    width = np.ptp(voting.predict_interval(X_NEW), axis=2).sum(axis=1)
    certain = voting.predict_proba(X_NEW).max(axis=1)
    similar = np.abs(certain - np.median(certain)) < 0.1
    low, high = np.quantile(spread[similar], [0.25, 0.75])
    assert width[similar & (spread > high)].mean() > width[similar & (spread < low)].mean()


def test_intervals_do_not_depend_on_the_other_rows(voting: CalibratedClassifier) -> None:
    together = voting.predict_interval(X_NEW)
    np.testing.assert_allclose(voting.predict_interval(X_NEW[:7]), together[:7], rtol=1e-9)


def test_intervals_follow_the_classes(voting: CalibratedClassifier) -> None:
    names = np.array(["c", "b", "a"])
    renamed = CalibratedClassifier(GaussianNB(), random_state=0).fit(X, names[Y])
    np.testing.assert_allclose(
        renamed.predict_interval(X_NEW)[:, ::-1], voting.predict_interval(X_NEW), atol=1e-6
    )


@pytest.mark.parametrize(
    "options",
    [
        {"ensemble": False},
        {"ensemble": True},
        {"method": "temperature", "ensemble": True},
        {"strategy": "one-vs-rest", "ensemble": 3},
        {"cv": "monte-carlo"},
        {"cv": 5},
        {"cv": 5, "ensemble": True},
    ],
    ids=str,
)
def test_intervals_exist_wherever_models_were_refitted(options: dict[str, Any]) -> None:
    model = fit(GaussianNB(), **options)
    interval = model.predict_interval(X_NEW)
    width = np.ptp(interval, axis=2)
    assert np.isfinite(interval).all()
    assert 0.01 < width.mean() < 0.95


@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (FrozenEstimator(GaussianNB().fit(X, Y)), {}),
        (GaussianNB(), {"method": None}),
        (GaussianNB(), {"strategy": "one-vs-rest"}),
    ],
    ids=str,
)
def test_intervals_without_refitted_models_are_an_error(
    estimator: Any, options: dict[str, Any]
) -> None:
    model = fit(estimator, **options)
    with pytest.raises(ValueError, match=r"predict_interval requires .* ensemble=True"):
        model.predict_interval(X_NEW)
    with pytest.raises(ValueError, match=r"predict_resampled_proba requires .* ensemble=True"):
        model.predict_resampled_proba(X_NEW)


def test_sets_without_held_out_rows_of_all_classes_are_an_error() -> None:
    for options in ({"method": None}, {"strategy": "one-vs-rest"}):
        with pytest.raises(ValueError, match=r"predict_set requires .* strategy='direct'"):
            fit(GaussianNB(), **options).predict_set(X_NEW)


def test_sets_grow_with_the_coverage(voting: CalibratedClassifier) -> None:
    small, large = (voting.predict_set(X_NEW, coverage=coverage) for coverage in (0.6, 0.95))
    assert small.dtype == bool
    assert np.all(small <= large)
    assert small.sum() < large.sum()
    assert np.all(small[np.arange(len(X_NEW)), voting.predict_proba(X_NEW).argmax(axis=1)])


def test_classes_with_few_rows_are_never_excluded() -> None:
    rare = np.concatenate([np.flatnonzero(Y != 2), np.flatnonzero(Y == 2)[:8]])
    model = CalibratedClassifier(GaussianNB(), random_state=0).fit(X[rare], Y[rare])
    assert model.predict_set(X_NEW, coverage=0.9)[:, 2].all()
    assert not model.predict_set(X_NEW, coverage=0.8)[:, 2].all()


@pytest.mark.parametrize("level", [0, 1, 95])
def test_level_must_be_a_proportion(voting: CalibratedClassifier, level: float) -> None:
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
        voting.predict_interval(X_NEW, level=level)
    with pytest.raises(ValueError, match="coverage must lie strictly between 0 and 1"):
        voting.predict_set(X_NEW, coverage=level)


def test_the_mean_of_the_resampled_probabilities_is_near_the_prediction(
    voting: CalibratedClassifier,
) -> None:
    resampled = voting.predict_resampled_proba(X_NEW)
    assert resampled.shape == (20, len(X_NEW), 3)
    np.testing.assert_allclose(resampled.sum(axis=2), 1)
    assert np.abs(resampled.mean(axis=0) - voting.predict_proba(X_NEW)).mean() < 0.05


def test_forests_work_on_sparse_rows_and_in_pipelines(forest: CalibratedClassifier) -> None:
    expected = forest.predict_interval(X_NEW)
    scattered = CalibratedClassifier(FOREST, random_state=0).fit(sparse.csr_matrix(X), Y)
    np.testing.assert_allclose(scattered.predict_interval(sparse.csr_matrix(X_NEW)), expected)
    scaled = fit(make_pipeline(StandardScaler(), FOREST))
    np.testing.assert_allclose(scaled.predict_interval(X_NEW), expected, atol=0.1)


@pytest.mark.parametrize("estimator", [GaussianNB(), LogisticRegression(max_iter=1000), FOREST])
def test_saved_models_predict_the_same_intervals_and_sets(estimator: Any, tmp_path: Any) -> None:
    model = fit(estimator)
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict_interval(X_NEW), model.predict_interval(X_NEW))
    np.testing.assert_array_equal(loaded.predict_set(X_NEW), model.predict_set(X_NEW))


def test_rows_without_scores_have_the_widest_intervals() -> None:
    class Blind(GaussianNB):
        def predict_proba(self, X: Any) -> Any:
            proba = super().predict_proba(X)
            proba[X[:, 0] > 100] = np.nan
            return proba

    model = fit(Blind())
    odd = X_NEW[:3].copy()
    odd[0, 0] = 1000
    with pytest.warns(CalibrationWarning, match="returned NaN for 1 of 3 rows"):
        width = np.ptp(model.predict_interval(odd), axis=2).sum(axis=1)
    assert width.argmax() == 0
    with pytest.warns(CalibrationWarning, match="returned NaN for 1 of 1 rows"):
        assert np.isfinite(model.predict_interval(odd[:1])).all()


def test_files_of_earlier_versions_say_what_to_do(voting: CalibratedClassifier) -> None:
    earlier = deepcopy(voting)
    for name in ("_relative_variance", "_true_proba"):
        del earlier.__dict__[name]
    for ensemble in earlier.ensembles_ or ():
        del ensemble.variance_factor_
    with pytest.raises(ValueError, match="saved by an earlier version"):
        earlier.predict_interval(X_NEW)
    with pytest.raises(ValueError, match="saved by an earlier version"):
        earlier.predict_set(X_NEW)
