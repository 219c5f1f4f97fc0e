import numpy as np
import pytest

from calibrant.calibrators import UpdateChoice
from experiments.updates import CHANGES, change_world, raise_alarms, update_once


@pytest.mark.parametrize("change", CHANGES)
def test_changed_probabilities_sum_to_1_and_differ_unless_nothing_changed(change):
    proba = np.random.RandomState(0).dirichlet(np.ones(4), size=20)
    changed = change_world(proba, change)
    assert changed.sum(axis=1) == pytest.approx(np.ones(20))
    assert np.allclose(changed, proba) == (change == "nothing")


def test_an_update_is_compared_with_leaving_and_recalibrating():
    found = update_once(2, "class frequencies", 300, 0)
    assert list(UpdateChoice)[found.choice] == UpdateChoice.INTERCEPTS
    assert found.updated < found.recalibrated < found.left


def test_a_validation_has_four_findings():
    assert len(raise_alarms(30, 0)) == 4
