"""Class probabilities of rows that have not been collected yet."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ndtri
from sklearn.utils import check_random_state, column_or_1d

from calibrant._core.rowwise import softmax
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.metrics import m_index

# Shares may be rounded, as in 0.33, 0.33, 0.33.
SUM_TOLERANCE = 0.011
# The largest AUC, up to which the distance between classes can be found.
LARGEST_AUC, LARGEST_DISTANCE = 0.995, 8.0
# Rows from which that distance is found.
N_TUNING = 20_000


def simulate_probabilities(
    shares: ArrayLike,
    auc: float,
    *,
    n_rows: int = 10_000,
    random_state: int | np.random.RandomState | None = None,
) -> FloatArray:
    r"""Simulate calibrated probabilities of a model with a given performance.

    Parameters
    ----------
    shares : array-like of shape (n_classes,)
        The share of each class.
    auc : float
        The M-index of the model, between 0.5 and 0.995: the mean AUC of all pairs of classes. For
        two classes, this is the AUC.
    n_rows : int, default=10_000
        The number of rows.
    random_state : int, RandomState or None, default=None
        Seed of the simulation.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Probabilities, calibrated: a row belongs to each class with the probability of that class.

    Notes
    -----
    The features are normal with the identity as their covariance, and the class means have equal
    distances :math:`d`. For two classes, the log odds are normal within each class, as is often
    assumed [1]_, and :math:`d = \sqrt{2} \, \Phi^{-1}(\text{AUC})`; otherwise, :math:`d` is found
    by simulation.

    References
    ----------
    .. [1] R. D. Riley, T. P. A. Debray, G. S. Collins, L. Archer, J. Ensor, M. van Smeden and
           K. I. E. Snell, "Minimum sample size for external validation of a clinical prediction
           model with a binary outcome", Statistics in Medicine 40(19), 2021.

    Examples
    --------
    >>> from calibrant.planning import simulate_probabilities
    >>> proba = simulate_probabilities([0.5, 0.3, 0.2], auc=0.8, random_state=0)
    >>> proba.shape, proba.mean(axis=0).round(2).tolist()
    ((10000, 3), [0.5, 0.3, 0.2])
    """
    prior = check_shares(shares)
    if not 0.5 <= auc <= LARGEST_AUC:
        raise ValueError(
            f"auc must lie between 0.5 and {LARGEST_AUC}, got {auc}. Use the AUC that you expect."
        )
    rng = check_random_state(random_state)
    distance = _find_distance(prior, auc, rng)
    y = rng.choice(len(prior), p=prior, size=n_rows)
    return _posterior(y, rng.standard_normal((n_rows, len(prior))), prior, distance)


def draw_classes(proba: FloatArray, rng: np.random.RandomState) -> IndexArray:
    """Draw one class per row."""
    uniform = rng.uniform(size=(len(proba), 1))
    return np.asarray((uniform > proba.cumsum(axis=1)[:, :-1]).sum(axis=1))


def check_shares(shares: ArrayLike) -> FloatArray:
    """Return class shares that sum to exactly 1, after checking them."""
    values = column_or_1d(np.asarray(shares, dtype=np.float64))
    if len(values) < 2 or not np.all(values > 0) or abs(values.sum() - 1.0) > SUM_TOLERANCE:
        raise ValueError(
            "shares must be positive, at least two, and sum to 1, got "
            f"{', '.join(f'{each:g}' for each in values)}. Give the share of every class."
        )
    return values / values.sum()


def _find_distance(prior: FloatArray, auc: float, rng: np.random.RandomState) -> float:
    """Return the distance between class means at which the M-index has the given value."""
    if len(prior) == 2 or auc == 0.5:
        return float(np.sqrt(2.0) * ndtri(auc))
    # The index does not depend on class frequencies, and equal ones estimate it best.
    y = np.repeat(np.arange(len(prior)), N_TUNING // len(prior))
    noise = rng.standard_normal((len(y), len(prior)))
    return float(
        brentq(
            lambda distance: m_index(y, _posterior(y, noise, prior, distance)) - auc,
            0.0,
            LARGEST_DISTANCE,
            xtol=1e-3,
        )
    )


def _posterior(y: IndexArray, noise: FloatArray, prior: FloatArray, distance: float) -> FloatArray:
    """Return the probabilities of the classes, given features at a distance from the others."""
    scale = distance / np.sqrt(2.0)
    features = noise + scale * np.eye(len(prior))[y]
    return softmax(scale * features + np.log(prior))
