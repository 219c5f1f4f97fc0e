"""What calibrators have in common: checks at the door, classes, the limit of certainty."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from calibrant._core.probability_floor import apply_probability_floor
from calibrant._core.typing import FloatArray, IndexArray
from calibrant._core.validation import check_weight
from calibrant.calibrators._validation import check_class_scores, check_score, check_target


class BinaryCalibrator(TransformerMixin, RegressorMixin, BaseEstimator, ABC):
    """A map from the score of one side of a problem to its probability."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the map from scores to probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, 1)
            Scores, out of sample.
        y : array-like of shape (n_samples,)
            Targets: 0, 1 or any share between.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequencies; rows of weight 0 are left out.

        Returns
        -------
        BinaryCalibrator
            The fitted calibrator.
        """
        score = check_score(X)
        target = check_target(y, score)
        weight = check_weight(sample_weight, score)
        seen = weight > 0
        self._fit(score[seen], target[seen], weight[seen])
        return self

    def predict(self, T: ArrayLike) -> FloatArray:
        """Probabilities for new scores.

        Parameters
        ----------
        T : array-like of shape (n_samples,) or (n_samples, 1)
            Scores on the scale of the scores given to ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Probabilities in [0, 1].
        """
        check_is_fitted(self)
        return self._proba(check_score(T))

    def transform(self, T: ArrayLike) -> FloatArray:
        """Probabilities for new scores; the same as `predict`."""
        return self.predict(T)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    @abstractmethod
    def _fit(self, score: FloatArray, target: FloatArray, weight: FloatArray) -> None:
        """Fit on checked points of positive weight."""

    @abstractmethod
    def _proba(self, score: FloatArray) -> FloatArray:
        """Map checked scores."""


class MulticlassCalibrator(ClassifierMixin, BaseEstimator, ABC):
    """A classifier of score rows: probabilities in, better probabilities out.

    Sample weights are numbers of distinct rows. Where a row was scored several times, its
    weight is divided among its points, so that evidence is never counted twice.

    No class gets a probability of 0, or any that is smaller than the number of rows can
    support (`calibrant._core.probability_floor`).
    """

    classes_: NDArray[Any]
    class_count_: FloatArray
    n_features_in_: int

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the map from scores to probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes)
            Rows of probabilities that sum to 1, out of sample: of rows that the model was
            not fitted on.
        y : array-like of shape (n_samples,)
            Class labels; the sorted labels belong to the columns. Column numbers may leave
            classes out.
        sample_weight : array-like of shape (n_samples,), default=None
            Numbers of rows: weights that sum to 1 say that there was one row in all. Points of
            weight 0 are left out.

        Returns
        -------
        MulticlassCalibrator
            The fitted calibrator.
        """
        score, index, weight = self._check_points(X, y, sample_weight)
        self._fit(score, index, weight)
        return self

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Calibrated probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes)
            Rows of probabilities that sum to 1.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows that sum to 1, without zeros.
        """
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._floored_proba(check_class_scores(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Most probable class of each row.

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
        """Do as `fit` does with points that another calibrator has checked."""
        self.n_features_in_ = score.shape[1]
        self.classes_ = np.arange(score.shape[1])
        self.class_count_ = np.bincount(y, weight, score.shape[1]).astype(np.float64)
        self._fit(score, y, weight)
        return self

    def _floored_proba(self, score: FloatArray) -> FloatArray:
        """Do as `predict_proba` does with checked rows."""
        return apply_probability_floor(self._proba(score), self.class_count_)

    @abstractmethod
    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        """Fit on checked points of positive weight, with column numbers as labels."""

    @abstractmethod
    def _proba(self, score: FloatArray) -> FloatArray:
        """Map checked rows; the limit of certainty is applied by the caller."""

    def _check_points(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[FloatArray, IndexArray, FloatArray]:
        """Check the points, note classes and counts, drop points of weight 0."""
        validate_data(self, X, y, skip_check_array=True)
        score = check_class_scores(X)
        labels = column_or_1d(y)
        with warnings.catch_warnings():
            # Many classes for few rows are nothing odd here.
            warnings.filterwarnings("ignore", message="The number of unique classes is greater")
            check_classification_targets(labels)
        if len(labels) != len(score):
            raise ValueError(
                f"y must hold one label for each row of scores. Got {len(labels)} labels and "
                f"{len(score)} rows. Pass the labels of these rows."
            )
        weight = check_weight(sample_weight, score)
        self.classes_, index = _columns_of(labels, score.shape[1])
        names = getattr(self, "feature_names_in_", ())
        if set(names) == set(self.classes_) and list(names) != self.classes_.tolist():
            raise ValueError(
                f"Columns named after the classes must come in their order, "
                f"{self.classes_.tolist()}. Got {list(names)}. Pass X[sorted(X.columns)]."
            )
        self.class_count_ = np.bincount(index, weight, score.shape[1]).astype(np.float64)
        seen = weight > 0
        return score[seen], index[seen], weight[seen]


def _columns_of(labels: NDArray[Any], n_columns: int) -> tuple[NDArray[Any], IndexArray]:
    """Return the classes of the columns, and the column of each label."""
    classes, index = np.unique(labels, return_inverse=True)
    if len(classes) == n_columns:
        return classes, index
    are_numbers = np.issubdtype(classes.dtype, np.integer)
    if not (are_numbers and classes[0] >= 0 and classes[-1] < n_columns):
        raise ValueError(
            f"y must hold a label for each of the {n_columns} columns of scores. Got "
            f"{len(classes)} classes: {classes.tolist()}. Where classes are missing from y, pass "
            "column numbers."
        )
    return np.arange(n_columns), labels.astype(np.intp)
