import numpy as np
import pytest

from calibrant.decisions import compare_costs, cost_curve, decide, decision_curve

COSTS = np.array([[0.0, 1.0, 0.4], [8.0, 0.0, 0.5], [3.0, 2.0, 0.1]])


@pytest.fixture
def rows():
    rng = np.random.RandomState(0)
    proba = rng.dirichlet([1.0, 0.5, 0.5], size=400)
    y = (rng.uniform(size=(400, 1)) > proba.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return y, proba


def test_costs_are_looked_up_row_by_row(rows):
    y, proba = rows
    found = compare_costs(y, proba, COSTS)
    decision = decide(proba, COSTS).decision
    expected = np.mean([COSTS[true, chosen] for true, chosen in zip(y, decision, strict=True)])
    assert found.cheapest.estimate == pytest.approx(expected)
    expected = np.mean([COSTS[true, row.argmax()] for true, row in zip(y, proba, strict=True)])
    assert found.most_probable.estimate == pytest.approx(expected)
    constant = [COSTS[y, d].mean() for d in range(3)]
    assert [each.estimate for each in found.constant] == pytest.approx(constant)
    assert found.best_constant == np.argmin(constant)
    assert found.saving.estimate == pytest.approx(min(constant) - found.cheapest.estimate)
    assert found.informed == pytest.approx(COSTS.min(axis=1)[y].mean())
    assert found.informed <= found.cheapest.estimate


@pytest.mark.parametrize("threshold", [0.1, 0.35, 0.7])
def test_two_classes_are_the_decision_curve(rows, threshold):
    y, predicted = (rows[0] == 1).astype(int), rows[1][:, 1]
    costs = [[0, threshold], [1 - threshold, 0]]
    found = compare_costs(y, predicted, costs)
    curve = decision_curve(y, predicted, thresholds=[threshold])
    never = found.constant[0].estimate
    benefit = (never - found.cheapest.estimate) / (1 - threshold)
    assert benefit == pytest.approx(curve.net_benefit[0])
    assert found.saving.estimate / (1 - threshold) == pytest.approx(curve.advantage[0])


def test_expected_costs_are_the_mean_costs_of_calibrated_probabilities():
    rng = np.random.RandomState(1)
    proba = rng.dirichlet([1.0, 1.0, 1.0], size=20_000)
    y = (rng.uniform(size=(20_000, 1)) > proba.cumsum(axis=1)[:, :-1]).sum(axis=1)
    found = compare_costs(y, proba, COSTS, level=0.999)
    assert found.cheapest.low < decide(proba, COSTS).expected_cost.mean() < found.cheapest.high


def test_decisions_need_not_be_classes(rows):
    found = compare_costs(*rows, COSTS[:, :2])
    assert found.most_probable is None
    assert len(found.constant) == 2


def test_curve_multiplies_the_costs_of_a_class(rows):
    curve = cost_curve(*rows, COSTS, of=1, factors=[0.5, 1.0, 4.0])
    for number, factor in enumerate([0.5, 1.0, 4.0]):
        scaled = COSTS * np.array([[1.0], [factor], [1.0]])
        found = compare_costs(*rows, scaled)
        assert curve.cost[number] == found.cheapest.estimate
        assert curve.saving_low[number] == found.saving.low
        assert curve.constant[number].tolist() == [each.estimate for each in found.constant]


def test_integer_weights_are_repeated_rows(rows):
    y, proba = rows
    weight = 1 + np.arange(400) % 2
    one = compare_costs(y, proba, COSTS, sample_weight=weight)
    two = compare_costs(np.repeat(y, weight), np.repeat(proba, weight, axis=0), COSTS)
    np.testing.assert_allclose(list(one.saving), list(two.saving))


def test_wrong_input_is_named(rows):
    with pytest.raises(ValueError, match="one row for each class, got 2 rows for 3"):
        compare_costs(*rows, COSTS[:2])
    with pytest.raises(ValueError, match="of must be one of the labels"):
        cost_curve(*rows, COSTS, of=5)
    with pytest.raises(ValueError, match="factors must be positive, got 0"):
        cost_curve(*rows, COSTS, of=1, factors=[0.0, 1.0])
