import numpy as np
import pytest
from scipy.special import logit, ndtri

from calibrant.metrics import m_index
from calibrant.planning import simulate_probabilities
from calibrant.planning.populations import draw_classes


@pytest.mark.parametrize(
    ("shares", "auc"), [([0.9, 0.1], 0.75), ([0.5, 0.3, 0.2], 0.8), ([0.3] * 3 + [0.1], 0.95)]
)
def test_probabilities_have_the_shares_and_the_auc_that_were_asked_for(shares, auc):
    proba = simulate_probabilities(shares, auc, n_rows=40_000, random_state=0)
    y = draw_classes(proba, np.random.RandomState(1))
    np.testing.assert_allclose(proba.mean(axis=0), shares, atol=0.01)
    assert m_index(y, proba) == pytest.approx(auc, abs=0.01)


def test_log_odds_of_two_classes_are_normal_within_classes():
    proba = simulate_probabilities([0.6, 0.4], 0.8, n_rows=40_000, random_state=0)
    y = draw_classes(proba, np.random.RandomState(1))
    distance = np.sqrt(2) * ndtri(0.8)
    for k, sign in ((0, -1), (1, 1)):
        values = logit(proba[y == k, 1])
        assert values.std() == pytest.approx(distance, rel=0.03)
        expected = np.log(0.4 / 0.6) + sign * distance**2 / 2
        assert values.mean() == pytest.approx(expected, abs=0.05)


def test_without_discrimination_every_row_has_the_shares():
    proba = simulate_probabilities([0.7, 0.3], 0.5, n_rows=5, random_state=0)
    np.testing.assert_allclose(proba, [[0.7, 0.3]] * 5)


@pytest.mark.parametrize(
    ("shares", "auc", "message"),
    [
        ([0.5, 0.3], 0.8, "shares must be positive, at least two, and sum to 1, got 0.5, 0.3"),
        ([1.0], 0.8, "at least two"),
        ([1.1, -0.1], 0.8, "positive"),
        ([0.5, 0.5], 1.0, "auc must lie between 0.5 and 0.995, got 1.0"),
    ],
)
def test_wrong_input_is_named(shares, auc, message):
    with pytest.raises(ValueError, match=message):
        simulate_probabilities(shares, auc)
