"""The default: a pool of calibrators, weighted by what they do on rows they have not seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length, column_or_1d

from calibrant._core.probability_floor import RARE_CLASS_SIZE
from calibrant._core.rowwise import normalize_rows, row_sums
from calibrant._core.splits import group_folds, stratified_folds
from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant.calibrators._base import MulticlassCalibrator
from calibrant.calibrators._pooling import gain_shrinkage, pool_weights
from calibrant.calibrators._validation import check_weight
from calibrant.calibrators.enir import ENIR
from calibrant.calibrators.multiclass import OneVsRestCalibrator, PairwiseCalibrator
from calibrant.calibrators.scaling import StructuredMatrixScaling, TemperatureScaling

N_FOLDS = 5
# Candidates of less weight are left out: they cost time and change nothing that rows can show.
LEAST_WEIGHT = 0.005
CONFIDENCE = 0.95


class Unchanged(MulticlassCalibrator):
    """The scores as they are: no calibration, but for the limit of certainty."""

    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        pass

    def _proba(self, score: FloatArray) -> FloatArray:
        return score


class ClassShares(MulticlassCalibrator):
    """The shares of the classes, whatever the scores."""

    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        pass

    def _proba(self, score: FloatArray) -> FloatArray:
        return np.tile(self.class_count_ / self.class_count_.sum(), (len(score), 1))


# No calibration comes first: the pool is shrunk toward it.
CANDIDATES: dict[str, MulticlassCalibrator] = {
    "no calibration": Unchanged(),
    "class shares": ClassShares(),
    "temperature scaling": TemperatureScaling(penalty=1.0),
    "matrix scaling": StructuredMatrixScaling(),
    "loose matrix scaling": StructuredMatrixScaling(intercept=0.1, diagonal=0.1, off_diagonal=0.1),
    "pairwise ENIR": PairwiseCalibrator(ENIR(floored=True), group_rows=2),
    "one-vs-rest ENIR": OneVsRestCalibrator(ENIR(floored=True), group_rows=5),
}


@dataclass(frozen=True)
class CalibrationReport:
    """What the automatic calibration chose, and what it is expected to bring.

    Attributes
    ----------
    candidates : tuple of str
        The names of the candidates; the first is no calibration.
    weights : tuple of float
        Their weights in the final probabilities, which sum to 1.
    log_losses : tuple of float
        The log loss of each on rows that it was not fitted on; NaN where none can be held out.
    expected_gain : float
        By how much the log loss of a row falls on average, on rows that neither the
        candidates nor their weights nor the trust in them rest on.
    interval : tuple of float
        A 95 % confidence interval of the expected gain, as if rows were all that varies. With
        100 rows it covers the gain on new rows in 70 to 85 of 100 simulated cases.
    n_rows : int
        The number of distinct rows, or groups of rows, behind these numbers.
    rare_classes : tuple
        Classes with fewer than four rows. They are calibrated together with the others by
        the limit of certainty, which keeps them from probability 0.
    """

    candidates: tuple[str, ...]
    weights: tuple[float, ...]
    log_losses: tuple[float, ...]
    expected_gain: float
    interval: tuple[float, float]
    n_rows: int
    rare_classes: tuple[Any, ...] = ()

    def __str__(self) -> str:
        """Say it in a sentence or two."""
        chosen = sorted(zip(self.weights, self.candidates, strict=True), reverse=True)
        parts = [f"{name} ({weight:.0%})" for weight, name in chosen if weight >= LEAST_WEIGHT]
        low, high = self.interval
        if self.n_rows == 0:
            said = "Calibration was left out: no rows of two classes could be held out to judge it."
        elif self.weights[0] > 1.0 - LEAST_WEIGHT:
            said = (
                f"Calibration was left out: on {self.n_rows} rows it brought no gain in log loss "
                "that chance does not explain."
            )
        else:
            hope = (
                f"is expected to lower the log loss by {self.expected_gain:.3f} a row"
                if self.expected_gain > 0
                else f"may not lower the log loss: expected gain {self.expected_gain:.3f} a row"
            )
            said = (
                f"The probabilities are a mix of {', '.join(parts)}, which {hope} (95 % interval "
                f"{low:.3f} to {high:.3f}, from {self.n_rows} rows)."
            )
        if self.rare_classes:
            names = ", ".join(str(name) for name in self.rare_classes)
            said += f" Too rare to judge by themselves: {names}."
        return said


class AutoCalibrator(MulticlassCalibrator):
    """A pool of calibrators that does no harm.

    The candidates, among them no calibration, are fitted on parts of the rows and predict
    the others. A linear pool of them is chosen by the log loss of these predictions, and
    shrunk toward no calibration by as much of its gain as may be chance.

    Attributes
    ----------
    calibrators_ : dict
        The fitted candidates that have a weight, by name.
    weights_ : dict
        Their weights.
    report_ : CalibrationReport
        All candidates, their weights, the expected gain.

    Notes
    -----
    Points of one group are never on both sides of a split: neither are the repeated scores
    of a row, nor the rows of a patient. The splits are the same in every run.

    Examples
    --------
    >>> from calibrant.calibrators import AutoCalibrator
    >>> score = [[0.99, 0.01], [0.01, 0.99]] * 100
    >>> y = [0, 1, 0, 1, 0, 1, 0, 1, 1, 0] * 20
    >>> print(AutoCalibrator().fit(score, y).report_.expected_gain > 0.2)
    True
    """

    calibrators_: dict[str, MulticlassCalibrator]
    weights_: dict[str, float]
    report_: CalibrationReport

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose and fit the pool.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes)
            Rows of probabilities that sum to 1, out of sample.
        y : array-like of shape (n_samples,)
            Class labels; the sorted labels belong to the columns.
        sample_weight : array-like of shape (n_samples,), default=None
            Numbers of rows: weights that sum to 1 say that there was one row in all. Points of
            weight 0 are left out.
        groups : array-like of shape (n_samples,), default=None
            Points that belong together, such as scores of the same row; None is none.

        Returns
        -------
        AutoCalibrator
            The fitted calibrator.
        """
        score, index, weight = self._check_points(X, y, sample_weight)
        unit = np.arange(len(index))
        if groups is not None:
            check_consistent_length(y, groups)
            seen = check_weight(sample_weight, column_or_1d(y)) > 0
            _, unit = np.unique(column_or_1d(groups)[seen], return_inverse=True)
        known = self._known()
        score, index = _among(score, known), (np.cumsum(known) - 1)[index]
        self._choose(score, index, weight, unit)
        self._fit(score, index, weight)
        return self

    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        self.calibrators_ = {
            name: clone(CANDIDATES[name])._fit_columns(score, y, weight) for name in self.weights_
        }

    def _proba(self, score: FloatArray) -> FloatArray:
        known = self._known()
        among = _among(score, known)
        pooled = np.zeros_like(among)
        for name, calibrator in self.calibrators_.items():
            pooled += self.weights_[name] * calibrator._limited_proba(among)
        if known.all():
            return pooled
        # A class without rows, as a rule one whose only row could not be held out, cannot be
        # judged: as far as there is calibration, it is half its score and half a row's share.
        n_rows = self.class_count_.sum() + np.sum(~known)
        half = (1.0 - self.report_.weights[0]) / 2.0
        proba = (1.0 - half) * score + half / n_rows
        proba[:, known] = (1.0 - row_sums(proba[:, ~known])) * pooled
        return proba

    def _known(self) -> BoolArray:
        """Which classes can be told from each other by rows; all, if there is one at most."""
        known = self.class_count_ > 0
        return known if known.sum() > 1 else np.ones_like(known)

    def _choose(
        self,
        score: FloatArray,
        y: IndexArray,
        weight: FloatArray,
        unit: IndexArray,
    ) -> None:
        """Weight the candidates by what they say of rows that they were not fitted on."""
        fold = _folds(y, unit)
        proba = _out_of_sample(score, y, weight, fold)
        judged = fold >= 0
        proba, own_weight, unit, fold = proba[judged], weight[judged], unit[judged], fold[judged]
        pooled = _pooled_by_the_others(proba, own_weight, fold)
        gain = _gain(pooled, proba[:, 0], own_weight, unit)
        trust = gain_shrinkage(gain)
        share = trust * pool_weights(proba, own_weight)
        share[0] += 1.0 - trust
        # What to expect is shown by rows that had no part in the trust either.
        trusts = _trusts_of_the_others(gain, fold[np.unique(unit, return_index=True)[1]])[fold]
        mixed = trusts * pooled + (1.0 - trusts) * proba[:, 0]
        gain = _gain(mixed, proba[:, 0], own_weight, unit)

        kept = np.where(share >= LEAST_WEIGHT, share, 0.0)
        kept /= kept.sum()
        names = list(CANDIDATES)
        self.weights_ = {name: float(own) for name, own in zip(names, kept, strict=True) if own}
        with np.errstate(invalid="ignore"):
            losses = -(own_weight @ np.log(proba)) / own_weight.sum()
        # Weights divided among the points of a row do not quite sum to 1 again.
        n_rows = self.class_count_.round(6)
        self.report_ = CalibrationReport(
            candidates=tuple(names),
            weights=tuple(kept.tolist()),
            log_losses=tuple(losses.tolist()),
            expected_gain=float(gain.mean()) if len(gain) else 0.0,
            interval=_interval(gain),
            n_rows=len(gain),
            rare_classes=tuple(self.classes_[n_rows < RARE_CLASS_SIZE].tolist()),
        )


def report_of(
    calibrator: AutoCalibrator | None, classes: NDArray[Any], row_count: IndexArray
) -> CalibrationReport:
    """Return the report of a calibrator of column numbers, with the names of the classes.

    None is a calibrator that had nothing to judge the candidates by.
    """
    if calibrator is not None:
        rare = tuple(classes[list(calibrator.report_.rare_classes)].tolist())
        return replace(calibrator.report_, rare_classes=rare)
    others = len(CANDIDATES) - 1
    return CalibrationReport(
        candidates=tuple(CANDIDATES),
        weights=(1.0, *[0.0] * others),
        log_losses=(np.nan,) * (1 + others),
        expected_gain=0.0,
        interval=(-np.inf, np.inf),
        n_rows=0,
        rare_classes=tuple(classes[row_count < RARE_CLASS_SIZE].tolist()),
    )


def _among(score: FloatArray, known: BoolArray) -> FloatArray:
    """Scores of some of the classes, given that it is one of them."""
    return score if known.all() else normalize_rows(score[:, known])


def _folds(y: IndexArray, unit: IndexArray) -> IndexArray:
    """Deal units to folds; -1 for points that are never held out."""
    rng = np.random.RandomState(0)
    _, first = np.unique(unit, return_index=True)
    n_folds = min(N_FOLDS, len(first), int(np.bincount(y).max()))
    fold = np.full(len(y), -1, dtype=np.intp)
    if n_folds < 2:
        return fold
    if np.array_equal(y[first][unit], y):
        for number, held_out in enumerate(stratified_folds(y[first], n_folds, rng)):
            fold[held_out[unit]] = number
    else:
        for number, held_out in enumerate(group_folds(y, unit, n_folds, rng)):
            fold[held_out] = number
    return fold


def _out_of_sample(
    score: FloatArray, y: IndexArray, weight: FloatArray, fold: IndexArray
) -> FloatArray:
    """Probability of the true class by each candidate, fitted on the other folds."""
    proba = np.ones((len(y), len(CANDIDATES)))
    for held_out in np.unique(fold[fold >= 0]):
        test = fold == held_out
        for column, candidate in enumerate(CANDIDATES.values()):
            fitted = clone(candidate)._fit_columns(score[~test], y[~test], weight[~test])
            judged = fitted._limited_proba(score[test])
            proba[test, column] = judged[np.arange(len(judged)), y[test]]
    return proba


def _pooled_by_the_others(proba: FloatArray, weight: FloatArray, fold: IndexArray) -> FloatArray:
    """Probability of the true class by the pool, its weights fitted on the other folds."""
    pooled = np.empty(len(proba))
    for held_out in np.unique(fold):
        own = fold == held_out
        pooled[own] = proba[own] @ pool_weights(proba[~own], weight[~own])
    return pooled


def _trusts_of_the_others(gain: FloatArray, fold: IndexArray) -> FloatArray:
    """Trust in the gains of the units of all folds but one, for each fold."""
    return np.array([gain_shrinkage(gain[fold != own]) for own in range(N_FOLDS)])


def _gain(
    proba: FloatArray, baseline: FloatArray, weight: FloatArray, unit: IndexArray
) -> FloatArray:
    """Mean gain in log probability of the true class, one value a unit."""
    _, unit = np.unique(unit, return_inverse=True)
    gain = np.bincount(unit, weight * np.log(proba / baseline))
    return gain / np.bincount(unit, weight)


def _interval(gain: FloatArray) -> tuple[float, float]:
    if len(gain) < 2:
        return (-np.inf, np.inf)
    half = student.ppf((1 + CONFIDENCE) / 2, len(gain) - 1) * gain.std(ddof=1) / len(gain) ** 0.5
    return (float(gain.mean() - half), float(gain.mean() + half))
