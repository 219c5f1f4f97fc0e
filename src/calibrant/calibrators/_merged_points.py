"""Held-out scores without duplicates, and the candidates' predictions for them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core.cross_fitting import cross_fit
from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant.calibrators._protocol import fit_in_place, predict_points
from calibrant.calibrators.scaling import StructuredMatrixScaling


@dataclass(frozen=True, eq=False)
class MergedPoints:
    """Distinct points with their total weights.

    Attributes
    ----------
    score : ndarray of shape (n_distinct, n_classes)
        Class scores.
    y : ndarray of shape (n_distinct,)
        Column numbers of the true classes.
    weight : ndarray of shape (n_distinct,)
        Total weights.
    fold : ndarray of shape (n_distinct,)
        The fold of each point; -1 for points that are never held out.
    index : ndarray of shape (n_points,)
        The distinct point that each of the original points was merged into.
    """

    score: FloatArray
    y: IndexArray
    weight: FloatArray
    fold: IndexArray
    index: IndexArray

    def fit(self, candidates: Mapping[str, Any]) -> dict[str, Any]:
        """Fit copies of unfitted candidates to all points."""
        return _fit_all(candidates, self.score, self.y, self.weight)

    def held_out_proba(self, candidates: Mapping[str, Any]) -> FloatArray:
        """Return each candidate's class probabilities when fitted on the other folds.

        Parameters
        ----------
        candidates : mapping of str to multi-class calibrator
            The unfitted candidates.

        Returns
        -------
        ndarray of shape (n_points, n_candidates, n_classes)
            The probabilities for the original points; NaN for points that are never held out.
        """

        def predict(train: BoolArray, test: BoolArray) -> FloatArray:
            fitted = _fit_all(candidates, self.score[train], self.y[train], self.weight[train])
            return np.hstack([predict_points(each, self.score[test]) for each in fitted.values()])

        n_classes = self.score.shape[1]
        predicted = cross_fit(self.fold, predict, len(candidates) * n_classes)
        return predicted.reshape(-1, len(candidates), n_classes)[self.index]


def _fit_all(
    candidates: Mapping[str, Any], score: FloatArray, y: IndexArray, weight: FloatArray
) -> dict[str, Any]:
    """Fit copies of unfitted candidates to the same points."""
    fitted: dict[str, Any] = {}
    scaled: StructuredMatrixScaling | None = None
    for name, candidate in candidates.items():
        calibrator = copy(candidate)
        if type(calibrator) is not StructuredMatrixScaling:  # a subclass may differ
            fitted[name] = fit_in_place(calibrator, score, y, weight)
        elif scaled is None:
            fitted[name] = scaled = calibrator._fit_columns(score, y, weight)
        else:
            fitted[name] = calibrator._fit_columns_after(scaled, score, y, weight)
    return fitted


def merge_points(
    score: FloatArray, y: IndexArray, weight: FloatArray, fold: IndexArray
) -> MergedPoints:
    """Merge points with the same scores, class and fold.

    Parameters
    ----------
    score : ndarray of shape (n_points, n_classes)
        Class scores.
    y : ndarray of shape (n_points,)
        Column numbers of the true classes.
    weight : ndarray of shape (n_points,)
        Weights.
    fold : ndarray of shape (n_points,)
        The fold of each point.

    Returns
    -------
    MergedPoints
        The distinct points in order of first appearance.
    """
    content = np.column_stack([score, y, fold])
    keys = np.ascontiguousarray(content).view([("", content.dtype)] * content.shape[1])[:, 0]
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    index, first = rank[index], first[order]
    total = np.bincount(index, weight).astype(np.float64)
    return MergedPoints(score[first], y[first], total, fold[first], index)
