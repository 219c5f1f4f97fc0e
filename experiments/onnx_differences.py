"""Largest differences between exported models in onnxruntime and the originals.

Run with ``python -m experiments.onnx_differences``: it prints the tables of ``results/onnx``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from calibrant import CalibratedClassifier
from calibrant._core.rowwise import normalize_rows
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.calibrators import (
    ENIR,
    AutoCalibrator,
    BetaCalibrator,
    ClassFrequencies,
    ConstantCalibrator,
    DirichletCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    NoCalibration,
    OneVsRestCalibrator,
    PairwiseCalibrator,
    SigmoidCalibrator,
    StructuredMatrixScaling,
    TemperatureScaling,
    UpdateCalibrator,
    VectorScaling,
    VennAbersCalibrator,
)
from calibrant.onnx import largest_difference, to_onnx
from calibrant.onnx.coupling import COUPLINGS
from experiments.rendering import Table, plain_rows, render

CLASS_COUNTS = (2, 3, 10)
N_NEW = 2000

BINARY: dict[str, Any] = {
    "ENIR": ENIR(),
    "ENIR, floored": ENIR(floored=True),
    "isotonic": IsotonicCalibrator(),
    "centered isotonic": IsotonicCalibrator(centered=True),
    "sigmoid": SigmoidCalibrator(),
    "beta": BetaCalibrator(),
    "histogram": HistogramCalibrator(),
    "Venn-Abers": VennAbersCalibrator(),
    "constant": ConstantCalibrator(),
}
CALIBRATORS: dict[str, Any] = {
    "no calibration": NoCalibration(),
    "class frequencies": ClassFrequencies(),
    "temperature scaling": TemperatureScaling(),
    "vector scaling": VectorScaling(),
    "structured matrix scaling": StructuredMatrixScaling(),
    "Dirichlet": DirichletCalibrator(),
    "auto": AutoCalibrator(),
    "update": UpdateCalibrator(n_resamples=99),
    **{f"one-vs-rest {name}": OneVsRestCalibrator(each) for name, each in BINARY.items()},
    "one-vs-rest ENIR of log scores": OneVsRestCalibrator(ENIR(), log_scores=True),
    **{f"pairwise {name}": PairwiseCalibrator(each) for name, each in BINARY.items()},
    **{
        f"pairwise ENIR, floored, {coupling}": PairwiseCalibrator(
            ENIR(floored=True), coupling=coupling
        )
        for coupling in COUPLINGS
        if coupling != PairwiseCalibrator().coupling
    },
}
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "logistic regression": LogisticRegression,
    "naive Bayes": GaussianNB,
    "linear discriminant": LinearDiscriminantAnalysis,
    "quadratic discriminant": QuadraticDiscriminantAnalysis,
    "ridge": RidgeClassifier,
    "linear SVM": LinearSVC,
    "SVM": SVC,
    "nearest neighbors": KNeighborsClassifier,
    "neural network": lambda: MLPClassifier(max_iter=300, random_state=0),
    "decision tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "random forest": lambda: RandomForestClassifier(100, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(100, random_state=0),
    "gradient boosting": lambda: GradientBoostingClassifier(n_estimators=50, random_state=0),
    "scaled random forest": lambda: make_pipeline(
        StandardScaler(), RandomForestClassifier(100, max_depth=4, random_state=0)
    ),
}


def draw_scores(n_classes: int, seed: int) -> tuple[FloatArray, IndexArray, FloatArray]:
    """Draw scores and labels to fit, and scores to predict.

    Among both are ties and extremes: rounded scores, equal ones, zeros and ones, and scores as
    small as 1e-300. The scores to predict include those that were fitted.
    """
    rng = np.random.default_rng(seed)

    def draw(n_rows: int) -> FloatArray:
        random = rng.dirichlet(np.full(n_classes, 0.5), n_rows)
        rounded = random[: n_rows // 3].round(1) + 1e-3
        tiny = [np.where(np.eye(n_classes) == 1, 1.0, low) for low in (0.0, 1e-300, 1e-12)]
        half = (np.arange(n_classes) < 2)[None] / 2.0
        uniform = np.full((1, n_classes), 1.0 / n_classes)
        # Equal values stay equal, wherever they are in a row.
        return normalize_rows(np.vstack([*tiny, half, uniform, rounded, random]))

    score = draw(300)
    y = np.array(
        [rng.choice(n_classes, p=0.8 * row / row.sum() + 0.2 / n_classes) for row in score]
    )
    y[: 2 * n_classes] = np.tile(np.arange(n_classes), 2)
    return score, y, np.vstack([score, draw(N_NEW)])


def measure_calibrator(calibrator: Any, n_classes: int, seed: int = 0) -> float:
    """Return the largest difference of a calibrator."""
    score, y, new = draw_scores(n_classes, seed)
    fitted = calibrator.fit(score, y)
    return largest_difference(to_onnx(fitted), fitted, new)


def draw_rows(n_classes: int, seed: int) -> tuple[FloatArray, IndexArray, FloatArray]:
    """Draw rows and labels to fit, and rows to predict, of which some are far outside."""
    X, y = make_classification(
        300,
        8,
        n_informative=6,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=0.7,
        random_state=seed,
    )
    rng = np.random.default_rng(seed)
    return X, y, np.vstack([X, 3.0 * rng.normal(size=(N_NEW, X.shape[1])), np.zeros((1, 8))])


def measure_classifier(
    estimator: Any, n_classes: int, *, seed: int = 0, **parameters: Any
) -> float:
    """Return the largest difference of a calibrated classifier."""
    X, y, new = draw_rows(n_classes, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CalibratedClassifier(estimator, cv=5, random_state=0, **parameters).fit(X, y)
        return largest_difference(to_onnx(model), model, new)


def make_tables() -> list[Table]:
    """Measure all calibrators, and all estimators with the default calibration."""
    measured = {
        "calibrator": {
            name: partial(measure_calibrator, each) for name, each in CALIBRATORS.items()
        },
        "estimator": {
            name: partial(measure_classifier, make()) for name, make in ESTIMATORS.items()
        },
    }
    titles = ("Calibrators alone", "Calibrated classifiers, by estimator")
    return [
        Table(
            title,
            [kind, *(f"{n_classes} classes" for n_classes in CLASS_COUNTS)],
            plain_rows(
                [name, *(f"{measure(n_classes):.0e}" for n_classes in CLASS_COUNTS)]
                for name, measure in cases.items()
            ),
        )
        for title, (kind, cases) in zip(titles, measured.items(), strict=True)
    ]


def main() -> None:
    """Print the tables."""
    print("\n".join(render(table, "markdown") for table in make_tables()), end="")


if __name__ == "__main__":
    main()
