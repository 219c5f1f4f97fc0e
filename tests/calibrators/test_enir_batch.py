import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.calibrators import ENIR
from calibrant.calibrators._enir_batch import fit_enirs
from calibrant.calibrators._point_batches import PointBatch

pytestmark = pytest.mark.usefixtures("each_kernel")


def draw_problem(rng, size, noise):
    """Draw increasing frequencies if there is no noise, and anything if there is much."""
    frequency = np.sort(rng.uniform(size=size))
    frequency = np.clip(frequency + noise * rng.normal(size=size), 0.0, 1.0)
    return np.sort(rng.uniform(size=size)), frequency.round(2), rng.uniform(0.2, 3.0, size=size)


@pytest.mark.parametrize("criterion", ["bic", "aic", "aicc"])
@pytest.mark.parametrize("floored", [True, False])
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 25), min_size=1, max_size=6),
    noise=st.sampled_from([0.0, 0.05, 0.5]),
)
def test_a_batch_equals_single_fits(criterion, floored, seed, sizes, noise):
    rng = np.random.default_rng(seed)
    problems = [draw_problem(rng, size, noise) for size in sizes]
    unfitted = ENIR(criterion=criterion, floored=floored)
    batch = PointBatch.join(problems).pool_ties()
    for found, points in zip(fit_enirs(unfitted, batch), problems, strict=True):
        expected = ENIR(criterion=criterion, floored=floored).fit(*points)
        assert found.get_params() == expected.get_params()
        grid = np.linspace(0.0, 1.0, 200)
        np.testing.assert_allclose(found.predict(grid), expected.predict(grid), atol=1e-10)
        np.testing.assert_array_equal(found.lambdas_, expected.lambdas_)
        np.testing.assert_array_equal(found.n_groups_, expected.n_groups_)
        np.testing.assert_allclose(found.weights_, expected.weights_, rtol=1e-6)
    assert not hasattr(unfitted, "weights_")


def test_an_unknown_criterion_is_refused():
    batch = PointBatch.join([draw_problem(np.random.default_rng(0), 5, 0.1)])
    with pytest.raises(ValueError, match="criterion must be one of"):
        fit_enirs(ENIR(criterion="dic"), batch)
