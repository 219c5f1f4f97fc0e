"""Intervals and tests for held-out predictions."""

from __future__ import annotations

from functools import partial
from math import isnan
from typing import Any, Literal

import numpy as np
from scipy.stats import t as student

from calibrant._core.binning import default_n_bins
from calibrant._core.records import Interval
from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant.comparison import corrected_interval, corrected_t_test
from calibrant.metrics import bootstrap_interval, calibration_test, squared_calibration_error
from calibrant.metrics.performance import grouped_mean
from calibrant.report.effects import Change
from calibrant.report.evaluation import Evaluation

# A score is a mean, so its bootstrap is fast; a calibration error is recomputed for each resample.
N_SCORE_RESAMPLES, N_ERROR_RESAMPLES = 1000, 200
# More groups than this are resampled in random blocks, which bounds the time per interval.
MOST_BLOCKS = 100
# With fewer groups, resamples are too similar for an interval.
LEAST_BLOCKS = 10
# The test compares all pairs of rows. Miscalibration that this many rows do not reveal is small.
MOST_TESTED = 1000


class HeldOutStatistics:
    """Means, intervals and tests over the predictions of an evaluation.

    Calibration is assessed on the first repeat, in which each row is predicted at most once.

    Parameters
    ----------
    evaluation : Evaluation
        The held-out predictions.

    Attributes
    ----------
    evaluation : Evaluation
        The held-out predictions.
    labels : ndarray of shape (n_classes,)
        The column indices.
    y_true : ndarray of shape (n_predictions,)
        True class of each prediction, as a column index.
    first_repeat : ndarray of shape (n_predictions,)
        Whether each prediction belongs to the first repeat.
    n_groups : int
        Number of groups of held-out rows. Without groups, each row is a group.
    """

    def __init__(self, evaluation: Evaluation):
        self.evaluation = evaluation
        self.labels: IndexArray = np.arange(len(evaluation.classes))
        self.y_true = evaluation.y_true
        self.first_repeat: BoolArray = evaluation.split < evaluation.n_folds
        self._weight = evaluation.sample_weight
        rng = np.random.RandomState(evaluation.random_state)
        # Repeats of a row and rows of a group are resampled together.
        names, group = np.unique(evaluation.group[evaluation.row], return_inverse=True)
        self.n_groups = len(names)
        self._group: IndexArray = group
        block = rng.permutation(len(names)) % MOST_BLOCKS
        self._block = (np.arange(len(names)) if len(names) <= MOST_BLOCKS else block)[group]
        # The test assumes independent rows, so it gets one row per group.
        order = rng.permutation(np.flatnonzero(self.first_repeat))
        _, first = np.unique(group[order], return_index=True)
        self._tested = np.sort(order[np.sort(first)[:MOST_TESTED]])

    def mean(self, values: FloatArray) -> float:
        """Return the mean over rows, given one value per prediction."""
        return float(np.average(values, weights=self._weight))

    def interval(
        self, metric: Any, proba: FloatArray, *, first_repeat_only: bool = False
    ) -> Interval:
        """Return a metric and its bootstrap interval."""
        used = self.first_repeat if first_repeat_only else np.ones_like(self.first_repeat)
        y_true, proba, weight = self.y_true[used], proba[used], self._weight[used]
        if len(np.unique(self._block)) < LEAST_BLOCKS:
            estimate = metric(y_true, proba, labels=self.labels, sample_weight=weight)
            return Interval(estimate, np.nan, np.nan)
        return bootstrap_interval(
            metric,
            y_true,
            proba,
            n_resamples=N_ERROR_RESAMPLES if first_repeat_only else N_SCORE_RESAMPLES,
            groups=self._block[used],
            random_state=self.evaluation.random_state,
            labels=self.labels,
            sample_weight=weight,
        )

    def calibration_error(
        self, proba: FloatArray, kind: Literal["top-label", "classwise"] = "top-label"
    ) -> Interval:
        """Return a calibration error, root mean square, and its bootstrap interval.

        Negative estimates of the squared error, which are possible, count as 0.
        """
        n_bins = default_n_bins(int(self.first_repeat.sum()))
        metric = partial(squared_calibration_error, kind=kind, n_bins=n_bins)
        square = self.interval(metric, proba, first_repeat_only=True)
        values = np.array([square.estimate, square.low, square.high])
        estimate, low, high = np.sqrt(np.maximum(values, 0.0)).tolist()
        return Interval(estimate, low, high, square.level)

    def class_mean_error(self, proba: FloatArray, level: float) -> Interval:
        """Return the largest difference between mean probability and frequency of a class.

        The interval is joint over the classes, by Bonferroni's correction of t-intervals. If it
        includes 0 for all classes, the estimate is 0, since a maximum over classes is never 0.
        """
        first, n_classes = self.first_repeat, len(self.labels)
        if self.n_groups < LEAST_BLOCKS:
            return Interval(np.nan, np.nan, np.nan, level)
        residual = proba[first] - (self.y_true[first, None] == self.labels)
        weight = np.ones(len(residual))
        means = [grouped_mean(each, weight, self._group[first]) for each in residual.T]
        size = np.abs([mean.estimate for mean in means])
        # The differences of two classes are the same except for their sign.
        n_compared = 1 if n_classes == 2 else n_classes
        quantile = student.ppf(1.0 - (1.0 - level) / (2 * n_compared), means[0].n_rows - 1)
        half = quantile * np.array([mean.standard_error for mean in means])
        return Interval(
            float(np.where(size > half, size, 0.0).max()),
            float(np.maximum(size - half, 0.0).max()),
            float((size + half).max()),
            level,
        )

    def verdict_error(self, proba: FloatArray, top_label: Interval | None = None) -> Interval:
        """Return the error behind a verdict: of the most probable class or of any class.

        Parameters
        ----------
        proba : ndarray of shape (n_predictions, n_classes)
            The probabilities.
        top_label : Interval, default=None
            Their `calibration_error`, if it is already known.

        Returns
        -------
        Interval
            The estimate and the ends are each the larger of those of `calibration_error` and
            `class_mean_error`.
        """
        top = self.calibration_error(proba) if top_label is None else top_label
        of_class = self.class_mean_error(proba, top.level)
        if isnan(top.high) or isnan(of_class.high):
            return top
        return Interval(
            max(top.estimate, of_class.estimate),
            max(top.low, of_class.low),
            max(top.high, of_class.high),
            top.level,
        )

    def change(self, new: FloatArray, old: FloatArray) -> Change:
        """Compare two losses by the corrected paired t-test over splits."""
        pair = self._by_split(new), self._by_split(old)
        test_ratio = 1.0 / (self.evaluation.n_folds - 1)
        low, high = corrected_interval(*pair, test_ratio)
        estimate, half = self.mean(new - old), (high - low) / 2
        p_value = corrected_t_test(*pair, test_ratio).p_value
        return Change(estimate, estimate - half, estimate + half, p_value=p_value)

    def training_frequencies(self) -> FloatArray:
        """Return the class frequencies among the rows that are not held out in the same split.

        Half a row per class is added, since a class may have no such row.
        """
        evaluation = self.evaluation
        n_classes, n_splits = len(self.labels), int(evaluation.split.max()) + 1
        held_out = np.bincount(
            evaluation.split * n_classes + self.y_true, minlength=n_splits * n_classes
        )
        rest = evaluation.class_count + 0.5 - held_out.reshape(n_splits, n_classes)
        return (rest / rest.sum(axis=1, keepdims=True))[evaluation.split]

    def calibration_p_value(self, proba: FloatArray) -> float:
        """Return the p-value of the test that all probabilities are calibrated."""
        rows = self._tested
        return calibration_test(
            self.y_true[rows],
            proba[rows],
            labels=self.labels,
            random_state=self.evaluation.random_state,
        ).p_value

    def _by_split(self, values: FloatArray) -> FloatArray:
        count = np.bincount(self.evaluation.split)
        return (np.bincount(self.evaluation.split, values) / np.maximum(count, 1))[count > 0]
