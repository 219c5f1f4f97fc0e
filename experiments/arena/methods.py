"""All methods of the arena by name."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

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
from experiments.arena.splits import N_FITS, SPLIT_KINDS

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


def splits_method(kind: str, n_fits: int, ensemble: Any = "auto") -> Method:
    """Return the default of calibrant with other splits.

    Parameters
    ----------
    kind : str
        The kind of splits, a key of `SPLIT_KINDS`.
    n_fits : int
        The number of splits. Fewer splits of the same kind are the first of more.
    ensemble : "auto" or bool, default="auto"
        Parameter of `CalibratedClassifier`.

    Returns
    -------
    callable
        The method.
    """

    def predict(given: MethodInput) -> FloatArray:
        splits = SPLIT_KINDS[kind](given.y, np.random.RandomState(given.seed))
        model = CalibratedClassifier(
            given.classifier if given.needs_refits else given.uncached_classifier,
            cv=list(islice(splits, n_fits)),
            ensemble=ensemble,
            random_state=given.seed,
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
# The splits of the default with fewer than 1,000 rows.
DEFAULT_SPLITS = "4 resampled folds, 20 fits"
SPLITS_METHODS: dict[str, Method] = {
    RAW: predict_uncalibrated,
    DEFAULT_SPLITS: calibrant_method("auto"),
    **{
        f"{kind}, {n_fits} fits": splits_method(kind, n_fits)
        for kind, numbers in N_FITS.items()
        for n_fits in numbers
    },
    **{
        f"{kind}, 20 fits, no votes": splits_method(kind, 20, ensemble=False)
        for kind in ("5 folds", "bootstrap")
    },
}
# Methods that run with one classifier only, and its name.
CLASSIFIER_OF = dict.fromkeys(PAPER_METHODS, "nb") | dict.fromkeys(SVM_PEERS, "svm")
ARENA_METHODS = GENERAL_METHODS | PAPER_METHODS | SVM_PEERS
METHODS: dict[str, Method] = ARENA_METHODS | OUT_OF_BAG_METHODS | SPLITS_METHODS
