"""The validated training data of one call to ``fit``."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._core.typing import FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Training rows with their classes, weights and groups.

    Attributes
    ----------
    X : array-like of shape (n_samples, n_features)
        The features, of any type that the estimator accepts.
    y : ndarray of shape (n_samples,)
        Class indices.
    classes : ndarray of shape (n_classes,)
        The sorted class labels.
    weight : ndarray of shape (n_samples,)
        The number of rows that each row counts as; rows of weight 0 are ignored.
    groups : ndarray of shape (n_samples,) or None
        The group of each row; None means ungrouped.
    fit_params : dict
        The parameters of ``estimator.fit`` other than X and y.
    split_params : dict
        The parameters of a splitter other than X and y.
    """

    X: Any
    y: IndexArray
    classes: NDArray[Any]
    weight: FloatArray
    groups: NDArray[Any] | None = None
    fit_params: dict[str, Any] = field(default_factory=dict)
    split_params: dict[str, Any] = field(default_factory=dict)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.classes)

    @cached_property
    def rows(self) -> IndexArray:
        """The rows with a positive weight."""
        return np.flatnonzero(self.weight > 0)

    @cached_property
    def class_count(self) -> FloatArray:
        """The weighted number of rows in each class."""
        return np.bincount(self.y, self.weight, self.n_classes).astype(np.float64)

    @cached_property
    def row_count(self) -> IndexArray:
        """The unweighted number of rows in each class."""
        return np.bincount(self.y[self.rows], minlength=self.n_classes)
