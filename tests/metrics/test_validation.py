"""Labels, weights and invalid input, for all metrics."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calibrant.metrics import (
    brier_score,
    calibration_test,
    decompose,
    expected_calibration_error,
    kernel_calibration_error,
    log_loss,
    published_log_loss,
    published_mse,
    reliability_curve,
    smooth_calibration_error,
    squared_calibration_error,
)


def refinement(*arguments, **options):
    return decompose(*arguments, **options).refinement


def p_value(*arguments, **options):
    return calibration_test(*arguments, n_resamples=19, random_state=0, **options).p_value


PUBLISHED = [published_log_loss, published_mse]
# Metrics for which a weight counts copies of a row.
MEANS = [log_loss, brier_score, *PUBLISHED, expected_calibration_error, smooth_calibration_error]
# Metrics for which a row is one observation, whatever its weight.
DEBIASED = [partial(squared_calibration_error, n_bins=1), kernel_calibration_error]
METRICS = [*MEANS, *DEBIASED, refinement, p_value]


@pytest.mark.parametrize("metric", MEANS)
def test_integer_weights_equal_repeated_rows(metric, predictions):
    y, proba, _ = predictions
    weight = np.random.default_rng(1).integers(0, 4, size=len(y))
    repeated = metric(np.repeat(y, weight), np.repeat(proba, weight, axis=0))
    assert metric(y, proba, sample_weight=weight) == pytest.approx(repeated)


@pytest.mark.parametrize("metric", METRICS)
def test_rows_of_weight_0_are_ignored_and_the_scale_of_weights_does_not_matter(metric, predictions):
    y, proba, weight = predictions
    weight[::3] = 0
    expected = metric(y[weight > 0], proba[weight > 0], sample_weight=weight[weight > 0])
    assert metric(y, proba, sample_weight=weight) == pytest.approx(expected)
    assert metric(y, proba, sample_weight=weight / 1000) == pytest.approx(
        metric(y, proba, sample_weight=weight)
    )


@pytest.mark.parametrize("metric", [*MEANS, *DEBIASED, refinement])
def test_the_order_of_rows_does_not_matter(metric, predictions):
    y, proba, weight = predictions
    order = np.random.default_rng(1).permutation(len(y))
    assert metric(y[order], proba[order], sample_weight=weight[order]) == pytest.approx(
        metric(y, proba, sample_weight=weight)
    )


@pytest.mark.parametrize("metric", METRICS)
def test_labels_can_name_absent_classes(metric):
    y, proba = ["a", "c"], [[0.7, 0.1, 0.2], [0.3, 0.1, 0.6]]
    assert np.isfinite(metric(y, proba, labels=["a", "b", "c"]))
    with pytest.raises(ValueError, match=r"have 2 columns, one for each label, got 3"):
        metric(y, proba)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("y", [["a", None], [0.0, np.nan]])
def test_missing_labels_raise_a_clear_error(metric, y):
    with pytest.raises(ValueError, match=r"Input y_true contains NaN or None in 1 of 2 rows"):
        metric(y, [[0.5, 0.5]] * 2)


@pytest.mark.parametrize("metric", METRICS)
def test_one_column_contains_the_second_of_two_classes(metric):
    y, second = [0, 1, 1, 0], np.array([0.2, 0.9, 0.4, 0.3])
    assert metric(y, second) == metric(y, np.column_stack([1 - second, second]))
    assert metric(y, second[:, None]) == metric(y, second)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1], [[0.5, 0.6], [0.5, 0.5]]), {}, "sum to 1.* differs from 1 by 0.1"),
        (([0, 1], [[1.2, -0.2], [0.5, 0.5]]), {}, "smallest value of -0.2"),
        (([0, 1], [[np.nan, 0.5], [0.5, 0.5]]), {}, "NaN"),
        (([0, 2], [[0.5, 0.5]] * 2), {"labels": [0, 1]}, r"given labels \[0, 1\], got \[2\]"),
        (([0, 1], [[0.5, 0.5]] * 2), {"sample_weight": [1, -1]}, "must not be negative.*[Gg]ot -1"),
        (([0, 1], [[0.5, 0.5]] * 3), {}, "inconsistent numbers of samples"),
    ],
)
def test_invalid_input_raises_a_clear_error(metric, arguments, options, message):
    if metric in PUBLISHED and ("sum to 1" in message or "smallest value" in message):
        assert np.isfinite(metric(*arguments, **options))
        return
    with pytest.raises(ValueError, match=message):
        metric(*arguments, **options)


@st.composite
def rows(draw):
    """Labels and probabilities, including zeros, ones and equal rows."""
    n_rows, n_classes = draw(st.integers(2, 30)), draw(st.integers(2, 5))
    score = draw(arrays(np.float64, (n_rows, n_classes), elements=st.floats(0, 1, width=16)))
    score[score.sum(axis=1) == 0] = 1.0
    y = draw(arrays(np.int64, n_rows, elements=st.integers(0, n_classes - 1)))
    return y, score / score.sum(axis=1, keepdims=True), np.arange(n_classes)


@settings(max_examples=60)
@given(rows())
def test_metrics_stay_within_their_bounds(rows):
    y, proba, labels = rows
    for kind in ("top-label", "classwise"):
        for error in (expected_calibration_error, smooth_calibration_error):
            assert 0 <= error(y, proba, kind=kind, labels=labels) <= 1 + 1e-9
        squared = squared_calibration_error(y, proba, kind=kind, n_bins=1, labels=labels)
        assert -1 <= squared <= 1 + 1e-9
    assert abs(kernel_calibration_error(y, proba, labels=labels)) <= 2 + 1e-9
    assert 0 < p_value(y, proba, labels=labels) <= 1
    for score, metric in (("log-loss", log_loss), ("brier", brier_score)):
        parts = decompose(y, proba, score=score, labels=labels)
        assert parts.total == pytest.approx(metric(y, proba, labels=labels))
        assert parts.calibration + parts.refinement == pytest.approx(parts.total)
        assert parts.refinement >= 0
    curve = reliability_curve(y, proba, labels=labels)
    assert (curve.low >= 0).all()
    assert (curve.low <= curve.observed).all()
    assert (curve.observed <= curve.high).all()
    assert (curve.high <= 1).all()
    assert curve.count.sum() == curve.histogram.sum() == len(y)


def test_labels_in_another_order_are_refused():
    with pytest.raises(ValueError, match=r"labels must be sorted and distinct, got \[1, 0\]"):
        log_loss([0, 1], [[0.9, 0.1], [0.2, 0.8]], labels=[1, 0])


def test_half_precision_is_accepted():
    proba = np.random.default_rng(0).dirichlet(np.ones(50), size=20)
    half = brier_score(np.arange(20), proba.astype(np.float16), labels=np.arange(50))
    assert half == pytest.approx(brier_score(np.arange(20), proba, labels=np.arange(50)), rel=1e-3)


def test_huge_labels_are_told_apart():
    labels, proba = [5, 2**63, 2**63 + 1], [[0.2, 0.3, 0.5]]
    for label, expected in zip(labels, proba[0], strict=True):
        assert log_loss([label], proba, labels=labels) == pytest.approx(-np.log(expected))
