"""Data and models -> held-out probabilities, before and after calibration."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from calibrant._core.fitting import LARGEST_SEED
from calibrant._core.problems import class_scores, is_scored, problem_score, take_rows
from calibrant._core.signals import ignore_interrupts_in_worker
from calibrant._core.splits import group_folds, stratified_folds
from calibrant._core.typing import FloatArray, IndexArray, Split
from calibrant._core.validation import check_classes, check_groups, check_labels
from calibrant.calibrators import AutoCalibrator
from calibrant.calibrators.report import CalibrationReport
from calibrant.classifier import CalibratedClassifier

Progress = Callable[[Iterable[Any], int], Iterator[Any]]

# The place of a fit on all rows among those of the splits.
ALL_ROWS = -1


@dataclass(frozen=True, eq=False)
class ModelEvaluation:
    """Held-out probabilities of one model.

    Attributes
    ----------
    name : str
        The name of the model.
    before, after : ndarray of shape (n_points, n_classes)
        Its probabilities of rows that it had not been fitted on, as they are and calibrated.
    choice : CalibrationReport or None
        What the calibration of all rows chose; None where it had no choice.
    warnings : tuple of str
        What fitting on all rows warned of.
    has_proba : bool
        Whether the model has probabilities of its own; else the softmax of its decision
        values stands for them.
    """

    name: str
    before: FloatArray
    after: FloatArray
    choice: CalibrationReport | None = None
    warnings: tuple[str, ...] = ()
    has_proba: bool = True


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What repeated cross-validation of some models gave.

    A point is a row in one of the splits that held it out.

    Attributes
    ----------
    classes : tuple
        The labels of the classes, sorted.
    y : ndarray of shape (n_rows,)
        The class of each row, as a column number.
    unit : ndarray of shape (n_rows,)
        The number of the group that each row belongs to, or of the row where it stands alone.
    row, split : ndarray of shape (n_points,)
        The row and the split of each point. Splits of a repeat follow one another.
    n_folds, n_repeats : int
        Folds of each repeat, and repeats.
    models : tuple of ModelEvaluation
        The models.
    seed : int
        What decided everything random.
    """

    classes: tuple[Any, ...]
    y: IndexArray
    unit: IndexArray
    row: IndexArray
    split: IndexArray
    n_folds: int
    n_repeats: int
    models: tuple[ModelEvaluation, ...]
    seed: int

    @property
    def true(self) -> IndexArray:
        """The class of each point."""
        return self.y[self.row]

    @property
    def weight(self) -> FloatArray:
        """The weight of each point: every row counts once, however often it was held out."""
        return 1.0 / np.bincount(self.row)[self.row]

    @property
    def rows(self) -> IndexArray:
        """The rows that were held out at least once."""
        return np.unique(self.row)

    @property
    def class_count(self) -> IndexArray:
        """The number of rows of each class."""
        return np.bincount(self.y, minlength=len(self.classes))

    def row_means(self, values: FloatArray) -> FloatArray:
        """Average values of points over the splits, one entry for each of ``rows``."""
        total = np.zeros((len(self.y), *values.shape[1:]))
        np.add.at(total, self.row, (self.weight * values.T).T)
        return total[self.rows]


def evaluate_models(
    X: Any,
    y: ArrayLike,
    models: Mapping[str, CalibratedClassifier],
    *,
    groups: ArrayLike | None = None,
    n_folds: int = 5,
    n_repeats: int = 3,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Cross-validate models repeatedly, each as it is and calibrated.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The features: an array or a data frame.
    y : array-like of shape (n_rows,)
        Class labels.
    models : mapping of str to CalibratedClassifier
        The models, by name.
    groups : array-like of shape (n_rows,), default=None
        Rows that must not be parted.
    n_folds, n_repeats : int
        Stratified folds, and how often they are dealt. There are fewer folds where the
        largest class, or the number of groups, does not fill them.
    random_state : int, default=0
        The seed.
    n_jobs : int, default=None
        The number of parallel fits.
    progress : callable, default=None
        Called with the finished work and its amount; yields it on.

    Returns
    -------
    Evaluation
        The held-out probabilities.
    """
    labels, names, splits, rng = _plan(y, groups, n_folds, n_repeats, random_state)
    # The fits on all rows are the longest and come first; then one split after the other, so
    # that the time left is that of all models.
    everything = np.arange(len(labels))
    work = [(name, ALL_ROWS, (everything, everything[:0])) for name in models]
    work += [(name, place, split) for place, split in enumerate(splits) for name in models]
    seeds = rng.randint(LARGEST_SEED, size=len(work))
    finished: Iterable[Any] = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_fit_and_score)((name, place), models[name], X, labels, names, split, seed)
        for (name, place, split), seed in zip(work, seeds, strict=True)
    )
    done: dict[tuple[str, int], _Fitted] = dict(
        progress(finished, len(work)) if progress else finished
    )
    parts = {name: [done[name, place] for place in range(len(splits))] for name in models}
    classes, index = np.unique(labels, return_inverse=True)
    return _evaluation(
        classes,
        index,
        names,
        splits,
        n_repeats,
        random_state,
        [
            ModelEvaluation(
                name,
                np.concatenate([part.before for part in own]),
                np.concatenate([part.after for part in own]),
                done[name, ALL_ROWS].choice,
                done[name, ALL_ROWS].warnings,
                done[name, ALL_ROWS].has_proba,
            )
            for name, own in parts.items()
        ],
    )


def evaluate_probabilities(
    proba: ArrayLike,
    y: ArrayLike,
    classes: Sequence[Any] | None = None,
    *,
    calibrator: Any = None,
    name: str = "your model",
    groups: ArrayLike | None = None,
    n_folds: int = 5,
    n_repeats: int = 3,
    random_state: int = 0,
) -> Evaluation:
    """Cross-fit the calibration of probabilities that someone else's model gave.

    Parameters
    ----------
    proba : array-like of shape (n_rows, n_classes)
        Probabilities of rows that the model had not been fitted on.
    y : array-like of shape (n_rows,)
        True labels.
    classes : sequence, default=None
        The labels of the columns; None are the sorted labels of ``y``.
    calibrator : calibrator, default=None
        A calibrator of whole rows; None is `AutoCalibrator`.
    name : str, default="your model"
        What to call the model.
    groups, n_folds, n_repeats, random_state
        As for `evaluate_models`.

    Returns
    -------
    Evaluation
        The given probabilities, and calibrated ones of rows that the calibration had not seen.

    Examples
    --------
    >>> from calibrant.calibrators import TemperatureScaling
    >>> from calibrant.report import evaluate_probabilities, find
    >>> y = ["no", "no", "no", "yes"] * 25 + ["yes", "yes", "yes", "no"] * 25
    >>> overconfident = [[0.99, 0.01]] * 100 + [[0.01, 0.99]] * 100
    >>> evaluation = evaluate_probabilities(overconfident, y, calibrator=TemperatureScaling())
    >>> [model] = find(evaluation).models
    >>> print(model.fault.trust, model.gain.effect)
    no better
    """
    scores = np.asarray(proba, dtype=np.float64)
    labels = check_labels(y)
    own = np.unique(labels) if classes is None else np.array(classes)
    order = np.argsort(own)
    index = order[np.searchsorted(own, labels, sorter=order)]
    index, names, splits, _ = _plan(index, groups, n_folds, n_repeats, random_state)
    calibrator = AutoCalibrator() if calibrator is None else calibrator
    is_auto = isinstance(calibrator, AutoCalibrator)

    def fit(rows: IndexArray) -> Any:
        known = {} if names is None or not is_auto else {"groups": names[rows]}
        return clone(calibrator).fit(scores[rows], index[rows], **known)

    after = np.concatenate([fit(train).predict_proba(scores[test]) for train, test in splits])
    fitted = fit(np.arange(len(index)))
    row = np.concatenate([test for _, test in splits])
    choice = fitted.report_.with_labels(own) if is_auto else None
    model = ModelEvaluation(name, scores[row], after, choice)
    return _evaluation(own, index, names, splits, n_repeats, random_state, [model])


@dataclass(frozen=True, eq=False)
class _Fitted:
    """What one fit gave, as in `ModelEvaluation`."""

    before: FloatArray
    after: FloatArray
    choice: CalibrationReport | None
    warnings: tuple[str, ...]
    has_proba: bool


def _plan(
    y: ArrayLike, groups: ArrayLike | None, n_folds: int, n_repeats: int, random_state: int
) -> tuple[NDArray[Any], NDArray[Any] | None, list[Split], np.random.RandomState]:
    """Check labels and groups, and draw the splits."""
    labels = check_labels(y)
    index = np.searchsorted(check_classes(labels), labels)
    names = None if groups is None else check_groups(groups)
    rng = check_random_state(random_state)
    most = int(np.bincount(index).max()) if names is None else len(np.unique(names))
    n_folds = min(n_folds, most)
    for rule, value in (("folds", n_folds), ("repeats", n_repeats)):
        least = 2 if rule == "folds" else 1
        if value < least:
            raise ValueError(
                f"The number of {rule} must be at least {least}. Got {value}. "
                "Use more, or add rows."
            )
    splits = []
    for _ in range(n_repeats):
        held_out = (
            stratified_folds(index, n_folds, rng)
            if names is None
            else group_folds(index, names, n_folds, rng)
        )
        splits += [(np.flatnonzero(~test), np.flatnonzero(test)) for test in held_out]
    if sum(len(test) > 0 for _, test in splits) < 2:
        raise ValueError(
            "Classes must have rows in two groups at least, to learn from one and test on another. "
            f"Got {len(np.unique(labels))} classes that lie in one group each. Choose other groups."
        )
    return labels, names, splits, rng


def _evaluation(
    classes: NDArray[Any],
    y: IndexArray,
    groups: NDArray[Any] | None,
    splits: list[Split],
    n_repeats: int,
    seed: int,
    models: list[ModelEvaluation],
) -> Evaluation:
    unit = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    return Evaluation(
        classes=tuple(classes.tolist()),
        y=y,
        unit=unit,
        row=np.concatenate([test for _, test in splits]),
        split=np.repeat(np.arange(len(splits)), [len(test) for _, test in splits]),
        n_folds=len(splits) // n_repeats,
        n_repeats=n_repeats,
        models=tuple(models),
        seed=seed,
    )


def _fit_and_score(
    key: tuple[str, int],
    estimator: CalibratedClassifier,
    X: Any,
    labels: NDArray[Any],
    groups: NDArray[Any] | None,
    split: Split,
    seed: int,
) -> tuple[tuple[str, int], _Fitted]:
    """Fit on the training rows; score the others before and after calibration."""
    ignore_interrupts_in_worker()
    train, test = split
    model = clone(estimator).set_params(random_state=int(seed))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(
            take_rows(X, train), labels[train], groups=None if groups is None else groups[train]
        )
        before = after = np.empty((0, len(model.classes_)))
        if len(test):
            rows = take_rows(X, test)
            before, after = _uncalibrated(model, rows), model.predict_proba(rows)
    return key, _Fitted(
        before,
        after,
        getattr(model, "calibration_report_", None),
        tuple(dict.fromkeys(str(warning.message) for warning in caught)),
        hasattr(model.estimators_[0], "predict_proba"),
    )


def _uncalibrated(classifier: CalibratedClassifier, X: Any) -> FloatArray:
    """Probabilities of the model inside, fitted on the same rows; shares where it has none."""
    proba = problem_score(*class_scores(classifier.estimators_[0], X), binary=False)
    shares = classifier.class_count_ / classifier.class_count_.sum()
    return np.where(is_scored(proba)[:, None], proba, shares)
