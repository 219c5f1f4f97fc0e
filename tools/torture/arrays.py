"""Cases of the functions and calibrators, which take arrays."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.optimize import isotonic_regression
from sklearn.base import clone

from calibrant import calibrators, metrics
from calibrant._core.validation import LARGEST_TOTAL, SMALLEST_TOTAL
from calibrant.combination import COUPLINGS, couple, decode, normalize
from calibrant.near_isotonic import near_isotonic_path
from tools.torture.inputs import (
    Untouched,
    draw_class_index,
    draw_labels,
    draw_n_classes,
    draw_proba,
    draw_scores,
    draw_weight,
    in_some_form,
    labels_in_some_form,
)
from tools.torture.invariants import check_close, check_distributions, check_probabilities

# Metrics, and whether whole weights are repetitions of rows: where not, rows are counted.
METRICS: dict[str, tuple[Any, bool]] = {
    "log_loss": (metrics.log_loss, True),
    "brier_score": (metrics.brier_score, True),
    "published_log_loss": (metrics.published_log_loss, True),
    "published_mse": (metrics.published_mse, True),
    "smooth_calibration_error": (metrics.smooth_calibration_error, True),
    "expected_calibration_error": (partial(metrics.expected_calibration_error, n_bins=3), True),
    "classwise error": (
        partial(metrics.expected_calibration_error, n_bins=2, kind="classwise"),
        True,
    ),
    "squared_calibration_error": (partial(metrics.squared_calibration_error, n_bins=1), False),
    "kernel_calibration_error": (metrics.kernel_calibration_error, False),
    "decompose": (lambda *args, **options: metrics.decompose(*args, **options).refinement, False),
    "reliability_curve": (
        lambda *args, **options: metrics.reliability_curve(*args, n_bins=2, **options).observed,
        False,
    ),
    "measure_performance": (
        lambda *args, **options: metrics.measure_performance(*args, **options).log_loss.estimate,
        False,
    ),
    "calibration_test": (
        lambda *args, **options: (
            metrics.calibration_test(*args, n_resamples=19, random_state=0, **options).statistic
        ),
        False,
    ),
    "bootstrap_interval": (
        lambda *args, **options: (
            metrics.bootstrap_interval(
                metrics.brier_score, *args, n_resamples=100, random_state=0, **options
            ).high
        ),
        False,
    ),
}
# Their draws depend on the order of the rows and of the classes.
SEEDED = ("bootstrap_interval",)
BINARY = [
    calibrators.ENIR(),
    calibrators.ENIR(floored=True),
    calibrators.SigmoidCalibrator(),
    calibrators.BetaCalibrator(),
    calibrators.IsotonicCalibrator(),
    calibrators.IsotonicCalibrator(centered=True),
    calibrators.VennAbersCalibrator(),
    calibrators.HistogramCalibrator(n_bins=3),
    calibrators.ConstantCalibrator(),
]
MULTICLASS = [
    calibrators.ClassFrequencies(),
    calibrators.NoCalibration(),
    calibrators.TemperatureScaling(),
    calibrators.VectorScaling(),
    calibrators.StructuredMatrixScaling(),
    calibrators.DirichletCalibrator(),
    calibrators.OneVsRestCalibrator(),
    calibrators.OneVsRestCalibrator(calibrators.BetaCalibrator()),
    calibrators.OneVsRestCalibrator(calibrators.IsotonicCalibrator(), log_scores=True),
    calibrators.PairwiseCalibrator(),
    calibrators.PairwiseCalibrator(calibrators.SigmoidCalibrator(), coupling="pkpd"),
]
# They hold out rows or count them, so that a weight of 2 is not the row given twice. They also
# take long.
HOLD_OUT = [calibrators.AutoCalibrator(), calibrators.UpdateCalibrator()]


def torture_metric(rng: Generator) -> str:
    """Check a metric."""
    name = str(rng.choice(list(METRICS)))
    metric, repeats = METRICS[name]
    n_classes = draw_n_classes(rng, 5 if name == "decompose" else 50)
    n_rows = n_classes + int(rng.integers(2, 20 if name == "decompose" else 60))
    y, proba = draw_class_index(rng, n_rows, n_classes), draw_proba(rng, n_rows, n_classes)
    weight = draw_weight(rng, n_rows)
    labels = draw_labels(rng, n_classes)
    given = labels_in_some_form(rng, labels[y])
    passed = in_some_form(rng, proba)
    untouched = Untouched(given, passed, weight)
    value = metric(given, passed, labels=labels, sample_weight=weight)
    untouched.check()
    assert np.isfinite(value).all(), f"{name} is not finite"
    call = partial(metric, labels=np.arange(n_classes))
    check_close(call(y, proba, sample_weight=weight), value, f"{name}: form of the input")
    if name not in SEEDED:
        order, columns = rng.permutation(n_rows), rng.permutation(n_classes)
        moved = None if weight is None else weight[order]
        permuted = call(y[order], proba[order], sample_weight=moved)
        check_close(permuted, value, f"{name}: row order")
        if name != "calibration_test" and not _has_tied_tops(proba):
            renamed = call(np.argsort(columns)[y], proba[:, columns], sample_weight=weight)
            check_close(renamed, value, f"{name}: class names", 1e-5)
    if weight is not None:
        rescaled = call(y, proba, sample_weight=weight * 10.0 ** rng.uniform(-80, 80))
        check_close(rescaled, value, f"{name}: scale of weights", 1e-6)
    if weight is not None and repeats and (weight == weight.round()).all() and weight.max() < 10:
        times = weight.astype(int)
        check_close(
            call(np.repeat(y, times), np.repeat(proba, times, axis=0)), value, f"{name}: repetition"
        )
    return name


def _has_tied_tops(proba: Any) -> bool:
    """Return whether a row has several most probable classes, of which the first counts."""
    return bool(((proba == proba.max(axis=1, keepdims=True)).sum(axis=1) > 1).any())


def torture_combination(rng: Generator) -> str:
    """Check a function that combines the probabilities of binary problems."""
    n_classes, n_rows = draw_n_classes(rng), int(rng.integers(0, 12))
    kind = int(rng.integers(3))
    if kind == 0:
        values = rng.uniform(size=(n_rows, n_classes)) ** rng.choice([1.0, 100.0])
        values[rng.uniform(size=values.shape) < 0.2] = 0.0
        passed = in_some_form(rng, values) if n_rows else values
        untouched = Untouched(passed)
        check_distributions(found := normalize(passed), (n_rows, n_classes))
        untouched.check()
        columns = rng.permutation(n_classes)
        check_close(normalize(values[:, columns]), found[:, columns], "class order", 1e-12)
        return "normalize"
    if kind == 1:
        upper = draw_scores(rng, n_rows * n_classes * n_classes)
        with np.errstate(over="ignore"):
            upper = np.where(np.abs(upper) > 1, 1.0 / (1.0 + np.exp(-upper)), np.abs(upper))
        upper = upper.reshape(n_rows, n_classes, n_classes)
        R = np.triu(upper, 1) + np.tril(1.0 - upper.transpose(0, 2, 1), -1)
        method = str(rng.choice(sorted(COUPLINGS)))
        untouched = Untouched(R)
        check_distributions(found := couple(R, method), (n_rows, n_classes))
        untouched.check()
        if n_rows:
            rows = rng.permutation(n_rows)
            check_close(couple(np.asfortranarray(R[rows]), method), found[rows], "row order", 1e-9)
        return f"couple {method}"
    n_classes = min(n_classes, 12)
    n_problems = int(rng.integers(n_classes, 3 * n_classes))
    code = rng.integers(-1, 2, size=(n_classes, n_problems))
    code[:, 0] = 1 - 2 * (np.arange(n_classes) % 2)  # every class is in a problem
    code = code[:, (code == 1).any(axis=0) & (code == -1).any(axis=0)]
    proba = draw_proba(rng, n_rows * code.shape[1] + 1, 2)[1:, 0].reshape(n_rows, code.shape[1])
    passed = in_some_form(rng, proba) if n_rows else proba
    untouched = Untouched(passed, code)
    check_distributions(decode(passed, code), (n_rows, n_classes))
    untouched.check()
    return "decode"


def torture_binary_calibrator(rng: Generator) -> str:
    """Check a calibrator of one score."""
    calibrator = clone(BINARY[rng.integers(len(BINARY))])
    name = repr(calibrator)
    n_rows = int(rng.integers(2, 120))
    score, weight = draw_scores(rng, n_rows), draw_weight(rng, n_rows)
    if isinstance(calibrator, calibrators.BetaCalibrator):
        score = np.clip(np.abs(score), 0.0, 1.0)
    target = (rng.uniform(size=n_rows) < rng.choice([0.02, 0.5, 0.98])).astype(float)
    new = np.concatenate([score, draw_scores(rng, 5) if "Beta" not in name else [0.0, 0.5, 1.0]])
    passed = in_some_form(rng, score), in_some_form(rng, target)
    untouched = Untouched(*passed, weight)
    found = calibrator.fit(*passed, sample_weight=weight).predict(new)
    untouched.check()
    check_probabilities(found, len(new))
    order = rng.permutation(n_rows)
    moved = None if weight is None else weight[order]
    again = clone(calibrator).fit(score[order], target[order], sample_weight=moved).predict(new)
    if "centered" in name and _differ_by_rounding(score):
        return "binary IsotonicCalibrator of rounded scores"  # the mean of scores is rounded too
    check_close(again[:n_rows], found[:n_rows], f"{name}: row order", 1e-6)
    if weight is not None and (weight == weight.round()).all() and weight.max() < 10:
        times = weight.astype(int)
        repeated = clone(calibrator).fit(np.repeat(score, times), np.repeat(target, times))
        # Separable scores have no finite solution, and the fit stops where the gradient is small.
        check_close(repeated.predict(score), found[:n_rows], f"{name}: repetition", 1e-5)
    return f"binary {name.split('(')[0]}"


def _differ_by_rounding(score: Any) -> bool:
    return bool(np.ptp(score) <= 16 * np.spacing(np.abs(score).max()))


def torture_multiclass_calibrator(rng: Generator) -> str:
    """Check a calibrator of all classes."""
    return _torture_multiclass(rng, MULTICLASS[rng.integers(len(MULTICLASS))], repeats=True)


def torture_choosing_calibrator(rng: Generator) -> str:
    """Check a calibrator that chooses among others on held-out rows."""
    return _torture_multiclass(rng, HOLD_OUT[rng.integers(len(HOLD_OUT))], repeats=False)


def _torture_multiclass(rng: Generator, calibrator: Any, *, repeats: bool) -> str:
    name = repr(calibrator).split("(")[0]
    n_classes = draw_n_classes(rng, 5 if rng.uniform() < 0.9 else 12)
    n_rows = n_classes + int(rng.integers(2, 50))
    score, y = draw_proba(rng, n_rows, n_classes), draw_class_index(rng, n_rows, n_classes)
    weight = draw_weight(rng, n_rows)
    new = np.concatenate([score, draw_proba(rng, 5, n_classes), np.eye(n_classes)])
    labels = draw_labels(rng, n_classes)
    passed, given = in_some_form(rng, score), labels_in_some_form(rng, labels[y])
    untouched = Untouched(passed, given, weight)
    found = clone(calibrator).fit(passed, given, sample_weight=weight).predict_proba(new)
    untouched.check()
    check_distributions(found, new.shape)
    plain = clone(calibrator).fit(score, y, sample_weight=weight)
    check_close(plain.predict_proba(new), found, f"{name}: class names", 1e-9)
    if not repeats:
        return f"multi-class {name}"
    order = rng.permutation(n_rows)
    moved = None if weight is None else weight[order]
    again = clone(calibrator).fit(score[order], y[order], sample_weight=moved)
    # New rows may depend on directions in which the loss is flat.
    check_close(again.predict_proba(score), found[:n_rows], f"{name}: row order", 1e-5)
    if weight is not None and (weight == weight.round()).all() and weight.max() < 10:
        times = weight.astype(int)
        repeated = clone(calibrator)
        repeated = repeated.fit(np.repeat(score, times, axis=0), np.repeat(y, times))
        if len(repeated.classes_) == n_classes:
            again = repeated.predict_proba(score)
            check_close(again, found[:n_rows], f"{name}: repetition", 1e-5)
    return f"multi-class {name}"


def torture_weights(rng: Generator) -> str:
    """Check that weights of any scale give probabilities, or one clear error."""
    calibrator = clone((BINARY + MULTICLASS)[rng.integers(len(BINARY) + len(MULTICLASS))])
    n_classes, n_rows = draw_n_classes(rng, 5), 30
    y, score = draw_class_index(rng, n_rows, n_classes), draw_proba(rng, n_rows, n_classes)
    weight = rng.uniform(0.5, 2.0, size=n_rows) * 10.0 ** rng.uniform(-120, 120)
    possible = SMALLEST_TOTAL <= weight.sum() <= LARGEST_TOTAL
    try:
        if hasattr(calibrator, "predict_proba"):
            proba = calibrator.fit(score, y, sample_weight=weight).predict_proba(score)
            check_distributions(proba, score.shape)
        else:
            target = (y == 0).astype(float)
            proba = calibrator.fit(score[:, 0], target, weight).predict(score[:, 0])
            check_probabilities(proba, n_rows)
    except ValueError as error:
        if possible or "sample_weight must" not in str(error):
            raise
        return "weights refused"
    assert possible, f"a total weight of {weight.sum():g} was accepted"
    return "weights accepted"


def torture_path(rng: Generator) -> str:
    """Check the path of near-isotonic regression."""
    n_points = int(rng.integers(1, 80))
    y = draw_scores(rng, n_points)
    y = y / max(np.abs(y).max(), 1e-90)
    weight = rng.uniform(0.5, 2.0, size=n_points) * 10.0 ** rng.uniform(-40, 40)
    untouched = Untouched(y, weight)
    path = near_isotonic_path(y, weight)
    untouched.check()
    np.testing.assert_array_equal(path.solution(0.0), y)
    check_close(path.solution(np.inf), isotonic_regression(y, weights=weight).x, "isotonic", 1e-9)
    middle = path.solution(rng.choice(path.lambdas))
    assert np.isfinite(middle).all()
    check_close(middle @ weight / weight.sum(), y @ weight / weight.sum(), "mean", 1e-9)
    return "near-isotonic path"
