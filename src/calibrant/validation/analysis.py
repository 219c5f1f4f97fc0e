"""Analysis of probabilities on new labeled rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from calibrant._core.labels import check_labels
from calibrant._core.losses import row_brier_score, row_log_loss
from calibrant._core.subgroups import RowSubgroups
from calibrant._core.typing import FloatArray, IndexArray
from calibrant._core.validation import check_groups
from calibrant.calibrators import NoCalibration, UpdateCalibrator, UpdateChoice, UpdateReport
from calibrant.calibrators.updating import VALIDATION_ALPHA
from calibrant.comparison import holm
from calibrant.decisions import CostTable
from calibrant.metrics import (
    Mean,
    Performance,
    measure_performance,
    reliability_curve,
)
from calibrant.metrics.performance import grouped_mean
from calibrant.report import Change, Evaluation, Miscalibration
from calibrant.report.assessment import assess, check_cost_classes
from calibrant.report.statistics import HeldOutStatistics
from calibrant.validation.records import (
    Candidate,
    Difference,
    FrequencyTest,
    ScoreChange,
    Validation,
    ValidationResult,
)

# Resamples of the permutation test of class frequencies, which is fast.
N_PERMUTATIONS = 9999
LEVEL = 0.95
# With fewer rows on either side, a t-test of skewed values has too many false alarms.
LEAST_COMPARED = 20
# Statistics that differ by less than this, relative to the largest, are ties.
ROUNDING = 1e-9


def validate_probabilities(
    proba: ArrayLike,
    y: ArrayLike,
    classes: Sequence[Any] | None = None,
    *,
    before: Performance | None = None,
    groups: ArrayLike | None = None,
    by: Mapping[str, ArrayLike] | None = None,
    name: str = "your model",
    costs: CostTable | None = None,
    random_state: int = 0,
) -> Validation:
    r"""Validate the probabilities of a fitted model on new rows.

    The validation answers three questions: whether the probabilities are right, whether they have
    changed since the model was fitted, and whether it is the model or the mix of classes that has
    changed.

    Parameters
    ----------
    proba : array-like of shape (n_rows, n_classes)
        Probabilities of new rows, on which the model was not fitted.
    y : array-like of shape (n_rows,)
        The classes of the rows.
    classes : sequence, default=None
        The labels of the columns. ``None`` means the sorted labels of ``y``.
    before : Performance, default=None
        The performance on held-out rows when the model was fitted: from `measure_performance`, or
        ``calibration_report_.performance`` of a `CalibratedClassifier`. ``None`` means unknown.
    groups : array-like of shape (n_rows,), default=None
        The group of each row: rows of one group, such as those of one patient, are not
        independent. ``None`` means ungrouped.
    by : mapping of str to array-like of shape (n_rows,), default=None
        Columns, such as sex or site, by whose values to report calibration.
    name : str, default="your model"
        Name of the model.
    costs : CostTable, default=None
        Costs of decisions, with the classes in the order of the columns. ``None`` means unknown
        costs.
    random_state : int, default=0
        Seeds the simulations.

    Returns
    -------
    Validation
        The numbers, with the verdict, the cause, and the update that the rows call for.

    See Also
    --------
    calibrant.updating.UpdatedClassifier : Updates a fitted classifier.

    Notes
    -----
    The probabilities are tested twice: by `calibrant.metrics.calibration_test`, against any
    miscalibration, and by the first likelihood-ratio test of
    `calibrant.calibrators.UpdateCalibrator`, which is more sensitive to a change in class
    frequencies or confidence. Both tests are exact. With their p-values :math:`p_1` and
    :math:`p_2`, the verdict uses :math:`\min(1, 2 \min(p_1, p_2))`, which preserves the level. The
    update is chosen at the 2.5% level, so that it is never called for if the verdict finds nothing.

    The change in a score is tested by Welch's t-test, with Holm's correction for the number of
    scores, and the class frequencies by a permutation test: of groups, if those of training were
    grouped, and otherwise of rows, as if the training rows were independent.

    Examples
    --------
    >>> from calibrant.metrics import measure_performance
    >>> from calibrant.validation import validate_probabilities
    >>> proba = [[0.8, 0.2]] * 200 + [[0.2, 0.8]] * 200
    >>> then = [0] * 160 + [1] * 40 + [0] * 40 + [1] * 160
    >>> now = [0] * 188 + [1] * 12 + [0] * 100 + [1] * 100
    >>> before = measure_performance(then, proba)
    >>> found = validate_probabilities(proba, now, before=before)
    >>> print(found.verdict, "|", found.cause, "|", found.update.choice)
    miscalibrated | class frequencies | intercepts
    """
    score = np.asarray(proba, dtype=np.float64)
    labels = check_labels(y)
    columns = np.unique(labels) if classes is None else np.asarray(classes)
    unknown = np.setdiff1d(labels, columns)
    if len(unknown):
        raise ValueError(
            f"y must hold only labels of the columns, got {unknown.tolist()}. "
            "Name the columns with classes=... or drop these rows."
        )
    if score.ndim != 2 or score.shape != (len(labels), len(columns)):
        raise ValueError(
            f"proba must have one row for each of the {len(labels)} labels and one column for each "
            f"of the {len(columns)} classes, got an array of shape {score.shape}. Pass the "
            "probabilities of these rows, and name the columns with classes=..."
        )
    order = np.argsort(columns)
    index = order[np.searchsorted(columns, labels, sorter=order)]
    group = None if groups is None else check_groups(groups)
    candidate = Candidate(name, score, before)
    subgroups = tuple(
        RowSubgroups.from_values(column, values, len(labels))
        for column, values in (by or {}).items()
    )
    found = validate_candidates(
        [candidate],
        index,
        columns.tolist(),
        group,
        costs=costs,
        random_state=random_state,
        subgroups=subgroups,
    )
    return found.models[0]


def validate_candidates(
    candidates: Sequence[Candidate],
    y: IndexArray,
    classes: Sequence[Any],
    groups: ArrayLike | None = None,
    *,
    costs: CostTable | None = None,
    random_state: int = 0,
    subgroups: tuple[RowSubgroups, ...] = (),
) -> ValidationResult:
    """Validate one model, or two models side by side.

    Parameters
    ----------
    candidates : sequence of Candidate
        The models.
    y : ndarray of shape (n_rows,)
        The class of each row, as a column index.
    classes : sequence
        The labels of the columns.
    groups : array-like of shape (n_rows,), default=None
        The group of each row. ``None`` means ungrouped.
    costs : CostTable, default=None
        Costs of decisions, as in `validate_probabilities`.
    random_state : int, default=0
        Seeds the simulations.
    subgroups : tuple of RowSubgroups, default=()
        Subgroups of the rows, by each of several columns.

    Returns
    -------
    ValidationResult
        The validations.
    """
    check_cost_classes(costs, tuple(classes))
    group = np.arange(len(y)) if groups is None else np.unique(groups, return_inverse=True)[1]
    rows = np.arange(len(y))
    evaluation = Evaluation(
        tuple(classes),
        y,
        group,
        rows,
        np.zeros_like(rows),
        n_folds=1,
        n_repeats=1,
        models=(),
        random_state=random_state,
        subgroups=subgroups,
    )
    statistics = HeldOutStatistics(evaluation)
    models = tuple(_validate(each, statistics, costs) for each in candidates)
    difference = None
    if len(candidates) == 2:
        first, second = (each.proba for each in candidates)
        difference = Difference(
            _paired(row_log_loss(y, second) - row_log_loss(y, first), group),
            _paired(row_brier_score(y, second) - row_brier_score(y, first), group),
        )
    n_groups = len(np.unique(group))
    return ValidationResult(len(y), n_groups, models, difference)


def check_frequencies(
    training: Sequence[float], new: Sequence[float], random_state: int = 0, unit: str = "row"
) -> FrequencyTest:
    """Test whether class frequencies are those of the training rows.

    Parameters
    ----------
    training, new : sequence of float
        Number of rows of each class.
    random_state : int, default=0
        Seeds the permutations.
    unit : str, default="row"
        What was counted, as in `FrequencyTest`.

    Returns
    -------
    FrequencyTest
        Pearson's statistic of homogeneity, with a p-value by permutation of the class labels of
        all rows. It is exact for independent rows, however few.
    """
    old, count = (np.round(each).astype(np.int64) for each in (training, new))
    total = old + count
    n_new = int(count.sum())

    def statistic(counts: IndexArray) -> FloatArray:
        expected = total[total > 0] * (n_new / total.sum())
        residual = counts[..., total > 0] - expected
        # The residuals of the training rows are the negatives of these.
        scale = 1.0 / expected + 1.0 / (total[total > 0] - expected)
        return np.asarray((residual**2 * scale).sum(axis=-1))

    observed = float(statistic(count))
    rng = np.random.default_rng(random_state)
    drawn = statistic(rng.multivariate_hypergeometric(total, n_new, size=N_PERMUTATIONS))
    n_larger = np.count_nonzero(drawn >= observed * (1.0 - ROUNDING))
    p_value = float((1 + n_larger) / (1 + N_PERMUTATIONS))
    counts = tuple(map(float, training)), tuple(map(float, new))
    return FrequencyTest(*counts, observed, p_value, unit)


def _validate(
    candidate: Candidate, statistics: HeldOutStatistics, costs: CostTable | None
) -> Validation:
    evaluation, proba = statistics.evaluation, candidate.proba
    y, group, labels = evaluation.y, evaluation.group, statistics.labels
    report = _choose_update(proba, statistics)  # first, because it checks the groups
    performance = measure_performance(y, proba, groups=group, labels=labels)
    kernel_p_value = statistics.calibration_p_value(proba)
    p_value = min(1.0, 2.0 * min(kernel_p_value, report.tests[0].p_value))
    miscalibration = Miscalibration(
        confidence=performance.confidence.estimate,
        accuracy=performance.accuracy.estimate,
        error=statistics.verdict_error(proba),
        p_value=p_value,
        n_rows=len(y),
        n_groups=len(np.unique(group)),
    )
    scores: tuple[ScoreChange, ...] = ()
    by_class: tuple[ScoreChange, ...] = ()
    if candidate.before is not None:
        scores = _compare_scores(candidate.before, performance)
        by_class = _compare_classes(candidate.before, performance, evaluation.classes)
    return Validation(
        candidate.name,
        evaluation.classes,
        miscalibration,
        performance,
        kernel_p_value,
        report,
        tuple(
            reliability_curve(y, proba, of=of, labels=labels)
            for of in ("top-label", *evaluation.most_frequent_classes)
        ),
        assess(statistics, proba, costs),
        candidate.before,
        scores,
        by_class,
        _compare_frequencies(candidate, performance, evaluation),
    )


def _choose_update(proba: FloatArray, statistics: HeldOutStatistics) -> UpdateReport:
    """Choose an update at half the level of the verdict, which has a second test."""
    evaluation = statistics.evaluation
    # The calibrator of full recalibration does not affect the choice, but takes long to fit.
    update = UpdateCalibrator(
        NoCalibration(), alpha=VALIDATION_ALPHA, random_state=evaluation.random_state
    ).fit(proba, evaluation.y, groups=evaluation.group)
    report = update.report_.with_labels(evaluation.classes)
    return replace(report, performance=None) if report.choice == UpdateChoice.FULL else report


def _compare_frequencies(
    candidate: Candidate, now: Performance, evaluation: Evaluation
) -> FrequencyTest | None:
    """Compare class frequencies with those of training, by groups if both were counted."""
    training, before = candidate.training_count, candidate.before
    if training is None:
        return None
    seed = evaluation.random_state
    if before is not None and before.log_loss.n_rows < before.n_rows:
        old, new = ([each.n_rows for each in found.by_class] for found in (before, now))
        return check_frequencies(old, new, seed, "group")
    _, first = np.unique(evaluation.group, return_index=True)  # rows of a group are not independent
    count = np.bincount(evaluation.y[first], minlength=len(evaluation.classes))
    return check_frequencies(training, count.tolist(), seed)


def _compare_scores(before: Performance, now: Performance) -> tuple[ScoreChange, ...]:
    pairs = [
        ("log loss", before.log_loss, now.log_loss, False),
        ("Brier score", before.brier_score, now.brier_score, False),
        ("accuracy", before.accuracy, now.accuracy, True),
        ("confidence minus accuracy", before.overconfidence, now.overconfidence, True),
    ]
    changes = _welch([(old, new) for _, old, new, _ in pairs])
    return tuple(
        ScoreChange(name, old, new, change, is_percentage)
        for (name, old, new, is_percentage), change in zip(pairs, changes, strict=True)
    )


def _compare_classes(
    before: Performance, now: Performance, classes: Sequence[Any]
) -> tuple[ScoreChange, ...]:
    pairs = list(zip(before.by_class, now.by_class, strict=True))
    return tuple(
        ScoreChange(str(name), old, new, change, is_percentage=True)
        for name, (old, new), change in zip(classes, pairs, _welch(pairs), strict=True)
    )


def _welch(pairs: Sequence[tuple[Mean, Mean]]) -> list[Change]:
    """Compare means by Welch's t-test, with p-values that are adjusted for their number."""
    changes = []
    for old, new in pairs:
        variances = np.array([old.standard_error**2, new.standard_error**2])
        error = float(np.sqrt(variances.sum()))
        estimate = new.estimate - old.estimate
        too_few = min(old.n_rows, new.n_rows) < LEAST_COMPARED
        if too_few or not error > 0:  # or all values are equal
            changes.append(Change(estimate, np.nan, np.nan))
            continue
        freedom = variances.sum() ** 2 / np.sum(variances**2 / [old.n_rows - 1, new.n_rows - 1])
        changes.append(_change(estimate, error, float(freedom)))
    tested = [number for number, each in enumerate(changes) if not np.isnan(each.p_value)]
    if tested:
        adjusted = holm([changes[number].p_value for number in tested]).tolist()
        for number, p_value in zip(tested, adjusted, strict=True):
            each = changes[number]
            changes[number] = Change(
                each.estimate, each.low, each.high, each.level, p_value=p_value
            )
    return changes


def _paired(difference: FloatArray, group: IndexArray) -> Change:
    """Test whether the mean of paired differences is 0."""
    mean = grouped_mean(difference, np.ones(len(difference)), group)
    if not mean.standard_error > 0:
        return Change(mean.estimate, mean.estimate, mean.estimate, p_value=1.0)
    return _change(mean.estimate, mean.standard_error, mean.n_rows - 1)


def _change(estimate: float, error: float, freedom: float) -> Change:
    half = float(student.ppf((1 + LEVEL) / 2, freedom)) * error
    p_value = float(2.0 * student.sf(abs(estimate) / error, freedom))
    return Change(estimate, estimate - half, estimate + half, LEVEL, p_value=p_value)
