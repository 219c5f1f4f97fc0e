import numpy as np
import pytest

from calibrant.generation.closed_form.batches import SplitBatch
from calibrant.generation.closed_form.moments import DiagonalMoments, FullMoments


@pytest.fixture
def batch(make_rows, make_splits, strategy):
    X, y = make_rows(n_classes=4)
    splits = make_splits(y, strategy)
    scale = np.random.default_rng(0).uniform(0.5, 2.0, size=(len(splits), X.shape[1]))
    return SplitBatch(X, splits, scale=scale)


def each_label(batch, cell_moments):
    """The pooled moments of each label, and its training rows in each split."""
    for problem in batch.problems:
        trains = [batch.splits[position].train for position in problem.positions]
        for label, cells in enumerate(problem.label_cells):
            rows = [train[problem.label_index[train] == label] for train in trains]
            yield problem, cell_moments.pool(problem, cells), rows


def test_weighted_variances_are_those_of_the_training_rows(batch):
    weight = np.random.default_rng(1).exponential(size=len(batch.X))
    cell_moments = DiagonalMoments.of_cells(batch.X, batch, weight)
    for problem, moments, label_rows in each_label(batch, cell_moments):
        for split, rows in enumerate(label_rows):
            X, w = batch.X[rows], weight[rows]
            mean = np.average(X, axis=0, weights=w)
            variance = np.average((X - mean) ** 2, axis=0, weights=w)
            np.testing.assert_allclose(moments.total[split], w.sum())
            np.testing.assert_allclose(moments.mean[split], mean, atol=1e-12)
            np.testing.assert_allclose(
                moments.variance(problem)[split], variance / problem.scale[split] ** 2
            )


@pytest.mark.parametrize("shrinkage", [None, 0.3])
def test_covariances_are_those_of_the_training_rows(batch, shrinkage):
    cell_moments = FullMoments.of_cells(batch.X, batch)
    for problem, moments, label_rows in each_label(batch, cell_moments):
        for split, rows in enumerate(label_rows):
            X = batch.X[rows] / problem.scale[split]
            expected = np.cov(X, rowvar=False, bias=True)
            if shrinkage is not None:
                expected *= 1.0 - shrinkage
                expected += shrinkage * np.eye(4) * X.var(axis=0).mean()
            np.testing.assert_allclose(moments.mean[split], batch.X[rows].mean(axis=0), atol=1e-12)
            np.testing.assert_allclose(
                moments.covariance(problem, shrinkage)[split], expected, atol=1e-12
            )
