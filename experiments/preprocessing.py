"""The authors' preprocessing, fitted on the training rows only."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted, validate_data

from calibrant._core.typing import BoolArray, FloatArray, IndexArray


class DropNearZeroVariance(SelectorMixin, TransformerMixin, BaseEstimator):
    """Drop features with near-zero variance, by the rule of R's caret package.

    A feature is dropped if it is constant, or if its most common value is much more frequent
    than the second most common one and it has few distinct values.

    Parameters
    ----------
    frequency_ratio : float, default=19
        Largest ratio of the frequencies of the two most common values at which a feature is
        kept regardless of its number of distinct values.
    distinct_proportion : float, default=0.1
        Features whose number of distinct values exceeds this proportion of the rows are kept.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        Mask of the features to keep.
    """

    support_: BoolArray

    def __init__(self, *, frequency_ratio: float = 19.0, distinct_proportion: float = 0.1):
        self.frequency_ratio = frequency_ratio
        self.distinct_proportion = distinct_proportion

    def fit(self, X: ArrayLike, y: Any = None) -> Self:  # noqa: ARG002 (scikit-learn's signature)
        """Find the features to keep.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : None
            Ignored.

        Returns
        -------
        DropNearZeroVariance
            The fitted transformer.
        """
        values = validate_data(self, X, ensure_min_samples=2)
        self.support_ = np.array([self._varies(column) for column in values.T])
        if not self.support_.any():
            raise ValueError(
                "X must have a feature whose variance is not near zero, but all "
                f"{values.shape[1]} would be dropped. Raise frequency_ratio to keep more features."
            )
        return self

    def _varies(self, column: NDArray[Any]) -> bool:
        count = np.sort(np.unique(column, return_counts=True)[1])[::-1]
        if len(count) == 1:
            return False
        return bool(
            count[0] / count[1] <= self.frequency_ratio
            or len(count) / len(column) > self.distinct_proportion
        )

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_


def make_preprocessor() -> Pipeline:
    """Return the authors' preprocessing of numeric features.

    Returns
    -------
    Pipeline
        The unfitted pipeline: `DropNearZeroVariance` followed by standardization.
    """
    return make_pipeline(DropNearZeroVariance(), StandardScaler())


def preprocess_split(
    data: Bunch, train: IndexArray, test: IndexArray
) -> tuple[FloatArray, FloatArray]:
    """Fit the preprocessing on the training rows and apply it to the training and test rows.

    Categorical features are one-hot encoded first.

    Parameters
    ----------
    data : Bunch
        A data set of `calibrant.datasets`.
    train, test : ndarray
        Row numbers.

    Returns
    -------
    X, X_test : ndarray
        Features of the training and test rows.
    """
    X, X_test = data.data[train], data.data[test]
    if data.categorical:
        columns = [data.feature_names.index(name) for name in data.categorical]
        encoder = make_column_transformer(
            (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), columns),
            remainder="passthrough",
        )
        X, X_test = encoder.fit_transform(X), encoder.transform(X_test)
    preprocessor = make_preprocessor().fit(X)
    return preprocessor.transform(X), preprocessor.transform(X_test)
