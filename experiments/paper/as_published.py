"""The conventions and the bug behind the published numbers, for comparison only.

The tables of the paper come from the authors' R code, with its conventions and one bug. This module
reproduces them, so that our numbers can be compared with the published ones:

- pairs are coupled as in R's ``kernlab::couple``, which fills its matrix in the wrong order for
  four or more classes (`faulty_couple`);
- naive Bayes is that of R's e1071 package (`E1071NaiveBayes`);
- features are scaled on the whole data set before splitting (`preprocess_as_published`);
- the forest's ``max_features`` is tuned by out-of-bag error (`tune_forest`);
- calibrated probabilities have no floor, so they can be 0 (`predict_without_floor`).

The authors' folds are in `experiments.paper.published`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted, validate_data

from calibrant import CalibratedClassifier
from calibrant._core.typing import FloatArray, IndexArray
from experiments.classifiers import make_forest
from experiments.preprocessing import DropNearZeroVariance

# ``tuneRF`` continues as long as the out-of-bag error falls by more than this proportion.
TUNING_IMPROVEMENT = 0.05


def faulty_couple(pairwise: ArrayLike) -> FloatArray:
    """Couple pairwise probabilities with the bug of ``kernlab::couple(coupler = "minpair")``.

    Parameters
    ----------
    pairwise : array-like of shape (n_samples, n_pairs)
        P(i | i or j) for i < j, in row-major order of the pairs: (1, 2), (1, 3), ...

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        The result of the R function. It is correct for three classes. For more classes, rows
        sum to 1 but can have negative entries; rows are NaN if the linear system is singular.

    Notes
    -----
    The R function takes the pairs as a vector and assigns it to the upper and the lower triangle
    of a matrix, both in R's column-major order. This is the order of the vector only for the
    lower triangle. In the upper triangle, the entries are permuted, so entry (i, j) is no longer
    one minus entry (j, i).
    """
    pairs = np.asarray(pairwise, dtype=np.float64)
    n_samples, n_pairs = pairs.shape
    n_classes = int(1 + np.sqrt(1 + 8 * n_pairs)) // 2
    column, row = np.triu_indices(n_classes, 1)
    lower = (row, column)  # column by column through the lower triangle
    order = np.lexsort((column, row))
    upper = (column[order], row[order])  # column by column through the upper triangle

    matrix = np.zeros((n_samples, n_classes, n_classes))
    matrix[:, upper[0], upper[1]] = pairs
    matrix[:, lower[0], lower[1]] = 1.0 - pairs
    system = np.zeros((n_samples, n_classes + 1, n_classes + 1))
    diagonal = np.arange(n_classes)
    system[:, diagonal, diagonal] = (matrix**2).sum(axis=1)
    system[:, upper[0], upper[1]] = system[:, lower[0], lower[1]] = -pairs * (1.0 - pairs)
    system[:, :n_classes, n_classes] = system[:, n_classes, :n_classes] = 1.0
    constant = np.zeros(n_classes + 1)
    constant[-1] = 1.0

    proba = np.full((n_samples, n_classes), np.nan)
    # R's solve rejects systems with a smaller reciprocal condition number.
    regular = 1.0 / np.linalg.cond(system, 1) > np.finfo(np.float64).eps
    if regular.any():
        solution = np.linalg.solve(system[regular], constant[None, :, None])[:, :, 0]
        proba[regular] = solution[:, :n_classes]
    return proba


def predict_with_faulty_coupling(model: CalibratedClassifier, X: ArrayLike) -> FloatArray:
    """Predict class probabilities with a fitted all-pairs model, coupled by `faulty_couple`.

    Parameters
    ----------
    model : CalibratedClassifier
        A model fitted with ``strategy="all-pairs"`` on three or more classes.
    X : array-like of shape (n_samples, n_features)
        Rows to predict.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        The probabilities, as `faulty_couple` returns them.
    """
    later_class = np.column_stack(model.predict_problem_proba(X))
    # The positive side of each problem is the later class; R takes P(earlier | either).
    code = np.asarray(model.code_)
    earlier, later = code.argmin(axis=0), code.argmax(axis=0)
    row_major = np.lexsort((later, earlier))
    return faulty_couple(1.0 - later_class[:, row_major])


def predict_without_floor(model: CalibratedClassifier, X: ArrayLike) -> FloatArray:
    """Predict class probabilities with a fitted model, without the probability floor.

    Parameters
    ----------
    model : CalibratedClassifier
        A calibrated model with binary scoring problems.
    X : array-like of shape (n_samples, n_features)
        Rows to predict.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        The probabilities, which can be 0.
    """
    return model.strategy_.combine(
        model.predict_problem_proba(X),
        model.code_,
        model.class_count_,
        fallback=model.predict_problem_proba(X, calibrated=False),
    )


class E1071NaiveBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes of R's e1071 package, with Gaussian and categorical features.

    Parameters
    ----------
    categorical : tuple of int, default=()
        Columns that contain category codes, from 0.
    threshold : float, default=0.001
        Replaces standard deviations and densities that are exactly 0.
    """

    def __init__(self, *, categorical: tuple[int, ...] = (), threshold: float = 0.001):
        self.categorical = categorical
        self.threshold = threshold

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Estimate class frequencies, means, standard deviations and category frequencies."""
        values = validate_data(self, X, dtype=np.float64)
        self.classes_, index = np.unique(np.asarray(y), return_inverse=True)
        self.gaussian_ = np.setdiff1d(np.arange(values.shape[1]), self.categorical)
        by_class = [values[index == k] for k in range(len(self.classes_))]
        self.class_prior_ = np.bincount(index) / len(index)
        self.mean_ = np.array([rows[:, self.gaussian_].mean(axis=0) for rows in by_class])
        self.sd_ = np.array([_standard_deviation(rows[:, self.gaussian_]) for rows in by_class])
        self.sd_[self.sd_ == 0] = self.threshold
        self.tables_ = [
            np.array([[np.mean(rows[:, column] == code) for code in codes] for rows in by_class])
            for column in self.categorical
            for codes in [np.arange(int(values[:, column].max()) + 1)]
        ]
        return self

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return class probabilities, with densities of 0 replaced by the threshold."""
        check_is_fitted(self)
        values = validate_data(self, X, dtype=np.float64, reset=False)
        distance = (values[:, None, self.gaussian_] - self.mean_) / self.sd_
        density = np.exp(-0.5 * distance**2) / (self.sd_ * np.sqrt(2 * np.pi))
        log_joint = np.log(self.class_prior_) + self._log(density).sum(axis=2)
        for column, table in zip(self.categorical, self.tables_, strict=True):
            log_joint += self._log(table[:, values[:, column].astype(int)].T)
        joint = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
        return joint / joint.sum(axis=1, keepdims=True)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _log(self, density: FloatArray) -> FloatArray:
        return np.log(np.where(density <= 0, self.threshold, density))


def _standard_deviation(rows: FloatArray) -> FloatArray:
    """Return the sample standard deviation of each column; 0 for a single row."""
    sd = rows.std(axis=0, ddof=min(1, len(rows) - 1))
    # If all values are equal, rounding of the mean could make it positive.
    return np.where(np.ptp(rows, axis=0) == 0, 0.0, sd)


def preprocess_as_published(data: Bunch) -> tuple[FloatArray, tuple[int, ...]]:
    """Drop and scale features on the whole data set, leaving categories as codes.

    Parameters
    ----------
    data : Bunch
        A data set of `calibrant.datasets`.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The features.
    categorical : tuple of int
        The columns of X that contain category codes.
    """
    names = np.array(data.feature_names)
    kept = DropNearZeroVariance().fit(data.data).get_support()
    X, names = data.data[:, kept].copy(), names[kept]
    categorical = tuple(np.flatnonzero(np.isin(names, data.categorical)).tolist())
    gaussian = np.setdiff1d(np.arange(X.shape[1]), categorical)
    X[:, gaussian] -= X[:, gaussian].mean(axis=0)
    X[:, gaussian] /= X[:, gaussian].std(axis=0, ddof=1)
    return X, categorical


def tune_forest(forest: Any, X: FloatArray, y: NDArray[Any]) -> Any:
    """Choose ``max_features`` of a forest by the rule of R's ``tuneRF``.

    Starting from the square root of the number of features, it is doubled and halved as long as
    the out-of-bag error falls by more than 5%.

    Parameters
    ----------
    forest : RandomForestClassifier
        The forest to tune, which is not changed.
    X : ndarray of shape (n_samples, n_features)
        Training rows.
    y : ndarray of shape (n_samples,)
        Their classes.

    Returns
    -------
    RandomForestClassifier
        The tuned forest, unfitted.

    Notes
    -----
    The authors tune for each binary problem. Here, tuning is done once per fold on all classes,
    which takes a fraction of the time.
    """

    def out_of_bag_error(max_features: int) -> float:
        trial = clone(forest).set_params(max_features=max_features, oob_score=True).fit(X, y)
        return 1.0 - float(trial.oob_score_)

    n_features = X.shape[1]
    start = max(1, int(np.sqrt(n_features)))
    errors = {start: out_of_bag_error(start)}
    best = errors[start]
    for factor in (0.5, 2.0):
        current = start
        while (following := min(n_features, int(np.ceil(current * factor)))) not in errors:
            current = following
            errors[current] = out_of_bag_error(current)
            if best <= 0 or 1.0 - errors[current] / best <= TUNING_IMPROVEMENT:
                break
            best = errors[current]
    return clone(forest).set_params(max_features=min(errors, key=lambda tried: errors[tried]))


class TrainingRows(NamedTuple):
    """The input for making the authors' classifiers."""

    X: FloatArray
    y: IndexArray
    categorical: tuple[int, ...]
    seed: int
    n_trees: int


# Functions that return the authors' version of each classifier, unfitted.
CLASSIFIERS_AS_PUBLISHED: dict[str, Callable[[TrainingRows], Any]] = {
    "nb": lambda rows: E1071NaiveBayes(categorical=rows.categorical),
    "rf": lambda rows: tune_forest(make_forest(rows.seed, rows.n_trees), rows.X, rows.y),
}
