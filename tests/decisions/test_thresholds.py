import numpy as np
import pytest

from calibrant.decisions import decide, implied_thresholds


def test_two_classes_follow_the_formula():
    (pair,) = implied_thresholds([[1, 4], [20, 2]], labels=["healthy", "ill"])
    assert (pair.first, pair.second, pair.decision) == ("healthy", "ill", (0, 1))
    assert pair.threshold == pytest.approx([3 / 21])


@pytest.mark.parametrize("seed", range(20))
def test_thresholds_are_where_decide_changes_its_mind(seed):
    rng = np.random.RandomState(seed)
    costs = rng.randint(-3, 10, size=(3, 5)).astype(float)
    for pair in implied_thresholds(costs):
        proba = np.zeros((2001, 3))
        proba[:, pair.second] = np.linspace(0, 1, 2001)
        proba[:, pair.first] = 1 - proba[:, pair.second]
        least = (proba @ costs).min(axis=1)
        section = np.searchsorted(pair.threshold, proba[:, pair.second])
        chosen = np.take(pair.decision, section)
        # The same cost as the cheapest decision, whichever of equally cheap ones that is.
        found = (proba @ costs)[np.arange(2001), chosen]
        np.testing.assert_allclose(found, least, atol=1e-9)
        assert len(pair.decision) == len(pair.threshold) + 1
        assert list(pair.threshold) == sorted(pair.threshold)
        assert decide(proba, costs).expected_cost == pytest.approx(found)


def test_a_decision_that_is_never_cheapest_is_left_out():
    (pair,) = implied_thresholds([[0, 1, 2], [2, 0, 1]])
    assert pair.decision == (0, 1)


def test_labels_are_counted():
    with pytest.raises(ValueError, match="labels must name each of the 2 rows of costs, got 3"):
        implied_thresholds([[0, 1], [1, 0]], labels=[0, 1, 2])
