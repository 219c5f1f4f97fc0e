import json
from functools import partial

import numpy as np
import pytest

from calibrant._core.binning import default_n_bins
from calibrant._core.records import Interval
from calibrant.metrics import bootstrap_interval, calibration_test, squared_calibration_error
from calibrant.report import Miscalibration, Tendency, Verdict


@pytest.mark.parametrize(
    ("p_value", "high", "verdict"),
    [
        (0.01, 0.2, Verdict.MISCALIBRATED),
        (0.01, 0.04, Verdict.NEARLY_CALIBRATED),
        (0.3, 0.2, Verdict.UNCLEAR),
        (0.3, 0.04, Verdict.CALIBRATED),
        (0.3, np.nan, Verdict.UNCLEAR),
        (0.01, np.nan, Verdict.MISCALIBRATED),
    ],
)
def test_the_verdict_depends_on_the_test_and_on_the_interval(p_value, high, verdict):
    found = Miscalibration(0.71, 0.7, Interval(0.02, 0.0, high), p_value)
    assert found.verdict is verdict
    assert json.loads(json.dumps(found.to_dict()))["verdict"] == verdict


def test_probabilities_are_not_miscalibrated_by_an_error_of_0():
    found = Miscalibration(0.71, 0.7, Interval(0.0, 0.0, 0.08), p_value=0.01)
    assert found.verdict is Verdict.UNCLEAR


@pytest.mark.parametrize(
    ("confidence", "p_value", "tendency"),
    [
        (0.8, 0.01, Tendency.OVERCONFIDENT),
        (0.6, 0.01, Tendency.UNDERCONFIDENT),
        (0.71, 0.01, Tendency.NEITHER),
        (0.8, 0.2, Tendency.NEITHER),
    ],
)
def test_a_tendency_is_named_only_if_it_is_significant_and_large(confidence, p_value, tendency):
    found = Miscalibration(confidence, 0.7, Interval(0.01, 0.0, 0.04), p_value)
    assert found.tendency is tendency


def test_the_typical_error_is_at_least_the_mean_error_that_is_named():
    found = Miscalibration(0.8, 0.7, Interval(0.0, 0.0, 0.04), p_value=0.01)
    assert found.typical_error == pytest.approx(0.1)
    assert found.largest_error == pytest.approx(0.1)
    assert found.verdict is Verdict.MISCALIBRATED
    unnamed = Miscalibration(0.8, 0.7, Interval(0.01, 0.0, 0.04), p_value=0.2)
    assert (unnamed.typical_error, unnamed.largest_error) == (0.01, 0.04)


def test_more_rows_are_asked_for_only_if_the_verdict_is_unclear():
    unclear = Interval(0.02, 0.0, 0.1)
    # An interval twice as wide as it may be requires four times as many rows, and a margin.
    assert Miscalibration(0.7, 0.7, unclear, 0.3, 1000, 1000).n_more == 5000
    assert Miscalibration(0.7, 0.7, unclear, 0.3, 1000, 100).n_more == 500
    assert Miscalibration(0.9, 0.7, unclear, 0.01, 1000, 1000).n_more is None
    assert Miscalibration(0.7, 0.7, unclear, 0.3).n_more is None
    assert Miscalibration(0.7, 0.7, Interval(0.02, np.nan, np.nan), 0.3, 9, 9).n_more is None


def draw(n_rows, power, rng):
    """Draw labels from probabilities, and raise the probabilities to a power."""
    truth = rng.dirichlet([0.8] * 3, n_rows)
    y = (truth.cumsum(axis=1) > rng.rand(n_rows, 1)).argmax(axis=1)
    proba = truth**power
    return y, proba / proba.sum(axis=1, keepdims=True)


def assess(y, proba, seed):
    n_rows = len(y)
    error = bootstrap_interval(
        partial(squared_calibration_error, kind="top-label", n_bins=default_n_bins(n_rows)),
        y,
        proba,
        n_resamples=200,
        groups=np.arange(n_rows) % 100,
        random_state=seed,
    )
    ends = np.sqrt(np.maximum([error.estimate, error.low, error.high], 0.0)).tolist()
    confidence, accuracy = proba.max(axis=1).mean(), np.mean(proba.argmax(axis=1) == y)
    test = calibration_test(y[:1000], proba[:1000], random_state=seed)
    return Miscalibration(confidence, accuracy, Interval(*ends), test.p_value, n_rows, n_rows)


@pytest.mark.slow
@pytest.mark.parametrize("power", [1.0, 1.4])
@pytest.mark.parametrize("n_rows", [80, 300])
def test_the_rows_asked_for_settle_most_verdicts(n_rows, power):
    rng = np.random.RandomState(0)
    asked, settled = [], []
    for seed in range(20):
        found = assess(*draw(n_rows, power, rng), seed)
        if found.n_more is None:
            continue
        asked.append(found.n_more)
        larger = assess(*draw(n_rows + found.n_more, power, rng), seed)
        settled.append(larger.verdict is not Verdict.UNCLEAR)
    assert len(asked) >= 5
    assert np.mean(settled) >= 0.6
    if power == 1.0:  # a quarter of the rows leaves most verdicts unclear: not too many are asked
        quarter = int(np.median(asked) / 4)
        verdicts = [assess(*draw(quarter, power, rng), seed).verdict for seed in range(10)]
        assert verdicts.count(Verdict.UNCLEAR) >= 6
