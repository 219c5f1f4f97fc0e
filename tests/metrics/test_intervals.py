from functools import partial

import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax
from sklearn import metrics as sklearn_metrics

from calibrant.metrics import (
    Interval,
    bootstrap_difference,
    bootstrap_interval,
    brier_score,
    expected_calibration_error,
    log_loss,
    squared_calibration_error,
)


@pytest.fixture
def simulate(draw_labels):
    """A function that draws labels and the predictions of an overconfident model."""

    def draw(rng, n_rows):
        logit = rng.normal(scale=1.5, size=(n_rows, 3))
        return draw_labels(rng, softmax(logit, axis=1)), softmax(1.5 * logit, axis=1)

    return draw


@pytest.mark.slow
@pytest.mark.parametrize("metric", [log_loss, brier_score])
def test_intervals_keep_their_level(metric, simulate):
    rng = np.random.default_rng(0)
    truth = metric(*simulate(rng, 400_000))
    n_repeats, level = 400, 0.9
    covered = 0
    for seed in range(n_repeats):
        found = bootstrap_interval(
            metric,
            *simulate(rng, 80),
            level=level,
            n_resamples=400,
            random_state=seed,
            labels=[0, 1, 2],
        )
        covered += found.low <= truth <= found.high
    # The skewness of 80 losses and the quantiles of 400 resamples cost two points of coverage.
    # The rest is the binomial error of this count.
    low, high = stats.binom.interval(0.999, n_repeats, level)
    assert low - 0.02 * n_repeats <= covered <= high


@pytest.mark.slow
def test_intervals_of_the_debiased_error_cover_a_true_error_of_0(draw_labels):
    rng = np.random.default_rng(0)
    covered = 0
    for seed in range(20):
        proba = rng.dirichlet(np.ones(3), size=100)
        y = draw_labels(rng, proba)
        found = bootstrap_interval(
            squared_calibration_error,
            y,
            proba,
            n_resamples=100,
            random_state=seed,
            labels=[0, 1, 2],
        )
        covered += found.low <= 0 <= found.high
    assert covered >= 17


@pytest.mark.parametrize("metric", [log_loss, brier_score])
def test_shortcut_for_means_of_row_losses_gives_the_same_interval(metric, predictions):
    y, proba, weight = predictions
    groups = np.arange(len(y)) // 3
    options = {"groups": groups, "sample_weight": weight, "n_resamples": 200, "random_state": 5}
    shortcut = bootstrap_interval(metric, y, proba, **options)
    general = bootstrap_interval(partial(metric), y, proba, **options)
    for name in ("estimate", "low", "high"):
        assert getattr(shortcut, name) == pytest.approx(getattr(general, name))
    assert shortcut.estimate == pytest.approx(metric(y, proba, sample_weight=weight))


def test_intervals_agree_with_scipy(simulate):
    y, proba = simulate(np.random.default_rng(1), 200)
    loss = -np.log(proba[np.arange(200), y])
    # The keyword is rng from SciPy 1.15 on, which still takes random_state.
    expected = stats.bootstrap(
        (loss,), np.mean, n_resamples=20_000, method="BCa", random_state=np.random.default_rng(0)
    ).confidence_interval
    found = bootstrap_interval(log_loss, y, proba, n_resamples=20_000, random_state=0)
    width = expected.high - expected.low
    assert found.low == pytest.approx(expected.low, abs=0.02 * width)
    assert found.high == pytest.approx(expected.high, abs=0.02 * width)


def test_difference_is_paired(simulate):
    y, proba = simulate(np.random.default_rng(1), 200)
    other = softmax(0.95 * np.log(proba), axis=1)
    found = bootstrap_difference(log_loss, y, proba, other, random_state=0)
    assert found.estimate == pytest.approx(log_loss(y, proba) - log_loss(y, other))
    assert found.low < found.estimate < found.high
    alone = bootstrap_interval(log_loss, y, proba, random_state=0)
    assert found.high - found.low < 0.2 * (alone.high - alone.low)
    swapped = bootstrap_difference(log_loss, y, other, proba, random_state=0)
    assert swapped.estimate == -found.estimate
    same = bootstrap_difference(log_loss, y, proba, proba, random_state=0)
    assert (same.estimate, same.low, same.high) == (0, 0, 0)


def test_rows_of_a_group_are_resampled_together(simulate):
    # Ten copies of each row are no more evidence than one, if groups declare them as copies.
    y, proba = simulate(np.random.default_rng(2), 60)
    once = bootstrap_interval(log_loss, y, proba, random_state=0)
    copies = (np.repeat(y, 10), np.repeat(proba, 10, axis=0))
    named = np.repeat([f"row {i:02d}" for i in range(60)], 10)
    grouped = bootstrap_interval(log_loss, *copies, groups=named, random_state=0)
    assert grouped.low == pytest.approx(once.low)
    assert grouped.high == pytest.approx(once.high)
    ungrouped = bootstrap_interval(log_loss, *copies, random_state=0)
    assert ungrouped.high - ungrouped.low < 0.5 * (once.high - once.low)


def test_rows_of_weight_0_are_not_resampled(simulate):
    y, proba = simulate(np.random.default_rng(2), 60)
    weight = np.where(np.arange(60) % 2, 1.0, 0.0)
    found = bootstrap_interval(log_loss, y, proba, sample_weight=weight, random_state=0)
    alone = bootstrap_interval(log_loss, y[1::2], proba[1::2], random_state=0)
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high))


def test_metrics_of_other_packages_are_accepted(predictions):
    y, proba, _ = predictions
    area = partial(sklearn_metrics.roc_auc_score, multi_class="ovr", average="macro")
    found = bootstrap_interval(area, y, proba, n_resamples=100, random_state=0)
    assert found.low < found.estimate < found.high
    assert found.estimate == pytest.approx(area(y, proba))
    for kind in ("top-label", "classwise"):
        error = partial(expected_calibration_error, kind=kind)
        assert bootstrap_interval(error, y, proba, n_resamples=100, random_state=0).low > 0


def test_interval_of_constant_losses_has_width_0():
    found = bootstrap_interval(log_loss, [0, 1] * 10, [[0.5, 0.5]] * 20, random_state=0)
    assert found.low == pytest.approx(np.log(2)) == found.high


def test_random_state_determines_the_interval(predictions):
    y, proba, _ = predictions
    found = [bootstrap_interval(log_loss, y, proba, random_state=seed) for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 95}, r"level must lie strictly between 0 and 1, got 95"),
        ({"n_resamples": 10}, r"n_resamples must be an integer of at least 100, got 10"),
        ({"groups": [1, 2]}, "inconsistent numbers of samples"),
        ({"groups": [1] * 200}, r"At least two groups must have positive weight, got 1"),
    ],
)
def test_invalid_parameters_raise_a_clear_error(options, message, predictions):
    y, proba, _ = predictions
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(log_loss, y, proba, **options)
    with pytest.raises(ValueError, match=message):
        bootstrap_difference(log_loss, y, proba, proba, **options)


def test_interval_is_a_record(predictions):
    y, proba, _ = predictions
    interval = bootstrap_interval(log_loss, y, proba, level=0.9, random_state=0)
    assert isinstance(interval, Interval)
    assert list(interval.to_dict()) == ["estimate", "low", "high", "level"]
    assert interval.level == 0.9
    assert "90% CI" in str(interval)
