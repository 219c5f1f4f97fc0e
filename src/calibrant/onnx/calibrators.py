"""Multi-class calibrators as graphs."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from calibrant._core.rowwise import repeat_frequencies
from calibrant.calibrators import (
    AutoCalibrator,
    ClassFrequencies,
    DirichletCalibrator,
    NoCalibration,
    OneVsRestCalibrator,
    PairwiseCalibrator,
    StructuredMatrixScaling,
    TemperatureScaling,
    UpdateCalibrator,
    VectorScaling,
)
from calibrant.calibrators._base import MulticlassCalibrator
from calibrant.calibrators.scaling import SMALLEST_SCORE
from calibrant.onnx.binary import map_scores
from calibrant.onnx.coupling import couple_pairs
from calibrant.onnx.graphs import Tensor
from calibrant.onnx.rows import (
    apply_probability_floor,
    log_floored,
    normalize,
    normalize_rows,
    softmax,
    sort_columns,
)


def calibrate(calibrator: Any, score: Tensor, votes: Tensor | None = None) -> Tensor:
    """Map rows of scores to calibrated probabilities, as ``predict_proba`` does.

    Parameters
    ----------
    calibrator : MulticlassCalibrator
        The fitted calibrator.
    score : Tensor
        Scores of shape (n_rows, n_classes).
    votes : Tensor, default=None
        The scores of an ensemble, if the calibrator takes them.

    Returns
    -------
    Tensor
        Probabilities of the same shape.
    """
    _check_kind(calibrator)
    n_classes = calibrator.n_features_in_
    score = normalize_rows(score, n_classes)
    if votes is None:
        return _floored_proba(calibrator, score)
    average = _average(calibrator, score, normalize_rows(votes, n_classes))
    return apply_probability_floor(average, calibrator.class_count_)


def needs_votes(calibrator: Any) -> bool:
    """Return whether a calibrator takes the scores of an ensemble too."""
    return isinstance(calibrator, AutoCalibrator) and bool(calibrator.ensemble_calibrators_)


def _check_kind(calibrator: Any) -> None:
    if type(calibrator) not in GRAPHS:
        names = ", ".join(sorted(kind.__name__ for kind in GRAPHS))
        raise ValueError(
            f"Calibrators must be one of {names} to be exported to ONNX, got "
            f"{type(calibrator).__name__}. Fit the model with one of these."
        )


def _floored_proba(calibrator: Any, score: Tensor) -> Tensor:
    """Return the probabilities of normalized rows, after the probability floor."""
    _check_kind(calibrator)
    proba = GRAPHS[type(calibrator)](calibrator, score)
    if isinstance(calibrator, UpdateCalibrator):  # whose probabilities have no floor
        return proba
    return apply_probability_floor(proba, calibrator.class_count_)


def _no_calibration(calibrator: NoCalibration, score: Tensor) -> Tensor:  # noqa: ARG001
    return score


def _class_frequencies(calibrator: ClassFrequencies, score: Tensor) -> Tensor:
    return score * 0.0 + repeat_frequencies(calibrator.class_count_, 1)


def _temperature(calibrator: TemperatureScaling, score: Tensor) -> Tensor:
    return softmax(log_floored(score, calibrator.floor_) / calibrator.temperature_)


def _matrix(calibrator: StructuredMatrixScaling, score: Tensor) -> Tensor:
    tempered = softmax(log_floored(score, calibrator.floor_) / calibrator.temperature_)
    floored = apply_probability_floor(tempered, calibrator.class_count_)
    return softmax(floored.op("Log") @ calibrator.coef_.T + calibrator.intercept_)


def _dirichlet(calibrator: DirichletCalibrator, score: Tensor) -> Tensor:
    log_score = log_floored(score, calibrator.floor_)
    return softmax(log_score @ calibrator.coef_.T + calibrator.intercept_)


def _one_vs_rest(calibrator: OneVsRestCalibrator, score: Tensor) -> Tensor:
    columns = score
    if calibrator.log_scores:
        columns = log_floored(score, SMALLEST_SCORE)
        n_classes = calibrator.n_features_in_
        columns = columns - reduce(add, sort_columns(columns, n_classes)) / float(n_classes)
    return normalize(map_scores(calibrator.calibrators_, columns), fallback=score)


def _pairwise(calibrator: PairwiseCalibrator, score: Tensor) -> Tensor:
    positive, negative = np.array(calibrator.pairs_).T
    first = score.take(positive)
    total = first + score.take(negative)
    pair_score = total.op("Equal", 0.0).op("Where", 0.5, first / total)
    proba = map_scores(calibrator.calibrators_, pair_score).clip(0.0, 1.0)
    # The coupling takes the probability of the class that comes first, in the order of the pairs.
    of_first = score.graph.op("Where", positive < negative, proba, 1.0 - proba)
    low, high = np.minimum(positive, negative), np.maximum(positive, negative)
    in_order = of_first.take(np.lexsort((high, low)))
    return couple_pairs(in_order, calibrator.class_count_, calibrator.coupling)


def _auto(calibrator: AutoCalibrator, score: Tensor) -> Tensor:
    return _average(calibrator, score, score)


def _average(calibrator: AutoCalibrator, score: Tensor, votes: Tensor) -> Tensor:
    """Return the weighted average of the candidates for the model and for the ensemble."""
    known = calibrator._known()
    columns = np.flatnonzero(known)
    parts = []
    for scores, calibrators, weights in (
        (score, calibrator.calibrators_, calibrator.weights_),
        (votes, calibrator.ensemble_calibrators_, calibrator.ensemble_weights_),
    ):
        given_known = scores
        if not known.all():
            given_known = normalize_rows(scores.take(columns), len(columns))
        parts += [
            _floored_proba(each, given_known) * weights[name] for name, each in calibrators.items()
        ]
    average = reduce(add, parts)
    if known.all():
        return average
    # As AutoCalibrator does it for classes without held-out rows.
    n_rows = calibrator.class_count_.sum() + np.sum(~known)
    half = (1.0 - calibrator.report_.weights[0]) / 2.0
    unknown = score.take(np.flatnonzero(~known)) * (1.0 - half) + half / n_rows
    of_known = (1.0 - unknown.sum(1)) * average
    order = np.argsort(np.r_[columns, np.flatnonzero(~known)])
    return score.graph.op("Concat", of_known, unknown, axis=1).take(order)


def _update(calibrator: UpdateCalibrator, score: Tensor) -> Tensor:
    if calibrator.calibrator_ is not None:
        return _floored_proba(calibrator.calibrator_, score)
    if calibrator.slope_ == 1.0 and not calibrator.intercept_.any():
        return score
    logit = log_floored(score, SMALLEST_SCORE) * calibrator.slope_ + calibrator.intercept_
    return softmax(logit)


GRAPHS: dict[type[MulticlassCalibrator], Callable[[Any, Tensor], Tensor]] = {
    AutoCalibrator: _auto,
    ClassFrequencies: _class_frequencies,
    DirichletCalibrator: _dirichlet,
    NoCalibration: _no_calibration,
    OneVsRestCalibrator: _one_vs_rest,
    PairwiseCalibrator: _pairwise,
    StructuredMatrixScaling: _matrix,
    TemperatureScaling: _temperature,
    UpdateCalibrator: _update,
    VectorScaling: _matrix,
}
