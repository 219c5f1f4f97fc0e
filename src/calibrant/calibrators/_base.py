"""Base classes of calibrators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from calibrant._core.labels import check_labels
from calibrant._core.phrases import count
from calibrant._core.probability_floor import apply_probability_floor
from calibrant._core.typing import FloatArray, IndexArray
from calibrant._core.validation import check_row_weight
from calibrant.calibrators._validation import check_class_scores, check_score, check_target


class BinaryCalibrator(TransformerMixin, RegressorMixin, BaseEstimator, ABC):
    """Base class of calibrators for the score of the positive side of a binary problem.

    Sample weights are interpreted as numbers of rows: a row of weight 2 counts as two identical
    rows.
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the map from scores to probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, 1)
            Held-out scores.
        y : array-like of shape (n_samples,)
            Targets: 1 for the positive side, 0 for the negative side, or frequencies of the
            positive side between 0 and 1.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, interpreted as numbers of rows; rows of weight 0 are ignored. ``None``
            means 1 for every row.

        Returns
        -------
        BinaryCalibrator
            The fitted calibrator.
        """
        score = check_score(X)
        target = check_target(y, score)
        weight = check_row_weight(sample_weight, score)
        used = weight > 0
        self._fit(score[used], target[used], weight[used])
        return self

    def predict(self, T: ArrayLike) -> FloatArray:
        """Predict calibrated probabilities.

        Parameters
        ----------
        T : array-like of shape (n_samples,) or (n_samples, 1)
            Scores, on the same scale as those passed to ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Probabilities in [0, 1].
        """
        check_is_fitted(self)
        return self._proba(check_score(T))

    def transform(self, T: ArrayLike) -> FloatArray:
        """Predict calibrated probabilities; the same as `predict`."""
        return self.predict(T)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    @abstractmethod
    def _fit(self, score: FloatArray, target: FloatArray, weight: FloatArray) -> None:
        """Fit the map on checked points of positive weight."""

    @abstractmethod
    def _proba(self, score: FloatArray) -> FloatArray:
        """Return the probabilities of checked scores."""


class MulticlassCalibrator(ClassifierMixin, BaseEstimator, ABC):
    """Base class of calibrators for rows of class probabilities.

    Sample weights are interpreted as numbers of distinct rows. If a row was scored several times,
    divide its weight among its scores, so that no row counts twice.

    Calibrated probabilities are never 0: they are raised to the probability floor, which depends
    on the number of rows in each class.
    """

    classes_: NDArray[Any]
    class_count_: FloatArray
    n_features_in_: int

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the map from scores to probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes)
            Rows of held-out probabilities that sum to 1.
        y : array-like of shape (n_samples,)
            Class labels. The sorted labels correspond to the columns. If some classes have no
            rows, the labels must be column numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, interpreted as numbers of rows: weights that sum to 1 stand for a single
            row. Rows of weight 0 are ignored. ``None`` means 1 for every row.

        Returns
        -------
        MulticlassCalibrator
            The fitted calibrator.
        """
        score, index, weight = self._check_points(X, y, sample_weight)
        self._fit(score, index, weight)
        return self

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Predict calibrated probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes)
            Rows of probabilities that sum to 1.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Class probabilities, none of which is 0; each row sums to 1.
        """
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._floored_proba(check_class_scores(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes)
            Rows of probabilities that sum to 1.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _fit_columns(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> Self:
        """Do what `fit` does, for checked points with column numbers as labels."""
        self.n_features_in_ = score.shape[1]
        self.classes_ = np.arange(score.shape[1])
        self.class_count_ = np.bincount(y, weight, score.shape[1]).astype(np.float64)
        self._fit(score, y, weight)
        return self

    def _floored_proba(self, score: FloatArray) -> FloatArray:
        """Do what `predict_proba` does, for checked rows."""
        return apply_probability_floor(self._proba(score), self.class_count_)

    @abstractmethod
    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        """Fit the map on checked points of positive weight, with column numbers as labels."""

    @abstractmethod
    def _proba(self, score: FloatArray) -> FloatArray:
        """Return the probabilities of checked rows, before the probability floor."""

    def _check_points(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[FloatArray, IndexArray, FloatArray]:
        """Check the points, set the classes and their counts, and drop points of weight 0."""
        validate_data(self, X, y, skip_check_array=True)
        score = check_class_scores(X)
        labels = check_labels(y)
        if len(labels) != len(score):
            raise ValueError(
                f"y must have one label for each row of scores, got {count(len(labels), 'label')} "
                f"for {count(len(score), 'row')}. Pass the labels of these rows."
            )
        weight = check_row_weight(sample_weight, score)
        self.classes_, index = _match_columns(labels, score.shape[1])
        names = getattr(self, "feature_names_in_", ())
        if set(names) == set(self.classes_) and list(names) != self.classes_.tolist():
            raise ValueError(
                "Columns named after the classes must be in sorted order, "
                f"{self.classes_.tolist()}, got {list(names)}. Pass X[sorted(X.columns)]."
            )
        self.class_count_ = np.bincount(index, weight, score.shape[1]).astype(np.float64)
        used = weight > 0
        return score[used], index[used], weight[used]


def _match_columns(labels: NDArray[Any], n_columns: int) -> tuple[NDArray[Any], IndexArray]:
    """Return the class of each column, and the column of each label."""
    classes, index = np.unique(labels, return_inverse=True)
    if len(classes) == n_columns:
        return classes, index
    are_integers = np.issubdtype(classes.dtype, np.integer)
    if not (are_integers and classes[0] >= 0 and classes[-1] < n_columns):
        raise ValueError(
            f"y must contain one class for each of the {n_columns} columns of scores, got the "
            f"classes {classes.tolist()}. If some classes have no rows, pass column numbers as "
            "labels."
        )
    return np.arange(n_columns), labels.astype(np.intp)
