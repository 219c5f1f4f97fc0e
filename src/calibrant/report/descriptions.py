"""How models were fitted, in words, for the methods section of a paper."""

from __future__ import annotations

from inspect import signature
from typing import Any

from numpy.typing import ArrayLike
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from calibrant._core.validation import check_rows
from calibrant.calibrators import AutoCalibrator
from calibrant.classifier import CalibratedClassifier
from calibrant.generation import (
    CrossFit,
    FrozenModel,
    Generator,
    GroupedVotes,
    MonteCarloCV,
    OutOfBag,
    RepeatedFolds,
    ResampledFolds,
)
from calibrant.report.evaluation import FitDescription
from calibrant.strategies import STRATEGIES

# Where the held-out scores come from; generators of other kinds are called by their name.
SOURCES: dict[type[Generator], str] = {
    OutOfBag: "out-of-bag votes",
    GroupedVotes: "votes of small ensembles fitted without the groups that they vote on",
    MonteCarloCV: "Monte Carlo cross-validation",
    ResampledFolds: "repeated cross-validation, in part with resampled training rows",
    RepeatedFolds: "repeated cross-validation",
    CrossFit: "cross-validation",
}
# Parameters that do not belong to the model.
UNREPORTED = ("random_state", "n_jobs", "verbose")
LONGEST_ESTIMATOR = 200
AVERAGE = (
    "a weighted average of calibrators that was chosen by held-out log loss and shrunk toward no "
    "calibration"
)


def describe_classifier(
    name: str, classifier: CalibratedClassifier, X: Any, y: ArrayLike, groups: ArrayLike | None
) -> FitDescription:
    """Say how a classifier is fitted and calibrated.

    Parameters
    ----------
    name : str
        Name of the model.
    classifier : CalibratedClassifier
        The fitted classifier.
    X, y, groups : array-like
        What it was fitted on.

    Returns
    -------
    FitDescription
        The description.
    """
    estimator, strategy, calibrator = classifier._check_parameters()
    names = {kind: each for each, kind in STRATEGIES.items()}
    by = names.get(type(strategy), type(strategy).__name__)
    problems = "" if by == "direct" else f" with the {by} strategy"
    if calibrator is None:
        sentence = f"{{subjects}} {{were}} fitted{problems}, without calibration."
    else:
        method = describe_method(classifier.method, calibrator)
        sentence = f"{{subjects}} {{were}} calibrated{problems} by {method}, using "
        sentence += _describe_scores(classifier, X, y, groups)
    return FitDescription(f"{name} ({name_estimator(estimator)})", sentence)


def _describe_scores(
    classifier: CalibratedClassifier, X: Any, y: ArrayLike, groups: ArrayLike | None
) -> str:
    """Say which scores the calibrators were fitted to, as the end of a sentence."""
    _, generator = classifier._choose_generator(check_rows(X, y, None, groups))
    if isinstance(generator, FrozenModel):
        return "scores of the training rows by a model that had been fitted before."
    source = SOURCES.get(type(generator), type(generator).__name__)
    votes = ""
    if classifier.calibration_report_.n_ensemble:
        votes = (
            " The models refitted for this purpose also predict, with a weight chosen by held-out "
            "log loss."
        )
    return f"held-out scores of the training rows ({source}).{votes}"


def describe_method(method: Any, calibrator: Any) -> str:
    """Name a calibration method within a sentence."""
    if isinstance(calibrator, AutoCalibrator):
        return AVERAGE
    if isinstance(method, str) and method != "auto":
        return f"the method {method!r}"
    return type(calibrator).__name__


def name_estimator(estimator: Any) -> str:
    """Return the type of an estimator with the parameters that differ from its defaults.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from calibrant.report.descriptions import name_estimator
    >>> name_estimator(RandomForestClassifier(300, random_state=0))
    'RandomForestClassifier(n_estimators=300)'
    """
    if isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    if isinstance(estimator, FrozenEstimator):
        estimator = estimator.estimator
    name = type(estimator).__name__
    if not hasattr(estimator, "get_params"):
        return name
    defaults = signature(type(estimator)).parameters
    changed = [
        f"{key}={value!r}"
        for key, value in estimator.get_params(deep=False).items()
        if key not in UNREPORTED and key in defaults and repr(defaults[key].default) != repr(value)
    ]
    spelled = " ".join(f"{name}({', '.join(changed)})".split()) if changed else name
    return spelled if len(spelled) <= LONGEST_ESTIMATOR else name
