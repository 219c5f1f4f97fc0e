"""What the published numbers rest on, and nothing else should.

The paper's tables come out of the authors' R code and its habits, one of which is a bug.
To check the tables against the paper, this file has those habits, and the bug:

- all pairs are coupled by R's ``kernlab::couple``, which fills its matrix in the wrong
  order for four or more classes (`faulty_couple`);
- naive Bayes is that of R's e1071 (`E1071NaiveBayes`);
- features are scaled on the whole data set, before it is folded (`prepare`);
- the folds are those of the authors, found by their random seed (`published_folds`);
- the forest's number of features to try is tuned by out-of-bag error (`tuned_forest`);
- calibrated probabilities may be 0 (`PlainClassifier`).

None of this is used unless a run is asked for as published.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted, validate_data

from calibrant.classifier import CalibratedClassifier
from calibrant.strategies import AllPairs
from experiments.preprocessing import DropNearZeroVariance

FloatArray = NDArray[np.float64]

N_FOLDS = 10


def faulty_couple(pairwise: ArrayLike) -> FloatArray:
    """Pairwise coupling with the fault of R's ``kernlab::couple(coupler = "minpair")``.

    Parameters
    ----------
    pairwise : array-like of shape (n_samples, n_pairs)
        P(i | i or j) for i < j, in row-major order of the pairs: (1, 2), (1, 3), ...

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        What that function returns. Right for three classes. For more, rows sum to 1 but
        may have negative values; NaN where its linear system has no solution.

    Notes
    -----
    The function takes the pairs as a vector and writes it into the upper and into the
    lower triangle of a matrix, both in R's column-major order. In the lower triangle that
    is the order of the vector; in the upper one it is not, so that entry (i, j) is no
    longer one minus entry (j, i).
    """
    pairs = np.asarray(pairwise, dtype=np.float64)
    n_samples, n_pairs = pairs.shape
    n_classes = int(1 + np.sqrt(1 + 8 * n_pairs)) // 2
    column, row = np.triu_indices(n_classes, 1)
    lower = (row, column)  # column by column, as R walks through the lower triangle
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
    # R's solve refuses a system whose reciprocal condition number is below this.
    regular = 1.0 / np.linalg.cond(system, 1) > np.finfo(np.float64).eps
    if regular.any():
        solution = np.linalg.solve(system[regular], constant[None, :, None])[:, :, 0]
        proba[regular] = solution[:, :n_classes]
    return proba


class FaultyAllPairs(AllPairs):
    """All pairs, coupled as in the published tables."""

    def _combine(self, problems: Any) -> FloatArray:
        """Couple by `faulty_couple`; each problem has the later class as positive."""
        earlier, later = problems.code.argmin(axis=0), problems.code.argmax(axis=0)
        order = np.lexsort((later, earlier))
        return faulty_couple(1.0 - problems.proba[:, order])


class PlainClassifier(CalibratedClassifier):
    """`CalibratedClassifier` as published: calibrated probabilities may be 0."""

    def _limit(self, proba: FloatArray) -> FloatArray:
        return proba


class E1071NaiveBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes of R's e1071 package: Gaussian features, and categorical ones by share.

    Parameters
    ----------
    categorical : tuple of int, default=()
        Columns that hold category codes.
    threshold : float, default=0.001
        What a standard deviation or a density of exactly 0 becomes.
    """

    def __init__(self, *, categorical: tuple[int, ...] = (), threshold: float = 0.001):
        self.categorical = categorical
        self.threshold = threshold

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Estimate class shares, means, standard deviations and category shares."""
        values = validate_data(self, X, dtype=np.float64)
        self.classes_, index = np.unique(np.asarray(y), return_inverse=True)
        self.gaussian_ = np.setdiff1d(np.arange(values.shape[1]), self.categorical)
        parts = [values[index == k] for k in range(len(self.classes_))]
        self.share_ = np.bincount(index) / len(index)
        self.mean_ = np.array([part[:, self.gaussian_].mean(axis=0) for part in parts])
        # Of one row R has no standard deviation, and of equal values one of exactly 0, which
        # rounding in the mean would spoil here.
        self.sd_ = np.array(
            [
                np.where(np.ptp(own, axis=0) == 0, 0.0, own.std(axis=0, ddof=min(1, len(own) - 1)))
                for own in (part[:, self.gaussian_] for part in parts)
            ]
        )
        self.sd_[self.sd_ == 0] = self.threshold
        self.tables_ = [
            np.array([[np.mean(part[:, column] == code) for code in codes] for part in parts])
            for column in self.categorical
            for codes in [np.arange(int(values[:, column].max()) + 1)]
        ]
        return self

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Class probabilities, with a density of 0 taken as the threshold."""
        check_is_fitted(self)
        values = validate_data(self, X, dtype=np.float64, reset=False)
        distance = (values[:, None, self.gaussian_] - self.mean_) / self.sd_
        density = np.exp(-0.5 * distance**2) / (self.sd_ * np.sqrt(2 * np.pi))
        log_joint = np.log(self.share_) + self._log(density).sum(axis=2)
        for column, table in zip(self.categorical, self.tables_, strict=True):
            log_joint += self._log(table[:, values[:, column].astype(int)].T)
        joint = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
        return joint / joint.sum(axis=1, keepdims=True)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Most probable class of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _log(self, density: FloatArray) -> FloatArray:
        return np.log(np.where(density <= 0, self.threshold, density))


def prepare(data: Bunch) -> tuple[FloatArray, tuple[int, ...]]:
    """Drop and scale features on the whole data set; categories stay codes.

    Parameters
    ----------
    data : Bunch
        A data set of `calibrant.datasets`.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The features.
    categorical : tuple of int
        The columns of X that hold category codes.
    """
    names = np.array(data.feature_names)
    kept = DropNearZeroVariance().fit(data.data).get_support()
    X, names = data.data[:, kept].copy(), names[kept]
    categorical = tuple(np.flatnonzero(np.isin(names, data.categorical)).tolist())
    gaussian = np.setdiff1d(np.arange(X.shape[1]), categorical)
    X[:, gaussian] -= X[:, gaussian].mean(axis=0)
    X[:, gaussian] /= X[:, gaussian].std(axis=0, ddof=1)
    return X, categorical


def published_folds(data_set: str) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the training and test rows of the authors' folds."""
    table = files("experiments.paper").joinpath("data", "folds.csv").read_text(encoding="utf-8")
    digits = {
        row["data_set"]: row["fold_of_each_row"] for row in csv.DictReader(table.splitlines())
    }
    fold = np.array(list(digits[data_set])).astype(int)
    for number in range(1, N_FOLDS + 1):
        held_out = fold == number % N_FOLDS
        yield np.flatnonzero(~held_out), np.flatnonzero(held_out)


def tuned_forest(forest: Any, X: FloatArray, y: NDArray[Any]) -> Any:
    """Set a forest's number of features to try, by the rule of R's ``tuneRF``.

    Doubled and halved from the square root of the number of features as long as the
    out-of-bag error falls by 5 %. The authors tune for each binary problem; here it is
    done once, on the classes of a training part, which takes a fraction of the time.

    Parameters
    ----------
    forest : RandomForestClassifier
        The forest to tune; it is left alone.
    X : ndarray of shape (n_samples, n_features)
        Training rows.
    y : ndarray of shape (n_samples,)
        Their classes.

    Returns
    -------
    RandomForestClassifier
        The tuned forest, unfitted.
    """

    def error(n_tried: int) -> float:
        trial = clone(forest).set_params(max_features=n_tried, oob_score=True).fit(X, y)
        return 1.0 - float(trial.oob_score_)

    n_features = X.shape[1]
    start = max(1, int(np.sqrt(n_features)))
    errors = {start: error(start)}
    best = errors[start]
    for factor in (0.5, 2.0):
        tried = start
        while (following := min(n_features, int(np.ceil(tried * factor)))) not in errors:
            tried = following
            errors[tried] = error(tried)
            if best <= 0 or 1.0 - errors[tried] / best <= 0.05:
                break
            best = errors[tried]
    return clone(forest).set_params(max_features=min(errors, key=lambda tried: errors[tried]))
