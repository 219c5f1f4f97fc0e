"""The authors' preprocessing: near-zero-variance features dropped, the rest standardized."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data


class DropNearZeroVariance(SelectorMixin, TransformerMixin, BaseEstimator):
    """Drop features that hardly vary, by the rule of R's caret package.

    A feature is dropped if it is constant, or if its most common value is much more
    frequent than the second and it has few distinct values.

    Parameters
    ----------
    frequency_ratio : float, default=19
        The most that the most common value may outnumber the second.
    distinct_share : float, default=0.1
        Features with more distinct values than this share of the rows are kept.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        Which features are kept.
    """

    support_: NDArray[np.bool_]

    def __init__(self, *, frequency_ratio: float = 19.0, distinct_share: float = 0.1):
        self.frequency_ratio = frequency_ratio
        self.distinct_share = distinct_share

    def fit(self, X: ArrayLike, y: Any = None) -> Self:  # noqa: ARG002 (scikit-learn's signature)
        """Find the features to keep.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : None
            Not used.

        Returns
        -------
        DropNearZeroVariance
            The fitted transformer.
        """
        values = validate_data(self, X, ensure_min_samples=2)
        self.support_ = np.array([self._varies(column) for column in values.T])
        if not self.support_.any():
            raise ValueError(
                f"X must have a feature that varies. Got {values.shape[1]} that hardly do. "
                "Raise frequency_ratio to keep more of them."
            )
        return self

    def _varies(self, column: NDArray[Any]) -> bool:
        count = np.sort(np.unique(column, return_counts=True)[1])[::-1]
        if len(count) == 1:
            return False
        return bool(
            count[0] / count[1] <= self.frequency_ratio
            or len(count) / len(column) > self.distinct_share
        )

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_


def paper_pipeline(estimator: Any) -> Pipeline:
    """Put the authors' preprocessing before an estimator, to be fitted with it.

    Parameters
    ----------
    estimator : classifier
        The last step.

    Returns
    -------
    Pipeline
        Near-zero-variance filter, standardization, estimator.
    """
    return make_pipeline(DropNearZeroVariance(), StandardScaler(), estimator)
