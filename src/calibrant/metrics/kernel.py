"""The kernel calibration error of all classes jointly, and a test based on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist, squareform
from sklearn.utils import check_random_state

from calibrant._core.records import Record
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.metrics._drawing import draw_labels
from calibrant.metrics._forecasts import top_label_forecast
from calibrant.metrics._validation import Predictions, check_count, check_predictions

# Statistics that differ by less than this, relative to the largest, are ties broken by rounding.
ROUNDING = 1e-9
# Resamples are drawn in chunks whose arrays hold at most this many numbers.
MAX_CHUNK_SIZE = 2_000_000
# The time and memory of the test grow with the square of the number of rows.
MAX_TEST_ROWS = 3000


def kernel_calibration_error(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Squared kernel calibration error of all classes jointly.

    The other calibration errors assess one event at a time. This one detects any deviation of
    the predicted probabilities from the conditional class probabilities and requires no bins.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`.

    Returns
    -------
    float
        An unbiased estimate of the squared error. It is close to 0 for calibrated
        probabilities and can be negative. Its expectation is at most the mean squared
        Euclidean distance between predicted and conditional probabilities.

    See Also
    --------
    calibration_test : Test whether the error differs significantly from 0.

    Notes
    -----
    With the residuals :math:`r_i = e_{y_i} - p_i`, where :math:`e_k` is the indicator vector of
    class :math:`k`, the estimate is [1]_

    .. math::

        \frac{\sum_{i \ne j} w_i w_j \, k(p_i, p_j) \, r_i^\top r_j}{\sum_{i \ne j} w_i w_j} ,
        \qquad k(p, q) = \exp(-{\lVert p - q \rVert}_{1} / \nu) ,

    where the bandwidth :math:`\nu` is the mean distance between two rows. Time and memory grow
    with the square of the number of rows. Each row counts as one observation, regardless of its
    weight.

    References
    ----------
    .. [1] D. Widmann, F. Lindsten and D. Zachariah, "Calibration tests in multi-class
           classification: A unifying framework", NeurIPS 2019.

    Examples
    --------
    >>> from calibrant.metrics import kernel_calibration_error
    >>> proba = [[0.6, 0.2, 0.2]] * 100
    >>> right, wrong = [0] * 60 + [1] * 20 + [2] * 20, [0] * 20 + [1] * 60 + [2] * 20
    >>> f"{kernel_calibration_error(right, proba):.3f}"
    '-0.006'
    >>> f"{kernel_calibration_error(wrong, proba):.3f}"  # close to 0.4 ** 2 + 0.4 ** 2
    '0.314'
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    _check_pairs(data)
    pair_weights = _pair_weights(data.proba, data.weight)
    return float(_mean_products((data.one_hot - data.proba)[None], pair_weights)[0])


@dataclass(frozen=True)
class CalibrationTest(Record):
    """The result of `calibration_test`.

    Attributes
    ----------
    statistic : float
        The squared kernel calibration error of all classes plus that of the most probable
        class.
    p_value : float
        The probability that calibrated probabilities give a statistic at least as large.
    """

    statistic: float
    p_value: float

    def __str__(self) -> str:
        return f"Calibration test: statistic {self.statistic:.4g}, p = {self.p_value:.3g}"


def calibration_test(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    n_resamples: int = 999,
    random_state: int | np.random.RandomState | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> CalibrationTest:
    r"""Test the hypothesis that the probabilities of all classes are calibrated.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`. The rows must be independent of each other and of the data that the
        probabilities were fitted to.
    n_resamples : int, default=999
        The number of label vectors to draw, at least 19. The p-value is at least
        ``1 / (1 + n_resamples)``.
    random_state : int, RandomState or None, default=None
        Seeds the draws.

    Returns
    -------
    CalibrationTest
        The statistic and its p-value. A small p-value is evidence of miscalibration.

    See Also
    --------
    kernel_calibration_error : The size of the error.

    Notes
    -----
    Under the hypothesis, label vectors drawn from the predicted probabilities have the same
    distribution as the true labels. With :math:`T_0` the statistic of the true labels and
    :math:`T_1, \ldots, T_B` those of the drawn labels, the p-value is [1]_, [2]_

    .. math:: p = \frac{1 + \#\{b \ge 1 : T_b \ge T_0\}}{1 + B} .

    The test is therefore exact for any number of rows and classes. A large p-value does not show
    that probabilities are calibrated: a few dozen rows reveal only gross errors.

    The statistic is `kernel_calibration_error` plus the same estimate for the most probable
    class alone. The first term detects classes that are predicted too often or too rarely. The
    second detects overconfidence, which the first spreads thinly over many classes. Their sum is
    the squared error of a matrix-valued kernel [3]_ and detects any miscalibration, given
    enough rows. If there are more than 3,000 rows, a random sample of 3,000 is used.

    References
    ----------
    .. [1] J. Brocker and L. A. Smith, "Increasing the reliability of reliability diagrams",
           Weather and Forecasting 22, 2007.
    .. [2] B. Phipson and G. K. Smyth, "Permutation p-values should never be zero",
           Statistical Applications in Genetics and Molecular Biology 9, 2010.
    .. [3] D. Widmann, F. Lindsten and D. Zachariah, "Calibration tests in multi-class
           classification: A unifying framework", NeurIPS 2019.

    Examples
    --------
    >>> from calibrant.metrics import calibration_test
    >>> proba = [[0.6, 0.2, 0.2]] * 100
    >>> right, wrong = [0] * 60 + [1] * 20 + [2] * 20, [0] * 40 + [1] * 30 + [2] * 30
    >>> calibration_test(right, proba, random_state=0).p_value > 0.5
    True
    >>> calibration_test(wrong, proba, random_state=0).p_value
    0.001
    """
    check_count("n_resamples", n_resamples, 19)
    data = check_predictions(y_true, proba, labels, sample_weight)
    _check_pairs(data)
    rng = check_random_state(random_state)
    if len(data.y_index) > MAX_TEST_ROWS:
        data = data.take(rng.choice(len(data.y_index), MAX_TEST_ROWS, replace=False))
    top = top_label_forecast(data)
    class_pairs = _pair_weights(data.proba, data.weight)
    top_pairs = _pair_weights(top.predicted[:, None], data.weight)

    def statistics(y_index: IndexArray) -> FloatArray:
        class_residuals = np.eye(data.proba.shape[1])[y_index] - data.proba
        top_residuals = (y_index == data.top_label) - top.predicted
        return _mean_products(class_residuals, class_pairs) + _mean_products(
            top_residuals[:, :, None], top_pairs
        )

    observed = statistics(data.y_index[None])[0]
    chunk = max(1, MAX_CHUNK_SIZE // data.proba.size)
    drawn = np.concatenate(
        [
            statistics(draw_labels(data.proba, min(chunk, n_resamples - done), rng))
            for done in range(0, n_resamples, chunk)
        ]
    )
    slack = ROUNDING * max(np.abs(drawn).max(), abs(observed))
    at_least_as_large = np.count_nonzero(drawn >= observed - slack)
    return CalibrationTest(float(observed), float((1 + at_least_as_large) / (1 + n_resamples)))


def _check_pairs(data: Predictions) -> None:
    if len(data.y_index) < 2:
        raise ValueError(
            "y_true must have at least two rows of positive weight, got "
            f"{len(data.y_index)}, because pairs of rows are compared. Add rows."
        )


def _pair_weights(points: FloatArray, weight: FloatArray) -> FloatArray:
    """Return w_i w_j k(x_i, x_j) / sum of w_i w_j for all pairs of different rows, else 0."""
    distance = squareform(pdist(points, "cityblock"))
    pairs = np.outer(weight, weight)
    np.fill_diagonal(pairs, 0.0)
    pairs /= pairs.sum()
    bandwidth = np.sum(pairs * distance)
    return pairs * np.exp(-distance / bandwidth) if bandwidth > 0 else pairs


def _mean_products(residuals: FloatArray, pair_weights: FloatArray) -> FloatArray:
    """Return the weighted mean product of the residuals of two rows, for several label vectors.

    Parameters
    ----------
    residuals : ndarray of shape (n_vectors, n_samples, n_columns)
        The residuals of each label vector.
    pair_weights : ndarray of shape (n_samples, n_samples)
        The weights of the pairs.

    Returns
    -------
    ndarray of shape (n_vectors,)
        The means.
    """
    n_vectors, n_samples, n_columns = residuals.shape
    # A single matrix product for all label vectors and columns.
    flat = np.ascontiguousarray(residuals.transpose(1, 0, 2)).reshape(n_samples, -1)
    products = flat * (pair_weights @ flat)
    return np.asarray(products.reshape(n_samples, n_vectors, n_columns).sum(axis=(0, 2)))
