import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.decisions import decide

rng = np.random.RandomState(0)
PROBA = rng.dirichlet([0.5] * 4, size=50)


def test_no_other_decision_is_cheaper_for_any_row():
    costs = rng.rand(4, 6)
    decisions = decide(PROBA, costs)
    for row, chosen, cost in zip(PROBA, decisions.decision, decisions.expected_cost, strict=True):
        by_decision = [sum(p * costs[k, d] for k, p in enumerate(row)) for d in range(6)]
        assert cost == pytest.approx(min(by_decision))
        assert by_decision[chosen] == pytest.approx(min(by_decision))


def test_with_equal_costs_the_decision_is_the_most_probable_class():
    decisions = decide(PROBA, 1 - np.eye(4))
    np.testing.assert_array_equal(decisions.decision, PROBA.argmax(axis=1))
    np.testing.assert_allclose(decisions.expected_cost, 1 - PROBA.max(axis=1))


@given(st.floats(0.01, 0.99), st.floats(0.01, 100))
def test_two_classes_are_decided_by_the_threshold_that_the_costs_imply(p, ratio):
    threshold = 1 / (1 + ratio)
    if abs(p - threshold) > 1e-9:
        [decision] = decide([[1 - p, p]], [[0, 1], [ratio, 0]]).decision
        assert decision == (p > threshold)


def test_of_equally_cheap_decisions_the_first_is_chosen_whatever_the_rounding():
    # In floating point, 0.1 + 0.2 is more than 0.3.
    costs = np.array([[1, 0.3], [1, 0.3], [0, 0.3]])
    for order in ([0, 1], [1, 0]):
        assert decide([[0.1, 0.2, 0.7]], costs[:, order]).decision.tolist() == [0]


def test_a_benefit_is_a_negative_cost():
    decisions = decide([[0.5, 0.5]], [[0, -3], [0, 1]])
    assert decisions.to_dict() == {"decision": [1], "expected_cost": [-1.0]}


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([[0, 1], [1, 0]], "got 2 rows for 4 classes"),
        ([[0, np.nan]] * 4, "costs contains NaN"),
    ],
)
def test_costs_that_do_not_fit_are_refused(costs, message):
    with pytest.raises(ValueError, match=message):
        decide(PROBA, costs)
