"""Binary calibrators as graphs: all problems of a family at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto
from sklearn.isotonic import IsotonicRegression

from calibrant._core.typing import FloatArray
from calibrant.calibrators import (
    ENIR,
    BetaCalibrator,
    ConstantCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    SigmoidCalibrator,
    VennAbersCalibrator,
)
from calibrant.onnx.graphs import Tensor

# Takes calibrators of one family and their scores, of shape (n_rows, n_calibrators).
FamilyGraph = Callable[[Sequence[Any], Tensor], Tensor]


def map_scores(calibrators: Sequence[Any], score: Tensor) -> Tensor:
    """Map the scores of binary problems to probabilities.

    Parameters
    ----------
    calibrators : sequence of binary calibrators
        One fitted calibrator per problem.
    score : Tensor
        Scores of shape (n_rows, n_problems).

    Returns
    -------
    Tensor
        Probabilities of the same shape.
    """
    families = [_family(calibrator) for calibrator in calibrators]
    distinct = list(dict.fromkeys(families))
    if len(distinct) == 1:
        return distinct[0](calibrators, score)
    mapped, order = [], []
    for family in distinct:
        own = [k for k, each in enumerate(families) if each is family]
        mapped.append(family([calibrators[k] for k in own], score.take(own)))
        order += own
    return score.graph.op("Concat", *mapped, axis=1).take(np.argsort(order))


def _family(calibrator: Any) -> FamilyGraph:
    kind = type(calibrator)
    if kind not in FAMILIES:
        names = ", ".join(sorted(each.__name__ for each in FAMILIES))
        raise ValueError(
            f"Binary calibrators must be one of {names} to be exported to ONNX, got "
            f"{kind.__name__}. Fit the model with one of these."
        )
    if kind is IsotonicRegression and calibrator.out_of_bounds != "clip":
        raise ValueError(
            "IsotonicRegression must have out_of_bounds='clip' to be exported to ONNX, got "
            f"{calibrator.out_of_bounds!r}. Set it and fit the model again."
        )
    return FAMILIES[kind]


def _piecewise_linear(calibrators: Sequence[Any], score: Tensor) -> Tensor:
    r"""Interpolate between knots :math:`(x_t, y_t)` as a sum of clipped differences.

    .. math:: y_0 + \sum_t (y_{t+1} - y_t) \min(\max((x - x_t) / (x_{t+1} - x_t), 0), 1)

    The fraction is exactly 1 from :math:`x_{t+1}` on, so that even two knots that differ in the
    last bit only are on the right sides of the jump between them.
    """
    knots = [_knots(calibrator) for calibrator in calibrators]
    start, width, rise = (
        _pad(values, filler)
        for values, filler in (
            ([x[:-1] for x, _ in knots], 0.0),
            ([np.diff(x) for x, _ in knots], 1.0),
            ([np.diff(y) for _, y in knots], 0.0),
        )
    )
    fraction = ((score.expand(2) - start) / width).clip(0.0, 1.0)
    return (fraction * rise).sum(2, keep=False) + np.array([y[0] for _, y in knots])


def _knots(calibrator: Any) -> tuple[FloatArray, FloatArray]:
    if isinstance(calibrator, ConstantCalibrator):
        return np.zeros(1), np.array([calibrator.frequency_])
    return (
        np.asarray(calibrator.X_thresholds_, dtype=np.float64),
        np.asarray(calibrator.y_thresholds_, dtype=np.float64),
    )


def _steps(calibrators: Sequence[Any], score: Tensor) -> Tensor:
    """Look up the value of a step function by the number of edges at or below the score."""
    steps = [_edges(calibrator) for calibrator in calibrators]
    edges = _pad([edge for edge, _ in steps], np.inf)
    values = _pad([value for _, value in steps], np.nan)
    reached = score.expand(2).op("GreaterOrEqual", edges).cast(TensorProto.INT64)
    first = np.arange(len(steps), dtype=np.int64) * values.shape[1]
    return score.graph.op("Gather", values.ravel(), reached.sum(2, keep=False) + first, axis=0)


def _edges(calibrator: Any) -> tuple[FloatArray, FloatArray]:
    if isinstance(calibrator, HistogramCalibrator):
        return calibrator.edges_, calibrator.shares_
    # A score is above another if and only if it is at least the next number.
    above = np.nextafter(calibrator.scores_, np.inf)
    edges = np.column_stack([calibrator.scores_, above]).ravel()
    return edges, calibrator.upper_ / (1.0 - calibrator.lower_ + calibrator.upper_)


def _sigmoid(calibrators: Sequence[SigmoidCalibrator], score: Tensor) -> Tensor:
    slope, intercept, on_log_odds = (
        np.array([getattr(calibrator, name) for calibrator in calibrators])
        for name in ("slope_", "intercept_", "on_log_odds_")
    )
    low, high = _bounds(calibrators)
    floored = score.clip(low, high)
    log_odds = floored.op("Log") - (1.0 - floored).op("Log")
    x = score.graph.op("Where", on_log_odds, log_odds, score)
    return (x * slope + intercept).op("Sigmoid").clip(low, high)


def _beta(calibrators: Sequence[BetaCalibrator], score: Tensor) -> Tensor:
    coef = np.array([calibrator.coef_ for calibrator in calibrators])
    intercept = np.array([calibrator.intercept_ for calibrator in calibrators])
    low, high = _bounds(calibrators)
    floored = score.clip(low, high)
    margin = floored.op("Log") * coef[:, 0] - (1.0 - floored).op("Log") * coef[:, 1] + intercept
    return margin.op("Sigmoid").clip(low, high)


def _bounds(calibrators: Sequence[Any]) -> FloatArray:
    """Return the probability floor of each calibrator, and 1 minus that of the other side."""
    return np.array([each._apply_floor(np.array([0.0, 1.0])) for each in calibrators]).T


def _pad(rows: Sequence[FloatArray], filler: float) -> FloatArray:
    """Return rows of different lengths as one array, with at least one column."""
    padded = np.full((len(rows), max(1, *(len(row) for row in rows))), filler)
    for target, row in zip(padded, rows, strict=True):
        target[: len(row)] = row
    return padded


FAMILIES: dict[type, FamilyGraph] = {
    ENIR: _piecewise_linear,
    IsotonicCalibrator: _piecewise_linear,
    ConstantCalibrator: _piecewise_linear,
    IsotonicRegression: _piecewise_linear,
    HistogramCalibrator: _steps,
    VennAbersCalibrator: _steps,
    SigmoidCalibrator: _sigmoid,
    BetaCalibrator: _beta,
}
