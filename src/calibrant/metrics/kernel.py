"""Calibration of all classes at once: the kernel calibration error, and a test of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist, squareform
from sklearn.utils import check_random_state

from calibrant._core.records import Record
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.metrics._validation import (
    Predictions,
    check_count,
    check_predictions,
    top_label_forecast,
)

# Statistics this close, relative to the largest, are equal but for the order of summation.
ROUNDING = 1e-9
# Resamples are drawn so many at a time that no array holds more numbers than this.
LARGEST_CHUNK = 2_000_000
# The test compares so many rows with one another at most, a few seconds' work.
MOST_ROWS = 3000


def kernel_calibration_error(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Squared calibration error of whole rows of probabilities, without bias or bins.

    Where `expected_calibration_error` looks at one class at a time, this asks whether all
    probabilities of a row are right together.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`.

    Returns
    -------
    float
        The squared kernel calibration error: around 0 for perfect probabilities, below as
        well as above. But for chance it is never above the mean squared distance of predicted
        and true probabilities.

    See Also
    --------
    calibration_test : Whether it is more than chance.

    Notes
    -----
    The mean, over pairs of different rows, of the product of their residuals (one-hot truth
    less probabilities) times a kernel that is near 1 for like probabilities and near 0 for
    unlike ones. The kernel is Laplace's of the total variation distance, as wide as the mean
    distance of two rows [1]_. Time and memory grow with the square of the number of rows. A row
    is one observation whatever its weight.

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
    >>> f"{kernel_calibration_error(wrong, proba):.3f}"  # nearly 0.4 ** 2 + 0.4 ** 2
    '0.314'
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    _check_pairs(data)
    gram = _pair_weights(data.proba, data.weight)
    return float(_mean_products((data.one_hot - data.proba)[None], gram)[0])


@dataclass(frozen=True)
class CalibrationTest(Record):
    """The result of `calibration_test`.

    Attributes
    ----------
    statistic : float
        The squared kernel calibration error of the rows plus that of the most probable class.
    p_value : float
        How often probabilities that are right have a statistic as large, by chance.
    """

    statistic: float
    p_value: float


def calibration_test(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    n_resamples: int = 999,
    random_state: int | np.random.RandomState | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> CalibrationTest:
    """Test whether probabilities are calibrated, all classes at once, on few rows.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`. The rows must be independent of one another, and of what the
        probabilities were fitted on.
    n_resamples : int, default=999
        The number of label sets to draw. The p-value is never below 1 / (1 + n_resamples).
    random_state : int, RandomState or None, default=None
        Seeds the draws.

    Returns
    -------
    CalibrationTest
        The statistic and its p-value; a small one says that the probabilities are off.

    Notes
    -----
    If the probabilities are right, labels drawn from them are as good as the true ones.
    So many sets are drawn, and the p-value is the share of all sets, the true one among
    them, whose statistic is at least that of the true one [1]_, [2]_. False alarms are
    therefore as rare as the level says, whatever the number of rows and classes. A large
    p-value is no proof: a few dozen rows show only gross errors.

    The statistic is `kernel_calibration_error`, plus the same of the probability of the most
    probable class alone. The first sees classes that get too much or too little, the second
    overconfidence, which is thinly spread over the rows of many classes. Their sum is again
    the squared error of a matrix-valued kernel [3]_, with power against any miscalibration.
    Of more than 3,000 rows, 3,000 are drawn.

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
    if len(data.true) > MOST_ROWS:
        data = data.take(rng.choice(len(data.true), MOST_ROWS, replace=False))
    top = top_label_forecast(data)
    row_gram = _pair_weights(data.proba, data.weight)
    top_gram = _pair_weights(top.predicted[:, None], data.weight)

    def statistics(true: IndexArray) -> FloatArray:
        rows = np.eye(data.proba.shape[1])[true] - data.proba
        tops = (true == data.top) - top.predicted
        return _mean_products(rows, row_gram) + _mean_products(tops[:, :, None], top_gram)

    own = statistics(data.true[None])[0]
    chunk = max(1, LARGEST_CHUNK // data.proba.size)
    drawn = np.concatenate(
        [
            statistics(_draw_labels(data.proba, min(chunk, n_resamples - done), rng))
            for done in range(0, n_resamples, chunk)
        ]
    )
    slack = ROUNDING * max(np.abs(drawn).max(), abs(own))
    as_large = np.count_nonzero(drawn >= own - slack)
    return CalibrationTest(float(own), float((1 + as_large) / (1 + n_resamples)))


def _check_pairs(data: Predictions) -> None:
    """Check that there are two rows to compare."""
    if len(data.true) < 2:
        raise ValueError(
            "y_true must hold two rows of positive weight or more, for pairs are compared. "
            f"Got {len(data.true)}. Add rows."
        )


def _pair_weights(places: FloatArray, weight: FloatArray) -> FloatArray:
    """Kernel times weight of each pair of rows, over the weight of all pairs; no row with itself.

    Total variation distance is half the city block's, a factor that the mean takes out.
    """
    distance = squareform(pdist(places, "cityblock"))
    pairs = np.outer(weight, weight)
    np.fill_diagonal(pairs, 0.0)
    pairs /= pairs.sum()
    width = np.sum(pairs * distance)
    return pairs * np.exp(-distance / width) if width > 0 else pairs


def _mean_products(residuals: FloatArray, pair_weights: FloatArray) -> FloatArray:
    """Mean product of the residuals of two rows, for each of several sets of residuals.

    Parameters
    ----------
    residuals : ndarray of shape (n_sets, n_samples, n_columns)
        Residuals.
    pair_weights : ndarray of shape (n_samples, n_samples)
        The weight of each pair.

    Returns
    -------
    ndarray of shape (n_sets,)
        The means.
    """
    n_sets, n_samples, n_columns = residuals.shape
    flat = np.ascontiguousarray(residuals.transpose(1, 0, 2)).reshape(n_samples, -1)
    products = flat * (pair_weights @ flat)
    return np.asarray(products.reshape(n_samples, n_sets, n_columns).sum(axis=(0, 2)))


def _draw_labels(proba: FloatArray, n_sets: int, rng: np.random.RandomState) -> IndexArray:
    """Draw a class for every row from its probabilities, several times.

    A class of probability 0 is never drawn: a draw is the first class whose cumulated
    probability exceeds a uniform number below the sum of the row.
    """
    cumulated = proba.cumsum(axis=1)
    uniform = rng.uniform(size=(n_sets, len(proba))) * cumulated[:, -1]
    return np.asarray((uniform[:, :, None] >= cumulated[:, :-1]).sum(axis=2))
