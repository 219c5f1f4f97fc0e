import pytest

pytest.importorskip("skl2onnx", reason="the extra 'onnx' is not installed")

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from calibrant import CalibratedClassifier
from calibrant.calibrators import OneVsRestCalibrator, VennAbersCalibrator
from calibrant.onnx import largest_difference, to_onnx

# The temperatures below magnify rounding errors a thousandfold.
CLOSE = 1e-10
X, Y = make_classification(
    200, 5, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
)


def frozen(model, X=X, y=Y, method="temperature"):
    """Calibrate a fitted model, which is then the only model to export."""
    return CalibratedClassifier(FrozenEstimator(model.fit(X, y)), method=method).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=3, random_state=0),
        ExtraTreeClassifier(random_state=0),
        RandomForestClassifier(20, max_depth=4, random_state=0),
        ExtraTreesClassifier(20, min_samples_leaf=5, random_state=0),
        GradientBoostingClassifier(n_estimators=10, random_state=0),
        GradientBoostingClassifier(n_estimators=5, init="zero", random_state=0),
    ],
)
def test_trees_agree_on_both_sides_of_every_threshold(model, n_classes):
    rows = n_classes > Y
    calibrated = frozen(model, X[rows], Y[rows])
    trees = np.ravel(getattr(model, "estimators_", [model]))
    feature, threshold = (
        np.concatenate([getattr(each.tree_, name) for each in trees])
        for name in ("feature", "threshold")
    )
    # The numbers next to each threshold, in either precision, in otherwise random rows.
    single = threshold.astype(np.float32)
    near = [threshold, single]
    for values in (threshold, single):
        near += [np.nextafter(values, values.dtype.type(side)) for side in (-np.inf, np.inf)]
    kept = feature >= 0
    rng = np.random.default_rng(0)
    blocks = []
    for values in near:
        block = rng.choice(X, kept.sum())
        block[np.arange(len(block)), feature[kept]] = values[kept]
        blocks.append(block)
    assert largest_difference(to_onnx(calibrated), calibrated, np.vstack(blocks)) < CLOSE


def test_scores_of_fully_grown_forests_stay_tied_with_those_seen_in_training():
    # Venn-Abers prediction jumps at every score that was seen.
    model = RandomForestClassifier(60, random_state=0).fit(X[:100], Y[:100])
    calibrated = CalibratedClassifier(
        FrozenEstimator(model), method=OneVsRestCalibrator(VennAbersCalibrator())
    ).fit(X[100:], Y[100:])
    new = np.vstack([X, np.random.default_rng(0).normal(size=(500, X.shape[1]))])
    assert largest_difference(to_onnx(calibrated), calibrated, new) < CLOSE


def test_missing_values_take_the_branch_they_took_in_training():
    rng = np.random.default_rng(0)
    gaps = np.where(rng.uniform(size=X.shape) < 0.3, np.nan, X)
    model = frozen(RandomForestClassifier(20, max_depth=4, random_state=0), gaps)
    assert largest_difference(to_onnx(model), model, gaps) < CLOSE


def test_a_tree_without_splits_is_exported():
    model = frozen(DecisionTreeClassifier(min_samples_leaf=len(X)))
    assert largest_difference(to_onnx(model), model, X) < CLOSE


def test_exponential_loss_is_exported():
    rows = Y < 2
    boosting = GradientBoostingClassifier(n_estimators=10, loss="exponential", random_state=0)
    model = frozen(boosting, X[rows], Y[rows])
    assert largest_difference(to_onnx(model), model, X) < CLOSE


def test_boosting_that_starts_from_a_model_is_refused():
    model = frozen(GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()))
    with pytest.raises(ValueError, match=r"must start from a constant .* got init=Logistic.* Omit"):
        to_onnx(model)


def test_more_nodes_than_single_precision_can_number_are_refused(monkeypatch):
    monkeypatch.setattr("calibrant.onnx.trees.MAX_LEAVES", 10)
    with pytest.raises(ValueError, match=r"at most 10 nodes together .* Grow fewer"):
        to_onnx(frozen(RandomForestClassifier(3, random_state=0)))
