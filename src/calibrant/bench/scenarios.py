"""The paper's five calibration scenarios as data: name -> estimator."""

from __future__ import annotations

from typing import Any

from calibrant.classifier import CalibratedClassifier

MULTICLASS_RAW = "multi-class raw"

SCENARIOS: dict[str, dict[str, Any] | None] = {
    MULTICLASS_RAW: None,
    "one-vs-rest raw": {"strategy": "one-vs-rest", "method": None},
    "one-vs-rest DGG+ENIR": {"strategy": "one-vs-rest", "method": "enir", "cv": "monte-carlo"},
    "all pairs raw": {"strategy": "all-pairs", "method": None},
    "all pairs DGG+ENIR": {"strategy": "all-pairs", "method": "enir", "cv": "monte-carlo"},
}


def scenario(name: str, estimator: Any, **options: Any) -> Any:
    """Return the estimator of a scenario.

    Parameters
    ----------
    name : str
        One of ``SCENARIOS``.
    estimator : classifier
        The classifier to calibrate.
    **options : dict
        Further parameters of `CalibratedClassifier`: ``n_jobs``, ``random_state``.

    Returns
    -------
    classifier
        The estimator itself for "multi-class raw", a `CalibratedClassifier` otherwise.
    """
    parameters = SCENARIOS[name]
    if parameters is None:
        return estimator
    return CalibratedClassifier(estimator, **parameters, **options)
