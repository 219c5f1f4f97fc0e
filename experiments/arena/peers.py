"""What people use today, each as a function: classifier and rows in, probabilities out.

Peers are imported where they are used; calibrant does not depend on them. The environment
that has them all is made by ``make arena``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

FloatArray = NDArray[np.float64]
# Takes a classifier, training rows, their classes, rows to predict, and a seed.
Method = Callable[[Any, FloatArray, NDArray[np.intp], FloatArray, int], FloatArray]
# Takes out-of-fold scores, their classes, and scores to map.
ScoreMethod = Callable[[FloatArray, NDArray[np.intp], FloatArray], FloatArray]

N_FOLDS = 10


def check_peers() -> None:
    """Refuse to run the arena without its peers: their absence would be stored as a result."""
    missing = [name for name in ("probmetrics", "venn_abers", "netcal") if not find_spec(name)]
    if missing:
        raise ValueError(
            f"The arena needs its peers. Got an environment without {', '.join(missing)}. "
            "Run it with: make arena"
        )


def raw(
    classifier: Any,
    X: FloatArray,
    y: NDArray[np.intp],
    X_new: FloatArray,
    seed: int,  # noqa: ARG001 (a method's signature)
) -> FloatArray:
    """Return the classifier's own probabilities, or the softmax of its decision values."""
    return scores(clone(classifier).fit(X, y), X_new)


def scores(model: Any, X: FloatArray) -> FloatArray:
    """Probabilities of a fitted model, or the softmax of its decision values."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    decision = model.decision_function(X)
    if decision.ndim == 1:
        decision = np.column_stack([-decision, decision])
    return np.asarray(softmax(decision, axis=1))


def scikit_learn(method: str, ensemble: bool) -> Method:
    """Return scikit-learn's CalibratedClassifierCV with its usual five folds.

    They are left to its default: five asked for by number are refused where a class has fewer rows.
    """

    def run(
        classifier: Any,
        X: FloatArray,
        y: NDArray[np.intp],
        X_new: FloatArray,
        seed: int,  # noqa: ARG001 (a method's signature)
    ) -> FloatArray:
        model = CalibratedClassifierCV(classifier, method=method, ensemble=ensemble)
        return np.asarray(model.fit(X, y).predict_proba(X_new))

    return run


def on_out_of_fold_scores(calibrate: ScoreMethod) -> Method:
    """Return a score-level method, applied to out-of-fold scores of ten folds.

    Of fewer where no class has ten rows; scores of classes that a fold's model lacks are 0.
    """

    def run(
        classifier: Any, X: FloatArray, y: NDArray[np.intp], X_new: FloatArray, seed: int
    ) -> FloatArray:
        held_out = np.zeros((len(y), len(np.unique(y))))
        n_folds = min(N_FOLDS, int(np.bincount(y).max()))
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        for train, test in splitter.split(X, y):
            model = clone(classifier).fit(X[train], y[train])
            held_out[np.ix_(test, np.searchsorted(np.unique(y), model.classes_))] = scores(
                model, X[test]
            )
        return calibrate(held_out, y, raw(classifier, X, y, X_new, seed))

    return run


def probmetrics(name: str) -> ScoreMethod:
    """Return a calibrator of probmetrics."""

    def calibrate(held_out: FloatArray, y: NDArray[np.intp], score: FloatArray) -> FloatArray:
        from probmetrics.calibrators import get_calibrator

        calibrator = get_calibrator(name)
        calibrator.fit(held_out, y)
        return np.asarray(calibrator.predict_proba(score), dtype=np.float64)

    return calibrate


def venn_abers(held_out: FloatArray, y: NDArray[np.intp], score: FloatArray) -> FloatArray:
    """Map scores by the multi-class Venn-Abers of the venn-abers package."""
    from venn_abers import VennAbersCalibrator

    return np.asarray(
        VennAbersCalibrator().predict_proba(p_cal=held_out, y_cal=y, p_test=score),
        dtype=np.float64,
    )


def netcal(name: str) -> ScoreMethod:
    """Return a binning method of netcal."""

    def calibrate(held_out: FloatArray, y: NDArray[np.intp], score: FloatArray) -> FloatArray:
        from netcal import binning

        calibrator = getattr(binning, name)()
        calibrator.fit(held_out, y)
        mapped = np.asarray(calibrator.transform(score), dtype=np.float64)
        return mapped if mapped.ndim == 2 else np.column_stack([1.0 - mapped, mapped])

    return calibrate


PEERS: dict[str, Method] = {
    f"scikit-learn {method}{', ensemble' if ensemble else ''}": scikit_learn(method, ensemble)
    for method in ("sigmoid", "isotonic", "temperature")
    for ensemble in (False, True)
} | {
    name: on_out_of_fold_scores(calibrate)
    for name, calibrate in {
        "probmetrics SMS": probmetrics("sms"),
        "probmetrics SVS": probmetrics("svs"),
        "probmetrics Dirichlet": probmetrics("dircal"),
        "venn-abers": venn_abers,
        "netcal ENIR": netcal("ENIR"),
        "netcal BBQ": netcal("BBQ"),
    }.items()
}
