"""Calibration errors of one event at a time: binned, debiased and smoothed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import dct, idct
from scipy.optimize import brentq

from calibrant._core.binning import assign_bins
from calibrant._core.phrases import count
from calibrant.metrics._forecasts import Forecast, make_forecasts
from calibrant.metrics._validation import Predictions, check_count, check_predictions
from calibrant.metrics.reliability import bin_forecast

# Before smoothing, predictions are binned into this many cells of [0, 1].
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
    r"""Compute the expected calibration error (ECE) with bins of equal weight.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`.
    kind : {"top-label", "classwise"}, default="top-label"
        Which probabilities to assess: those of the most probable class of each row, or those
        of each class in turn, averaged over the classes.
    n_bins : int, default=10
        The number of bins.

    Returns
    -------
    float
        The calibration error. The best value is 0.

    See Also
    --------
    squared_calibration_error : The squared error, without bias.
    smooth_calibration_error : The error without bins.
    kernel_calibration_error : The error of all classes jointly.

    Notes
    -----
    With :math:`W_b` the weight of bin :math:`b`, :math:`\bar{p}_b` its mean predicted probability
    and :math:`\bar{o}_b` its observed frequency, the error is

    .. math:: \mathrm{ECE} = \sum_b \frac{W_b}{\sum_c W_c} \, |\bar{p}_b - \bar{o}_b| .

    It is biased upward when there are few rows, because the sampling error of each bin adds to
    it: perfectly calibrated probabilities have an error of about 0.12 with 100 rows and 0.07
    with 300 rows.

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
    return _average(lambda each: bin_forecast(each, n_bins).calibration_error, data, kind)


def squared_calibration_error(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    kind: str = "top-label",
    n_bins: int = 10,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Debiased squared calibration error with bins of equal weight.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`.
    kind : {"top-label", "classwise"}, default="top-label"
        See `expected_calibration_error`.
    n_bins : int, default=10
        The number of bins. Bins with a single row are left out.

    Returns
    -------
    float
        The squared calibration error. It is close to 0 for calibrated probabilities and can
        be negative.

    Notes
    -----
    The squared mean residual of a bin overestimates the squared error, because the product of
    each residual :math:`r_i = o_i - p_i` with itself contributes its variance. Leaving out these
    products removes the bias [1]_, [2]_:

    .. math::

        \sum_b \frac{W_b}{\sum_c W_c} \,
        \frac{\sum_{i \ne j \in b} w_i w_j r_i r_j}{\sum_{i \ne j \in b} w_i w_j} .

    If all predictions in a bin are equal, this is the debiased estimator of [1]_. Each row counts
    as one observation, regardless of its weight.

    References
    ----------
    .. [1] A. Kumar, P. Liang and T. Ma, "Verified uncertainty calibration", NeurIPS 2019.
    .. [2] J. Brocker, "Estimating reliability and resolution of probability forecasts through
           decomposition of the empirical score", Climate Dynamics 39, 2012.

    Examples
    --------
    >>> from calibrant.metrics import squared_calibration_error
    >>> proba = [[0.9, 0.1]] * 100
    >>> round(squared_calibration_error([0] * 70 + [1] * 30, proba), 4)  # close to 0.2 ** 2
    0.0379
    """
    data = check_predictions(y_true, proba, labels, sample_weight)
    check_count("n_bins", n_bins, 1)
    return _average(lambda each: _debiased_square(each, n_bins), data, kind)


def smooth_calibration_error(
    y_true: ArrayLike,
    proba: ArrayLike,
    *,
    kind: str = "top-label",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Smooth calibration error, which requires no bins.

    Parameters
    ----------
    y_true, proba, labels, sample_weight : array-like
        See `log_loss`.
    kind : {"top-label", "classwise"}, default="top-label"
        See `expected_calibration_error`.

    Returns
    -------
    float
        The calibration error. The best value is 0.

    Notes
    -----
    The residuals :math:`r_i = o_i - p_i` are smoothed as a function of the prediction by a
    Gaussian kernel :math:`K_\sigma` that is reflected at 0 and 1. The error is the bandwidth that
    equals the mean absolute smoothed residual [1]_:

    .. math::

        \sigma = \int_0^1 \left|
            \sum_i \frac{w_i}{\sum_j w_j} \, r_i K_\sigma(t, p_i) \right| \, dt .

    The right-hand side decreases with :math:`\sigma`, so the solution is unique and there is
    nothing to tune. The error is a continuous function of the predictions. Like
    `expected_calibration_error`, it is biased upward when there are few rows, though less so.

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
    return _average(_smooth_error, data, kind)


def _average(error: Callable[[Forecast], float], data: Predictions, kind: str) -> float:
    return float(np.mean([error(forecast) for forecast in make_forecasts(data, kind)]))


def _debiased_square(forecast: Forecast, n_bins: int) -> float:
    weight, residual = forecast.weight, forecast.residual
    bin_index = assign_bins(forecast.predicted, weight, n_bins)
    total = np.bincount(bin_index, weight)
    # Sums over pairs of different rows: sums over all pairs minus the pairs of a row with itself.
    pairs = total**2 - np.bincount(bin_index, weight**2)
    products = np.bincount(bin_index, weight * residual) ** 2
    products -= np.bincount(bin_index, (weight * residual) ** 2)
    usable = np.bincount(bin_index) > 1
    if not usable.any():
        raise ValueError(
            f"n_bins must leave at least two rows in some bin, got "
            f"{count(n_bins, 'bin')} for {count(len(weight), 'row')}. Lower n_bins."
        )
    return float(np.average(products[usable] / pairs[usable], weights=total[usable]))


def _smooth_error(forecast: Forecast) -> float:
    cell = np.minimum((forecast.predicted * GRID_SIZE).astype(np.intp), GRID_SIZE - 1)
    residual = np.bincount(cell, forecast.weight * forecast.residual, GRID_SIZE)
    # Reflection at both ends makes the Gaussian diagonal in the cosine basis: it damps
    # frequency k by exp(-(pi k sigma)^2 / 2).
    waves = dct(residual / forecast.weight.sum())
    frequency = np.pi * np.arange(GRID_SIZE)

    def excess(sigma: float) -> float:
        damped = waves * np.exp(-0.5 * (frequency * sigma) ** 2)
        return float(np.abs(idct(damped)).sum()) - sigma

    # The smoothed residual decreases with sigma and is at most 1, so the root lies below 2.
    return float(brentq(excess, 0.0, 2.0)) if excess(0.0) > 0 else 0.0
