"""Learning curves: the log loss of a model by its number of training rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from calibrant._core.fitting import LARGEST_SEED
from calibrant._core.labels import check_labels
from calibrant._core.losses import row_log_loss
from calibrant._core.phrases import count
from calibrant._core.records import Interval, Record
from calibrant._core.typing import FloatArray, IndexArray
from calibrant._core.validation import check_classes, check_groups, check_level
from calibrant._core.workers import Progress, distribute
from calibrant.classifier import CalibratedClassifier
from calibrant.planning.power_laws import PowerLaws, fit_power_laws
from calibrant.planning.simulation import name_rows, round_up
from calibrant.report.cross_validation import (
    ClassifierFit,
    EvaluationSettings,
    Labels,
    draw_splits,
    run_fit,
)

# The smallest part of the training rows, and the smallest number of rows, to fit models to.
SMALLEST_PART, LEAST_ROWS = 1 / 16, 20
N_SIZES = 5
# How many times as many rows the curve is extrapolated to.
FACTORS = (1, 2, 4, 8)
# A number of rows that is less certain than this ratio of its upper to its lower limit is unknown.
LARGEST_RATIO = 100.0


@dataclass(frozen=True)
class ExpectedLoss(Record):
    """The log loss to expect from a number of training rows.

    Attributes
    ----------
    n_rows : int
        The number of training rows.
    log_loss : Interval
        The log loss of new rows.
    """

    n_rows: int
    log_loss: Interval


@dataclass(frozen=True)
class LearningCurve(Record):
    """The log loss of a model by its number of training rows, and its extrapolation.

    Attributes
    ----------
    n_rows : int
        The number of rows of the pilot.
    sizes : tuple of int
        Numbers of training rows.
    log_loss : tuple of float
        The log loss of held-out rows at each of them.
    expected : tuple of ExpectedLoss
        The extrapolation to as many rows as the pilot has, and to 2, 4 and 8 times as many.
    doubling_gain : Interval
        By how much twice as many rows as the pilot has would lower the log loss, as a fraction
        of it.
    wanted_gain : float
        The gain from twice as many rows below which there are enough rows.
    rows_needed : Interval
        The number of rows from which the gain is smaller than that.
    """

    n_rows: int
    sizes: tuple[int, ...]
    log_loss: tuple[float, ...]
    expected: tuple[ExpectedLoss, ...]
    doubling_gain: Interval
    wanted_gain: float
    rows_needed: Interval

    @property
    def is_known(self) -> bool:
        """Whether the pilot tells how many rows are needed, to within a factor of 100."""
        low, high = self.rows_needed
        return isfinite(high) and high <= LARGEST_RATIO * max(low, float(self.n_rows))

    def __str__(self) -> str:
        gain = self.doubling_gain
        level = f"{gain.level:.0%}"
        rows = [
            f"  {each.n_rows:>7,}  {each.log_loss.estimate:8.3f}  "
            f"{each.log_loss.low:.3f} to {each.log_loss.high:.3f}"
            for each in self.expected
        ]
        return "\n".join(
            [
                f"To fit: {self._answer()} Twice as many rows as the pilot has would lower the log "
                f"loss by about {gain.estimate:.1%} ({level} interval: {gain.low:.1%} to "
                f"{gain.high:.1%}); there are enough rows if this is below {self.wanted_gain:.0%}.",
                f"  {'rows':>7}  log loss  {level} interval",
                *rows,
            ]
        )

    def _answer(self) -> str:
        """Say in one sentence how many rows are needed."""
        needed = self.rows_needed
        low, high = round_up(needed.low), round_up(needed.high)
        if not self.is_known:
            return f"at least {count(int(low), 'row')}; the pilot cannot tell more exactly."
        if needed.estimate <= self.n_rows:
            return f"the {count(self.n_rows, 'row')} of the pilot are probably enough."
        interval = f"{needed.level:.0%} interval: {low:,} to {high:,}"
        return f"{name_rows(round_up(needed.estimate), 'row')} ({interval})."


@dataclass(frozen=True, eq=False)
class Subsamples:
    """Held-out predictions of models that were fitted to parts of the training rows.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The class labels.
    n_rows : int
        The number of rows of the pilot.
    sizes : tuple of int
        Numbers of training rows.
    loss : ndarray of shape (n_held_out, n_sizes)
        The log loss of each row that was held out, by number of training rows, averaged over
        repeats.
    group, fold : ndarray of shape (n_held_out,)
        The group of each of these rows, and its fold in the first repeat.
    uncalibrated, calibrated : ndarray of shape (n_held_out, n_classes)
        The probabilities in the first repeat, of models with the most training rows.
    """

    classes: NDArray[Any]
    n_rows: int
    sizes: tuple[int, ...]
    loss: FloatArray
    group: IndexArray
    fold: IndexArray
    uncalibrated: FloatArray
    calibrated: FloatArray


def learning_curve(
    model: CalibratedClassifier,
    X: Any,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    wanted_gain: float = 0.02,
    level: float = 0.9,
    n_folds: int = 5,
    n_repeats: int = 2,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LearningCurve:
    r"""Estimate how the log loss of a model depends on the number of training rows.

    Parameters
    ----------
    model : CalibratedClassifier
        The unfitted model.
    X : array-like of shape (n_rows, n_features)
        Features of a pilot study, as an array or a data frame.
    y : array-like of shape (n_rows,)
        Class labels.
    groups : array-like of shape (n_rows,), default=None
        Group of each row. ``None`` means ungrouped.
    wanted_gain : float, default=0.02
        There are enough rows if twice as many would lower the log loss by less than this fraction.
    level : float, default=0.9
        The level of the intervals.
    n_folds, n_repeats : int, default=5 and 2
        Folds and repeats of the cross-validation.
    random_state : int, default=0
        Seed of the splits and the fits.
    n_jobs : int, default=None
        Number of parallel fits. ``None`` means 1 and -1 means one per core.
    progress : callable, default=None
        Wraps the iterator of finished fits, as in `calibrant.report.evaluate_models`.

    Returns
    -------
    LearningCurve
        The curve and its extrapolation.

    Notes
    -----
    In each split of a repeated cross-validation, models are fitted to up to five nested,
    stratified parts of the training rows, each about twice as large as the one before, and
    predict the same held-out rows. The mean log loss is modeled as an inverse power law

    .. math:: L(n) = a + b \, n^{-c}, \quad a, b \ge 0, \quad 0.25 \le c \le 1.25,

    whose posterior distribution, with flat priors, gives the estimates (medians) and intervals.
    The range of the exponent covers flexible models, which learn slowly, and models with few
    parameters, for which :math:`c = 1`. Errors are correlated between sizes, since all sizes
    predict the same rows; their covariance is that of the means of groups of rows.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from calibrant import CalibratedClassifier
    >>> from calibrant.datasets import make_waveform
    >>> from calibrant.planning import learning_curve
    >>> model = CalibratedClassifier(GaussianNB(), method="temperature")
    >>> curve = learning_curve(model, *make_waveform(200, random_state=0), n_repeats=1)
    >>> curve.sizes
    (20, 34, 57, 95, 160)
    """
    subsamples = fit_subsamples(
        model,
        X,
        y,
        EvaluationSettings(n_folds, n_repeats, 0 if random_state is None else random_state, n_jobs),
        groups=groups,
        progress=progress,
    )
    return extrapolate(subsamples, wanted_gain=wanted_gain, level=level)


def fit_subsamples(
    model: CalibratedClassifier,
    X: Any,
    y: ArrayLike,
    settings: EvaluationSettings,
    *,
    groups: ArrayLike | None = None,
    progress: Progress | None = None,
) -> Subsamples:
    """Fit a model to parts of the training rows of each split, and predict the held-out rows."""
    labels = check_labels(y)
    classes = check_classes(labels)
    index = np.searchsorted(classes, labels)
    names = None if groups is None else check_groups(groups)
    rng = check_random_state(settings.random_state)
    splits = draw_splits(Labels(classes, index, names), settings, rng)
    sizes = _choose_sizes(min(len(train) for train, _ in splits), len(classes))
    fit = ClassifierFit("model", model, X, labels, names)
    calls = []
    for number, (train, test) in enumerate(splits):
        ordered = _order_rows(train, index, names, rng)
        calls += [
            (fit, number * len(sizes) + j, (np.sort(ordered[:size]), test))
            for j, size in enumerate(sizes)
        ]
    seeds = rng.randint(LARGEST_SEED, size=len(calls)).tolist()
    seeded = [(*call, seed) for call, seed in zip(calls, seeds, strict=True)]
    finished = distribute(run_fit, seeded, settings.n_jobs)
    done = dict(progress(finished, len(calls)) if progress else finished)
    total, n_predictions = np.zeros((len(index), len(sizes))), np.zeros(len(index))
    fold = np.full(len(index), -1)
    first = np.empty((2, len(index), len(classes)))
    for number, (_, test) in enumerate(splits):
        predicted = [done["model", number * len(sizes) + j] for j in range(len(sizes))]
        total[test] += np.column_stack(
            [row_log_loss(index[test], each.calibrated) for each in predicted]
        )
        n_predictions[test] += 1
        if number < len(splits) // settings.n_repeats:
            fold[test] = number
            first[:, test] = predicted[-1].uncalibrated, predicted[-1].calibrated
    rows = np.flatnonzero(fold >= 0)
    _, group = np.unique(np.arange(len(index)) if names is None else names, return_inverse=True)
    return Subsamples(
        classes=classes,
        n_rows=len(index),
        sizes=tuple(sizes),
        loss=total[rows] / n_predictions[rows, None],
        group=group[rows],
        fold=fold[rows],
        uncalibrated=first[0][rows],
        calibrated=first[1][rows],
    )


def extrapolate(
    subsamples: Subsamples, *, wanted_gain: float = 0.02, level: float = 0.9
) -> LearningCurve:
    """Fit power laws to the losses, and extrapolate them."""
    check_level(level)
    if not 0 < wanted_gain < 0.1:
        raise ValueError(
            f"wanted_gain must lie strictly between 0 and 0.1, got {wanted_gain}. Use 0.02."
        )
    loss = subsamples.loss
    laws = fit_power_laws(
        np.array(subsamples.sizes), loss.mean(axis=0), _covariance(subsamples), seed=0
    )
    n_rows = subsamples.n_rows
    return LearningCurve(
        n_rows=n_rows,
        sizes=subsamples.sizes,
        log_loss=tuple(loss.mean(axis=0).tolist()),
        expected=tuple(
            ExpectedLoss(factor * n_rows, _interval(laws.at(factor * n_rows), level))
            for factor in FACTORS
        ),
        doubling_gain=_interval(_relative_gain(laws, n_rows), level),
        wanted_gain=wanted_gain,
        rows_needed=_interval(laws.rows_for_gain(wanted_gain), level),
    )


def _relative_gain(laws: PowerLaws, n_rows: int) -> FloatArray:
    before = laws.at(n_rows)
    return (before - laws.at(2 * n_rows)) / before


def _interval(values: FloatArray, level: float) -> Interval:
    """Return the median of draws, and the interval between their quantiles."""
    tail = (1.0 - level) / 2.0
    low, middle, high = np.quantile(values, [tail, 0.5, 1.0 - tail], method="nearest").tolist()
    return Interval(middle, low, high, level)


def _covariance(subsamples: Subsamples) -> FloatArray:
    """Return the covariance of the mean losses of all sizes.

    Rows of a group, and the rows that the same models predict, are not independent: there is a
    part between groups and, if it is larger than that would explain, one between folds.
    """
    deviation = subsamples.loss - subsamples.loss.mean(axis=0)
    n_rows = len(deviation)
    by_group = _sum_by(subsamples.group, deviation) / n_rows
    by_fold = _sum_by(subsamples.fold, deviation) / n_rows
    covariance = by_group.T @ by_group
    excess = np.diag(by_fold.T @ by_fold - covariance)
    return covariance + np.diag(np.maximum(excess, 0.0))


def _sum_by(key: IndexArray, values: FloatArray) -> FloatArray:
    _, index = np.unique(key, return_inverse=True)
    total = np.zeros((index.max() + 1, values.shape[1]))
    np.add.at(total, index, values)
    return total


def _choose_sizes(n_rows: int, n_classes: int) -> list[int]:
    """Return increasing numbers of training rows, up to all of them."""
    least = max(LEAST_ROWS, 2 * n_classes)
    if n_rows < 2 * least:
        raise ValueError(
            f"A learning curve requires at least {2 * least} training rows per fold, got {n_rows}. "
            "Collect more rows, or plan from class shares."
        )
    smallest = max(least, round(SMALLEST_PART * n_rows))
    return np.geomspace(smallest, n_rows, N_SIZES).round().astype(int).tolist()


def _order_rows(
    rows: IndexArray, y: IndexArray, groups: NDArray[Any] | None, rng: np.random.RandomState
) -> IndexArray:
    """Order rows at random such that any first part has all classes, in proportion.

    Rows of a group follow each other, and then classes are not in proportion.
    """
    shuffled = rng.permutation(rows)
    label = y[shuffled]
    rank = np.empty(len(rows))
    for k in np.unique(label):
        members = np.flatnonzero(label == k)
        rank[members] = (np.arange(len(members)) + rng.uniform()) / len(members)
    if groups is not None:
        names, group = np.unique(groups[shuffled], return_inverse=True)
        rank = rng.permutation(len(names))[group].astype(np.float64)
    ordered = shuffled[np.argsort(rank, kind="stable")]
    _, first = np.unique(y[ordered], return_index=True)
    rest = np.delete(np.arange(len(ordered)), first)
    return ordered[np.concatenate([first, rest])]
