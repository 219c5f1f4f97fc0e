"""Fitting the calibrators of all problems to held-out scores, and reporting their gain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant._core.cross_fitting import (
    N_FOLDS,
    cross_fit,
    fold_of_points,
    true_class_proba,
)
from calibrant._core.held_out import HeldOutScores
from calibrant._core.probability_floor import RARE_CLASS_SIZE, apply_probability_floor
from calibrant._core.problems import ScoringProblem, is_scored, make_problems, side_proba
from calibrant._core.training_data import TrainingData
from calibrant._core.typing import BoolArray, FloatArray, IndexArray
from calibrant.calibrators._averaging import group_gains
from calibrant.calibrators._protocol import apply_calibrator, fit_calibrator, fit_substitute
from calibrant.calibrators.auto import AutoCalibrator
from calibrant.calibrators.report import (
    NO_CALIBRATION,
    CalibrationReport,
    gain_interval,
    mean_log_losses,
)
from calibrant.metrics import Performance, measure_performance


@dataclass(frozen=True, eq=False)
class Calibration:
    """The fitted calibrators of all problems.

    Attributes
    ----------
    calibrators : list
        One per problem.
    report : CalibrationReport
        The chosen calibration and its expected gain.
    n_substitutes : int
        The number of problems that have a substitute instead of a fitted calibrator, because
        they lack held-out scores of both sides.
    """

    calibrators: list[Any]
    report: CalibrationReport
    n_substitutes: int


def fit_calibrators(
    calibrator: Any,
    name: str,
    held_out: Sequence[HeldOutScores],
    problems: Sequence[ScoringProblem],
    data: TrainingData,
) -> Calibration:
    """Fit one calibrator per problem and estimate the gain of calibration.

    Parameters
    ----------
    calibrator : calibrator
        The calibrator to clone.
    name : str
        Its name in the report.
    held_out : sequence of HeldOutScores
        The held-out scores of the problems.
    problems : sequence of ScoringProblem
        The problems.
    data : TrainingData
        The training data.

    Returns
    -------
    Calibration
        The calibrators and their report.
    """
    fitted = [_fit(calibrator, scores, data) for scores in held_out]
    calibrators = [
        fit_substitute(
            calibrator, problem.target[problem.rows], data.weight[problem.rows], data.n_classes
        )
        if one is None
        else one
        for one, problem in zip(fitted, problems, strict=True)
    ]
    if isinstance(calibrator, AutoCalibrator):
        report = _report_of_auto(calibrator, fitted[0], data)
    else:
        report = _report_of_method(calibrator, name, held_out, problems, data)
    return Calibration(calibrators, report, fitted.count(None))


def fit_with_report(
    calibrator: Any,
    name: str,
    score: FloatArray,
    y: IndexArray,
    *,
    classes: NDArray[Any],
    groups: NDArray[Any] | None = None,
) -> tuple[Any, CalibrationReport]:
    """Fit a multi-class calibrator to held-out probabilities and estimate its gain.

    Parameters
    ----------
    calibrator : multi-class calibrator
        The calibrator to clone.
    name : str
        Its name in the report.
    score : ndarray of shape (n_rows, n_classes)
        Held-out probabilities.
    y : ndarray of shape (n_rows,)
        Column index of the class of each row.
    classes : ndarray of shape (n_classes,)
        The label of each column.
    groups : ndarray of shape (n_rows,), default=None
        The group of each row. ``None`` means ungrouped.

    Returns
    -------
    calibrator
        The fitted clone.
    CalibrationReport
        The chosen calibration and its expected gain.
    """
    weight = np.ones(len(y))
    data = TrainingData(score, y, classes, weight, groups)
    held_out = HeldOutScores(score, y, weight, np.arange(len(y)))
    calibration = fit_calibrators(calibrator, name, [held_out], make_problems(None, data), data)
    [fitted] = calibration.calibrators
    return fitted, calibration.report


def _fit(calibrator: Any, scores: HeldOutScores, data: TrainingData) -> Any | None:
    """Fit a clone of a calibrator to the points of one problem, and to any votes."""
    votes: dict[str, Any] = {}
    if scores.vote is not None:
        scores = scores.take(is_scored(scores.vote))
        votes["X_ensemble"] = scores.vote
    groups = scores.point_groups(data.groups)
    return fit_calibrator(calibrator, *scores.points(), groups, **votes)


def _report_of_auto(
    calibrator: AutoCalibrator, fitted: AutoCalibrator | None, data: TrainingData
) -> CalibrationReport:
    """Return the report of the fitted calibrator, with class labels."""
    if fitted is not None:
        return fitted.report_.with_labels(data.classes)
    names = calibrator.candidate_names()
    no_gains = np.empty(0)
    return CalibrationReport(
        candidates=tuple(names),
        weights=(1.0, *[0.0] * (len(names) - 1)),
        log_losses=(np.nan,) * len(names),
        gain=gain_interval(no_gains, no_gains),
        n_rows=0,
        rare_classes=_rare_classes(data),
    )


def _report_of_method(
    calibrator: Any,
    name: str,
    held_out: Sequence[HeldOutScores],
    problems: Sequence[ScoringProblem],
    data: TrainingData,
) -> CalibrationReport:
    """Estimate the gain of a single calibrator by cross-validation."""
    judged = []
    for scores, problem in zip(held_out, problems, strict=True):
        points = _judge(calibrator, scores, _side_counts(problem, data), data)
        judged.append(points if problem.side is None else points.pool())
    proba = np.concatenate([each.true_proba for each in judged])
    weight = np.concatenate([each.weight for each in judged])
    group = np.concatenate([each.group for each in judged])
    calibrated = any(len(each.weight) for each in judged) or any(map(_has_both, held_out))
    gain = group_gains(proba[:, 1], proba[:, 0], weight, group)
    return CalibrationReport(
        candidates=(NO_CALIBRATION, name),
        weights=(1.0 - calibrated, float(calibrated)),
        log_losses=mean_log_losses(proba, weight),
        gain=gain_interval(gain, gain),
        n_rows=len(gain),
        rare_classes=_rare_classes(data),
        performance=judged[0].measure() if problems[0].side is None else None,
    )


class _Judged(NamedTuple):
    """Points that a calibrator was evaluated on by cross-validation.

    Attributes
    ----------
    true_proba : ndarray of shape (n_points, 2)
        The uncalibrated and calibrated probabilities of the true class.
    calibrated : ndarray of shape (n_points, n_classes)
        The calibrated probabilities of all classes or sides.
    target, weight, group : ndarray of shape (n_points,)
        The true class, the weight and the group of each point.
    """

    true_proba: FloatArray
    calibrated: FloatArray
    target: IndexArray
    weight: FloatArray
    group: NDArray[Any]

    def pool(self) -> _Judged:
        """Return one point per group, with its mean log probabilities.

        Thousands of problems with thousands of points each then fit in memory.
        """
        groups, index = np.unique(self.group, return_inverse=True)
        weight = np.bincount(index, self.weight).astype(np.float64)
        total = [np.bincount(index, self.weight * np.log(proba)) for proba in self.true_proba.T]
        mean = np.exp(np.column_stack(total) / weight[:, None])
        return _Judged(mean, np.empty((0, 2)), np.empty(0, dtype=np.intp), weight, groups)

    def measure(self) -> Performance | None:
        """Measure the performance of the calibrated probabilities."""
        if len(self.target) == 0:
            return None
        return measure_performance(
            self.target,
            self.calibrated,
            groups=self.group,
            labels=np.arange(self.calibrated.shape[1]),
            sample_weight=self.weight,
        )


def _judge(
    calibrator: Any, scores: HeldOutScores, class_count: FloatArray, data: TrainingData
) -> _Judged:
    """Evaluate a calibrator on the points of one problem by cross-validation."""
    groups = scores.rows if data.groups is None else data.groups[scores.rows]
    group = np.unique(groups, return_inverse=True)[1]
    target = scores.target.astype(np.intp)
    if _has_both(scores):
        fold = fold_of_points(target, group, N_FOLDS, np.random.RandomState(0))
    else:
        fold = np.full(len(target), -1)
    uncalibrated = _class_columns(_as_proba(scores.score))
    n_classes = uncalibrated.shape[1]

    def predict(training: BoolArray, test: BoolArray) -> FloatArray:
        train = scores.take(training)
        fitted = _fit(calibrator, train, data)
        if fitted is None:
            fitted = fit_substitute(calibrator, train.target, train.sample_weight, n_classes)
        calibrated = _class_columns(
            apply_calibrator(fitted, scores.score[test], n_classes=n_classes)
        )
        floored = [
            apply_probability_floor(proba, class_count)
            for proba in (uncalibrated[test], calibrated)
        ]
        true = [true_class_proba(proba, target[test]) for proba in floored]
        return np.column_stack([*true, floored[1]])

    judged = fold >= 0
    proba = cross_fit(fold, predict, 2 + n_classes)[judged]
    return _Judged(
        proba[:, :2],
        proba[:, 2:],
        target[judged],
        scores.sample_weight[judged],
        groups[judged],
    )


def _has_both(scores: HeldOutScores) -> bool:
    """Return whether the points belong to more than one side or class."""
    return len(scores) > 0 and bool(scores.target.min() < scores.target.max())


def _as_proba(score: FloatArray) -> FloatArray:
    """Return scores as probabilities; scores beyond [0, 1] are decision values, taken as logits."""
    is_proba = score.ndim == 2 or len(score) == 0 or (score.min() >= 0 and score.max() <= 1)
    return side_proba(score, is_proba)


def _class_columns(proba: FloatArray) -> FloatArray:
    """Return one column per class or side."""
    return proba if proba.ndim == 2 else np.column_stack([1.0 - proba, proba])


def _side_counts(problem: ScoringProblem, data: TrainingData) -> FloatArray:
    """Return the weighted number of rows of each class or side."""
    if problem.side is None:
        return data.class_count
    count = np.bincount(problem.target[problem.rows], data.weight[problem.rows], 2)
    return count.astype(np.float64)


def _rare_classes(data: TrainingData) -> tuple[Any, ...]:
    return tuple(data.classes[data.row_count < RARE_CLASS_SIZE].tolist())
