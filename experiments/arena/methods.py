"""All methods of the arena by name."""

from __future__ import annotations

from typing import Any

from calibrant import CalibratedClassifier
from calibrant._core.typing import FloatArray
from calibrant.calibrators import (
    ENIR,
    BetaCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    OneVsRestCalibrator,
    SigmoidCalibrator,
    VennAbersCalibrator,
)
from calibrant.generation import RepeatedFolds
from experiments.arena.inputs import Method, MethodInput
from experiments.arena.peers import PEERS, SVM_PEERS, predict_uncalibrated

# Uncalibrated probabilities, and the default of calibrant.
RAW, AUTO = "raw", "auto"


def calibrant_method(method: Any, cv: Any = "auto", **parameters: Any) -> Method:
    """Return a method of calibrant.

    Parameters
    ----------
    method, cv
        Parameters of `CalibratedClassifier`.
    **parameters : dict
        Further parameters of `CalibratedClassifier`.

    Returns
    -------
    callable
        The method.
    """

    def predict(given: MethodInput) -> FloatArray:
        # The cache hides the type by which calibrant recognizes classifiers that need no refits.
        # A method with its own splits makes thousands of fits that no other method shares.
        use_cache = cv == "auto" and given.needs_refits
        model = CalibratedClassifier(
            given.classifier if use_cache else given.uncached_classifier,
            method=method,
            cv=cv,
            random_state=given.seed,
            **parameters,
        )
        return model.fit(given.X, given.y).predict_proba(given.X_test)

    return predict


BINARY_CALIBRATORS = {
    "ENIR": ENIR(floored=True),
    "sigmoid": SigmoidCalibrator(),
    "beta": BetaCalibrator(),
    "isotonic": IsotonicCalibrator(),
    "centered isotonic": IsotonicCalibrator(centered=True),
    "Venn-Abers": VennAbersCalibrator(),
    "histogram": HistogramCalibrator(),
}
GENERAL_METHODS: dict[str, Method] = {
    RAW: predict_uncalibrated,
    AUTO: calibrant_method("auto"),
    "temperature": calibrant_method("temperature"),
    "vector scaling": calibrant_method("vector"),
    "matrix scaling": calibrant_method("matrix"),
    "Dirichlet": calibrant_method("dirichlet"),
    **{
        f"pairwise {name}": calibrant_method(calibrator)
        for name, calibrator in BINARY_CALIBRATORS.items()
    },
    **{
        f"one-vs-rest {name}": calibrant_method(OneVsRestCalibrator(calibrator))
        for name, calibrator in BINARY_CALIBRATORS.items()
    },
    **PEERS,
}
# The paper's methods fit a model for every binary problem and split, which takes hours with most
# classifiers.
PAPER_METHODS: dict[str, Method] = {
    "one-vs-rest DGG+ENIR": calibrant_method("enir", strategy="one-vs-rest"),
    "all pairs DGG+ENIR": calibrant_method("enir", strategy="all-pairs"),
}
# Sources of held-out scores for forests, by strategy.
OUT_OF_BAG_METHODS: dict[str, Method] = {
    RAW: predict_uncalibrated,
    "auto, repeated folds": calibrant_method("auto", RepeatedFolds()),
    "auto, out-of-bag": calibrant_method("auto", "oob"),
    **{
        f"{strategy} ENIR, {name}": calibrant_method(ENIR(floored=True), cv, strategy=strategy)
        for strategy in ("direct", "one-vs-rest", "all-pairs")
        for name, cv in {"Monte Carlo": "monte-carlo", "out-of-bag": "oob"}.items()
    },
}
# Methods that run with one classifier only, and its name.
CLASSIFIER_OF = dict.fromkeys(PAPER_METHODS, "nb") | dict.fromkeys(SVM_PEERS, "svm")
ARENA_METHODS = GENERAL_METHODS | PAPER_METHODS | SVM_PEERS
METHODS: dict[str, Method] = ARENA_METHODS | OUT_OF_BAG_METHODS
