"""The weights and the shrinkage of an average of calibrators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from calibrant._core.cross_fitting import cross_fit
from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant.calibrators._mixture import fit_mixture

# The pseudo-count of each candidate: no finite number of rows justifies a weight of exactly 0 or 1.
CANDIDATE_PSEUDO_COUNT = 0.1
# Candidates with smaller weights are left out of the average and its description.
NEGLIGIBLE_WEIGHT = 0.005


@dataclass(frozen=True, eq=False)
class Choice:
    """The weights of the candidates and what they are expected to gain.

    Attributes
    ----------
    weights : ndarray of shape (n_candidates,)
        The weights, which sum to 1. The first candidate is no calibration.
    gain : ndarray of shape (n_groups,)
        The gains of independent rows or groups over no calibration, each with weights that were
        chosen without it. Their mean is pessimistic.
    fitted_gain : ndarray of shape (n_groups,)
        The gains with the weights that were chosen. Their mean is optimistic.
    """

    weights: FloatArray
    gain: FloatArray
    fitted_gain: FloatArray


def choose_weights(
    true_proba: FloatArray, weight: FloatArray, group: IndexArray, fold: IndexArray
) -> Choice:
    """Choose the weights of candidates by their held-out log loss, shrunk toward the first.

    Parameters
    ----------
    true_proba : ndarray of shape (n_points, n_candidates)
        The positive held-out probability that each candidate gives the true class.
    weight : ndarray of shape (n_points,)
        Weights of the points, as numbers of rows.
    group : ndarray of shape (n_points,)
        The group of each point.
    fold : ndarray of shape (n_points,)
        The fold of each point. Points of one group are in one fold.

    Returns
    -------
    Choice
        The weights and their gains.
    """
    baseline = true_proba[:, 0]

    def predict(train: BoolArray, test: BoolArray) -> FloatArray:
        return (true_proba[test] @ average_weights(true_proba[train], weight[train]))[:, None]

    average = cross_fit(fold, predict, 1)[:, 0]
    gain = group_gains(average, baseline, weight, group)
    shrinkage = gain_shrinkage(gain)
    weights = shrinkage * average_weights(true_proba, weight)
    weights[0] += 1.0 - shrinkage
    weights = np.where(weights >= NEGLIGIBLE_WEIGHT, weights, 0.0)
    weights /= weights.sum()

    # The expected gain of a fold uses a shrinkage that was estimated without that fold.
    fold_of_group = fold[np.unique(group, return_index=True)[1]]
    shrinkages = np.array(
        [gain_shrinkage(gain[fold_of_group != k]) for k in range(fold.max(initial=-1) + 1)]
    )[fold]
    shrunk = shrinkages * average + (1.0 - shrinkages) * baseline
    return Choice(
        weights,
        group_gains(shrunk, baseline, weight, group),
        group_gains(true_proba @ weights, baseline, weight, group),
    )


def group_gains(
    true_proba: FloatArray, baseline: FloatArray, weight: FloatArray, group: IndexArray
) -> FloatArray:
    """Return the mean gain in log probability of the true class, one value per group."""
    _, group = np.unique(group, return_inverse=True)
    gain = np.bincount(group, weight * np.log(true_proba / baseline))
    return gain / np.bincount(group, weight)


def average_weights(true_proba: FloatArray, weight: FloatArray) -> FloatArray:
    r"""Find the weighted average of candidates with the lowest log loss.

    Parameters
    ----------
    true_proba : ndarray of shape (n_points, n_candidates)
        The positive held-out probability that each candidate gives the true class.
    weight : ndarray of shape (n_points,)
        Weights of the points, as numbers of rows.

    Returns
    -------
    ndarray of shape (n_candidates,)
        The weights, which sum to 1. They are equal if there are no points.

    Notes
    -----
    The weights maximize the concave function

    .. math:: \sum_i n_i \log \sum_c w_c p_{ic} + 0.1 \sum_c \log w_c

    where :math:`n_i` is the weight of point i and :math:`p_{ic}` the probability that
    candidate c gives its true class.
    """
    return fit_mixture(true_proba, weight, CANDIDATE_PSEUDO_COUNT)


def gain_shrinkage(gain: FloatArray) -> float:
    r"""Return the factor by which to shrink a change, given its estimated gain.

    Parameters
    ----------
    gain : ndarray of shape (n_groups,)
        Gains of independent rows or groups.

    Returns
    -------
    float
        Between 0, which means no change, and 1, which means the full change.

    Notes
    -----
    If the mean gain is positive, the factor is :math:`1 - p`, where :math:`p` is the two-sided
    p-value of Student's t-test for a mean gain of 0. Otherwise, it is 0.
    """
    n_groups = len(gain)
    if n_groups < 2 or gain.mean() <= 0:
        return 0.0
    error = gain.std(ddof=1) / np.sqrt(n_groups)
    if error == 0:
        return 1.0
    return float(1.0 - 2.0 * stdtr(n_groups - 1, -gain.mean() / error))
