"""Probabilities for another mix of classes than the one that a model was fitted on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import chdtrc, ndtri
from sklearn.utils import check_array, column_or_1d

from calibrant._core.phrases import count
from calibrant._core.records import Interval, Record
from calibrant._core.rowwise import normalize_rows
from calibrant._core.typing import FloatArray
from calibrant._core.validation import as_row_counts, check_level, check_weight

# The largest change of a share at which the iteration has converged.
TOLERANCE = 1e-9
MAX_ITERATIONS = 20_000
# Class frequencies whose sum differs from 1 by less than this are shares, not numbers of rows.
SUM_TOLERANCE = 1e-6


@dataclass(frozen=True)
class PriorEstimate(Record):
    """Class shares of rows without labels, and a test of whether they have changed.

    Attributes
    ----------
    share : tuple of Interval
        The share of each class in the new rows.
    old : tuple of float
        The shares that the probabilities refer to.
    statistic : float
        The likelihood-ratio statistic of the hypothesis that the shares are the same.
    p_value : float
        Its p-value.
    n_rows : float
        The number of new rows.
    """

    share: tuple[Interval, ...]
    old: tuple[float, ...]
    statistic: float
    p_value: float
    n_rows: float

    @property
    def new(self) -> FloatArray:
        """The estimated shares, for `adjust_prior`."""
        return np.array([each.estimate for each in self.share])

    def __str__(self) -> str:
        lines = ["old share  new share"]
        lines += [f"{old:9.3f}  {new}" for old, new in zip(self.old, self.share, strict=True)]
        lines.append(f"Test of no change: p = {self.p_value:.3g}")
        return "\n".join(lines)


def adjust_prior(proba: ArrayLike, *, old: ArrayLike, new: ArrayLike) -> FloatArray:
    r"""Convert probabilities to another mix of classes.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Class probabilities, calibrated for the old mix.
    old, new : array-like of shape (n_classes,)
        The class frequencies that the probabilities refer to, and those to convert them to: shares
        or numbers of rows.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        The converted probabilities.

    See Also
    --------
    estimate_prior : Estimates the new shares.
    calibrant.updating.UpdatedClassifier : Updates a model if new rows have labels.

    Notes
    -----
    If the classes occur with other frequencies :math:`\pi'_k` instead of :math:`\pi_k`, but rows
    of each class look the same as before, Bayes' theorem gives [1]_

    .. math:: p'_k = \frac{p_k \pi'_k / \pi_k}{\sum_j p_j \pi'_j / \pi_j} .

    The same formula undoes balancing. If a model was fitted to resampled or reweighted rows,
    ``old`` is the mix that it was fitted to (equal shares for ``class_weight="balanced"``) and
    ``new`` is the mix before.

    References
    ----------
    .. [1] M. Saerens, P. Latinne and C. Decaestecker, "Adjusting the outputs of a classifier to
           new a priori probabilities: a simple procedure", Neural Computation 14(1), 2002.

    Examples
    --------
    A model was fitted to as many ill as healthy people. Of 100 people, 2 are ill:

    >>> from calibrant.prior_shift import adjust_prior
    >>> adjust_prior([[0.5, 0.5], [0.1, 0.9]], old=[0.5, 0.5], new=[98, 2]).round(3).tolist()
    [[0.98, 0.02], [0.845, 0.155]]
    """
    rows = _check_proba(proba)
    before, after = (
        _check_frequencies(each, rows, name) for each, name in ((old, "old"), (new, "new"))
    )
    impossible = (before == 0) & (after > 0)
    if impossible.any():
        raise ValueError(
            f"old must be positive for every class that new contains, got 0 for the classes in "
            f"columns {np.flatnonzero(impossible).tolist()}. A model knows nothing of a class that "
            "it was not fitted on: set new to 0 for that class."
        )
    ratio = np.divide(after, before, out=np.zeros_like(after), where=before > 0)
    adjusted = rows * ratio
    empty = np.flatnonzero(adjusted.sum(axis=1) == 0)
    if len(empty):
        raise ValueError(
            f"Each row must have a class that proba and new both allow, got none in row {empty[0]}."
            " Raise probabilities of 0, or shares of 0, to small positive values."
        )
    return normalize_rows(adjusted)


def estimate_prior(
    proba: ArrayLike,
    *,
    old: ArrayLike,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> PriorEstimate:
    r"""Estimate the class shares of rows without labels, and test whether they have changed.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Class probabilities of the new rows, calibrated for the old mix of classes.
    old : array-like of shape (n_classes,)
        The class frequencies that the probabilities refer to: shares, which are taken as known, or
        numbers of training rows, whose sampling error the test accounts for.
    level : float, default=0.95
        The confidence level of the intervals.
    sample_weight : array-like of shape (n_samples,), default=None
        The number of rows that each row counts as. ``None`` means 1.

    Returns
    -------
    PriorEstimate
        The shares with their intervals, and the test.

    See Also
    --------
    adjust_prior : Converts probabilities to the new shares.

    Notes
    -----
    If rows of each class look the same as before, the likelihood of new shares :math:`\pi'` is, up
    to a constant,

    .. math:: L(\pi') = \prod_i \sum_k \frac{p_{ik}}{\pi_k} \pi'_k .

    The estimate maximizes it by the EM algorithm of Saerens et al. [1]_. The intervals are those of
    the profile likelihood, and the test is the likelihood-ratio test with :math:`K - 1` degrees of
    freedom. If ``old`` are numbers of rows :math:`n_k`, the hypothesis of equal shares has the
    likelihood :math:`L(\pi') \prod_k {(\pi'_k)}^{n_k}`, because the old shares are then estimates,
    too.

    Except for their mix of classes, the probabilities are taken as right. The error of a fitted
    model is not accounted for: in simulations with as many new rows as training rows, the test
    at the 5% level found changes that were not there in 7 to 17% of the cases. If the
    probabilities are miscalibrated for another reason, so are the estimates;
    `calibrant.validation.validate_probabilities` can tell, given some labels.

    References
    ----------
    .. [1] M. Saerens, P. Latinne and C. Decaestecker, "Adjusting the outputs of a classifier to
           new a priori probabilities: a simple procedure", Neural Computation 14(1), 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.prior_shift import estimate_prior
    >>> rng = np.random.RandomState(0)
    >>> x = np.concatenate([rng.normal(-1, 1, 450), rng.normal(1, 1, 50)])  # 10% of class 1
    >>> proba = 1 / (1 + np.exp(-2 * x))  # right for as many rows of class 0 as of class 1
    >>> print(estimate_prior(np.column_stack([1 - proba, proba]), old=[0.5, 0.5]))
    old share  new share
        0.500  0.9069 (95% CI 0.8641 to 0.9429)
        0.500  0.09308 (95% CI 0.0571 to 0.1359)
    Test of no change: p = 7e-47
    """
    rows = _check_proba(proba)
    old_count = np.asarray(column_or_1d(old), dtype=np.float64)
    shares = _check_frequencies(old, rows, "old")
    if np.any(shares == 0):
        raise ValueError(
            "old must be positive for every class, got 0 for the classes in columns "
            f"{np.flatnonzero(shares == 0).tolist()}. Leave these columns out."
        )
    check_level(level)
    weight = check_weight(sample_weight, rows)
    rows, weight = rows[weight > 0], weight[weight > 0]
    mixture = _Mixture(rows / shares, as_row_counts(weight, len(weight)))
    estimate = mixture.fit()
    largest = mixture.log_likelihood(estimate)
    if abs(old_count.sum() - 1.0) < SUM_TOLERANCE:
        statistic = 2.0 * (largest - mixture.log_likelihood(shares))
    else:
        same = mixture.fit(extra=old_count)
        of_old = float(old_count @ np.log(shares / same))
        statistic = 2.0 * (largest - mixture.log_likelihood(same) + of_old)
    statistic = max(statistic, 0.0)
    decrease = 0.5 * float(ndtri(0.5 + level / 2)) ** 2
    return PriorEstimate(
        share=tuple(
            mixture.profile_interval(k, estimate, largest - decrease, level)
            for k in range(len(shares))
        ),
        old=tuple(shares.tolist()),
        statistic=statistic,
        p_value=float(chdtrc(len(shares) - 1, statistic)),
        n_rows=float(mixture.weight.sum()),
    )


@dataclass(frozen=True, eq=False)
class _Mixture:
    """A mixture of classes with known densities.

    Attributes
    ----------
    density : ndarray of shape (n_rows, n_classes)
        The density of each row in each class, up to a factor per row.
    weight : ndarray of shape (n_rows,)
        The number of rows that each row counts as.
    """

    density: FloatArray
    weight: FloatArray

    def log_likelihood(self, share: FloatArray) -> float:
        """Return the log likelihood of class shares."""
        return float(self.weight @ np.log(self.density @ share))

    def fit(
        self,
        *,
        extra: FloatArray | float = 0.0,
        fixed: tuple[int, float] | None = None,
        start: FloatArray | None = None,
    ) -> FloatArray:
        """Maximize the likelihood by the EM algorithm.

        Parameters
        ----------
        extra : ndarray of shape (n_classes,) or float, default=0
            Numbers of further rows whose class is known.
        fixed : tuple of int and float, default=None
            A class and its share, which is not changed.
        start : ndarray of shape (n_classes,), default=None
            Positive shares to start from. ``None`` means equal shares.

        Returns
        -------
        ndarray of shape (n_classes,)
            The shares.
        """
        n_classes = self.density.shape[1]
        share = np.full(n_classes, 1.0 / n_classes) if start is None else start.copy()
        for _ in range(MAX_ITERATIONS):
            # The expected number of rows of each class, given the current shares.
            expected = share * ((self.weight / (self.density @ share)) @ self.density) + extra
            if fixed is not None:
                k, value = fixed
                expected[k] = 0.0
                expected *= (1.0 - value) / expected.sum()
                expected[k] = value
            previous, share = share, expected / expected.sum()
            if np.abs(share - previous).max() < TOLERANCE:
                break
        return share

    def profile_interval(
        self, k: int, estimate: FloatArray, lowest: float, level: float
    ) -> Interval:
        """Return the shares of a class whose profile log likelihood is at least the lowest."""

        def excess(value: float) -> float:
            # From the estimate, but with no share of 0, which the iteration would not leave.
            start = 0.9 * estimate + 0.1 / len(estimate)
            start *= (1.0 - value) / (1.0 - start[k])
            start[k] = value
            with np.errstate(divide="ignore"):  # a share of 0 may be impossible
                return self.log_likelihood(self.fit(fixed=(k, value), start=start)) - lowest

        best = float(estimate[k])
        low, high = 0.0, 1.0
        if best > TOLERANCE and excess(TOLERANCE) < 0:
            low = float(brentq(excess, TOLERANCE, best, xtol=1e-6))
        if best < 1.0 - TOLERANCE and excess(1.0 - TOLERANCE) < 0:
            high = float(brentq(excess, best, 1.0 - TOLERANCE, xtol=1e-6))
        return Interval(best, low, high, level)


def _check_proba(proba: ArrayLike) -> FloatArray:
    rows = check_array(proba, dtype=np.float64, input_name="proba", ensure_min_features=2)
    if rows.min() < 0 or not np.allclose(rows.sum(axis=1), 1.0, rtol=0, atol=1e-5):
        raise ValueError(
            "Each row of proba must be non-negative and sum to 1, got a smallest value of "
            f"{rows.min():g} and sums from {rows.sum(axis=1).min():g} to "
            f"{rows.sum(axis=1).max():g}. Normalize the rows."
        )
    return np.asarray(rows)


def _check_frequencies(frequency: ArrayLike, rows: FloatArray, name: str) -> FloatArray:
    """Return class shares."""
    values = np.asarray(column_or_1d(frequency), dtype=np.float64)
    if len(values) != rows.shape[1]:
        raise ValueError(
            f"{name} must have one frequency for each of the {rows.shape[1]} columns of proba, got "
            f"{count(len(values), 'frequency', 'frequencies')}. Pass one for each class."
        )
    if not np.all(np.isfinite(values)) or values.min() < 0 or values.sum() == 0:
        raise ValueError(
            f"{name} must hold non-negative frequencies, not all 0, got {values.tolist()}. "
            "Pass shares or numbers of rows."
        )
    return np.asarray(values / values.sum())
