"""The default: a weighted average of calibrators, chosen by held-out log loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, column_or_1d

from calibrant._core.cross_fitting import (
    N_FOLDS,
    cross_fit,
    fold_of_points,
    true_class_proba,
)
from calibrant._core.fitting import set_seeds
from calibrant._core.probability_floor import RARE_CLASS_SIZE
from calibrant._core.rowwise import normalize_rows, row_sums
from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant._core.validation import check_weight
from calibrant.calibrators._averaging import average_weights, gain_shrinkage
from calibrant.calibrators._base import MulticlassCalibrator
from calibrant.calibrators._protocol import fit_points, predict_points
from calibrant.calibrators.baselines import ClassFrequencies, NoCalibration
from calibrant.calibrators.enir import ENIR
from calibrant.calibrators.multiclass import OneVsRestCalibrator, PairwiseCalibrator
from calibrant.calibrators.report import (
    NEGLIGIBLE_WEIGHT,
    NO_CALIBRATION,
    CalibrationReport,
    group_gains,
    make_report,
)
from calibrant.calibrators.scaling import StructuredMatrixScaling, TemperatureScaling

#: The default candidates of `AutoCalibrator`, which always adds "no calibration" to them.
DEFAULT_CANDIDATES: dict[str, MulticlassCalibrator] = {
    "class frequencies": ClassFrequencies(),
    "temperature scaling": TemperatureScaling(penalty=1.0),
    "matrix scaling": StructuredMatrixScaling(),
    "loose matrix scaling": StructuredMatrixScaling(intercept=0.1, diagonal=0.1, off_diagonal=0.1),
    "pairwise ENIR": PairwiseCalibrator(ENIR(floored=True), group_rows=2),
    "one-vs-rest ENIR": OneVsRestCalibrator(ENIR(floored=True), group_rows=5),
}


class AutoCalibrator(MulticlassCalibrator):
    r"""A weighted average of calibrators, shrunk toward no calibration.

    Cross-validation determines the held-out log loss of the candidates, which always
    include the uncalibrated probabilities. The weights of their average minimize this loss,
    and the average is shrunk toward no calibration: the noisier its gain, the stronger the
    shrinkage.

    Parameters
    ----------
    candidates : mapping of str to multi-class calibrator, default=None
        The calibrators to average, by name. ``None`` means
        `calibrant.calibrators.DEFAULT_CANDIDATES`. "no calibration" is always a candidate and
        need not be given.
    cv : int, default=5
        The number of folds used to evaluate the candidates.
    random_state : int, RandomState or None, default=0
        Seeds the assignment of rows to folds. By default, the same rows give the same result.

    Attributes
    ----------
    calibrators_ : dict
        The fitted candidates with a positive weight, by name.
    weights_ : dict
        Their weights.
    report_ : CalibrationReport
        All candidates, their weights and the expected gain.

    Notes
    -----
    The calibrated probabilities are

    .. math:: \gamma \sum_c w_c q_c + (1 - \gamma) q_0 ,

    where :math:`q_c` are the probabilities of the candidates, :math:`w_c` the weights that
    minimize the held-out log loss, and :math:`q_0` the uncalibrated probabilities. The
    shrinkage factor is :math:`\gamma = m^2 / (m^2 + s^2)`, where :math:`m` is the mean
    held-out gain of the average over no calibration and :math:`s` its standard error; it is 0
    if :math:`m` is not positive.

    Points of one group, such as repeated scores of the same row or several rows of the same
    patient, are never in both the training and the test rows of a split.

    Examples
    --------
    >>> from calibrant.calibrators import AutoCalibrator
    >>> score = [[0.99, 0.01], [0.01, 0.99]] * 100
    >>> y = [0, 1, 0, 1, 0, 1, 0, 1, 1, 0] * 20
    >>> print(AutoCalibrator().fit(score, y).report_.expected_gain > 0.2)
    True

    With other candidates:

    >>> from calibrant.calibrators import TemperatureScaling, VectorScaling
    >>> candidates = {"temperature": TemperatureScaling(), "vector": VectorScaling()}
    >>> AutoCalibrator(candidates).fit(score, y).report_.candidates
    ('no calibration', 'temperature', 'vector')
    """

    calibrators_: dict[str, Any]
    weights_: dict[str, float]
    report_: CalibrationReport

    def __init__(
        self,
        candidates: Mapping[str, Any] | None = None,
        *,
        cv: int = N_FOLDS,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.candidates = candidates
        self.cv = cv
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose the weights of the candidates and fit those with a positive weight.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes)
            Rows of held-out probabilities that sum to 1.
        y : array-like of shape (n_samples,)
            Class labels. The sorted labels correspond to the columns.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, interpreted as numbers of rows: weights that sum to 1 stand for a single
            row. Points of weight 0 are ignored. ``None`` means 1 for every point.
        groups : array-like of shape (n_samples,), default=None
            The group of each point: points with scores of the same row, for example, form a
            group. ``None`` means ungrouped.

        Returns
        -------
        AutoCalibrator
            The fitted calibrator.
        """
        rng = check_random_state(self.random_state)
        candidates = {
            name: set_seeds(clone(candidate), rng)
            for name, candidate in self._check_candidates().items()
        }
        score, index, weight = self._check_points(X, y, sample_weight)
        group = np.arange(len(index))
        if groups is not None:
            check_consistent_length(y, groups)
            used = check_weight(sample_weight, column_or_1d(y)) > 0
            _, group = np.unique(column_or_1d(groups)[used], return_inverse=True)
        known = self._known()
        score, index = _given_known(score, known), (np.cumsum(known) - 1)[index]
        fold = fold_of_points(index, group, self.cv, rng)
        self._choose(candidates, score, index, weight, group, fold)
        self.calibrators_ = {
            name: fit_points(candidates[name], score, index, weight) for name in self.weights_
        }
        return self

    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        self.fit(score, y, weight)

    def _proba(self, score: FloatArray) -> FloatArray:
        known = self._known()
        given_known = _given_known(score, known)
        average = np.zeros_like(given_known)
        for name, calibrator in self.calibrators_.items():
            average += self.weights_[name] * predict_points(calibrator, given_known)
        if known.all():
            return average
        # There is no evidence on a class without held-out rows, typically one whose only row
        # cannot be held out. The calibrated part of the average moves its probability halfway
        # from its score to the frequency that one row would have.
        n_rows = self.class_count_.sum() + np.sum(~known)
        half = (1.0 - self.report_.weights[0]) / 2.0
        proba = (1.0 - half) * score + half / n_rows
        proba[:, known] = (1.0 - row_sums(proba[:, ~known])) * average
        return proba

    def _known(self) -> BoolArray:
        """Return whether each class has rows; all true if at most one class has any."""
        known = self.class_count_ > 0
        return known if known.sum() > 1 else np.ones_like(known)

    def candidate_names(self) -> list[str]:
        """Return the names of the candidates, no calibration first."""
        return list(self._check_candidates())

    def _check_candidates(self) -> dict[str, Any]:
        """Return the candidates by name, no calibration first."""
        if not (isinstance(self.cv, int | np.integer) and self.cv >= 2):
            raise ValueError(f"cv must be an integer of at least 2, got {self.cv!r}. Use 5.")
        candidates = DEFAULT_CANDIDATES if self.candidates is None else self.candidates
        if not isinstance(candidates, Mapping):
            raise ValueError(
                f"candidates must be a mapping of names to calibrators, got {candidates!r}. "
                "Pass a dictionary, or omit it to use the default candidates."
            )
        if NO_CALIBRATION in candidates:
            raise ValueError(
                f"candidates must not be named {NO_CALIBRATION!r}, which is always a candidate, "
                f"got {list(candidates)}. Omit or rename it."
            )
        for name, candidate in candidates.items():
            if not (hasattr(candidate, "fit") and hasattr(candidate, "predict_proba")):
                raise ValueError(
                    "candidates must be multi-class calibrators with fit and predict_proba, got "
                    f"{candidate!r} for {name!r}. Wrap binary calibrators in PairwiseCalibrator "
                    "or OneVsRestCalibrator."
                )
        return {NO_CALIBRATION: NoCalibration(), **candidates}

    def _choose(
        self,
        candidates: Mapping[str, Any],
        score: FloatArray,
        y: IndexArray,
        weight: FloatArray,
        group: IndexArray,
        fold: IndexArray,
    ) -> None:
        """Choose the weights of the candidates by their held-out log loss."""
        proba = _held_out_proba(candidates, score, y, weight, fold)
        judged = fold >= 0
        proba, weight, group, fold = proba[judged], weight[judged], group[judged], fold[judged]

        average = _held_out_average(proba, weight, fold)
        gain = group_gains(average, proba[:, 0], weight, group)
        shrinkage = gain_shrinkage(gain)
        weights = shrinkage * average_weights(proba, weight)
        weights[0] += 1.0 - shrinkage
        weights = np.where(weights >= NEGLIGIBLE_WEIGHT, weights, 0.0)
        weights /= weights.sum()
        self.weights_ = {
            name: float(value) for name, value in zip(candidates, weights, strict=True) if value
        }

        # The expected gain of a fold uses a shrinkage that was estimated without that fold.
        fold_of_group = fold[np.unique(group, return_index=True)[1]]
        shrinkages = np.array(
            [gain_shrinkage(gain[fold_of_group != number]) for number in range(self.cv)]
        )[fold]
        shrunk = shrinkages * average + (1.0 - shrinkages) * proba[:, 0]
        # The weights of the points of one row may not sum to exactly 1.
        is_rare = self.class_count_.round(6) < RARE_CLASS_SIZE
        self.report_ = make_report(
            list(candidates),
            weights.tolist(),
            proba,
            weight,
            group_gains(shrunk, proba[:, 0], weight, group),
            self.classes_[is_rare].tolist(),
        )


def _given_known(score: FloatArray, known: BoolArray) -> FloatArray:
    """Return the scores of the known classes, given that the class is one of them."""
    return score if known.all() else normalize_rows(score[:, known])


def _held_out_proba(
    candidates: Mapping[str, Any],
    score: FloatArray,
    y: IndexArray,
    weight: FloatArray,
    fold: IndexArray,
) -> FloatArray:
    """Return each candidate's probability of the true class when fitted on the other folds."""

    def predict(train: BoolArray, test: BoolArray) -> FloatArray:
        fitted = [
            fit_points(candidate, score[train], y[train], weight[train])
            for candidate in candidates.values()
        ]
        probas = [true_class_proba(predict_points(each, score[test]), y[test]) for each in fitted]
        return np.column_stack(probas)

    return cross_fit(fold, predict, len(candidates))


def _held_out_average(proba: FloatArray, weight: FloatArray, fold: IndexArray) -> FloatArray:
    """Return the average's probability of the true class when weighted on the other folds."""

    def predict(train: BoolArray, test: BoolArray) -> FloatArray:
        return (proba[test] @ average_weights(proba[train], weight[train]))[:, None]

    return cross_fit(fold, predict, 1)[:, 0]
