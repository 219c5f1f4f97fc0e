"""The default: a weighted average of calibrators, chosen by held-out log loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from calibrant._core.cross_fitting import N_FOLDS, fold_of_points
from calibrant._core.fitting import set_seeds
from calibrant._core.probability_floor import RARE_CLASS_SIZE, apply_probability_floor
from calibrant._core.rowwise import normalize_rows, row_sums
from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant._core.validation import check_weight
from calibrant.calibrators._averaging import choose_weights
from calibrant.calibrators._base import MulticlassCalibrator
from calibrant.calibrators._merged_points import MergedPoints, merge_points
from calibrant.calibrators._protocol import predict_points
from calibrant.calibrators._validation import check_class_scores
from calibrant.calibrators.baselines import ClassFrequencies, NoCalibration
from calibrant.calibrators.enir import ENIR
from calibrant.calibrators.multiclass import OneVsRestCalibrator, PairwiseCalibrator
from calibrant.calibrators.report import (
    NO_CALIBRATION,
    CalibrationReport,
    gain_interval,
    mean_log_losses,
)
from calibrant.calibrators.scaling import StructuredMatrixScaling, TemperatureScaling
from calibrant.metrics import Performance, measure_performance

#: The default candidates of `AutoCalibrator`, which always adds "no calibration" to them.
DEFAULT_CANDIDATES: dict[str, MulticlassCalibrator] = {
    "class frequencies": ClassFrequencies(),
    "temperature scaling": TemperatureScaling(penalty=1.0),
    "matrix scaling": StructuredMatrixScaling(),
    "loose matrix scaling": StructuredMatrixScaling(intercept=0.1, diagonal=0.1, off_diagonal=0.1),
    "pairwise ENIR": PairwiseCalibrator(ENIR(floored=True), group_rows=2),
    "one-vs-rest ENIR": OneVsRestCalibrator(ENIR(floored=True), group_rows=5, log_scores=True),
}

# Candidates that are also fitted to the scores of an ensemble. Class frequencies do not depend on
# scores, and one-vs-rest ENIR of averaged scores did not improve the average.
ENSEMBLE_CANDIDATES = (
    "temperature scaling",
    "matrix scaling",
    "loose matrix scaling",
    "pairwise ENIR",
)


class AutoCalibrator(MulticlassCalibrator):
    r"""A weighted average of calibrators, shrunk toward no calibration.

    Cross-validation determines the held-out log loss of the candidates, which always
    include the uncalibrated probabilities. The weights of their average minimize this loss,
    and the average is shrunk toward no calibration: the noisier its gain, the stronger the
    shrinkage.

    If there are also scores of an ensemble for the same rows, candidates are fitted to both kinds
    of scores, and the average combines calibrated probabilities of the model and the ensemble.

    Parameters
    ----------
    candidates : mapping of str to multi-class calibrator, default=None
        The calibrators to average, by name. ``None`` means
        `calibrant.calibrators.DEFAULT_CANDIDATES`, of which only the scaling methods and pairwise
        ENIR are also fitted to the scores of an ensemble; given candidates all are.
        "no calibration" is always a candidate and need not be given.
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
    ensemble_calibrators_ : dict
        The candidates with a positive weight that were fitted to the scores of the ensemble.
        Empty if there is no ensemble or if its weight is negligible.
    ensemble_weights_ : dict
        Their weights.
    report_ : CalibrationReport
        All candidates, their weights and the expected gain.

    Notes
    -----
    The calibrated probabilities are

    .. math:: \gamma \sum_c w_c q_c + (1 - \gamma) q_0 ,

    where :math:`q_c` are the probabilities of the candidates, :math:`w_c` the weights that
    minimize the held-out log loss, and :math:`q_0` the uncalibrated probabilities of the model. The
    shrinkage factor is :math:`\gamma = 1 - p`, where :math:`p` is the two-sided p-value of the
    held-out gain of the average over no calibration; it is 0 if there is no gain.

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
    ensemble_calibrators_: dict[str, Any]
    ensemble_weights_: dict[str, float]
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
        X_ensemble: ArrayLike | None = None,
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
        X_ensemble : array-like of shape (n_samples, n_classes), default=None
            Held-out probabilities of an ensemble for the same points. ``None`` means no ensemble.

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
        used = check_weight(sample_weight, y) > 0
        group = np.arange(len(index))
        if groups is not None:
            check_consistent_length(y, groups)
            _, group = np.unique(column_or_1d(groups)[used], return_inverse=True)
        known = self._known()
        index = (np.cumsum(known) - 1)[index]
        fold = fold_of_points(index, group, self.cv, rng)
        model = merge_points(_given_known(score, known), index, weight, fold)
        ensemble = None
        if X_ensemble is not None:
            votes = _given_known(self._check_votes(X, X_ensemble)[used], known)
            ensemble = merge_points(votes, index, weight, fold)
        self._choose(candidates, model, ensemble, weight, group, fold)
        self.calibrators_ = model.fit({name: candidates[name] for name in self.weights_})
        self.ensemble_calibrators_ = {}
        if ensemble is not None:
            self.ensemble_calibrators_ = ensemble.fit(
                {name: candidates[name] for name in self.ensemble_weights_}
            )
        return self

    def predict_proba(self, X: ArrayLike, X_ensemble: ArrayLike | None = None) -> FloatArray:
        """Predict calibrated probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes)
            Rows of probabilities that sum to 1.
        X_ensemble : array-like of shape (n_samples, n_classes), default=None
            Probabilities of the ensemble for the same rows. Required if
            ``ensemble_calibrators_`` is not empty.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Class probabilities, none of which is 0; each row sums to 1.
        """
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        score = check_class_scores(X)
        votes = score
        if self.ensemble_calibrators_:
            if X_ensemble is None:
                raise ValueError(
                    "X_ensemble must be given, because the calibrator was fitted to the scores of "
                    "an ensemble too, got None. Pass the probabilities of the ensemble."
                )
            votes = self._check_votes(X, X_ensemble)
        return apply_probability_floor(self._average(score, votes), self.class_count_)

    def _check_votes(self, X: ArrayLike, X_ensemble: ArrayLike) -> FloatArray:
        """Return the probabilities of an ensemble for the rows and classes of ``X``."""
        check_consistent_length(X, X_ensemble)
        votes = check_class_scores(X_ensemble)
        if votes.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X_ensemble must have the {self.n_features_in_} columns of X, got "
                f"{votes.shape[1]}. Pass the ensemble's probabilities of the same classes."
            )
        return votes

    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        self.fit(score, y, weight)

    def _proba(self, score: FloatArray) -> FloatArray:
        return self._average(score, score)

    def _average(self, score: FloatArray, votes: FloatArray) -> FloatArray:
        """Return the weighted average of the candidates for the model and for the ensemble."""
        known = self._known()
        average = np.zeros((len(score), int(known.sum())))
        for scores, calibrators, weights in (
            (score, self.calibrators_, self.weights_),
            (votes, self.ensemble_calibrators_, self.ensemble_weights_),
        ):
            given_known = _given_known(scores, known)
            for name, calibrator in calibrators.items():
                average += weights[name] * predict_points(calibrator, given_known)
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
        model: MergedPoints,
        ensemble: MergedPoints | None,
        weight: FloatArray,
        group: IndexArray,
        fold: IndexArray,
    ) -> None:
        """Choose the weights of the candidates by their held-out log loss."""
        judged = fold >= 0
        classes = model.held_out_proba(candidates)[judged]
        y, weight, group, fold = (
            model.y[model.index][judged],
            weight[judged],
            group[judged],
            fold[judged],
        )
        proba = _of_true_class(classes, y)
        choice = choose_weights(proba, weight, group, fold)
        names, ensemble_names, ensemble_gain = list(candidates), list[str](), 0.0
        if ensemble is not None:
            is_default = self.candidates is None
            ensemble_names = [NO_CALIBRATION, *ENSEMBLE_CANDIDATES] if is_default else names
            votes = ensemble.held_out_proba({name: candidates[name] for name in ensemble_names})
            classes = np.concatenate([classes, votes[judged]], axis=1)
            proba = _of_true_class(classes, y)
            gain_of_model = choice.gain.mean()
            choice = choose_weights(proba, weight, group, fold)
            ensemble_gain = float(choice.gain.mean() - gain_of_model)
        self.weights_ = _positive(names, choice.weights[: len(names)])
        self.ensemble_weights_ = _positive(ensemble_names, choice.weights[len(names) :])
        # The weights of the points of one row may not sum to exactly 1.
        is_rare = self.class_count_.round(6) < RARE_CLASS_SIZE
        self.report_ = CalibrationReport(
            candidates=(*names, *(f"{name} of the ensemble" for name in ensemble_names)),
            weights=tuple(choice.weights.tolist()),
            log_losses=mean_log_losses(proba, weight),
            gain=gain_interval(choice.gain, choice.fitted_gain),
            n_rows=len(choice.gain),
            rare_classes=tuple(self.classes_[is_rare].tolist()),
            n_ensemble=len(ensemble_names),
            ensemble_gain=ensemble_gain,
            performance=self._measure(
                np.einsum("ick,c->ik", classes, choice.weights), y, weight, group
            ),
        )

    def _measure(
        self, proba: FloatArray, y: IndexArray, weight: FloatArray, group: IndexArray
    ) -> Performance | None:
        """Measure the performance of held-out probabilities of the known classes."""
        if len(y) == 0:
            return None
        columns = np.flatnonzero(self._known())
        everywhere = np.zeros((len(y), len(self.class_count_)))
        everywhere[:, columns] = apply_probability_floor(proba, self.class_count_[columns])
        labels = np.arange(len(self.class_count_))
        return measure_performance(
            columns[y], everywhere, groups=group, labels=labels, sample_weight=weight
        )


def _positive(names: Sequence[str], weights: FloatArray) -> dict[str, float]:
    return {name: float(weight) for name, weight in zip(names, weights, strict=True) if weight}


def _of_true_class(proba: FloatArray, y: IndexArray) -> FloatArray:
    """Return the probability of the true class, of shape (n_points, n_candidates)."""
    return np.take_along_axis(proba, y[:, None, None], axis=2)[:, :, 0]


def _given_known(score: FloatArray, known: BoolArray) -> FloatArray:
    """Return the scores of the known classes, given that the class is one of them."""
    return score if known.all() else normalize_rows(score[:, known])
