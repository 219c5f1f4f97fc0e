"""Scoring problems: their rows and labels, and the scores that models assign to them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from calibrant._core.class_scores import class_scores
from calibrant._core.rowwise import normalize_rows, row_sums, softmax
from calibrant._core.training_data import TrainingData
from calibrant._core.typing import BoolArray, CodeMatrix, FloatArray, IndexArray
from calibrant._core.voting import VotingEnsemble


@dataclass(frozen=True, eq=False)
class ScoringProblem:
    """A classification problem whose scores are to be calibrated.

    Attributes
    ----------
    side : ndarray of shape (n_classes,) or None
        1 for classes on the positive side, -1 for classes on the negative side, 0 for classes
        left out; None for the multi-class problem.
    rows : ndarray of shape (n_rows,)
        The training rows that belong to the problem.
    labels : ndarray of shape (n_samples,)
        The labels that models are fitted on: the target or the user's labels.
    target : ndarray of shape (n_samples,)
        The target that calibrators are fitted on: 1 or 0 for the two sides, or the class index.
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
        """Whether each training row belongs to the problem."""
        member = np.zeros(len(self.target), dtype=bool)
        member[self.rows] = True
        return member

    @cached_property
    def n_labels(self) -> int:
        """The number of distinct targets among the rows."""
        return len(np.unique(self.target[self.rows]))


class ProblemSplit(NamedTuple):
    """A split of the training data, restricted to the rows of one problem.

    ``split`` is the number of the split, which all problems share. ``times`` is the number of
    times that the split was drawn; it is fitted only once. A split that only provides a voter was
    drawn 0 times.
    """

    problem: ScoringProblem
    train: IndexArray
    test: IndexArray
    split: int
    times: int = 1

    @property
    def variance_factor(self) -> float:
        r"""The factor from the variance among models of such splits to that among data sets.

        A model that uses row :math:`i` :math:`w_i` times differs from the model of all rows by a
        variance proportional to :math:`\operatorname{Var}(w) / \operatorname{E}(w)^2`, which is 1
        for bootstrap samples. For folds, the factor is that of the delete-d jackknife.
        """
        times = np.bincount(self.train, minlength=len(self.problem.target))[self.problem.rows]
        return float(times.mean() ** 2 / times.var())


def make_problems(
    code: CodeMatrix | None, data: TrainingData, *, keep_labels: bool = False
) -> list[ScoringProblem]:
    """Apply a code matrix to the training data.

    Parameters
    ----------
    code : ndarray of shape (n_classes, n_problems) or None
        The code matrix; None means one multi-class problem.
    data : TrainingData
        The training data.
    keep_labels : bool, default=False
        Whether to fit binary problems on the user's labels rather than on 0 and 1, so that
        class weights given by label keep their meaning. Each side must then be a single class.

    Returns
    -------
    list of ScoringProblem
        One per column of the code matrix.
    """
    if keep_labels and code is not None and (np.abs(code).sum(axis=0) > 2).any():
        raise ValueError(
            "A class_weight given by label requires problems between single classes, got "
            "problems with several classes on one side. Use strategy='all-pairs' or 'direct', "
            "class_weight='balanced', or sample_weight."
        )
    labels = data.classes[data.y]
    if code is None:
        return [ScoringProblem(None, data.rows, labels, data.y)]
    problems = []
    for side in code.T:
        target = (side[data.y] == 1).astype(np.intp)
        rows = data.rows[side[data.y[data.rows]] != 0]
        problems.append(ScoringProblem(side, rows, labels if keep_labels else target, target))
    return problems


def take_rows(X: Any, rows: IndexArray) -> Any:
    """Take rows of an array, a sparse matrix, a data frame or a list, keeping its type."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "__array__") or hasattr(X, "tocsr"):
        return X[rows]
    return [X[row] for row in rows]


def row_chunks(X: Any, size: int) -> Iterator[Any]:
    """Yield consecutive rows of an array, a sparse matrix, a data frame or a list, without copies.

    Anything else is a single chunk.
    """
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X) if isinstance(X, list) else 0
    if n_rows <= size or not (hasattr(X, "iloc") or hasattr(X, "__getitem__")):
        yield X
        return
    rows = X.iloc if hasattr(X, "iloc") else X
    for start in range(0, n_rows, size):
        yield rows[start : start + size]


def as_proba(class_score: FloatArray, is_proba: bool) -> FloatArray:
    """Return class scores as probabilities, treating decision values as logits."""
    # Some classifiers return rows of zeros, or rows that do not quite sum to 1.
    return normalize_rows(class_score) if is_proba else softmax(class_score)


def problem_score(class_score: FloatArray, is_proba: bool, *, binary: bool) -> FloatArray:
    """Return the score of a problem from the class scores of a model fitted on its labels.

    The positive side of a binary problem is the second of its sorted labels. Scores of a
    multi-class problem are always probabilities.
    """
    return class_score[:, 1] if binary else as_proba(class_score, is_proba)


def model_score(model: Any, X: Any, *, binary: bool) -> tuple[FloatArray, bool]:
    """Return the score of a problem, and whether the model returns probabilities.

    The score of an ensemble is the mean of the scores of its voters.
    """
    if not isinstance(model, VotingEnsemble):
        class_score, is_proba = class_scores(model, X)
        return problem_score(class_score, is_proba, binary=binary), is_proba
    scored = [model_score(voter, X, binary=binary) for voter in model.estimators_]
    return np.mean([score for score, _ in scored], axis=0), scored[0][1]


def derived_score(side: CodeMatrix | None, class_score: FloatArray, is_proba: bool) -> FloatArray:
    """Return the score of a problem from the class scores of one model for all classes.

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
        The probability of the positive side, given that the class is on one of the two sides,
        or the difference between the mean decision values of the two sides. The class
        probabilities for a multi-class problem.
    """
    if side is None:
        return as_proba(class_score, is_proba)
    positive, negative = class_score[:, side == 1], class_score[:, side == -1]
    if not is_proba:
        return positive.mean(axis=1) - negative.mean(axis=1)
    proba, rest = positive.sum(axis=1), negative.sum(axis=1)
    total = proba + rest
    return np.divide(proba, total, out=np.full_like(proba, 0.5), where=total != 0)


class Scorer(ABC):
    """How fitted models give the scores of the problems."""

    def scores(
        self, models: Sequence[Any], code: CodeMatrix | None, X: Any
    ) -> tuple[list[FloatArray], bool]:
        """Score rows for all problems.

        Parameters
        ----------
        models : sequence of classifier
            The fitted models.
        code : ndarray of shape (n_classes, n_problems) or None
            The code matrix of the problems.
        X : array-like
            The rows to score.

        Returns
        -------
        scores : list of ndarray
            One array per problem.
        are_proba : bool
            Whether they are probabilities.
        """
        scores, are_proba = self._scores(models, [None] if code is None else list(code.T), X)
        return scores, code is None or are_proba

    @abstractmethod
    def _scores(
        self, models: Sequence[Any], sides: list[CodeMatrix | None], X: Any
    ) -> tuple[list[FloatArray], bool]: ...


@dataclass(frozen=True)
class ModelPerProblem(Scorer):
    """One model per problem, fitted on its labels."""

    def _scores(
        self, models: Sequence[Any], sides: list[CodeMatrix | None], X: Any
    ) -> tuple[list[FloatArray], bool]:
        scored = [
            model_score(model, X, binary=side is not None)
            for model, side in zip(models, sides, strict=True)
        ]
        return [score for score, _ in scored], scored[0][1]


@dataclass(frozen=True)
class SharedModel(Scorer):
    """One model of all classes, from whose scores those of every problem are derived."""

    def _scores(
        self, models: Sequence[Any], sides: list[CodeMatrix | None], X: Any
    ) -> tuple[list[FloatArray], bool]:
        score, is_proba = class_scores(models[0], X)
        return [derived_score(side, score, is_proba) for side in sides], is_proba


def side_proba(score: FloatArray, is_proba: bool) -> FloatArray:
    """Return the score of a problem as a probability; decision values are taken as logits."""
    return score if is_proba else expit(score)


def is_scored(score: FloatArray) -> BoolArray:
    """Return whether each row has a score other than NaN."""
    return ~np.isnan(score if score.ndim == 1 else row_sums(score)[:, 0])


@dataclass(frozen=True, eq=False)
class PredictionScores:
    """The scores of the rows to predict.

    Attributes
    ----------
    of_models : list of ndarray
        The scores of the models, one array per problem.
    are_proba : bool
        Whether they are probabilities.
    votes : list of ndarray or None, default=None
        The scores of the ensembles that predict together with the models.
    """

    of_models: list[FloatArray]
    are_proba: bool
    votes: list[FloatArray] | None = None

    def inputs(self) -> list[list[FloatArray]]:
        """Return the lists of scores that calibrators are applied to."""
        return [self.of_models] if self.votes is None else [self.of_models, self.votes]

    def probas(self) -> list[FloatArray]:
        """Return the scores of the models as probabilities."""
        return [side_proba(score, self.are_proba) for score in self.of_models]

    def is_scored(self) -> BoolArray:
        """Return whether each row has a score from every model and ensemble."""
        scored = [is_scored(score) for scores in self.inputs() for score in scores]
        return np.asarray(np.all(scored, axis=0))

    def take(self, mask: BoolArray) -> PredictionScores:
        """Return the scores of the rows where ``mask`` is true."""
        votes = None if self.votes is None else [score[mask] for score in self.votes]
        return PredictionScores([score[mask] for score in self.of_models], self.are_proba, votes)
