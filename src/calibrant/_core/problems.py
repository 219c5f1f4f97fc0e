"""One scoring problem: which rows it holds, what a model is fitted on, which score it gives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant._core.rowwise import normalize_rows, row_sums, softmax
from calibrant._core.typing import BoolArray, CodeMatrix, FloatArray, IndexArray

# Scores beyond this are taken as this: sums and distances of scores stay finite.
LARGEST_SCORE = 1e250


@dataclass(frozen=True, eq=False)
class ScoringProblem:
    """A classification problem whose scores are to be calibrated.

    Attributes
    ----------
    side : ndarray of shape (n_classes,)
        1 for the classes on the positive side, -1 for the negative side, 0 for classes
        left out. None: the problem is the multi-class one.
    rows : ndarray
        The training rows that take part, those of weight 0 left out.
    labels : ndarray of shape (n_training_rows,)
        What a model is fitted on: the target, or the user's own labels.
    target : ndarray of shape (n_training_rows,)
        What a calibrator is fitted on: 1 or 0 for the two sides, or the class index.
    """

    side: CodeMatrix | None
    rows: IndexArray
    labels: NDArray[Any]
    target: IndexArray

    @property
    def is_binary(self) -> bool:
        """Whether the problem has a positive and a negative side."""
        return self.side is not None

    @cached_property
    def member(self) -> BoolArray:
        """Whether each training row takes part."""
        member = np.zeros(len(self.target), dtype=bool)
        member[self.rows] = True
        return member

    @cached_property
    def n_labels(self) -> int:
        """The number of distinct targets among the rows."""
        return len(np.unique(self.target[self.rows]))


class Part(NamedTuple):
    """A split of a problem's rows: train on some, score the others.

    ``split`` is the number of the split that the rows were cut from, which parts of several
    problems share; ``times`` is how often it was drawn. It is fitted once.
    """

    problem: ScoringProblem
    train: IndexArray
    test: IndexArray
    split: int
    times: int = 1


def take_rows(X: Any, rows: IndexArray) -> Any:
    """Take rows of an array, a sparse matrix, a data frame or a list, in its own type."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "__array__") or hasattr(X, "tocsr"):
        return X[rows]
    return [X[row] for row in rows]


def problem_score(class_score: FloatArray, is_proba: bool, *, binary: bool) -> FloatArray:
    """Score of a problem from the scores of a model fitted on its labels.

    The positive side of a binary problem is the second of its sorted labels. Scores of a
    multi-class problem are always probabilities.
    """
    return class_score[:, 1] if binary else _as_proba(class_score, is_proba)


def _as_proba(class_score: FloatArray, is_proba: bool) -> FloatArray:
    """Take decision values as logits: the softmax of them has the right order at least."""
    # Some classifiers return rows of zeros, or rows that do not quite sum to 1.
    return normalize_rows(class_score) if is_proba else softmax(class_score)


def reduce_scores(side: CodeMatrix | None, class_score: FloatArray, is_proba: bool) -> FloatArray:
    """Score of a problem from the scores of one model of all classes.

    Parameters
    ----------
    side : ndarray of shape (n_classes,) or None
        The problem's column of the code matrix.
    class_score : ndarray of shape (n_samples, n_classes)
        Scores of the multi-class model.
    is_proba : bool
        Whether these are probabilities.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, n_classes)
        The probability of the positive side given either side, or the difference of the
        mean decision values.
    """
    if side is None:
        return _as_proba(class_score, is_proba)
    positive, negative = class_score[:, side == 1], class_score[:, side == -1]
    if not is_proba:
        return positive.mean(axis=1) - negative.mean(axis=1)
    win, lose = positive.sum(axis=1), negative.sum(axis=1)
    total = win + lose
    return np.divide(win, total, out=np.full_like(win, 0.5), where=total != 0)


def is_scored(score: FloatArray) -> BoolArray:
    """IndexArray for which a model has a score at all."""
    return ~np.isnan(score if score.ndim == 1 else row_sums(score)[:, 0])


def scoring_problems(
    code: CodeMatrix | None,
    y: IndexArray,
    classes: NDArray[Any],
    taking_part: BoolArray,
    *,
    keep_labels: bool = False,
) -> list[ScoringProblem]:
    """Bind the columns of a code matrix to the training rows.

    Parameters
    ----------
    code : ndarray of shape (n_classes, n_problems) or None
        The code matrix; None is one multi-class problem.
    y : ndarray of shape (n_samples,)
        Class indices.
    classes : ndarray of shape (n_classes,)
        The labels of the classes.
    taking_part : ndarray of shape (n_samples,)
        False for rows to leave out.
    keep_labels : bool, default=False
        Fit binary problems on the user's labels rather than on 0 and 1, so that class
        weights by label keep their meaning. Each side must then be a single class.

    Returns
    -------
    list of ScoringProblem
        One for each column.
    """
    if keep_labels and code is not None and (np.abs(code).sum(axis=0) > 2).any():
        raise ValueError(
            "class_weight by label must be for problems between single classes. Got problems "
            "with several classes on a side. Use strategy='all-pairs' or 'direct', "
            "class_weight='balanced', or sample_weight."
        )
    if code is None:
        return [ScoringProblem(None, np.flatnonzero(taking_part), classes[y], y)]
    problems = []
    for side in code.T:
        target = (side[y] == 1).astype(np.intp)
        problems.append(
            ScoringProblem(
                side=side,
                rows=np.flatnonzero(taking_part & (side[y] != 0)),
                labels=classes[y] if keep_labels else target,
                target=target,
            )
        )
    return problems


def check_has_proba(model: Any) -> None:
    """Refuse a model without probabilities of its own."""
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            f"method=None takes the estimator's own probabilities, and {type(model).__name__} has "
            "no predict_proba. Use method='auto' to map its decision_function."
        )


def class_scores(model: Any, X: Any) -> tuple[FloatArray, bool]:
    """Scores of a fitted model, one column a class.

    Parameters
    ----------
    model : classifier
        With ``predict_proba`` or, failing that, ``decision_function``.
    X : array-like
        The rows to score.

    Returns
    -------
    score : ndarray of shape (n_samples, n_classes)
        Probabilities, or decision values on any scale; NaN where the model has none, as
        naive Bayes has where no feature varies.
    is_proba : bool
        Whether they are probabilities.
    """
    is_proba = hasattr(model, "predict_proba")
    if not is_proba and not hasattr(model, "decision_function"):
        raise ValueError(
            f"estimator must have predict_proba or decision_function. {type(model).__name__} has "
            "neither. Pass a classifier that scores rows."
        )
    score = np.asarray(
        model.predict_proba(X) if is_proba else model.decision_function(X), dtype=np.float64
    )
    if score.ndim == 1:
        score = np.column_stack([-score, score])
    if score.shape[1] != len(model.classes_):
        raise ValueError(
            f"Scores must have one column for each of the {len(model.classes_)} classes. "
            f"{type(model).__name__} returned {score.shape[1]}. "
            "For SVC, use decision_function_shape='ovr'."
        )
    if is_proba:
        return np.clip(score, 0.0, 1.0), True
    return np.clip(score, -LARGEST_SCORE, LARGEST_SCORE), False
