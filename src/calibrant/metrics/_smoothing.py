"""Smooth recalibration: penalized splines in a multinomial logistic model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import softmax

from calibrant._core.multinomial import MultinomialModel
from calibrant._core.threads import one_blas_thread
from calibrant._core.typing import BoolArray, FloatArray

# The largest number of knots. The prior, not the knots, determines how smooth the fit is.
MAX_KNOTS = 10
# Knots that are closer than this many digits of a standard deviation would be ill-conditioned.
KNOT_DIGITS = 3
# The prior standard deviations of penalized coefficients over which the fit is averaged. Chosen by
# simulation, with the curves of experiments/measures.py: if the smallest is smaller, bands are too
# narrow for wavy curves, and if it is larger, curves of few rows are too rough.
PRIOR_SCALES = np.geomspace(0.3, 10.0, 6)
# That of intercepts and of the slopes of standardized log ratios, for which it matters only if
# they separate the classes.
WEAK_PRIOR_SCALE = 30.0


@dataclass(frozen=True, eq=False)
class SplineBasis:
    """Natural cubic splines, without their linear part, as orthonormal random effects.

    The sum of squared coefficients is the integrated squared second derivative of the spline.

    Attributes
    ----------
    knots : ndarray of shape (n_knots,)
        The knots, of which the first and the last are the extreme values.
    transform : ndarray of shape (n_knots, n_knots - 2)
        The values at the knots of each basis function.
    """

    knots: FloatArray
    transform: FloatArray

    @classmethod
    def from_values(cls, values: FloatArray) -> SplineBasis:
        """Place knots at quantiles of distinct standardized values."""
        distinct = np.unique(np.round(values, KNOT_DIGITS))
        n_knots = min(MAX_KNOTS, len(distinct))
        knots = np.unique(np.quantile(distinct, np.linspace(0.0, 1.0, n_knots)))
        if len(knots) < 3:
            return cls(knots, np.empty((len(knots), 0)))
        roughness = _roughness(knots)
        eigenvalue, vector = np.linalg.eigh(roughness)
        # Straight lines have no roughness: the first two eigenvalues are 0.
        return cls(knots, vector[:, 2:] / np.sqrt(eigenvalue[2:]))

    def evaluate(self, values: FloatArray) -> FloatArray:
        """Return the basis functions at values between the extreme knots."""
        if self.transform.shape[1] == 0:
            return np.empty((len(values), 0))
        inside = np.clip(values, self.knots[0], self.knots[-1])
        return CubicSpline(self.knots, self.transform, bc_type="natural")(inside)


def _roughness(knots: FloatArray) -> FloatArray:
    """Return K such that g' K g is the integrated squared second derivative of the spline g."""
    step = np.diff(knots)
    n_inner = len(knots) - 2
    inner = np.arange(n_inner)
    difference = np.zeros((len(knots), n_inner))
    difference[inner, inner] = 1.0 / step[:-1]
    difference[inner + 1, inner] = -1.0 / step[:-1] - 1.0 / step[1:]
    difference[inner + 2, inner] = 1.0 / step[1:]
    gram = np.diag((step[:-1] + step[1:]) / 3.0)
    gram[inner[:-1], inner[1:]] = gram[inner[1:], inner[:-1]] = step[1:-1] / 6.0
    return difference @ np.linalg.solve(gram, difference.T)


@dataclass(frozen=True, eq=False)
class LogRatioBasis:
    """A standardized log ratio and its splines.

    Attributes
    ----------
    center, scale : float
        The mean and the standard deviation of the log ratio.
    splines : SplineBasis
        Splines of the standardized log ratio.
    """

    center: float
    scale: float
    splines: SplineBasis

    @classmethod
    def from_values(cls, values: FloatArray, weight: FloatArray) -> LogRatioBasis:
        """Standardize values, and place knots."""
        center = float(np.average(values, weights=weight))
        scale = float(np.sqrt(np.average((values - center) ** 2, weights=weight))) or 1.0
        return cls(center, scale, SplineBasis.from_values((values - center) / scale))

    def standardize(self, values: FloatArray) -> FloatArray:
        """Return standardized values."""
        return (values - self.center) / self.scale


@dataclass(frozen=True, eq=False)
class SmoothRecalibration:
    """Recalibrated logits: a mixture of normal distributions, one per prior scale.

    Attributes
    ----------
    bases : list of LogRatioBasis
        The predictors, one per class other than the reference.
    models : list of MultinomialModel
        The model of each prior scale.
    parameters : list of ndarray of shape (n_parameters,)
        Their parameters.
    probability : ndarray of shape (n_scales,)
        The posterior probability of each prior scale.
    """

    bases: list[LogRatioBasis]
    models: list[MultinomialModel]
    parameters: list[FloatArray]
    probability: FloatArray

    @property
    def proba(self) -> FloatArray:
        """The recalibrated probabilities of all rows."""
        logits = [model.logits(each) for model, each in zip(*self._fits, strict=True)]
        return softmax(np.tensordot(self.probability, logits, axes=1), axis=1)

    def log_odds(self, log_ratio: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the recalibrated log odds of two classes, and their standard errors."""
        columns = np.hstack(_design([log_ratio], self.bases))
        log_odds = np.array([columns @ each for each in self.parameters])
        variance = np.array(
            [
                np.einsum("ij,ji->i", columns, np.linalg.solve(model.information(each), columns.T))
                for model, each in zip(*self._fits, strict=True)
            ]
        )
        mean = self.probability @ log_odds
        return mean, np.sqrt(self.probability @ (variance + (log_odds - mean) ** 2))

    @property
    def _fits(self) -> tuple[list[MultinomialModel], list[FloatArray]]:
        return self.models, self.parameters


def fit_smooth_recalibration(
    log_ratio: list[FloatArray], target: FloatArray, reference: int
) -> SmoothRecalibration:
    r"""Regress classes on smooth functions of predicted log ratios.

    Parameters
    ----------
    log_ratio : list of ndarray of shape (n_rows,)
        For each class other than the reference, the log of its probability minus that of the
        reference.
    target : ndarray of shape (n_rows, n_classes)
        The weight of each row, in the column of its class.
    reference : int
        The reference class.

    Returns
    -------
    SmoothRecalibration
        The fit.

    Notes
    -----
    With standardized log ratios :math:`l_j`, the logit of class :math:`k` against the reference is
    :math:`\alpha_k + \sum_j \beta_{kj} l_j + s_k(l_k)`. The natural cubic spline :math:`s_k` and
    the slopes :math:`\beta_{kj}` with :math:`j \ne k` have normal priors with a common scale, over
    which the fit is averaged: with weights proportional to its marginal likelihood, in Laplace's
    approximation.
    """
    n_classes = target.shape[1]
    weight = target.sum(axis=1)
    bases = [LogRatioBasis.from_values(each, weight) for each in log_ratio]
    designs = _design(log_ratio, bases)
    logits = np.delete(np.arange(n_classes), reference)
    is_penalized = np.concatenate([_is_penalized(each, k) for k, each in enumerate(designs)])
    columns, logit_of = np.hstack(designs), np.repeat(logits, [each.shape[1] for each in designs])
    models, parameters, evidence = [], [], []
    start = None
    with one_blas_thread():
        for scale in PRIOR_SCALES:
            prior_scale = np.where(is_penalized, scale, WEAK_PRIOR_SCALE)
            model = MultinomialModel(
                columns, logit_of, np.zeros_like(target), target, prior_scale**-2.0
            )
            start = model.fit(start)
            models.append(model)
            parameters.append(start)
            evidence.append(model.log_evidence(start))
    return SmoothRecalibration(bases, models, parameters, softmax(evidence))


def _design(log_ratio: list[FloatArray], bases: list[LogRatioBasis]) -> list[FloatArray]:
    """Return the columns of each logit: 1, all log ratios, and the spline of its own one."""
    pairs = list(zip(bases, log_ratio, strict=True))
    linear = np.column_stack([basis.standardize(each) for basis, each in pairs])
    one = np.ones((len(linear), 1))
    return [
        np.hstack([one, linear, basis.splines.evaluate(linear[:, k])])
        for k, (basis, _) in enumerate(pairs)
    ]


def _is_penalized(design: FloatArray, k: int) -> BoolArray:
    """Return which columns of a logit have a prior: all but the intercept and its own slope."""
    columns = np.arange(design.shape[1])
    return (columns != 0) & (columns != 1 + k)
