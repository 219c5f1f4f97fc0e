import json

import numpy as np
import pytest

from calibrant.metrics import measure_performance
from calibrant.report import Change, Effect
from calibrant.validation import Difference, FrequencyTest, validate_probabilities
from calibrant.validation.records import Candidate


def test_a_validation_is_plain_values_with_verdict_and_cause():
    rng = np.random.RandomState(0)
    proba = rng.dirichlet([1.0] * 2, size=50)
    y = (rng.uniform(size=50) >= proba[:, 0]).astype(int)
    found = validate_probabilities(proba, y, before=measure_performance(y, proba))
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["verdict"] == found.verdict.value
    assert content["cause"] == found.cause.value
    assert content["miscalibration"]["p_value"] == found.miscalibration.p_value
    assert content["performance"]["log_loss"]["estimate"] == found.performance.log_loss.estimate


def test_class_counts_of_training_default_to_those_of_its_performance():
    before = measure_performance([0, 1, 1], np.full((3, 2), 0.5))
    proba = np.full((3, 2), 0.5)
    assert Candidate("m", proba).training_count is None
    assert Candidate("m", proba, before).training_count == (1.0, 2.0)
    assert Candidate("m", proba, before, (5.0, 6.0)).training_count == (5.0, 6.0)


def test_the_class_that_changed_most_is_found():
    test = FrequencyTest((50.0, 30.0, 20.0), (5.0, 4.0, 1.0), 1.0, 0.5)
    assert test.most_changed == 1 or test.frequency(test.most_changed)[1] == pytest.approx(0.1)
    assert test.frequency(2) == pytest.approx((0.2, 0.1))


@pytest.mark.parametrize(
    ("log_loss", "brier", "p_value", "expected"),
    [
        (-0.1, -0.05, 0.01, Effect.IMPROVED),
        (0.1, 0.05, 0.01, Effect.IMPAIRED),
        (-0.1, 0.05, 0.01, Effect.NEUTRAL),
        (-0.1, -0.05, 0.2, Effect.NEUTRAL),
        (-0.004, -0.003, 0.01, Effect.NEUTRAL),
    ],
)
def test_a_difference_must_be_significant_and_not_negligible(log_loss, brier, p_value, expected):
    changes = [Change(value, -1.0, 1.0, p_value=p_value) for value in (log_loss, brier)]
    assert Difference(*changes).effect is expected
