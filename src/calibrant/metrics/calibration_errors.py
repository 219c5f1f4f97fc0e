"""How far off probabilities are on average: in bins, debiased, and smooth."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import dct, idct
from scipy.optimize import brentq

from calibrant.metrics._validation import Forecast, check_predictions, forecasts
from calibrant.metrics.reliability import assign_bins, curve_of

# Predictions are taken at this many places between 0 and 1, to be smoothed.
GRID_SIZE = 1024


def expected_calibration_error(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    kind: str = "top-label",
    n_bins: int = 10,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean distance between predicted probability and observed frequency, in bins.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`.
    kind : {"top-label", "classwise"}, default="top-label"
        Whether to look at the probability of the most probable class, or at every class
        by itself and to average over the classes.
    n_bins : int, default=10
        The number of bins of equal weight.

    Returns
    -------
    float
        The calibration error; 0 is best.

    See Also
    --------
    squared_calibration_error : Without the bias.
    smooth_calibration_error : Without the bins.
    kernel_calibration_error : Of all classes at once.

    Notes
    -----
    It is biased upward when rows are few: perfect probabilities have an error of about 0.12
    at 100 rows and 0.07 at 300, for it adds up the chance of every bin.

    References
    ----------
    .. [1] M. P. Naeini, G. F. Cooper and M. Hauskrecht, "Obtaining well calibrated
           probabilities using Bayesian binning", AAAI 2015.
    .. [2] M. Kull, M. Perello-Nieto, M. Kangsepp, T. Silva Filho, H. Song and P. Flach,
           "Beyond temperature scaling: Obtaining well-calibrated multiclass probabilities
           with Dirichlet calibration", NeurIPS 2019.

    Examples
    --------
    >>> from calibrant.metrics import expected_calibration_error
    >>> proba = [[0.75, 0.25]] * 4
    >>> expected_calibration_error([0, 0, 0, 1], proba)
    0.0
    >>> expected_calibration_error([0, 0, 1, 1], proba, kind="classwise")
    0.25
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    errors = [curve_of(own, n_bins).calibration_error for own in forecasts(data, kind)]
    return float(np.mean(errors))


def squared_calibration_error(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    kind: str = "top-label",
    n_bins: int = 10,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean squared distance between predicted and observed, in bins, without bias.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`.
    kind : {"top-label", "classwise"}, default="top-label"
        As for `expected_calibration_error`.
    n_bins : int, default=10
        The number of bins of equal weight. A bin of one row says nothing and is left out.

    Returns
    -------
    float
        The squared calibration error: around 0 for perfect probabilities, below as well as
        above.

    Notes
    -----
    The square of a bin's mean residual holds the chance of each row. That part, the products
    of a row's residual with itself, is left out: what remains are products of different rows,
    whose mean is that of the squared error [1]_, [2]_. With one prediction a bin this is the
    debiased estimator of [1]_. A row is one observation whatever its weight.

    References
    ----------
    .. [1] A. Kumar, P. Liang and T. Ma, "Verified uncertainty calibration", NeurIPS 2019.
    .. [2] J. Brocker, "Estimating reliability and resolution of probability forecasts through
           decomposition of the empirical score", Climate Dynamics 39, 2012.

    Examples
    --------
    >>> from calibrant.metrics import squared_calibration_error
    >>> proba = [[0.9, 0.1]] * 100
    >>> round(squared_calibration_error([0] * 70 + [1] * 30, proba), 4)  # nearly 0.2 ** 2
    0.0379
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    return float(np.mean([_debiased_square(own, n_bins) for own in forecasts(data, kind)]))


def smooth_calibration_error(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    kind: str = "top-label",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean distance between predicted and observed, smoothed instead of binned.

    Parameters
    ----------
    y_true, proba, labels, sample_weight
        As for `log_loss`.
    kind : {"top-label", "classwise"}, default="top-label"
        As for `expected_calibration_error`.

    Returns
    -------
    float
        The calibration error; 0 is best.

    Notes
    -----
    The residuals are smoothed along the predictions with a Gaussian kernel, reflected at 0
    and 1, and the mean absolute value of what results is taken. The more is smoothed, the
    smaller it gets; the error is where it equals the width of the kernel, so there is nothing
    to choose and no jump where a prediction crosses the edge of a bin [1]_. As
    `expected_calibration_error` it is biased upward when rows are few, though less.

    References
    ----------
    .. [1] J. Blasiok and P. Nakkiran, "Smooth ECE: Principled reliability diagrams via kernel
           smoothing", ICLR 2024.

    Examples
    --------
    >>> from calibrant.metrics import smooth_calibration_error
    >>> round(smooth_calibration_error([0] * 70 + [1] * 30, [[0.9, 0.1]] * 100), 3)
    0.2
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    return float(np.mean([_smooth_error(own) for own in forecasts(data, kind)]))


def _debiased_square(forecast: Forecast, n_bins: int) -> float:
    weight, residual = forecast.weight, forecast.residual
    place = assign_bins(forecast.predicted, weight, n_bins)
    total = np.bincount(place, weight)
    # Sums over pairs of different rows: all pairs, less each row with itself.
    pairs = total**2 - np.bincount(place, weight**2)
    products = np.bincount(place, weight * residual) ** 2
    products -= np.bincount(place, (weight * residual) ** 2)
    several = np.bincount(place) > 1
    if not several.any():
        raise ValueError(
            f"n_bins must leave two rows to some bin. Got {len(weight)} rows and {n_bins} bins. "
            "Use fewer bins."
        )
    return float(np.average(products[several] / pairs[several], weights=total[several]))


def _smooth_error(forecast: Forecast) -> float:
    place = np.minimum((forecast.predicted * GRID_SIZE).astype(np.intp), GRID_SIZE - 1)
    residual = np.bincount(place, forecast.weight * forecast.residual, GRID_SIZE)
    # A Gaussian reflected at both ends damps the cosine of frequency k by exp(-(pi k s)^2 / 2).
    waves = dct(residual / forecast.weight.sum())
    frequency = np.pi * np.arange(GRID_SIZE)

    def excess(width: float) -> float:
        damped = waves * np.exp(-0.5 * (frequency * width) ** 2)
        return float(np.abs(idct(damped)).sum()) - width

    # The smoothed residual falls with the width and is never above 1, so 2 is beyond the root.
    return float(brentq(excess, 0.0, 2.0)) if excess(0.0) > 0 else 0.0
