"""Methods of other packages.

The packages are imported where they are used, since neither calibrant nor the other experiments
need them. ``make arena`` creates an environment that has them all.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

from calibrant._core.typing import FloatArray, IndexArray
from experiments.arena.inputs import Method, MethodInput

# Takes held-out scores, their classes, and the scores to calibrate.
ScoreMethod = Callable[[FloatArray, IndexArray, FloatArray], FloatArray]

N_FOLDS = 10
PACKAGES = ("probmetrics", "venn_abers", "netcal")


def check_peers() -> None:
    """Raise ValueError if a package is missing, since every run would be stored as a failure."""
    missing = [name for name in PACKAGES if not find_spec(name)]
    if missing:
        raise ValueError(
            f"The arena requires {', '.join(PACKAGES)}, but {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not installed. Run it with: make arena"
        )


def predict_uncalibrated(given: MethodInput) -> FloatArray:
    """Return the classifier's probabilities, or the softmax of its decision values."""
    return _scores(clone(given.classifier).fit(given.X, given.y), given.X_test)


def _scores(model: Any, X: FloatArray) -> FloatArray:
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    decision = model.decision_function(X)
    if decision.ndim == 1:
        decision = np.column_stack([-decision, decision])
    return np.asarray(softmax(decision, axis=1))


def svc_probability(given: MethodInput) -> FloatArray:
    """Return the probabilities of ``SVC(probability=True)``.

    They are libsvm's: Platt scaling of every pair of classes, fitted to the held-out decision
    values of five folds, and coupled. scikit-learn 1.9 deprecates this parameter.
    """
    model = clone(given.uncached_classifier)
    model.set_params(probability=True, random_state=given.seed)
    return np.asarray(model.fit(given.X, given.y).predict_proba(given.X_test))


def scikit_learn(method: str, ensemble: bool) -> Method:
    """Return `CalibratedClassifierCV` with its default of five folds.

    The number of folds is deliberately not passed: if it were, scikit-learn would reject classes
    with fewer rows than folds.
    """

    def predict(given: MethodInput) -> FloatArray:
        model = CalibratedClassifierCV(given.classifier, method=method, ensemble=ensemble)
        return np.asarray(model.fit(given.X, given.y).predict_proba(given.X_test))

    return predict


def on_held_out_scores(calibrate: ScoreMethod, *, needs_all_classes: bool = True) -> Method:
    """Return a method that fits a calibrator to the held-out scores of ten folds.

    Fewer folds are used if no class has ten rows. Classes that are missing from the training rows
    of a fold get a score of 0.

    Parameters
    ----------
    calibrate : callable
        The calibrator.
    needs_all_classes : bool, default=True
        Whether to keep rows whose class is missing from the training rows of their fold. Without
        them, a class may have no rows at all, but their score of 0 distorts calibrators that take
        logarithms.

    Returns
    -------
    callable
        The method.
    """

    def predict(given: MethodInput) -> FloatArray:
        classes = np.unique(given.y)
        held_out = np.zeros((len(given.y), len(classes)))
        kept = np.ones(len(given.y), dtype=bool)
        n_folds = min(N_FOLDS, int(np.bincount(given.y).max()))
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=given.seed)
        for train, test in splitter.split(given.X, given.y):
            model = clone(given.classifier).fit(given.X[train], given.y[train])
            columns = np.searchsorted(classes, model.classes_)
            held_out[np.ix_(test, columns)] = _scores(model, given.X[test])
            kept[test] = needs_all_classes | np.isin(given.y[test], model.classes_)
        return calibrate(held_out[kept], given.y[kept], predict_uncalibrated(given))

    return predict


def probmetrics(name: str) -> ScoreMethod:
    """Return a calibrator from probmetrics, by its class or by its name in `get_calibrator`."""

    def calibrate(held_out: FloatArray, y: IndexArray, score: FloatArray) -> FloatArray:
        from probmetrics import calibrators

        if hasattr(calibrators, name):
            calibrator = getattr(calibrators, name)()
        else:
            calibrator = calibrators.get_calibrator(name)
        calibrator.fit(held_out, y)
        return np.asarray(calibrator.predict_proba(score), dtype=np.float64)

    return calibrate


def venn_abers(held_out: FloatArray, y: IndexArray, score: FloatArray) -> FloatArray:
    """Calibrate with the multi-class predictor of the venn-abers package."""
    from venn_abers import VennAbersCalibrator

    return np.asarray(
        VennAbersCalibrator().predict_proba(p_cal=held_out, y_cal=y, p_test=score),
        dtype=np.float64,
    )


def netcal(name: str) -> ScoreMethod:
    """Return a binning method from netcal."""

    def calibrate(held_out: FloatArray, y: IndexArray, score: FloatArray) -> FloatArray:
        from netcal import binning

        calibrator = getattr(binning, name)()
        calibrator.fit(held_out, y)
        calibrated = np.asarray(calibrator.transform(score), dtype=np.float64)
        if calibrated.ndim == 2:
            return calibrated
        return np.column_stack([1.0 - calibrated, calibrated])

    return calibrate


# The regularized scaling methods of probmetrics; "mix" adds Laplace smoothing. For more than two
# classes, its "logistic" is SMS.
SCALING_METHODS = {
    "probmetrics SMS": probmetrics("sms"),
    "probmetrics SMS, smoothed": probmetrics("logistic-mix"),
    "probmetrics SVS": probmetrics("svs"),
    "probmetrics temperature, smoothed": probmetrics("ts-mix"),
    "probmetrics ETS": probmetrics("ETSCalibrator"),
}
OTHER_METHODS = {
    "probmetrics vector scaling": probmetrics("VectorScalingCalibrator"),
    "probmetrics kernel": probmetrics("KernelCalibrator"),
    "probmetrics Venn-Abers, pairs": probmetrics("ivap-ovo"),
    "venn-abers": venn_abers,
    "netcal ENIR": netcal("ENIR"),
    "netcal BBQ": netcal("BBQ"),
}
PEERS: dict[str, Method] = {
    "scikit-learn sigmoid": scikit_learn("sigmoid", ensemble=False),
    "scikit-learn sigmoid, ensemble (default)": scikit_learn("sigmoid", ensemble=True),
    "scikit-learn isotonic": scikit_learn("isotonic", ensemble=False),
    "scikit-learn isotonic, ensemble": scikit_learn("isotonic", ensemble=True),
    "scikit-learn temperature": scikit_learn("temperature", ensemble=False),
    "scikit-learn temperature, ensemble": scikit_learn("temperature", ensemble=True),
    **{
        name: on_held_out_scores(calibrate, needs_all_classes=False)
        for name, calibrate in SCALING_METHODS.items()
    },
    **{name: on_held_out_scores(calibrate) for name, calibrate in OTHER_METHODS.items()},
}
# Methods that exist for the support vector machine only.
SVM_PEERS: dict[str, Method] = {"scikit-learn SVC(probability=True)": svc_probability}
