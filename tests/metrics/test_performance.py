import json

import numpy as np
import pytest
from scipy.stats import sem
from sklearn.metrics import accuracy_score
from sklearn.metrics import log_loss as sklearn_log_loss

from calibrant.metrics import Performance, brier_score, measure_performance


@pytest.fixture
def rows():
    rng = np.random.RandomState(0)
    proba = rng.dirichlet([1.0] * 3, size=200)
    y = np.array([rng.choice(3, p=row) for row in proba])
    return y, proba


def test_scores_are_those_of_scikit_learn_and_of_the_metrics(rows):
    y, proba = rows
    found = measure_performance(y, proba)
    assert found.log_loss.estimate == pytest.approx(sklearn_log_loss(y, proba))
    assert found.brier_score.estimate == pytest.approx(brier_score(y, proba))
    assert found.accuracy.estimate == pytest.approx(accuracy_score(y, proba.argmax(axis=1)))
    assert found.class_count == tuple(np.bincount(y).tolist())
    difference = found.confidence.estimate - found.accuracy.estimate
    assert found.overconfidence.estimate == pytest.approx(difference)


def test_standard_error_of_independent_rows_is_that_of_scipy(rows):
    y, proba = rows
    losses = -np.log(proba[np.arange(len(y)), y])
    found = measure_performance(y, proba)
    assert found.log_loss.standard_error == pytest.approx(sem(losses))
    assert found.by_class[1].standard_error == pytest.approx(sem(proba[y == 1, 1]))


def test_rows_repeated_as_one_group_do_not_look_more_precise(rows):
    y, proba = rows
    once = measure_performance(y, proba)
    twice = measure_performance(
        np.repeat(y, 2),
        np.repeat(proba, 2, axis=0),
        groups=np.repeat(np.arange(len(y)), 2),
        sample_weight=np.full(2 * len(y), 0.5),
    )
    assert twice.log_loss.standard_error == pytest.approx(once.log_loss.standard_error)
    assert twice.calibration_error == pytest.approx(once.calibration_error)
    assert (twice.n_rows, twice.log_loss.n_rows) == (200, 200)


def test_integer_weights_are_repeated_rows(rows):
    y, proba = rows
    weight = np.arange(len(y)) % 3
    weighted = measure_performance(y, proba, sample_weight=weight)
    repeated = measure_performance(np.repeat(y, weight), np.repeat(proba, weight, axis=0))
    assert weighted.brier_score.estimate == pytest.approx(repeated.brier_score.estimate)
    assert weighted.class_count == repeated.class_count


def test_a_class_without_rows_has_no_mean():
    found = measure_performance([0, 1, 0], np.full((3, 3), 1 / 3), labels=[0, 1, 2])
    assert np.isnan(found.by_class[2].estimate)
    assert found.by_class[2].n_rows == 0
    assert np.isnan(found.by_class[1].standard_error)


def test_record_survives_json(rows):
    found = measure_performance(*rows)
    assert Performance.from_dict(json.loads(json.dumps(found.to_dict()))) == found
