import json

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from calibrant.metrics import reliability_curve


def test_bins_preserve_weighted_sums(predictions):
    y, proba, weight = predictions
    curve = reliability_curve(y, proba, of="c", n_bins=5, sample_weight=weight)
    assert len(curve.predicted) == 5
    assert (np.diff(curve.predicted) > 0).all()
    assert curve.weight.sum() == pytest.approx(weight.sum())
    assert curve.count.sum() == len(y)
    assert curve.predicted @ curve.weight == pytest.approx(proba[:, 2] @ weight)
    assert curve.observed @ curve.weight == pytest.approx((y == "c") @ weight)


def test_equal_probabilities_share_a_bin():
    proba = np.column_stack([np.repeat([0.2, 0.8], 50), np.repeat([0.8, 0.2], 50)])
    curve = reliability_curve(np.tile([0, 1], 50), proba, of=0, n_bins=20)
    np.testing.assert_allclose(curve.predicted, [0.2, 0.8])
    np.testing.assert_array_equal(curve.count, [50, 50])


@pytest.mark.parametrize(("n_rows", "n_bins"), [(5, 1), (39, 1), (60, 3), (1000, 10)])
def test_default_number_of_bins_grows_with_the_rows(n_rows, n_bins):
    second = np.linspace(0.1, 0.9, n_rows)
    curve = reliability_curve(np.arange(n_rows) % 2, second, of=1)
    assert len(curve.predicted) == n_bins


@pytest.mark.parametrize(("n_true", "n_rows"), [(0, 7), (3, 12), (20, 20), (41, 300)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_limits_are_those_of_wilsons_interval(n_true, n_rows, level):
    y = np.repeat([1, 0], [n_true, n_rows - n_true])
    curve = reliability_curve(y, np.full(n_rows, 0.3), of=1, level=level, labels=[0, 1])
    assert curve.level == level
    expected = binomtest(n_true, n_rows).proportion_ci(level, method="wilson")
    assert curve.low[0] == pytest.approx(expected.low, abs=1e-12)
    assert curve.high[0] == pytest.approx(expected.high, abs=1e-12)
    assert 0 <= curve.low[0] <= curve.observed[0] <= curve.high[0] <= 1


def test_limits_keep_their_level_with_few_rows():
    # Exact, by summation over all outcomes of 15 rows.
    outcomes = np.arange(16)
    curves = [
        reliability_curve(np.repeat([1, 0], [k, 15 - k]), np.full(15, 0.5), of=1, labels=[0, 1])
        for k in outcomes
    ]
    frequencies = np.linspace(0.02, 0.98, 97)
    covered = [
        sum(
            binom.pmf(k, 15, frequency)
            for k, curve in zip(outcomes, curves, strict=True)
            if curve.low[0] <= frequency <= curve.high[0]
        )
        for frequency in frequencies
    ]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.01)
    assert min(covered) > 0.83


def test_unequal_weights_widen_the_limits_and_their_scale_does_not_matter():
    y, second = np.tile([0, 1], 30), np.full(60, 0.5)
    even = reliability_curve(y, second, of=1)
    same = reliability_curve(y, second, of=1, sample_weight=np.full(60, 0.01))
    # Two rows in three have almost no weight, which leaves 20 rows.
    weight = np.where(np.arange(60) % 6 < 2, 1.0, 1e-9)
    uneven = reliability_curve(y, second, of=1, sample_weight=weight)
    twenty = reliability_curve(y[:20], second[:20], of=1)
    assert same.low == pytest.approx(even.low)
    assert uneven.low == pytest.approx(twenty.low, abs=1e-6)
    assert uneven.low < even.low


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"of": 7}, r"one of the labels \[0, 1\] or a pair of them, got 7"),
        ({"n_bins": 0}, r"n_bins must be an integer of at least 1, got 0"),
        ({"level": 95}, r"level must lie strictly between 0 and 1, got 95"),
    ],
)
def test_invalid_parameters_raise_a_clear_error(options, message):
    with pytest.raises(ValueError, match=message):
        reliability_curve([0, 1], [[0.5, 0.5]] * 2, **options)


def test_curve_is_a_record(predictions):
    y, proba, _ = predictions
    curve = reliability_curve(y, proba, n_bins=5)
    values = json.loads(json.dumps(curve.to_dict()))
    assert values["observed"] == curve.observed.tolist()
    assert values["count"] == curve.count.tolist()
    header, *bins = str(curve).splitlines()
    assert header.split() == ["predicted", "observed", "confidence", "limits", "rows"]
    for line, predicted, count in zip(bins, curve.predicted, curve.count, strict=True):
        assert (line.split()[0], line.split()[-1]) == (f"{predicted:.3f}", str(count))
    assert str(curve) in curve._repr_html_()
