"""The scaling family: the softmax of an affine map of the log scores."""

from __future__ import annotations

from typing import Self

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

# Smaller scores are treated as equal, however confident the classifier is.
SMALLEST_SCORE = 1e-12


class TemperatureScaling(MulticlassCalibrator):
    r"""Temperature scaling: one parameter for all classes.

    Parameters
    ----------
    penalty : float, default=0.0
        The strength of the penalty on the deviation of the inverse temperature from 1. If it is
        positive, a few rows change the scores only a little. 0 is the published method [1]_.

    Attributes
    ----------
    temperature_ : float
        The temperature: above 1 for overconfident scores, below 1 for underconfident ones.
    floor_ : ndarray of shape (n_classes,)
        Scores below this floor are raised to it before their logarithm is taken.

    Notes
    -----
    A score vector :math:`s` becomes :math:`\operatorname{softmax}(t \log s)`, where the inverse
    temperature :math:`t` minimizes

    .. math:: -\sum_i w_i \log \operatorname{softmax}(t \log s_i)_{y_i} + \rho (t - 1)^2

    with the sample weights :math:`w_i` and the penalty :math:`\rho`. The temperature is
    :math:`1 / t`.

    The floor of the scores is either the probability floor of each class, which suits scores
    that are exactly 0, or 1e-12, which suits scores whose order of magnitude is informative,
    whichever gives the lower log loss.

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
        _check_penalty("penalty", self.penalty)
        self.floor_, inverse_temperature = _fit_floor_and_inverse_temperature(
            score, y, weight, self.class_count_, self.penalty
        )
        self.temperature_ = 1.0 / inverse_temperature

    def _proba(self, score: FloatArray) -> FloatArray:
        return softmax(_log_scores(score, self.floor_) / self.temperature_)


class StructuredMatrixScaling(MulticlassCalibrator):
    r"""Temperature scaling followed by an affine map with structured penalties.

    With few rows, the penalties leave little more than temperature scaling. With many rows,
    the score of each class can affect the probability of every other class.

    Parameters
    ----------
    intercept, diagonal, off_diagonal : float, default=1.0
        The strength of the ridge penalty on each part of the map. 1 is the published
        strength [1]_; infinity fixes that part at the identity map.

    Attributes
    ----------
    temperature_ : float
        The temperature of the first step.
    floor_ : ndarray of shape (n_classes,)
        The floor of the scores, as in `TemperatureScaling`.
    coef_ : ndarray of shape (n_classes, n_classes)
        The matrix of the affine map.
    intercept_ : ndarray of shape (n_classes,)
        The intercept of the affine map.

    Notes
    -----
    With :math:`z` the logarithms of the scores after temperature scaling, the probabilities are
    :math:`\operatorname{softmax}(W z + b)`, where :math:`W` and :math:`b` minimize

    .. math:: -\sum_i w_i \log \operatorname{softmax}(W z_i + b)_{y_i}
        + K \Bigl( \rho_b \sum_k b_k^2 + \rho_d \sum_k (W_{kk} - 1)^2 \Bigr)
        + K (K - 1) \rho_o \sum_{k \ne j} W_{kj}^2

    with the sample weights :math:`w_i` and the parameters ``intercept``, ``diagonal`` and
    ``off_diagonal`` as :math:`\rho_b`, :math:`\rho_d` and :math:`\rho_o`. The penalty does not
    grow with the number of rows, so its effect fades as rows are added. Since weights are numbers
    of distinct rows, scoring a row several times does not weaken the penalty.

    There are two departures from the published method, which matter for scores near 0. The floor
    of the scores is chosen by log loss, as in `TemperatureScaling`. After temperature scaling,
    scores are raised to the probability floor, whereas the published code mixes them with the
    uniform distribution, at a weight of 1 / (n + 1).

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
        self._check_penalties()
        floor, inverse_temperature = _fit_floor_and_inverse_temperature(
            score, y, weight, self.class_count_
        )
        self._fit_map(score, y, weight, floor, 1.0 / inverse_temperature)

    def _fit_columns_after(
        self, other: StructuredMatrixScaling, score: FloatArray, y: IndexArray, weight: FloatArray
    ) -> Self:
        """Do what `_fit_columns` does, given a calibrator that was fitted to the same points.

        It shares the first step, which does not depend on the penalties.
        """
        self._check_penalties()
        self.n_features_in_, self.classes_ = other.n_features_in_, other.classes_
        self.class_count_ = other.class_count_
        self._fit_map(score, y, weight, other.floor_, other.temperature_)
        return self

    def _fit_map(
        self,
        score: FloatArray,
        y: IndexArray,
        weight: FloatArray,
        floor: FloatArray,
        temperature: float,
    ) -> None:
        """Fit the affine map that follows temperature scaling."""
        self.floor_, self.temperature_ = floor, temperature
        penalty = self._penalty(score.shape[1])
        delta = fit_affine_map(self._log_tempered(score), y, weight, penalty)
        self.coef_ = np.eye(score.shape[1]) + delta[:, :-1]
        self.intercept_ = delta[:, -1]

    def _check_penalties(self) -> None:
        for name in ("intercept", "diagonal", "off_diagonal"):
            _check_penalty(name, getattr(self, name))

    def _penalty(self, n_classes: int) -> FloatArray:
        """Return the penalty of each entry of (W - I, b), of shape (K, K + 1)."""
        return _part_penalties(
            n_classes,
            n_classes * self.intercept,
            n_classes * self.diagonal,
            n_classes * (n_classes - 1) * self.off_diagonal,
        )

    def _proba(self, score: FloatArray) -> FloatArray:
        return softmax(self._log_tempered(score) @ self.coef_.T + self.intercept_)

    def _log_tempered(self, score: FloatArray) -> FloatArray:
        """Return the log scores after temperature scaling and the probability floor."""
        tempered = softmax(_log_scores(score, self.floor_) / self.temperature_)
        return np.log(apply_probability_floor(tempered, self.class_count_))


class VectorScaling(StructuredMatrixScaling):
    """Temperature scaling followed by one factor and one intercept per class.

    This is `StructuredMatrixScaling` with a diagonal matrix.

    Parameters
    ----------
    intercept, diagonal : float, default=1.0
        The strength of the ridge penalty on each part of the map. 0 means unpenalized vector
        scaling.

    Attributes
    ----------
    temperature_ : float
        The temperature of the first step.
    floor_ : ndarray of shape (n_classes,)
        The floor of the scores, as in `TemperatureScaling`.
    coef_ : ndarray of shape (n_classes, n_classes)
        The diagonal matrix of the factors.
    intercept_ : ndarray of shape (n_classes,)
        The intercepts.

    See Also
    --------
    StructuredMatrixScaling : The objective, and a full matrix.
    """

    def __init__(self, *, intercept: float = 1.0, diagonal: float = 1.0):
        self.intercept = intercept
        self.diagonal = diagonal

    off_diagonal = np.inf


class DirichletCalibrator(MulticlassCalibrator):
    r"""Dirichlet calibration: a full affine map of the log scores.

    Parameters
    ----------
    off_diagonal, intercept : float, default=1e-2
        The strength of the off-diagonal and intercept regularization (ODIR).

    Attributes
    ----------
    floor_ : ndarray of shape (n_classes,)
        The floor of the scores, as in `TemperatureScaling`.
    coef_ : ndarray of shape (n_classes, n_classes)
        The matrix of the affine map.
    intercept_ : ndarray of shape (n_classes,)
        The intercept of the affine map.

    Notes
    -----
    The probabilities are :math:`\operatorname{softmax}(W \log s + b)`. The parameters :math:`W`
    and :math:`b` minimize [1]_

    .. math:: -\frac{1}{n} \sum_i w_i \log \operatorname{softmax}(W \log s_i + b)_{y_i}
        + \frac{\lambda}{K (K - 1)} \sum_{k \ne j} W_{kj}^2 + \frac{\mu}{K} \sum_k b_k^2,

    where :math:`n = \sum_i w_i` and the parameters ``off_diagonal`` and ``intercept`` are
    :math:`\lambda` and :math:`\mu`.

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
        _check_penalty("off_diagonal", self.off_diagonal)
        _check_penalty("intercept", self.intercept)
        n_rows, n_classes = weight.sum(), score.shape[1]
        penalty = _part_penalties(
            n_classes,
            n_rows * self.intercept / n_classes,
            0.0,
            n_rows * self.off_diagonal / (n_classes * (n_classes - 1)),
        )
        self.floor_, _ = _fit_floor_and_inverse_temperature(score, y, weight, self.class_count_)
        delta = fit_affine_map(_log_scores(score, self.floor_), y, weight, penalty)
        self.coef_ = np.eye(n_classes) + delta[:, :-1]
        self.intercept_ = delta[:, -1]

    def _proba(self, score: FloatArray) -> FloatArray:
        return softmax(_log_scores(score, self.floor_) @ self.coef_.T + self.intercept_)


def _log_scores(score: FloatArray, floor: FloatArray) -> FloatArray:
    """Return the logarithms of the scores, raised to the floor."""
    return np.log(np.maximum(score, floor))


def _fit_floor_and_inverse_temperature(
    score: FloatArray,
    y: IndexArray,
    weight: FloatArray,
    class_count: FloatArray,
    penalty: float = 0.0,
) -> tuple[FloatArray, float]:
    """Choose the floor with the lower log loss, each floor with its best inverse temperature."""
    floors = [
        probability_floor(class_count, PSEUDO_COUNT),
        np.full(score.shape[1], SMALLEST_SCORE),
    ]
    if (score.min(axis=0) >= np.maximum(*floors)).all():
        del floors[1]  # neither changes any score
    candidates = []
    inverse_temperature = 1.0
    for floor in floors:
        log_score = _log_scores(score, floor)
        inverse_temperature = fit_inverse_temperature(
            log_score, y, weight, penalty, start=inverse_temperature
        )
        log_proba = log_softmax(inverse_temperature * log_score)
        log_loss = -weight @ log_proba[np.arange(len(y)), y]
        candidates.append((log_loss, floor, inverse_temperature))
    _, floor, inverse_temperature = min(candidates, key=lambda candidate: candidate[0])
    return floor, inverse_temperature


def _check_penalty(name: str, value: float) -> None:
    if not isinstance(value, int | float | np.floating) or not value >= 0:
        raise ValueError(
            f"{name} must be a nonnegative number, got {value!r}. Omit it to use the default."
        )


def _part_penalties(
    n_classes: int, intercept: float, diagonal: float, off_diagonal: float
) -> FloatArray:
    """Return the penalties on the entries of an affine map (W, b), of shape (K, K + 1)."""
    penalty = np.full((n_classes, n_classes + 1), off_diagonal)
    np.fill_diagonal(penalty, diagonal)
    penalty[:, -1] = intercept
    return penalty
