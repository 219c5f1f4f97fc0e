"""The spread of a forest's probabilities, from the training rows that share leaves with a row."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from calibrant._core.spread import binomial_variance
from calibrant._core.typing import FloatArray, IndexArray

# Averages over so many rows and trees are precise enough, and take a fraction of the time of a fit.
MOST_TREES = 40
MOST_ROWS = 100
# Trees adapt to the labels, which the weights do not show. Chosen by the simulations in
# results/intervals; other models need more, because a forest has no form that may be wrong.
INFLATION = 1.25


def tree_spread(forest: Any, X: Any, y: IndexArray) -> float | None:
    r"""Estimate the variance of true probabilities as a fraction of p (1 - p).

    Parameters
    ----------
    forest : classifier
        A fitted forest with ``bootstrap=True``.
    X : array-like of shape (n_rows, n_features)
        The rows that it was fitted on.
    y : ndarray of shape (n_rows,)
        Their class indices.

    Returns
    -------
    float or None
        The relative variance; None if the ensemble does not consist of trees.

    Notes
    -----
    A forest predicts a weighted mean of the labels of its training rows, where the weight
    :math:`w_i` of row i is its mean weight in the leaves of the trees [1]_. Such a mean has a
    variance of :math:`p (1 - p) \sum_i w_i^2`. Averaging shrinks the predictions of the trees, as
    calibration does, so the variance is divided by the ratio of the standard deviations of the
    forest and its trees: see `calibrant._core.spread.Replicates.variance`. The weights of a row are
    those in trees for which it is out of bag.

    References
    ----------
    .. [1] Y. Lin and Y. Jeon, "Random forests and adaptive nearest neighbors", JASA 101, 2006.
    """
    trees = getattr(forest, "estimators_", [])[:MOST_TREES]
    if not hasattr(forest, "apply") or not all(hasattr(tree, "apply") for tree in trees):
        return None
    # The type that trees work with; the forest has checked the rows.
    features = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    features = features.astype(np.float32)
    leaves = np.column_stack([tree.apply(features, check_input=False) for tree in trees])
    times = np.column_stack(
        [np.bincount(drawn, minlength=len(y)) for drawn in forest.estimators_samples_[:MOST_TREES]]
    )
    leaves = leaves + np.concatenate([[0], leaves.max(axis=0)[:-1] + 1]).cumsum()
    rows = np.repeat(np.arange(len(y)), len(trees))
    members = sparse.csr_array((times.ravel().astype(float), (rows, leaves.ravel())))
    sample = np.linspace(0, len(y) - 1, min(MOST_ROWS, len(y))).astype(np.intp)
    out_of_bag = times[sample] == 0
    several = out_of_bag.sum(axis=1) > 1
    if not several.any():
        return None
    sample, out_of_bag = sample[several], out_of_bag[several]
    row, tree = np.nonzero(out_of_bag)
    shape = (len(sample), members.shape[1])
    reached = sparse.csr_array((np.ones(len(row)), (row, leaves[sample][row, tree])), shape)
    return _relative_variance(members, reached, np.eye(y.max() + 1)[y], len(forest.estimators_))


def _relative_variance(
    members: sparse.csr_array, reached: sparse.csr_array, labels: FloatArray, n_trees: int
) -> float:
    """Return the relative variance, averaged over rows.

    Parameters
    ----------
    members : sparse matrix of shape (n_rows, n_leaves)
        The number of times that each training row is in each leaf.
    reached : sparse matrix of shape (n_sample, n_leaves)
        1 for the leaves of the sampled rows, in trees for which they are out of bag.
    labels : ndarray of shape (n_rows, n_classes)
        Indicators of the classes of the training rows.
    n_trees : int
        The number of trees of the forest.

    Returns
    -------
    float
        The relative variance.
    """
    size = members.sum(axis=0)
    weights = members @ sparse.diags_array(1.0 / np.maximum(size, 1.0))
    n_voting = reached.sum(axis=1)
    share = sparse.diags_array(1.0 / n_voting) @ reached
    # Rows have fewer trees than the forest, and a tree shares more rows with itself than with
    # others.
    itself = share @ weights.power(2).sum(axis=0)
    total = (share @ weights.T).power(2).sum(axis=1)
    others = (total * n_voting - itself) / (n_voting - 1.0)
    squares = itself / n_trees + (1.0 - 1.0 / n_trees) * others
    of_leaf = weights.T @ labels
    proba = share @ of_leaf
    of_trees = (share @ (of_leaf**2)).sum(axis=1) - (proba**2).sum(axis=1)
    largest = binomial_variance(proba).mean()
    ratio = of_trees.mean() / largest if largest > 0 else 1.0
    return float(INFLATION * np.sqrt(ratio * squares.mean()))
