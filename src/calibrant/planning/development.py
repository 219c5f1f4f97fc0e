"""Rows needed to fit logistic regression, by published criteria."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import inf, log

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, xlogy
from sklearn.utils import check_array

from calibrant._core.phrases import count
from calibrant._core.records import Record
from calibrant._core.rowwise import normalize_rows
from calibrant._core.typing import FloatArray
from calibrant.planning.simulation import name_rows, round_up

# The usual limits: of shrinkage, of the optimism of Nagelkerke's R2, and of the error of shares.
SHRINKAGE, OPTIMISM, SHARE_MARGIN, SHARE_ALPHA = 0.9, 0.05, 0.05, 0.05


@dataclass(frozen=True)
class DevelopmentPlan(Record):
    """Rows needed to fit logistic regression.

    Attributes
    ----------
    n_features : int
        The number of features, each with one coefficient per class.
    for_shrinkage : float
        The rows for a shrinkage of at least 0.9 between every two classes.
    for_optimism : float
        The rows for an optimism of at most 0.05 in Nagelkerke's R2.
    for_shares : float
        The rows that estimate all class shares to within 0.05, at a joint level of 95%.
    """

    n_features: int
    for_shrinkage: float
    for_optimism: float
    for_shares: float

    DERIVED = ("n_rows",)

    @property
    def n_rows(self) -> float:
        """The rows that meet all criteria, rounded up to two digits."""
        return round_up(max(self.for_shrinkage, self.for_optimism, self.for_shares))

    def __str__(self) -> str:
        return (
            f"To fit: {name_rows(self.n_rows, 'row')} for logistic regression with "
            f"{count(self.n_features, 'feature')}, so that it is hardly overfitted (shrinkage of "
            f"at least {SHRINKAGE:g}). Other models may need more."
        )


def plan_development(proba: ArrayLike, n_features: int) -> DevelopmentPlan:
    r"""Find how many rows it takes to fit logistic regression without overfitting.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Calibrated probabilities like those that the model will predict: from
        `simulate_probabilities`, for example.
    n_features : int
        The number of features; a category with m values counts as m - 1.

    Returns
    -------
    DevelopmentPlan
        The rows needed.

    See Also
    --------
    learning_curve : For any model, from the rows of a pilot study.

    Notes
    -----
    The criteria are those of Riley et al. [1]_ and, for three classes or more, Pate et al. [2]_.
    With :math:`R^2` the Cox-Snell coefficient of determination that the probabilities imply for
    the rows of two classes, :math:`\varphi` the share of these rows, and :math:`p` features, a
    shrinkage of :math:`S` requires

    .. math:: n = \frac{p}{\varphi (S - 1) \log(1 - R^2 / S)}

    rows, and the pair that requires most decides.

    References
    ----------
    .. [1] R. D. Riley, K. I. E. Snell, J. Ensor, D. L. Burke, F. E. Harrell, K. G. M. Moons and
           G. S. Collins, "Minimum sample size for developing a multivariable prediction model:
           Part II - binary and time-to-event outcomes", Statistics in Medicine 38(7), 2019.
    .. [2] A. Pate, R. D. Riley, G. S. Collins, M. van Smeden, B. Van Calster, J. Ensor and G. P.
           Martin, "Minimum sample size for developing a multivariable prediction model using
           multinomial logistic regression", Statistical Methods in Medical Research 32(3), 2023.

    Examples
    --------
    >>> from calibrant.planning import plan_development, simulate_probabilities
    >>> plan_development(simulate_probabilities([0.8, 0.2], 0.8, random_state=0), 10).n_rows
    450
    """
    rows = normalize_rows(check_array(proba, dtype=np.float64))
    if n_features < 1:
        raise ValueError(f"n_features must be at least 1, got {n_features}. Count the features.")
    n_classes = rows.shape[1]
    shares = rows.mean(axis=0)
    if not shares.all():
        raise ValueError(
            "Every class must have a positive mean probability, got 0 for class "
            f"{int(shares.argmin())}. Leave it out."
        )
    pairs = []
    for i, j in combinations(range(n_classes), 2):
        pair = rows[:, [i, j]]
        pair = pair[pair.any(axis=1)]  # other rows belong to neither class
        weight = pair.sum(axis=1)
        r_squared, _ = _cox_snell(pair / weight[:, None], weight)
        share = shares[i] + shares[j]
        pairs.append(rows_for_shrinkage(r_squared, n_features, SHRINKAGE) / share)
    r_squared, largest = _cox_snell(rows, np.ones(len(rows)))
    shrinkage = r_squared / (r_squared + OPTIMISM * largest)
    n_parameters = (n_classes - 1) * n_features
    # The shares of two classes are known to the same precision.
    quantile = chdtri(1, SHARE_ALPHA / (1 if n_classes == 2 else n_classes))
    return DevelopmentPlan(
        n_features,
        for_shrinkage=max(pairs),
        for_optimism=rows_for_shrinkage(r_squared, n_parameters, shrinkage),
        for_shares=float(quantile * np.max(shares * (1.0 - shares)) / SHARE_MARGIN**2),
    )


def rows_for_shrinkage(r_squared: float, n_parameters: int, shrinkage: float) -> float:
    """Return the rows at which the expected shrinkage of coefficients has a given value."""
    if r_squared <= 0:
        return inf
    return n_parameters / ((shrinkage - 1.0) * log(1.0 - min(r_squared / shrinkage, 1.0 - 1e-12)))


def _cox_snell(proba: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Return the coefficient that calibrated probabilities imply, and its largest value."""
    shares = np.average(proba, axis=0, weights=weight)
    null = -float(xlogy(shares, shares).sum())
    model = -float(np.average(xlogy(proba, proba).sum(axis=1), weights=weight))
    return 1.0 - float(np.exp(-2.0 * (null - model))), 1.0 - float(np.exp(-2.0 * null))
