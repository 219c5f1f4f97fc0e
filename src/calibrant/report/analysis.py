"""An evaluation -> the numbers of its report."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from calibrant._core.typing import FloatArray, IndexArray
from calibrant.comparison import corrected_interval, corrected_t_test, holm
from calibrant.metrics import (
    Decomposition,
    bootstrap_interval,
    brier_score,
    calibration_test,
    decompose,
    expected_calibration_error,
    log_loss,
    reliability_curve,
    squared_calibration_error,
)
from calibrant.report.evaluation import Evaluation, ModelEvaluation
from calibrant.report.records import (
    Contender,
    Estimate,
    Fault,
    Findings,
    Gain,
    Measure,
    ModelFindings,
    Reliability,
)

# Bins of calibration errors: as many rows to a bin, and no more bins than these.
ROWS_A_BIN = 20
MOST_BINS = 10
# Scores are means, and quick to draw; calibration errors are not.
N_SCORE_RESAMPLES, N_ERROR_RESAMPLES = 1000, 200
# Rows beyond these are drawn in blocks, by chance: an interval takes as long for many rows.
MOST_DRAWN = 100
# Fewer rows or groups are not drawn at all: most draws would be like one another.
LEAST_DRAWN = 10
# The test compares all pairs of rows; what so many rows do not show is small.
MOST_TESTED = 1000
# Bars beneath a reliability diagram: steps of five points.
N_BARS = 20
# Classes with a reliability diagram of their own; the page says when there are more.
MOST_CLASSES = 30
MOST_CHANGED = 12

LOG_LOSS, BRIER, RIGHT = "log loss", "Brier score", "most probable class is right"
TOP_ERROR = "calibration error, most probable class"
CLASS_ERROR = "calibration error, all classes"
BINNED_ERROR = "expected calibration error (ECE)"
DECOMPOSED = {LOG_LOSS: "log-loss", BRIER: "brier"}


def find(evaluation: Evaluation) -> Findings:
    """Compute the numbers of a report.

    Parameters
    ----------
    evaluation : Evaluation
        Held-out probabilities of some models.

    Returns
    -------
    Findings
        The numbers.
    """
    points = _Points(evaluation)
    models = tuple(_find_model(points, model) for model in evaluation.models)
    return Findings(evaluation, models, _contenders(points))


class _Points:
    """The points of an evaluation, and what is computed of probabilities at them."""

    def __init__(self, evaluation: Evaluation):
        self.evaluation = evaluation
        self.true = evaluation.true
        self.weight = evaluation.weight
        self.labels = np.arange(len(evaluation.classes))
        # Reliability is judged by the first repeat, in which a row comes once at most.
        self.first = evaluation.split < evaluation.n_folds
        self.n_bins = int(np.clip(self.first.sum() // ROWS_A_BIN, 1, MOST_BINS))
        # What belongs together is drawn together: repeats of a row, rows of a group.
        rng = np.random.RandomState(evaluation.seed)
        units, unit = np.unique(evaluation.unit[evaluation.row], return_inverse=True)
        block = rng.permutation(len(units)) % MOST_DRAWN
        self.block = (np.arange(len(units)) if len(units) <= MOST_DRAWN else block)[unit]
        # The test takes rows for independent: one of each group.
        order = rng.permutation(np.flatnonzero(self.first))
        _, place = np.unique(unit[order], return_index=True)
        self.tested = np.sort(order[np.sort(place)[:MOST_TESTED]])

    def mean(self, values: FloatArray) -> float:
        """Mean over rows."""
        return float(np.average(values, weights=self.weight))

    def estimate(self, metric: Any, proba: FloatArray, *, once: bool) -> Estimate:
        """Metric of all points, or of the first repeat, with an interval."""
        own = self.first if once else np.ones(len(self.true), dtype=bool)
        if len(np.unique(self.block)) < LEAST_DRAWN:
            given = {"labels": self.labels, "sample_weight": self.weight[own]}
            return Estimate(metric(self.true[own], proba[own], **given))
        found = bootstrap_interval(
            metric,
            self.true[own],
            proba[own],
            n_resamples=N_ERROR_RESAMPLES if once else N_SCORE_RESAMPLES,
            groups=self.block[own],
            random_state=self.evaluation.seed,
            labels=self.labels,
            sample_weight=self.weight[own],
        )
        return Estimate(found.estimate, found.low, found.high)

    def change(self, new: FloatArray, old: FloatArray) -> Estimate:
        """Compare values at the same points, by the corrected paired test of the splits."""
        pair = self._by_split(new), self._by_split(old)
        share = 1.0 / (self.evaluation.n_folds - 1)
        interval = corrected_interval(*pair, share)
        value, half = self.mean(new - old), (interval.high - interval.low) / 2
        test = corrected_t_test(*pair, share)
        return Estimate(value, value - half, value + half, test.p_value)

    def _by_split(self, values: FloatArray) -> FloatArray:
        count = np.bincount(self.evaluation.split)
        return (np.bincount(self.evaluation.split, values) / np.maximum(count, 1))[count > 0]

    def test(self, proba: FloatArray) -> float:
        """Test that probabilities are calibrated: the p-value."""
        rows = self.tested
        seed = self.evaluation.seed
        return calibration_test(
            self.true[rows], proba[rows], labels=self.labels, random_state=seed
        ).p_value

    def losses(self, proba: FloatArray) -> FloatArray:
        """Log loss of each point."""
        own = proba[np.arange(len(self.true)), self.true]
        return -np.log(np.maximum(own, np.finfo(np.float64).eps))

    def squares(self, proba: FloatArray) -> FloatArray:
        """Brier score of each point."""
        return ((proba - np.eye(len(self.labels))[self.true]) ** 2).sum(axis=1)

    def hits(self, proba: FloatArray) -> FloatArray:
        """Whether the most probable class of each point is true."""
        return (proba.argmax(axis=1) == self.true).astype(np.float64)


def share_right(
    y_true: IndexArray,
    proba: FloatArray,
    *,
    labels: IndexArray,
    sample_weight: FloatArray,
) -> float:
    """Share of rows whose most probable class is the true one, as a metric."""
    return float(np.average(labels[proba.argmax(axis=1)] == y_true, weights=sample_weight))


def _find_model(points: _Points, model: ModelEvaluation) -> ModelFindings:
    evaluation = points.evaluation
    before, after = evaluation.row_means(model.before), evaluation.row_means(model.after)
    measures = _measures(points, model)
    error = next(own for own in measures if own.name == TOP_ERROR).before
    true = evaluation.y[evaluation.rows]
    distance = np.abs(after - before).max(axis=1)
    return ModelFindings(
        model=model,
        fault=Fault(
            confidence=points.mean(model.before.max(axis=1)),
            accuracy=measures[2].before.value,
            error=error,
            p_value=points.test(model.before),
        ),
        gain=Gain(measures[0], measures[1]),
        measures=measures,
        reliability=tuple(
            _reliability(points, model, of) for of in (None, *points.labels[:MOST_CLASSES].tolist())
        ),
        parts={
            name: (_decompose(points, model.before, score), _decompose(points, model.after, score))
            for name, score in DECOMPOSED.items()
        },
        before=before,
        after=after,
        before_confusion=_mean_by_class(before, true),
        after_confusion=_mean_by_class(after, true),
        changed=np.argsort(-distance, kind="stable")[:MOST_CHANGED],
    )


def _measures(points: _Points, model: ModelEvaluation) -> tuple[Measure, ...]:
    """Scores of all repeats, and calibration errors of the first."""
    measures = []
    for name, metric, of_points in (
        (LOG_LOSS, log_loss, points.losses),
        (BRIER, brier_score, points.squares),
        (RIGHT, share_right, points.hits),
    ):
        before, after = (
            points.estimate(metric, proba, once=False) for proba in (model.before, model.after)
        )
        change = points.change(of_points(model.after), of_points(model.before))
        measures.append(Measure(name, before, after, change, is_share=name == RIGHT))
    for name, kind in ((TOP_ERROR, "top-label"), (CLASS_ERROR, "classwise")):
        metric = partial(squared_calibration_error, kind=kind, n_bins=points.n_bins)
        before, after = (
            _root(points.estimate(metric, proba, once=True))
            for proba in (model.before, model.after)
        )
        measures.append(Measure(name, before, after, _difference(after, before), is_share=True))
    # An interval of the binned error would not hold it: it is too large when rows are few.
    before, after = (
        Estimate(
            expected_calibration_error(
                points.true[points.first],
                proba[points.first],
                n_bins=points.n_bins,
                labels=points.labels,
            )
        )
        for proba in (model.before, model.after)
    )
    change = _difference(after, before)
    return (*measures, Measure(BINNED_ERROR, before, after, change, is_share=True))


def _difference(after: Estimate, before: Estimate) -> Estimate:
    return Estimate(after.value - before.value)


def _root(square: Estimate) -> Estimate:
    """Root of a squared error, which may be below 0 by chance."""
    value, low, high = np.sqrt(np.maximum([square.value, square.low, square.high], 0.0)).tolist()
    return Estimate(value, low, high)


def _reliability(points: _Points, model: ModelEvaluation, of: int | None) -> Reliability:
    before, after = model.before[points.first], model.after[points.first]
    view = "top-label" if of is None else of
    curves = [
        reliability_curve(points.true[points.first], proba, of=view, labels=points.labels)
        for proba in (before, after)
    ]
    counts = [
        np.histogram(proba.max(axis=1) if of is None else proba[:, of], N_BARS, (0.0, 1.0))[0]
        for proba in (before, after)
    ]
    return Reliability(of, curves[0], curves[1], counts[0], counts[1])


def _decompose(points: _Points, proba: FloatArray, score: str) -> Decomposition:
    """Mean of the repeats, in each of which a row comes once."""
    evaluation = points.evaluation
    parts = []
    for repeat in range(evaluation.n_repeats):
        own = evaluation.split // evaluation.n_folds == repeat
        parts.append(decompose(points.true[own], proba[own], score=score, labels=points.labels))
    means = np.mean([(one.total, one.calibration, one.refinement) for one in parts], axis=0)
    return Decomposition(*means.tolist())


def _mean_by_class(proba: FloatArray, true: IndexArray) -> FloatArray:
    """Mean rows by true class; NaN for classes that were never held out."""
    count = np.bincount(true, minlength=proba.shape[1])
    total = np.stack([np.bincount(true, own, proba.shape[1]) for own in proba.T], axis=1)
    return np.divide(
        total, count[:, None], out=np.full(total.shape, np.nan), where=count[:, None] > 0
    )


def _contenders(points: _Points) -> tuple[Contender, ...]:
    """Rank the models, as they are and calibrated, and hold the others against the best."""
    own = [
        (i, calibrated, model.after if calibrated else model.before)
        for i, model in enumerate(points.evaluation.models)
        for calibrated in (True, False)
    ]
    losses = [points.losses(proba) for _, _, proba in own]
    squares = [points.squares(proba) for _, _, proba in own]
    order = np.argsort([points.mean(loss) for loss in losses], kind="stable").tolist()
    best = order[0]
    p_values = [1.0]
    for k in order[1:]:
        changes = (
            points.change(losses[k], losses[best]),
            points.change(squares[k], squares[best]),
        )
        agree = all(change.value >= 0 for change in changes)
        p_values.append(min(change.p_value for change in changes) if agree else 1.0)
    adjusted = [1.0, *holm(p_values[1:]).tolist()]
    return tuple(
        Contender(
            model=own[k][0],
            calibrated=own[k][1],
            log_loss=points.mean(losses[k]),
            brier=points.mean(squares[k]),
            accuracy=points.mean(points.hits(own[k][2])),
            p_value=p_value,
        )
        for k, p_value in zip(order, adjusted, strict=True)
    )
