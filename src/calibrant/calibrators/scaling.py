"""The scaling family: softmax of an affine map of log scores, by penalized likelihood."""

from __future__ import annotations

import numpy as np

from calibrant._core.probability_floor import (
    PSEUDO_COUNT,
    apply_probability_floor,
    probability_floor,
)
from calibrant._core.rowwise import log_softmax, softmax
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.calibrators._affine_map import fit_affine_map, fit_inverse_temperature
from calibrant.calibrators._base import MulticlassCalibrator

# Smaller scores differ by nothing that rows could show, however sure the classifier is.
SMALLEST_SCORE = 1e-12


class TemperatureScaling(MulticlassCalibrator):
    """One number for all classes: softmax(log score / temperature).

    Parameters
    ----------
    penalty : float, default=0.0
        Of the squared distance of the inverse temperature from 1, in rows: with a positive
        penalty few rows leave the scores nearly as they are. 0 is the published method [1]_.

    Attributes
    ----------
    temperature_ : float
        Above 1 for overconfident scores, below 1 for underconfident ones.
    floor_ : ndarray of shape (n_classes,)
        Smaller scores are taken as this: the smallest probability that the rows can support, as
        suits scores that are exactly 0, or 1e-12, as suits scores whose order of magnitude
        means something; whichever makes the classes more probable.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On calibration of modern neural
           networks", ICML, 2017.

    Examples
    --------
    >>> from calibrant.calibrators import TemperatureScaling
    >>> score = [[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.1, 0.9]]
    >>> scaled = TemperatureScaling().fit(score, [0, 0, 1, 1])
    >>> scaled.predict_proba([[0.9, 0.1]]).round(2)
    array([[0.75, 0.25]])
    """

    temperature_: float
    floor_: FloatArray

    def __init__(self, *, penalty: float = 0.0):
        self.penalty = penalty

    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        check_penalty("penalty", self.penalty)
        self.floor_, trust = fit_floor_and_inverse_temperature(
            score, y, weight, self.class_count_, self.penalty
        )
        self.temperature_ = 1.0 / trust

    def _proba(self, score: FloatArray) -> FloatArray:
        return softmax(log_scores(score, self.floor_) / self.temperature_)


class StructuredMatrixScaling(MulticlassCalibrator):
    """Temperature scaling, then an affine map of the log scores that is penalized by part.

    With few rows the penalties leave temperature scaling; with many, every class may be
    corrected by every other.

    Parameters
    ----------
    intercept, diagonal, off_diagonal : float, default=1.0
        Strength of the ridge penalty on each part of the map. 1 is the published
        strength [1]_, infinity leaves the part out.

    Attributes
    ----------
    temperature_ : float
        The temperature of the first step.
    floor_ : ndarray of shape (n_classes,)
        Smaller scores are taken as this, as in `TemperatureScaling`.
    coef_ : ndarray of shape (n_classes, n_classes)
        The matrix that multiplies the tempered log scores; near the identity.
    intercept_ : ndarray of shape (n_classes,)
        What is added to them.

    Notes
    -----
    Minimizes the sum of log losses over the rows plus ``K (intercept |b|^2 + diagonal
    |diag(W - I)|^2) + K (K - 1) off_diagonal |off(W)|^2``: a prior that does not know the
    number of rows, so that regularization follows the number of distinct rows and not
    the number of points generated from them.

    Departures from the published method, which matter where scores are all but 0: the floor of
    the scores is chosen by the log loss, and tempered scores are limited by the number of rows
    (`calibrant._core.probability_floor`) where the published code mixes them with one uniform row in n + 1.

    References
    ----------
    .. [1] E. Berta, D. Holzmuller, M. I. Jordan and F. Bach, "Structured matrix scaling for
           multi-class calibration", AISTATS, 2026.

    Examples
    --------
    >>> from calibrant.calibrators import StructuredMatrixScaling
    >>> score = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]] * 20
    >>> StructuredMatrixScaling().fit(score, [0, 1, 2] * 20).predict(score[:3])
    array([0, 1, 2])
    """

    temperature_: float
    floor_: FloatArray
    coef_: FloatArray
    intercept_: FloatArray

    def __init__(self, *, intercept: float = 1.0, diagonal: float = 1.0, off_diagonal: float = 1.0):
        self.intercept = intercept
        self.diagonal = diagonal
        self.off_diagonal = off_diagonal

    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        penalty = self._penalty(score.shape[1])
        self.floor_, trust = fit_floor_and_inverse_temperature(score, y, weight, self.class_count_)
        self.temperature_ = 1.0 / trust
        change = fit_affine_map(self._tempered(score), y, weight, penalty)
        self.coef_ = np.eye(score.shape[1]) + change[:, :-1]
        self.intercept_ = change[:, -1]

    def _penalty(self, n_classes: int) -> FloatArray:
        """Return the penalty of each entry of (W - I, b), of shape (K, K + 1)."""
        for name in ("intercept", "diagonal", "off_diagonal"):
            check_penalty(name, getattr(self, name))
        return part_penalties(
            n_classes,
            n_classes * self.intercept,
            n_classes * self.diagonal,
            n_classes * (n_classes - 1) * self.off_diagonal,
        )

    def _proba(self, score: FloatArray) -> FloatArray:
        return softmax(self._tempered(score) @ self.coef_.T + self.intercept_)

    def _tempered(self, score: FloatArray) -> FloatArray:
        """Log scores after temperature scaling; no further from 0 than rows can support."""
        tempered = softmax(log_scores(score, self.floor_) / self.temperature_)
        return np.log(apply_probability_floor(tempered, self.class_count_))


class VectorScaling(StructuredMatrixScaling):
    """Temperature scaling, then a factor and an intercept for each class.

    Parameters
    ----------
    intercept, diagonal : float, default=1.0
        Strength of the ridge penalty on each part of the map; 0 is plain vector scaling.

    Attributes
    ----------
    temperature_ : float
        The temperature of the first step.
    floor_ : ndarray of shape (n_classes,)
        Smaller scores are taken as this, as in `TemperatureScaling`.
    coef_ : ndarray of shape (n_classes, n_classes)
        A diagonal matrix: the factors of the tempered log scores.
    intercept_ : ndarray of shape (n_classes,)
        What is added to them.

    See Also
    --------
    StructuredMatrixScaling : The same with entries off the diagonal.
    """

    def __init__(self, *, intercept: float = 1.0, diagonal: float = 1.0):
        self.intercept = intercept
        self.diagonal = diagonal

    off_diagonal = np.inf


class DirichletCalibrator(MulticlassCalibrator):
    """Any affine map of the log scores, penalized off the diagonal and in the intercept.

    Parameters
    ----------
    off_diagonal, intercept : float, default=1e-2
        Strength of the penalty (ODIR) on the mean squared entry of each part, relative to
        the mean log loss.

    Attributes
    ----------
    floor_ : ndarray of shape (n_classes,)
        Smaller scores are taken as this, as in `TemperatureScaling`.
    coef_ : ndarray of shape (n_classes, n_classes)
        The matrix that multiplies the log scores.
    intercept_ : ndarray of shape (n_classes,)
        What is added to them.

    References
    ----------
    .. [1] M. Kull, M. Perello-Nieto, M. Kangsepp, T. Silva Filho, H. Song and P. Flach,
           "Beyond temperature scaling: obtaining well-calibrated multi-class probabilities
           with Dirichlet calibration", NeurIPS, 2019.
    """

    floor_: FloatArray
    coef_: FloatArray
    intercept_: FloatArray

    def __init__(self, *, off_diagonal: float = 1e-2, intercept: float = 1e-2):
        self.off_diagonal = off_diagonal
        self.intercept = intercept

    def _fit(self, score: FloatArray, y: IndexArray, weight: FloatArray) -> None:
        check_penalty("off_diagonal", self.off_diagonal)
        check_penalty("intercept", self.intercept)
        n_rows, n_classes = weight.sum(), score.shape[1]
        penalty = part_penalties(
            n_classes,
            n_rows * self.intercept / n_classes,
            0.0,
            n_rows * self.off_diagonal / (n_classes * (n_classes - 1)),
        )
        self.floor_, _ = fit_floor_and_inverse_temperature(score, y, weight, self.class_count_)
        change = fit_affine_map(log_scores(score, self.floor_), y, weight, penalty)
        self.coef_ = np.eye(n_classes) + change[:, :-1]
        self.intercept_ = change[:, -1]

    def _proba(self, score: FloatArray) -> FloatArray:
        return softmax(log_scores(score, self.floor_) @ self.coef_.T + self.intercept_)


def log_scores(score: FloatArray, floor: FloatArray) -> FloatArray:
    """Logarithms of scores, those below the floor taken as the floor."""
    return np.log(np.maximum(score, floor))


def fit_floor_and_inverse_temperature(
    score: FloatArray,
    y: IndexArray,
    weight: FloatArray,
    class_count: FloatArray,
    penalty: float = 0.0,
) -> tuple[FloatArray, float]:
    """Choose the floor of the scores and the inverse temperature, by the log loss."""
    found = []
    for floor in (
        probability_floor(class_count, PSEUDO_COUNT),
        np.full(score.shape[1], SMALLEST_SCORE),
    ):
        log_score = log_scores(score, floor)
        trust = fit_inverse_temperature(log_score, y, weight, penalty)
        log_proba = log_softmax(trust * log_score)
        found.append((-weight @ log_proba[np.arange(len(y)), y], floor, trust))
    _, floor, trust = min(found, key=lambda one: one[0])
    return floor, trust


def check_penalty(name: str, value: float) -> None:
    """Refuse a penalty that is negative or no number."""
    if not isinstance(value, int | float | np.floating) or not value >= 0:
        raise ValueError(f"{name} must be 0 or more. Got {value!r}. Use 1 for the usual strength.")


def part_penalties(
    n_classes: int, intercept: float, diagonal: float, off_diagonal: float
) -> FloatArray:
    """Penalties of the entries of an affine map (W, b), of shape (K, K + 1)."""
    penalty = np.full((n_classes, n_classes + 1), off_diagonal)
    np.fill_diagonal(penalty, diagonal)
    penalty[:, -1] = intercept
    return penalty
