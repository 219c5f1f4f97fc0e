"""Analysis of held-out predictions, which computes the numbers of the report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from calibrant._core.binning import default_n_bins
from calibrant._core.losses import row_brier_score, row_log_loss
from calibrant._core.records import Interval
from calibrant._core.spread import dirichlet_interval
from calibrant._core.typing import FloatArray, IndexArray
from calibrant.comparison import holm
from calibrant.decisions import CostTable
from calibrant.metrics import (
    Decomposition,
    brier_score,
    expected_calibration_error,
    log_loss,
    reliability_curve,
)
from calibrant.metrics._validation import check_predictions
from calibrant.metrics.decomposition import decompose_scores
from calibrant.report.assessment import assess, check_cost_classes
from calibrant.report.effects import Change, Gain, Measure, Skill
from calibrant.report.evaluation import Evaluation, ModelEvaluation
from calibrant.report.records import (
    Analysis,
    ModelAnalysis,
    RankedModel,
    Reliability,
    ScoreDecomposition,
)
from calibrant.report.statistics import HeldOutStatistics
from calibrant.report.verdicts import Miscalibration

# The number of rows listed as most changed.
MOST_CHANGED = 12

TOP_LABEL_ERROR = "calibration error, most probable class"
CLASSWISE_ERROR = "calibration error, all classes"


def analyze(evaluation: Evaluation, costs: CostTable | None = None) -> Analysis:
    """Analyze held-out predictions.

    Parameters
    ----------
    evaluation : Evaluation
        Held-out predictions of one or more models.
    costs : CostTable, default=None
        Costs of decisions, with the classes of the evaluation in their order. ``None`` means
        unknown costs.

    Returns
    -------
    Analysis
        The numbers of the report.
    """
    check_cost_classes(costs, evaluation.classes)
    statistics = HeldOutStatistics(evaluation)
    models = tuple(_analyze_model(statistics, model, costs) for model in evaluation.models)
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


def _analyze_model(
    statistics: HeldOutStatistics, model: ModelEvaluation, costs: CostTable | None
) -> ModelAnalysis:
    evaluation = statistics.evaluation
    y = evaluation.y[evaluation.held_out_rows]
    uncalibrated = evaluation.average_by_row(model.uncalibrated)
    calibrated = evaluation.average_by_row(model.calibrated)
    scores = _scores(statistics, model)
    errors = _calibration_errors(statistics, model)
    largest_change = np.abs(calibrated - uncalibrated).max(axis=1)
    classes = (None, *evaluation.most_frequent_classes)
    most_changed = np.argsort(-largest_change, kind="stable")[:MOST_CHANGED]
    return ModelAnalysis(
        name=model.name,
        miscalibration=_miscalibration(statistics, model.uncalibrated, errors[0].uncalibrated),
        calibrated_miscalibration=_miscalibration(
            statistics, model.calibrated, errors[0].calibrated
        ),
        skill=_skill(statistics, model.uncalibrated),
        calibrated_skill=_skill(statistics, model.calibrated),
        gain=Gain(scores[0], scores[1]),
        measures=(*scores, *errors),
        reliability=tuple(_reliability(statistics, model, index) for index in classes),
        decompositions=_decompositions(statistics, model),
        assessment=assess(statistics, model.uncalibrated, costs),
        calibrated_assessment=assess(statistics, model.calibrated, costs),
        uncalibrated=uncalibrated,
        calibrated=calibrated,
        uncalibrated_confusion=_mean_by_class(uncalibrated, y),
        calibrated_confusion=_mean_by_class(calibrated, y),
        uncalibrated_counts=_count_decisions(uncalibrated, y),
        calibrated_counts=_count_decisions(calibrated, y),
        most_changed=most_changed,
        intervals=None
        if model.relative_variance is None
        else dirichlet_interval(
            calibrated[most_changed], model.relative_variance, len(evaluation.y)
        ),
    )


def _miscalibration(
    statistics: HeldOutStatistics, proba: FloatArray, top_label_error: Interval
) -> Miscalibration:
    return Miscalibration(
        confidence=statistics.mean(proba.max(axis=1)),
        accuracy=statistics.mean(_is_correct(statistics.y_true, proba)),
        error=statistics.verdict_error(proba, top_label_error),
        p_value=statistics.calibration_p_value(proba),
        n_rows=int(statistics.first_repeat.sum()),
        n_groups=statistics.n_groups,
    )


def _skill(statistics: HeldOutStatistics, proba: FloatArray) -> Skill:
    """Compare probabilities with the class frequencies among the training rows."""
    evaluation, y_true = statistics.evaluation, statistics.y_true
    guess = statistics.training_frequencies()
    commonest = int(evaluation.class_count.argmax())
    is_correct, is_commonest = _is_correct(y_true, proba), (y_true == commonest).astype(np.float64)
    return Skill(
        commonest_class=commonest,
        accuracy=statistics.mean(is_correct),
        guess_accuracy=statistics.mean(is_commonest),
        accuracy_change=statistics.change(is_correct, is_commonest),
        log_loss=statistics.change(row_log_loss(y_true, proba), row_log_loss(y_true, guess)),
        brier_score=statistics.change(
            row_brier_score(y_true, proba), row_brier_score(y_true, guess)
        ),
    )


def _scores(statistics: HeldOutStatistics, model: ModelEvaluation) -> list[Measure]:
    """Return the log loss, Brier score and accuracy over all repeats.

    With two classes, the Brier score of one class follows, as other software defines it.
    """
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
    return measures if len(statistics.labels) > 2 else [*measures, _halve(measures[1])]


def _halve(measure: Measure) -> Measure:
    """Return the Brier score of one of two classes, which is half of the sum over both."""

    def half(interval: Any) -> Any:
        values = {name: getattr(interval, name) / 2 for name in ("estimate", "low", "high")}
        return replace(interval, **values)

    return Measure(
        "Brier score of one class",
        half(measure.uncalibrated),
        half(measure.calibrated),
        half(measure.change),
    )


def _calibration_errors(statistics: HeldOutStatistics, model: ModelEvaluation) -> list[Measure]:
    """Return the calibration errors in the first repeat."""
    first = statistics.first_repeat
    n_bins = default_n_bins(int(first.sum()))
    probas = (model.uncalibrated, model.calibrated)
    measures = []
    kinds: dict[str, Literal["top-label", "classwise"]] = {
        TOP_LABEL_ERROR: "top-label",
        CLASSWISE_ERROR: "classwise",
    }
    for name, kind in kinds.items():
        intervals = [statistics.calibration_error(proba, kind) for proba in probas]
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


def _decompositions(
    statistics: HeldOutStatistics, model: ModelEvaluation
) -> tuple[ScoreDecomposition, ...]:
    uncalibrated, calibrated = (
        _mean_decompositions(statistics, proba) for proba in (model.uncalibrated, model.calibrated)
    )
    return tuple(
        ScoreDecomposition(name, uncalibrated[score], calibrated[score])
        for name, score in (("log loss", "log-loss"), ("Brier score", "brier"))
    )


def _mean_decompositions(
    statistics: HeldOutStatistics, proba: FloatArray
) -> dict[str, Decomposition]:
    """Average the decompositions of the repeats, in each of which a row occurs at most once."""
    evaluation = statistics.evaluation
    parts: dict[str, list[tuple[float, float, float]]] = {}
    for repeat in range(evaluation.n_repeats):
        used = evaluation.split // evaluation.n_folds == repeat
        data = check_predictions(statistics.y_true[used], proba[used], statistics.labels, None)
        for score, found in decompose_scores(data).items():
            triple = found.total, found.calibration, found.refinement
            parts.setdefault(score, []).append(triple)
    return {
        score: Decomposition(*np.mean(triples, axis=0).tolist()) for score, triples in parts.items()
    }


def _mean_by_class(proba: FloatArray, y: IndexArray) -> FloatArray:
    """Return the mean probabilities of the rows of each class; NaN if none was held out."""
    count = np.bincount(y, minlength=proba.shape[1])[:, None]
    total = np.stack([np.bincount(y, column, proba.shape[1]) for column in proba.T], axis=1)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


def _count_decisions(proba: FloatArray, y: IndexArray) -> IndexArray:
    """Count the rows of each true class (row) by their most probable class (column)."""
    n_classes = proba.shape[1]
    pairs = np.bincount(y * n_classes + proba.argmax(axis=1), minlength=n_classes**2)
    return pairs.reshape(n_classes, n_classes)


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
    # Whether calibration improves the best model is asked of each model by itself. Adjusting that
    # p-value as well would lead to a second answer.
    is_rival = np.array([variants[other].model != variants[best].model for other in others])
    adjusted = np.array(p_values)
    adjusted[is_rival] = holm(adjusted[is_rival]) if is_rival.any() else []
    ranked = [
        replace(variants[other], excess_loss=excess_loss, p_value=p_value)
        for other, excess_loss, p_value in zip(
            others, excess_losses, adjusted.tolist(), strict=True
        )
    ]
    return (variants[best], *ranked)
