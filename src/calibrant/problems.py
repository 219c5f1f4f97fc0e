"""One scoring problem: which rows it holds, what a model is fitted on, which score it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

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
        What a model is fitted on. Where each side is a single class, the user's own
        labels, so that class weights by label keep their meaning.
    target : ndarray of shape (n_training_rows,)
        What a calibrator is fitted on: 1 or 0 for the two sides, or the class index.
    """

    side: NDArray[np.int8] | None
    rows: NDArray[np.intp]
    labels: NDArray[Any]
    target: NDArray[np.intp]

    @property
    def is_binary(self) -> bool:
        """Whether the problem has a positive and a negative side."""
        return self.side is not None

    @property
    def column(self) -> int | None:
        """The score column of a model fitted on this problem's labels; None is all."""
        return None if self.side is None else score_column(self.side)


def score_column(side: NDArray[np.int8]) -> int:
    """Column of the positive side in the scores of a model fitted on a problem's labels."""
    positive, negative = np.flatnonzero(side == 1), np.flatnonzero(side == -1)
    positive_label_is_first = len(positive) == len(negative) == 1 and positive[0] < negative[0]
    return 0 if positive_label_is_first else 1


def reduce_scores(
    side: NDArray[np.int8] | None, class_score: FloatArray, is_proba: bool
) -> FloatArray:
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
        return class_score
    positive, negative = class_score[:, side == 1], class_score[:, side == -1]
    if not is_proba:
        return positive.mean(axis=1) - negative.mean(axis=1)
    win, lose = positive.sum(axis=1), negative.sum(axis=1)
    total = win + lose
    return np.divide(win, total, out=np.full_like(win, 0.5), where=total > 0)


def is_scored(score: FloatArray) -> NDArray[np.bool_]:
    """Rows for which a model has a score at all."""
    return ~np.isnan(score if score.ndim == 1 else score.sum(axis=1))


def scoring_problems(
    code: NDArray[np.int8] | None,
    y: NDArray[np.intp],
    classes: NDArray[Any],
    taking_part: NDArray[np.bool_],
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

    Returns
    -------
    list of ScoringProblem
        One for each column.
    """
    if code is None:
        return [ScoringProblem(None, np.flatnonzero(taking_part), classes[y], y)]
    problems = []
    for side in code.T:
        one_class_a_side = np.count_nonzero(side) == 2
        target = (side[y] == 1).astype(np.intp)
        problems.append(
            ScoringProblem(
                side=side,
                rows=np.flatnonzero(taking_part & (side[y] != 0)),
                labels=classes[y] if one_class_a_side else target,
                target=target,
            )
        )
    return problems


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
