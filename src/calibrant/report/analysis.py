"""Analysis of held-out predictions, which computes the numbers of the report."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from calibrant._core.binning import default_n_bins
from calibrant._core.losses import row_brier_score, row_log_loss
from calibrant._core.records import Interval
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.comparison import holm
from calibrant.metrics import (
    Decomposition,
    brier_score,
    decompose,
    expected_calibration_error,
    log_loss,
    reliability_curve,
    squared_calibration_error,
)
from calibrant.report.evaluation import Evaluation, ModelEvaluation
from calibrant.report.records import (
    Analysis,
    Change,
    Gain,
    Measure,
    Miscalibration,
    ModelAnalysis,
    RankedModel,
    Reliability,
    ScoreDecomposition,
)
from calibrant.report.statistics import HeldOutStatistics

# The largest number of classes with a reliability diagram. The page says if there are more.
MOST_CLASSES = 30
# The number of rows listed as most changed.
MOST_CHANGED = 12

TOP_LABEL_ERROR = "calibration error, most probable class"
CLASSWISE_ERROR = "calibration error, all classes"


def analyze(evaluation: Evaluation) -> Analysis:
    """Analyze held-out predictions.

    Parameters
    ----------
    evaluation : Evaluation
        Held-out predictions of one or more models.

    Returns
    -------
    Analysis
        The numbers of the report.
    """
    statistics = HeldOutStatistics(evaluation)
    models = tuple(_analyze_model(statistics, model) for model in evaluation.models)
    return Analysis(evaluation, models, _rank_models(statistics))


def accuracy(
    y_true: IndexArray,
    proba: FloatArray,
    *,
    labels: IndexArray,
    sample_weight: FloatArray,
) -> float:
    """Return the fraction of rows whose most probable class is the true one."""
    return float(np.average(labels[proba.argmax(axis=1)] == y_true, weights=sample_weight))


def _is_correct(y_true: IndexArray, proba: FloatArray) -> FloatArray:
    return (proba.argmax(axis=1) == y_true).astype(np.float64)


def _analyze_model(statistics: HeldOutStatistics, model: ModelEvaluation) -> ModelAnalysis:
    evaluation = statistics.evaluation
    y = evaluation.y[evaluation.held_out_rows]
    uncalibrated = evaluation.average_by_row(model.uncalibrated)
    calibrated = evaluation.average_by_row(model.calibrated)
    scores = _scores(statistics, model)
    errors = _calibration_errors(statistics, model)
    largest_change = np.abs(calibrated - uncalibrated).max(axis=1)
    classes = (None, *statistics.labels[:MOST_CLASSES].tolist())
    return ModelAnalysis(
        name=model.name,
        miscalibration=Miscalibration(
            confidence=statistics.mean(model.uncalibrated.max(axis=1)),
            accuracy=scores[2].uncalibrated.estimate,
            error=errors[0].uncalibrated,
            p_value=statistics.calibration_p_value(model.uncalibrated),
        ),
        gain=Gain(scores[0], scores[1]),
        measures=(*scores, *errors),
        reliability=tuple(_reliability(statistics, model, index) for index in classes),
        decompositions=tuple(
            ScoreDecomposition(
                name,
                _mean_decomposition(statistics, model.uncalibrated, score),
                _mean_decomposition(statistics, model.calibrated, score),
            )
            for name, score in (("log loss", "log-loss"), ("Brier score", "brier"))
        ),
        uncalibrated=uncalibrated,
        calibrated=calibrated,
        uncalibrated_confusion=_mean_by_class(uncalibrated, y),
        calibrated_confusion=_mean_by_class(calibrated, y),
        most_changed=np.argsort(-largest_change, kind="stable")[:MOST_CHANGED],
    )


def _scores(statistics: HeldOutStatistics, model: ModelEvaluation) -> list[Measure]:
    """Return the log loss, Brier score and accuracy over all repeats."""
    measures = []
    for name, metric, by_row in (
        ("log loss", log_loss, row_log_loss),
        ("Brier score", brier_score, row_brier_score),
        ("accuracy", accuracy, _is_correct),
    ):
        uncalibrated, calibrated = (
            by_row(statistics.y_true, proba) for proba in (model.uncalibrated, model.calibrated)
        )
        measures.append(
            Measure(
                name,
                statistics.interval(metric, model.uncalibrated),
                statistics.interval(metric, model.calibrated),
                statistics.change(calibrated, uncalibrated),
                is_percentage=metric is accuracy,
            )
        )
    return measures


def _calibration_errors(statistics: HeldOutStatistics, model: ModelEvaluation) -> list[Measure]:
    """Return the calibration errors in the first repeat."""
    first = statistics.first_repeat
    n_bins = default_n_bins(int(first.sum()))
    probas = (model.uncalibrated, model.calibrated)
    measures = []
    for name, kind in ((TOP_LABEL_ERROR, "top-label"), (CLASSWISE_ERROR, "classwise")):
        metric = partial(squared_calibration_error, kind=kind, n_bins=n_bins)
        intervals = [
            _square_root(statistics.interval(metric, proba, first_repeat_only=True))
            for proba in probas
        ]
        measures.append(_error_measure(name, *intervals))
    # The expected calibration error is biased upward, and its interval would be too.
    estimates = [
        expected_calibration_error(
            statistics.y_true[first], proba[first], n_bins=n_bins, labels=statistics.labels
        )
        for proba in probas
    ]
    intervals = [Interval(estimate, np.nan, np.nan) for estimate in estimates]
    return [*measures, _error_measure("expected calibration error (ECE)", *intervals)]


def _error_measure(name: str, uncalibrated: Interval, calibrated: Interval) -> Measure:
    change = Change(calibrated.estimate - uncalibrated.estimate, np.nan, np.nan)
    return Measure(name, uncalibrated, calibrated, change, is_percentage=True)


def _square_root(square: Interval) -> Interval:
    """Return the root of a squared error; negative estimates, which are possible, count as 0."""
    values = np.array([square.estimate, square.low, square.high])
    estimate, low, high = np.sqrt(np.maximum(values, 0.0)).tolist()
    return Interval(estimate, low, high, square.level)


def _reliability(
    statistics: HeldOutStatistics, model: ModelEvaluation, class_index: int | None
) -> Reliability:
    first = statistics.first_repeat
    uncalibrated, calibrated = (
        reliability_curve(
            statistics.y_true[first],
            proba[first],
            of="top-label" if class_index is None else class_index,
            labels=statistics.labels,
        )
        for proba in (model.uncalibrated, model.calibrated)
    )
    return Reliability(class_index, uncalibrated, calibrated)


def _mean_decomposition(
    statistics: HeldOutStatistics, proba: FloatArray, score: str
) -> Decomposition:
    """Average the decompositions of the repeats, in each of which a row occurs at most once."""
    evaluation = statistics.evaluation
    parts = []
    for repeat in range(evaluation.n_repeats):
        used = evaluation.split // evaluation.n_folds == repeat
        found = decompose(
            statistics.y_true[used], proba[used], score=score, labels=statistics.labels
        )
        parts.append((found.total, found.calibration, found.refinement))
    return Decomposition(*np.mean(parts, axis=0).tolist())


def _mean_by_class(proba: FloatArray, y: IndexArray) -> FloatArray:
    """Return the mean probabilities of the rows of each class; NaN if none was held out."""
    count = np.bincount(y, minlength=proba.shape[1])[:, None]
    total = np.stack([np.bincount(y, column, proba.shape[1]) for column in proba.T], axis=1)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


def _rank_models(statistics: HeldOutStatistics) -> tuple[RankedModel, ...]:
    """Rank uncalibrated and calibrated models by log loss and test them against the best."""
    y_true = statistics.y_true
    variants, losses = [], []
    for index, model in enumerate(statistics.evaluation.models):
        for calibrated in (True, False):
            proba = model.calibrated if calibrated else model.uncalibrated
            pair = row_log_loss(y_true, proba), row_brier_score(y_true, proba)
            losses.append(pair)
            variants.append(
                RankedModel(
                    model=index,
                    name=model.name,
                    calibrated=calibrated,
                    log_loss=statistics.mean(pair[0]),
                    brier_score=statistics.mean(pair[1]),
                    accuracy=statistics.mean(_is_correct(y_true, proba)),
                )
            )
    best, *others = np.argsort([variant.log_loss for variant in variants], kind="stable").tolist()
    excess_losses, p_values = [], []
    for other in others:
        changes = [
            statistics.change(loss, least)
            for loss, least in zip(losses[other], losses[best], strict=True)
        ]
        excess_losses.append(max(change.estimate for change in changes))
        agree = all(change.estimate >= 0 for change in changes)
        p_values.append(min(change.p_value for change in changes) if agree else 1.0)
    ranked = [
        replace(variants[other], excess_loss=excess_loss, p_value=p_value)
        for other, excess_loss, p_value in zip(
            others, excess_losses, holm(p_values).tolist(), strict=True
        )
    ]
    return (variants[best], *ranked)
