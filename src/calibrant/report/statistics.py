"""Intervals and tests for held-out predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._core.records import Interval
from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant.comparison import corrected_interval, corrected_t_test
from calibrant.metrics import bootstrap_interval, calibration_test
from calibrant.report.evaluation import Evaluation
from calibrant.report.records import Change

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

    def change(self, new: FloatArray, old: FloatArray) -> Change:
        """Compare two losses by the corrected paired t-test over splits."""
        pair = self._by_split(new), self._by_split(old)
        test_ratio = 1.0 / (self.evaluation.n_folds - 1)
        low, high = corrected_interval(*pair, test_ratio)
        estimate, half = self.mean(new - old), (high - low) / 2
        p_value = corrected_t_test(*pair, test_ratio).p_value
        return Change(estimate, estimate - half, estimate + half, p_value=p_value)

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
