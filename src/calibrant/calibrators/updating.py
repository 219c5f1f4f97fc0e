"""The calibrator that updates probabilities only as far as new rows require."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d

from calibrant._core.cross_fitting import N_FOLDS, cross_fit, fold_of_points
from calibrant._core.phrases import capitalize, count, join_phrases
from calibrant._core.records import Record
from calibrant._core.rowwise import softmax
from calibrant._core.threads import one_blas_thread
from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant._core.validation import check_alpha, check_weight
from calibrant.calibrators._base import MulticlassCalibrator
from calibrant.calibrators._protocol import fit_calibrator, predict_points
from calibrant.calibrators._recalibration import (
    LikelihoodRatio,
    Map,
    MapParameters,
    fit_map,
    likelihood_ratio_test,
)
from calibrant.calibrators.auto import AutoCalibrator
from calibrant.calibrators.scaling import SMALLEST_SCORE
from calibrant.metrics import Performance, measure_performance

# The tests are simulated, and more rows than this would take too long. A correction that this many
# rows do not call for is small.
MOST_TESTED = 2000
# The pseudo-count of each class: imaginary rows that agree with the current probabilities. Of 0.5,
# 1, 2, 4 and 8 rows, four lost the least in the simulations of experiments/updates.py: with 30 new
# rows, 0.5 is often worse than no update, and with 300 new rows all are alike.
PSEUDO_COUNT = 4.0
# The level at which saved models are updated and validations choose an update: half of 5%, because
# a validation has a second test of calibration. So an update is called for only if the verdict
# finds a miscalibration.
VALIDATION_ALPHA = 0.025


class UpdateChoice(StrEnum):
    """How far probabilities are updated, by increasing number of parameters.

    Attributes
    ----------
    NONE, INTERCEPTS, SLOPE, FULL : str
        The current probabilities; one intercept per class, which corrects for class
        frequencies; intercepts and one slope; a calibrator that is fitted to the new rows.
    """

    NONE = "none"
    INTERCEPTS = "intercepts"
    SLOPE = "intercepts and slope"
    FULL = "full"


MAPS = {
    UpdateChoice.NONE: Map.IDENTITY,
    UpdateChoice.INTERCEPTS: Map.INTERCEPTS,
    UpdateChoice.SLOPE: Map.COMMON_SLOPE,
}
_NAMES = {
    UpdateChoice.NONE: "the current probabilities",
    UpdateChoice.INTERCEPTS: "a correction for class frequencies",
    UpdateChoice.SLOPE: "a correction for class frequencies and confidence",
}


@dataclass(frozen=True)
class UpdateTest(Record):
    """A likelihood-ratio test of a candidate against the largest alternative.

    Attributes
    ----------
    candidate : UpdateChoice
        The candidate. The null hypothesis is that it fits the new rows.
    statistic : float
        Twice the log of the likelihood ratio to a map with one intercept and one slope per class.
    degrees_of_freedom : int
        The number of parameters by which the two maps differ.
    p_value : float
        The p-value, by simulation.
    """

    candidate: UpdateChoice
    statistic: float
    degrees_of_freedom: int
    p_value: float

    @property
    def numbers(self) -> str:
        """The statistic and the p-value, in words."""
        return f"likelihood-ratio statistic {self.statistic:.1f}, simulated p = {self.p_value:.3f}"


@dataclass(frozen=True)
class UpdateReport(Record):
    """What an update chose, and why.

    Attributes
    ----------
    choice : UpdateChoice
        How far the probabilities are updated.
    tests : tuple of UpdateTest
        The tests of the candidates, in order. The last one is not significant, unless all are.
    n_rows, n_tested : int
        The number of new rows, and of independent rows that were tested.
    alpha : float
        The significance threshold.
    absent_classes : tuple
        Classes without new rows.
    before : Performance
        The performance of the current probabilities on the new rows.
    performance : Performance or None
        That of the updated probabilities, with each row held out. ``None`` means not measured.
    """

    choice: UpdateChoice
    tests: tuple[UpdateTest, ...]
    n_rows: int
    n_tested: int
    alpha: float
    absent_classes: tuple[Any, ...]
    before: Performance
    performance: Performance | None

    @property
    def reason(self) -> str:
        """The choice and its reason, in one or two sentences."""
        rows = count(self.n_tested, "new row")
        last = self.tests[-1]
        if self.choice == UpdateChoice.NONE:
            return (
                f"The probabilities are left as they are: {rows} "
                f"{'gives' if self.n_tested == 1 else 'give'} no evidence against them beyond "
                f"chance ({last.numbers})."
            )
        rejected = [
            f"{_NAMES[test.candidate]} ({test.numbers})"
            for test in self.tests
            if test.p_value < self.alpha
        ]
        if self.choice == UpdateChoice.FULL:
            return (
                f"The probabilities are recalibrated in full, because {rows} contradict "
                f"{join_phrases(rejected)} beyond chance."
            )
        return (
            f"{capitalize(_NAMES[self.choice])} is chosen: {rows} contradict "
            f"{' and '.join(rejected)} beyond chance, but not the corrected probabilities "
            f"({last.numbers}; the level is {self.alpha:g})."
        )

    def with_labels(self, classes: Sequence[Any] | NDArray[Any]) -> UpdateReport:
        """Return the report with class labels in place of column indices.

        Parameters
        ----------
        classes : sequence
            The label of each column.

        Returns
        -------
        UpdateReport
            The same report, with the labels of the classes without new rows.
        """
        absent = np.asarray(classes)[list(self.absent_classes)].tolist()
        return replace(self, absent_classes=tuple(absent))

    def __str__(self) -> str:
        text = self.reason
        if self.choice != UpdateChoice.NONE and self.performance is not None:
            before, after = self.before.log_loss.estimate, self.performance.log_loss.estimate
            verb = "falls" if after < before else "does not fall: it goes"
            text += f" On held-out new rows, the log loss {verb} from {before:.3f} to {after:.3f}."
        if self.absent_classes:
            names = ", ".join(str(name) for name in self.absent_classes)
            text += f" Classes without new rows: {names}."
        return text


class UpdateCalibrator(MulticlassCalibrator):
    r"""Calibrator that updates probabilities only as far as new rows require.

    The probabilities of a fitted model are compared with the classes of new rows. A closed testing
    procedure [1]_ chooses the smallest update that the rows do not contradict: none, a correction
    for class frequencies, a correction for class frequencies and confidence, or full
    recalibration. With few rows, it usually chooses none.

    Parameters
    ----------
    calibrator : multi-class calibrator, default=None
        The calibrator for full recalibration. ``None`` means `AutoCalibrator`.
    alpha : float, default=0.05
        The significance threshold. It bounds the probability that the update goes further than
        necessary.
    n_resamples : int, default=499
        The number of simulated sets of labels per test, at least 19.
    random_state : int, RandomState or None, default=0
        Seeds the simulation. By default, the same rows give the same result.

    Attributes
    ----------
    report_ : UpdateReport
        What was chosen, and why. ``print(report_)`` says it in words.
    intercept_ : ndarray of shape (n_classes,)
        The intercepts, which sum to 0. They are 0 unless intercepts were chosen.
    slope_ : float
        The slope; 1 unless it was chosen.
    calibrator_ : calibrator or None
        The calibrator for full recalibration; None unless it was chosen.

    See Also
    --------
    calibrant.updating.UpdatedClassifier : Updates a fitted classifier.
    calibrant.validation.validate_probabilities : Says whether an update is needed.

    Notes
    -----
    The candidates are the maps :math:`\operatorname{softmax}(a \log p + b)` of a row of
    probabilities :math:`p`, with :math:`a = 1, b = 0` (none), with :math:`a = 1` (class
    frequencies) and with one slope :math:`a` for all classes. If only the class frequencies
    have changed, from :math:`\pi` to :math:`\pi'`, the second one with
    :math:`b_k = \log (\pi'_k / \pi_k)` up to a constant is exactly right. For two classes, the
    candidates are those of [1]_: recalibration in the large and logistic recalibration.

    Each candidate in turn is tested against the same map with one slope per class, which has
    :math:`2 K - 1` parameters, by its likelihood ratio. The first one with a p-value of at least
    ``alpha`` is chosen; if there is none, ``calibrator`` is fitted. Since a candidate is reached
    only if all smaller ones were rejected, the probability of going too far is at most ``alpha``,
    without a correction for multiple tests.

    The p-values are simulated by drawing labels from the fitted candidate, because the chi-squared
    distribution is inaccurate with few rows. For the first test they are exact. At most 2,000
    rows are tested, and with groups, one random row of each.

    The parameters maximize the likelihood of the new rows and of :math:`4 K` imaginary rows whose
    classes follow the current probabilities: with :math:`q` the updated probabilities,

    .. math:: \sum_{i=1}^{n} \log q_{i y_i} + \frac{4 K}{n} \sum_{i=1}^{n} \sum_k
        p_{ik} \log q_{ik} .

    Such a prior [2]_ keeps all parameters finite even if a class has no new rows, and pulls them
    toward no update, because estimates from few rows tend to overshoot.

    There is no probability floor: it was applied when the model was calibrated, and a few new
    rows are no reason to raise it.

    References
    ----------
    .. [1] Y. Vergouwe, D. Nieboer, R. Oostenbrink, T. P. A. Debray, G. D. Murray, M. W. Kattan,
           H. Koffijberg, K. G. M. Moons and E. W. Steyerberg, "A closed testing procedure to
           select an appropriate method for updating prediction models", Statistics in Medicine
           36, 2017.
    .. [2] S. Greenland, "Prior data for non-normal priors", Statistics in Medicine 26, 2007.

    Examples
    --------
    The odds of the first class are now four times as large:

    >>> from calibrant.calibrators import UpdateCalibrator
    >>> proba = [[0.8, 0.2]] * 100 + [[0.2, 0.8]] * 100
    >>> y = [0] * 94 + [1] * 6 + [0] * 50 + [1] * 50
    >>> update = UpdateCalibrator().fit(proba, y)
    >>> update.report_.choice.value
    'intercepts'
    >>> update.predict_proba([[0.5, 0.5]]).round(2)
    array([[0.79, 0.21]])
    """

    report_: UpdateReport
    intercept_: FloatArray
    slope_: float
    calibrator_: Any

    def __init__(
        self,
        calibrator: Any = None,
        *,
        alpha: float = 0.05,
        n_resamples: int = 499,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.calibrator = calibrator
        self.alpha = alpha
        self.n_resamples = n_resamples
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose an update and fit it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes)
            Probabilities of new rows, which sum to 1.
        y : array-like of shape (n_samples,)
            Class labels. The sorted labels correspond to the columns. If some classes have no
            rows, the labels must be column numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, interpreted as numbers of rows. Rows of weight 0 are ignored. ``None``
            means 1 for every row.
        groups : array-like of shape (n_samples,), default=None
            The group of each row: rows of one group, such as those of one patient, are not
            independent. ``None`` means ungrouped.

        Returns
        -------
        UpdateCalibrator
            The fitted calibrator.
        """
        score, index, weight = self._check_points(X, y, sample_weight)
        group = np.arange(len(index))
        if groups is not None:
            check_consistent_length(y, groups)
            used = check_weight(sample_weight, y) > 0
            group = np.unique(column_or_1d(groups)[used], return_inverse=True)[1]
            if len(group) > 1 and not group.any():
                raise ValueError(
                    f"groups must name at least two groups of rows, but all {len(group)} rows "
                    "belong to one, which says too little. Add rows of other groups, or leave "
                    "groups out if the rows are independent."
                )
        self._fit_groups(score, index, weight, group)
        return self

    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        self._fit_groups(score, y, weight, np.arange(len(y)))

    def _fit_groups(
        self, score: FloatArray, y: IndexArray, weight: FloatArray, group: IndexArray
    ) -> None:
        """Choose an update and fit it to checked rows."""
        check_alpha(self.alpha)
        if not (isinstance(self.n_resamples, int | np.integer) and self.n_resamples >= 19):
            raise ValueError(
                f"n_resamples must be an integer of at least 19, got {self.n_resamples!r}. "
                "Omit it to use the default."
            )
        rng = check_random_state(self.random_state)
        tested = _independent_rows(group, rng)
        with one_blas_thread():
            tests = self._test(score[tested], y[tested], weight[tested], rng)
            passed = [test.candidate for test in tests if test.p_value >= self.alpha]
            choice = passed[0] if passed else UpdateChoice.FULL
            self._set(choice, score, y, weight, group)
            before, performance = (
                self._measure(each, score, y, weight, group) for each in (UpdateChoice.NONE, choice)
            )
        self.report_ = UpdateReport(
            choice,
            tests,
            n_rows=len(y),
            n_tested=len(tested),
            alpha=float(self.alpha),
            absent_classes=tuple(self.classes_[self.class_count_ == 0].tolist()),
            before=before,
            performance=performance,
        )

    def _test(
        self, score: FloatArray, y: IndexArray, weight: FloatArray, rng: np.random.RandomState
    ) -> tuple[UpdateTest, ...]:
        """Test the candidates in order until one is not rejected."""
        tests: list[UpdateTest] = []
        for candidate, kind in MAPS.items():
            found: LikelihoodRatio = likelihood_ratio_test(
                kind, _log(score), y, weight, n_resamples=self.n_resamples, rng=rng
            )
            tests.append(UpdateTest(candidate, *found))
            if found.p_value >= self.alpha:
                break
        return tuple(tests)

    def _set(
        self,
        choice: UpdateChoice,
        score: FloatArray,
        y: IndexArray,
        weight: FloatArray,
        group: IndexArray,
    ) -> None:
        """Fit the chosen update to all rows."""
        self.calibrator_ = None
        if choice == UpdateChoice.FULL:
            full = AutoCalibrator() if self.calibrator is None else clone(self.calibrator)
            self.calibrator_ = fit_calibrator(full, score, y, weight, group)
        intercept, slope = _fit_with_prior(MAPS.get(choice, Map.IDENTITY), score, y, weight)
        self.intercept_, self.slope_ = intercept, float(slope[0])

    def _measure(
        self,
        choice: UpdateChoice,
        score: FloatArray,
        y: IndexArray,
        weight: FloatArray,
        group: IndexArray,
    ) -> Performance:
        """Measure the performance of an update on held-out rows."""
        fold = fold_of_points(y, group, N_FOLDS, np.random.RandomState(0))
        proba = score
        if choice != UpdateChoice.NONE and fold.min(initial=0) >= 0:

            def predict(train: BoolArray, test: BoolArray) -> FloatArray:
                update = clone(self)
                update.classes_, update.n_features_in_ = self.classes_, self.n_features_in_
                update._set(choice, score[train], y[train], weight[train], group[train])
                return update._proba(score[test])

            proba = cross_fit(fold, predict, score.shape[1])
        labels = np.arange(score.shape[1])
        return measure_performance(y, proba, groups=group, labels=labels, sample_weight=weight)

    def _proba(self, score: FloatArray) -> FloatArray:
        if self.calibrator_ is not None:
            return predict_points(self.calibrator_, score)
        if self.slope_ == 1.0 and not self.intercept_.any():
            return score
        slope = np.full(score.shape[1], self.slope_)
        return softmax(MapParameters(self.intercept_, slope).logits(_log(score)))

    def _floored_proba(self, score: FloatArray) -> FloatArray:
        return self._proba(score)


def _fit_with_prior(
    kind: Map, score: FloatArray, y: IndexArray, weight: FloatArray
) -> MapParameters:
    """Fit a map to the rows and to imaginary rows that agree with the scores."""
    n_classes = score.shape[1]
    imaginary = PSEUDO_COUNT * n_classes / weight.sum() * score
    target = (np.eye(n_classes)[y] + imaginary) * weight[:, None]
    return fit_map(kind, _log(score), target)


def _independent_rows(group: IndexArray, rng: np.random.RandomState) -> IndexArray:
    """Return one random row of each group, of at most `MOST_TESTED` groups."""
    order = rng.permutation(len(group))
    _, first = np.unique(group[order], return_index=True)
    return np.sort(order[np.sort(first)[:MOST_TESTED]])


def _log(score: FloatArray) -> FloatArray:
    return np.log(np.maximum(score, SMALLEST_SCORE))
