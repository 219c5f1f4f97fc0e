from functools import partial

import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax
from sklearn import metrics as sklearn_metrics

from calibrant.metrics import (
    bootstrap_difference,
    bootstrap_interval,
    brier_score,
    expected_calibration_error,
    log_loss,
    squared_calibration_error,
)


@pytest.fixture
def simulate(draw_labels):
    """Rows of an overconfident model, and the expected loss of such rows."""

    def draw(rng, n_rows):
        logit = rng.normal(scale=1.5, size=(n_rows, 3))
        return draw_labels(rng, softmax(logit, axis=1)), softmax(1.5 * logit, axis=1)

    return draw


@pytest.mark.parametrize("metric", [log_loss, brier_score])
def test_intervals_cover_the_true_loss_as_often_as_they_say(metric, simulate):
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
    # Two points of coverage are lost to the skewness of 80 losses and to the quantiles of 400
    # resamples; the rest is the binomial error of this count.
    low, high = stats.binom.interval(0.999, n_repeats, level)
    assert low - 0.02 * n_repeats <= covered <= high


def test_intervals_of_the_debiased_error_cover_it_where_it_is_0(draw_labels):
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
def test_means_of_row_losses_take_no_other_way_to_the_same_interval(metric, predictions):
    y, proba, weight = predictions
    groups = np.arange(len(y)) // 3
    options = {"groups": groups, "sample_weight": weight, "n_resamples": 200, "random_state": 5}
    fast = bootstrap_interval(metric, y, proba, **options)
    general = bootstrap_interval(partial(metric), y, proba, **options)
    for name in ("estimate", "low", "high"):
        assert getattr(fast, name) == pytest.approx(getattr(general, name))
    assert fast.estimate == pytest.approx(metric(y, proba, sample_weight=weight))


def test_intervals_are_those_of_scipy(simulate):
    y, proba = simulate(np.random.default_rng(1), 200)
    loss = -np.log(proba[np.arange(200), y])
    expected = stats.bootstrap(
        (loss,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(0)
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


def test_rows_of_a_group_are_drawn_together(simulate):
    # Every row ten times over is no more evidence than once, if it is said.
    y, proba = simulate(np.random.default_rng(2), 60)
    once = bootstrap_interval(log_loss, y, proba, random_state=0)
    tenfold = (np.repeat(y, 10), np.repeat(proba, 10, axis=0))
    named = np.repeat([f"row {i:02d}" for i in range(60)], 10)
    grouped = bootstrap_interval(log_loss, *tenfold, groups=named, random_state=0)
    assert grouped.low == pytest.approx(once.low)
    assert grouped.high == pytest.approx(once.high)
    blind = bootstrap_interval(log_loss, *tenfold, random_state=0)
    assert blind.high - blind.low < 0.5 * (once.high - once.low)


def test_rows_of_weight_0_are_not_drawn(simulate):
    y, proba = simulate(np.random.default_rng(2), 60)
    weight = np.where(np.arange(60) % 2, 1.0, 0.0)
    found = bootstrap_interval(log_loss, y, proba, sample_weight=weight, random_state=0)
    alone = bootstrap_interval(log_loss, y[1::2], proba[1::2], random_state=0)
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high))


def test_takes_metrics_of_others(predictions):
    y, proba, _ = predictions
    area = partial(sklearn_metrics.roc_auc_score, multi_class="ovr", average="macro")
    found = bootstrap_interval(area, y, proba, n_resamples=100, random_state=0)
    assert found.low < found.estimate < found.high
    assert found.estimate == pytest.approx(area(y, proba))
    for kind in ("top-label", "classwise"):
        error = partial(expected_calibration_error, kind=kind)
        assert bootstrap_interval(error, y, proba, n_resamples=100, random_state=0).low > 0


def test_losses_that_are_all_the_same_have_an_interval_of_no_width():
    found = bootstrap_interval(log_loss, [0, 1] * 10, [[0.5, 0.5]] * 20, random_state=0)
    assert found.low == pytest.approx(np.log(2)) == found.high


def test_random_state_decides_everything(predictions):
    y, proba, _ = predictions
    found = [bootstrap_interval(log_loss, y, proba, random_state=seed) for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 95}, r"level must lie between 0 and 1\. Got 95"),
        ({"n_resamples": 10}, r"n_resamples must be a whole number, at least 100\. Got 10"),
        ({"groups": [1, 2]}, "inconsistent numbers of samples"),
        ({"groups": [1] * 200}, r"two groups of rows or more.* Got 1 of positive weight"),
    ],
)
def test_bad_input_gets_one_clear_error(options, message, predictions):
    y, proba, _ = predictions
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(log_loss, y, proba, **options)
    with pytest.raises(ValueError, match=message):
        bootstrap_difference(log_loss, y, proba, proba, **options)
