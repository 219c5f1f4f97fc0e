import pytest

pytest.importorskip("skl2onnx", reason="the extra 'onnx' is not installed")

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from calibrant import CalibratedClassifier
from calibrant.calibrators import UpdateCalibrator
from calibrant.datasets import make_waveform
from calibrant.exceptions import CalibrationWarning
from calibrant.onnx import largest_difference, to_onnx
from calibrant.onnx.checking import run_model
from calibrant.updating import UpdatedClassifier

CLOSE = 1e-9
X, Y = make_waveform(150, random_state=0)
NEW = np.vstack([X, 5.0 * np.random.default_rng(0).normal(size=(300, X.shape[1]))])


def fit(estimator, X=X, y=Y, **parameters):
    return CalibratedClassifier(
        estimator, **{"cv": 3, "random_state": 0, "ensemble": False, **parameters}
    ).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),
        KNeighborsClassifier(),
        LinearDiscriminantAnalysis(),
        RidgeClassifier(),
        make_pipeline(StandardScaler(), PCA(3), LogisticRegression(max_iter=1000)),
        BaggingClassifier(
            DecisionTreeClassifier(), 9, max_samples=4, max_features=5, random_state=0
        ),
        GridSearchCV(RandomForestClassifier(10, random_state=0), {"max_depth": [2, 4]}, cv=3),
        VotingClassifier(
            [("a", GaussianNB()), ("b", "drop"), ("c", DecisionTreeClassifier(max_depth=2))],
            voting="soft",
            weights=[1, 5, 3],
        ),
        make_pipeline(StandardScaler(), "passthrough", RandomForestClassifier(10, random_state=0)),
    ],
    ids=lambda estimator: str(estimator)[:40],
)
def test_classifiers_agree_with_their_estimators(estimator, n_classes):
    rows = n_classes > Y
    model = fit(estimator, X[rows], Y[rows], method="enir")
    assert largest_difference(to_onnx(model), model, NEW) < CLOSE


@pytest.mark.parametrize("method", ["auto", "temperature", "venn-abers", None])
def test_methods_agree(method):
    model = fit(LogisticRegression(max_iter=1000), method=method)
    assert largest_difference(to_onnx(model), model, NEW) < CLOSE


def test_models_that_vote_are_averaged():
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    together = CalibratedClassifier(tree, random_state=0).fit(X, Y)
    assert together.ensembles_ is not None
    instead = fit(GaussianNB(), method="temperature", ensemble=True)
    assert len(instead.estimators_[0]) == 3
    for model in (together, instead):
        assert largest_difference(to_onnx(model), model, NEW) < CLOSE


def test_frozen_nested_and_updated_models_agree():
    base = GaussianNB().fit(X, Y)
    frozen = CalibratedClassifier(FrozenEstimator(base), method="matrix").fit(X, Y)
    nested = CalibratedClassifier(FrozenEstimator(frozen), method="isotonic").fit(X, Y)
    kept = Y > 0
    procedure = UpdateCalibrator(n_resamples=19, alpha=0.1)
    updated = UpdatedClassifier(frozen, calibrator=procedure).fit(X[kept], Y[kept])
    assert updated.update_report_.choice != "none"
    for model in (frozen, nested, updated):
        assert largest_difference(to_onnx(model), model, NEW) < CLOSE


def test_rows_without_a_score_get_the_class_frequencies():
    base = LogisticRegression(max_iter=1000).fit(X, Y)
    model = CalibratedClassifier(FrozenEstimator(base), method="dirichlet").fit(X, Y)
    base.coef_[:, 0] = np.inf  # times 0, it is NaN
    rows = X.copy()
    rows[::2, 0] = 0.0
    warns = pytest.warns(CalibrationWarning, match="returned NaN for")
    with np.errstate(invalid="ignore"), warns:
        expected = model.predict_proba(rows)
    assert np.allclose(run_model(to_onnx(model), rows)[1], expected, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("strategy", ["one-vs-rest", "all-pairs", "output-code"])
def test_binary_strategies_are_refused(strategy):
    model = fit(GaussianNB(), strategy=strategy, method="sigmoid")
    with pytest.raises(ValueError, match=r"strategy must be direct .* got .*Fit it with strategy="):
        to_onnx(model)


def test_calibration_of_scikit_learn_is_refused():
    estimator = CalibratedClassifierCV(GaussianNB(), method="isotonic").fit(X, Y)
    model = CalibratedClassifier(FrozenEstimator(estimator), method="sigmoid").fit(X, Y)
    with pytest.raises(ValueError, match=r"takes the nearest knot .* CalibratedClassifier"):
        to_onnx(model)


@pytest.mark.parametrize(
    "estimator", [HistGradientBoostingClassifier(max_iter=1), AdaBoostClassifier(n_estimators=2)]
)
def test_estimators_that_cannot_be_converted_in_double_precision_are_named(estimator):
    frozen = FrozenEstimator(estimator.fit(X, Y))
    model = CalibratedClassifier(frozen, method="temperature").fit(X, Y)
    name = type(estimator).__name__
    with pytest.raises(ValueError, match=f"does not convert {name} .* export the calibrator alone"):
        to_onnx(model)
