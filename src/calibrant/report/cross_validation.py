"""Repeated cross-validation of models and calibrators."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from calibrant._core.fitting import LARGEST_SEED
from calibrant._core.labels import check_labels
from calibrant._core.phrases import count
from calibrant._core.problems import take_rows
from calibrant._core.splits import make_folds
from calibrant._core.typing import IndexArray, Split
from calibrant._core.validation import check_classes, check_groups
from calibrant._core.workers import Progress, distribute
from calibrant.classifier import CalibratedClassifier
from calibrant.report.descriptions import describe_classifier
from calibrant.report.evaluation import Evaluation, ModelEvaluation

# Stands for the fit on all rows among the indices of the splits.
ALL_ROWS = -1


@dataclass(frozen=True)
class EvaluationSettings:
    """Settings of a repeated cross-validation.

    Attributes
    ----------
    n_folds : int
        Number of stratified folds. It is lowered if the largest class has fewer rows or if
        there are fewer groups.
    n_repeats : int
        Number of times that the rows are split into folds.
    random_state : int
        Seed of the splits and the fits.
    n_jobs : int or None
        Number of parallel fits. ``None`` means 1 and -1 means one per core.
    """

    n_folds: int = 5
    n_repeats: int = 3
    random_state: int = 0
    n_jobs: int | None = None


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
    """Evaluate models, uncalibrated and calibrated, by repeated cross-validation.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Features, as an array or a data frame.
    y : array-like of shape (n_rows,)
        Class labels.
    models : mapping of str to CalibratedClassifier
        Unfitted models by name.
    groups : array-like of shape (n_rows,), default=None
        Group of each row. Rows of one group are always in the same fold. ``None`` means
        ungrouped.
    n_folds : int, default=5
        Number of stratified folds. It is lowered if the largest class has fewer rows or if
        there are fewer groups.
    n_repeats : int, default=3
        Number of times that the rows are split into folds.
    random_state : int, default=0
        Seed of the splits and the fits.
    n_jobs : int, default=None
        Number of parallel fits. ``None`` means 1 and -1 means one per core.
    progress : callable, default=None
        Wraps the iterator of finished fits, for example to show a progress bar. It is called
        with the iterator and the number of fits.

    Returns
    -------
    Evaluation
        The held-out predictions.
    """
    settings = EvaluationSettings(n_folds, n_repeats, random_state, n_jobs)
    return cross_validate_models(X, y, models, settings, groups=groups, progress=progress)


def cross_validate_models(
    X: Any,
    y: ArrayLike,
    models: Mapping[str, CalibratedClassifier],
    settings: EvaluationSettings,
    *,
    groups: ArrayLike | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Do what `evaluate_models` does, with its settings as a record."""
    labels = check_labels(y)
    classes = check_classes(labels)
    group_names = None if groups is None else check_groups(groups)
    return cross_validate(
        [ClassifierFit(name, model, X, labels, group_names) for name, model in models.items()],
        Labels(classes, np.searchsorted(classes, labels), group_names),
        settings,
        progress,
    )


class Fit(Protocol):
    """Fits a model on training rows and predicts test rows."""

    @property
    def name(self) -> str:
        """Name of the model."""
        ...

    def __call__(self, train: IndexArray, test: IndexArray, seed: int) -> ModelEvaluation:
        """Return the predictions of the test rows."""
        ...


class Labels(NamedTuple):
    """The label of each column, and the class index and group of each row."""

    classes: NDArray[Any]
    y: IndexArray
    groups: NDArray[Any] | None


def cross_validate(
    fits: Sequence[Fit],
    labels: Labels,
    settings: EvaluationSettings,
    progress: Progress | None = None,
) -> Evaluation:
    """Predict the test rows of each split with each model, and fit each model on all rows."""
    rng = check_random_state(settings.random_state)
    splits = draw_splits(labels, settings, rng)
    # The fits on all rows come first because they take longest. After that, the models alternate,
    # so that the estimate of the time left is based on all of them.
    all_rows = np.arange(len(labels.y))
    work = [(fit, ALL_ROWS, (all_rows, all_rows[:0])) for fit in fits]
    work += [(fit, number, split) for number, split in enumerate(splits) for fit in fits]
    seeds = rng.randint(LARGEST_SEED, size=len(work)).tolist()
    calls = [(*item, seed) for item, seed in zip(work, seeds, strict=True)]
    finished = distribute(run_fit, calls, settings.n_jobs)
    done: dict[tuple[str, int], ModelEvaluation] = dict(
        progress(finished, len(work)) if progress else finished
    )
    test_rows = [test for _, test in splits]
    _, group = np.unique(all_rows if labels.groups is None else labels.groups, return_inverse=True)
    return Evaluation(
        classes=tuple(labels.classes.tolist()),
        y=labels.y,
        group=group,
        row=np.concatenate(test_rows),
        split=np.repeat(np.arange(len(splits)), [len(test) for test in test_rows]),
        n_folds=len(splits) // settings.n_repeats,
        n_repeats=settings.n_repeats,
        models=tuple(
            _concatenate(done[fit.name, ALL_ROWS], [done[fit.name, k] for k in range(len(splits))])
            for fit in fits
        ),
        random_state=settings.random_state,
    )


def draw_splits(
    labels: Labels, settings: EvaluationSettings, rng: np.random.RandomState
) -> list[Split]:
    """Draw the splits of all repeats."""
    _, y = np.unique(labels.y, return_inverse=True)
    groups = labels.groups
    most = int(np.bincount(y).max()) if groups is None else len(np.unique(groups))
    n_folds = min(settings.n_folds, most)
    for rule, value, least in (("folds", n_folds, 2), ("repeats", settings.n_repeats, 1)):
        if value < least:
            raise ValueError(
                f"The number of {rule} must be at least {least}, got {value}. Raise it or add rows."
            )
    splits = [
        (np.flatnonzero(~test), np.flatnonzero(test))
        for _ in range(settings.n_repeats)
        for test in make_folds(y, groups, n_folds, rng)
    ]
    if sum(len(test) > 0 for _, test in splits) < 2:
        raise ValueError(
            "Some class must have rows in at least two groups, one to fit on and one to test on, "
            f"got {count(len(np.unique(y)), 'class', 'classes')} with one group each. Choose other "
            "groups."
        )
    return splits


def run_fit(
    fit: Fit, number: int, split: Split, seed: int
) -> tuple[tuple[str, int], ModelEvaluation]:
    """Fit on and predict one split, and record warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = fit(*split, seed)
    messages = dict.fromkeys(str(warning.message) for warning in caught)
    return (fit.name, number), replace(result, warnings=tuple(messages))


def _concatenate(on_all_rows: ModelEvaluation, parts: list[ModelEvaluation]) -> ModelEvaluation:
    """Join the predictions of the splits and keep the report of the fit on all rows."""
    return replace(
        on_all_rows,
        uncalibrated=np.concatenate([part.uncalibrated for part in parts]),
        calibrated=np.concatenate([part.calibrated for part in parts]),
    )


@dataclass(frozen=True, eq=False)
class ClassifierFit:
    """Fits a classifier on training rows and predicts test rows."""

    name: str
    classifier: CalibratedClassifier
    X: Any
    labels: NDArray[Any]
    groups: NDArray[Any] | None

    def __call__(self, train: IndexArray, test: IndexArray, seed: int) -> ModelEvaluation:
        """Return the predictions of the test rows."""
        model = clone(self.classifier).set_params(random_state=seed)
        groups = None if self.groups is None else self.groups[train]
        model.fit(take_rows(self.X, train), self.labels[train], groups=groups)
        uncalibrated = calibrated = np.empty((0, len(model.classes_)))
        description = None
        if len(test) == 0:  # the fit on all rows
            description = describe_classifier(self.name, model, self.X, self.labels, self.groups)
        else:
            rows = take_rows(self.X, test)
            uncalibrated = model.predict_uncalibrated_proba(rows)
            calibrated = model.predict_proba(rows)
        return ModelEvaluation(
            self.name,
            uncalibrated,
            calibrated,
            calibration_report=getattr(model, "calibration_report_", None),
            has_proba=hasattr(model.estimators_[0], "predict_proba"),
            description=description,
            relative_variance=model._relative_variance,
        )
